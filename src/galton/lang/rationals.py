"""Arithmetic on constants: rational numbers, rounded to a double once.

``0.1`` in a text is one tenth, and ``0.1 + 0.2`` is the double nearest to three tenths. A constant is a ``float`` all
the same, the nearest one, and an :class:`Exact` one where it is known what it was rounded from: whoever takes it for a
float has rounded it. The operations are those of :mod:`.doubles`, which take over where there is no rational number:
infinities, NaN, -0.0, logarithms, powers that are not whole, and numbers of more than a few thousand bits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import doubles
from .doubles import logarithm as logarithm

if TYPE_CHECKING:
    from fractions import Fraction

MOST_BITS = 4096  # of a numerator and a denominator together; their lengths add up with every operation
QUICK_BITS = 1000  # of a numerator or a denominator whose quotient no double is too small or too large for
MOST_DIGITS = 1000  # of a literal, and the largest exponent: longer ones are rounded as they are read


class Exact(float):
    """The double nearest to a number that is no double: a decimal as it was written, or a fraction."""

    __slots__ = ("_fraction", "_origin")

    _origin: str | Fraction | tuple[int, int]
    _fraction: Fraction | None

    def __new__(cls, origin: str | Fraction) -> Exact:
        """Round what ``origin`` says."""
        try:
            self = super().__new__(cls, origin)
        except OverflowError:  # no double is near, but what it is multiplied with may bring it back
            self = super().__new__(cls, math.inf if not isinstance(origin, str) and origin > 0 else -math.inf)
        self._origin = origin
        self._fraction = None
        return self

    @classmethod
    def quotient(cls, left: int, right: int) -> Exact:
        """Round ``left / right`` as :meth:`__new__` would; the fraction is made when somebody asks for it."""
        self = super().__new__(cls, left / right)
        self._origin = left, right
        self._fraction = None
        return self

    @property
    def origin(self) -> str | Fraction:
        """What it was rounded from: a decimal as it was written, or a fraction."""
        return self.fraction if isinstance(self._origin, tuple) else self._origin

    def __reduce__(self) -> tuple[type[Exact], tuple[str | Fraction]]:
        return Exact, (self.origin,)

    @property
    def fraction(self) -> Fraction:
        """The number itself. Most literals are never asked for it, and reading it takes longer than rounding it."""
        if self._fraction is None:
            from fractions import Fraction

            origin = self._origin
            self._fraction = Fraction(*origin) if isinstance(origin, tuple) else Fraction(origin)
        return self._fraction


class Irrational(float):
    """The double nearest to a number that no fraction is: JANI has e and π. Who computes exactly must refuse it."""

    __slots__ = ()


def literal(text: str) -> float:
    """A decimal number as it stands in a text; infinite where it is too large for a double."""
    digits, _, exponent = text.lower().partition("e")
    if (exponent and (len(exponent) > 9 or abs(int(exponent)) > MOST_DIGITS)) or len(digits) > MOST_DIGITS:
        return float(text)
    value = Exact(text)
    return value if value < math.inf else math.inf


def rational(value: float) -> Fraction | None:
    """What a number is exactly; None for infinities, NaN and -0.0."""
    from fractions import Fraction

    if isinstance(value, Exact):
        return value.fraction
    if not math.isfinite(value) or (value == 0 and math.copysign(1.0, value) < 0):
        return None
    return Fraction(value)


def rounded(value: Fraction) -> float:
    """The double nearest to a number, which it remembers unless it is too long."""
    nearest = Exact(value)
    long = _bits(value) > MOST_BITS
    plain = long or (math.isfinite(nearest) and nearest.as_integer_ratio() == (value.numerator, value.denominator))
    return float(nearest) if plain else nearest


def quotient(numerator: int, denominator: int) -> float:
    """The double nearest to a quotient, which it remembers, as :func:`rounded` has it; for many of them."""
    common = math.gcd(numerator, denominator)
    above, below = numerator // common, denominator // common
    if max(above.bit_length(), below.bit_length()) > QUICK_BITS:
        from fractions import Fraction

        return rounded(Fraction(above, below))
    nearest = above / below
    return nearest if nearest.as_integer_ratio() == (above, below) else Exact.quotient(above, below)


def negate(value: float) -> float:
    """``-value``."""
    exact = rational(value)
    return rounded(-exact) if exact else -float(value)


def add(left: float, right: float) -> float:
    """``left + right``."""
    a, b = rational(left), rational(right)
    return doubles.add(left, right) if a is None or b is None else rounded(a + b)


def subtract(left: float, right: float) -> float:
    """``left - right``."""
    a, b = rational(left), rational(right)
    return doubles.subtract(left, right) if a is None or b is None else rounded(a - b)


def multiply(left: float, right: float) -> float:
    """``left * right``."""
    a, b = rational(left), rational(right)
    return rounded(a * b) if a and b else doubles.multiply(left, right)  # zeros have signs there


def divide(left: float, right: float) -> float:
    """``left / right``."""
    if type(left) is int and type(right) is int and left and right and abs(left) <= 2**53:  # as long texts have many
        nearest = left / right
        numerator, denominator = nearest.as_integer_ratio()
        return nearest if numerator * right == left * denominator else Exact.quotient(left, right)
    a, b = rational(left), rational(right)
    return rounded(a / b) if a and b else doubles.divide(left, right)


def power(base: float, exponent: float) -> float:
    """``base ^ exponent``."""
    a, b = rational(base), rational(exponent)
    if not a or b is None or b.denominator != 1 or _bits(a) * abs(b) > MOST_BITS:
        return doubles.power(base, exponent)
    return rounded(a ** int(b))


def minimum(left: float, right: float) -> float:
    """The smaller of two numbers."""
    a, b = rational(left), rational(right)
    if a is None or b is None or a == b:
        return doubles.minimum(left, right)
    return left if a < b else right


def maximum(left: float, right: float) -> float:
    """The larger of two numbers."""
    a, b = rational(left), rational(right)
    if a is None or b is None or a == b:
        return doubles.maximum(left, right)
    return left if a > b else right


def floor(value: float) -> int:
    """The next integer below; ``value`` is finite."""
    return math.floor(rational(value) or 0)


def ceil(value: float) -> int:
    """The next integer above; ``value`` is finite."""
    return math.ceil(rational(value) or 0)


def round_half_up(value: float) -> int:
    """The nearest integer, halves up; ``value`` is finite."""
    exact = rational(value) or 0
    return math.floor(2 * exact + 1) // 2


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()
