"""States whose probability to reach a goal is 0 or 1 (de Alfaro 1997; Baier and Katoen 2008, chapter 10).

All questions are fixed points over the choices of a model; a chain has one choice per state, so that for it "some
strategy" and "every strategy" are the same. ``through`` are the states that a path may pass before it reaches the goal,
as in ``through U goal``.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from .. import backend
from ..device.arrays import namespace
from ..model.sparse import Int32s, Mask, Model
from .small import at_home_if_small

__all__ = ["attractor", "can_avoid", "can_reach", "forward_reachable", "surely_reaches", "zero_and_one"]


@at_home_if_small
def can_reach(model: Model, through: Mask, goal: Mask) -> Mask:
    """States with some strategy that reaches the goal with positive probability (the complement of prob0A).

    >>> walk = Model.from_matrix("dtmc", [[0.5, 0.5, 0], [0, 0, 1], [0, 0, 1]])
    >>> can_reach(walk, np.array([True, True, True]), np.array([False, True, False])).tolist()
    [True, True, False]
    """
    return backend.of(model.columns).graph.reach_some(model, through, goal)


@at_home_if_small
def can_avoid(model: Model, through: Mask, goal: Mask) -> Mask:
    """States with some strategy that never reaches the goal (prob0E)."""
    if model.choice_starts is None:
        return ~can_reach(model, through, goal)
    return ~backend.of(model.columns).graph.reach_every(model, through, goal)


@at_home_if_small
def surely_reaches(model: Model, through: Mask, goal: Mask, *, some_strategy: bool) -> Mask:
    """States that reach the goal with probability 1: with some strategy (prob1E), or with every one (prob1A)."""
    return zero_and_one(model, through, goal, "max" if some_strategy else "min")[1]


@at_home_if_small
def zero_and_one(model: Model, through: Mask, goal: Mask, optimum: Literal["min", "max"] | None) -> tuple[Mask, Mask]:
    """States whose least or greatest probability to reach the goal is 0, and those where it is 1.

    The second search needs what the first one found; asked for together, it is found once.

    >>> coin = Model.from_matrix("mdp", [[1, 0, 0], [0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]], row_groups=[0, 2, 3, 4])
    >>> zero, one = zero_and_one(coin, np.ones(3, dtype=bool), np.array([False, True, False]), "max")
    >>> zero.tolist(), one.tolist()
    ([False, False, True], [False, True, False])
    """
    if optimum == "max" and model.choice_starts is not None:
        candidates = can_reach(model, through, goal)
        return ~candidates, backend.of(model.columns).graph.reach_surely(model, through, goal, candidates)
    zero = can_avoid(model, through, goal)
    # What fails with positive probability can reach, before the goal, a state from where the goal can be avoided.
    return zero, ~can_reach(model, through & ~goal, zero)


@at_home_if_small
def attractor(model: Model, through: Mask, goal: Mask, *, staying: Mask | None = None) -> Int32s:
    """A choice for each state that gets closer to the goal with positive probability; the first where none does.

    With ``staying``, only choices whose every successor is in that set are used. Inside the states that some strategy
    surely brings to the goal, and restricted to them, this is such a strategy.
    """
    xp = namespace(model.columns)
    first = xp.arange(model.n_states, dtype=np.int32) if model.choice_starts is None else model.choice_starts[:-1]
    strategy: Int32s = first.copy()
    backend.of(model.columns).graph.reach_by(model, through, goal, staying, strategy)
    return strategy


@at_home_if_small
def forward_reachable(model: Model, start: Mask, within: Mask | None = None) -> Mask:
    """The states on paths from ``start`` (included) that never leave ``within``."""
    return backend.of(model.columns).graph.reach_forward(model, start, within)
