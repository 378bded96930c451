"""Values that are only known up to bounds: numbers as intervals, truth as "must be" and "may be".

The operators of a property give every state an interval that holds its number. What is computed on top of them
(``1 - P=? […]``, ``ceil(Pmax=? […]) + 1``, comparisons) keeps that promise: bounds are rounded outwards, except where
the result is exact (Dekker's error-free sum and product tell), so that exact numbers stay exact (Moore, Kearfott and
Cloud, Introduction to Interval Analysis, 2009).

Arrays have one entry per state, or none (shape ``()``) where a value is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce, wraps
from itertools import product
from operator import and_, or_
from typing import Any, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ..device.arrays import is_on_host, namespace
from ..lang.operations import BINARY, BY_OP, Op, Operation
from ..lower.vectorised import function

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_EXACT_INTEGERS = 2.0**53
_SPLITTER = 2.0**27 + 1
_LOOSE = 2.0**-50  # what a power or a logarithm may be off, relatively


def _known(values: Any, kind: type[np.generic]) -> Any:
    """An array as it is, wherever it lives; what is the same everywhere as a number, which goes with any array."""
    if hasattr(values, "astype") and np.ndim(values):
        return values.astype(kind, copy=False)
    return np.asarray(values, dtype=kind)[()]


def _where(condition: Any, then: Any, otherwise: Any) -> Floats:
    """One or the other; a number, no array, where all three are numbers."""
    found: Floats = np.where(condition, then, otherwise)[()]
    return found


_Value = TypeVar("_Value", "Truth", "Numbers", "Truth | Numbers")
_Function = TypeVar("_Function", bound=Callable[..., "Truth | Numbers"])


def _together(*operands: _Value) -> tuple[_Value, ...]:
    """The operands, all of them on the device that one of them is on.

    Otherwise NumPy would take over where a number of its own stands on the left of an array on a device.
    """
    for operand in operands:
        if not is_on_host(operand.bounds[0]):
            xp = namespace(operand.bounds[0])
            return tuple(other.sent(xp) for other in operands)
    return operands


def _in_one_place(operation: _Function) -> _Function:
    """Let an operation find its operands together."""

    @wraps(operation)
    def placed(*operands: Truth | Numbers) -> Truth | Numbers:
        return operation(*_together(*operands))

    return cast(_Function, placed)


@dataclass(frozen=True, eq=False, slots=True)
class Truth:
    """A truth value per state: true where ``must``, false where not ``may``, and undecided in between."""

    must: Mask
    may: Mask

    @classmethod
    def exactly(cls, mask: npt.ArrayLike) -> Truth:
        """A truth that is known."""
        known = _known(mask, np.bool_)
        return cls(known, known)

    @property
    def bounds(self) -> tuple[Mask, Mask]:
        """What is sure, and what is possible."""
        return self.must, self.may

    def sent(self, xp: Any) -> Self:
        """What is the same in all states, sent to the device whose arrays ``xp`` makes; others stay where they are."""
        return self if np.ndim(self.must) else replace(self, must=xp.asarray(self.must), may=xp.asarray(self.may))

    @property
    def undecided(self) -> Mask:
        """Where the bounds leave both possible."""
        return self.may & ~self.must

    def __invert__(self) -> Truth:
        return Truth(~self.may, ~self.must)

    @_in_one_place
    def __and__(self, other: Truth) -> Truth:
        return Truth(self.must & other.must, self.may & other.may)

    @_in_one_place
    def __or__(self, other: Truth) -> Truth:
        return Truth(self.must | other.must, self.may | other.may)

    def iff(self, other: Truth) -> Truth:
        """Whether two truths agree."""
        return (self & other) | (~self & ~other)


@dataclass(frozen=True, eq=False, slots=True)
class Numbers:
    """A number per state, within bounds; ``integral`` where the language has an ``int`` there."""

    lower: Floats
    upper: Floats
    integral: bool = False

    @classmethod
    def exactly(cls, values: npt.ArrayLike, integral: bool = False) -> Numbers:
        """Numbers that are known."""
        known = _known(values, np.float64)
        return cls(known, known, integral)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the greatest that it can be."""
        return self.lower, self.upper

    def sent(self, xp: Any) -> Self:
        """What is the same in all states, sent to the device whose arrays ``xp`` makes; others stay where they are."""
        if np.ndim(self.lower):
            return self
        return replace(self, lower=xp.asarray(self.lower), upper=xp.asarray(self.upper))

    def __neg__(self) -> Numbers:
        return Numbers(-self.upper, -self.lower, self.integral)

    @_in_one_place
    def __add__(self, other: Numbers) -> Numbers:
        lower, low_exact = _sum(self.lower, other.lower)
        upper, high_exact = _sum(self.upper, other.upper)
        return _open(_down(lower, low_exact), _up(upper, high_exact), self.integral and other.integral, self, other)

    def __sub__(self, other: Numbers) -> Numbers:
        return self + -other

    @_in_one_place
    def __mul__(self, other: Numbers) -> Numbers:
        return _corners(_product, self, other, self.integral and other.integral)

    @_in_one_place
    def __truediv__(self, other: Numbers) -> Numbers:
        quotient = _corners(_quotient, self, other, False)
        # Dividing by an interval around zero can give anything; by zero itself, what Java gives.
        anything = (other.lower <= 0) & (other.upper >= 0) & (other.lower < other.upper)
        return Numbers(
            _where(anything, -np.inf, quotient.lower), _where(anything, np.inf, quotient.upper), integral=False
        )


