"""DTMCs and MDPs within a number of steps: P [ X a ], P [ a U[k1,k2] b ], R [ C<=k ], R [ I=k ].

The equations are those of Hansson and Jonsson (1994) and Puterman (1994). A chain is a sum of powers of its matrix; an
MDP is value iteration, once per step. As in PRISM, the reward over k steps is that of the first k states and of the k
transitions between and after them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from ..backend.steps import Bellman, Chain, Part, part_of, row_products
from ..model.sparse import Int32s, Mask, Model, Rewards
from ..solve.horizon import Horizon, iterate
from ..solve.powers import PowerSum, Weights, power_sum
from ..solve.settings import Settings
from .bounded import (
    BoundError,
    all_states,
    filled,
    known,
    non_negative,
    refuse_wide,
    work_of,
)
from .quantity import Quantity

Floats = npt.NDArray[np.float64]
Optimum = Literal["min", "max"] | None

__all__ = ["bounded_until", "cumulative_steps", "instantaneous_steps", "next_step"]

METHOD = "steps"


def next_step(model: Model, goal: Mask, optimum: Optimum, settings: Settings, *, strategy: bool = False) -> Quantity:
    """The probability to be in the goal after one step."""
    after = known(goal.astype(np.float64), METHOD)
    return _before(model, all_states(model), after, 1, optimum, settings, strategy)


def bounded_until(
    model: Model,
    through: Mask,
    goal: Mask,
    low: int,
    high: int | None,
    optimum: Optimum,
    settings: Settings,
    *,
    strategy: bool = False,
) -> Quantity:
    """The probability to be in the goal after ``low`` to ``high`` steps, and in ``through`` before.

    ``high`` is None for no bound. The choices are then those of the first ``low`` steps and, in the last row, those of
    all further ones.
    """
    _refuse_steps(low)
    if high is not None:
        _refuse_steps(high)
        if low > high:
            raise BoundError(f"no number of steps lies between {low} and {high}")
    tighter = settings if low == 0 else settings.tighter(4)
    if high is None:
        from .until import until

        later = until(model, through, goal, optimum, tighter)
    else:
        later = _from_now(model, through, goal, high - low, optimum, tighter, strategy)
    answer = later if low == 0 else _before(model, through, later, low, optimum, settings, strategy)
    return refuse_wide(answer, model, settings)


def cumulative_steps(
    model: Model, reward: Rewards, steps: int, optimum: Optimum, settings: Settings, *, strategy: bool = False
) -> Quantity:
    """The reward expected over the given number of steps."""
    _refuse_steps(steps)
    state, choice = non_negative(model, reward)
    if model.choice_starts is None:
        earned, keep = state + choice, _reaching(model, state + choice > 0)
        part = part_of(model, keep, settings.n_threads)
        found = _sum(model, part, earned, Weights.fewer_than(steps), settings, stochastic=bool(keep.all()))
        lower, upper = filled(part, found, np.zeros(model.n_states))
        answer = Quantity(lower, upper, METHOD, (work_of("reward over steps", part, found),))
    else:
        part = part_of(model, None, settings.n_threads)
        constant = np.repeat(state, np.diff(model.choice_starts)) + choice
        iteration = Bellman(part, np.zeros(model.n_states), constant, optimum == "max", settings.n_threads)
        horizon = iterate(iteration, steps, model.initial, settings, stochastic=True, strategy=strategy)
        answer = _quantity(model, part, horizon, np.zeros(model.n_states), "reward over steps")
    return refuse_wide(answer, model, settings)


def instantaneous_steps(
    model: Model, reward: Rewards, steps: int, optimum: Optimum, settings: Settings, *, strategy: bool = False
) -> Quantity:
    """The state reward expected after the given number of steps."""
    _refuse_steps(steps)
    state, _ = non_negative(model, Rewards(state=reward.state))
    later = known(state, METHOD)
    return refuse_wide(_before(model, all_states(model), later, steps, optimum, settings, strategy), model, settings)


def _refuse_steps(steps: int) -> None:
    if steps < 0:
        raise BoundError(f"a bound of {steps} steps; there are at least 0")


def _from_now(
    model: Model, through: Mask, goal: Mask, steps: int, optimum: Optimum, settings: Settings, strategy: bool
) -> Quantity:
    """P [ through U<=steps goal ]."""
    from ..graph import can_reach

    reached = goal.astype(np.float64)
    matter = can_reach(model, through & ~goal, goal) & ~goal
    part = part_of(model, matter, settings.n_threads)
    enter = row_products(model, reached, settings.n_threads)
    if model.choice_starts is None:
        found = _sum(model, part, enter, Weights.fewer_than(steps), settings)
        lower, upper = filled(part, found, reached, 1.0)
        return Quantity(lower, upper, METHOD, (work_of("until within steps", part, found),))
    constant = enter[np.repeat(matter, np.diff(model.choice_starts))]
    iteration = Bellman(part, np.zeros(part.n_states), constant, optimum == "max", settings.n_threads)
    important = part.positions(model.initial)
    horizon = iterate(iteration, steps, important, settings, stochastic=False, strategy=strategy)
    return _quantity(model, part, horizon, reached, "until within steps", 1.0)


def _before(
    model: Model, through: Mask, later: Quantity, steps: int, optimum: Optimum, settings: Settings, strategy: bool
) -> Quantity:
    """Make so many steps from states in ``through``, then have the number ``later``."""
    if steps == 0:
        return later
    if later.lower is later.upper:
        return _steps_to(model, through, later.lower, later, steps, optimum, settings, strategy)
    lower = _steps_to(model, through, later.lower, later, steps, optimum, settings, strategy)
    upper = _steps_to(model, through, later.upper, later, steps, optimum, settings, False)
    work = (*lower.work, *upper.work[len(later.work) :])
    return Quantity(lower.lower, upper.upper, METHOD, work, lower.choices)


def _steps_to(
    model: Model,
    through: Mask,
    target: Floats,
    later: Quantity,
    steps: int,
    optimum: Optimum,
    settings: Settings,
    strategy: bool,
) -> Quantity:
    """The same for exact numbers: the first step back, into any state, and the others, within ``through``."""
    products = row_products(model, target, settings.n_threads)
    rows = _best_rows(model, products, optimum) if model.choice_starts is not None else None
    first = np.where(through, products if rows is None else products[rows], 0.0)
    keep = through & _reaching(model, first > 0, through)
    most = float(target.max(initial=0.0))
    part = part_of(model, keep, settings.n_threads)
    zeros = np.zeros(model.n_states)
    if rows is None:
        found = _sum(model, part, first, Weights.exactly(steps - 1), settings, stochastic=bool(keep.all()))
        lower, upper = filled(part, found, zeros, most)
        return Quantity(lower, upper, METHOD, (*later.work, work_of("steps", part, found)))
    iteration = Bellman(part, part.of(first).copy(), None, optimum == "max", settings.n_threads)
    important = part.positions(model.initial)
    horizon = iterate(iteration, steps - 1, important, settings, stochastic=bool(keep.all()), strategy=strategy)
    answer = _quantity(model, part, horizon, zeros, "steps", most)
    if strategy:
        parts = (answer.choices, np.where(through, rows, -1), later.choices)
        choices = np.concatenate([np.atleast_2d(part) for part in parts if part is not None]).astype(np.int32)
        return Quantity(answer.lower, answer.upper, METHOD, (*later.work, *answer.work), choices)
    return Quantity(answer.lower, answer.upper, METHOD, (*later.work, *answer.work))


def _best_rows(model: Model, products: Floats, optimum: Optimum) -> Int32s:
    """The first best row of each state."""
    starts = model.choice_starts
    assert starts is not None
    best = (np.maximum if optimum == "max" else np.minimum).reduceat(products, starts[:-1])
    attains = products == np.repeat(best, np.diff(starts))
    rows = np.flatnonzero(attains)
    return rows[np.searchsorted(rows, starts[:-1])].astype(np.int32)


def _reaching(model: Model, goal: Mask, through: Mask | None = None) -> Mask:
    from ..graph import can_reach

    return can_reach(model, all_states(model) if through is None else through, goal)


def _sum(
    model: Model, part: Part, start: Floats, weights: Weights, settings: Settings, *, stochastic: bool = False
) -> PowerSum:
    chain = Chain(part, part.of(start).copy(), threads=settings.n_threads)
    return power_sum(chain, weights, part.positions(model.initial), settings, stochastic=stochastic)


def _quantity(model: Model, part: Part, found: Horizon, outside: Floats, step: str, most: float = np.inf) -> Quantity:
    """A horizon as an answer for all states: choices are rows of the model's matrix."""
    lower, upper = filled(part, found, outside, most)
    choices = found.choices
    if choices is not None and part.states is not None:
        assert model.choice_starts is not None
        starts = model.choice_starts[part.states]
        own = np.concatenate([[0], np.cumsum(np.diff(model.choice_starts)[part.states])[:-1]]).astype(np.int32)
        inner, choices = choices, np.full((found.horizon, model.n_states), -1, dtype=np.int32)
        choices[:, part.states] = inner - own + starts
    return Quantity(lower, upper, METHOD, (work_of(step, part, found),), choices)
