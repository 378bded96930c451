"""Gauss–Seidel sweeps from level to level of a chain, as a preconditioner that suits a device.

The states that some set can be reached from in one jump are one level, those from which it takes two the next, and so
on. A sweep takes the levels one after the other, all states of a level at once: first towards the set, then back. So
one sweep passes news on across the whole chain, however far, as a sweep in a good order does on one core; and the
number of BiCGStab's iterations hardly grows with the chain. The states are numbered by level, the farthest first, so
that a level's rows lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.arrays import on_host
from ...device.cuda.kernels import multiprocessors
from ...device.cuda.positions import positions
from .chain import ChainRows
from .graph.search import OPEN, Step, turned_round

__all__ = ["Levels", "levels_of"]

FILE = Path(__file__).with_name("levels.cu")
BLOCK = 512
MOST = 1 << 17  # levels: more of them, all narrow, are no work for a device


@dataclass(frozen=True, eq=False)
class Levels:
    """A chain with its states in the order of their levels.

    Attributes
    ----------
    rows
        The chain with the new numbers.
    order
        ``(states,)`` the old number of each new one.
    bounds
        ``(levels + 1,)`` where each level begins; the set is the last one.
    """

    rows: ChainRows
    order: Any
    bounds: Any

    @property
    def count(self) -> int:
        """The number of levels."""
        return len(self.bounds) - 1

    def weights(self) -> Any:
        """What the equations of a generator are divided by, inverted; see ``levels.cu``."""
        found = cp.empty(self.rows.n_states)
        states = cp.arange(self.rows.n_states, dtype=np.int32)
        behind = self.bounds[cp.searchsorted(self.bounds, states, side="right")]
        self.rows.run(FILE, "weigh_levels", behind, found)
        return found

    def onwards(self, y: Any, x: Any, a: Any | None, k: Any | None) -> None:
        """The first half of a sweep, towards the set."""
        self._sweep(False, a, k, y, None, None, x)

    def back(self, x: Any, k: Any | None, gain: Any | None = None, time: Any | None = None) -> None:
        """The second half, on what the first has left in x."""
        self._sweep(True, None, k, None, gain, time, x)

    def _sweep(self, back: bool, *vectors: Any) -> None:
        rows, kernel = self.rows, "sweep_levels"
        kernels = rows.kernels(FILE)
        held = kernels.most_threads(kernel, BLOCK)
        shape = (*rows.arguments, self.bounds)
        if held:
            # One block a multiprocessor, where that is enough: the fewer have to meet, the sooner they have met.
            narrow = BLOCK * multiprocessors()
            threads = held if rows.n_states * rows.lanes > self.count * narrow else min(narrow, held)
            arrived = cp.zeros(1, dtype=np.uint64)
            kernels.launch_together(kernel, threads, *shape, 0, self.count, int(back), *vectors, arrived, block=BLOCK)
            return
        bounds = self.bounds.tolist()
        for number in range(self.count):
            level = self.count - 1 - number if back else number
            threads = (bounds[level + 1] - bounds[level]) * rows.lanes
            kernels.launch(kernel, threads, *shape, level, level + 1, int(back), *vectors, None)


def levels_of(rows: ChainRows, near: Any) -> Levels | None:
    """The levels of a chain around the states of a mask; None where there are too many of them.

    States from which the set cannot be reached are a level of their own, the farthest.
    """
    n = rows.n_states
    status = cp.full(n, OPEN, dtype=cp.uint8)
    before, sources, _ = turned_round(rows, Step.SOME_ENTRY, status, None)  # type: ignore[arg-type]
    level_of = cp.where(near, np.int32(0), np.int32(-1)).astype(np.int32)
    queue = cp.empty(n, dtype=np.int32)
    first = positions(near)
    queue[: len(first)] = first
    found = cp.zeros(MOST + 2, dtype=np.uint64)
    found[0] = len(first)
    _search(rows, before, sources, level_of, queue, found, len(first))
    counts = on_host(found)
    count = int(np.flatnonzero(counts)[-1]) + 1
    if count > MOST:
        return None
    level_of[level_of < 0] = count
    # The farthest first, and those of a level in the order that they had.
    keys = ((count - level_of.astype(np.int64)) << 32) | cp.arange(n, dtype=np.int64)
    order = (cp.sort(keys) & 0xFFFFFFFF).astype(np.int32)
    rank = cp.empty(n, dtype=np.int32)
    rank[order] = cp.arange(n, dtype=np.int32)
    sizes = [n - int(counts.sum()), *(int(size) for size in counts[:count][::-1])]
    bounds = np.cumsum([0, *(size for size in sizes if size)])
    return Levels(rows.select(order, rank), order, cp.asarray(bounds.astype(np.int32)))


def _search(rows: ChainRows, before: Any, sources: Any, level_of: Any, queue: Any, found: Any, first: int) -> None:
    """Breadth first; ``found`` gets the sizes of the levels."""
    kernels = rows.kernels(FILE)
    given = (before, sources, level_of, queue, found)
    if kernels.most_threads("find_levels", BLOCK):
        arrived = cp.zeros(1, dtype=np.uint64)
        threads = BLOCK * multiprocessors()
        kernels.launch_together("find_levels", threads, *given, 0, MOST + 1, 0, first, arrived, block=BLOCK)
        return
    begin, end, level = 0, first, 0
    while begin < end and level <= MOST:
        kernels.launch("find_levels", end - begin, *given, level, 1, begin, end, None)
        level += 1
        begin, end = end, end + int(found[level])
