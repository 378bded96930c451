"""Rows in parts, one for each of several devices, and what the parts have to tell each other.

A part has a range of the unknowns, the rows of these, and a copy of the unknowns elsewhere that its rows refer to, its
*halo* (Bošnački and others, STTT 2011). Whole vectors come and go, from the host or from a device; in between, only
halos are brought up to date, from device to device and no more than what is referred to. The matrix may be on the host:
then no device ever has more of it than its part. A device may have several parts: one is enough for tests.

Copies between devices are made in CUDA's default stream. They wait for all that was asked of either device before, and
all that comes later waits for them (CUDA C++ Programming Guide, "Peer-to-Peer Memory Copy").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cupy as cp
import numpy as np

from ....device.arrays import is_on_host, namespace, on_host
from ....device.errors import DeviceError
from ..layout import Layout, csr

__all__ = ["Part", "Parts", "brought", "on"]

CHUNK = 1 << 26  # entries that are numbered anew at a time


@dataclass(frozen=True, eq=False)
class Part:
    """The unknowns ``first`` up to ``last`` of a device, and their rows.

    Attributes
    ----------
    rows, entries
        Which of all they are.
    matrix
        The rows in CSR, on the device. Columns are numbered within the part; those of the halo come after its own.
    halo
        How many unknowns of others the rows refer to.
    wanted
        Of which part, for which piece of the halo, which of its unknowns; the numbers are on the device of that part.
    """

    device: int
    first: int
    last: int
    rows: slice
    entries: slice
    matrix: Layout
    halo: int
    wanted: tuple[tuple[int, slice, Any], ...]

    @property
    def size(self) -> int:
        """Unknowns of its own."""
        return self.last - self.first

    def own(self, vector: Any) -> Any:
        """A copy of its piece of a vector over all unknowns."""
        return self._copied(vector[self.first : self.last])

    def of_rows(self, numbers: Any) -> Any:
        """A copy of its piece of an array over all rows."""
        return self._copied(numbers[self.rows])

    def own_rows(self, chosen: Any | None) -> Any:
        """The rows that its unknowns take, as it numbers them; None for a chain."""
        if chosen is None:
            return None
        with on(self.device):
            return brought(chosen[self.first : self.last]) - np.int32(self.rows.start)

    def _copied(self, piece: Any) -> Any:
        with on(self.device):
            return cp.array(piece)


class Parts:
    """A matrix in parts, each on one of the devices; there are no empty ones.

    Parameters
    ----------
    matrix
        In CSR, with arrays of the host or of one device.
    devices
        Their numbers. One that is named twice gets two parts.
    """

    def __init__(self, matrix: Layout, devices: Sequence[int]) -> None:
        self.size = matrix.size
        self.rows, self.entries = matrix.rows, len(matrix.columns)
        cuts = _cuts(matrix, len(devices))
        halos = [_halo(matrix, cuts, number) for number in range(len(cuts) - 1)]
        self._parts = [_part(matrix, devices, number, cuts, halo) for number, halo in enumerate(halos)]
        self._try_out(halos)

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def halo(self) -> int:
        """How many numbers cross from part to part when all halos are brought up to date."""
        return sum(part.halo for part in self)

    def __str__(self) -> str:
        share = max(part.entries.stop - part.entries.start for part in self) / max(self.entries, 1)
        return f"{len(self)} parts, the largest with {share:.0%} of the entries, {self.halo:,} numbers exchanged"

    def each(self, work: Callable[[Part], Any]) -> list[Any]:
        """What some work gives for each part, done on its device."""
        found = []
        for part in self:
            with on(part.device):
                found.append(work(part))
        return found

    # Vectors.

    def pieces(self, vector: Any) -> list[Any]:
        """The pieces of a vector over all unknowns, each on its device, without halos."""
        return [part.own(vector) for part in self]

    def scatter(self, vector: Any) -> list[Any]:
        """The pieces of a vector over all unknowns, each on its device, with its halo."""
        return self.with_halos(self.pieces(vector))

    def with_halos(self, pieces: list[Any]) -> list[Any]:
        """Copies of pieces that have their halos."""
        found = []
        for part, piece in zip(self, pieces, strict=True):
            with on(part.device):
                room = cp.empty(part.size + part.halo, dtype=piece.dtype)
                room[: part.size] = piece
                found.append(room)
        self.exchange(found)
        return found

    def copies(self, pieces: list[Any]) -> list[Any]:
        """Copies, each on the device of its part."""
        found = []
        for part, piece in zip(self, pieces, strict=True):
            with on(part.device):
                found.append(piece.copy())
        return found

    def gather(self, pieces: list[Any], onto: Any) -> None:
        """Write what parts have of their own unknowns to a vector over all of them."""
        for part, piece in zip(self, pieces, strict=True):
            put(piece[: part.size], onto, slice(part.first, part.last))

    def gather_rows(self, pieces: list[Any], onto: Any) -> None:
        """Write what parts have of their own rows to an array over all of them."""
        for part, piece in zip(self, pieces, strict=True):
            put(piece, onto, part.rows)

    def exchange(self, pieces: list[Any]) -> None:
        """Bring all halos up to date."""
        for part, piece in zip(self, pieces, strict=True):
            for owner, halo, unknowns in part.wanted:
                with on(self._parts[owner].device):
                    sent = pieces[owner][unknowns]
                with on(part.device):
                    piece[halo] = brought(sent)

    def _try_out(self, halos: list[Any]) -> None:
        """Exchange the numbers of all unknowns once: devices that corrupt what they send each other prove nothing."""
        numbers = []
        for part in self:
            with on(part.device):
                numbers.append(cp.arange(part.first, part.last, dtype=np.int32))
        for part, found, halo in zip(self, self.with_halos(numbers), halos, strict=True):
            if not np.array_equal(on_host(found[part.size :]), halo):
                raise DeviceError(f"the CUDA device {part.device} does not receive what other devices send it")


def _cuts(matrix: Layout, parts: int) -> list[int]:
    """Where parts begin and end, so that each has about as many rows and entries."""
    starts, groups = matrix.starts, matrix.groups

    def weight(state: int) -> int:
        row = state if groups is None else int(groups[state])
        return int(starts[row]) + row

    def first_from(goal: int) -> int:
        low, high = 0, matrix.size
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if weight(middle) < goal else (low, middle)
        return low

    total = weight(matrix.size)
    inner = {first_from(total * number // parts) for number in range(1, parts)}
    return sorted({0, matrix.size} | inner) if matrix.size else [0, 0]


def _rows_of(matrix: Layout, cuts: list[int], number: int) -> tuple[slice, slice]:
    """The rows and the entries of a part."""
    ends = cuts[number : number + 2]
    rows = slice(*ends) if matrix.groups is None else slice(*(int(matrix.groups[end]) for end in ends))
    return rows, slice(int(matrix.starts[rows.start]), int(matrix.starts[rows.stop]))


def _chunks(entries: slice) -> Iterator[slice]:
    for first in range(entries.start, entries.stop, CHUNK):
        yield slice(first, min(first + CHUNK, entries.stop))


def _halo(matrix: Layout, cuts: list[int], number: int) -> Any:
    """The unknowns of others that the rows of a part refer to, ascending, on the host."""
    _, entries = _rows_of(matrix, cuts, number)
    seen = namespace(matrix.columns).zeros(matrix.size, dtype=np.bool_)
    for chunk in _chunks(entries):
        seen[matrix.columns[chunk]] = True
    seen[cuts[number] : cuts[number + 1]] = False
    return np.flatnonzero(on_host(seen)).astype(np.int32)


def _part(matrix: Layout, devices: Sequence[int], number: int, cuts: list[int], halo: Any) -> Part:
    device, first, last = devices[number], cuts[number], cuts[number + 1]
    rows, entries = _rows_of(matrix, cuts, number)
    size, xp = last - first, namespace(matrix.columns)
    place = xp.zeros(matrix.size, dtype=np.int32)
    place[first:last] = xp.arange(size, dtype=np.int32)
    place[xp.asarray(halo)] = xp.arange(size, size + len(halo), dtype=np.int32)
    with on(device):
        columns = cp.empty(entries.stop - entries.start, dtype=np.int32)
    for chunk in _chunks(entries):
        local = place[matrix.columns[chunk]]
        with on(device):
            columns[chunk.start - entries.start : chunk.stop - entries.start] = brought(local)
    groups, offsets = matrix.groups, np.int32 if len(columns) < 2**31 else np.int64
    with on(device):
        groups = None if groups is None else brought(groups[first : last + 1]) - np.int32(rows.start)
        starts = brought(matrix.starts[rows.start : rows.stop + 1]) - matrix.starts.dtype.type(entries.start)
        codes = brought(matrix.codes[entries])
        dictionary = None if matrix.dictionary is None else brought(matrix.dictionary)
        mine = csr(groups, starts.astype(offsets, copy=False), columns, codes, dictionary)
    wanted = []
    edges = np.searchsorted(halo, np.array(cuts, dtype=halo.dtype)).tolist()
    for owner, (low, high) in enumerate(pairwise(edges)):
        if low < high:
            with on(devices[owner]):
                unknowns = brought(halo[low:high] - np.int32(cuts[owner]))
            wanted.append((owner, slice(size + low, size + high), unknowns))
    return Part(device, first, last, rows, entries, mine, len(halo), tuple(wanted))


def put(piece: Any, onto: Any, where: slice) -> None:
    """Write a piece to its place in an array that is on the host or on another device."""
    if is_on_host(onto):
        onto[where] = on_host(piece)
        return
    with onto.device:
        onto[where] = brought(piece)


def on(device: int) -> AbstractContextManager[Any]:
    """With this device."""
    found: AbstractContextManager[Any] = cp.cuda.Device(device)
    return found


def brought(array: Any) -> Any:
    """An array on the current device, copied there if it is elsewhere."""
    return cp.asarray(array)
