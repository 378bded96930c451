"""CTMCs within a time: P [ a U[t1,t2] b ], R [ C<=t ], R [ I=t ], by uniformisation (Baier et al. 2003).

All return bounds for all states. Those of the initial states are close; with ``everywhere`` so are those of the others,
relative to the largest, which may take much longer.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from ...backend.steps import least_positive, row_products
from ...device.arrays import greatest, namespace, on_host
from ...model.rounding import FAINT
from ...model.sparse import Mask, Model, Rewards
from ...solve.methods import BACKWARD, RATIONAL
from ...solve.poisson import Poisson, poisson, poissons
from ...solve.power_sums import PowerSum, Weights, power_sums
from ...solve.scaling import lowered, raised, raising
from ...solve.settings import Settings
from ...solve.stiff.open_chain import OpenChain
from ...solve.uniformisation import Uniformised, uniformise
from ..quantity import Quantity, Work
from . import forward_in_time
from .question import BoundedQuestion, BoundError, Curve, filled, known, work_of
from .stiff_time import Stiff

Floats = npt.NDArray[np.float64]

__all__ = [
    "JumpSum",
    "cumulative_time",
    "instantaneous_time",
    "reach",
    "reward_at",
    "reward_over",
    "stay",
    "timed_until",
]


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
        sum = reward_over(ask, rates)
        if sum is None:
            earned = rates * time
            return Quantity(earned * (1 - 2.0**-51), earned * (1 + 2.0**-51), BACKWARD)
        return ask.accept(sum.until(ask, time))

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
        sum = reward_at(ask, state)
        return known(state, BACKWARD) if sum is None else ask.accept(sum.until(ask, time))

    return forward_in_time.forward_first(
        ask, "reward at a time", partial(forward_in_time.reward_at, ask, state, time), backward
    )


def _refuse_time(time: float) -> None:
    if not time >= 0:
        raise BoundError(f"a time bound of {time:g}; time begins at 0")
    if math.isinf(time):
        raise BoundError("a time bound has to be finite")


def _from_now(ask: BoundedQuestion, through: Mask, goal: Mask, time: float) -> Quantity:
    """P [ through U[0,time] goal ]: the probability to enter the goal with one of the jumps that come in time."""
    if math.isinf(time):
        from ..unbounded.until import until

        return until(ask.model, through, goal, None, ask.proving)
    sum = reach(ask, through, goal) if time > 0 else None
    return known(goal.astype(np.float64), BACKWARD) if sum is None else sum.until(ask, time)


# What these questions come down to.


@dataclass(frozen=True, eq=False)
class JumpSum:
    """A number as a sum over the jumps of a uniformised chain: what the states are worth at that jump.

    Attributes
    ----------
    chain, start
        The states whose number is not known at once, and what they are worth at the first jump, times 2^exponent.
    weights
        How much each jump counts, given how many there are.
    at_zero
        The number of every state when no time has passed; outside of the chain it stays that.
    forward
        How to go the other way, for so much time.
    equation
        The differential equation that the number solves.
    home
        The same for a question about the model on the host.
    """

    step: str
    chain: Uniformised
    start: Floats
    weights: Callable[[Poisson], Weights]
    at_zero: Floats
    forward: Callable[[float], forward_in_time.Attempt]
    equation: Callable[[], OpenChain]
    home: Callable[[BoundedQuestion], JumpSum | None]
    most: float = np.inf
    stochastic: bool = False
    exponent: int = 0
    work: tuple[Work, ...] = ()

    def until(self, ask: BoundedQuestion, time: float) -> Quantity:
        """Bound it in every state, when so much time has passed."""
        found, tried = _sum(ask, self._stiff(ask), time, stochastic=self.stochastic)
        lower, upper = filled(self.chain.part, found, self.at_zero, self.most)
        work = (*self.work, *tried, work_of(self.step, self.chain.part, found))
        return Quantity(lower, upper, _method(found), work)

    def _stiff(self, ask: BoundedQuestion) -> Stiff:
        def home() -> Stiff:
            there = ask.at_home
            found = self.home(there)
            assert found is not None  # the same model has the same states that matter
            return found._stiff(there)

        return Stiff(ask, self.equation, self.chain, self.start, self.weights, self.exponent, home)

    def curve(self, ask: BoundedQuestion, times: Sequence[float]) -> Curve:
        """Bound it in the initial states, at many times that ascend, all of them in one pass."""
        forward, backward = partial(self.forward, times[-1]), partial(self._backward, ask)
        return forward_in_time.curve_forward_first(ask, self.step, forward, times, backward)

    def _backward(self, ask: BoundedQuestion, times: Sequence[float]) -> Curve:
        chain, stiff = self.chain, self._stiff(ask)
        settled = stiff.at_all(times)
        if settled is not None:
            found = PowerSum(settled.lower, settled.upper, 0, 0, 0.0, settled.how)
        else:
            weights = [self.weights(jumps) for jumps in poissons([chain.rate * time for time in times])]
            states = ask.important(chain.part)
            found = power_sums(
                chain.chain(self.start),
                weights,
                states,
                ask.settings,
                stochastic=self.stochastic,
                otherwise=stiff.instead_at_all(times),
            )
            found = _lowered(found, self.exponent)
        work = (*self.work, *stiff.work, work_of(self.step, chain.part, found))
        return Curve.of(ask, chain.part, found, self.at_zero, self.most, _method(found), work)


def _sum(ask: BoundedQuestion, stiff: Stiff, time: float, *, stochastic: bool = False) -> tuple[PowerSum, list[Work]]:
    """A sum over jumps, by steps or by equations, and what was tried in vain."""
    if (found := stiff.at(time)) is None:
        weights = stiff.weights(poisson(stiff.jumps.rate * time))
        chain, instead = stiff.jumps.chain(stiff.start), stiff.instead(time)
        found = _lowered(ask.sum(chain, weights, stochastic=stochastic, otherwise=instead), stiff.exponent)
    return found, stiff.work


def _lowered(found: PowerSum, exponent: int) -> PowerSum:
    if not exponent:
        return found
    lower, upper = lowered(found.lower, found.upper, exponent)
    return replace(found, lower=lower, upper=upper)


def _method(found: PowerSum) -> str:
    return RATIONAL if found.how else BACKWARD


def reach(ask: BoundedQuestion, through: Mask, goal: Mask) -> JumpSum | None:
    """P [ through U<=t goal ]: the probability to enter the goal with one of the jumps that come in time."""
    matter, graph = _mattering(ask, goal, through & ~goal, but=goal)
    chain = uniformise(ask.model, matter, ask.threads, ask.prepared) if matter.any() else None
    if chain is None:
        return None
    reached = goal.astype(np.float64)
    enter = chain.part.of(row_products(ask.model, reached, ask.threads))
    start, exponent = _per_jump(chain, enter)
    forward = partial(forward_in_time.until, ask, through, goal, 0.0)
    return JumpSum(
        "until within a time",
        chain,
        start,
        Weights.over_time,
        reached,
        forward,
        partial(_equation, ask, matter, reached),
        lambda there: reach(there, on_host(through), on_host(goal)),
        1.0,
        exponent=exponent,
        work=(graph,),
    )


def stay(ask: BoundedQuestion, inside: Mask) -> JumpSum | None:
    """P [ G<=t inside ]: the probability not to have left by then."""
    matter, graph = _mattering(ask, inside, inside)
    chain = uniformise(ask.model, matter, ask.threads, ask.prepared)
    if chain is None:
        return None
    staying = inside.astype(np.float64)

    def forward(time: float) -> forward_in_time.Attempt:
        return forward_in_time.until(ask, inside, inside, time, time)

    equation = partial(_equation, ask, matter, ask.zeros, start=staying)
    return JumpSum(
        "stay for a time",
        chain,
        chain.part.of(staying),
        Weights.at_time,
        staying,
        forward,
        equation,
        lambda there: stay(there, on_host(inside)),
        1.0,
        work=(graph,),
    )


def reward_over(ask: BoundedQuestion, rates: Floats) -> JumpSum | None:
    """R [ C<=t ], given what each state earns per unit of time."""
    chain, keep = _earning(ask, rates)
    if chain is None:
        return None
    start, exponent = _per_jump(chain, chain.part.of(rates))
    forward = partial(forward_in_time.reward_over, ask, rates)
    return JumpSum(
        "reward over time",
        chain,
        start,
        Weights.over_time,
        ask.zeros,
        forward,
        partial(_equation, ask, keep, ask.zeros, earned=rates),
        lambda there: reward_over(there, on_host(rates)),
        stochastic=bool(keep.all()),
        exponent=exponent,
    )


def reward_at(ask: BoundedQuestion, state: Floats) -> JumpSum | None:
    """R [ I=t ]."""
    chain, keep = _earning(ask, state)
    if chain is None:
        return None
    start, forward = chain.part.of(state), partial(forward_in_time.reward_at, ask, state)
    equation, whole = partial(_equation, ask, keep, ask.zeros, start=state), bool(keep.all())
    return JumpSum(
        "reward at a time",
        chain,
        start,
        Weights.at_time,
        state,
        forward,
        equation,
        lambda there: reward_at(there, on_host(state)),
        stochastic=whole,
    )


def _earning(ask: BoundedQuestion, rates: Floats) -> tuple[Uniformised | None, Mask]:
    """The chain of the states from which a state with a reward can be reached, and these states."""
    keep = ask.reaching(rates > 0)
    return uniformise(ask.model, keep, ask.threads, ask.prepared), keep


def _equation(
    ask: BoundedQuestion, keep: Mask, outside: Floats, *, start: Floats | None = None, earned: Floats | None = None
) -> OpenChain:
    """The differential equation in the states to keep; others have what they have, and none of them earns."""
    begin = np.zeros(int(keep.sum())) if start is None else start[keep]
    return OpenChain.of(ask.model, keep, outside, earned, begin, ask.threads)


def _per_jump(chain: Uniformised, rates: Floats) -> tuple[Floats, int]:
    """What comes with each jump, given what comes per unit of time; faint numbers are raised by a power of two."""
    exponent = raising(greatest(rates)) if least_positive(rates) < FAINT * chain.rate else 0
    return raised(rates, exponent) / chain.rate, exponent


def _after(ask: BoundedQuestion, through: Mask, later: Quantity, time: float) -> Quantity:
    """Stay in ``through`` for the given time, then have the probability ``later``."""
    matter, graph = _mattering(ask, through & (later.upper > 0), through)
    chain = uniformise(ask.model, matter, ask.threads, ask.prepared)
    if chain is None:
        lower, upper = np.where(matter, later.lower, 0.0), np.where(matter, later.upper, 0.0)
        return Quantity(lower, upper, BACKWARD, (*later.work, graph))
    below, above = chain.part.of(later.lower), chain.part.of(later.upper)
    width = _relative_width(below, above)
    sums, tried = [], list[Work]()

    def stiff(ask: BoundedQuestion, chain: Uniformised, matter: Mask, start: Floats) -> Stiff:
        def home() -> Stiff:
            there, keep = ask.at_home, on_host(matter)
            jumps = uniformise(there.model, keep, there.threads)
            assert jumps is not None  # as there is one here
            return stiff(there, jumps, keep, on_host(start))

        equation = partial(_equation, ask, matter, ask.zeros, start=start)
        return Stiff(ask, equation, chain, chain.part.of(start), Weights.at_time, home=home)

    def add(start: Floats) -> None:
        found, work = _sum(ask, stiff(ask, chain, matter, start), time)
        sums.append(found)
        tried.extend(work)

    add(later.lower)
    lower, upper = filled(chain.part, sums[0], ask.zeros, 1.0)
    if width <= ask.settings.eps / 2:
        # All is linear and non-negative: what is known up to a factor stays so.
        upper = namespace(upper).minimum(upper * (1 + width * (1 + 1e-9)), 1.0)
    else:
        add(later.upper)
        upper = filled(chain.part, sums[1], ask.zeros, 1.0)[1]
    work = (*later.work, graph, *tried, *(work_of("stay for a time", chain.part, found) for found in sums))
    return Quantity(lower, upper, max(map(_method, sums), key=(BACKWARD, RATIONAL).index), work)


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
