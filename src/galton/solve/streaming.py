"""Equations that are larger than a device: their components go there one after the other, successors first.

The equations stay on the host, in the order in which they can be solved, and neighbours are joined as long as they fit
on the device together. What goes there is the rows of such a segment; what these have of unknowns that are solved
already becomes a part of their constants. The proposal comes back, and the host proves it. A segment that does not fit
even alone is left to the CPU. Where memory ends all the same, all begins again with smaller segments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..model.arrays import on_host
from ..model.values import Floats, Values
from .equations import Equations, Optimum, Segment
from .parallel import ParallelProposer
from .proposal import ROUNDS, Proposer
from .solution import Solution

__all__ = ["Device", "StreamingProposer", "joined", "streamed"]

WORTH_IT = 1_000_000  # entries from which on a segment is taken to a device
SHARE = 0.5  # of the free memory that a segment may take
SMALLEST = 1e7  # bytes: a device that has less is of no use
# What a segment takes: its matrix twice, numbers of rows, vectors of methods that solve it.
BYTES_PER_ENTRY, BYTES_PER_ROW, BYTES_PER_UNKNOWN = 24, 64, 200


def room_on_device() -> float:
    """Bytes that a segment may take; 0 where there is no device."""
    from ..explore.cuda_device import DeviceError, device_errors, free_memory, import_cupy

    try:
        with device_errors("there is no memory left"):
            return SHARE * free_memory(import_cupy())
    except DeviceError:
        return 0.0


def streamed(equations: Equations, solve: Callable[[Equations, Device | None], Solution]) -> Solution:
    """Solve equations with a device that takes a part at a time, or without one where there is none."""
    from ..explore.cuda_device import DeviceError, DeviceMemoryError

    room = room_on_device()
    while room > SMALLEST:
        parts = replace(equations, segments=joined(equations, room))
        try:
            return solve(parts, Device(parts, room))
        except DeviceMemoryError:
            room /= 4
        except DeviceError:
            break
    return solve(equations, None)


def joined(equations: Equations, room: float) -> tuple[Segment, ...]:
    """The segments, neighbours joined as long as they fit; a run without cycles only where it follows one with."""
    found: list[Segment] = []
    for segment in equations.segments:
        if found and not found[-1].acyclic:
            both = Segment(found[-1].first, segment.last, False)
            if _bytes(equations, both) <= room:
                found[-1] = both
                continue
        found.append(segment)
    return tuple(found)


def _bytes(equations: Equations, segment: Segment) -> int:
    rows = equations.rows_of(segment)
    unknowns = segment.last - segment.first
    return int(
        BYTES_PER_ENTRY * equations.entries(segment)
        + BYTES_PER_ROW * (rows.stop - rows.start)
        + BYTES_PER_UNKNOWN * unknowns
    )


@dataclass(eq=False)
class Device:
    """The device as proposers share it: the equations of one segment are there at a time.

    Attributes
    ----------
    equations
        All of them, on the host.
    room
        Bytes that a segment may take.
    visits
        How many segments have been there.
    """

    equations: Equations
    room: float
    visits: int = 0
    _there: tuple[Segment, Equations] | None = None

    def takes(self, segment: Segment) -> bool:
        """Whether a segment is worth the way, and fits."""
        return self.equations.entries(segment) >= WORTH_IT and _bytes(self.equations, segment) <= self.room

    def part(self, segment: Segment, constants: Callable[[Segment], Floats]) -> Equations:
        """The equations of a segment, with these constants if they are not there yet."""
        if self._there is None or self._there[0] != segment:
            self._there = None  # first make room
            self._there = segment, _moved(self.equations, segment, constants(segment))
            self.visits += 1
        return self._there[1]


@dataclass(eq=False)
class StreamingProposer(Proposer):
    """A :class:`~galton.solve.proposal.Proposer` on the host that has large segments solved on a device.

    Attributes
    ----------
    weighs
        For the weights of a proof: whether constants change, and the greatest row counts.
    """

    device: Device = field(kw_only=True)
    weighs: bool = field(kw_only=True, default=False)

    def solve(self, segment: Segment, aim: float, entries: int, rounds: int = ROUNDS) -> float:
        """As there."""
        found = self._there(segment, lambda proposer, all_of_it: proposer.solve(all_of_it, aim, entries, rounds))
        return super().solve(segment, aim, entries, rounds) if found is None else found

    def evaluate(self, segment: Segment, aim: float) -> None:
        """As there."""

        def evaluated(proposer: Proposer, all_of_it: Segment) -> float:
            proposer.evaluate(all_of_it, aim)
            return 0.0

        if self._there(segment, evaluated) is None:
            super().evaluate(segment, aim)

    def _there(self, segment: Segment, work: Callable[[Proposer, Segment], float]) -> float | None:
        """Have something done on the device; None where that cannot be."""
        if not self.device.takes(segment):
            return None
        from ..explore.cuda_device import device_errors

        with device_errors("there is not enough memory for a component"):
            return self._visit(segment, work)

    def _visit(self, segment: Segment, work: Callable[[Proposer, Segment], float]) -> float:
        import cupy as cp

        part, size = slice(segment.first, segment.last), segment.last - segment.first
        there = self.device.part(segment, self._constants)
        system = there.system
        if self.weighs:
            optimum: Optimum | None = None if self.chosen is None else "max"
            system = there.system_with(cp.asarray(self._constants(segment)), optimum)
        first_row = np.int32(self.device.equations.rows_of(segment).start)
        chosen = None if self.chosen is None else cp.asarray(self.chosen[part] - first_row)
        proposer = ParallelProposer(system, cp.asarray(self.x[part]), cp.empty(size), chosen, self.settings)
        residual = work(proposer, Segment(0, size, False))
        self.x[part] = on_host(proposer.x)
        if self.chosen is not None:
            self.chosen[part] = on_host(proposer.chosen) + first_row
        self.sweeps += proposer.sweeps
        return residual

    def _constants(self, segment: Segment) -> Floats:
        """What the rows of a segment are worth by their constants and by the unknowns before it."""
        part, rows = slice(segment.first, segment.last), self.device.equations.rows_of(segment)
        kept, found = self.x[part].copy(), np.empty(rows.stop - rows.start)
        self.x[part] = 0.0
        self.system.row_values(self.x, found, segment.first, segment.last, self.settings.n_threads)
        self.x[part] = kept
        return found


def _moved(equations: Equations, segment: Segment, constants: Floats) -> Equations:
    """The rows of a segment without what they have of other unknowns, on the device."""
    import cupy as cp

    rows = equations.rows_of(segment)
    starts = equations.starts[rows.start : rows.stop + 1]
    entries = slice(int(starts[0]), int(starts[-1]))
    columns, starts = equations.columns[entries], starts - starts[0]
    codes = equations.values.plain if equations.values.dictionary is None else equations.values.index
    assert codes is not None
    codes = codes[entries]
    inner = columns >= segment.first
    if not inner.all():
        before = np.concatenate([[0], np.cumsum(inner)]).astype(starts.dtype)
        columns, codes, starts = columns[inner], codes[inner], before[starts]
    groups = equations.groups
    if groups is not None:
        groups = cp.asarray(groups[segment.first : segment.last + 1] - groups[segment.first])
    there, dictionary = cp.asarray(codes), equations.values.dictionary
    return replace(
        equations,
        groups=groups,
        starts=cp.asarray(starts),
        columns=cp.asarray(columns - np.int32(segment.first)),
        values=Values(plain=there) if dictionary is None else Values(None, cp.asarray(dictionary), there),
        scale=None if equations.scale is None else cp.asarray(equations.scale[rows]),
        constant=cp.asarray(constants),
        segments=(Segment(0, segment.last - segment.first, False),),
    )
