"""Answers that behave as the numbers they hold: ``r * 6``, ``r < 0.5``, ``f"{r:.3f}"``, ``math.sqrt(r)``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["AsNumber"]

Real: TypeAlias = int | float | Fraction


class AsNumber:
    """Arithmetic, comparisons and formats, over the one number that :meth:`number` gives.

    What comes out of arithmetic is a plain number. Comparisons compare this number, and not the bounds around it: a
    threshold in a property is what is proved.
    """

    __slots__ = ()

    def number(self) -> Real:
        """The number; a ``TypeError`` where there is none."""
        raise NotImplementedError

    def __float__(self) -> float:
        return float(self.number())

    def __int__(self) -> int:
        return int(self.number())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.number(), digits)

    def __neg__(self) -> Real:
        return -self.number()

    def __pos__(self) -> Real:
        return +self.number()

    def __abs__(self) -> Any:
        return abs(self.number())

    def __add__(self, other: object) -> Any:
        return _applied(operator.add, self, other)

    def __radd__(self, other: object) -> Any:
        return _applied(operator.add, other, self)

    def __sub__(self, other: object) -> Any:
        return _applied(operator.sub, self, other)

    def __rsub__(self, other: object) -> Any:
        return _applied(operator.sub, other, self)

    def __mul__(self, other: object) -> Any:
        return _applied(operator.mul, self, other)

    def __rmul__(self, other: object) -> Any:
        return _applied(operator.mul, other, self)

    def __truediv__(self, other: object) -> Any:
        return _applied(operator.truediv, self, other)

    def __rtruediv__(self, other: object) -> Any:
        return _applied(operator.truediv, other, self)

    def __pow__(self, other: object) -> Any:
        return _applied(operator.pow, self, other)

    def __rpow__(self, other: object) -> Any:
        return _applied(operator.pow, other, self)

    def __lt__(self, other: object) -> Any:
        return _applied(operator.lt, self, other)

    def __le__(self, other: object) -> Any:
        return _applied(operator.le, self, other)

    def __gt__(self, other: object) -> Any:
        return _applied(operator.gt, self, other)

    def __ge__(self, other: object) -> Any:
        return _applied(operator.ge, self, other)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[np.generic]:
        import numpy as np

        return np.asarray(float(self), dtype=dtype)


def _applied(operation: Callable[[Any, Any], Any], left: object, right: object) -> Any:
    """An operation on numbers; ``NotImplemented`` where one of the operands is none that we know."""
    numbers = [part.number() if isinstance(part, AsNumber) else part for part in (left, right)]
    if all(isinstance(number, (int, float, Fraction)) for number in numbers):
        return operation(*numbers)
    return NotImplemented
