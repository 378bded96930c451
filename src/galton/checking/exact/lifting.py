"""Linear equations with large exact solutions: doubles find a few bits at a time, integers keep what is left.

The matrix is factorised once, in doubles. Each solve gives some bits of the solution as integers; what they leave over
of the right side is computed in integers, exactly, and solved for again, moved up by as many bits (Z. Wan, An algorithm
to solve integer linear systems exactly using numerical methods, Journal of Symbolic Computation 41, 2006). Where there
are enough bits, continued fractions give the fractions. These are then put into the equations, exactly, so that nothing
about doubles has to be believed. The matrix must not be singular, which callers know from the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from ...backend.failures import LimitError
from .limits import MOST_BITS, Watchman
from .numbers import Rational, integer_type, rational

__all__ = ["lifted"]

_WORD = 61  # bits of products in 64-bit integers
_FIRST, _LEAST = 36, 4  # bits that a solve is asked for
_LONG = 2000  # bits from which on python-flint multiplies faster than it is made
_SPARE = 40  # bits by which a fraction must be shorter than what is known

Integers = npt.NDArray[Any]  # of 64 bits, or of Python's own


def lifted(
    rows: Sequence[Mapping[int, Rational]], right: Sequence[Rational], watchman: Watchman
) -> list[Rational] | None:
    """The x with ``sum_j rows[i][j] x_j = right[i]``; None where doubles are too far off to begin with."""
    system = _System.of(rows, right)
    factors = _factorised(system.matrix)
    if factors is None:
        return None
    bits = _FIRST
    while bits >= _LEAST:
        try:
            found = _Lifting(system, factors, bits, watchman).solution()
        except _Diverging:
            bits //= 2
            continue
        below, above = found
        return [rational(numerator, below * system.scale) for numerator in above]
    return None


class _Diverging(Exception):
    """A solve in doubles that leaves more over than it should."""


@dataclass(frozen=True, eq=False)
class _System:
    """Integer equations. ``scale`` is what the right side was multiplied with, beside what each row was."""

    starts: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    entries: list[int]
    right: list[int]
    scale: int

    @classmethod
    def of(cls, rows: Sequence[Mapping[int, Rational]], right: Sequence[Rational]) -> _System:
        """Rational equations, each row multiplied with its denominators."""
        starts, columns, entries, sides = [0], [], [], []
        for row, value in zip(rows, right, strict=True):
            below = lcm(*(int(weight.denominator) for weight in row.values()))
            scaled = [int(weight.numerator) * (below // int(weight.denominator)) for weight in row.values()]
            common = gcd(*scaled)
            entries += [entry // common for entry in scaled]
            columns += list(row)
            starts.append(len(columns))
            sides.append(value * below / common)
        scale = reduce(lcm, {int(side.denominator) for side in sides}, 1)
        whole = [int(side.numerator) * (scale // int(side.denominator)) for side in sides]
        common = gcd(*whole, scale)
        places = np.array(starts, dtype=np.int64), np.array(columns, dtype=np.int64)
        return cls(*places, entries, [side // common for side in whole], scale // common)

    @property
    def matrix(self) -> csc_array:
        """The matrix in doubles."""
        n = len(self.right)
        return csc_array(csr_array((np.array(self.entries, dtype=float), self.columns, self.starts), shape=(n, n)))

    @property
    def sizes(self) -> list[int]:
        """The sum of the absolute entries of each row."""
        bounds = self.starts.tolist()
        return [sum(map(abs, self.entries[a:b])) for a, b in pairwise(bounds)]


def _factorised(matrix: csc_array) -> Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]] | None:
    try:
        with np.errstate(all="ignore"):
            return splu(matrix).solve
    except RuntimeError:  # singular in doubles
        return None


class _Lifting:
    """The bits of a solution: ``A y + left = right · 2^known`` for the integers y found so far."""

    def __init__(self, system: _System, solve: Callable[..., Any], bits: int, watchman: Watchman) -> None:
        self._system, self._solve, self._watchman = system, solve, watchman
        self._sizes = np.array(system.sizes, dtype=object)
        largest = max(system.sizes).bit_length()
        self._narrow = largest + _LEAST < _WORD
        self._bits = min(bits, _WORD - largest) if self._narrow else bits
        self._word = np.int64 if self._narrow else object
        n = len(system.right)
        shape = (np.array(system.entries, dtype=self._word), system.columns, system.starts)
        self._matrix = csr_array(shape, shape=(n, n)) if self._narrow else None
        self._limit = np.array([float(size) for size in system.sizes])
        self._chunks: list[Integers] = []  # the bits of y, the highest first
        self._left: Integers = np.zeros(n, dtype=self._word)
        self._digits = -(-max(abs(side).bit_length() for side in system.right) // self._bits) + 1
        self._fed = False
        self._integer = integer_type()

    def solution(self) -> tuple[int, list[int]]:
        """A denominator, and the numerator of each unknown."""
        self._feed()
        known, wanted = 0, 8
        while True:
            for _ in range(wanted - known):
                self._step(None)
            known = wanted
            found = self._reconstructed(known * self._bits)
            if found is not None and self._holds(*found):
                return found
            wanted = max(wanted + 8, wanted * 3 // 2)
            if len(self._left) * wanted * self._bits > MOST_BITS:
                raise LimitError(
                    f"the exact values of {len(self._left):,} states that lead to each other are longer than "
                    f"{MOST_BITS // len(self._left):,} bits each, which is the limit; choose smaller constants, or ask "
                    "without --exact for an answer with bounds"
                )

    def _feed(self) -> None:
        """Bring in the right side, its highest bits first; the last of them is that of whole numbers."""
        mask = (1 << self._bits) - 1
        nonzero = [(i, side) for i, side in enumerate(self._system.right) if side]
        for place in reversed(range(self._digits)):
            digit = np.zeros(len(self._left), dtype=object)
            for i, side in nonzero:
                part = side >> (place * self._bits)
                digit[i] = part if place == self._digits - 1 else part & mask
            self._step(digit)
        self._fed = True

    def _step(self, digit: Integers | None) -> None:
        self._watchman.look()
        left = self._left * (1 << self._bits)
        if digit is not None:
            left = left.astype(object) + digit
        guess = np.rint(self._solve(left.astype(float)))
        top = float(np.abs(guess).max(initial=0.0))
        if not np.isfinite(top):
            raise _Diverging
        if self._matrix is not None and top < 2.0 ** (_WORD - 1) / max(float(self._limit.max()), 1.0):
            chunk: Integers = guess.astype(np.int64)
            product = self._matrix @ chunk
            left = left - (product if left.dtype == np.int64 else product.astype(object))
        else:
            chunk = np.array([int(x) for x in guess], dtype=object)
            left = left.astype(object) - self._product(chunk)
        # A double is right if what it leaves is what rounding to integers leaves; the first ones may be off by more.
        room = 1.0 if self._fed and len(self._chunks) > self._digits + 4 else 2.0**self._bits
        if (np.abs(left.astype(float)) > self._limit * room).any():
            raise _Diverging
        small = self._narrow and float(np.abs(left.astype(float)).max(initial=0.0)) < 2.0 ** (_WORD - self._bits)
        self._left = left.astype(np.int64) if small else left.astype(object)
        self._chunks.append(chunk)

    def _product(self, values: Sequence[int] | Integers) -> Integers:
        """The matrix times some integers, exactly."""
        entries = np.array(self._system.entries, dtype=object)
        terms = entries * np.asarray(values, dtype=object)[self._system.columns]
        return np.add.reduceat(terms, self._system.starts[:-1])

    def _joined(self, some: slice) -> list[int]:
        """All bits of some unknowns together, pairs of chunks at a time, so that long numbers are added few times."""
        parts = [(chunk[some].astype(object), self._bits) for chunk in self._chunks]
        while len(parts) > 1:
            if len(parts) % 2:
                parts = [(np.zeros_like(parts[0][0]), self._bits), *parts]
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [(high * (1 << width) + low, wide + width) for (high, wide), (low, width) in pairs]
            if parts[-1][1] > _LONG and type(parts[-1][0][0]) is int:
                parts = [(np.array(list(map(self._integer, part)), dtype=object), width) for part, width in parts]
        return parts[0][0].tolist()  # type: ignore[no-any-return]

    def _reconstructed(self, known: int) -> tuple[int, list[int]] | None:
        """The common denominator of fractions that have these bits, and their numerators; None if bits are too few."""
        (first,) = self._joined(slice(1))  # most often all of them have the same denominator, and bits are too few
        below = _denominator(first % (1 << known), known, 1)
        if below is None:
            return None
        values, half = self._joined(slice(None)), 1 << (known - 1)
        whole, below = self._integer(1 << known), self._integer(below)
        above: list[int] = []
        for value in values:
            product = value * below + half
            if abs(product % whole - half) > below << 2:  # the denominator so far is none of this number
                more = _denominator(int((product - half) % whole), known, int(below))
                if more is None:
                    return None
                below, above = below * more, [one * more for one in above]
                product = value * below + half
            above.append(product >> known)
        return int(below), above

    def _holds(self, below: int, above: Sequence[int]) -> bool:
        """Whether the equations are met, exactly."""
        found = self._product(np.array(above, dtype=object))
        return all(one == below * side for one, side in zip(found.tolist(), self._system.right, strict=True))


def _denominator(value: int, known: int, unsure: int) -> int | None:
    """The denominator of the first fraction that agrees with ``value / 2^known``; None if that is no shorter.

    The value may be off by a few times ``unsure``.
    """
    whole, rest = 1 << known, value
    before, now, unsure = 0, 1, unsure << 2
    while rest > now * unsure:
        factor, remainder = divmod(whole, rest)
        whole, rest = rest, remainder
        before, now = now, factor * now + before
        if 2 * now.bit_length() + unsure.bit_length() + _SPARE > known:
            return None
    return now
