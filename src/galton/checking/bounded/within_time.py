"""CTMCs within a time: P [ a U[t1,t2] b ], R [ C<=t ], R [ I=t ], by uniformisation (Baier et al. 2003).

All return bounds for all states. Those of the initial states are close; with ``everywhere`` so are those of the others,
relative to the largest, which may take much longer.
"""

from __future__ import annotations

import math
import time as clock
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from ...backend.steps import least_positive, row_products
from ...device.arrays import greatest, namespace
from ...model.rounding import FAINT
from ...model.sparse import Mask, Model, Rewards
from ...solve.methods import BACKWARD
from ...solve.poisson import poisson
from ...solve.power_sums import PowerSum, Weights
from ...solve.scaling import lowered, raised, raising
from ...solve.settings import Settings
from ...solve.uniformisation import Uniformised, uniformise
from ..quantity import Quantity, Work
from . import forward_in_time
from .question import BoundedQuestion, BoundError, filled, known, work_of

Floats = npt.NDArray[np.float64]

__all__ = ["cumulative_time", "instantaneous_time", "timed_until"]


def timed_until(
    model: Model,
    through: Mask,
    goal: Mask,
    low: float,
    high: float,
    settings: Settings,
    *,
    everywhere: bool = False,
) -> Quantity:
    """Bound ``P [ through U[low,high] goal ]`` in every state of a CTMC.

    That is the probability to be in the goal at some time from ``low`` to ``high``, and in ``through`` until then.
    ``high`` may be infinite.
    """
    if not low >= 0 or not high >= 0:
        raise BoundError(f"a time bound of {min(low, high):g}; time begins at 0")
    if low > high:
        raise BoundError(f"no time lies between {low:g} and {high:g}")
    if math.isinf(low):
        raise BoundError("a time bound has to be finite")
    ask = BoundedQuestion(model, settings, everywhere=everywhere)
    if low > 0 and ask.needless(through):
        return Quantity(ask.zeros, through.astype(np.float64), BACKWARD)

    def backward() -> Quantity:
        if low == 0:
            return ask.accept(_from_now(ask, through, goal, high))
        for factor in (4, 1e4):
            answer = _after(ask, through, _from_now(ask.first(factor), through, goal, high - low), low)
            if ask.close(answer):
                break
        return ask.accept(answer)

    if math.isinf(high):
        return backward()
    return forward_in_time.forward_first(
        ask, "until within a time", lambda: forward_in_time.until(ask, through, goal, low, high), backward
    )


def cumulative_time(
    model: Model, reward: Rewards, time: float, settings: Settings, *, everywhere: bool = False
) -> Quantity:
    """Bound ``R [ C<=time ]`` in every state of a CTMC: what states and transitions earn until then, on average."""
    _refuse_time(time)
    ask = BoundedQuestion(model, settings, everywhere=everywhere)
    state, choice = ask.rewards(reward)
    rates = state + choice
    if time == 0 or not rates.any():
        return known(ask.zeros, BACKWARD)

    def backward() -> Quantity:
        chain, whole = _earning(ask, rates)
        if chain is None:
            earned = rates * time
            return Quantity(earned * (1 - 2.0**-51), earned * (1 + 2.0**-51), BACKWARD)
        weights = Weights.over_time(poisson(chain.rate * time))
        found = _per_jump(ask, chain, chain.part.of(rates), weights, stochastic=whole)
        lower, upper = filled(chain.part, found, ask.zeros)
        return ask.accept(Quantity(lower, upper, BACKWARD, (work_of("reward over time", chain.part, found),)))

    return forward_in_time.forward_first(
        ask, "reward over time", partial(forward_in_time.reward_over, ask, rates, time), backward
    )


def instantaneous_time(
    model: Model, reward: Rewards, time: float, settings: Settings, *, everywhere: bool = False
) -> Quantity:
    """Bound ``R [ I=time ]`` in every state of a CTMC: the state reward expected at that moment."""
    _refuse_time(time)
    ask = BoundedQuestion(model, settings, everywhere=everywhere)
    state, _ = ask.rewards(Rewards(state=reward.state))
    if time == 0 or not state.any():
        return known(state, BACKWARD)

    def backward() -> Quantity:
        chain, whole = _earning(ask, state)
        if chain is None:
            return known(state, BACKWARD)
        weights = Weights.at_time(poisson(chain.rate * time))
        found = ask.sum(chain.chain(chain.part.of(state)), weights, stochastic=whole)
        lower, upper = filled(chain.part, found, ask.zeros)
        return ask.accept(Quantity(lower, upper, BACKWARD, (work_of("reward at a time", chain.part, found),)))

    return forward_in_time.forward_first(
        ask, "reward at a time", partial(forward_in_time.reward_at, ask, state, time), backward
    )


