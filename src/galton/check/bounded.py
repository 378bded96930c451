"""What step and time bounds have in common: answers put together from parts, and bounds that make sense."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..backend.steps import Part
from ..lang.source import GaltonError
from ..model.sparse import Mask, Model, Rewards
from ..solve.horizon import Horizon
from ..solve.powers import PowerSum
from ..solve.settings import Settings
from .quantity import Quantity, Work

Floats = npt.NDArray[np.float64]

__all__ = [
    "BoundError",
    "NegativeRewardError",
    "WideError",
    "filled",
    "known",
    "non_negative",
    "refuse_wide",
    "relative_width",
    "work_of",
]


class BoundError(GaltonError):
    """A bound on steps or time that is none."""


class NegativeRewardError(GaltonError):
    """Rewards below zero where only others can be bounded."""

    kind = "unsupported"


class WideError(GaltonError):
    """Bounds that rounding keeps apart."""

    kind = "numeric"


def known(values: Floats, method: str) -> Quantity:
    """Numbers that need no bounds."""
    return Quantity(values, values, method)


def filled(part: Part, inner: PowerSum | Horizon, outside: Floats, most: float = np.inf) -> tuple[Floats, Floats]:
    """Bounds for all states: those of a part, and exact numbers outside it."""
    lower, upper = outside.copy(), outside.copy()
    states = slice(None) if part.states is None else part.states
    lower[states], upper[states] = np.minimum(inner.lower, most), np.minimum(inner.upper, most)
    return lower, upper


def relative_width(lower: Floats, upper: Floats) -> float:
    """The largest distance of bounds, relative to the lower; infinite where that is zero and the other is not."""
    apart = upper > lower
    with np.errstate(divide="ignore"):
        return float(((upper[apart] - lower[apart]) / lower[apart]).max(initial=0.0))


def refuse_wide(answer: Quantity, model: Model, settings: Settings) -> Quantity:
    """The answer, if its bounds are as close as asked for in the initial states, or too small to have digits."""
    lower, upper = answer.lower[model.initial], answer.upper[model.initial]
    allowed = 2 * settings.eps * (np.abs(upper) if settings.relative else 1.0)
    if ((upper - lower > allowed) & (upper > 1e-290)).any():
        worst = float((upper - lower).max())
        raise WideError(
            f"rounding in {answer.iterations:,} steps leaves bounds {worst:.2g} apart, more than asked for; "
            "a larger --eps would be met"
        )
    return answer


def work_of(step: str, part: Part, found: PowerSum | Horizon) -> Work:
    """One sum of powers as a step of the plan."""
    early = "" if found.steps == found.horizon else f", the rest of {found.horizon:,} steps enclosed"
    detail = f"{part.n_states:,} states, {part.n_entries:,} transitions{early}"
    return Work(step, detail, found.steps, found.seconds)


def non_negative(model: Model, reward: Rewards) -> tuple[Floats, Floats]:
    """The state and choice rewards of a structure, zeros where there are none."""
    state = np.zeros(model.n_states) if reward.state is None else reward.state
    choice = np.zeros(model.n_choices) if reward.choice is None else reward.choice
    if state.min(initial=0.0) < 0 or choice.min(initial=0.0) < 0:
        raise NegativeRewardError("rewards below zero are not supported with step and time bounds")
    return state, choice


def all_states(model: Model) -> Mask:
    """Every state."""
    return np.ones(model.n_states, dtype=np.bool_)