def apply(op: Op, *operands: Truth | Numbers) -> Truth | Numbers:
    """What an operation of the language makes of values that are known up to bounds.

    >>> apply(Op.MAX, Numbers(np.float64(1), np.float64(3)), Numbers.exactly(2.0))
    Numbers(lower=np.float64(2.0), upper=np.float64(3.0), integral=False)
    """
    if op in _OWN:
        return _OWN[op](*operands)
    return monotone(BY_OP[op], *(a for a in operands if isinstance(a, Numbers)))


def monotone(operation: Operation, *operands: Numbers) -> Numbers:
    """An operation that has its extremes at the bounds of its operands; a double is off by a little."""
    assert operation.monotone, f"bounds of '{operation.text[0]}' need an extension of their own"
    operands = _together(*operands)
    xp = namespace(operands[0].lower)
    compute = function(xp, operation)
    with np.errstate(all="ignore"):
        corners = [compute(*corner) for corner in product(*(a.bounds for a in operands))]
        lower, upper = reduce(xp.minimum, corners), reduce(xp.maximum, corners)
        if operation.gives == "double":
            endless = xp.isinf(lower), xp.isinf(upper)
            lower = _where(endless[0], lower, _down(lower - abs(lower) * _LOOSE, endless[0]))
            upper = _where(endless[1], upper, _up(upper + abs(upper) * _LOOSE, endless[1]))
    whole = operation.gives == "int" or (operation.gives == "widest" and all(a.integral for a in operands))
    return _open(lower, upper, whole, *operands)


def has_value(operation: Operation, operands: Sequence[Truth | Numbers]) -> Mask | None:
    """Where an operation is sure to have a value; None where it always has one."""
    domain, numbers = operation.domain, [a for a in operands if isinstance(a, Numbers)]
    if domain is None or (domain.of_integers and not all(a.integral for a in numbers)):
        return None
    bounded = numbers[domain.operand]
    return (domain.low <= bounded.lower) & (bounded.upper <= domain.high)


@_in_one_place
def power(a: Numbers, b: Numbers) -> Numbers:
    """``a ^ b``: monotone in each operand where the base is not negative, so the corners hold the extremes."""
    xp = namespace(a.lower)
    result = _corners(_power, a, b, a.integral and b.integral)
    with np.errstate(all="ignore"):
        whole = (b.lower == b.upper) & (xp.mod(b.lower, 2) == xp.floor(xp.mod(b.lower, 2)))
        even = whole & (xp.mod(b.lower, 2) == 0)
    # Below zero only whole exponents have powers: even ones turn around at zero, and negative ones have a pole there.
    # Where the exponent may be one or the other, or none of them, so may the power.
    below, known = xp.signbit(a.lower), (a.lower == a.upper) & (b.lower == b.upper)
    anything = below & ~known & ~(whole & ((b.lower >= 0) | (a.upper < 0)))
    lower = _where(even & below & (a.upper > 0), 0.0, result.lower)
    return Numbers(_where(anything, -np.inf, lower), _where(anything, np.inf, result.upper), result.integral)


