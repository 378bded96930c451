"""A model as the fuzzer makes it: plain dictionaries of doubles, and the three things that are made of it."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

import galton

Row = dict[int, float]  # target to probability or rate


@dataclass
class Made:
    """A DTMC, CTMC or MDP over the states 0, 1, …

    ``choices[s]`` are the rows of state s, one in a chain. ``gains[s][c]`` is the reward of taking one of them;
    in a CTMC what transitions earn per unit of time, which no text can say.
    """

    type: str
    choices: list[list[Row]]
    labels: dict[str, set[int]]
    rewards: list[float]
    gains: list[list[float]] = field(default_factory=list)
    initial: int = 0

    def __post_init__(self) -> None:
        self.gains = self.gains or [[0.0] * len(rows) for rows in self.choices]

    @property
    def n(self) -> int:
        return len(self.choices)

    @property
    def rows(self) -> list[Row]:
        """Of a chain."""
        return [rows[0] for rows in self.choices]

    @property
    def overflows(self) -> bool:
        """Whether the sum of some rates is no double, for which there may be a message."""
        return any(math.isinf(sum(row.values())) for rows in self.choices for row in rows)

    def induced(self, chosen: Collection[int]) -> Made:
        """The chain that is left when each state takes one of its choices."""
        return Made(
            "dtmc",
            [[rows[c]] for rows, c in zip(self.choices, chosen, strict=True)],
            self.labels,
            self.rewards,
            [[gains[c]] for gains, c in zip(self.gains, chosen, strict=True)],
            self.initial,
        )

    def build(self, device: str = "cpu") -> galton.Model:
        """Through the Python interface, with a label ``s7`` for state 7 of those in the label ``probes``."""
        from galton.model import Rewards

        flat = [row for rows in self.choices for row in rows]
        starts = np.cumsum([0, *(len(row) for row in flat)])
        columns = np.array([t for row in flat for t in row], dtype=np.int32)
        values = np.array([p for row in flat for p in row.values()])
        matrix = scipy.sparse.csr_array((values, columns, starts), shape=(len(flat), self.n))
        labels = {name: _mask(states, self.n) for name, states in self.labels.items()}
        labels |= {f"s{s}": _mask({s}, self.n) for s in self.labels.get("probes", ())}
        groups = np.cumsum([0, *(len(rows) for rows in self.choices)])
        state = np.array(self.rewards, dtype=float)
        gains = np.array([g for row in self.gains for g in row])
        model = galton.Model.from_matrix(
            self.type,
            matrix,
            initial=self.initial,
            labels=labels,
            rewards={"r": Rewards(state=state, choice=gains) if gains.any() else state},
            row_groups=groups if self.type == "mdp" else None,
        )
        return model.to_device() if device == "cuda" else model

    def text(self) -> str:
        """In the PRISM language, digit by digit."""
        lines = [self.type, "module m", f"  s : [0..{max(self.n - 1, 1)}] init {self.initial};"]
        for s, rows in enumerate(self.choices):
            for c, row in enumerate(rows):
                updates = " + ".join(f"{p!r}:(s'={t})" for t, p in row.items())
                lines.append(f"  [{self._action(s, c)}] s={s} -> {updates};")
        lines.append("endmodule")
        for name, states in self.labels.items():
            if name == "probes":
                continue
            lines.append(f'label "{name}" = {"|".join(f"s={s}" for s in sorted(states)) or "false"};')
        lines += [f'label "s{s}" = s={s};' for s in sorted(self.labels.get("probes", ()))]
        lines.append('rewards "r"')
        lines += [f"  s={s} : {r!r};" for s, r in enumerate(self.rewards) if r]
        for s, gains in enumerate(self.gains):
            lines += [f"  [{self._action(s, c)}] s={s} : {g!r};" for c, g in enumerate(gains) if g]
        return "\n".join([*lines, "endrewards", ""])

    def _action(self, state: int, choice: int) -> str:
        """A name where a reward needs one."""
        return f"a{choice}" if any(self.gains[state]) else ""


def _mask(states: Collection[int], n: int) -> np.ndarray:
    mask = np.zeros(n, dtype=bool)
    mask[list(states)] = True
    return mask
