"""The graph of a level: looked at once for all levels that are alike.

Choices that spend nothing stay in the level. Where a run can go on with them for ever, it reaches nothing: for the
least value these states are worth 0; for the greatest, each such end component is left where it is best, and is one
unknown. All strategies leave the other states with probability 1, so the equations of a level have one solution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ... import _core
from ...backend.cpu.matrix import matrix_of
from ...backend.protocol import OPTIMA, Optimum
from ...graph import maximal_end_components, strongly_connected_components
from ...model.errors import NumericError
from ...model.sparse import Int32s, Mask, Model
from ...model.values import Floats

__all__ = ["InfiniteRewardError", "Stage", "stage"]

MOST_SWEEPS = 100_000


class InfiniteRewardError(NumericError):
    """States where the least reward is infinite whatever is left of the budget."""


@dataclass(frozen=True, eq=False)
class Stage:
    """Levels that are alike.

    Attributes
    ----------
    known
        ``(states, 2)`` bounds of the states whose value is the same in all these levels; 0 for others.
    endless
        The states in which rewards are collected for ever without spending anything; None for none.
    """

    levels: _core.Levels
    known: Floats
    endless: Mask | None

    def solve(
        self,
        level: Floats,
        kept: Floats,
        own: int,
        targets: npt.NDArray[np.int64],
        tolerance: float,
        threads: int,
    ) -> int:
        """Solve one level, and put what others need of it among those ``kept``; returns how many sweeps that took."""
        sweeps, _ = self.levels.solve(
            level, kept, own, targets, tolerance=tolerance, most_sweeps=MOST_SWEEPS, threads=threads
        )
        return sweeps

    def describe(self) -> str:
        """In words."""
        levels = self.levels
        cyclic = f", {levels.cyclic:,} components with a cycle" if levels.cyclic else ""
        return f"{levels.unknowns:,} unknowns in {levels.layers:,} layers{cyclic}"


def stage(
    model: Model,
    open_states: Mask,
    goal: Mask,
    classes: npt.NDArray[np.uint16],
    stays: Mask,
    earned: Floats | None,
    landings: tuple[Int32s, int],
    optimum: Optimum | None,
) -> Stage:
    """Look at levels in which the goal counts 1, and rows of the classes that ``stays`` names spend nothing.

    ``landings`` are the places of the states where rows that spend may lead, -1 for others, and how many there are.
    """
    free = stays[classes]
    open_states = open_states & ~goal
    known = np.zeros((model.n_states, 2))
    known[goal] = 1.0
    least = model.has_choices and optimum == "min"
    endless: Mask | None = None
    idle = free if earned is None or not least else free & (earned == 0)
    ends = maximal_end_components(model, open_states, idle)
    inside = ends.component >= 0
    merged, skip = None, None
    if earned is not None and least:
        # A loop that pays and spends nothing is never worth taking.
        skip = (free & ~idle & _is_loop(model)).astype(np.uint8)
        _insist_on_leaving(model, open_states & ~inside, free)
    elif earned is not None and (ends.staying & (earned > 0)).any():
        owner = np.repeat(np.arange(model.n_states), np.diff(model.row_groups))
        paying = np.unique(ends.component[owner[ends.staying & (earned > 0)]])
        endless = inside & np.isin(ends.component, paying)
        open_states = open_states & ~endless
        inside = inside & ~endless
    if model.has_choices and not least:
        merged = np.where(inside, ends.component, -1).astype(np.int32)
        skip = ends.staying.astype(np.uint8)
    else:
        open_states = open_states & ~inside
    components = strongly_connected_components(model, open_states, free)
    levels = _core.Levels(
        matrix_of(model),
        component=components.component,
        n_components=components.count,
        merged=merged if ends.count else None,
        skip=skip,
        classes=classes,
        stays=stays.astype(np.uint8),
        earned=earned,
        landing=landings[0],
        n_landings=landings[1],
        optimum=OPTIMA[optimum if model.has_choices else None],
    )
    if levels.hard:
        raise NumericError(
            f"{levels.hard:,} components of states that spend nothing are left so seldom that bounds on them cannot be "
            "proved here"
        )
    return Stage(levels, known, endless)


def _is_loop(model: Model) -> Mask:
    """``(choices,)`` mask of the choices that lead back to their own state only."""
    first = model.columns[model.row_starts[:-1]]
    owner = np.repeat(np.arange(model.n_states), np.diff(model.row_groups))
    found: Mask = (np.diff(model.row_starts) == 1) & (first == owner)
    return found


def _insist_on_leaving(model: Model, states: Mask, free: Mask) -> None:
    """Raise an error if every strategy collects for ever in some states, without spending anything.

    Then there is an end component of free choices that no choice leaves.
    """
    ends = maximal_end_components(model, states, free)
    owner = np.repeat(np.arange(model.n_states), np.diff(model.row_groups))
    leaves = np.zeros(ends.count + 1, dtype=np.bool_)
    leaves[ends.component[owner[~ends.staying]]] = True
    if not leaves[:-1].all():
        raise InfiniteRewardError(
            "the least reward is infinite in some states, where no choice spends anything: this is not supported"
        )
