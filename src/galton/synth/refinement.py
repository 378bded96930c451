"""Splitting boxes until the question is answered.

Every round splits some boxes, the same however many threads there are, and looks at the pieces together. A piece is
half of a box: cut along the parameter that contributes most to the width of its bounds, which is measured now and then
by giving all other parameters their middle values. PRISM-PSY cuts along all parameters at once (``split="all"``).

Splitting does not always help: where the number jumps, a box that holds the jump has wide bounds however small it is,
and where the bounds are as close as the solver makes them they stay so. Such boxes are left alone after a few splits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np

from .polynomials import Floats
from .regions import Box, Sample, Verdict

ROUND = 256  # boxes to look at in a round, at most
FIRST = 8  # boxes to begin with
LEAST_GAIN = 0.25  # of a parameter, beside the largest, for the space to be cut along it from the beginning
FILL = 16  # and at least: fewer would take as long, as boxes are looked at in bundles
SMALLEST = 2.0**-24  # of a range: narrower boxes are not split
PROGRESS = 0.99  # of the width of the bounds before a split: what is above that has not got closer
STUCK, STUCK_BY = 4, 6  # splits in a row without progress that are enough, and how many more for each parameter
CLOSE = 1e-5  # relative: bounds that close and without progress are as close as they get, after CLOSE_STUCK splits
CLOSE_STUCK = 2

Split = Literal["best", "all"]
Bounds = Callable[[Floats, Floats], tuple[Floats, Floats]]

__all__ = ["Bounds", "Goal", "Partition", "Split", "refine"]


class Goal(Protocol):
    """What is to be found out about the space, and what it still takes."""

    def verdict(self, box: Box) -> Verdict:
        """What the bounds of a box say."""

    def wanting(self, partition: Partition) -> list[Box]:
        """The boxes to split, most urgent first; none when the question is answered."""

    def samples(self, partition: Partition, pieces: Sequence[Box]) -> list[tuple[float, ...]]:
        """Points to try in this round, along with the pieces of boxes; perhaps none."""

    def tried(self, partition: Partition, samples: Sequence[Sample]) -> None:
        """Take note of what came out at these points."""


@dataclass(eq=False)
class Partition:
    """The boxes so far, by their lower corners; ``best`` and ``step`` belong to the search for an optimum."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    boxes: dict[tuple[float, ...], Box] = field(default_factory=dict)
    best: Sample | None = None
    step: float = 0.25
    points: int = 0
    interrupted: bool = False

    def of(self, *verdicts: Verdict) -> list[Box]:
        """The boxes with one of these verdicts, in lexicographic order."""
        return sorted((b for b in self.boxes.values() if b.verdict in verdicts), key=lambda box: box.low)

    def volume(self, box: Box) -> float:
        """The part of the space that a box is."""
        return float(np.prod(self.widths(box)))

    def widths(self, box: Box) -> Floats:
        """Its widths as parts of the ranges."""
        widths: Floats = np.subtract(box.high, box.low) / np.subtract(self.high, self.low)
        return widths

    def splittable(self, box: Box) -> bool:
        """Whether a box has a middle to be split at, and splitting seems to help."""
        close = box.upper - box.lower <= CLOSE * max(abs(box.lower), abs(box.upper))
        if box.stuck >= (CLOSE_STUCK if close else STUCK + STUCK_BY * len(box.low)):
            return False
        middles = zip(box.low, box.center, box.high, strict=True)
        has_a_middle = all(low == high or low < center < high for low, center, high in middles)
        return has_a_middle and bool(self.widths(box).max() > SMALLEST)


