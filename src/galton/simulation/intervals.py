"""What a number of random paths says about a probability or a mean, and how many it takes.

A probability: Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial"
(1934). Their interval holds the truth at least as often as it says, for any number of paths that was chosen beforehand.
A threshold: Wald, "Sequential tests of statistical hypotheses" (1945), with limits that Ville's inequality (1939) makes
exact. A mean: Student's t, which assumes that the mean
of so many paths is nearly normal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, stdtrit

__all__ = ["Sprt", "clopper_pearson", "half_width", "paths_for", "student"]


def clopper_pearson(hits: int, paths: int, confidence: float, *, unknown: int = 0) -> tuple[float, float]:
    """Bounds of a probability from independent paths.

    ``unknown`` paths may or may not have been hits: they count against the lower bound and for the upper one.

    >>> low, high = clopper_pearson(50, 100, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.3983, 0.6017)
    >>> clopper_pearson(0, 10, 0.95)[0], clopper_pearson(10, 10, 0.95)[1]
    (0.0, 1.0)
    """
    tail = (1 - confidence) / 2
    most = hits + unknown
    lower = 0.0 if hits == 0 else float(betaincinv(hits, paths - hits + 1, tail))
    upper = 1.0 if most == paths else float(betaincinv(most + 1, paths - most, 1 - tail))
    return lower, upper


def paths_for(width: float, confidence: float) -> int:
    """The number of paths after which no interval of Clopper and Pearson is wider: the widest is around one half.

    >>> paths_for(0.01, 0.99)
    66545
    """

    def widest(paths: int) -> float:
        lower, upper = clopper_pearson(paths // 2, paths, confidence)
        return upper - lower

    low, high = 0, 1
    while widest(high) > width:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        # With an odd number of paths no interval is quite around one half, so look at the next one as well.
        if max(widest(middle), widest(middle + 1)) > width:
            low = middle
        else:
            high = middle
    return high


def student(mean: float, deviation: float, paths: int, confidence: float) -> tuple[float, float]:
    """Bounds of a mean, from the standard deviation of its paths.

    >>> low, high = student(10.0, 2.0, 101, 0.95)
    >>> round(low, 3), round(high, 3)
    (9.605, 10.395)
    """
    half = half_width(deviation, paths, confidence)
    return mean - half, mean + half


def half_width(deviation: float, paths: int, confidence: float) -> float:
    """Half the width of the interval of a mean."""
    if deviation == 0:
        return 0.0
    tail = (1 - confidence) / 2
    return float(-stdtrit(max(paths - 1, 1), tail)) * deviation / math.sqrt(paths)


@dataclass
class Sprt:
    """Wald's sequential test whether a probability is at least a threshold.

    It compares ``threshold + indifference`` with ``threshold - indifference``. If the probability is not between these,
    the answer is wrong with probability at most ``1 - confidence``; between them either answer may come. Paths are
    looked at one by one, in their order, so the answer does not depend on how many are followed at a time.

    >>> test = Sprt(0.5, 0.05, 0.99)
    >>> test.feed(np.ones(200, dtype=bool)), test.paths
    (True, 23)
    """

    threshold: float
    indifference: float
    confidence: float
    paths: int = 0
    evidence: float = 0.0  # logarithm of the likelihood ratio, for the smaller probability
    answer: bool | None = None

    @property
    def high(self) -> float:
        """The probability that the first hypothesis says."""
        return min(self.threshold + self.indifference, 1.0)

    @property
    def low(self) -> float:
        """The probability that the second one says."""
        return max(self.threshold - self.indifference, 0.0)

    def feed(self, hits: npt.NDArray[np.bool_]) -> bool | None:
        """Look at more paths; return whether the probability is at least the threshold, once that is known."""
        if self.answer is not None or not len(hits):
            return self.answer
        with np.errstate(divide="ignore"):
            hit = np.log(self.low) - np.log(self.high)
            miss = np.log1p(-self.low) - np.log1p(-self.high)
        limit = -math.log1p(-self.confidence)  # by Ville's inequality a ratio that large is seldom met by mistake
        sums = self.evidence + np.cumsum(np.where(hits, hit, miss))
        over = np.flatnonzero((sums >= limit) | (sums <= -limit))
        if len(over):
            self.paths += int(over[0]) + 1
            self.evidence = float(sums[over[0]])
            self.answer = self.evidence < 0
        else:
            self.paths += len(hits)
            self.evidence = float(sums[-1])
        return self.answer
