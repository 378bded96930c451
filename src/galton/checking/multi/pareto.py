"""The Pareto set of two or more objectives, between points that are attained and half spaces that nobody leaves.

Points can be mixed, so all below their convex hull is attained too. A facet of that hull is where something may be
missing: the next direction is the normal of the facet that the half spaces found so far leave most room above (Benson
1998, and many others; in probabilistic model checking Forejt, Kwiatkowska and Parker 2012). It ends when there is no
room left above any facet.

Facets are found in doubles, by Qhull: they only say where to look. What is said of a direction is proved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ...model.errors import NumericError
from ...solve.tolerance import Tolerance
from .directions import Directions, Point, Weights, dot, rounded_weights

__all__ = ["Front", "pareto_front"]

MOST_DIRECTIONS = 1000
_NEAR = 1e-9  # relative, what doubles may be off by in a hull
Floats = npt.NDArray[np.float64]
_ZERO, _LITTLE, _ONE = Fraction(0), Fraction(1, 2**10), Fraction(1)


@dataclass(frozen=True)
class Front:
    """The corners of a Pareto set, ascending in the first number, and how far others may be above.

    The distance is in the direction across a facet, relative to the size of its corners, or absolute.
    """

    points: tuple[Point, ...]
    gap: float


def pareto_front(directions: Directions, tolerance: Tolerance) -> Front:
    """Look in one direction after the other until no strategy can be further above the points than is tolerated."""
    if not directions.is_possible:
        return Front((), 0.0)
    return _Search(directions, tolerance.eps, tolerance.relative).run()


@dataclass(eq=False)
class _Search:
    directions: Directions
    eps: float
    relative: bool
    corners: list[Point] = field(default_factory=list)
    # How far others may be above each facet, by its direction, relatively. It never grows.
    room: dict[Weights, float] = field(default_factory=dict)
    closed: dict[Weights, float] = field(default_factory=dict)  # where looking came no closer

    def run(self) -> Front:
        count = len(self.directions.objectives)
        for i in range(count):
            point = self._best_of(i)
            if point is None:
                return Front((), math.inf)
            if point not in self.corners:
                self.corners.append(point)
        if not self.relative:  # which directions are solved by
            size = max(float(abs(number)) for point in self.corners for number in point.least)
            self.directions.narrow(max(size, 1.0))
        for _ in range(MOST_DIRECTIONS):
            facets = self._facets()
            worst = max(facets, key=facets.__getitem__, default=None)
            if worst is None or facets[worst] <= self.eps:
                break
            before, self.room[worst] = facets[worst], self._room(worst)  # half spaces found since may leave less
            if self.room[worst] > before / 2:
                self._look(worst)
        else:
            facets = self._facets()
        missing = max([*facets.values(), *(self.closed[w] for w in self._normals() if w in self.closed)], default=0.0)
        return Front(tuple(self._outermost()), missing)

    def _best_of(self, objective: int) -> Point | None:
        """The point that is best for one objective.

        A strategy to which nothing else counts may take so long that no bounds can be proved: then the others count a
        little, and nobody knows how much more of the objective there may be for very little of these.
        """
        count = len(self.directions.objectives)
        alone = tuple(_ONE if k == objective else _ZERO for k in range(count))
        try:
            return self.directions.look(alone)[1]
        except NumericError:
            self.closed[alone] = math.inf
            return self.directions.look(tuple(_ONE if k == objective else _LITTLE for k in range(count)))[1]

    def _look(self, weights: Weights) -> None:
        try:
            half_space, point = self.directions.look(weights)
        except NumericError:
            self.closed[weights] = self.room[weights]
            return
        reached, size = self._reached(weights)
        gap = _relative(half_space.most - reached, size)
        if gap <= self.eps or point is None or dot(weights, point.least) <= reached + size * Fraction(self.eps) / 16:
            self.closed[weights] = gap  # close enough, or the solver comes no closer
        else:
            self.corners.append(point)

    def _reached(self, weights: Weights) -> tuple[Fraction, Fraction]:
        """How far mixtures get in a direction, and what distances are measured by: the size of the corners, or 1."""
        values = [dot(weights, point.least) for point in self.corners]
        reached = max(values)
        if not self.relative:
            return reached, Fraction(math.hypot(*(float(weight) for weight in weights)))
        sizes = [dot(weights, [abs(number) for number in point.least]) for point in self.corners]
        near = Fraction(_NEAR) * max(sizes)
        return reached, max(size for value, size in zip(values, sizes, strict=True) if value >= reached - near)

    def _facets(self) -> dict[Weights, float]:
        """How much room there may be above each facet that can still be looked at."""
        found = {}
        for weights in self._normals():
            if weights in self.closed:
                continue
            if weights not in self.room:
                self.room[weights] = self._room(weights)
            found[weights] = self.room[weights]
        return found

    def _room(self, weights: Weights) -> float:
        """How far the half spaces let anybody get above a facet, relatively: a small linear program."""
        from scipy.optimize import linprog

        if self.directions.knows(weights):
            most = min(space.most for space in self.directions.half_spaces if space.weights == weights)
            reached, size = self._reached(weights)
            self.closed[weights] = gap = _relative(most - reached, size)
            return gap
        low, scale = self._scales()
        spaces = self.directions.half_spaces
        matrix = np.array([[float(weight) for weight in space.weights] for space in spaces]) * scale
        limits = np.array([float(space.most) for space in spaces]) - (matrix / scale) @ low
        sizes = matrix.max(axis=1)
        wanted = np.array([float(weight) for weight in weights]) * scale
        found = linprog(-wanted / wanted.max(), A_ub=matrix / sizes[:, None], b_ub=limits / sizes, bounds=(None, None))
        if found.fun is None or found.status != 0:
            return math.inf  # which is worth a look
        reached, size = self._reached(weights)
        most = Fraction(-float(found.fun)) * Fraction(float(wanted.max())) + dot(weights, [Fraction(x) for x in low])
        return _relative(most - reached, size) + _NEAR

    def _scales(self) -> tuple[Floats, Floats]:
        """A corner below all points, and the size of the box above it that they lie in."""
        points = np.array([[float(number) for number in point.least] for point in self.corners])
        low, high = points.min(axis=0), points.max(axis=0)
        size = np.maximum(np.abs(high), np.abs(low))
        spread = np.where(high - low > _NEAR * size, high - low, np.where(size > 0, size, 1.0))
        return low - spread, spread

    def _normals(self) -> list[Weights]:
        """The directions of the facets of all that mixtures of the points reach, or less.

        Seen from a corner c below all points, they are the vertices u of ``u >= 0, u·(p - c) <= 1`` for all points p,
        but those on which no point lies (polarity).
        """
        from scipy.spatial import HalfspaceIntersection, QhullError

        low, scale = self._scales()
        points = (np.array([[float(number) for number in point.least] for point in self.corners]) - low) / scale
        count = points.shape[1]
        above = np.hstack([points, -np.ones((len(points), 1))])
        positive = np.hstack([-np.eye(count), np.zeros((count, 1))])
        middle = np.full(count, 1 / (4 * count))
        try:
            vertices = HalfspaceIntersection(np.vstack([above, positive]), middle).intersections
        except QhullError:  # so close to each other that doubles do not tell; moved a little, they do
            vertices = HalfspaceIntersection(np.vstack([above, positive]), middle, qhull_options="QJ").intersections
        found: dict[Weights, None] = {}
        for vertex in vertices:
            if not np.isfinite(vertex).all() or (points @ vertex).max() < 1 - 1e-6:
                continue
            normal = np.where(vertex > _NEAR, vertex, 0.0) / scale
            if normal.any():
                found[rounded_weights([Fraction(float(part)) for part in normal])] = None
        return list(found)

    def _outermost(self) -> list[Point]:
        """The corners without those that others reach, up to rounding, alone or mixed; ascending in the first number.

        Rounding is what they may be off by, a small part of eps.
        """
        count, part = len(self.directions.objectives), Fraction(self.eps) / 16
        sizes = [max(abs(point.least[i]) for point in self.corners) for i in range(count)]
        room = [size * part if self.relative else part for size in sizes]
        kept: list[Point] = []
        for point in sorted(self.corners, key=lambda point: point.least, reverse=True):
            if not any(_reaches(other, point, room) for other in kept):
                kept = [other for other in kept if not _reaches(point, other, room)]
                kept.append(point)
        kept.sort(key=lambda point: point.least)
        for point in list(kept):
            others = [other for other in kept if other is not point]
            if len(others) > 1 and _mixture_reaches(others, point, [float(each) for each in room]):
                kept = others
        return kept


def _relative(distance: Fraction, size: Fraction) -> float:
    return float(max(distance, _ZERO) / size) if size else float(max(distance, _ZERO))


def _reaches(one: Point, other: Point, room: Sequence[Fraction]) -> bool:
    return all(a + more >= b for a, b, more in zip(one.least, other.least, room, strict=True))


def _mixture_reaches(points: Sequence[Point], wanted: Point, room: Sequence[float]) -> bool:
    """Whether some mixture of points has at least the numbers of another one, but for some room."""
    from scipy.optimize import linprog

    matrix = np.array([[float(number) for number in point.least] for point in points]).T
    largest = np.maximum(np.abs(matrix).max(axis=1), room)
    scale = np.where(largest > 0, largest, 1.0)
    least = (np.array([float(number) for number in wanted.least]) - room) / scale
    found = linprog(
        np.zeros(len(points)),
        A_ub=-matrix / scale[:, None],
        b_ub=-least,
        A_eq=np.ones((1, len(points))),
        b_eq=[1.0],
        bounds=(0, None),
    )
    return bool(found.status == 0)
