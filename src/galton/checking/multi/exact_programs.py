"""Small linear programs, solved exactly: the simplex method over fractions.

What several objectives come to is decided by mixing a few points, one for each strategy found so far. These programs
have one row for each objective, and often meet their bounds with equality, where doubles cannot tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Optimal", "best_mixture", "maximise"]

Vector = Sequence[Fraction]
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Optimal:
    """The greatest value, where it is attained, and what one more unit of each bound would add (the dual)."""

    value: Fraction
    solution: tuple[Fraction, ...]
    prices: tuple[Fraction, ...]


def maximise(gains: Vector, rows: Sequence[Vector], bounds: Vector) -> Optimal | None:
    """Return the greatest ``gains · x`` over ``x >= 0`` with ``rows · x <= bounds``; None where there is no such x.

    Two phases with Bland's rule, which does not cycle (New finite pivoting rules for the simplex method, 1977). The
    greatest value must be finite.

    >>> found = maximise([Fraction(1), Fraction(1)], [[Fraction(1), Fraction(2)], [Fraction(1), Fraction(0)]], [4, 2])
    >>> found.value, found.solution
    (Fraction(3, 1), (Fraction(2, 1), Fraction(1, 1)))
    """
    n, m = len(gains), len(rows)
    # Columns: x, a slack for each row, and one number that is taken off everywhere until all bounds are met.
    table = [
        [*map(Fraction, row), *(_ONE if i == k else _ZERO for k in range(m)), -_ONE, Fraction(bound)]
        for i, (row, bound) in enumerate(zip(rows, bounds, strict=True))
    ]
    basis = list(range(n, n + m))
    excess = n + m
    worst = min(range(m), key=lambda i: table[i][-1], default=None)
    if worst is not None and table[worst][-1] < 0:
        _pivot(table, basis, worst, excess)
        costs = _reduced([*[_ZERO] * excess, -_ONE], table, basis)
        _climb(table, basis, costs, range(excess + 1))
        if excess in basis:
            last = basis.index(excess)
            if table[last][-1] != 0:
                return None
            _pivot(table, basis, last, next(j for j in range(excess) if table[last][j] != 0))
    costs = _reduced([*map(Fraction, gains), *[_ZERO] * (m + 1)], table, basis)
    _climb(table, basis, costs, range(excess))
    solution = [_ZERO] * (excess + 1)
    for row, column in zip(table, basis, strict=True):
        solution[column] = row[-1]
    return Optimal(-costs[-1], tuple(solution[:n]), tuple(-costs[n + i] for i in range(m)))


def _reduced(gains: list[Fraction], table: list[list[Fraction]], basis: list[int]) -> list[Fraction]:
    """What each column adds to the objective while the basis gives way; last, minus the objective."""
    costs = [*gains, _ZERO]
    for row, column in zip(table, basis, strict=True):
        gain = gains[column]
        if gain:
            costs = [cost - gain * entry for cost, entry in zip(costs, row, strict=True)]
    return costs


def _climb(table: list[list[Fraction]], basis: list[int], costs: list[Fraction], columns: range) -> None:
    while True:
        entering = next((j for j in columns if costs[j] > 0), None)
        if entering is None:
            return
        ratios = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(table) if row[entering] > 0]
        if not ratios:
            raise ArithmeticError("a linear program without a greatest value")
        leaving = min(ratios)[2]
        _pivot(table, basis, leaving, entering)
        factor = costs[entering]
        costs[:] = [cost - factor * entry for cost, entry in zip(costs, table[leaving], strict=True)]


def _pivot(table: list[list[Fraction]], basis: list[int], row: int, column: int) -> None:
    pivot = table[row][column]
    table[row] = [entry / pivot for entry in table[row]]
    for i, other in enumerate(table):
        factor = other[column]
        if i != row and factor:
            table[i] = [entry - factor * own for entry, own in zip(other, table[row], strict=True)]
    basis[row] = column


def best_mixture(
    points: Sequence[Vector], least: Vector
) -> tuple[Fraction, tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return how far above ``least`` a mixture of points can be in all coordinates at once, a direction, the mixture.

    The distance is negative where each mixture is below in some coordinate. No mixture is further above in the
    direction, whose weights are not negative and sum to 1: it is where a better point has to be looked for. The shares
    of the points in the mixture sum to 1, too.
    """
    # The value of a game: one player mixes points, the other coordinates (von Neumann 1928). Made positive first.
    above = [[value - bound for value, bound in zip(point, least, strict=True)] for point in points]
    shift = 1 - min(min(row) for row in above)
    count = len(least)
    rows = [[row[i] + shift for i in range(count)] for row in above]
    found = maximise([_ONE] * count, rows, [_ONE] * len(rows))
    assert found is not None
    value = 1 / found.value
    shares = tuple(price * value for price in found.prices)
    return value - shift, tuple(weight * value for weight in found.solution), shares
