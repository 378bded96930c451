"""CTMCs within a time, from one initial state, by moving its distribution forward (:mod:`galton.solve.forward`).

The questions of :mod:`.timed`. Only of the initial state something is found out. Where few states hold mass this is
many times faster than to go backward over all of them; so it is tried first, and given up as soon as it seems to take
more than a small part of the steps that may have to be made backward.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..model.arrays import is_on_host
from ..model.sparse import Mask
from ..solve.forward import Distribution, Effort, MovingChain, TooMuchError
from ..solve.methods import BACKWARD, FORWARD
from .bounded import Ask, WideError
from .quantity import Quantity, Work

Floats = npt.NDArray[np.float64]

__all__ = ["Attempt", "first", "reward_at", "reward_over", "until"]

BEGIN = 0.3  # of eps may be lost, to begin with
AGAIN = 6  # attempts, each with less that may be lost
LITTLE = 1e7  # entries to go over backward that are not worth a thought: hundredths of a second
FEW_STATES = 0.2  # of all may be followed where nobody asked for it …
FEW_ENTRIES = 0.125  # … and such a part of the entries be gone over …
STEPS_BACKWARD = 20_000  # … that so many steps have, or fewer if there are fewer: then the rest is often enclosed


@dataclass(frozen=True, eq=False)
class Attempt:
    """How to move forward.

    Attributes
    ----------
    run
        From a distribution, with so much that may be lost, to the distribution in the end and the value that comes of
        it.
    worth
        The most that a path can be worth.
    steps
        How many steps there may be backward.
    """

    run: Callable[[Distribution, float, Effort], tuple[Distribution, float]]
    worth: float
    steps: float


def first(ask: Ask, step: str, attempt: Callable[[], Attempt], backward: Callable[[], Quantity]) -> Quantity:
    """Try to move forward, and go backward where that cannot be done, is not wanted or takes too long."""
    chosen = ask.settings.method == FORWARD
    possible = len(ask.model.initial) == 1 and not ask.everywhere and is_on_host(ask.model.columns)
    if not possible or ask.settings.method == BACKWARD:
        return backward()
    way = attempt()
    work = min(way.steps, STEPS_BACKWARD) * (ask.model.n_transitions + ask.model.n_states)
    if not chosen and work < LITTLE:
        return backward()
    begin = clock.perf_counter()
    effort = Effort() if chosen else Effort(FEW_STATES * ask.model.n_states, FEW_ENTRIES * work)
    try:
        lower, upper = _bounds(ask, way, effort)
    except (TooMuchError, WideError) as error:
        if chosen:
            raise
        why = "too many states hold mass" if isinstance(error, TooMuchError) else "too much mass is lost"
        given_up = Work("forwards", f"given up, {why}", effort.steps, clock.perf_counter() - begin)
        answer = backward()
        return replace(answer, work=(given_up, *answer.work))
    below, above = ask.zeros, np.full(ask.model.n_states, way.worth)
    below[ask.model.initial], above[ask.model.initial] = lower, upper
    detail = f"forwards, {effort.widest:,} of {ask.model.n_states:,} states"
    done = Work(step, detail, effort.steps, clock.perf_counter() - begin)
    return Quantity(below, above, FORWARD, (done,))


def until(ask: Ask, through: Mask, goal: Mask, low: float, high: float) -> Attempt:
    """P [ through U[low,high] goal ], ``high`` being finite."""
    if low == high and low > 0:
        goal = goal & through
    # A state is left if the goal can be reached from it; at first the goal may be left as well.
    matter = ask.reaching(goal, through) & through
    phases = [(MovingChain(ask.model, matter, ask.settings), low)] if low > 0 else []
    if high > low:
        phases.append((MovingChain(ask.model, matter & ~goal, ask.settings), high - low))

    def run(start: Distribution, fineness: float, effort: Effort) -> tuple[Distribution, float]:
        now = start
        for k, (chain, time) in enumerate(phases):
            now = chain.after(time, now, fineness / len(phases), effort)
            if low > 0 and k == 0:
                now = now.within(through)
        return now, now.expected(goal.astype(np.float64))

    return Attempt(run, 1.0, sum(chain.fastest() * time for chain, time in phases))


def reward_at(ask: Ask, state: Floats, time: float) -> Attempt:
    """R [ I=time ]."""
    chain = MovingChain(ask.model, ask.reaching(state > 0), ask.settings)

    def run(start: Distribution, fineness: float, effort: Effort) -> tuple[Distribution, float]:
        now = chain.after(time, start, fineness, effort)
        return now, now.expected(state)

    return Attempt(run, float(state.max()), chain.fastest() * time)


def reward_over(ask: Ask, rates: Floats, time: float) -> Attempt:
    """R [ C<=time ], given what is earned per unit of time."""
    chain = MovingChain(ask.model, ask.reaching(rates > 0), ask.settings)

    def run(start: Distribution, fineness: float, effort: Effort) -> tuple[Distribution, float]:
        now = chain.after(time, start, fineness, effort, earning=rates)
        return now, now.earned

    return Attempt(run, float(rates.max()) * time, chain.fastest() * time)


def _bounds(ask: Ask, way: Attempt, effort: Effort) -> tuple[float, float]:
    """Bounds that are as close as asked for, with less and less mass that may be lost."""
    settings, fineness = ask.settings, BEGIN * ask.settings.eps
    start = Distribution.at(int(ask.model.initial[0]))
    for _ in range(AGAIN):
        found, value = way.run(start, fineness, effort)
        lower, upper = found.bounds(value, way.worth)
        upper = min(upper, way.worth)
        allowed = 2 * settings.eps * (lower if settings.relative else 1.0)
        if upper - lower <= allowed or upper == 0:
            return lower, upper
        if found.error > settings.eps:
            break  # that is rounding, which less mass to be lost does not help
        fineness *= min(max(allowed / (upper - lower), 1e-12), 1.0) / 10
    raise WideError(
        f"the bounds [{lower:.6g}, {upper:.6g}] are all that {FORWARD} gives here: mass that it loses might be worth "
        f"{way.worth:g}; the default method does without"
    )
