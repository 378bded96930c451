"""Steps of a parametric chain on a device, for many boxes of parameters together.

The kernels are in ``regions_in_blocks.cu`` for small models and in ``regions.cu`` for others.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.arrays import on_host
from ...device.cuda.kernels import kernels, most_shared, multiprocessors
from ...device.cuda.runtime import free_memory
from ...device.errors import DeviceError
from ..protocol import BoxWeights
from ..regions import GroupedRows

__all__ = ["RegionRows", "RegionSteps", "bundles_at_once", "rows", "together"]

INTERLEAVED, IN_BLOCKS = (Path(__file__).with_name(name) for name in ("regions.cu", "regions_in_blocks.cu"))
ENTRY = np.dtype([("column", np.int32), ("term", np.int32), ("coefficient", np.float64)])
WARP = 32
BLOCK = 1024  # threads at most, and so many where boxes are interleaved
PAIR = 16  # bytes: a bound below and one above
THREADS_PER_BOX = 256  # threads at most that find the largest change of a box
FEW, MANY = 8, 32  # boxes that are interleaved
IN_CACHE = 32 << 20  # bytes of vectors that stay in the second-level cache, beside the matrix
AT_ONCE = 1024  # boxes in blocks
BYTES, SHARE = 64, 0.7  # for a state in a box: two vectors of bounds, sums, and room; of the memory that is free
MOST_PADDED = 1.5  # places for each entry, for ELL to be worth it where threads beside each other have a row each


class RegionRows:
    """Rows to make steps of; see :class:`galton.backend.protocol.RegionRows`."""

    work = 2e10  # about a tenth of a second
    first_steps, part = 256, 4

    def __init__(self, pattern: GroupedRows, format: str | None = None) -> None:
        if pattern.forward:  # the kernels take differences to the value of the state itself
            raise DeviceError("steps of parametric chains go forward on the CPU only")
        states, columns, n_states, n_terms = pattern.states, pattern.columns, pattern.n_states, pattern.n_terms
        entries = np.empty(len(columns), dtype=ENTRY)
        entries["column"], entries["term"], entries["coefficient"] = columns, -1, pattern.coefficients
        entries["term"][pattern.group_starts[1:] - 1] = pattern.terms
        first: Any = pattern.entries_of_rows
        longest = int(np.diff(first).max(initial=0))
        self._n_states, self._n_terms = n_states, n_terms
        self._shared = _bytes_of_a_block(n_states, n_terms)
        even = longest * len(states) <= MOST_PADDED * len(columns)
        self.format = format or ("ell" if even and self.one_each else "csr")
        offsets = np.int32 if max(len(columns), longest * len(states)) < 2**31 else np.int64
        if self.format == "ell":
            entries, first = _side_by_side(entries, first, states, longest), None
        else:
            first = cp.asarray(first, dtype=offsets)
        self._states, self._n_rows = cp.asarray(states), len(states)
        flat = cp.asarray(np.ascontiguousarray(entries).view(np.float64))
        self._rows = (self._states, first, flat, len(states), longest, n_states, n_terms)
        self._offset = "OFFSET=int" if offsets is np.int32 else "OFFSET=long long"

    @property
    def one_each(self) -> bool:
        """Whether the vectors of a box fit into the memory of a multiprocessor, so that each box has a block."""
        return self._shared <= most_shared()

    def width(self, boxes: int) -> int:
        """So many boxes have to be given: if interleaved a power of two, which threads of a block share evenly."""
        return boxes if self.one_each else max(FEW, 1 << (boxes - 1).bit_length())

    def place(self, values: Any) -> Any:
        """An array on the device."""
        return cp.asarray(values)

    def view(self, flat: Any, width: int) -> Any:
        """``(places, 2, boxes)`` of an array as the steps have it: with the two bounds of a box side by side."""
        return flat.reshape(-1, width, 2).transpose(0, 2, 1)

    def array(self, values: Any) -> Any:
        """A flat copy of such numbers on the device."""
        flat = cp.empty(values.size)
        self.view(flat, values.shape[2])[...] = cp.asarray(values)
        return flat

    def steps(self, rates: Any, weights: BoxWeights) -> RegionSteps:
        """Steps of boxes with these rates; the weights are copied to the device, but for their ends, which change."""
        return RegionSteps(
            self, rates, weights, *map(cp.asarray, (weights.before, weights.left, weights.offsets, weights.values))
        )

    def launch(self, first: int, steps: int, given: tuple[Any, ...], x: Any, other: Any, changes: Any) -> bool:
        """Make steps; ``changes``, on the host, gets the largest of the last. Whether the vectors are in ``other``."""
        boxes = len(changes) // 2
        given = (*self._rows, *given, x, other, boxes)
        if self.one_each:
            self._in_blocks(given, boxes, first, first + steps)
        else:
            self._interleaved(given, boxes, first, first + steps)
        largest = cp.zeros(2 * boxes, dtype=np.uint64)
        threads = boxes * max(1, min(self._n_rows, THREADS_PER_BOX))
        comparing = kernels(INTERLEAVED, *self._defines(boxes))
        comparing.launch("largest_changes", threads, self._states, self._n_rows, x, other, boxes, largest)
        changes[:] = on_host(largest).view(np.float64)
        return not self.one_each and steps % 2 == 1

    def _in_blocks(self, given: tuple[Any, ...], boxes: int, first: int, last: int) -> None:
        """A block for each box; the vectors end up in x."""
        each = -(-self._n_rows // BLOCK)  # rows of a thread
        block = max(1, -(-self._n_rows // (max(each, 1) * WARP))) * WARP
        found = kernels(IN_BLOCKS, *self._defines(boxes))
        found.launch_blocks("steps_in_blocks", boxes, *given, first, last, block=block, shared=self._shared)

    def _interleaved(self, given: tuple[Any, ...], boxes: int, first: int, last: int) -> None:
        kernel, found = "interleaved_steps", kernels(INTERLEAVED, *self._defines(boxes))
        blocks = -(-self._n_rows * boxes // BLOCK)
        held = found.most_threads(kernel, BLOCK) // BLOCK
        if held:
            arrived = cp.zeros(1, dtype=np.uint64)
            threads = max(1, min(held, multiprocessors(), blocks)) * BLOCK
            found.launch_together(kernel, threads, *given, first, first, last, arrived, block=BLOCK)
        else:
            for step in range(first, last):
                found.launch(kernel, max(1, blocks) * BLOCK, *given, first, step, step + 1, None, block=BLOCK)

    def _defines(self, boxes: int) -> tuple[str, str]:
        narrow = boxes * max(self._n_states, self._n_terms) < 2**31
        return self._offset, "INDEX=unsigned" if narrow else "INDEX=long long"


@dataclass(frozen=True, eq=False)
class RegionSteps:
    """Steps of some boxes; see :class:`galton.backend.protocol.RegionSteps`."""

    of: RegionRows
    rates: Any
    weights: BoxWeights
    before: Any
    left: Any
    offsets: Any
    values: Any

    def run(
        self, first: int, steps: int, x: Any, other: Any, watched: Any, sums: Any, changes: Any, threads: int
    ) -> bool:
        """Make steps; ``changes``, on the host, gets the largest of the last. Whether the vectors are in ``other``."""
        weights = (self.before, self.left, cp.asarray(self.weights.ends), self.offsets, self.values)
        watched = cp.asarray(watched)
        given = (self.rates, *weights, watched, len(watched), sums)
        return self.of.launch(first, steps, given, x, other, changes)


def rows(pattern: GroupedRows, *, format: str | None = None) -> RegionRows:
    """The rows on the device, in the format that suits them where none is named."""
    return RegionRows(pattern, format)


def together(n_states: int, n_terms: int, wanted: int | None = None) -> int:
    """As many as are wanted or keep the device busy, a block each or interleaved, if there is memory for them."""
    room = int(SHARE * free_memory(cp) / (BYTES * n_states))
    return max(1, min(wanted or _boxes_of_a_bundle(n_states, n_terms), room))


def bundles_at_once(n_states: int, threads: int) -> int:
    """One: the device is busy with it."""
    return 1


def _boxes_of_a_bundle(n_states: int, n_terms: int) -> int:
    if _bytes_of_a_block(n_states, n_terms) <= most_shared():
        return AT_ONCE
    fits = [boxes for boxes in (FEW, 2 * FEW, MANY) if 2 * PAIR * n_states * boxes <= IN_CACHE]
    return max(fits, default=MANY)


def _bytes_of_a_block(n_states: int, n_terms: int) -> int:
    """Both vectors of a box, and the rates."""
    return PAIR * (2 * n_states + n_terms)


def _side_by_side(entries: Any, first: Any, states: Any, longest: int) -> Any:
    """The entries in ELL: the first ones of all rows, then the second ones …; places that are left over do nothing."""
    table = np.zeros((longest, len(states)), dtype=ENTRY)
    table["column"], table["term"] = states, -1
    rows = np.repeat(np.arange(len(states)), np.diff(first))
    table[np.arange(len(entries)) - first[:-1][rows], rows] = entries
    return table
