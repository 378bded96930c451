"""How many molecules of a species there can be.

Whatever fires, the amounts are x + N r, where N is what each channel changes and r >= 0 says how often each has fired;
and they are never negative. The greatest amount of a species over all such r, fractions included, is a linear program,
solved here in fractions: its value, rounded down, is a bound. By duality it is the best that conservation laws such as
"enzyme and complex together are 10" and "nothing makes more of it" can prove.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

__all__ = ["MOST_PIVOTS", "greatest"]

MOST_PIVOTS = 10_000  # of one program; beyond that the species counts as not bounded


def greatest(species: str, initial: Mapping[str, int], changes: Sequence[Mapping[str, int]]) -> int | None:
    """The most molecules of a species that laws of conservation allow, or None where they allow any number.

    >>> greatest("ES", {"E": 2, "S": 5, "ES": 0}, [{"E": -1, "S": -1, "ES": 1}, {"E": 1, "S": 1, "ES": -1}])
    2
    >>> greatest("A", {"A": 0}, [{"A": 1}]) is None
    True
    """
    # Maximise sum of changes of the species, r >= 0, subject to - N r <= x; r = 0 is a corner to begin with.
    names = list(initial)
    rows = [[Fraction(-change.get(name, 0)) for change in changes] for name in names]
    limits = [Fraction(initial[name]) for name in names]
    gain = _simplex(rows, limits, [Fraction(change.get(species, 0)) for change in changes])
    return None if gain is None else int(initial[species] + gain)  # not negative: rounded down


def _simplex(rows: list[list[Fraction]], limits: list[Fraction], goal: list[Fraction]) -> Fraction | None:
    """The greatest value of ``goal`` times r, for r >= 0 with ``rows`` times r <= ``limits``, which are not negative.

    The simplex method on a dictionary, by Bland's rule, which never cycles (R. G. Bland, Mathematics of Operations
    Research 2, 1977). None if there is no greatest value, or if it takes too long.
    """
    count = len(goal)
    outside, inside = list(range(count)), list(range(count, count + len(rows)))
    value = Fraction(0)
    for _ in range(MOST_PIVOTS):
        candidates = [(variable, column) for column, variable in enumerate(outside) if goal[column] > 0]
        if not candidates:
            return value
        _, column = min(candidates)
        ratios = [(limits[i] / row[column], inside[i], i) for i, row in enumerate(rows) if row[column] > 0]
        if not ratios:
            return None
        _, _, place = min(ratios)
        outside[column], inside[place] = inside[place], outside[column]
        value += _pivot(rows, limits, goal, place, column)
    return None


def _pivot(
    rows: list[list[Fraction]], limits: list[Fraction], goal: list[Fraction], place: int, column: int
) -> Fraction:
    """Exchange two variables; returns by how much the goal has grown."""
    pivot = rows[place][column]
    rows[place] = [entry / pivot for entry in rows[place]]
    rows[place][column] = 1 / pivot
    limits[place] /= pivot
    new = rows[place]
    for i, row in enumerate(rows):
        if i != place and row[column]:
            factor = row[column]
            row[column] = Fraction(0)
            rows[i] = [entry - factor * other for entry, other in zip(row, new, strict=True)]
            limits[i] -= factor * limits[place]
    factor = goal[column]
    goal[column] = Fraction(0)
    goal[:] = [entry - factor * other for entry, other in zip(goal, new, strict=True)]
    return factor * limits[place]
