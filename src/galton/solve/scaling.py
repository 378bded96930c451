"""Numbers that a double does not reach: powers below 2**-1022, and vectors that are raised so that none is lost there.

Steps begin with the greatest number near 2**1000, and what comes out is lowered again. Below 2**-1022 doubles have few
digits, and the core none; there, bounds are rounded outwards, so that what is positive never has 0 as its upper bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..device.arrays import namespace, nudged
from ..model.rounding import DOUBLE, LEAST, Precision

Floats = npt.NDArray[np.float64]

__all__ = ["Scaled", "exponential", "faintest_raised", "lowered", "raised", "raising"]

GREATEST = float(np.finfo(np.float64).max)
SMALL, LARGE = -700.0, 700.0  # exponents between which doubles have exponentials
LN2 = math.log(2)
FAR = 10_000  # binary places: further below, no vector comes back to what doubles hold


class Scaled(NamedTuple):
    """A number times a power of two."""

    number: float
    exponent: int = 0

    def __float__(self) -> float:
        return self.times(1.0)

    def times(self, factor: float) -> float:
        """The product as a double."""
        product = self.number * factor
        try:
            return math.ldexp(product, self.exponent)
        except OverflowError:
            return math.copysign(math.inf, product)

    def grown(self, factor: float) -> Scaled:
        """Times a factor near 1."""
        return Scaled(self.number * factor, self.exponent)


def exponential(exponent: float, *, up: bool) -> Scaled:
    """e to some power, infinite where that is large; its relative error is that of the power, and one rounding.

    Where it is too small for anything, it is 0 or, as an upper bound (``up``), something above that.
    """
    if exponent > LARGE:
        return Scaled(math.inf)
    if exponent > SMALL:
        return Scaled(math.exp(exponent))
    places = math.floor(max(exponent / LN2, -FAR))
    if places == -FAR:
        return Scaled(1.0 if up else 0.0, -FAR)
    return Scaled(math.exp(exponent - places * LN2), places)


def raising(largest: float, growth: int = 1, precision: Precision = DOUBLE) -> int:
    """The power of two to multiply a vector by whose greatest number is that, and may become so many times larger."""
    return precision.height - math.frexp(largest)[1] - growth.bit_length() if largest > 0 else 0


def faintest_raised(least: float, exponent: int, precision: Precision = DOUBLE) -> float:
    """The least positive number of a vector after it was raised; 0 where it may have been lost."""
    if least == math.inf:
        return least
    found = float(Scaled(least, exponent))
    return found if found >= precision.least else 0.0


def raised(vector: Floats, exponent: int) -> Floats:
    """A vector times a power of two."""
    with np.errstate(over="ignore"):
        found: Floats = namespace(vector).ldexp(vector, exponent)
        return found


def lowered(lower: Floats, upper: Floats, exponent: int) -> tuple[Floats, Floats]:
    """Bounds over a power of two, rounded outwards where they have few digits, or are too large for a double."""
    xp = namespace(lower)
    with np.errstate(over="ignore", under="ignore"):
        low, high = xp.ldexp(lower, -exponent), xp.ldexp(upper, -exponent)
    faint, dim = (low > 0) & (low < LEAST), (upper > 0) & (high < LEAST)
    if faint.any():
        low = nudged(low, -1.0, faint)
    if dim.any():
        high = nudged(high, 1.0, dim)
    return xp.minimum(low, GREATEST), high
