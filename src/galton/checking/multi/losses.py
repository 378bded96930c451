"""Rewards to be large, as what is lost of the most that can be had: so that they stand beside costs.

The solver takes rewards of one sign. For numbers v of states with ``v(s) >= r(s, a) + Σ P(s, a, t) v(t)``, and 0 where
runs are stopped, the loss ``v(s) - r(s, a) - Σ P(s, a, t) v(t)`` of a choice is not negative, and a strategy that stops
for certain loses ``v(initial)`` less its reward, whatever v is (Ng, Harada and Russell, "Policy invariance under reward
transformations", 1999). Losses are rounded down, so that no strategy is thought to lose more than it does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...backend.rows import owners
from ...graph import maximal_end_components
from ...model.errors import NumericError
from ...model.rounding import FAINT, SPACING
from ...model.sparse import Model, Rewards
from ...model.values import Floats
from ...solve.settings import Settings
from ..unbounded.rewards import total_reward

__all__ = ["Losses", "losses"]

_MARGIN = 2.0**-16  # of the greatest number, for each step outside end components: far above what rounding takes


@dataclass(frozen=True, eq=False)
class Losses:
    """``(choices,)`` what each choice loses at least, and what there is to lose from the initial state."""

    rows: Floats
    most: float


def losses(model: Model, rewards: Floats, settings: Settings) -> Losses:
    """Return a reward as losses; it must not be paid in end components, and the last state is where runs stop."""
    if ((rewards > 0) & (rewards < FAINT)).any():
        raise NumericError("rewards are too small to be weighed against costs in doubles")
    ends = maximal_end_components(model)
    moving = (~ends.staying).astype(np.float64)
    reward = total_reward(model, Rewards(choice=rewards), "max", settings).upper
    steps = total_reward(model, Rewards(choice=moving), "max", settings).upper
    most = reward + steps * (_MARGIN * max(float(reward.max()), float(rewards.max())))
    # One number for each end component, so that nothing is lost inside.
    inside = ends.component >= 0
    greatest = np.zeros(ends.count)
    np.maximum.at(greatest, ends.component[inside], most[inside])
    most = np.where(inside, greatest[ends.component], most)
    if most[-1] != 0 or not np.isfinite(most).all():
        raise NumericError("a reward has no finite bound that several objectives could be measured by")
    probabilities = model.values[:]
    starts = model.row_starts[:-1]
    following = np.add.reduceat(probabilities * most[model.columns], starts)
    total = np.add.reduceat(probabilities, starts)
    here = most[owners(model)]
    lost = here - rewards - following / total
    # Each of the operations of a row is off by at most half a spacing of what it adds up.
    operations = np.diff(model.row_starts) * 2 + 8
    lost -= operations * SPACING * (here + rewards + following / total)
    lost[ends.staying] = 0.0
    if (lost < 0).any():
        raise NumericError("a reward is bounded too closely to be weighed against costs")
    return Losses(lost, float(most[model.initial[0]]))
