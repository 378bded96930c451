"""Two questions about several objectives: can bounds be met together, and what is the best under bounds.

Both ask one direction after the other. Points found so far can be mixed, by choosing a strategy at random before
the first step, so that all between them can be attained; what lies outside a half space cannot. The next direction is
the one in which the mixtures found so far are worst, as the dual of a small linear program tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...solve.tolerance import Tolerance
from .directions import Directions, Point, rounded_weights
from .exact_programs import Optimal, best_mixture, maximise

__all__ = ["Best", "Met", "best_under_bounds", "can_be_met"]

MOST_DIRECTIONS = 1000  # each adds a point, or is the last
_ZERO, _ONE = Fraction(0), Fraction(1)


Mixture = tuple[tuple[Fraction, Point], ...]


@dataclass(frozen=True)
class Met:
    """Probabilities and points: a strategy that chooses one of them at random before the first step."""

    mixture: Mixture


def can_be_met(directions: Directions, least: Sequence[Fraction | None]) -> Met | bool | None:
    """Whether one strategy has at least the given numbers, where there are some; None where bounds do not tell."""
    bound = [i for i, number in enumerate(least) if number is not None]
    wanted = [number for number in least if number is not None]
    if not directions.is_possible:
        return False  # all strategies have an infinite cost somewhere
    mixed = tuple(_ONE if i in bound else _ZERO for i in range(len(least)))
    for _ in range(MOST_DIRECTIONS):
        half_space, _ = directions.look(rounded_weights(mixed))
        if half_space.excludes([_ZERO if number is None else number for number in least]):
            return False  # the weights of the others are 0
        points = [[point.least[i] for i in bound] for point in directions.points]
        if not points:
            return None
        above, weights, shares = best_mixture(points, wanted)
        if above >= 0:
            return Met(_mixture(shares, directions.points))
        mixed = tuple(weights[bound.index(i)] if i in bound else _ZERO for i in range(len(least)))
        if directions.knows(rounded_weights(mixed)):
            return None
    return None


def _mixture(shares: Sequence[Fraction], points: Sequence[Point]) -> Mixture:
    return tuple((share, point) for share, point in zip(shares, points, strict=True) if share)


@dataclass(frozen=True)
class Best:
    """Bounds on the greatest number of an objective under bounds on the others, and a mixture that has the lower."""

    lower: Fraction
    upper: Fraction
    mixture: Mixture


def best_under_bounds(
    directions: Directions, asked: int, least: Sequence[Fraction | None], tolerance: Tolerance
) -> Best | bool | None:
    """Return bounds on the greatest number of the objective ``asked``.

    False where the bounds on the others cannot be met, None where it is not known whether they can.
    """
    objective = directions.objectives[asked]
    if any(number is not None for number in least):
        met = can_be_met(directions, least)
        if not isinstance(met, Met):
            return met
    elif not directions.is_possible:
        return False
    upper: Fraction | None = None
    weights = tuple(_ONE if i == asked else _ZERO for i in range(len(least)))
    lower: Fraction | None = None
    mixture: Mixture = ()
    for _ in range(MOST_DIRECTIONS):
        directions.look(rounded_weights(weights))
        upper = _least_upper(directions, asked, least)
        found = _mixed(directions.points, asked, least)
        if found is None:
            return None
        lower, mixture = found.value, _mixture(found.solution, directions.points)
        if upper is not None:
            low, high = sorted(float(objective.turned(number)) for number in (lower, upper))
            if tolerance.accepts(low, high):
                break
        prices = iter(found.prices)
        weights = tuple(
            _ONE if i == asked else next(prices) if number is not None else _ZERO for i, number in enumerate(least)
        )
        if directions.knows(rounded_weights(weights)):
            break
    if lower is None or upper is None:
        return None
    return Best(lower, upper, mixture)


def _mixed(points: Sequence[Point], asked: int, least: Sequence[Fraction | None]) -> Optimal | None:
    """The best mixture of points for one objective under bounds on others; None where none meets these."""
    bound = [(i, number) for i, number in enumerate(least) if number is not None]
    if not points:
        return None
    # Numbers are moved so that all that a mixture may gain is positive; the weights sum to at most 1, then to 1.
    shift = 1 - min(point.least[asked] for point in points)
    gains = [point.least[asked] + shift for point in points]
    rows = [[-point.least[i] for point in points] for i, _ in bound]
    limits = [-number for _, number in bound]
    ones = [_ONE] * len(points)
    found = maximise(gains, [*rows, ones, [-_ONE] * len(points)], [*limits, _ONE, -_ONE])
    return found and Optimal(found.value - shift, found.solution, found.prices)


def _least_upper(directions: Directions, asked: int, least: Sequence[Fraction | None]) -> Fraction | None:
    """The least upper bound that a half space gives for an objective, where the others meet their bounds."""
    known = []
    for half_space in directions.half_spaces:
        weights = half_space.weights
        if weights[asked] > 0 and all(
            weight == 0 or number is not None or i == asked
            for i, (weight, number) in enumerate(zip(weights, least, strict=True))
        ):
            others = sum(
                (weight * number for weight, number in zip(weights, least, strict=True) if number is not None), _ZERO
            )
            known.append((half_space.most - others) / weights[asked])
    return min(known, default=None)
