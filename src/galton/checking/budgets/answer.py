"""``P [ a U^{rew{"cost"}<=b} b ]`` and ``R [ C^{rew{"cost"}<=b} ]``: bounds in every state."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...backend.protocol import Optimum
from ...device.arrays import is_on_host
from ...device.errors import DeviceError
from ...graph import can_avoid, can_reach
from ...lang.expressions import Expression
from ...lang.properties import TimeBound
from ...lang.source import UnsupportedError
from ...model.errors import NumericError
from ...model.sparse import Mask, Rewards
from ...model.values import Floats
from ...solve.settings import Settings
from ..quantity import Quantity, Work
from ..unbounded.rewards import rewards_by_row
from ..unbounded.until import until
from .bounds import Dimension, dimensions
from .unfolding import Level, Unfolding

if TYPE_CHECKING:
    from ..evaluation import Evaluation

__all__ = ["budget_probability", "budget_reward", "refuse_elsewhere", "unfolded_reward", "unfolded_until"]

METHOD = "levels"
_LOOK_AFTER = 128  # levels after which it is worth to know where they lead
_LOOK_EVERY = 16


def budget_probability(
    evaluation: Evaluation,
    through: Mask,
    goal: Mask,
    bound: TimeBound,
    optimum: Optimum | None,
    settings: Settings,
    span: Expression,
) -> Quantity:
    """Bound the probability of an until within budgets in every state."""
    refuse_elsewhere(evaluation, settings, span)
    counted = dimensions(evaluation, bound)
    model = evaluation.focused_model
    if not counted:
        return until(model, through, goal, optimum, settings)
    unfolding = unfolded_until(evaluation, through, goal, counted, optimum, settings)
    start = time.perf_counter()
    only, states = counted[0], model.initial
    looks = len(counted) == 1 and only.is_upper and only.slack is None and only.limit > 2 * _LOOK_AFTER
    limit: Quantity | None = None
    level: Level | None = None
    for level in unfolding.levels():
        if not looks or level.units < _LOOK_AFTER or level.units % _LOOK_EVERY:
            continue
        # No budget does more than any number would.
        try:
            limit = limit or until(model, through, goal, optimum, settings)
        except NumericError:
            looks = False
            continue
        low, high = level.lower[states], limit.upper[states]
        if (high - low <= settings.eps * (low if settings.relative else 1.0)).all():
            return _quantity(unfolding, level.lower, np.maximum(limit.upper, level.upper), start, limit.work)
    assert level is not None
    return _quantity(unfolding, level.lower, level.upper, start)


def budget_reward(
    evaluation: Evaluation,
    structure: Rewards,
    bound: TimeBound,
    optimum: Optimum | None,
    settings: Settings,
    span: Expression,
) -> Quantity:
    """Bound the reward that is collected while all budgets last: a choice counts if it can be paid for."""
    refuse_elsewhere(evaluation, settings, span)
    if evaluation.model.is_continuous:
        message = "rewards of a CTMC within budgets are not supported: they grow with time"
        raise UnsupportedError(message, evaluation.source, span.span)
    unfolding = unfolded_reward(evaluation, structure, dimensions(evaluation, bound), optimum, settings)
    start = time.perf_counter()
    *_, level = unfolding.levels()
    found = _quantity(unfolding, level.lower, level.upper, start)
    return replace(found, infinite=None if level.infinite is None else level.infinite.copy())


def unfolded_until(
    evaluation: Evaluation,
    through: Mask,
    goal: Mask,
    counted: list[Dimension],
    optimum: Optimum | None,
    settings: Settings,
) -> Unfolding:
    """The levels of an until within budgets."""
    model = evaluation.model
    # What has no chance without bounds has none within them.
    hopeless = can_avoid(model, through, goal) if optimum == "min" else ~can_reach(model, through, goal)
    return Unfolding(model, through & ~hopeless, goal, counted, optimum, settings)


def unfolded_reward(
    evaluation: Evaluation, structure: Rewards, counted: list[Dimension], optimum: Optimum | None, settings: Settings
) -> Unfolding:
    """The levels of a reward within budgets."""
    model = evaluation.model
    every = np.ones(model.n_states, dtype=np.bool_)
    earned: Floats = np.ascontiguousarray(rewards_by_row(model, structure), dtype=np.float64)
    return Unfolding(model, every, ~every, counted, optimum, settings, earned)


def refuse_elsewhere(evaluation: Evaluation, settings: Settings, span: Expression) -> None:
    """Raise an error for what budgets are not answered with."""
    if settings.strategy:
        raise UnsupportedError("strategies for budgets are not supported", evaluation.source, span.span)
    if not is_on_host(evaluation.model.columns) or evaluation.model.on_device:
        raise DeviceError("paths and rewards within budgets are not checked on a device")


def _quantity(
    unfolding: Unfolding, lower: Floats, upper: Floats, start: float, work: tuple[Work, ...] = ()
) -> Quantity:
    upper = upper if unfolding.earned is not None else np.minimum(upper, 1.0)
    done = Work("levels", unfolding.describe(), unfolding.solved + unfolding.sweeps, time.perf_counter() - start)
    return Quantity(np.array(lower), np.array(upper), METHOD, (done, *work))
