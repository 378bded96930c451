"""Questions about a single step: ``X`` in a CTMC, and the reward until ``X`` is settled.

Both are sums over the successors of a state; their rounding is added to the bounds.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..model.sparse import Mask, Model, Rewards, row_sums
from .intervals import Floats, Numbers
from .quantity import Quantity, Work

__all__ = ["jump_probability", "next_reward"]

ROUNDING = 2.0**-52  # of one addition, with room to spare


def jump_probability(model: Model, goal: Mask) -> Quantity:
    """The probability that the first jump of a CTMC leads to the goal: its share of the rates."""
    hits = goal[model.columns]
    shares = _summed(model, row_sums(model.row_starts, model.values, hits.astype(np.float64))) / _exit_rates(model)
    every = np.logical_and.reduceat(hits, model.row_starts[:-1])
    lower = np.where(every, 1.0, np.clip(shares.lower, 0.0, 1.0))
    upper = np.where(every, 1.0, np.clip(shares.upper, 0.0, 1.0))
    return Quantity(lower, upper, "one jump", (Work("one jump", "the rates into the states", 1),))


def next_reward(model: Model, structure: Rewards, goal: Mask, optimum: Literal["min", "max"] | None) -> Quantity:
    """What one step earns on average; infinite where the step may miss the goal, as PRISM has it."""
    owners = np.arange(model.n_states)
    if model.choice_starts is not None:
        owners = np.repeat(owners, np.diff(model.choice_starts))
    earned = _part(structure.state, model.n_states, owners) + _part(structure.choice, model.n_choices, None)
    if model.type == "ctmc":
        earned = earned / _exit_rates(model)
    sure = np.logical_and.reduceat(goal[model.columns], model.row_starts[:-1])
    lower, upper = np.where(sure, earned.lower, np.inf), np.where(sure, earned.upper, np.inf)
    if model.choice_starts is not None:
        best = np.minimum if optimum == "min" else np.maximum
        lower, upper = (best.reduceat(bound, model.choice_starts[:-1]) for bound in (lower, upper))
    return Quantity(lower, upper, "one step", (Work("one step", "the reward of a step", 1),))


def _part(rewards: Floats | None, size: int, index: np.ndarray | None) -> Numbers:
    values = rewards if rewards is not None and rewards.size else np.zeros(size)
    return Numbers.exactly(values if index is None else values[index])


def _exit_rates(model: Model) -> Numbers:
    return _summed(model, model.exit_rates)


def _summed(model: Model, sums: Floats) -> Numbers:
    """Sums over rows, with what rounding may have done to them."""
    slack = np.diff(model.row_starts) * ROUNDING * sums
    slack = np.where(np.diff(model.row_starts) == 1, 0.0, slack)
    return Numbers(sums - slack, sums + slack)