def logarithm(a: Numbers, base: Numbers) -> Numbers:
    """``log(a, base)``, a quotient of two monotone functions."""
    quotient = _log(a) / _log(base)
    # No base has logarithms for certain that may be 1, infinite or not positive: these are not numbers.
    known = base.lower == base.upper
    none = known & ((base.lower <= 0) | (base.lower == 1) | namespace(base.lower).isinf(base.lower))
    return Numbers(_where(none, np.nan, quotient.lower), _where(none, np.nan, quotient.upper))


def compare(operator: str, a: Numbers, b: Numbers) -> Truth:
    """``= != < <= > >=``; a comparison with NaN is false, as in Java."""
    operands: tuple[Truth | Numbers, Truth | Numbers] = a, b
    found = BINARY[operator].apply(apply, *operands)
    assert isinstance(found, Truth)
    return found


@_in_one_place
def _equal(a: Truth | Numbers, b: Truth | Numbers) -> Truth:
    if isinstance(a, Truth) and isinstance(b, Truth):
        return a.iff(b)
    assert isinstance(a, Numbers)
    assert isinstance(b, Numbers)
    known = (a.lower == a.upper) & (b.lower == b.upper) & (a.lower == b.lower)
    return Truth(known, (a.lower <= b.upper) & (b.lower <= a.upper))


@_in_one_place
def choose(condition: Truth, then: Truth | Numbers, otherwise: Truth | Numbers) -> Truth | Numbers:
    """``condition ? then : otherwise``; where the condition is undecided, anything between both."""
    if isinstance(then, Truth) and isinstance(otherwise, Truth):
        return (condition & then) | (~condition & otherwise)
    assert isinstance(then, Numbers)
    assert isinstance(otherwise, Numbers)
    xp = namespace(then.lower)
    lower = _where(condition.undecided, xp.minimum(then.lower, otherwise.lower), 0.0)
    upper = _where(condition.undecided, xp.maximum(then.upper, otherwise.upper), 0.0)
    return Numbers(
        _where(condition.must, then.lower, _where(~condition.may, otherwise.lower, lower)),
        _where(condition.must, then.upper, _where(~condition.may, otherwise.upper, upper)),
        then.integral and otherwise.integral,
    )


@_in_one_place
def modulo(a: Numbers, b: Numbers) -> Numbers:
    """``mod(a, b)``: known where both are, else anything up to the divisor."""
    with np.errstate(all="ignore"):
        known = (a.lower == a.upper) & (b.lower == b.upper)
        value = namespace(a.lower).mod(a.lower, b.lower)
        return Numbers(_where(known, value, 0.0), _where(known, value, b.upper - 1), integral=True)


_OWN: dict[Op, Callable[..., Truth | Numbers]] = {
    Op.NEG: lambda a: -a,
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.MOD: modulo,
    Op.POW: power,
    Op.LOG: logarithm,
    Op.EQ: _equal,
    Op.LT: _in_one_place(lambda a, b: Truth(a.upper < b.lower, a.lower < b.upper)),
    Op.LE: _in_one_place(lambda a, b: Truth(a.upper <= b.lower, a.lower <= b.upper)),
    Op.AND: lambda a, b: a & b,
    Op.OR: lambda a, b: a | b,
    Op.NOT: lambda a: ~a,
    Op.IFF: Truth.iff,
    Op.ITE: choose,
}


# Rounding.


def _down(values: Floats, exact: Mask) -> Floats:
    return _where(exact, values, namespace(values).nextafter(values, -np.inf))


def _up(values: Floats, exact: Mask) -> Floats:
    return _where(exact, values, namespace(values).nextafter(values, np.inf))


