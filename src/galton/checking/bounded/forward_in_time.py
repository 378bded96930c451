"""CTMCs within a time, from one initial state: its distribution moved forward by adaptive uniformisation.

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

from ...backend.steps import exit_rates
from ...lang.source import GaltonError
from ...model.sparse import Mask
from ...solve.adaptive_uniformisation import Distribution, Effort, MovingChain, moderate
from ...solve.methods import BACKWARD, FORWARD
from ..quantity import Quantity, Work
from .question import BoundedQuestion, WideError

Floats = npt.NDArray[np.float64]

__all__ = ["Attempt", "forward_first", "reward_at", "reward_over", "until"]

AT_FIRST = 0.3  # of eps may be lost …
TRIES = 6  # … and less with each try
LITTLE = 1e7  # entries to go over backward that are not worth a thought: hundredths of a second
FEW_STATES = 0.2  # of all may be followed where nobody asked for it …
FEW_ENTRIES = 0.125  # … and such a part of the entries be gone over …
STEPS_BACKWARD = 10_000  # … that so many steps have, or fewer if there are fewer: then the rest is often enclosed


@dataclass(frozen=True, eq=False)
class Attempt:
    """A way to follow the distribution of a chain forward in time, and what may come of it.

    Attributes
    ----------
    run
        From a distribution, with so much that may be lost, to the distribution in the end and the value that comes of
        it.
    worth
        The most that a path can be worth.
    work
        How many entries may have to be gone over backward.
    """

    run: Callable[[Distribution, float, Effort], tuple[Distribution, float]]
    worth: float
    work: float


def forward_first(
    ask: BoundedQuestion, step: str, attempt: Callable[[], Attempt], backward: Callable[[], Quantity]
) -> Quantity:
    """Answer by following the initial distribution forward in time; go ``backward`` where that does not pay.

    Forward needs a single initial state and a model that no device works on. It is given up when it meets too many
    states, or when its bounds stay too wide, unless it was chosen by name.
    """
    chosen = ask.settings.method == FORWARD
    possible = len(ask.model.initial) == 1 and not ask.everywhere and not ask.model.on_device
    if not possible or ask.settings.method == BACKWARD:
        return backward()
    way = attempt()
    if not chosen and way.work < LITTLE:
        return backward()
    start = clock.perf_counter()
    effort = Effort() if chosen else Effort(FEW_STATES * ask.model.n_states, FEW_ENTRIES * way.work)
    try:
        lower, upper = _bounds(ask, way, effort)
    except GaltonError as error:
        if chosen:
            raise type(error)(f"{error}; without --method others are tried") from error
        given_up = Work("forwards", f"given up: {error}", effort.steps, clock.perf_counter() - start)
        answer = backward()
        return replace(answer, work=(given_up, *answer.work))
    below, above = ask.zeros, np.full(ask.model.n_states, way.worth)
    below[ask.model.initial], above[ask.model.initial] = lower, upper
    detail = f"forwards, {effort.met:,} of {ask.model.n_states:,} states"
    done = Work(step, detail, effort.steps, clock.perf_counter() - start)
    return Quantity(below, above, FORWARD, (done,))


def until(ask: BoundedQuestion, through: Mask, goal: Mask, low: float, high: float) -> Attempt:
    """Return the way to P [ through U[low,high] goal ], for a finite ``high``."""
    if low == high and low > 0:
        goal = goal & through
    # A state is left if the goal can be reached from it; at first the goal may be left as well.
    matter, rates = ask.reaching(goal, through) & through, _exits(ask)
    phases = [(matter, low), (matter & ~goal, high - low)]
    chains = [
        (moving, MovingChain(ask.model, moving, rates, ask.settings), time) for moving, time in phases if time > 0
    ]

    def run(start: Distribution, fineness: float, effort: Effort) -> tuple[Distribution, float]:
        now = start
        for k, (_, chain, time) in enumerate(chains):
            now = chain.after(time, now, fineness / len(chains), effort)
            if low > 0 and k == 0:
                now = now.within(through)
        return now, now.expected(goal.astype(np.float64))

    return Attempt(run, 1.0, sum(_work(ask, moving, chain, time) for moving, chain, time in chains))


def reward_at(ask: BoundedQuestion, state: Floats, time: float) -> Attempt:
    """Return the way to R [ I=time ]."""
    moving, worth = ask.reaching(state > 0), float(state.max())
    chain = MovingChain(ask.model, moving, _exits(ask), ask.settings)

    def run(start: Distribution, fineness: float, effort: Effort) -> tuple[Distribution, float]:
        moderate("a reward", worth)
        now = chain.after(time, start, fineness, effort)
        return now, now.expected(state)

    return Attempt(run, worth, _work(ask, moving, chain, time))


def reward_over(ask: BoundedQuestion, rates: Floats, time: float) -> Attempt:
    """Return the way to R [ C<=time ], given what each state earns per unit of time."""
    moving, most = ask.reaching(rates > 0), float(rates.max())
    chain = MovingChain(ask.model, moving, _exits(ask), ask.settings)

    def run(start: Distribution, fineness: float, effort: Effort) -> tuple[Distribution, float]:
        moderate("a reward", most)
        now = chain.after(time, start, fineness, effort, earning=rates)
        return now, now.earned

    return Attempt(run, most * time * (1 + 2.0**-50), _work(ask, moving, chain, time))


def _exits(ask: BoundedQuestion) -> tuple[Floats, Floats]:
    return exit_rates(ask.model, ask.threads, loops=False)


def _work(ask: BoundedQuestion, moving: Mask, chain: MovingChain, time: float) -> float:
    """How many entries and rows may have to be gone over backward."""
    steps = min(chain.fastest() * time, STEPS_BACKWARD)
    return steps * float(np.diff(ask.model.row_starts)[moving].sum() + moving.sum())


def _bounds(ask: BoundedQuestion, way: Attempt, effort: Effort) -> tuple[float, float]:
    """Bounds that are as close as asked for, with less and less mass that may be lost."""
    settings, fineness = ask.settings, AT_FIRST * ask.settings.eps
    start = Distribution.at(int(ask.model.initial[0]))
    for _ in range(TRIES):
        found, value = way.run(start, fineness, effort)
        lower, upper = found.bounds(value, way.worth)
        upper = min(upper, way.worth)
        allowed = 2 * settings.eps * (lower if settings.relative else 1.0)
        if upper - lower <= allowed or upper == 0:
            return lower, upper
        if found.error > settings.eps:
            break  # that is rounding, which less mass to be lost does not help
        if lower == 0 and settings.method != FORWARD:
            break  # nothing of what is asked for was seen: it is rare, and there is a way that does not mind
        fineness *= min(max(allowed / (upper - lower), 1e-12), 1.0) / 10
    raise WideError(f"bounds of {lower:.6g} and {upper:.6g} are all that {FORWARD} finds")
