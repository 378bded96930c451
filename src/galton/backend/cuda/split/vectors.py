"""Vectors that lie in parts on several devices, with the arithmetic that Krylov's methods need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np

from ....device.arrays import how_many
from .parts import Parts, on

__all__ = ["Vector"]


class Vector:
    """A piece for each part, of its own unknowns. Inner products are added up on the host, part by part."""

    def __init__(self, parts: Parts, pieces: list[Any]) -> None:
        self.parts, self.pieces = parts, pieces

    @classmethod
    def of(cls, parts: Parts, whole: Any) -> Vector:
        """A vector over all unknowns, in parts."""
        return cls(parts, parts.pieces(whole))

    def gather(self, onto: Any) -> None:
        """Write it to a vector over all unknowns."""
        self.parts.gather(self.pieces, onto)

    def copy(self) -> Vector:
        """Another one."""
        return Vector(self.parts, self.parts.copies(self.pieces))

    def at(self, unknown: int) -> float:
        """One number."""
        for part, piece in zip(self.parts, self.pieces, strict=True):
            if part.first <= unknown < part.last:
                return float(piece[unknown - part.first])
        raise IndexError(unknown)

    def sum(self) -> float:
        """The sum of all numbers."""
        return float(sum(self._asked(lambda piece: float(piece.sum()))))

    def least(self) -> float:
        """The least number; NaN where there is one."""
        return float(np.min(self._asked(lambda piece: float(piece.min()))))

    def greatest(self) -> float:
        """The greatest number; NaN where there is one."""
        return float(np.max(self._asked(lambda piece: float(piece.max()))))

    def is_finite(self) -> bool:
        """Whether all numbers are."""
        return all(self._asked(lambda piece: how_many(cp.isfinite(piece)) == len(piece)))

    def _asked(self, question: Callable[[Any], Any]) -> list[Any]:
        found = []
        for part, piece in zip(self.parts, self.pieces, strict=True):
            with on(part.device):
                found.append(question(piece))
        return found

    # Arithmetic, with a number or with another vector.

    def _computed(self, other: Any, operation: Callable[[Any, Any], Any]) -> list[Any]:
        others = other.pieces if isinstance(other, Vector) else [other] * len(self.parts)
        found = []
        for part, piece, given in zip(self.parts, self.pieces, others, strict=True):
            with on(part.device):
                found.append(operation(piece, given))
        return found

    def __add__(self, other: Any) -> Vector:
        return Vector(self.parts, self._computed(other, lambda a, b: a + b))

    def __sub__(self, other: Any) -> Vector:
        return Vector(self.parts, self._computed(other, lambda a, b: a - b))

    def __mul__(self, other: Any) -> Vector:
        return Vector(self.parts, self._computed(other, lambda a, b: a * b))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Vector:
        return Vector(self.parts, self._computed(other, lambda a, b: a / b))

    def __iadd__(self, other: Any) -> Vector:
        self._computed(other, lambda a, b: cp.add(a, b, out=a))
        return self

    def __isub__(self, other: Any) -> Vector:
        self._computed(other, lambda a, b: cp.subtract(a, b, out=a))
        return self

    def __imul__(self, other: Any) -> Vector:
        self._computed(other, lambda a, b: cp.multiply(a, b, out=a))
        return self

    def __setitem__(self, where: slice, other: Any) -> None:
        assert where == slice(None), "a vector in parts is written as a whole"
        self._computed(other, lambda a, b: a.__setitem__(where, b))

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, options: Any) -> Any:
        """NumPy's ``zeros_like`` and ``empty_like``, by which :class:`galton.backend.bicgstab.Iteration` makes room."""
        if function not in (np.zeros_like, np.empty_like):
            return NotImplemented
        return Vector(self.parts, self._asked(cp.zeros_like))
