"""Sums and products of probabilities that are rounded down, so that they are proved bounds from below.

Numbers are whole numbers times powers of two. Those of up to 256 bits are exact, so that four paths of a quarter each
are worth 1 and no less; what is longer is cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Downward"]

BITS = 256


@dataclass(frozen=True, slots=True)
class Downward:
    """The number ``mantissa * 2**exponent``, which is not negative.

    >>> third = Downward.of(Fraction(1, 3))
    >>> third.fraction < Fraction(1, 3), (third + third + third).fraction < 1
    (True, True)
    >>> (Downward.of(Fraction(1, 4)) + Downward.of(Fraction(3, 4))).fraction
    Fraction(1, 1)
    """

    mantissa: int
    exponent: int = 0

    @classmethod
    def of(cls, number: Fraction) -> Downward:
        """The number itself, if it has no more bits than are kept; otherwise one below it."""
        shift = max(BITS - number.numerator.bit_length() + number.denominator.bit_length(), 0)
        return _cut((number.numerator << shift) // number.denominator, -shift)

    def __mul__(self, other: Downward) -> Downward:
        return _cut(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def __add__(self, other: Downward) -> Downward:
        if not self.mantissa or not other.mantissa:
            return other if not self.mantissa else self
        large, small = (self, other) if self._top >= other._top else (other, self)
        if large._top - small._top > 2 * BITS:
            return large
        least = min(large.exponent, small.exponent)
        total = (large.mantissa << large.exponent - least) + (small.mantissa << small.exponent - least)
        return _cut(total, least)

    @property
    def _top(self) -> int:
        """One more than the exponent of the highest bit."""
        return self.exponent + self.mantissa.bit_length()

    @property
    def fraction(self) -> Fraction:
        """The number, exactly."""
        return Fraction(self.mantissa) * Fraction(2) ** self.exponent

    def __float__(self) -> float:
        """The largest double that is not above the number."""
        if self._top < -1100:
            return 0.0
        exact = self.fraction
        near = float(exact)
        return near if Fraction(near) <= exact else math.nextafter(near, 0.0)


def _cut(mantissa: int, exponent: int) -> Downward:
    """A number with no more bits than are kept, and no zeros at the end."""
    if not mantissa:
        return Downward(0)
    extra = max(mantissa.bit_length() - BITS, 0)
    mantissa >>= extra
    zeros = (mantissa & -mantissa).bit_length() - 1
    return Downward(mantissa >> zeros, exponent + extra + zeros)