def _open(lower: Floats, upper: Floats, integral: bool, *operands: Numbers) -> Numbers:
    """Bounds, none where they came out as no number: others may be met, unless the operands are known, or none."""
    isnan = namespace(lower).isnan
    known = reduce(and_, [a.lower == a.upper for a in operands])
    sure = reduce(or_, [isnan(a.lower) | isnan(a.upper) for a in operands], known)
    return Numbers(_where(isnan(lower) & ~sure, -np.inf, lower), _where(isnan(upper) & ~sure, np.inf, upper), integral)


def _log(a: Numbers) -> Numbers:
    xp = namespace(a.lower)
    with np.errstate(all="ignore"):
        lower, upper = xp.log(_where((a.lower < 0) & (a.upper >= 0), 0.0, a.lower)), xp.log(a.upper)
    # Libraries are off by a few units in the last place, but not at 1, 0 and infinity.
    slack = [_where((value == 0) | xp.isinf(value), 0.0, abs(value) * _LOOSE) for value in (lower, upper)]
    return Numbers(lower - slack[0], upper + slack[1])


def _sum(a: Floats, b: Floats) -> tuple[Floats, Mask]:
    """The rounded sum, and where it is exact (Knuth's TwoSum)."""
    with np.errstate(all="ignore"):
        total = a + b
        part = total - a
        error = (a - (total - part)) + (b - part)
        return total, (error == 0) | _is_infinite(a, b)


def _product(a: Floats, b: Floats) -> tuple[Floats, Mask]:
    """The rounded product, and where it is exact (Dekker's product)."""
    with np.errstate(all="ignore"):
        product = a * b
        a_high, a_low = _split(a)
        b_high, b_low = _split(b)
        error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
        # Where a product is tiny the error itself may vanish; NaN, from huge numbers, counts as inexact.
        exact = (error == 0) & ((abs(product) > 1e-290) | (a == 0) | (b == 0))
        return product, exact | _is_infinite(a, b)


def _split(a: Floats) -> tuple[Floats, Floats]:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def _is_infinite(a: Floats, b: Floats) -> Mask:
    """Whether either is."""
    isinf = namespace(a).isinf
    found: Mask = isinf(a) | isinf(b)
    return found


def _quotient(a: Floats, b: Floats) -> tuple[Floats, Mask]:
    with np.errstate(all="ignore"):
        quotient = a / b
        back, exact = _product(quotient, b)
        return quotient, (exact & (back == a)) | _is_infinite(a, b) | (b == 0)


def _power(a: Floats, b: Floats) -> tuple[Floats, Mask]:
    """The rounded power. Whole numbers that a double can hold are exact; libraries round others to within an ulp."""
    xp = namespace(a)
    with np.errstate(all="ignore"):
        base = _where((a == -np.inf) & (xp.mod(b, 2) != 1), np.inf, a)  # some of NumPy's loops give NaN there
        result = _where(xp.isnan(b) | ((abs(a) == 1) & xp.isinf(b)), np.nan, xp.power(base, b))  # as in Java
        whole = (a == xp.floor(a)) & (b == xp.floor(b)) & (b >= 0) & (abs(result) < _EXACT_INTEGERS)
        return result, whole | xp.isinf(result) | (result == 0)


def _corners(
    operation: Callable[[Floats, Floats], tuple[Floats, Mask]], a: Numbers, b: Numbers, integral: bool
) -> Numbers:
    """The hull of an operation on all pairs of bounds."""
    xp = namespace(a.lower)
    lower: Floats | None = None
    upper: Floats | None = None
    known = (a.lower == a.upper) & (b.lower == b.upper)
    for x, y in ((a.lower, b.lower), (a.lower, b.upper), (a.upper, b.lower), (a.upper, b.upper)):
        value, exact = operation(x, y)
        met = known | xp.isnan(x) | xp.isnan(y)
        value = _where(xp.isnan(value) & ~met, 0.0, value)  # 0 · ∞ at a corner that need not be met
        slack = _where(exact, 0.0, abs(value) * _LOOSE) if operation is _power else 0.0
        below, above = _down(value - slack, exact), _up(value + slack, exact)
        lower = below if lower is None else xp.minimum(lower, below)
        upper = above if upper is None else xp.maximum(upper, above)
    assert lower is not None
    assert upper is not None
    return Numbers(lower, upper, integral)