def _refuse_time(time: float) -> None:
    if not time >= 0:
        raise BoundError(f"a time bound of {time:g}; time begins at 0")
    if math.isinf(time):
        raise BoundError("a time bound has to be finite")


def _earning(ask: BoundedQuestion, rates: Floats) -> tuple[Uniformised | None, bool]:
    """The chain of the states from which a state with a reward can be reached, and whether these are all."""
    keep = ask.reaching(rates > 0)
    return uniformise(ask.model, keep, ask.threads, ask.prepared), bool(keep.all())


def _from_now(ask: BoundedQuestion, through: Mask, goal: Mask, time: float) -> Quantity:
    """P [ through U[0,time] goal ]: the probability to enter the goal with one of the jumps that come in time."""
    if math.isinf(time):
        from ..unbounded.until import until

        return until(ask.model, through, goal, None, ask.proving)
    matter, graph = _mattering(ask, goal, through & ~goal, but=goal)
    chain = uniformise(ask.model, matter, ask.threads, ask.prepared) if time > 0 and matter.any() else None
    reached = goal.astype(np.float64)
    if chain is None:
        return known(reached, BACKWARD)
    enter = chain.part.of(row_products(ask.model, reached, ask.threads))
    found = _per_jump(ask, chain, enter, Weights.over_time(poisson(chain.rate * time)))
    lower, upper = filled(chain.part, found, reached, 1.0)
    return Quantity(lower, upper, BACKWARD, (graph, work_of("until within a time", chain.part, found)))


def _per_jump(
    ask: BoundedQuestion, chain: Uniformised, rates: Floats, weights: Weights, *, stochastic: bool = False
) -> PowerSum:
    """The sum of what comes with each jump, given what comes per unit of time; faint numbers are raised."""
    exponent = raising(greatest(rates)) if least_positive(rates) < FAINT * chain.rate else 0
    found = ask.sum(chain.chain(raised(rates, exponent) / chain.rate), weights, stochastic=stochastic)
    if not exponent:
        return found
    lower, upper = lowered(found.lower, found.upper, exponent)
    return replace(found, lower=lower, upper=upper)


def _after(ask: BoundedQuestion, through: Mask, later: Quantity, time: float) -> Quantity:
    """Stay in ``through`` for the given time, then have the probability ``later``."""
    matter, graph = _mattering(ask, through & (later.upper > 0), through)
    chain = uniformise(ask.model, matter, ask.threads, ask.prepared)
    if chain is None:
        lower, upper = np.where(matter, later.lower, 0.0), np.where(matter, later.upper, 0.0)
        return Quantity(lower, upper, BACKWARD, (*later.work, graph))
    weights = Weights.at_time(poisson(chain.rate * time))
    below, above = chain.part.of(later.lower), chain.part.of(later.upper)
    width = _relative_width(below, above)
    sums = [ask.sum(chain.chain(below), weights)]
    lower, upper = filled(chain.part, sums[0], ask.zeros, 1.0)
    if width <= ask.settings.eps / 2:
        # All is linear and non-negative: what is known up to a factor stays so.
        upper = namespace(upper).minimum(upper * (1 + width * (1 + 1e-9)), 1.0)
    else:
        sums.append(ask.sum(chain.chain(above), weights))
        upper = filled(chain.part, sums[1], ask.zeros, 1.0)[1]
    work = (*later.work, graph, *(work_of("stay for a time", chain.part, found) for found in sums))
    return Quantity(lower, upper, BACKWARD, work)


def _mattering(ask: BoundedQuestion, goal: Mask, through: Mask, but: Mask | None = None) -> tuple[Mask, Work]:
    """Return the states from which the goal can be reached, without those of ``but``, and the work this took."""
    start = clock.perf_counter()
    matter = ask.reaching(goal, through)
    matter = matter if but is None else matter & ~but
    return matter, Work("prob0", f"{int(matter.sum()):,} states matter", seconds=clock.perf_counter() - start)


def _relative_width(lower: Floats, upper: Floats) -> float:
    """The largest distance of bounds, relative to the lower; infinite where that is zero and the other is not."""
    apart = upper > lower
    with np.errstate(divide="ignore"):
        return greatest((upper[apart] - lower[apart]) / lower[apart])
