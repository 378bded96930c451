"""States whose probability to reach a goal is 0 or 1 (de Alfaro 1997; Baier and Katoen 2008, chapter 10).

All four questions are fixed points over the choices of a model; a chain has one choice per state. ``through`` are the
states that a path may pass before it reaches the goal, as in ``through U goal``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..model.sparse import Model

Mask = npt.NDArray[np.bool_]


def can_reach(model: Model, through: Mask, goal: Mask) -> Mask:
    """States with some strategy that reaches the goal with positive probability (not prob0A)."""
    reached = goal.copy()
    while True:
        more = reached | (through & _some_choice(model, _some_successor(model, reached)))
        if (more == reached).all():
            return reached
        reached = more


def can_avoid(model: Model, through: Mask, goal: Mask) -> Mask:
    """States with some strategy that never reaches the goal (prob0E)."""
    hit = goal.copy()  # states where every strategy reaches the goal with positive probability
    while True:
        more = hit | (through & _every_choice(model, _some_successor(model, hit)))
        if (more == hit).all():
            return ~hit
        hit = more


def surely_reaches(model: Model, through: Mask, goal: Mask, *, some_strategy: bool) -> Mask:
    """States that reach the goal with probability 1: with some strategy (prob1E), or with every one (prob1A)."""
    candidates = np.ones(model.n_states, dtype=bool)
    while True:
        reached = goal & candidates
        while True:
            good = _some_successor(model, reached) & _every_successor(model, candidates)
            step = _some_choice(model, good) if some_strategy else _every_choice(model, good)
            more = reached | (through & step & candidates)
            if (more == reached).all():
                break
            reached = more
        if (reached == candidates).all():
            return candidates
        candidates = reached


def attractor(model: Model, through: Mask, goal: Mask) -> npt.NDArray[np.int64]:
    """A choice for each state that gets closer to the goal, where there is one; else the state's first choice."""
    starts = _choice_starts(model)
    strategy = starts[:-1].astype(np.int64)
    owner = np.repeat(np.arange(model.n_states), np.diff(starts))
    reached = goal.copy()
    while True:
        hits = np.flatnonzero(_some_successor(model, reached))
        hits = hits[through[owner[hits]] & ~reached[owner[hits]]]
        if not hits.size:
            return strategy
        strategy[owner[hits]] = hits
        reached[owner[hits]] = True


def _choice_starts(model: Model) -> npt.NDArray[np.integer]:
    return np.arange(model.n_states + 1) if model.choice_starts is None else model.choice_starts


def _some_successor(model: Model, states: Mask) -> Mask:
    return np.logical_or.reduceat(states[model.columns], model.row_starts[:-1])


def _every_successor(model: Model, states: Mask) -> Mask:
    return np.logical_and.reduceat(states[model.columns], model.row_starts[:-1])


def _some_choice(model: Model, choices: Mask) -> Mask:
    return choices if model.choice_starts is None else np.logical_or.reduceat(choices, model.choice_starts[:-1])


def _every_choice(model: Model, choices: Mask) -> Mask:
    return choices if model.choice_starts is None else np.logical_and.reduceat(choices, model.choice_starts[:-1])
