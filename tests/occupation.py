"""Several objectives of small MDPs by linear programs: what strategies attain, in occupation measures.

For sums, y(s, a) is how often choice a is taken in s; runs end in terminal states, or stay where nothing is paid
(Etessami, Kwiatkowska, Vardi and Yannakakis 2008). For long-run averages, x(s, a) is the share of the time that goes to
a choice (Puterman 1994, section 9.3). HiGHS solves the programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

import galton
from galton.model.sparse import Rewards

__all__ = ["Occupation"]


@dataclass
class Occupation:
    """An MDP as a dense matrix, ``(choices, states)``, whose last states are terminal.

    ``goals[i]`` is a terminal state, ``rewards[i]`` is ``(choices,)``, 0 in terminal states.
    """

    matrix: np.ndarray
    owner: list[int]
    goals: list[int]
    rewards: list[np.ndarray]
    stays: set[int] = field(default_factory=set)  # states that can be stayed in for ever, for nothing
    worth: np.ndarray = field(default_factory=lambda: np.zeros(0))  # of each state, where a run stays in it: an average

    @classmethod
    def random(cls, rng: np.random.Generator, *, ends: int = 3, rewards: int = 2, loops: bool = False) -> Occupation:
        """A random MDP; with ``loops``, choices that lead back to their state, and earn nothing."""
        n = int(rng.integers(ends + 2, ends + 6))
        goals = list(range(n - ends, n))
        rows, owner, idle, stays = [], [], [], set()
        for state in range(n):
            for _ in range(1 if state in goals else int(rng.integers(1, 4))):
                row = np.zeros(n)
                if state in goals:
                    row[state] = 1
                else:
                    targets = rng.choice(n, size=int(rng.integers(1, 4)), replace=False)
                    row[targets] = rng.integers(1, 8, size=len(targets))
                    row[rng.choice(goals)] += 1  # each choice may end the run
                rows.append(row / row.sum())
                owner.append(state)
                idle.append(state in goals)
            if loops and state not in goals and rng.random() < 0.4:
                row = np.zeros(n)
                row[state] = 1
                rows.append(row)
                owner.append(state)
                idle.append(True)
                stays.add(state)
        earned = [np.where(idle, 0, rng.integers(0, 4, size=len(rows))).astype(float) for _ in range(rewards)]
        return cls(np.array(rows), owner, goals, earned, stays, rng.integers(0, 5, size=n).astype(float))

    @classmethod
    def recurrent(cls, rng: np.random.Generator, *, rewards: int = 3) -> Occupation:
        """A random MDP with end components and without terminal states, for averages."""
        n = int(rng.integers(2, 7))
        rows, owner = [], []
        for state in range(n):
            for _ in range(int(rng.integers(1, 4))):
                row = np.zeros(n)
                targets = rng.choice(n, size=int(rng.integers(1, min(n, 3) + 1)), replace=False)
                row[targets] = rng.integers(1, 6, size=len(targets))
                rows.append(row / row.sum())
                owner.append(state)
        earned = [rng.integers(0, 5, size=len(rows)).astype(float) for _ in range(rewards)]
        return cls(np.array(rows), owner, [], earned)

    @property
    def n(self) -> int:
        return self.matrix.shape[1]

    @property
    def model(self) -> galton.Model:
        """For Galton: labels ``end0`` …, reward structures ``r0`` …, and ``worth`` for its averages."""
        counts = np.bincount(self.owner, minlength=self.n)
        rewards = {f"r{i}": Rewards(choice=reward) for i, reward in enumerate(self.rewards)}
        if len(self.worth):
            own = self.matrix[np.arange(len(self.owner)), self.owner] == 1
            rewards["worth"] = Rewards(choice=np.where(own, self.worth[self.owner], 0.0))
        return galton.Model.from_matrix(
            "mdp",
            self.matrix,
            row_groups=np.concatenate(([0], np.cumsum(counts))),
            labels={f"end{i}": [state] for i, state in enumerate(self.goals)},
            rewards=rewards,
        )

    def gains(self, name: str) -> np.ndarray:
        """What each choice earns for an objective: ``end0``, ``r0``, or ``worth`` for runs that end."""
        if name == "worth":
            ended = np.isin(self.owner, self.goals)
            return np.where(ended, 0.0, self.matrix[:, self.goals] @ self.worth[self.goals])
        if name.startswith("end"):
            goal = self.goals[int(name[3:])]
            return np.where(np.array(self.owner) == goal, 0.0, self.matrix[:, goal])
        return self.rewards[int(name[1:])]

    def best(
        self,
        weights: Sequence[tuple[str, float]],
        bounds: Sequence[tuple[str, int, float]] = (),
        *,
        averages: bool = False,
    ) -> float | None:
        """The greatest weighted sum of objectives under bounds, which are at least (1) or at most (-1); None if none.

        Averages are of rewards.
        """
        return (self._averages if averages else self._sums)(weights, bounds)

    def _sums(self, weights: Sequence[tuple[str, float]], bounds: Sequence[tuple[str, int, float]]) -> float | None:
        inner = [state for state in range(self.n) if state not in self.goals]
        taken = [k for k, state in enumerate(self.owner) if state in inner and self.matrix[k, state] < 1]
        flow = np.zeros((self.n, len(taken)))
        for column, row in enumerate(taken):
            flow[self.owner[row], column] += 1
            flow[:, column] -= self.matrix[row]
        stay = np.zeros((self.n, len(self.stays)))
        for column, state in enumerate(sorted(self.stays)):
            stay[state, column] = 1
        start = np.zeros(self.n)
        start[0] = 1
        stayed = self.worth[sorted(self.stays)]

        def worth(name: str) -> np.ndarray:
            return np.concatenate([self.gains(name)[taken], stayed if name == "worth" else 0 * stayed])

        return _solved(np.hstack([flow, stay])[inner], start[inner], worth, weights, bounds)

    def _averages(self, weights: Sequence[tuple[str, float]], bounds: Sequence[tuple[str, int, float]]) -> float | None:
        count = len(self.owner)
        own = np.zeros((self.n, count))
        own[self.owner, np.arange(count)] = 1
        flow = own - self.matrix.T
        start = np.zeros(self.n)
        start[0] = 1
        rows = np.vstack([np.hstack([flow, np.zeros((self.n, count))]), np.hstack([own, flow])])

        def worth(name: str) -> np.ndarray:
            return np.concatenate([self.rewards[int(name[1:])], np.zeros(count)])

        return _solved(rows, np.concatenate([np.zeros(self.n), start]), worth, weights, bounds)


def _solved(rows, limits, worth, weights, bounds) -> float | None:  # type: ignore[no-untyped-def]
    aim = sum(weight * worth(name) for name, weight in weights)
    found = linprog(
        -aim,
        A_ub=np.array([-way * worth(name) for name, way, _ in bounds]) if bounds else None,
        b_ub=[-way * bound for _, way, bound in bounds] or None,
        A_eq=rows,
        b_eq=limits,
    )
    return -float(found.fun) if found.status == 0 else None
