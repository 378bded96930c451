"""Means of what nearly all paths earn alike: the few others decide, and may be too few for a mean to be normal.

Where only a handful of paths earn anything out of the common, their spread says little about those that were not met.
How often they come is bounded all the same (Clopper and Pearson), and what they earn lies between the least and the
most that a path can: so the mean does, with bounds that assume nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .intervals import clopper_pearson

__all__ = ["FEW", "Common", "Earnings", "mean_of_rare"]

FEW = 50  # paths out of the common, below which their spread is not trusted


@dataclass
class Common:
    """The commonest value among the first numbers, and how many of all are different."""

    value: float | None = None
    count: int = 0
    others: int = 0

    def add(self, values: npt.NDArray[np.float64]) -> None:
        """Look at more numbers."""
        if self.value is None:
            found, often = np.unique(values, return_counts=True)
            self.value = float(found[often.argmax()])
        self.count += len(values)
        self.others += int((values != self.value).sum())


@dataclass(frozen=True)
class Earnings:
    """The least and the most that a state earns, for a step or a unit of time, and that a step earns.

    >>> Earnings(0.0, 2.0, 0.0, 1.0).within(3, steps=3)
    (0.0, 9.0)
    """

    state_low: float = 0.0
    state_high: float = 0.0
    step_low: float = 0.0
    step_high: float = 0.0

    def within(self, time: float, *, steps: float) -> tuple[float, float]:
        """The least and the most that a path earns in a time and a number of steps; both may be infinite."""
        low = _times(min(self.state_low, 0.0), time) + _times(min(self.step_low, 0.0), steps)
        high = _times(max(self.state_high, 0.0), time) + _times(max(self.step_high, 0.0), steps)
        return low, high


def _times(earned: float, count: float) -> float:
    return 0.0 if earned == 0 or count == 0 else earned * count


def mean_of_rare(common: Common, confidence: float, limits: tuple[float, float]) -> tuple[float, float]:
    """Bounds of a mean from how often a value is not the commonest, and the least and the most it can be.

    >>> low, high = mean_of_rare(Common(0.0, 1000, 0), 0.95, (0.0, 10.0))
    >>> low, round(high, 3)
    (0.0, 0.037)
    """
    assert common.value is not None
    _, often = clopper_pearson(common.others, common.count, confidence)
    low, high = min(limits[0], common.value), max(limits[1], common.value)
    return (
        common.value - _times(common.value - low, often),
        common.value + _times(high - common.value, often),
    )
