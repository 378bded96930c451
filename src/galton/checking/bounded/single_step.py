"""Questions about a single step: ``X``, and the reward until ``X`` is settled.

They are sums over the successors of a state; their rounding is added to the bounds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from ...backend.rows import best_choice, every_successor_in, spread
from ...backend.steps import row_products
from ...device.arrays import namespace
from ...model.rounding import SPACING
from ...model.sparse import Mask, Model, Rewards
from ...model.values import Values
from ..intervals import Floats, Numbers
from ..quantity import Quantity, Work
from ..strategies.graph_choices import first_rows

__all__ = ["jump_probability", "next_reward", "unscaled_step"]


def jump_probability(model: Model, goal: Mask) -> Quantity:
    """Bound ``P [ X goal ]`` in a CTMC: the share that the goal has in the rates out of each state."""
    shares = _summed(model, row_products(model, goal.astype(np.float64), 1)) / _exit_rates(model)
    every = every_successor_in(model, goal)
    lower = np.where(every, 1.0, np.clip(shares.lower, 0.0, 1.0))
    upper = np.where(every, 1.0, np.clip(shares.upper, 0.0, 1.0))
    return Quantity(lower, upper, "one jump", (Work("one jump", "the rates into the states", 1),))


def unscaled_step(quantity: Quantity, model: Model, goal: Mask, optimum: Literal["min", "max"] | None) -> Quantity:
    """Narrow the bounds on ``P [ X goal ]`` to sums of the matrix as it is stored, whatever its rows add up to.

    For comparisons alone: so ``P<=0.3 [ X a ]`` is true where 0.3 is what the text says.
    """
    precise = _step_probability(model, goal)
    lower, upper = (best_choice(model, p, maximise=optimum == "max") for p in (precise.lower, precise.upper))
    xp = namespace(lower)
    return replace(quantity, lower=xp.maximum(quantity.lower, lower), upper=xp.minimum(quantity.upper, upper))


def _step_probability(model: Model, goal: Mask) -> Numbers:
    """``(choices,)`` sums of the numbers that lead to the goal: exact if there is one, 1 only if it is certain."""
    sums = row_products(model, goal.astype(np.float64), 1)
    xp = namespace(sums)
    ones = replace(model, values=Values(plain=xp.ones(model.n_transitions)))
    terms = row_products(ones, goal.astype(np.float64), 1)
    slack = np.where(terms > 1, terms * SPACING * sums, 0.0)
    every = every_successor_in(model, goal)
    below_one = math.nextafter(1.0, 0.0)
    lower, upper = xp.minimum(sums - slack, below_one), xp.minimum(sums + slack, 1.0)
    return Numbers(np.where(every, 1.0, lower), np.where(every, 1.0, upper))


def next_reward(model: Model, structure: Rewards, goal: Mask, optimum: Literal["min", "max"] | None) -> Quantity:
    """Bound the reward of one step; as in PRISM, it is infinite where the step may miss the goal."""
    earned = _by_choice(model, structure.choice)
    if structure.state is not None and structure.state.size:
        earned = Numbers.exactly(spread(model, structure.state)) + earned
    if model.has_rates:
        earned = earned / _exit_rates(model)
    sure = every_successor_in(model, goal)
    lower, upper = np.where(sure, earned.lower, np.inf), np.where(sure, earned.upper, np.inf)
    best, most, infinite = (best_choice(model, values, maximise=optimum != "min") for values in (lower, upper, ~sure))
    choices = first_rows(model, lower == spread(model, best)) if optimum is not None else None
    work = Work("one step", "the reward of a step", 1)
    return Quantity(best, most, "one step", (work,), choices, infinite=infinite)


def _by_choice(model: Model, rewards: Floats | None) -> Numbers:
    """What is earned by each choice."""
    if rewards is None or not rewards.size:
        rewards = namespace(model.columns).zeros(model.n_choices)
    return Numbers.exactly(rewards)


def _exit_rates(model: Model) -> Numbers:
    return _summed(model, row_products(model, namespace(model.columns).ones(model.n_states), 1))


def _summed(model: Model, sums: Floats) -> Numbers:
    """Sums over rows, with what rounding may have done to them."""
    slack = np.diff(model.row_starts) * SPACING * sums
    slack = np.where(np.diff(model.row_starts) == 1, 0.0, slack)
    return Numbers(sums - slack, sums + slack)
