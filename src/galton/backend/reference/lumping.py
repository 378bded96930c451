"""States that behave alike, by repeating the definition until nothing changes; sums of weights are fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.sparse import Int32s
from ..lumping import NO_LIMITS, LumpLimits, LumpRows, Partition

__all__ = ["refine", "split"]


def split(keys: npt.NDArray[np.uint64], block: Int32s) -> int:
    """Split blocks, in place, by numbers that their members have; how many there are then."""
    known: dict[tuple[int, int], int] = {}
    for i, pair in enumerate(zip(block.tolist(), keys.tolist(), strict=True)):
        block[i] = known.setdefault(pair, len(known))
    return len(known)


def refine(rows: LumpRows, block: Int32s, limits: LumpLimits = NO_LIMITS, threads: int = 1) -> Partition:
    """The coarsest stable partition that is finer than the one given."""
    found, rounds, work = block.copy(), 0, 0
    while True:
        known: dict[Any, int] = {}
        finer = [known.setdefault((found[s], _signature(rows, s, found)), len(known)) for s in range(rows.n_states)]
        rounds, work = rounds + 1, work + len(rows.columns)
        if len(known) > limits.blocks or work > limits.entries:
            return Partition(found, None, rounds, work)
        before, found = len(np.unique(found)), np.array(finer, dtype=np.int32)
        if len(known) == before:
            first = np.array([finer.index(b) for b in range(before)], dtype=np.int32)
            return Partition(found, first, rounds, work)


def _signature(rows: LumpRows, state: int, block: Int32s) -> frozenset[Any]:
    """The set of a state's rows, as a partition sees them."""
    first, last = (state, state + 1) if rows.choice_starts is None else rows.choice_starts[state : state + 2]
    return frozenset(_row(rows, row, block, int(block[state])) for row in range(first, last))


def _row(rows: LumpRows, row: int, block: Int32s, own: int) -> Any:
    sums: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for entry in range(int(rows.row_starts[row]), int(rows.row_starts[row + 1])):
        target = int(block[rows.columns[entry]])
        if not rows.leaving or target != own:
            kind = 0 if rows.kinds is None else int(rows.kinds[entry])
            sums[target, kind] += Fraction(float(rows.values[entry : entry + 1][0]))
    mark = 0 if rows.marks is None else int(rows.marks[row])
    return mark, frozenset((target, weight) for target, weight in sums.items() if weight)
