"""States that behave alike, found by the C++ core with threads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...model.sparse import Int32s
from ...model.values import Floats
from ..lumping import NO_LIMITS, LumpLimits, LumpRows, Partition

__all__ = ["HASH_BITS", "QuotientRows", "quotient", "refine", "split"]

HASH_BITS = 64  # tests take fewer, so that hashes collide


class QuotientRows(NamedTuple):
    """Rows over blocks: as a model has them, the rows they are from, and the kinds of entries where there are any."""

    choice_starts: Int32s | None
    row_starts: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    columns: Int32s
    kinds: Int32s | None
    values: Floats


def split(keys: npt.NDArray[np.uint64], block: Int32s) -> int:
    """Split blocks, in place, by numbers that their members have; how many there are then."""
    return _core.split_by_keys(keys, block)


def refine(rows: LumpRows, block: Int32s, limits: LumpLimits = NO_LIMITS, threads: int = 1) -> Partition:
    """The coarsest stable partition that is finer than the one given, whose numbers have no gaps."""
    found = block.copy()
    first, rounds, entries = _core.lump(
        *_core_arguments(rows), found, limits.blocks, limits.entries, threads, HASH_BITS
    )
    return Partition(found, first, rounds, entries)


def quotient(rows: LumpRows) -> QuotientRows:
    """Rows whose columns are blocks: weights into one block added up; of equal rows of a state the first."""
    return QuotientRows(*_core.lump_quotient(*_core_arguments(rows)))


def _core_arguments(rows: LumpRows) -> tuple[_core.Matrix, int, Int32s | None, Int32s | None, int, bool]:
    values = rows.values
    entries, size = (values.plain, 0) if values.dictionary is None else (values.index, len(values.dictionary))
    matrix = _core.Matrix(rows.choice_starts, rows.row_starts, rows.columns, entries, values.dictionary)
    return matrix, size, rows.marks, rows.kinds, rows.n_kinds, rows.leaving
