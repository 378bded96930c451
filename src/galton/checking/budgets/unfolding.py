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
        # Only states where something is spent on the way are looked at in earlier levels.
        spending = np.repeat(np.any(self.spent > 0, axis=1)[self.classes], np.diff(self.model.row_starts))
        self._landings = np.unique(self.model.columns[spending])
        self._landing = np.full(self.model.n_states, -1, dtype=np.int32)
        self._landing[self._landings] = np.arange(len(self._landings), dtype=np.int32)

    def describe(self) -> str:
        """In words."""
        detail = f"{self.solved:,} levels of {self.kept * self._slabs:,} kept"
        return "; ".join([detail, *dict.fromkeys(each.describe() for each in self._stages.values())])

    def levels(self) -> Iterator[Level]:
        """Solve level after level, from 0 to the limit of the first dimension."""
        n, kept, slabs = self.model.n_states, self.kept, self._slabs
        size = 2 * len(self._landings)
        needed = 8 * kept * slabs * size
        if needed > SHARE * available_memory():
            raise GaltonError(
                f"the levels of this budget need {needed / 1e9:.1f} GB at a time, more than there is memory; smaller "
                "rewards, or a smaller bound beside the first, need less"
            )
        values = np.zeros(kept * slabs * size)
        level = np.zeros((n, 2))
        infinite = _InfiniteLevels(self.model, self.classes)
        filled: Stage | None = None
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
                # What the last level left there is right for known states, and a good guess for others.
                if filled is not found:
                    level[:], filled = found.known, found
                self.sweeps += found.solve(level.reshape(-1), values, own, targets, tolerance, self.settings.n_threads)
                if infinite.mark(found, own, targets):
                    level[infinite.masks[own]] = np.inf
                    values.reshape(kept * slabs, len(self._landings), 2)[own] = level[self._landings]
                    filled = None
                self.solved += 1
            self.settings.tell(step="levels", iterations=units)
            yield Level(units, level[:, 0], level[:, 1], infinite.masks.get(own))

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
            landings = (self._landing, len(self._landings))
            self._stages[key] = stage(
                self.model, self.through, goal, self.classes, stays, self.earned, landings, self.optimum
            )
        return self._stages[key]


class _InfiniteLevels:
    """Where values are infinite in the levels that are kept: where a run can get, while the budget lasts, to states in
    which rewards are collected for ever."""

    def __init__(self, model: Model, classes: npt.NDArray[np.uint16]) -> None:
        self.model, self.classes = model, classes
        self.masks: dict[int, Mask] = {}  # those of levels without any are left out

    def mark(self, found: Stage, own: int, targets: Int64s) -> bool:
        """Find the infinite values of a level from those of the levels that it leads to; whether there are any."""
        self.masks.pop(own, None)
        leading = [
            int(target) for target in np.unique(targets) if target >= 0 and target != own and target in self.masks
        ]
        if found.endless is None and not leading:
            return False
        model = self.model
        here = np.zeros(model.n_states, dtype=np.bool_) if found.endless is None else found.endless.copy()
        owner = np.repeat(np.arange(model.n_states), np.diff(model.row_groups))
        target, starts = targets[self.classes], model.row_starts[:-1]
        for level in leading:
            rows = (target == level) & np.logical_or.reduceat(self.masks[level][model.columns], starts)
            here[owner[rows]] = True
        while True:
            rows = (target == own) & np.logical_or.reduceat(here[model.columns], starts)
            grown = here.copy()
            grown[owner[rows]] = True
            if (grown == here).all():
                break
            here = grown
        if here.any():
            self.masks[own] = here
        return bool(here.any())
