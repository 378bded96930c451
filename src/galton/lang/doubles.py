"""Arithmetic on doubles as Java does it, on which PRISM runs.

:mod:`.operations` has these functions in its table, and :mod:`.rationals` their counterparts for constants. The C++
core (``operations.hpp``), the text for a device (``arithmetic.cuh``), arrays and intervals follow the same rules.
"""

from __future__ import annotations

import math


def negate(value: float) -> float:
    """``-value``."""
    return -value


def add(left: float, right: float) -> float:
    """``left + right``."""
    return float(left) + right


def subtract(left: float, right: float) -> float:
    """``left - right``."""
    return float(left) - right


def multiply(left: float, right: float) -> float:
    """``left * right``."""
    return float(left) * right


def divide(left: float, right: float) -> float:
    """``left / right``: dividing by zero gives an infinity or NaN."""
    if right != 0:
        return float(left) / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def power(base: float, exponent: float) -> float:
    """``Math.pow``; unlike in C, no power of 1 or -1 is known whose exponent is infinite or NaN."""
    if math.isnan(exponent) or (abs(base) == 1 and math.isinf(exponent)):
        return math.nan
    odd = math.isfinite(exponent) and exponent % 2 == 1
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        if base == 0:
            return math.copysign(math.inf, base) if odd else math.inf
        return math.nan


def logarithm(value: float, base: float) -> float:
    """``log(value, base)``; NaN for a base without logarithms."""
    if not (0 < base < math.inf) or base == 1 or not value >= 0:
        return math.nan
    return (math.log(value) if value else -math.inf) / math.log(base)


def minimum(left: float, right: float) -> float:
    """``Math.min``: NaN if either is, and -0.0 is less than 0.0."""
    if left == right:
        return left if math.copysign(1.0, left) < 0 else right
    return left if left < right or math.isnan(left) else right


def maximum(left: float, right: float) -> float:
    """``Math.max``."""
    return negate(minimum(negate(left), negate(right)))


def floor(value: float) -> int:
    """The next integer below; ``value`` is finite."""
    return math.floor(value)


def ceil(value: float) -> int:
    """The next integer above; ``value`` is finite."""
    return math.ceil(value)


def round_half_up(value: float) -> int:
    """``Math.round``: halves go up. Adding a half would round the largest double below one half up as well."""
    below = math.floor(value)
    return below + 1 if value - below >= 0.5 else below
