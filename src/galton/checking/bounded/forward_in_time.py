"""CTMCs within a time, from one initial state: its distribution moved forward by adaptive uniformisation.

The questions of :mod:`.timed`. Only of the initial state something is found out. Where few states hold mass this is
many times faster than to go backward over all of them; so it is tried first, and given up as soon as it seems to take
more than a small part of the steps that may have to be made backward.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...backend.steps import exit_rates
from ...lang.source import GaltonError
from ...model.sparse import Mask
from ...solve.adaptive_uniformisation import Distribution, Effort, MovingChain, Watch, moderate
from ...solve.methods import BACKWARD, FORWARD, RATIONAL
from ..quantity import Quantity, Work
from .question import BoundedQuestion, Curve, WideError

Floats = npt.NDArray[np.float64]

__all__ = ["Attempt", "curve_forward_first", "forward_first", "reward_at", "reward_over", "until"]

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
        it. Somebody may watch it on its way.
    worth
        The most that a path can be worth.
    values, earned
        What each state is worth in the end or, where that is what counts, what it earns per unit of time.
    work
        How many entries may have to be gone over backward.
    """

    run: Callable[[Distribution, float, Effort, Watch | None], tuple[Distribution, float]]
    worth: float
    values: Floats
    work: float
    earned: bool = False


def forward_first(
    ask: BoundedQuestion, step: str, attempt: Callable[[], Attempt], backward: Callable[[], Quantity]
) -> Quantity:
    """Answer by following the initial distribution forward in time; go ``backward`` where that does not pay.

    Forward needs a single initial state and a model that no device works on. It is given up when it meets too many
    states, or when its bounds stay too wide, unless it was chosen by name.
    """
    way = _worthwhile(ask, attempt)
    if way is None:
        return backward()
    start, effort = clock.perf_counter(), _effort(ask, way)
    try:
        lower, upper, _ = _bounds(ask, way, effort)
    except GaltonError as error:
        if _is_chosen(ask):
            raise type(error)(f"{error}; without --method others are tried") from error
        answer = backward()
        return replace(answer, work=(_given_up(error, effort, start), *answer.work))
    below, above = ask.zeros, np.full(ask.model.n_states, way.worth)
    below[ask.model.initial], above[ask.model.initial] = lower, upper
    return Quantity(below, above, FORWARD, (_done(ask, step, effort, start),))


def curve_forward_first(
    ask: BoundedQuestion,
    step: str,
    attempt: Callable[[], Attempt],
    times: Sequence[float],
    backward: Callable[[Sequence[float]], Curve],
) -> Curve:
    """Answer for many times that ascend by following the initial distribution to the last of them, once.

    Those whose bounds stay too wide go ``backward``, as all do where forward does not pay.
    """
    way = _worthwhile(ask, attempt)
    if way is None:
        return backward(times)
    start, effort = clock.perf_counter(), _effort(ask, way)
    try:
        _, _, watch = _bounds(ask, way, effort, times)
    except GaltonError as error:
        if _is_chosen(ask):
            raise
        curve = backward(times)
        return replace(curve, work=(_given_up(error, effort, start), *curve.work))
    assert watch is not None
    lower, upper = np.empty((len(times), 1)), np.empty((len(times), 1))
    for place, (time, (value, found)) in enumerate(zip(times, watch.found, strict=True)):
        worth = way.worth * (time / times[-1]) * (1 + 2.0**-50) if way.earned else way.worth
        lower[place], above = found.bounds(value, worth)
        upper[place] = min(above, worth)
    curve = Curve(lower, upper, FORWARD, (_done(ask, step, effort, start),))
    wide = np.array([not _is_close(ask, *bounds) for bounds in zip(lower.flat, upper.flat, strict=True)])
    if not wide.any() or _is_chosen(ask):
        return curve
    other = backward([time for time, is_wide in zip(times, wide, strict=True) if is_wide])
    lower[wide], upper[wide] = other.lower, other.upper
    return replace(curve, work=(*curve.work, *other.work))


def _is_chosen(ask: BoundedQuestion) -> bool:
    return ask.settings.method == FORWARD


def _worthwhile(ask: BoundedQuestion, attempt: Callable[[], Attempt]) -> Attempt | None:
    """The way forward, where it is possible and may be shorter."""
    possible = len(ask.model.initial) == 1 and not ask.everywhere and not ask.model.on_device
    if not possible or ask.settings.method in (BACKWARD, RATIONAL):
        return None
    way = attempt()
    return way if _is_chosen(ask) or way.work >= LITTLE else None


def _effort(ask: BoundedQuestion, way: Attempt) -> Effort:
    return Effort() if _is_chosen(ask) else Effort(FEW_STATES * ask.model.n_states, FEW_ENTRIES * way.work)