def refine(
    partition: Partition,
    goal: Goal,
    bounds: Bounds,
    split: Split,
    watch: Callable[[Partition], None] | None = None,
) -> bool:
    """Split until the question is answered. Returns whether it is; an interrupt leaves the partition as it was last."""
    try:
        if not partition.boxes:
            whole = Box(partition.low, partition.high, -math.inf, math.inf, "values")
            _put(partition, goal, _first(whole, bounds) if split == "best" else [whole], bounds)
        while chosen := [box for box in goal.wanting(partition) if partition.splittable(box)]:
            per_box = 2 if split == "best" else 2 ** len(partition.low)
            chosen = chosen[: max(1, ROUND // per_box)]
            if split == "best":
                chosen = _measured(chosen, bounds)
            cut = _halved if split == "best" else _cut
            pieces = [piece for box in chosen for piece in cut(box)]
            while split == "best" and len(pieces) < FILL:
                pieces = [piece for box in pieces for piece in cut(box)]
            for box in chosen:
                del partition.boxes[box.low]
            try:
                _put(partition, goal, pieces, bounds)
            except BaseException:
                for piece in pieces:
                    partition.boxes.pop(piece.low, None)
                partition.boxes.update((box.low, box) for box in chosen)
                raise
            if watch is not None:
                watch(partition)
        return not goal.wanting(partition)
    except KeyboardInterrupt:
        partition.interrupted = True
        return False


def _first(whole: Box, bounds: Bounds) -> list[Box]:
    """A few boxes to begin with, which take no longer than one.

    What a parameter contributes in the whole space says little about its parts, but one that contributes next to
    nothing is left alone; along the others the space is halved in turn.
    """
    (measured,) = _measured([whole], bounds)
    gains = measured.gains or (1.0,)
    matter = [p for p, gain in enumerate(gains) if gain >= LEAST_GAIN * max(gains)]
    pieces, turn = [whole], 0
    while len(pieces) < FIRST:
        pieces = [half for box in pieces for half in _halves(box, matter[turn % len(matter)])]
        turn += 1
    return pieces


def _put(partition: Partition, goal: Goal, pieces: Sequence[Box], bounds: Bounds) -> None:
    """Look at new boxes, and at points along with them."""
    points = goal.samples(partition, pieces)
    low = np.array([*(piece.low for piece in pieces), *points])
    high = np.array([*(piece.high for piece in pieces), *points])
    lower, upper = (found.tolist() for found in bounds(low, high))
    for place, piece in enumerate(pieces):
        # What holds in a box holds in its pieces, and may be closer by a little: they have other uniformisation rates.
        closer = replace(piece, lower=max(lower[place], piece.lower), upper=min(upper[place], piece.upper))
        progress = closer.upper - closer.lower < PROGRESS * (piece.upper - piece.lower)
        partition.boxes[piece.low] = replace(closer, stuck=0 if progress else piece.stuck + 1)
    first = len(pieces)
    found = [Sample(point, lower[first + i], upper[first + i]) for i, point in enumerate(points)]
    partition.points += len(points)
    goal.tried(partition, found)
    for corner, box in partition.boxes.items():
        verdict = goal.verdict(box)
        if verdict != box.verdict:
            partition.boxes[corner] = replace(box, verdict=verdict)


def _measured(boxes: Sequence[Box], bounds: Bounds) -> list[Box]:
    """Boxes that know what each parameter contributes to the width of their bounds."""
    count = len(boxes[0].low)
    stale = [box for box in boxes if box.gains is None or box.age >= 2 * count] if count > 1 else []
    if stale:
        middle = np.repeat(np.array([box.center for box in stale]), count, axis=0)
        low, high = middle.copy(), middle.copy()
        for place, box in enumerate(stale):
            for p in range(count):
                low[place * count + p, p], high[place * count + p, p] = box.low[p], box.high[p]
        lower, upper = bounds(low, high)
        with np.errstate(invalid="ignore"):  # where both are infinite, nothing is gained
            widths = np.nan_to_num(upper - lower, nan=0.0).reshape(len(stale), count).tolist()
        fresh = {box.low: replace(box, gains=tuple(own), age=0) for box, own in zip(stale, widths, strict=True)}
        boxes = [fresh.get(box.low, box) for box in boxes]
    return list(boxes)


def _halved(box: Box) -> list[Box]:
    """Both halves along the parameter that contributes most."""
    gains = box.gains or (1.0,)
    p = max(range(len(gains)), key=lambda i: gains[i] if box.low[i] < box.high[i] else -1.0)
    left = tuple(gain / 2 if i == p else gain for i, gain in enumerate(gains))
    return _halves(replace(box, gains=left, age=box.age + 1), p)


def _halves(box: Box, p: int) -> list[Box]:
    """Both halves along a parameter."""
    middle = box.center[p]
    below, above = (*box.high[:p], middle, *box.high[p + 1 :]), (*box.low[:p], middle, *box.low[p + 1 :])
    return [replace(box, high=below), replace(box, low=above)]


def _cut(box: Box) -> list[Box]:
    """The pieces when all parameters are halved, as in PRISM-PSY."""
    pieces = [box]
    for p in range(len(box.low)):
        pieces = [half for piece in pieces for half in _halves(piece, p)]
    return pieces
