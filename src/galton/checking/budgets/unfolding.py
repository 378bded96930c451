"""Levels of a model unfolded by what is left of its budgets, streamed: only those that others still need are kept.

A level is a number of units left in each dimension. Spending leads to levels with less, so that levels are solved in
ascending order, the first dimension last of all: each number of it is a slab of levels, one for each combination of the
others, and as many slabs are kept as the dearest choice spends units (Hartmanns, Junges, Katoen and Quatmann,
"Multi-cost bounded reachability in MDP", TACAS 2018).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...backend.limits import available_memory
from ...backend.protocol import Optimum
from ...lang.source import GaltonError
from ...model.sparse import Mask, Model
from ...model.values import Floats
from ...solve.settings import Settings
from .bounds import Dimension
from .stage import Stage, stage

__all__ = ["Level", "Unfolding"]

Int64s = npt.NDArray[np.int64]
Rest = tuple[int, ...]
SHARE = 0.8  # of the free memory
MOST_CLASSES = 2**16
_SMALL = 1e-2  # of eps: what solving all levels may widen the bounds by


@dataclass(frozen=True, eq=False)
class Level:
    """``(states,)`` bounds with so many units of the first dimension left, and all of the others.

    ``infinite`` are the states with an infinite value; None for none. The arrays change with the next level.
    """

    units: int
    lower: Floats
    upper: Floats
    infinite: Mask | None


@dataclass(eq=False)
class Unfolding:
    """A question about budgets: reach the goal through some states, or collect rewards (``earned``, by row).

    Attributes
    ----------
    dimensions
        What is counted. Of the first one, all numbers up to its limit are looked at, as long as anybody asks.
    """

    model: Model
    through: Mask
    goal: Mask
    dimensions: Sequence[Dimension]
    optimum: Optimum | None
    settings: Settings
    earned: Floats | None = None
    sweeps: int = 0
    solved: int = 0
    _stages: dict[tuple[bool, ...], Stage] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.classes, self.spent = self._classified()
        first, *others = self.dimensions
        self._limits = tuple(dimension.limit for dimension in others)
        self._rests = self._reachable()
        place = {rest: i for i, rest in enumerate(self._rests)}
        # Where each class leads among the other dimensions, -1 for out of budget.
        self._after = np.array(
            [
                [-1 if (to := self._spend(rest, k)) is None else place[to] for k in range(len(self.spent))]
                for rest in self._rests
            ],
            dtype=np.int64,
        ).reshape(len(self._rests), len(self.spent))
        dear = self.spent[:, 0]
        affordable = dear[dear <= first.limit]
        self.kept = int(affordable.max(initial=0)) + 1
        self._slabs = len(self._rests)

    def describe(self) -> str:
        """In words."""
        detail = f"{self.solved:,} levels of {self.kept * self._slabs:,} kept"
        return "; ".join([detail, *dict.fromkeys(each.describe() for each in self._stages.values())])

    def levels(self) -> Iterator[Level]:
        """Solve level after level, from 0 to the limit of the first dimension."""
        n, kept, slabs = self.model.n_states, self.kept, self._slabs
        needed = kept * slabs * n * 17
        if needed > SHARE * available_memory():
            raise GaltonError(
                f"the levels of this budget need {needed / 1e9:.1f} GB at a time, more than there is memory; smaller "
                "rewards, or a smaller bound beside the first, need less"
            )
        values = np.zeros(kept * slabs * n * 2)
        by_level = values.reshape(kept * slabs, n, 2)
        infinite = np.zeros((kept * slabs, n), dtype=np.bool_) if self.earned is not None else None
        filled: list[Stage | None] = [None] * (kept * slabs)
        first = self.dimensions[0]
        tolerance = _SMALL * self.settings.eps / max(min(first.limit, 10**4), 100)
        for units in range(first.limit + 1):
            before = units - self.spent[:, 0]
            if not first.is_upper:
                before = np.maximum(before, 0)
            for i, rest in enumerate(self._rests):
                own = units % kept * slabs + i
                after = self._after[i]
                targets = np.where((before < 0) | (after < 0), -1, before % kept * slabs + after)
                found = self._stage(units, rest)
                # What an earlier level left there is right for known states, and a good guess for others.
                if filled[own] is not found or (infinite is not None and infinite[own].any()):
                    by_level[own], filled[own] = found.known, found
                self.sweeps += found.solve(values, own, targets, tolerance, self.settings.n_threads)
                if infinite is not None:
                    self._mark_infinite(found, infinite, own, targets, units, rest)
                    by_level[own][infinite[own]] = np.inf
                self.solved += 1
            self.settings.tell(step="levels", iterations=units)
            whole = by_level[units % kept * slabs + slabs - 1]
            endless = None if infinite is None else infinite[units % kept * slabs + slabs - 1]
            yield Level(units, whole[:, 0], whole[:, 1], endless)

    def _classified(self) -> tuple[npt.NDArray[np.uint16], Int64s]:
        """The class of each row, and what each class spends in each dimension, which may be one unit too dear."""
        spent = np.stack(
            [np.minimum(each.costs.numbers, each.limit + each.is_upper) for each in self.dimensions], axis=1
        )
        distinct, classes = np.unique(spent, axis=0, return_inverse=True)
        if len(distinct) > MOST_CLASSES:
            raise GaltonError(
                f"{len(distinct):,} different ways to spend budgets are too many; {MOST_CLASSES:,} are supported"
            )
        return classes.reshape(-1).astype(np.uint16), distinct

    def _spend(self, rest: Rest, kind: int) -> Rest | None:
        """What is left in the other dimensions; None where that is less than nothing."""
        found = []
        for left, spent, dimension in zip(rest, self.spent[kind, 1:].tolist(), self.dimensions[1:], strict=True):
            if dimension.is_upper and spent > left:
                return None
            found.append(max(left - spent, 0))
        return tuple(found)

    def _reachable(self) -> list[Rest]:
        """All that can be left in the other dimensions, in ascending order; the last is all of it."""
        found, waiting = {self._limits}, [self._limits]
        while waiting:
            rest = waiting.pop()
            for kind in range(len(self.spent)):
                to = self._spend(rest, kind)
                if to is not None and to not in found:
                    found.add(to)
                    waiting.append(to)
        return sorted(found)

    def _stage(self, units: int, rest: Rest) -> Stage:
        left = (units, *rest)
        pairs = list(zip(left, self.dimensions, strict=True))
        met = tuple(not each.is_upper and number == 0 for number, each in pairs)
        success = all(
            (each.slack is None or number <= each.slack) if each.is_upper else number == 0 for number, each in pairs
        )
        key = (*met, success)
        if key not in self._stages:
            stays = np.all((self.spent == 0) | np.array(met), axis=1)
            goal = self.goal if success else np.zeros_like(self.goal)
            self._stages[key] = stage(self.model, self.through, goal, self.classes, stays, self.earned, self.optimum)
        return self._stages[key]

    def _mark_infinite(
        self, found: Stage, infinite: npt.NDArray[np.bool_], own: int, targets: Int64s, units: int, rest: Rest
    ) -> None:
        """Infinite is what can get to where rewards are collected for ever, as long as the budget lasts."""
        here = infinite[own]
        here[:] = False
        leading = [
            int(target) for target in np.unique(targets) if target >= 0 and target != own and infinite[target].any()
        ]
        if found.endless is None and not leading:
            return
        if found.endless is not None:
            here |= found.endless
        model = self.model
        owner = np.repeat(np.arange(model.n_states), np.diff(model.row_groups))
        target = targets[self.classes]
        starts = model.row_starts[:-1]
        for level in leading:
            rows = (target == level) & np.logical_or.reduceat(infinite[level][model.columns], starts)
            here[owner[rows]] = True
        while True:
            rows = (target == own) & np.logical_or.reduceat(here[model.columns], starts)
            grown = here.copy()
            grown[owner[rows]] = True
            if (grown == here).all():
                return
            here[:] = grown
