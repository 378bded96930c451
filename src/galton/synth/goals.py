"""What a synthesis may look for: where a threshold is met, an optimum, or the values everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import fsum

from ..lang.properties import Comparison
from .refinement import Partition
from .regions import Box, Sample, Verdict

FINEST_STEP = 2.0**-12  # of the ranges, for points around the best one
EDGES = 2  # splits without progress after which the corners of a box are tried
MIDDLES = 4  # boxes whose middles are tried in a round

__all__ = ["Optimum", "Threshold", "Values"]


@dataclass(frozen=True)
class Threshold:
    """Where does the property hold? Answered when what is undecided is at most ``volume`` of the space."""

    operator: str
    bound: float
    volume: float

    @classmethod
    def of(cls, comparison: Comparison, bound: float, volume: float) -> Threshold:
        """The question of ``P>=0.5 [ … ]``."""
        return cls(comparison.operator, bound, volume)

    def verdict(self, box: Box) -> Verdict:
        """Whether the bounds of a box are on one side of the threshold, which counts as the property says."""
        lower, upper, bound = box.lower, box.upper, self.bound
        match self.operator:
            case ">=":
                holds, fails = lower >= bound, upper < bound
            case ">":
                holds, fails = lower > bound, upper <= bound
            case "<=":
                holds, fails = upper <= bound, lower > bound
            case _:
                holds, fails = upper < bound, lower >= bound
        return "true" if holds else "false" if fails else "undecided"

    def wanting(self, partition: Partition) -> list[Box]:
        """The largest undecided boxes that can be split, as many as would do if all of them were decided."""
        volumes = [(partition.volume(box), box) for box in partition.of("undecided")]
        volumes.sort(key=lambda pair: (not partition.splittable(pair[1]), -pair[0]))
        excess = fsum(volume for volume, _ in volumes) - self.volume
        wanted = []
        for volume, box in volumes:
            if excess <= 0:
                break
            wanted.append(box)
            excess -= volume
        return wanted

    def samples(self, partition: Partition, pieces: Sequence[Box]) -> list[tuple[float, ...]]:
        """No points: boxes alone answer the question."""
        return []

    def tried(self, partition: Partition, samples: Sequence[Sample]) -> None:
        """Nothing to note, as no points are tried."""


@dataclass(frozen=True)
class Values:
    """What is the number at each point? Answered when no box has bounds further apart than ``accuracy``."""

    accuracy: float

    def verdict(self, box: Box) -> Verdict:
        """Always the same: there is nothing to decide."""
        return "values"

    def wanting(self, partition: Partition) -> list[Box]:
        """The boxes whose bounds are too far apart, the worst first."""
        boxes = [box for box in partition.of("values") if box.upper - box.lower > self.accuracy]
        return sorted(boxes, key=lambda box: box.lower - box.upper)

    def samples(self, partition: Partition, pieces: Sequence[Box]) -> list[tuple[float, ...]]:
        """No points: boxes alone answer the question."""
        return []

    def tried(self, partition: Partition, samples: Sequence[Sample]) -> None:
        """Nothing to note, as no points are tried."""


class Optimum:
    """Where is the number greatest, or least?

    Answered when all values in boxes that may hold an optimum are within ``tolerance`` of each other, so that every
    point of them is as good as that. Boxes are excluded by the best point that was tried, and that is looked for along
    with the boxes: the middles of the most promising ones, and steps along the parameters from the best point so far.
    """

    def __init__(self, *, maximise: bool, tolerance: float):
        self.maximise, self.tolerance = maximise, tolerance
        self._known: float | None = None  # the optimum is at least that good

    def _good(self, found: Box | Sample) -> tuple[float, float]:
        """Bounds with the sign such that more is better."""
        return (found.lower, found.upper) if self.maximise else (-found.upper, -found.lower)

    def verdict(self, box: Box) -> Verdict:
        """Whether there may be an optimum in a box."""
        return "optimal" if self._known is None or self._good(box)[1] >= self._known else "excluded"

    def wanting(self, partition: Partition) -> list[Box]:
        """In turn the boxes that promise most and those that are surest to be bad."""
        boxes = partition.of("optimal")
        least, most = min(self._good(b)[0] for b in boxes), max(self._good(b)[1] for b in boxes)
        if most - least <= self.tolerance:
            return []
        left = [box for box in boxes if partition.splittable(box)]
        if not left:
            return boxes
        # What cannot be split any more does not make others worth splitting.
        least, most = min(self._good(b)[0] for b in left), max(self._good(b)[1] for b in left)
        if most - least <= self.tolerance:
            return [box for box in boxes if not partition.splittable(box)]
        promising = sorted(left, key=lambda box: -self._good(box)[1])
        poor = sorted(left, key=lambda box: self._good(box)[0])
        promising = [box for box in promising if self._good(box)[1] > least + self.tolerance]
        poor = [box for box in poor if self._good(box)[0] < most - self.tolerance]
        both = [box for pair in zip_longest(promising, poor) for box in pair if box is not None]
        return list({box.low: box for box in both}.values())

    def samples(self, partition: Partition, pieces: Sequence[Box]) -> list[tuple[float, ...]]:
        """Middles of the most promising boxes, and steps around the best point."""
        promising = sorted(partition.of("optimal"), key=lambda box: -self._good(box)[1])
        points = [box.center for box in promising[:MIDDLES]]
        # Where splitting does not help, the number may jump at the edge of a box.
        jumps = [box for box in pieces if box.stuck >= EDGES and box.upper - box.lower > self.tolerance]
        points += [corner for box in jumps[:MIDDLES] for corner in (box.low, box.high)]
        if partition.best is None:
            return [tuple(a + (b - a) / 2 for a, b in zip(partition.low, partition.high, strict=True))]
        if partition.step >= FINEST_STEP:
            for p, (low, high) in enumerate(zip(partition.low, partition.high, strict=True)):
                for sign in (-1, 1):
                    point = list(partition.best.point)
                    point[p] = min(max(point[p] + sign * partition.step * (high - low), low), high)
                    points.append(tuple(point))
        return points

    def tried(self, partition: Partition, samples: Sequence[Sample]) -> None:
        """Keep the best; make smaller steps when there was none better."""
        better = False
        for sample in samples:
            if partition.best is None or self._good(sample)[0] > self._good(partition.best)[0]:
                partition.best, better = sample, True
        if samples and not better:
            partition.step /= 2
        known = [self._good(box)[0] for box in partition.boxes.values()]
        if partition.best is not None:
            known.append(self._good(partition.best)[0])
        self._known = max(known)