def _given_up(error: GaltonError, effort: Effort, start: float) -> Work:
    return Work("forwards", f"given up: {error}", effort.steps, clock.perf_counter() - start)


def _done(ask: BoundedQuestion, step: str, effort: Effort, start: float) -> Work:
    detail = f"forwards, {effort.met:,} of {ask.model.n_states:,} states"
    return Work(step, detail, effort.steps, clock.perf_counter() - start)


def until(ask: BoundedQuestion, through: Mask, goal: Mask, low: float, high: float) -> Attempt:
    """Return the way to P [ through U[low,high] goal ], for a finite ``high``."""
    if low == high and low > 0:
        goal = goal & through
    worth = goal.astype(np.float64)
    # A state is left if the goal can be reached from it; at first the goal may be left as well.
    matter, rates = ask.reaching(goal, through) & through, _exits(ask)
    phases = [(matter, low), (matter & ~goal, high - low)]
    chains = [
        (moving, MovingChain(ask.model, moving, rates, ask.settings), time) for moving, time in phases if time > 0
    ]

    def run(start: Distribution, fineness: float, effort: Effort, watch: Watch | None) -> tuple[Distribution, float]:
        now = start
        for k, (_, chain, time) in enumerate(chains):
            now = chain.after(time, now, fineness / len(chains), effort, watch=watch)
            if low > 0 and k == 0:
                now = now.within(through)
        return now, now.expected(worth)

    return Attempt(run, 1.0, worth, sum(_work(ask, moving, chain, time) for moving, chain, time in chains))


def reward_at(ask: BoundedQuestion, state: Floats, time: float) -> Attempt:
    """Return the way to R [ I=time ]."""
    moving, worth = ask.reaching(state > 0), float(state.max())
    chain = MovingChain(ask.model, moving, _exits(ask), ask.settings)

    def run(start: Distribution, fineness: float, effort: Effort, watch: Watch | None) -> tuple[Distribution, float]:
        moderate("a reward", worth)
        now = chain.after(time, start, fineness, effort, watch=watch)
        return now, now.expected(state)

    return Attempt(run, worth, state, _work(ask, moving, chain, time))


def reward_over(ask: BoundedQuestion, rates: Floats, time: float) -> Attempt:
    """Return the way to R [ C<=time ], given what each state earns per unit of time."""
    moving, most = ask.reaching(rates > 0), float(rates.max())
    chain = MovingChain(ask.model, moving, _exits(ask), ask.settings)

    def run(start: Distribution, fineness: float, effort: Effort, watch: Watch | None) -> tuple[Distribution, float]:
        moderate("a reward", most)
        now = chain.after(time, start, fineness, effort, earning=rates, watch=watch)
        return now, now.earned

    return Attempt(run, most * time * (1 + 2.0**-50), rates, _work(ask, moving, chain, time), earned=True)


def _exits(ask: BoundedQuestion) -> tuple[Floats, Floats]:
    return exit_rates(ask.model, ask.threads, loops=False)


def _work(ask: BoundedQuestion, moving: Mask, chain: MovingChain, time: float) -> float:
    """How many entries and rows may have to be gone over backward."""
    steps = min(chain.fastest() * time, STEPS_BACKWARD)
    return steps * float(np.diff(ask.model.row_starts)[moving].sum() + moving.sum())


def _is_close(ask: BoundedQuestion, lower: float, upper: float) -> bool:
    settings = ask.settings
    return upper - lower <= 2 * settings.eps * (lower if settings.relative else 1.0) or upper == 0


def _bounds(
    ask: BoundedQuestion, way: Attempt, effort: Effort, times: Sequence[float] = ()
) -> tuple[float, float, Watch | None]:
    """Bounds that are as close as asked for, with less and less mass that may be lost; and what was at other times."""
    settings, fineness = ask.settings, AT_FIRST * ask.settings.eps
    start = Distribution.at(int(ask.model.initial[0]))
    for _ in range(TRIES):
        watch = Watch(times, way.values, way.earned) if times else None
        found, value = way.run(start, fineness, effort, watch)
        lower, upper = found.bounds(value, way.worth)
        upper = min(upper, way.worth)
        if _is_close(ask, lower, upper):
            return lower, upper, watch
        if found.error > settings.eps:
            break  # that is rounding, which less mass to be lost does not help
        if lower == 0 and settings.method != FORWARD:
            break  # nothing of what is asked for was seen: it is rare, and there is a way that does not mind
        allowed = 2 * settings.eps * (lower if settings.relative else 1.0)
        fineness *= min(max(allowed / (upper - lower), 1e-12), 1.0) / 10
    raise WideError(f"bounds of {lower:.6g} and {upper:.6g} are all that {FORWARD} finds")
