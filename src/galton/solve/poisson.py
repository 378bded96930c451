"""Poisson probabilities for uniformisation: every one that a double can hold, with a bound on what is wrong with them.

Fox and Glynn (1988) start at the mode with some large number, go outward by the recurrence p(k+1) = p(k) m / (k+1) and
normalise at the end; Jansen (2011) lists what goes wrong with their constants and their truncation for extreme means.
Here the mode gets weight 1, so that nothing overflows; the window ends where the weights fall under 1e-300, so that
answers as small as 1e-290 keep their digits; and what lies outside is bounded by a geometric series, because the ratio
of neighbours only falls on the way out.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..lang.source import GaltonError
from ..model.rounding import UNIT

Floats = npt.NDArray[np.float64]

__all__ = ["LARGEST_MEAN", "HorizonError", "Poisson", "poisson", "poissons"]

SMALLEST = 1e-300  # weights below this, relative to the mode's, are cut
TOGETHER, TOGETHER_AT_MOST = 1 << 15, 64  # numbers, and means, that are computed side by side
LARGEST_MEAN = 1e11  # the window then has 2e7 weights


class HorizonError(GaltonError):
    """A time bound beyond what uniformisation can look ahead."""

    kind = "limit"


@dataclass(frozen=True, eq=False)
class Poisson:
    """The distribution of the number N of events, with bounds on all that is not exact.

    Attributes
    ----------
    mean
        The mean as given, taken to be within one rounding of the mean that is meant.
    left
        The number of events of the first weight.
    weights
        P(N = left), P(N = left + 1), …; each within a factor 1 ± ``error`` of the truth, and so is each sum of them.
    tails
        P(N > left), P(N > left + 1), …, likewise, but for what was cut above.
    error
        See above; about 1e-13 for a mean of 1000, 1e-9 for 1e9.
    below, above
        Bounds on P(N < left) and P(N > right): what was cut.
    excess
        A bound on what was cut from the tails, summed over all k.
    """

    mean: float
    left: int
    weights: Floats
    tails: Floats
    error: float
    below: float
    above: float
    excess: float

    @property
    def right(self) -> int:
        """The number of events of the last weight."""
        return self.left + len(self.weights) - 1


def poisson(mean: float) -> Poisson:
    """The Poisson distribution of a mean from 0 to 1e11.

    >>> found = poisson(2.0)
    >>> found.left, found.weights[:3].round(4)
    (0, array([0.1353, 0.2707, 0.2707]))
    """
    return poissons([mean])[0]


def poissons(means: Sequence[float]) -> list[Poisson]:
    """The distributions of many means, in ascending order: those of similar means are computed side by side."""
    for mean in means:
        if not 0 <= mean <= LARGEST_MEAN:
            raise HorizonError(
                f"{mean:.3g} jumps are expected within this time, more than the {LARGEST_MEAN:.0e} that can be "
                "followed; ask for a shorter time, or for the long run"
            )
    found: list[Poisson] = []
    while len(found) < len(means):
        rows = max(1, TOGETHER // _width(means[min(len(found) + TOGETHER_AT_MOST, len(means)) - 1]))
        found += _side_by_side(np.array(means[len(found) : len(found) + min(rows, TOGETHER_AT_MOST)], dtype=np.float64))
    return found


def _side_by_side(means: Floats) -> list[Poisson]:
    mode = np.floor(means)
    left_part, right_part = _leftward(means, mode), _rightward(means, mode)
    n_left = np.minimum(_above_smallest(left_part), mode + 1).astype(np.int64)
    n_right = _above_smallest(right_part)
    # Zeros outside of the windows, which change no sum.
    left_part[np.arange(left_part.shape[1]) >= n_left[:, None]] = 0.0
    right_part[np.arange(right_part.shape[1]) >= n_right[:, None]] = 0.0
    relative = np.concatenate([left_part[:, :0:-1], right_part], axis=1)
    # From the ends to the mode, where the sums are small; a sum over the same terms in another order for each half.
    halves = left_part[:, :0:-1].sum(axis=1), np.ascontiguousarray(right_part[:, ::-1]).sum(axis=1)
    weights = relative / (halves[0] + halves[1])[:, None]
    tails = np.zeros_like(weights)
    tails[:, :-1] = np.cumsum(weights[:, :0:-1], axis=1)[:, ::-1]
    centre = left_part.shape[1] - 1
    windows = zip(means.tolist(), mode.astype(int).tolist(), n_left.tolist(), n_right.tolist(), strict=True)
    return [
        _window(mean, mode - before + 1, weights[row, first:last], tails[row, first:last], max(before, after))
        for row, (mean, mode, before, after) in enumerate(windows)
        for first, last in [(centre - before + 1, centre + after)]
    ]


def _window(mean: float, left: int, weights: Floats, tails: Floats, distance: int) -> Poisson:
    # Each recurrence has two roundings, and the mean itself may be one off; then the sums, and the division.
    error = (4 * distance + len(weights) + 8) * UNIT * 1.01
    if 0 < mean < SMALLEST:
        error = 1.0  # numbers that small have few digits, and a product of them may have none
    below = _cut_below(mean, left, float(weights[0])) * (1 + error)
    above, excess = _cut_above(mean, left + len(weights) - 1, float(weights[-1]))
    return Poisson(mean, left, weights, tails, error, below, above * (1 + error), excess * (1 + error))


def _rightward(means: Floats, mode: Floats) -> Floats:
    """Weights from the mode to the right, that of the mode being 1; never without the first step to the right."""
    counts = mode[:, None] + np.arange(1.0, _far_right(float(means.max())) + 1)
    return _accumulated(means[:, None] / counts)


def _leftward(means: Floats, mode: Floats) -> Floats:
    """Weights from the mode to the left, that of the mode being 1."""
    counts = np.maximum(mode[:, None] - np.arange(_far_left(float(means.max()))), 0.0)
    return _accumulated(counts / np.where(means > 0, means, 1.0)[:, None])


def _accumulated(factors: Floats) -> Floats:
    """The products of the first 0, 1, … factors of each row."""
    found: Floats = np.ones((len(factors), factors.shape[1] + 1))
    with np.errstate(under="ignore"):
        np.multiply.accumulate(factors, axis=1, out=found[:, 1:])
    return found


def _width(mean: float) -> int:
    return _far_left(mean) + _far_right(mean)


def _far_left(mean: float) -> int:
    """How far left of the mode 1e-300 is reached, or more."""
    # P(mode - d) / P(mode) <= exp(-d² / (2 mean)) up to a few counts, so 1e-300 is reached where that exponent is 691.
    return min(math.floor(mean), math.ceil(math.sqrt(2 * 691 * mean)) + 2)


def _far_right(mean: float) -> int:
    """How far right of the mode 1e-300 is reached, or more."""
    # P(mode + d) / P(mode) <= exp(-d² / (2 (mean + d))), so 1e-300 is reached at the d where that exponent is 691;
    # and it is at most meanᵈ mode! / (mode + d)!, which is much less for small means.
    most = math.ceil(691 + math.sqrt(691**2 + 2 * 691 * mean)) + 2
    if mean > 1000:
        return most
    mode, log = math.floor(mean), math.log(max(mean, 1e-300))
    start = math.lgamma(mode + 1)
    return 3 + bisect_left(range(most), True, key=lambda d: d * log + start - math.lgamma(mode + d + 1) < -691.0)


def _above_smallest(weights: Floats) -> npt.NDArray[np.int64]:
    """How many weights come before those that are cut; two at least."""
    small = weights < SMALLEST
    found: npt.NDArray[np.int64] = np.where(small.any(axis=1), np.maximum(small.argmax(axis=1), 2), weights.shape[1])
    return found


def _cut_below(mean: float, left: int, first: float) -> float:
    """Left of ``left`` the ratio of neighbours is at most left / mean, which is below 1 there."""
    if left == 0:
        return 0.0
    ratio = left / mean
    return first * ratio / (1 - ratio) if ratio < 1 else math.inf


def _cut_above(mean: float, right: int, last: float) -> tuple[float, float]:
    """Right of ``right`` it is at most mean / (right + 1). Each tail up to there lacks the sum, and those after it are
    the tails of that series."""
    ratio = mean / (right + 1)
    above = last * ratio / (1 - ratio)
    return above, above * (right + 1) + above / (1 - ratio)
