"""What a strategy does where graph analysis settles the value: the choices that attain 0, 1 or infinity.

Such states have no equation, and any choice that looks as good from one step to the next may be wrong for ever: who
wants to pay nothing has to get to where nothing is paid, and who wants to miss a goal has to stay away from it. In what
these functions return, -1 says that the choice does not matter, nor any choice after it.
"""

from __future__ import annotations

import numpy as np

from ...backend.rows import every_successor_in, owners, spread
from ...device.arrays import namespace, on_host
from ...graph import EndComponents, attractor, can_avoid
from ...model.sparse import Int32s, Mask, Model
from ...model.values import Floats
from ...reduce.end_components import ways_inside
from ...solve.equations import Optimum

__all__ = [
    "first_rows",
    "free_choices",
    "goal_avoiding_choices",
    "paying_choices",
    "surely_within_choices",
    "zero_one_choices",
]


def first_rows(model: Model, good: Mask) -> Int32s:
    """Return ``(states,)`` the first row of each state that is marked in ``good``; -1 where none is.

    >>> mdp = Model.from_matrix("mdp", [[1, 0], [0, 1], [0, 1]], row_groups=[0, 2, 3])
    >>> first_rows(mdp, np.array([False, True, False])).tolist()
    [1, -1]
    """
    xp = namespace(model.columns)
    rows = np.flatnonzero(good).astype(np.int32)
    first = xp.full(model.n_states, model.n_choices, dtype=np.int32)
    xp.minimum.at(first, owners(model)[rows], rows)
    found: Int32s = np.where(first < model.n_choices, first, -1).astype(np.int32)
    return found


def zero_one_choices(model: Model, through: Mask, goal: Mask, no: Mask, yes: Mask, optimum: Optimum) -> Int32s:
    """Return choices that attain 0 or 1 for ``through U goal``, in the states where that is the optimum.

    ``no`` are the states with probability 0, ``yes`` those with probability 1. It is -1 elsewhere.
    """
    if optimum == "max":  # every strategy has 0 where the greatest probability is 0
        bound = yes & ~goal
        return np.where(bound, attractor(model, through & yes, goal, staying=yes), -1).astype(np.int32)
    return _staying(model, no & through, no)


def goal_avoiding_choices(model: Model, goal: Mask, infinite: Mask) -> Int32s:
    """Return choices that miss the goal where the greatest reward until it is infinite.

    They lead to where the goal can be avoided, and avoid it there.
    """
    everywhere = namespace(model.columns).ones(model.n_states, dtype=np.bool_)
    avoiding = can_avoid(model, everywhere, goal)
    ways = attractor(model, infinite & ~avoiding, avoiding)
    choices = np.where(infinite & ~avoiding, ways, _staying(model, avoiding, avoiding))
    return choices.astype(np.int32)


def free_choices(model: Model, free: EndComponents) -> Int32s:
    """Return choices for the least total reward: they stay in end components where nothing is paid."""
    return first_rows(model, free.staying)


def paying_choices(model: Model, ends: EndComponents, rows: Floats, paying: Mask, infinite: Mask) -> Int32s:
    """Return choices for the greatest total reward where it is infinite.

    They lead to an end component that pays, and take what pays there again and again.
    """
    earning = first_rows(model, ends.staying & (rows > 0) & spread(model, paying))
    earns = earning >= 0
    inside = ways_inside(model, paying & ~earns, earns, ends.staying)
    ways = attractor(model, infinite & ~paying, paying)
    choices = np.where(infinite & ~paying, ways, -1)
    return np.where(earns, earning, np.where(paying, inside, choices)).astype(np.int32)


def _staying(model: Model, states: Mask, among: Mask) -> Int32s:
    """For some states, the first choice that stays among those given."""
    return first_rows(model, every_successor_in(model, among) & spread(model, states))


def surely_within_choices(model: Model, through: Mask, goal: Mask, later: Mask, low: int, choices: Int32s) -> Int32s:
    """Return choices, by the steps taken, that make ``through U[low,…] goal`` certain wherever some choices do.

    Elsewhere they are the given ones.

    The goal counts from ``low`` steps on, and ``later`` are the states where it is certain after all these steps. Among
    numbers that are nearly 1, doubles do not tell those that are.
    """
    found, sure = choices.copy(), later
    before: Mask | None = None  # what the rows lead to
    rows = choices[:0]
    for step in reversed(range(len(choices))):
        if before is None or step == low - 1 or not np.array_equal(sure, before):
            rows = _staying(model, through & ~goal if step >= low else through, sure)
        made: Mask = rows >= 0
        before, sure = sure, goal | made if step >= low else made
        found[step] = np.where(on_host(made), on_host(rows), found[step])
    return found
