"""Exact numbers: m·2^e with integers of any length, or infinity; and the sign of a row's drift.

Everything the verifier decides is decided exactly. Doubles are dyadic numbers, the numbers of a certificate are dyadic
numbers, and no condition has a division, so integers and shifts are all that is needed. Rows are first looked at in
doubles; the error bound below tells which signs that settles, and the others are computed with integers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Dyadic = tuple[int, int]  # (m, e) for m·2^e
Exact = Dyadic | None  # None for infinity

LARGEST_EXPONENT = 1 << 20  # a file could ask for all memory with a single 0x1p-99999999999
_NUMBER = re.compile(r"(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?[0-9]{1,8})")
_UNIT = 2.0**-52
_TINY = 2.0**-1074


def dyadic(value: float) -> Dyadic:
    """A finite double as an exact number."""
    numerator, denominator = value.as_integer_ratio()
    return numerator, 1 - denominator.bit_length()


def parsed(text: object) -> Exact:
    """An exact number from its text, C's notation for hexadecimal floating point: ``0x1.8p-3`` is 1.5/8.

    >>> parsed("0x1.8p-3"), parsed("inf")
    ((24, -7), None)
    """
    if text == "inf":
        return None
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{str(text)[:40]!r} is no exact number, such as 0x1.8p-3 or inf")
    sign, whole, fraction, exponent = match.groups(default="")
    mantissa, power = int(whole + fraction, 16), int(exponent) - 4 * len(fraction)
    if abs(power) > LARGEST_EXPONENT or mantissa.bit_length() > 2 * LARGEST_EXPONENT:
        raise ValueError("a number whose exponent or length leaves what is allowed, 2^20")
    return (-mantissa if sign else mantissa), power


def printed(number: Exact) -> str:
    """The text that :func:`parsed` reads."""
    if number is None:
        return "inf"
    mantissa, exponent = number
    return f"{'-' if mantissa < 0 else ''}0x{abs(mantissa):x}p{exponent:+d}"


def compare(a: Exact, b: Exact) -> int:
    """-1, 0 or 1 as a < b, a = b or a > b."""
    if a is None or b is None:
        return (a is None) - (b is None)
    (m, e), (n, f) = a, b
    low = min(e, f)
    difference = (m << (e - low)) - (n << (f - low))
    return (difference > 0) - (difference < 0)


def outward(number: Exact, up: bool) -> float:
    """The nearest double that is not below (``up``) or not above the number."""
    if number is None:
        return math.inf
    mantissa, exponent = number
    try:
        near = mantissa * 2.0**exponent if exponent >= 0 else mantissa / (1 << -exponent)  # rounded correctly
    except OverflowError:
        near = math.copysign(math.inf, mantissa)
    if math.isinf(near):
        return near if (near > 0) == up else math.copysign(float(np.finfo(np.float64).max), near)
    side = compare(dyadic(near), number)
    return near if side == 0 or (side > 0) == up else math.nextafter(near, math.inf if up else -math.inf)


def total(terms: Iterable[Dyadic]) -> int:
    """A number with the sign of the sum of the terms."""
    mantissa, exponent = 0, 0
    for m, e in terms:
        if not m:
            continue
        if e < exponent:
            mantissa, exponent = mantissa << (exponent - e), e
        mantissa += m << (e - exponent)
    return mantissa


class Vector:
    """An exact number for each state; ``near`` are doubles, the same numbers where ``is_double``."""

    def __init__(self, numbers: Sequence[Exact]) -> None:
        self._numbers: Sequence[Exact] | None = numbers
        # Where these are not the number itself they are not used for anything.
        self.near: Floats = np.array([outward(number, up=True) for number in numbers], dtype=np.float64)
        pairs = zip(self.near.tolist(), numbers, strict=True)
        same = [compare(None if math.isinf(near) else dyadic(near), number) == 0 for near, number in pairs]
        self.is_double: Mask = np.array(same, dtype=np.bool_)
        self.finite: Mask = np.array([number is not None for number in numbers], dtype=np.bool_)

    @classmethod
    def of_doubles(cls, values: Floats) -> Vector:
        """A vector of doubles, none of them NaN or -infinity."""
        found = cls.__new__(cls)
        found._numbers, found.near = None, values
        found.is_double = np.ones(len(values), dtype=np.bool_)
        found.finite = np.isfinite(values)
        return found

    def __len__(self) -> int:
        return len(self.near)

    def __getitem__(self, state: int) -> Exact:
        if self._numbers is not None:
            return self._numbers[state]
        value = float(self.near[state])
        return dyadic(value) if math.isfinite(value) else None

    def __iter__(self) -> Iterator[Exact]:
        return (self[state] for state in range(len(self)))

    def sign_from(self, bound: int) -> Ints:
        """For each state -1, 0 or 1 as its number is below, equal to or above the integer ``bound``."""
        signs = np.where(self.near > bound, 1, np.where(self.near < bound, -1, 0)).astype(np.int64)
        for i in np.flatnonzero(~self.is_double).tolist():
            signs[i] = compare(self[i], (bound, 0))
        return signs


class Rows:
    """The rows of a model: positive doubles p_j towards states j, and the state that each row belongs to.

    What a row means is p_j divided by the exact sum S of the row (a DTMC or an MDP), or rates p_j (a CTMC).
    """

    def __init__(self, starts: Ints, columns: Ints, values: Floats, owner: Ints, rates: bool) -> None:
        self.starts, self.columns, self.values, self.owner, self.rates = starts, columns, values, owner, rates
        self.count = len(starts) - 1

    def entries(self, row: int) -> tuple[list[int], list[float]]:
        """The successors of a row, and the numbers on the way to them."""
        part = slice(int(self.starts[row]), int(self.starts[row + 1]))
        return self.columns[part].tolist(), self.values[part].tolist()

    def least(self, of_states: Ints) -> Ints:
        """The least number among the successors of each row."""
        return np.minimum.reduceat(of_states[self.columns], self.starts[:-1])

    def greatest(self, of_states: Ints) -> Ints:
        """The greatest."""
        return np.maximum.reduceat(of_states[self.columns], self.starts[:-1])

    def wrong(self, rows: Ints, x: Vector, gains: Sequence[Floats], sign: int, less: Vector | None = None) -> list[int]:
        """Those of the rows whose drift has the sign opposite to ``sign``, 1 or -1.

        The drift of a row of state i is  Σ p_j·(x_j - x_i) + W·(Σ gains - less_i),  where W is S, or 1 for rates;
        each of the ``gains`` is a number per row. It is +infinity where x_j is, and x_i must be finite.
        """
        if not len(rows):
            return []
        drift, error, certain = self._nearly(x, gains, less)
        with np.errstate(invalid="ignore"):
            fine = certain & ((drift - error >= 0) if sign > 0 else (drift + error <= 0))
        return [row for row in rows[~fine[rows]].tolist() if sign * self._exactly(row, x, gains, less) < 0]

    def _nearly(self, x: Vector, gains: Sequence[Floats], less: Vector | None) -> tuple[Floats, Floats, Mask]:
        """All drifts in doubles, how far they may be from the truth, and where that is so.

        A difference and a product of doubles have relative errors of at most u = 2^-53, a product that underflows an
        absolute one of 2^-1075; a sum of k terms, in any order, has at most (k-1)u/(1-(k-1)u) of the sum of their
        absolute values (Higham 2002, section 4.2). With n entries, three more terms and the products with W, whose own
        error is n·u, (3n + 12)·u of the absolute values covers all, and 2^-52 in place of u its own rounding.
        """
        starts, owner = self.starts[:-1], self.owner
        sizes = np.diff(self.starts)
        with np.errstate(all="ignore"):
            apart = x.near[self.columns] - np.repeat(x.near[owner], sizes)
            moves = self.values * apart
            drift = np.add.reduceat(moves, starts)
            size = np.add.reduceat(np.abs(moves), starts)
            weight = 1.0 if self.rates else np.add.reduceat(self.values, starts)
            for gain in (*gains, *(() if less is None else (-less.near[owner],))):
                term = weight * gain
                drift, size = drift + term, size + np.abs(term)
            error = (3 * sizes + 12) * (_UNIT * size + np.where(size > 0, 4 * _TINY, 0.0))
        # Products that underflow to nothing must not look like nothing.
        vanished = (size == 0) & np.logical_or.reduceat(apart != 0, starts)
        plain = np.logical_and.reduceat(x.is_double[self.columns], starts) & x.is_double[owner] & ~vanished
        for gain in gains:
            plain &= (gain == 0) | (size > 0)
        if less is not None:
            plain &= less.is_double[owner] & ((less.near[owner] == 0) | (size > 0))
        return drift, error, plain & np.isfinite(size)

    def _exactly(self, row: int, x: Vector, gains: Sequence[Floats], less: Vector | None) -> int:
        """A number with the sign of the drift."""
        state = int(self.owner[row])
        own = x[state]
        assert own is not None
        columns, values = self.entries(row)
        terms: list[Dyadic] = []
        add: list[Dyadic] = [dyadic(float(gain[row])) for gain in gains]
        if less is not None:
            m, e = less[state] or (0, 0)
            add.append((-m, e))
        for column, value in zip(columns, values, strict=True):
            p, f = dyadic(value)
            there = x[column]
            if there is None:
                return 1
            if column != state:
                terms += ((p * there[0], f + there[1]), (-p * own[0], f + own[1]))
            if not self.rates:
                terms += ((p * m, f + e) for m, e in add)
        if self.rates:
            terms += add
        return total(terms)
