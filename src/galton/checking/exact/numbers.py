"""Rational numbers: those of python-flint where it is installed, of the standard library otherwise.

Both have the same operators and give the same results; python-flint is faster. The type is that of the standard library
for whoever reads the code, and no code asks which of the two it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from importlib import import_module

__all__ = [
    "INFINITY",
    "Number",
    "Rational",
    "as_fraction",
    "from_float",
    "integer_type",
    "less",
    "name_of_arithmetic",
    "nearest",
    "rational",
]

Rational = Fraction  # or flint.fmpq
Number = Rational | float  # the only float is infinity
INFINITY = math.inf


@cache
def _constructor() -> Callable[[int, int], Rational]:
    try:
        return import_module("flint").fmpq  # type: ignore[no-any-return]
    except ImportError:
        return Fraction


@cache
def integer_type() -> Callable[[int], int]:
    """What makes long integers quick to multiply: a type of python-flint, or Python's own."""
    try:
        return import_module("flint").fmpz  # type: ignore[no-any-return]
    except ImportError:
        return int


def name_of_arithmetic() -> str:
    """The name of what computes, for ``--explain``."""
    return "fractions" if _constructor() is Fraction else "python-flint"


def rational(numerator: int | Fraction, denominator: int = 1) -> Rational:
    """A number, from integers or from a fraction of the standard library."""
    if isinstance(numerator, Fraction):
        return _constructor()(numerator.numerator, numerator.denominator)
    return _constructor()(numerator, denominator)


def from_float(value: float) -> Rational:
    """A double as the fraction it is."""
    return _constructor()(*value.as_integer_ratio())


def as_fraction(value: Rational | int) -> Fraction:
    """A number as one of the standard library."""
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    return Fraction(int(value.numerator), int(value.denominator))


def nearest(value: Number) -> float:
    """The nearest double; infinite where the number is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value.numerator)  # type: ignore[union-attr]


def less(one: Number, other: Number) -> bool:
    """Whether one number is smaller, infinity included, which numbers of python-flint do not compare with."""
    if isinstance(one, float):
        return False
    return isinstance(other, float) or one < other
