"""``P>=1``, ``P<1``, ``P>0`` and ``P<=0``: the graph alone decides, and decides exactly.

Bounds that are a little apart never tell whether a probability is exactly 1. The states where it is exactly 0 or 1 are
found instead by steps backwards over sets, as often as the formula has steps, or by graph analysis where it has no
bound. In a CTMC, what can happen at all can happen within any positive time, and nothing but what is there already is
certain to happen within a finite one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from ...backend.rows import best_choice, every_successor_in
from ...model.sparse import Mask, Model
from ...solve.step_limits import be_patient

Optimum = Literal["min", "max"] | None

__all__ = ["zero_one_next", "zero_one_steps", "zero_one_times", "zero_one_until"]


def zero_one_until(model: Model, through: Mask, goal: Mask, optimum: Optimum) -> tuple[Mask, Mask]:
    """Return the states where ``P [ through U goal ]`` is exactly 0, and those where it is exactly 1."""
    from ...graph import zero_and_one

    return zero_and_one(model, through, goal, optimum)


def zero_one_next(model: Model, goal: Mask, optimum: Optimum) -> tuple[Mask, Mask]:
    """Return the states where ``P [ X goal ]`` is exactly 0, and those where it is exactly 1."""
    return _step(model, optimum, one=False)(~goal), _step(model, optimum, one=True)(goal)


def zero_one_steps(
    model: Model,
    through: Mask,
    goal: Mask,
    low: int,
    high: int | None,
    optimum: Optimum,
    later: tuple[Mask, Mask] | None = None,
) -> tuple[Mask, Mask]:
    """Return the states where ``P [ through U[low,high] goal ]``, counted in steps, is exactly 0, and exactly 1.

    ``high`` is None where there is no upper bound. ``later`` are then the states where it is 0 and 1 after the first
    ``low`` steps, if these are not those of all strategies.
    """
    before_zero, before_one = _step(model, optimum, one=False), _step(model, optimum, one=True)
    if high is None:
        zero, one = zero_one_until(model, through, goal, optimum) if later is None else later
    else:
        zero = _repeat(model, ~goal, high - low, lambda states: ~goal & (~through | before_zero(states)))
        one = _repeat(model, goal, high - low, lambda states: goal | (through & before_one(states)))
    zero = _repeat(model, zero, low, lambda states: ~through | before_zero(states))
    return zero, _repeat(model, one, low, lambda states: through & before_one(states))


def zero_one_times(model: Model, through: Mask, goal: Mask, low: float, high: float) -> tuple[Mask, Mask]:
    """Return the states of a CTMC where ``P [ through U[low,high] goal ]`` is exactly 0, and exactly 1.

    The bounds are times; ``high`` may be infinite.
    """
    from ...graph import can_reach

    later = high if low == 0 else high - low
    if later == 0:  # a moment: the goal must hold then
        zero, one = ~goal, goal
    else:
        never, surely = zero_one_until(model, through, goal, None)
        zero, one = never, surely if later == math.inf else goal
    if low > 0:
        zero = ~(through & can_reach(model, through, through & ~zero))
        one = ~can_reach(model, np.ones_like(through), ~(through & one))
    return zero, one


def _repeat(model: Model, states: Mask, times: int, change: Callable[[Mask], Mask]) -> Mask:
    """Change a set of states so many times.

    Where a set comes back, only the remainder of the times counts: the cycle is found as by Brent (1980).
    """
    kept, since, until_kept_again = states, 0, 1
    done = 0
    while done < times:
        states, done, since = change(states), done + 1, since + 1
        if np.array_equal(states, kept):
            times, done, kept = (times - done) % since, 0, states
            since, until_kept_again = 0, times + 1  # fewer steps than it takes to come back
        elif since == until_kept_again:
            kept, since, until_kept_again = states, 0, 2 * until_kept_again
        be_patient(done, times, model.n_transitions, model.n_choices)
    return states


def _step(model: Model, optimum: Optimum, *, one: bool) -> Callable[[Mask], Mask]:
    """Where a step leads into a set for certain: with the best choice, or with any.

    The maximum is 1 where some choice makes it 1, and 0 where all do; for the minimum it is the other way round.
    """
    some = (optimum == "max") == one

    def before(states: Mask) -> Mask:
        found: Mask = best_choice(model, every_successor_in(model, states), maximise=some)
        return found

    return before
