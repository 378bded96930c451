"""Weighted sums of the powers of a matrix, S = Σ w(k) Aᵏ d: what step and time bounds come down to.

A is the matrix of a chain, or of a part of it, or of a uniformised CTMC: non-negative, with rows that sum to at most 1;
d is non-negative. With w(k) = 1 for k < n this is the probability to enter a goal within n steps (d being the
probability to enter it in one) or a reward over n steps; with a Poisson distribution it is the same in time.

Requires: what is said above. Guarantees: bounds on S in every state, rounding included, as close as asked for where it
matters.

Long sums end early. For a vector x, let a·x <= A x <= b·x componentwise (Collatz 1942, Wielandt 1950). A is monotone,
so the same holds for A x, and Aʲ x lies between aʲ x and bʲ x: the rest of the sum is known up to two scalar series.
And where the rows of A sum to 1, Aʲ x lies between the least and the greatest number of x. Either holds for any matrix;
that they get close is what slowly mixing, slowly leaking chains are like, which have the longest sums.

The error of rounding is relative: all numbers are non-negative, so that each step adds at most its own (Higham 2002,
chapter 3).

Many sums over the same powers, for many bounds on time or steps, need the steps only once (:func:`power_sums`): of each
vector the numbers of a few states are kept, and each sum is made of these.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ..backend.steps import Chain, Seen, least_positive
from ..device.arrays import greatest, namespace, on_host
from ..model.rounding import FAINTEST, LEAST, UNIT
from ..model.sparse import Int32s
from .poisson import Poisson
from .record import Record
from .scaling import Scaled, exponential, faintest_raised, lowered, raised, raising
from .settings import Settings
from .step_limits import be_patient

Floats = npt.NDArray[np.float64]

__all__ = ["Otherwise", "PowerSum", "Settled", "Weights", "power_sum", "power_sums"]

T = TypeVar("T")

GROWN = 2.0  # how much a number that was lost because it was too faint may have grown since
NOTHING = Scaled(0.0)
MARGIN = 1.5  # times as many steps as a forecast says


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights w(0), w(1), … of a sum.

    Attributes
    ----------
    before, left
        The weight of all k < left.
    values
        The weights from ``left`` on; 0 after them.
    error
        The values are within a factor 1 ± error of the weights that are meant.
    lacking
        ``before`` may be more than what is meant, by that factor at most.
    missing
        A bound on the sum of all that is meant but not there.
    mean
        Of the Poisson distribution, where the weights are its probabilities (``before`` 0) or its tails (1).
    """

    before: float
    left: int
    values: Floats
    error: float = 0.0
    lacking: float = 0.0
    missing: float = 0.0
    mean: float | None = None

    @classmethod
    def fewer_than(cls, steps: int) -> Weights:
        """1 for all k < steps."""
        return cls(1.0, steps, np.empty(0))

    @classmethod
    def exactly(cls, steps: int) -> Weights:
        """1 for k = steps only."""
        return cls(0.0, steps, np.ones(1))

    @classmethod
    def at_time(cls, jumps: Poisson) -> Weights:
        """P(N = k): for what holds when the time is over."""
        return cls(0.0, jumps.left, jumps.weights, jumps.error, missing=jumps.below + jumps.above, mean=jumps.mean)

    @classmethod
    def over_time(cls, jumps: Poisson) -> Weights:
        """P(N > k): for what happens with the jump after the k-th, if that comes in time."""
        return cls(1.0, jumps.left, jumps.tails, jumps.error, jumps.below, jumps.excess, jumps.mean)

    @property
    def is_plain(self) -> bool:
        """Whether all weights are 0 or 1, exactly."""
        return self.mean is None and not self.error and bool((self.values == 1).all())

    @property
    def end(self) -> int:
        """The number of weights."""
        return self.left + self.values.size

    def stride(self, done: int) -> int:
        """How many steps to make before looking again: a share of those made, fewer where the weights fall."""
        stride = max(16, done // 16)
        return stride if done + stride < self.left else min(stride, max(16, len(self.values) // 128))

    def part(self, first: int, count: int) -> Floats | None:
        """The weights of k = first … first + count - 1; None where all are zero."""
        ahead = min(max(self.left - first, 0), count)
        if ahead == count and self.before == 0:
            return None
        start = max(first - self.left, 0)
        return np.concatenate([np.full(ahead, self.before), self.values[start : start + count - ahead]])

    def series(self, first: int, leak: float, *, up: bool = False) -> Scaled:
        """The sum of w(first + j) (1 - leak)ʲ over all j >= 0; infinite where it is too large.

        What is too small for doubles is 0 or, as an upper bound (``up``), something above that.
        """
        ahead = max(self.left - first, 0)
        values = self.values[max(first - self.left, 0) :]
        if leak >= 1:
            return Scaled(float(self.before if ahead else values[0] if len(values) else 0.0))
        if leak == -math.inf:
            return Scaled(math.inf)
        log = math.log1p(-leak)
        if self.mean is not None and ahead and self.mean * (1 - leak) - first > 30 * math.sqrt(self.mean):
            # The distribution lies far above `first`, also with its terms multiplied by these powers. So this is its
            # generating function, less terms that are 0, or 1 for the tails.
            exponent = -self.mean * leak - first * log
            if not self.before or exponent > 700:
                return exponential(exponent, up=up)
            return Scaled(math.expm1(exponent) / -leak if leak else self.mean - first)
        if log * (ahead + len(values)) > 700:
            return Scaled(math.inf)
        rest = float(np.add.reduce(values * _powers(log, len(values)))) if len(values) else 0.0
        power = exponential(log * ahead, up=up).grown(rest + len(values) * FAINTEST if up else rest)
        if not self.before or not ahead:
            return power
        return Scaled(self.before * (math.expm1(log * ahead) / -leak if leak else ahead) + float(power))

    def series_error(self, leak: float) -> float:
        """A bound on the relative error of a series: a few operations, and exponents of up to ``end`` logarithms."""
        return 1e-14 + (8 * UNIT * self.end * abs(math.log1p(-leak)) if -math.inf < leak < 1 else 0.0)


def _powers(log: float, count: int) -> Floats:
    """e to the power of 0, 1, … times a logarithm; sums that are looked at together have similar numbers of weights."""
    return _many_powers(log, 1 << max(count - 1, 0).bit_length())[:count]


@lru_cache(maxsize=8)
def _many_powers(log: float, count: int) -> Floats:
    with np.errstate(under="ignore", over="ignore"):
        found: Floats = np.exp(log * np.arange(count))
    return found


@dataclass(frozen=True, eq=False)
class PowerSum:
    """Bounds on a sum of powers, ``(states,)``, after so many steps of how many; ``how``, if not by steps."""

    lower: Floats
    upper: Floats
    steps: int
    horizon: int
    seconds: float
    how: str = ""


@dataclass(frozen=True, eq=False)
class Settled:
    """``(sums, states)`` bounds on sums that somebody else has found, which of them are close, and how."""

    lower: Floats
    upper: Floats
    close: npt.NDArray[np.bool_]
    how: str


class Otherwise(NamedTuple, Generic[T]):
    """Another way to the same, which may be asked for after so many steps.

    ``ask(steps done, steps left)`` gives None where it does not pay or fails; it is asked again after twice as many
    steps.
    """

    after: int
    ask: Callable[[int, int], T | None]

    def turned_to(self, done: int, left: float) -> tuple[T | None, Otherwise[T]]:
        """What is found by it, after steps have been ``done``; and itself, as it may be asked again."""
        if done < self.after:
            return None, self
        return self.ask(done, math.ceil(left)), self._replace(after=2 * done)


class _Forecast:
    """How many steps will be made until a sum is enclosed, by how quickly its bounds have come closer.

    That becomes slower, as all but the slowest part dies out: a forecast is too small rather than too large, and better
    after more steps.
    """

    def __init__(self) -> None:
        self._seen: list[tuple[int, float]] = []

    def is_due(self, done: int, after: int) -> bool:
        """Whether to look how far it is: when so many steps have been made that one is asked for, and half as many."""
        return done >= after or (2 * done >= after and (not self._seen or 2 * self._seen[-1][0] < after))

    def note(self, done: int, excess: float) -> None:
        """After so many steps, bounds are so many times wider than they should be."""
        self._seen.append((done, excess))

    def left(self) -> float:
        """Steps that are left, with a margin; infinitely many where bounds do not come closer."""
        done, excess = self._seen[-1]
        before, wider = next(((d, e) for d, e in reversed(self._seen) if 2 * d <= done), (0, math.inf))
        if not 1 < excess < wider < math.inf:
            return math.inf
        return MARGIN * math.log(excess) * (done - before) / math.log(wider / excess)


class _Columns(NamedTuple):
    """What bounds need to know of the weights of many sums, ``(sums, 1)`` each."""

    before: float
    end: Floats
    error: Floats
    lacking: Floats
    missing: Floats

    @classmethod
    def of(cls, many: Sequence[Weights]) -> _Columns:
        known = [(weights.end, weights.error, weights.lacking, weights.missing) for weights in many]
        return cls(many[0].before, *np.array(known, dtype=np.float64).T[:, :, None])


@dataclass(frozen=True)
class _Rest:
    """The rest of a sum lies between low·x + least and high·x + most; the second kind of bound is about all states."""

    low: Scaled = NOTHING
    high: Scaled = NOTHING
    least: float | Floats = 0.0
    most: float | Floats = 0.0

    @classmethod
    def of_all(cls, rests: Sequence[_Rest]) -> _Rest:
        """The rests of many sums, one below the other."""
        low, high = (_column([rest.low for rest in rests]), _column([rest.high for rest in rests]))
        least, most = np.array([[(rest.least,), (rest.most,)] for rest in rests]).swapaxes(0, 1)
        return cls(low, high, least, most)

    def bounds(self, total: Floats, x: Floats) -> tuple[Floats, Floats]:
        xp, x = namespace(x), x.astype(np.float64, copy=False)  # steps may have made it of floats
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            low, high = (xp.ldexp(x * factor.number, factor.exponent) for factor in (self.low, self.high))
            # 0 · ∞ is no number, where nothing is known of numbers that are zero.
            upper = total + xp.fmin(np.where((high < LEAST) & (x > 0), LEAST, high), self.most)
        return total + xp.maximum(np.where(low < LEAST, 0.0, low), self.least), upper


def _column(many: Sequence[Scaled]) -> Scaled:
    numbers, exponents = zip(*many, strict=True)
    return Scaled(np.array(numbers)[:, None], np.array(exponents)[:, None])  # type: ignore[arg-type]


def power_sum(
    chain: Chain,
    weights: Weights,
    important: Int32s,
    settings: Settings,
    *,
    stochastic: bool = False,
    everywhere: bool = True,
    exactly: bool = True,
    early: bool = True,
    otherwise: Otherwise[PowerSum] | None = None,
) -> PowerSum:
    """Bounds on Σ w(k) Aᵏ x, x being the vector that the chain holds.

    Parameters
    ----------
    important
        The states whose bounds have to be close relative to their own values.
    stochastic
        Whether all rows of A sum to 1.
    everywhere
        Whether the bounds of all other states have to be close relative to the largest value.
    exactly
        Whether x is meant as it is; otherwise it is rounded.
    early
        Whether to look now and then if the rest can be enclosed; otherwise all steps are made.
    otherwise
        Asked once, where many steps are left.
    """
    begin = time.perf_counter()
    largest = greatest(chain.x)
    if largest == 0 or weights.end == 0:
        zeros = np.zeros_like(chain.x)
        return PowerSum(zeros, zeros + largest * weights.missing, 0, weights.end, time.perf_counter() - begin)
    exact = exactly and weights.is_plain and chain.stay is None and chain.part.is_exact(weights.end - 1, chain.x)
    precision = chain.part.matrix.precision
    exponent = raising(largest, weights.end, precision)
    faintest = faintest_raised(least_positive(chain.x), exponent, precision)
    chain.x = raised(chain.x, exponent)
    wanted = (important, None) if everywhere else (important,)
    done, rest, forecast = 0, _Rest(), _Forecast()
    while done < weights.end:
        check = min(done + weights.stride(done), weights.end) if early else weights.end
        while done < check:
            count = min(chain.batch, check - done)
            seen = chain.advance(count, weights.part(done, count))
            done, faintest = done + count, min(faintest, seen.faintest)
        rest = _Outlook.after(chain, done, seen, faintest, stochastic).rest(weights)
        if not exact and all(_close_enough(rest, chain, states, settings, exponent) for states in wanted):
            break
        if settings.watch is not None and len(important):
            lower, upper = lowered(*rest.bounds(*_at(chain, important)), exponent)
            settings.tell(iterations=done, horizon=weights.end, lower=float(lower[0]), upper=float(upper[0]))
        if otherwise is not None and forecast.is_due(done, otherwise.after):
            forecast.note(done, _excess(*rest.bounds(*_at(chain, important)), settings, exponent))
            other, otherwise = otherwise.turned_to(done, min(weights.end - done, forecast.left()))
            if other is not None:
                return other
        be_patient(done, weights.end, chain.part.n_entries, chain.part.n_rows)
    if exact and done == weights.end:
        total = namespace(chain.sum).ldexp(chain.sum, -exponent)
        if greatest(total) <= 1:
            return PowerSum(total, total, done, weights.end, time.perf_counter() - begin)
    lower, upper = rest.bounds(chain.sum, chain.x)
    lower, upper = lowered(*_rounded(weights, chain.error(done), chain.lost(faintest), lower, upper), exponent)
    upper = upper + largest * weights.missing
    return PowerSum(lower, upper, done, weights.end, time.perf_counter() - begin)


def power_sums(
    chain: Chain,
    many: Sequence[Weights],
    states: Int32s,
    settings: Settings,
    *,
    stochastic: bool = False,
    terms: tuple[Floats, ...] = (),
    otherwise: Otherwise[Settled] | None = None,
) -> PowerSum:
    """Bounds on Σ w(k) Aᵏ x for many weights w, ``(weights, states)``, in a few states: their numbers in the part.

    The steps are made once, as many as the longest of the sums needs. ``many`` have ascending ends. ``terms`` are what
    x was added up from, where it was. ``otherwise`` is asked once for bounds of some of them.
    """
    begin = time.perf_counter()
    largest, longest, lengths = greatest(chain.x), many[-1].end, [weights.end for weights in many]
    lower, upper = np.zeros((len(many), len(states))), np.zeros((len(many), len(states)))
    if largest == 0 or longest == 0 or not len(states):
        upper += largest * np.array([weights.missing for weights in many])[:, None]
        return PowerSum(lower, upper, 0, longest, time.perf_counter() - begin)
    x, part, precision = chain.x, chain.part, chain.part.matrix.precision

    def is_rounded(point: int) -> bool:
        end = lengths[point]
        return not (part.is_exact(end - 1, x) and part.is_exact(end, *terms))

    plain = chain.stay is None and all(weights.is_plain for weights in many)
    n_exact = bisect_left(range(len(many)), True, key=is_rounded) if plain else 0
    exponent = raising(largest, longest, precision)
    faintest = faintest_raised(least_positive(x), exponent, precision)
    chain.x = raised(x, exponent)
    record, last = Record(states), len(many) - 1
    settled: Settled | None = None
    while last >= 0 and record.steps < lengths[last]:
        weights, done = many[last], record.steps
        check = min(done + weights.stride(done), weights.end)
        while record.steps < check:
            seen = record.advance(chain, min(chain.batch, check - record.steps))
            faintest = min(faintest, seen.faintest)
        done = record.steps
        outlook, now = _Outlook.after(chain, done, seen, faintest, stochastic), record.of(chain.x)

        def is_enclosed(point: int, outlook: _Outlook = outlook, now: Floats = now) -> bool:
            bounds = outlook.rest(many[point]).bounds(record.sum(many[point]), now)
            return _is_close(*bounds, settings, exponent)

        # Sums that can be enclosed by now; those that nothing is rounded of are made to the end.
        if done < lengths[last] and last >= n_exact and is_enclosed(last):
            longer = range(max(n_exact, bisect_right(lengths, done)), last)
            last = longer.start + bisect_left(longer, True, key=is_enclosed) - 1
        if last < 0:
            break
        if otherwise is not None and settled is None:
            settled, otherwise = otherwise.turned_to(done, lengths[last] - done)
            while settled is not None and last >= 0 and settled.close[last]:
                last -= 1
        settings.tell(iterations=done, horizon=longest)
        be_patient(done, longest, part.n_entries, part.n_rows)
    totals = np.stack([record.sum(weights) for weights in many])
    rest = _Rest.of_all([outlook.rest(weights) for weights in many])
    # The sums were made here, in whatever order (Higham 2002, section 4.2).
    made = [min(done, length) for length in lengths]
    rounding = np.array([[chain.error(steps) + (steps + 8) * UNIT * 1.01] for steps in made])
    columns = _Columns.of(many)
    low, high = _rounded(columns, rounding, chain.lost(faintest), *rest.bounds(totals, now))
    lower, upper = lowered(low, high, exponent)
    upper = upper + largest * columns.missing
    exact = np.ldexp(totals[:n_exact], -exponent)
    fine = exact.max(axis=1, initial=0.0) <= 1
    lower[:n_exact][fine] = upper[:n_exact][fine] = exact[fine]
    how = ""
    if settled is not None:
        lower[settled.close], upper[settled.close] = settled.lower[settled.close], settled.upper[settled.close]
        how = settled.how
    return PowerSum(lower, upper, done, longest, time.perf_counter() - begin, how)


def _rounded(
    weights: Weights | _Columns, rounding: float | Floats, lost: float, lower: Floats, upper: Floats
) -> tuple[Floats, Floats]:
    """Bounds with what ``rounding`` may have done, and flushing to zero, which has ``lost`` so much in a step."""
    error = rounding + weights.error
    terms = weights.end + 1
    gone = GROWN * lost * terms * (terms if weights.before else 1) * (1 + rounding) ** 2  # terms² may be no double
    below = namespace(lower).maximum(lower * (1 - error - weights.lacking) - gone, 0.0)
    return below, upper * (1 + error) + gone


@dataclass(frozen=True)
class _Outlook:
    """What a step has shown of all that follow: how much of the vector they lose at most and at least.

    ``most_leak``, ``least_leak`` are about each number by itself, ``drift`` about rows that sum to 1. ``whole`` says
    that no number was lost because it was too faint, ``stochastic`` that all rows sum to 1.
    """

    done: int
    least: float
    most: float
    most_leak: float
    least_leak: float
    drift: float
    stochastic: bool
    whole: bool

    @classmethod
    def after(cls, chain: Chain, done: int, seen: Seen, faintest: float, stochastic: bool) -> _Outlook:
        """After so many steps, of which the last was seen."""
        slack = 2 * chain.rounding
        most_leak, least_leak = 1 - seen.least_ratio + slack, 1 - seen.most_ratio - slack * max(seen.most_ratio, 1.0)
        # The rows of a uniformised CTMC sum to 1 by definition; those of a DTMC are rounded.
        drift = 0.0 if chain.stay is not None else chain.drift
        whole = chain.lost(faintest) == 0
        return cls(done, seen.least, seen.most, most_leak, least_leak, drift, stochastic, whole)

    def rest(self, weights: Weights) -> _Rest:
        """What is left of a sum."""
        done, end = self.done, weights.end
        if done >= end or self.most == 0:
            return _Rest()
        least_leak = self.least_leak
        if not self.whole and least_leak < 0 and (end - done) * math.log1p(-least_leak) > math.log(GROWN):
            least_leak = -math.inf  # a number that was lost might have grown as the others do
        drift, error = self.drift, weights.series_error(self.drift)
        least = weights.series(done, drift).times(self.least) * (1 - error) if self.stochastic else 0.0
        most = weights.series(done, -drift, up=True).times(self.most) * (1 + error)
        return _Rest(
            weights.series(done, self.most_leak).grown(max(1 - weights.series_error(self.most_leak), 0.0)),
            weights.series(done, least_leak, up=True).grown(1 + weights.series_error(least_leak)),
            max(least, 0.0),
            max(most, LEAST),
        )


def _at(chain: Chain, states: Int32s) -> tuple[Floats, Floats]:
    """The sum and the vector in a few states, on the host: so few are not worth a kernel for every operation."""
    return on_host(chain.sum[states]), on_host(chain.x[states])


def _close_enough(rest: _Rest, chain: Chain, states: Int32s | None, settings: Settings, exponent: int) -> bool:
    """Half of what is allowed: the other half is for rounding, and for what was itself known only up to bounds.

    Relative to their own values for given states, relative to the largest for all.
    """
    lower, upper = rest.bounds(*((chain.sum, chain.x) if states is None else _at(chain, states)))
    return _is_close(lower, upper, settings, exponent, lower if states is not None else greatest(lower))


def _is_close(
    lower: Floats, upper: Floats, settings: Settings, exponent: int, size: Floats | float | None = None
) -> bool:
    """Whether bounds are so close, relative to these sizes or to their own."""
    return bool((upper - lower <= _allowed(lower if size is None else size, settings, exponent)).all())


def _allowed(size: Floats | float, settings: Settings, exponent: int) -> Floats | float:
    return settings.eps * size if settings.relative else float(Scaled(settings.eps, exponent))


def _excess(lower: Floats, upper: Floats, settings: Settings, exponent: int) -> float:
    """How many times wider bounds are than they may be."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        wider = np.where(upper > lower, (upper - lower) / _allowed(lower, settings, exponent), 0.0)
    return float(wider.max(initial=0.0))
