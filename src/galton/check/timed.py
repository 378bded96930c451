"""CTMCs within a time: P [ a U[t1,t2] b ], R [ C<=t ], R [ I=t ], by uniformisation (Baier et al. 2003)."""

from __future__ import annotations

import math
import time as clock

import numpy as np
import numpy.typing as npt

from ..backend.steps import row_products
from ..model.sparse import Mask, Model, Rewards
from ..solve.poisson import poisson
from ..solve.powers import PowerSum, Weights, power_sum
from ..solve.settings import Settings
from ..solve.uniformisation import Uniformised, uniformise
from .bounded import BoundError, all_states, filled, known, non_negative, refuse_wide, relative_width, work_of
from .quantity import Quantity, Work

Floats = npt.NDArray[np.float64]

__all__ = ["cumulative_time", "instantaneous_time", "timed_until"]

METHOD = "uniformisation"


def timed_until(model: Model, through: Mask, goal: Mask, low: float, high: float, settings: Settings) -> Quantity:
    """The probability to be in the goal at some time from ``low`` to ``high``, and in ``through`` all the time before.

    ``high`` may be infinite.
    """
    if not low >= 0 or not high >= 0:
        raise BoundError(f"a time bound of {min(low, high):g}; time begins at 0")
    if low > high:
        raise BoundError(f"no time lies between {low:g} and {high:g}")
    if math.isinf(low):
        raise BoundError("a time bound has to be finite")
    if low == 0:
        return refuse_wide(_from_now(model, through, goal, high, settings), model, settings)
    later = _from_now(model, through, goal, high - low, settings.tighter(4))
    return refuse_wide(_after(model, through, later, low, settings), model, settings)


def cumulative_time(model: Model, reward: Rewards, time: float, settings: Settings) -> Quantity:
    """The reward expected until the given time: of being in states, and of the transitions taken."""
    _refuse_time(time)
    state, choice = non_negative(model, reward)
    rates = state + choice
    chain, keep = _earning(model, rates, settings)
    if time == 0 or not rates.any():
        return known(np.zeros(model.n_states), METHOD)
    if chain is None:
        earned = rates * time
        return Quantity(earned * (1 - 2.0**-51), earned * (1 + 2.0**-51), METHOD)
    weights = Weights.over_time(poisson(chain.rate * time))
    found = _sum(model, chain, chain.part.of(rates) / chain.rate, weights, settings, stochastic=bool(keep.all()))
    lower, upper = filled(chain.part, found, np.zeros(model.n_states))
    answer = Quantity(lower, upper, METHOD, (work_of("reward over time", chain.part, found),))
    return refuse_wide(answer, model, settings)


def instantaneous_time(model: Model, reward: Rewards, time: float, settings: Settings) -> Quantity:
    """The state reward expected at the given time."""
    _refuse_time(time)
    state, _ = non_negative(model, Rewards(state=reward.state))
    chain, keep = _earning(model, state, settings)
    if time == 0 or chain is None or not state.any():
        return known(state, METHOD)
    weights = Weights.at_time(poisson(chain.rate * time))
    found = _sum(model, chain, chain.part.of(state), weights, settings, stochastic=bool(keep.all()))
    lower, upper = filled(chain.part, found, np.zeros(model.n_states))
    answer = Quantity(lower, upper, METHOD, (work_of("reward at a time", chain.part, found),))
    return refuse_wide(answer, model, settings)


def _refuse_time(time: float) -> None:
    if not time >= 0:
        raise BoundError(f"a time bound of {time:g}; time begins at 0")
    if math.isinf(time):
        raise BoundError("a time bound has to be finite")


def _earning(model: Model, rates: Floats, settings: Settings) -> tuple[Uniformised | None, Mask]:
    """The chain of the states from which a state with a reward can be reached, and which they are."""
    from ..graph import can_reach

    keep = can_reach(model, all_states(model), rates > 0)
    return uniformise(model, keep, settings.n_threads), keep


def _from_now(model: Model, through: Mask, goal: Mask, time: float, settings: Settings) -> Quantity:
    """P [ through U[0,time] goal ]: the probability to enter the goal with one of the jumps that come in time."""
    from ..graph import can_reach

    if math.isinf(time):
        from .until import until

        return until(model, through, goal, None, settings)
    start = clock.perf_counter()
    matter = can_reach(model, through & ~goal, goal) & ~goal
    graph = Work("prob0", f"{int(matter.sum()):,} states matter", seconds=clock.perf_counter() - start)
    chain = uniformise(model, matter, settings.n_threads) if time > 0 and matter.any() else None
    reached = goal.astype(np.float64)
    if chain is None:
        return known(reached, METHOD)
    enter = chain.part.of(row_products(model, reached, settings.n_threads)) / chain.rate
    found = _sum(model, chain, enter, Weights.over_time(poisson(chain.rate * time)), settings)
    lower, upper = filled(chain.part, found, reached, 1.0)
    return Quantity(lower, upper, METHOD, (graph, work_of("until within a time", chain.part, found)))


def _after(model: Model, through: Mask, later: Quantity, time: float, settings: Settings) -> Quantity:
    """Stay in ``through`` for the given time, then have the probability ``later``."""
    from ..graph import can_reach

    start = clock.perf_counter()
    matter = can_reach(model, through, through & (later.upper > 0)) & through
    graph = Work("prob0", f"{int(matter.sum()):,} states matter", seconds=clock.perf_counter() - start)
    chain = uniformise(model, matter, settings.n_threads)
    zeros = np.zeros(model.n_states)
    if chain is None:
        lower, upper = np.where(matter, later.lower, 0.0), np.where(matter, later.upper, 0.0)
        return Quantity(lower, upper, METHOD, (*later.work, graph))
    weights = Weights.at_time(poisson(chain.rate * time))
    below, above = chain.part.of(later.lower), chain.part.of(later.upper)
    width = relative_width(below, above)
    if width <= settings.eps / 2:
        # All is linear and non-negative: what is known up to a factor stays so.
        found = _sum(model, chain, below, weights, settings)
        lower, upper = filled(chain.part, found, zeros, 1.0)
        upper = np.minimum(upper * (1 + width * (1 + 1e-9)), 1.0)
        sums = [found]
    else:
        sums = [_sum(model, chain, start_at, weights, settings) for start_at in (below, above)]
        lower, upper = filled(chain.part, sums[0], zeros)[0], filled(chain.part, sums[1], zeros, 1.0)[1]
    work = (*later.work, graph, *(work_of("stay for a time", chain.part, found) for found in sums))
    return Quantity(lower, upper, METHOD, work)


def _sum(
    model: Model, chain: Uniformised, start: Floats, weights: Weights, settings: Settings, *, stochastic: bool = False
) -> PowerSum:
    important = chain.part.positions(model.initial)
    return power_sum(chain.chain(start), weights, important, settings, stochastic=stochastic)
