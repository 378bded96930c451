"""Steps of a parametric chain by the C++ core, for a few boxes of parameters together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import _core
from ...model.sparse import Int32s
from ...model.values import Floats
from ..protocol import BoxWeights
from ..regions import GroupedRows

__all__ = ["LANES", "RegionRows", "RegionSteps", "bundles_at_once", "rows", "together"]

LANES: int = _core.LANES
MANY_STATES = 1 << 15  # the vectors of a bundle then take 8 MB
MANY_ENTRIES = 100_000  # from here on threads share one bundle


class RegionRows:
    """Rows to make steps of; see :class:`galton.backend.protocol.RegionRows`."""

    work = 2e7 * LANES  # about a tenth of a second
    first_steps, part = 64, 8

    def __init__(self, pattern: GroupedRows) -> None:
        self.rows = _core.ParametricRows(
            states=pattern.states,
            starts=pattern.starts,
            terms=pattern.terms,
            group_starts=pattern.group_starts,
            columns=pattern.columns,
            coefficients=pattern.coefficients,
            n_states=pattern.n_states,
            n_terms=pattern.n_terms,
            forward=pattern.forward,
        )
        self.large = len(pattern.columns) >= MANY_ENTRIES

    def width(self, boxes: int) -> int:
        """As many as the core makes steps of at once."""
        return LANES

    def place(self, values: Floats) -> Floats:
        """The array itself."""
        return values

    def view(self, flat: Floats, width: int) -> Floats:
        """``(places, 2, boxes)`` of a flat array."""
        return flat.reshape(-1, 2, width)

    def array(self, values: Floats) -> Floats:
        """A flat copy that begins with a line of the cache, so that no bundle is in two of them."""
        room = np.empty(values.size + LANES)
        skip = -(room.ctypes.data // room.itemsize) % LANES
        room[skip : skip + values.size] = values.reshape(-1)
        return room[skip : skip + values.size]

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
        """Make steps, on several threads where the rows are many."""
        threads = threads if self.of.large else 1
        table = self.weights.between(first, first + steps)
        flat = None if table is None else table.reshape(-1)
        return self.of.rows.run(
            steps,
            rates=self.rates,
            weights=flat,
            x=x,
            other=other,
            watched=watched,
            sum=sums,
            changes=changes,
            threads=threads,
        )


def rows(pattern: GroupedRows, *, format: str | None = None) -> RegionRows:
    """The rows as the core has them; it has one format."""
    return RegionRows(pattern)


def together(n_states: int, n_terms: int, wanted: int | None = None) -> int:
    """As many as are wanted make a bundle, but no more than the core makes steps of at once."""
    return min(wanted or LANES, LANES)


def bundles_at_once(n_states: int, threads: int) -> int:
    """One for each thread; a single one, which they share, where two would be too much for the cache."""
    return threads if n_states <= MANY_STATES else 1
