"""When the bounds of an answer are close enough: the one place that says so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.values import Floats

__all__ = ["ROOM", "TINY", "Tolerance"]

TINY = 1e-290  # doubles below have no digits to spare: bounds from 0 up to this are as close as they can be
ROOM = 1 + 1e-9  # for the rounding of the widths themselves


class Tolerance(NamedTuple):
    """Half the width that bounds may have, beside the value that they enclose if ``relative``.

    Examples
    --------
    >>> Tolerance(1e-3, relative=True).excess(99.0, 101.0)  # 2 apart, where 0.202 would do
    9.900990099009901
    >>> Tolerance(1e-3, relative=True).accepts(0.0, 1e-300)
    True
    """

    eps: float
    relative: bool

    def width(self, size: Floats | float) -> Floats | float:
        """How far the bounds of a value of that size may be apart."""
        return 2 * self.eps * size if self.relative else 2 * self.eps

    def excess(self, lower: float, upper: float) -> float:
        """How many times further apart than allowed finite bounds are; relative to the larger of the two."""
        return float(self.excesses(np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)))

    def excesses(self, lower: Floats, upper: Floats) -> Floats:
        """``excess`` for every pair of bounds in two arrays."""
        size = np.maximum(np.abs(lower), np.abs(upper))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(size <= TINY, 0.0, (upper - lower) / self.width(size))

    def accepts(self, lower: float, upper: float) -> bool:
        """Whether finite bounds are close enough."""
        return self.excess(lower, upper) <= ROOM

    def accepted(self, lower: Floats, upper: Floats) -> npt.NDArray[np.bool_]:
        """``accepts`` for every pair of bounds in two arrays."""
        return self.excesses(lower, upper) <= ROOM
