"""Value iteration over a number of steps: x <- opt (A x + b), so many times, for MDPs.

Requires: A, b and x non-negative, rows that sum to at most 1. Guarantees: bounds on the result, rounding included.

Long horizons end early. Let T be one step and c <= T x - x <= d in all states. T is monotone, and adding a constant to
x adds at most that constant to T x (just that, where all rows sum to 1); so each further step adds something between c
and d. And without b the result stays between the least and the greatest number (Puterman 1994, sections 6.6 and 8.5).
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..backend.steps import Bellman, Part, Seen, least_positive
from ..device.arrays import greatest, namespace, on_host
from ..lang.source import GaltonError
from ..model.sparse import Int32s
from .record import Record
from .scaling import Scaled, lowered
from .settings import Settings
from .step_limits import be_patient

Floats = npt.NDArray[np.float64]

__all__ = ["Horizon", "StrategyTooLargeError", "exact_among", "iterate", "iterate_to_all"]

LARGEST_STRATEGY = 1 << 32  # bytes


class StrategyTooLargeError(GaltonError):
    """A strategy that depends on the steps taken, with too many of them."""

    kind = "limit"


@dataclass(frozen=True, eq=False)
class Horizon:
    """Bounds on the result of so many steps, ``(states,)``, and the rows taken in each, ``(horizon, states)``."""

    lower: Floats
    upper: Floats
    steps: int
    horizon: int
    seconds: float
    choices: Int32s | None


@dataclass(frozen=True)
class _Rest:
    """The result lies between x + low and x + high, and between least and most."""

    low: float | Floats = 0.0
    high: float | Floats = 0.0
    least: float | Floats = 0.0
    most: float | Floats = math.inf

    def bounds(self, x: Floats) -> tuple[Floats, Floats]:
        xp, x = namespace(x), x.astype(np.float64, copy=False)  # steps may have made it of floats
        return xp.maximum(x + self.low, self.least), xp.minimum(x + self.high, self.most)


def iterate(
    step: Bellman,
    horizon: int,
    important: Int32s,
    settings: Settings,
    *,
    stochastic: bool,
    strategy: bool = False,
    everywhere: bool = True,
    exactly: bool = True,
    exponent: int = 0,
    whole: bool = True,
) -> Horizon:
    """Make ``horizon`` steps from the vector that ``step`` holds.

    Parameters
    ----------
    important
        The states whose bounds have to be close relative to their own values.
    stochastic
        Whether all rows of A sum to 1. If not, and there is a b, the vectors have to grow with each step.
    strategy
        Whether to keep the choices; then all steps are made.
    everywhere
        Whether the bounds of all other states have to be close relative to the largest value.
    exactly
        Whether x and b are meant as they are; otherwise they are rounded.
    exponent
        The power of two that all numbers were multiplied by; the bounds are those without it.
    whole
        Whether no number was lost then.
    """
    begin = time.perf_counter()
    rows = _room(horizon, step.part.n_states) if strategy else None
    wanted = (important, None) if everywhere else (important,)
    faintest = least_positive(step.x if step.constant is None else step.constant) if whole else 0.0
    exact = exactly and step.part.is_exact(horizon, step.x, step.constant)
    done, rest = 0, _Rest()
    while done < horizon:
        check = min(done + max(16, done // 16), horizon)
        while done < check:
            count = min(step.batch, check - done)
            seen = step.advance(count, None if rows is None else rows[done : done + count].reshape(-1))
            done, faintest = done + count, min(faintest, seen.faintest)
        rest = _rest(step, seen, horizon - done, stochastic)
        close = (_close_enough(rest, step.x, states, settings, exponent) for states in wanted)
        if rows is None and not exact and all(close):
            break
        if settings.watch is not None and len(important):
            lower, upper = lowered(*rest.bounds(on_host(step.x[important])), exponent)
            settings.tell(iterations=done, horizon=horizon, lower=float(lower[0]), upper=float(upper[0]))
        be_patient(done, horizon, step.part.n_entries, step.part.n_rows)
    choices = None if rows is None else rows[::-1]
    if exact and done == horizon and greatest(step.x) <= 1:
        exactly_so = step.x.astype(np.float64, copy=False)
        return Horizon(exactly_so, exactly_so, done, horizon, time.perf_counter() - begin, choices)
    error = step.error(done)
    lost = step.lost(faintest) * (horizon + 1) * (1 + error) ** 2
    lower, upper = rest.bounds(step.x)
    lower = namespace(lower).maximum(lower * (1 - error) - lost, 0.0)
    lower, upper = lowered(lower, upper * (1 + error) + lost, exponent)
    return Horizon(lower, upper, done, horizon, time.perf_counter() - begin, choices)


def iterate_to_all(
    step: Bellman,
    horizons: Sequence[int],
    states: Int32s,
    settings: Settings,
    *,
    stochastic: bool,
    exact_horizons: int = 0,
    exponent: int = 0,
    whole: bool = True,
) -> Horizon:
    """What a few states, given by their numbers in the part, have after each of many numbers of steps.

    The bounds are ``(horizons, states)``. The steps are made once; the horizons ascend. Of the first
    ``exact_horizons`` of them nothing is rounded.
    """
    begin = time.perf_counter()
    faintest = least_positive(step.x if step.constant is None else step.constant) if whole else 0.0
    record, last, done = Record(states), len(horizons) - 1, 0
    lower, upper = np.zeros((len(horizons), len(states))), np.zeros((len(horizons), len(states)))
    now = record.of(step.x)
    while len(states) and done < horizons[last]:
        check = min(done + max(16, done // 16), horizons[last])
        while record.steps < check:
            seen = record.advance(step, min(step.batch, check - record.steps))
            faintest = min(faintest, seen.faintest)
        done, now = record.steps, record.of(step.x)
        while last >= exact_horizons and done < horizons[last]:
            rest = _rest(step, seen, horizons[last] - done, stochastic)
            if not _is_close(*rest.bounds(now), settings, exponent):
                break
            last -= 1
        if last < 0:
            break
        settings.tell(iterations=done, horizon=horizons[-1])
        be_patient(done, horizons[-1], step.part.n_entries, step.part.n_rows)
    if len(states):
        x = np.stack([record[horizon] if horizon < done else now for horizon in horizons])
        low, high, beyond = x.copy(), x.copy(), bisect_right(horizons, done)
        if beyond < len(horizons):
            left = np.array(horizons[beyond:], dtype=np.float64)[:, None] - done
            low[beyond:], high[beyond:] = _rest(step, seen, left, stochastic).bounds(now)
        error = np.array([[step.error(min(horizon, done))] for horizon in horizons])
        lost = step.lost(faintest) * (np.array(horizons, dtype=np.float64)[:, None] + 1) * (1 + error) ** 2
        lower, upper = lowered(np.maximum(low * (1 - error) - lost, 0.0), high * (1 + error) + lost, exponent)
        exact = np.ldexp(x[:exact_horizons], -exponent)
        fine = exact.max(axis=1) <= 1
        lower[:exact_horizons][fine] = upper[:exact_horizons][fine] = exact[fine]
    return Horizon(lower, upper, done, horizons[-1], time.perf_counter() - begin, None)


def exact_among(part: Part, horizons: Sequence[int], *vectors: Floats | None) -> int:
    """How many of the first of ascending horizons can be gone to from these vectors with nothing rounded."""
    return bisect_left(range(len(horizons)), True, key=lambda i: not part.is_exact(horizons[i], *vectors))


def _room(horizon: int, states: int) -> Int32s:
    if 4 * horizon * states > LARGEST_STRATEGY:
        raise StrategyTooLargeError(
            f"a strategy for {horizon:,} steps in {states:,} states is too large to keep; ask for the value only"
        )
    return np.empty((horizon, states), dtype=np.int32)


def _rest(step: Bellman, seen: Seen, left: int | Floats, stochastic: bool) -> _Rest:
    """What so many more steps can do; for a column of many numbers of them, what each can do."""
    if not np.any(left):
        return _Rest()
    # The step seen has its own rounding, and rows may sum to a little more or less than 1.
    slack = 2 * step.rounding * seen.most
    low, high = left * (seen.least_change - slack), left * (seen.most_change + slack)
    if not stochastic:
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    if step.constant is not None:
        return _Rest(low if stochastic else 0.0, high)
    drift = left * step.drift
    return _Rest(low, high, seen.least * (1 - drift) if stochastic else 0.0, seen.most * (1 + drift))


def _close_enough(rest: _Rest, x: Floats, states: Int32s | None, settings: Settings, exponent: int) -> bool:
    """Half of what is allowed: the other half is for rounding, and for what was itself known only up to bounds.

    Relative to their own values for given states, relative to the largest for all.
    """
    lower, upper = rest.bounds(x if states is None else on_host(x[states]))
    return _is_close(lower, upper, settings, exponent, lower if states is not None else greatest(lower))


def _is_close(
    lower: Floats, upper: Floats, settings: Settings, exponent: int, size: Floats | float | None = None
) -> bool:
    """Whether bounds are so close, relative to these sizes or to their own."""
    size = lower if size is None else size
    allowed = settings.eps * size if settings.relative else float(Scaled(settings.eps, exponent))
    return bool((upper - lower <= allowed).all())
