"""What the kernel of ``src/core/regions/regions.cpp`` computes, in NumPy: the readable specification, and slow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.sparse import Int32s
from ...model.values import Floats
from ..protocol import BoxWeights
from ..regions import GroupedRows

__all__ = ["RegionRows", "RegionSteps", "bundles_at_once", "region_steps", "rows", "together"]


def region_steps(
    pattern: GroupedRows, rates: Floats, weights: Floats, x: Floats, watched: Int32s
) -> tuple[Floats, Floats, Floats]:
    """Steps from ``x``, ``(states, 2, boxes)``: below and above all that the values can be for rates within bounds.

    ``rates`` is ``(terms, 2, boxes)``, the least and greatest values of each term, already divided by the
    uniformisation rate; ``weights`` is ``(steps, boxes)``. Returns the last vector, the weighted sum of those before it
    in the watched states, and the largest changes of the last step, ``(2, boxes)``.
    """
    states, terms, columns = pattern.states, pattern.terms, pattern.columns
    row_of = np.repeat(np.arange(len(states)), np.diff(pattern.starts))
    group_of = np.repeat(np.arange(len(terms)), np.diff(pattern.group_starts))
    total = np.zeros((len(watched), *x.shape[1:]))
    change = np.zeros(x.shape[1:])
    for weight in weights:
        total += weight * x[watched]
        gain = np.zeros((len(terms), *x.shape[1:]))
        own = 0.0 if pattern.forward else x[states[row_of[group_of]]]
        np.add.at(gain, group_of, pattern.coefficients[:, None, None] * (x[columns] - own))
        least, most = rates[terms, 0], rates[terms, 1]
        chosen = np.empty_like(gain)
        chosen[:, 0] = np.where(gain[:, 0] > 0, least, most)
        chosen[:, 1] = np.where(gain[:, 1] > 0, most, least)
        moved = np.zeros((len(states), *x.shape[1:]))
        np.add.at(moved, row_of, chosen * gain)
        after = x.copy()
        after[states] += moved
        change = np.abs(after - x).max(axis=0, initial=0.0)
        x = after
    return x, total, change


class RegionRows:
    """Rows to make steps of; see :class:`galton.backend.protocol.RegionRows`."""

    work, first_steps, part = 1e6, 64, 8

    def __init__(self, pattern: GroupedRows) -> None:
        self.pattern = pattern

    def width(self, boxes: int) -> int:
        """No more than there are."""
        return boxes

    def place(self, values: Floats) -> Floats:
        """The array itself."""
        return values

    def view(self, flat: Floats, width: int) -> Floats:
        """``(places, 2, boxes)`` of a flat array."""
        return flat.reshape(-1, 2, width)

    def array(self, values: Floats) -> Floats:
        """A flat copy."""
        return values.flatten()

    def steps(self, rates: Floats, weights: BoxWeights) -> RegionSteps:
        """Steps of boxes with these rates and weights."""
        return RegionSteps(self, rates, weights)


@dataclass(frozen=True, eq=False)
class RegionSteps:
    """Steps of some boxes; see :class:`galton.backend.protocol.RegionSteps`."""

    of: RegionRows
    rates: Floats
    weights: BoxWeights

    def run(
        self,
        first: int,
        steps: int,
        x: Floats,
        other: Floats,
        watched: Int32s,
        sums: Floats,
        changes: Floats,
        threads: int,
    ) -> bool:
        """Make steps; the vectors end up in ``x``."""
        width = len(changes) // 2
        table = self.weights.between(first, first + steps)
        given = np.zeros((steps, width)) if table is None else table
        rates, before = self.of.view(self.rates, width), self.of.view(x, width)
        after, total, change = region_steps(self.of.pattern, rates, given, before, watched)
        x[:], changes[:] = after.reshape(-1), change.reshape(-1)
        sums += total.reshape(-1)
        return False


def rows(pattern: GroupedRows, *, format: str | None = None) -> RegionRows:
    """The rows as they are; there is one format."""
    return RegionRows(pattern)


def together(n_states: int, n_terms: int, wanted: int | None = None) -> int:
    """As many as are wanted make a bundle, or a few."""
    return wanted or 4


def bundles_at_once(n_states: int, threads: int) -> int:
    """One."""
    return 1
