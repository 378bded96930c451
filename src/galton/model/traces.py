"""Random paths, as people look at them: a row for each state that a path enters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from .states import ListedStates, PackedStates, State

__all__ = ["Traces"]

_SHOWN = 20  # rows that a notebook shows

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Traces:
    """Random paths of a model: path after path, and in each a row for each state it enters.

    Attributes
    ----------
    path, step
        ``(rows,)`` the number of the path, and how many steps it has taken.
    time
        ``(rows,)`` when the state is entered; the number of steps in a model without time.
    states
        What the state is: its variables, or the numbers of states.
    actions
        ``(rows,)`` the action that the path takes from there; empty for one without a name, and at the end of a path.
    state_rewards, step_rewards
        For each reward structure ``(rows,)``: what the state earns, for a step or a unit of time, and what the step
        from there earned.
    seed
        The seed that gives the same paths again.

    Examples
    --------
    >>> import galton
    >>> program = galton.parse("dtmc  module m  x : [0..3];  [go] x<3 -> (x'=x+1);  endmodule")
    >>> traces = program.simulate(steps=2)
    >>> traces
    <traces: 1 path, 2 steps, seed 0>
    >>> [(row["step"], row["x"], row["action"]) for row in traces.rows()]
    [(0, 0, 'go'), (1, 1, 'go'), (2, 2, '')]
    """

    path: npt.NDArray[np.uint64]
    step: npt.NDArray[np.uint64]
    time: Floats
    states: PackedStates | ListedStates | npt.NDArray[np.uint64]
    actions: tuple[str, ...]
    state_rewards: Mapping[str, Floats] = field(default_factory=dict)
    step_rewards: Mapping[str, Floats] = field(default_factory=dict)
    seed: int = 0
    continuous: bool = False

    def __len__(self) -> int:
        return len(self.path)

    def __repr__(self) -> str:
        paths, steps = len(np.unique(self.path)), len(self) - len(np.unique(self.path))
        return f"<traces: {paths:,} path{'s' * (paths != 1)}, {steps:,} step{'s' * (steps != 1)}, seed {self.seed}>"

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables; ``("state",)`` where states have only numbers."""
        if isinstance(self.states, np.ndarray):
            return ("state",)
        return tuple(self.states.variables or ("state",))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns of the table."""
        return tuple(self.table())

    def table(self) -> dict[str, npt.NDArray[Any]]:
        """All columns by name, in order: path, step, time, variables, action, rewards."""
        columns: dict[str, npt.NDArray[Any]] = {"path": self.path, "step": self.step}
        if self.continuous:
            columns["time"] = self.time
        for name in self.variables:
            columns[name] = self.column(name)
        columns["action"] = np.array(self.actions, dtype=object)
        for title, rewards in (("state reward", self.state_rewards), ("step reward", self.step_rewards)):
            for name, values in rewards.items():
                columns[f"{title} {name}".rstrip()] = values
        return columns

    def column(self, variable: str) -> npt.NDArray[Any]:
        """``(rows,)`` the values of a variable."""
        if isinstance(self.states, np.ndarray):
            return self.states
        if not self.states.variables:
            return np.array([self.states[row] for row in range(len(self))], dtype=object)
        return np.asarray(self.states.column(variable))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each row as a dictionary, in order."""
        columns = {name: values.tolist() for name, values in self.table().items()}
        for row in zip(*columns.values(), strict=True):
            yield dict(zip(columns, row, strict=True))

    def state(self, row: int) -> State | Any:
        """The state of a row."""
        return self.states[row]

    def to_pandas(self) -> Any:
        """The table as a pandas ``DataFrame``."""
        from .tables import import_pandas

        return import_pandas().DataFrame(self.table())

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = []
        for number, row in enumerate(self.rows()):
            if number == _SHOWN:
                body.append(f"<tr><td colspan={len(row)}>… {len(self) - _SHOWN:,} more rows</td></tr>")
                break
            body.append("<tr>" + "".join(f"<td>{escape(shown(value))}</td>" for value in row.values()) + "</tr>")
        return f"<table><caption>{escape(repr(self)[1:-1])}</caption><tr>{head}</tr>{''.join(body)}</table>"


def shown(value: Any) -> str:
    """A value of the table for people."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)
