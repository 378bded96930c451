"""Steps of a parametric chain on a device, for many boxes of parameters together.

The kernels are in ``regions_in_blocks.cu`` for small models and in ``regions.cu`` for others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...model.arrays import on_host
from .module import Kernels, kernels, most_shared

__all__ = ["RegionRows"]

INTERLEAVED, IN_BLOCKS = (Path(__file__).with_name(name) for name in ("regions.cu", "regions_in_blocks.cu"))
WARP = 32
BLOCK = 256
MOST_THREADS = 1024  # of a block
PAIR = 16  # bytes: a bound below and one above
LOOKERS = 256  # threads that look for the changes of a box


class RegionRows:
    """The rows of the states that change; arrays as ``_core.ParametricRows`` takes them."""

    work = 2e10  # entries times boxes that one call goes over: about a tenth of a second

    def __init__(self, *arrays: Any, n_states: int, n_terms: int) -> None:
        states, starts, terms, group_starts, columns, coefficients = arrays
        offsets = np.int32 if len(columns) < 2**31 else np.int64
        self._states, self._n_rows = cp.asarray(states), len(states)
        self._rows = (
            self._states,
            *(cp.asarray(starts, dtype=offsets), cp.asarray(terms), cp.asarray(group_starts, dtype=offsets)),
            *(cp.asarray(columns), cp.asarray(coefficients), len(states), n_states, n_terms),
        )
        self._offset = "OFFSET=int" if offsets is np.int32 else "OFFSET=long long"
        self._shared = PAIR * (2 * n_states + n_terms)

    @staticmethod
    def width(boxes: int) -> int:
        """So many boxes have to be given: whole warps, or parts that fill one together."""
        return next((few for few in (8, 16) if boxes <= few), -(-boxes // WARP) * WARP)

    @staticmethod
    def place(values: Any) -> Any:
        """An array on the device."""
        return cp.asarray(values)

    @staticmethod
    def array(values: Any) -> Any:
        """A flat copy on the device."""
        return cp.array(values, dtype=np.float64).reshape(-1)

    def run(
        self,
        steps: int,
        rates: Any,
        weights: Any | None,
        x: Any,
        other: Any,
        watched: Any,
        sums: Any,
        changes: Any,
        threads: int,
    ) -> bool:
        """Make steps; ``changes``, on the host, gets the largest of the last. Whether the vectors are in ``other``."""
        boxes = len(changes) // 2
        weights = None if weights is None else cp.asarray(weights)
        watched = cp.asarray(watched)
        given = (*self._rows, rates, weights, watched, len(watched), sums, x, other, boxes)
        swapped = self._in_blocks(given, boxes, steps) or self._interleaved(given, boxes, steps, len(watched))
        told = cp.zeros(2 * boxes, dtype=np.uint64)
        lookers = boxes * max(1, min(self._n_rows, LOOKERS))
        self._kernels.launch("largest_changes", lookers, self._states, self._n_rows, x, other, boxes, told, block=BLOCK)
        changes[:] = on_host(told).view(np.float64)
        return swapped == "other"

    def _in_blocks(self, given: tuple[Any, ...], boxes: int, steps: int) -> str | None:
        """A block for each box, where its vectors fit into the memory of a multiprocessor; where they end up."""
        if self._shared > most_shared():
            return None
        block = min(MOST_THREADS, -(-self._n_rows // WARP) * WARP)
        found = kernels(IN_BLOCKS, self._offset)
        found.launch_blocks("steps_in_blocks", boxes, *given, steps, block=block, shared=self._shared)
        return "x"

    def _interleaved(self, given: tuple[Any, ...], boxes: int, steps: int, watched: int) -> str:
        kernel, threads = "interleaved_steps", max(self._n_rows, watched) * boxes
        held = self._kernels.most_threads(kernel, BLOCK)
        if held:
            arrived = cp.zeros(1, dtype=np.uint64)
            threads = min(held, -(-threads // BLOCK) * BLOCK)
            self._kernels.launch_together(kernel, threads, *given, 0, steps, arrived, block=BLOCK)
        else:
            for step in range(steps):
                self._kernels.launch(kernel, threads, *given, step, step + 1, None, block=BLOCK)
        return "other" if steps % 2 else "x"

    @property
    def _kernels(self) -> Kernels:
        return kernels(INTERLEAVED, self._offset)
