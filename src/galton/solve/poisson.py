"""Poisson probabilities for uniformisation: every one that a double can hold, with a bound on what is wrong with them.

Fox and Glynn (1988) start at the mode with some large number, go outward by the recurrence p(k+1) = p(k) m / (k+1) and
normalise at the end; Jansen (2011) lists what goes wrong with their constants and their truncation for extreme means.
Here the mode gets weight 1, so that nothing overflows; the window ends where the weights fall under 1e-300, so that
answers as small as 1e-290 keep their digits; and what lies outside is bounded by a geometric series, because the ratio
of neighbours only falls on the way out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..lang.source import GaltonError
from ..model.rounding import UNIT

Floats = npt.NDArray[np.float64]

__all__ = ["LARGEST_MEAN", "HorizonError", "Poisson", "poisson"]

SMALLEST = 1e-300  # weights below this, relative to the mode's, are cut
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
    if not 0 <= mean <= LARGEST_MEAN:
        raise HorizonError(
            f"{mean:.3g} jumps are expected within this time, more than the {LARGEST_MEAN:.0e} that can be followed; "
            "ask for a shorter time, or for the long run"
        )
    mode = math.floor(mean)
    left_part, right_part = _leftward(mean, mode), _rightward(mean, mode)
    left = mode - len(left_part) + 1
    relative = np.concatenate([left_part[:0:-1], right_part])
    # From the ends to the mode, where the sums are small; a sum over the same terms in another order for each half.
    total = math.fsum([float(np.sum(left_part[:0:-1])), float(np.sum(right_part[::-1]))])
    weights = relative / total
    tails = np.concatenate([np.cumsum(weights[:0:-1])[::-1], [0.0]])
    # Each recurrence has two roundings, and the mean itself may be one off; then the sums, and the division.
    distance = max(len(left_part), len(right_part))
    error = (4 * distance + len(weights) + 8) * UNIT * 1.01
    if 0 < mean < SMALLEST:
        error = 1.0  # numbers that small have few digits, and a product of them may have none
    below = _cut_below(mean, left, float(weights[0])) * (1 + error)
    above, excess = _cut_above(mean, left + len(weights) - 1, float(weights[-1]))
    return Poisson(mean, left, weights, tails, error, below, above * (1 + error), excess * (1 + error))


def _rightward(mean: float, mode: int) -> Floats:
    """Weights from the mode to the right, that of the mode being 1; never without the first step to the right."""
    # P(mode + d) / P(mode) <= exp(-d² / (2 (mean + d))), so 1e-300 is reached at the d where that exponent is 691.
    far = 691 + math.sqrt(691**2 + 2 * 691 * mean)
    counts = np.arange(mode + 1, mode + math.ceil(far) + 3, dtype=np.float64)
    return _above_smallest(np.multiply.accumulate(np.concatenate([[1.0], mean / counts])))


def _leftward(mean: float, mode: int) -> Floats:
    """Weights from the mode to the left, that of the mode being 1."""
    # P(mode - d) / P(mode) <= exp(-d² / (2 mean)) up to a few counts, so 1e-300 is reached where that exponent is 691.
    far = min(mode, math.ceil(math.sqrt(2 * 691 * mean)) + 2)
    if mean == 0:
        return np.ones(1)
    counts = np.arange(mode, mode - far, -1, dtype=np.float64)
    return _above_smallest(np.multiply.accumulate(np.concatenate([[1.0], counts / mean])))


def _above_smallest(weights: Floats) -> Floats:
    small = np.flatnonzero(weights < SMALLEST)
    return weights[: max(small[0], 2)] if small.size else weights


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
