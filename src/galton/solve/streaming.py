"""Equations that are larger than a device: their components go there one after the other, successors first.

The equations stay on the host, in the order in which they can be solved. What goes to the device is the rows of a
segment, or of as many neighbours as fit there together; what these have of unknowns that are solved already becomes a
part of their constants. The proposal comes back, and the host proves it, segment by segment. What does not fit, or is
not worth the way, the CPU does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ..device.arrays import on_host
from ..model.values import Floats, Values
from .device_proposal import ParallelProposer
from .equations import Equations, Optimum, Segment
from .proposal import ROUNDS, Proposer

__all__ = ["Device", "StreamingProposer", "device_for"]

WORTH_IT = 1_000_000  # entries from which on segments are taken to a device
SHARE = 0.5  # of the free memory that they may take
# What a segment takes: its matrix twice, numbers of rows, vectors of methods that solve it.
BYTES_PER_ENTRY, BYTES_PER_ROW, BYTES_PER_UNKNOWN = 24, 64, 200
WELL = 1e-6  # changes from which on a proposal for neighbours is one to go on from


def device_for(equations: Equations) -> Device | None:
    """A device that may help, as it is now; None where there is none."""
    from ..device.cuda.runtime import free_memory, import_cupy
    from ..device.errors import DeviceError, device_errors

    try:
        with device_errors("there is no memory left"):
            return Device(equations, SHARE * free_memory(import_cupy()))
    except DeviceError:
        return None


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
        How many segments, or groups of them, have been there.
    trouble
        What went wrong there, if anything did.
    """

    equations: Equations
    room: float
    visits: int = 0
    trouble: str = ""
    _there: tuple[Segment, Equations] | None = None

    def groups(self) -> Iterator[tuple[Segment, list[Segment]]]:
        """All segments; neighbours that fit and are worth the way together, from one with a cycle on, are a group."""
        members: list[Segment] = []
        for segment in self.equations.segments:
            if members and self._bytes(Segment(members[0].first, segment.last, False)) <= self.room:
                members.append(segment)
                continue
            yield from self._grouped(members)
            members = [segment]
            if segment.acyclic:
                yield segment, members
                members = []
        yield from self._grouped(members)

    def _grouped(self, members: list[Segment]) -> Iterator[tuple[Segment, list[Segment]]]:
        if not members:
            return
        whole = Segment(members[0].first, members[-1].last, False)
        if self.takes(whole):
            yield whole, members
        else:
            yield from ((member, [member]) for member in members)

    def takes(self, segment: Segment) -> bool:
        """Whether a segment is worth the way, and fits."""
        return self.equations.entries(segment) >= WORTH_IT and self._bytes(segment) <= self.room

    def _bytes(self, segment: Segment) -> int:
        rows = self.equations.rows_of(segment)
        return int(
            BYTES_PER_ENTRY * self.equations.entries(segment)
            + BYTES_PER_ROW * (rows.stop - rows.start)
            + BYTES_PER_UNKNOWN * (segment.last - segment.first)
        )

    def part(self, segment: Segment, constants: Callable[[Segment], Floats]) -> Equations:
        """The equations of a segment, with these constants if they are not there yet."""
        if self._there is None or self._there[0] != segment:
            self._there = None  # first make room
            self._there = segment, _moved(self.equations, segment, constants(segment))
            self.visits += 1
        return self._there[1]

    def failed(self, segment: Segment, error: Exception) -> None:
        """Expect less of it: half of what it could not hold, or nothing."""
        from ..device.errors import DeviceMemoryError

        self._there, self.trouble = None, str(error) or type(error).__name__
        self.room = self._bytes(segment) / 2 if isinstance(error, DeviceMemoryError) else 0.0

    def forgives(self, error: Exception) -> bool:
        """Whether the CPU may go on: always where the device is at fault; mistakes of ours only who asked shall see."""
        from ..device.errors import DeviceError

        return isinstance(error, DeviceError) or self.equations.origin.model.placement.chosen


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
        """Propose values, on the device or, where it cannot, here; the largest relative change of a last sweep."""
        found = self._there(segment, lambda proposer, all_of_it: proposer.solve(all_of_it, aim, entries, rounds))
        return super().solve(segment, aim, entries, rounds) if found is None else found

    def evaluate(self, segment: Segment, aim: float, *, fine: bool = False) -> None:
        """Solve for the rows chosen: on the device, or here where it cannot."""
        if fine or self._there(segment, lambda proposer, all_of_it: _evaluated(proposer, all_of_it, aim)) is None:
            super().evaluate(segment, aim, fine=fine)

    def begin(self, whole: Segment, aim: float) -> bool:
        """Propose for several segments together; whether that is good enough to go on from for each of them."""
        part, entries = slice(whole.first, whole.last), self.device.equations.entries(whole)
        chosen = None if self.chosen is None else self.chosen[part].copy()

        def begun(proposer: Proposer, all_of_it: Segment) -> float:
            if self.device.equations.optimum == "min":
                proposer.evaluate(all_of_it, 1e-2)
            return proposer.solve(all_of_it, aim, entries)

        residual = self._there(whole, begun)
        if residual is not None and residual <= WELL:
            return True
        self.x[part] = 0.0
        if self.chosen is not None and chosen is not None:
            self.chosen[part] = chosen
        return False

    def _there(self, segment: Segment, work: Callable[[Proposer, Segment], float]) -> float | None:
        """Have something done on the device; None where that cannot be."""
        if not self.device.takes(segment):
            return None
        from ..device.errors import device_errors

        try:
            with device_errors("there is not enough memory for a component"):
                return self._visit(segment, work)
        except Exception as error:
            if not self.device.forgives(error):
                raise
            self.device.failed(segment, error)
            return None

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
        self.system.row_values(self.x, found, segment.span(self.settings.n_threads))
        self.x[part] = kept
        return found


def _evaluated(proposer: Proposer, segment: Segment, aim: float) -> float:
    proposer.evaluate(segment, aim)
    return 0.0


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
