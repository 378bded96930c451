"""Equations of some states of a model on a CUDA device, given the values of the others.

States keep their order, which is that of their variables' values: a device has no use for the order in which one thread
would solve them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import cupy as cp
import numpy as np

from ...device.arrays import how_many
from ...device.cuda.kernels import Kernels, kernels
from ...device.cuda.positions import positions
from ...model.sparse import Model
from ..formats import MANY_ROWS
from .layout import CODES
from .wide import wide_unknowns

__all__ = ["Restricted", "number_states", "restrict"]

FILE = Path(__file__).with_name("restrict.cu")
LARGEST = 2**31 - 1


class Restricted(NamedTuple):
    """The arrays of :class:`galton.solve.equations.Equations`."""

    groups: Any | None
    starts: Any
    columns: Any
    codes: Any
    scale: Any | None
    constant: Any
    rows: Any
    progress: Any
    longest: int


def number_states(open_states: Any, component: Any | None) -> tuple[Any, int]:
    """The unknown of each open state, -1 for others, and how many there are; a component is one unknown."""
    size = len(open_states)
    first = open_states
    if component is not None:
        # The first state of a component stands for all of it.
        heads = cp.full(int(component.max()) + 1 if size else 0, size, dtype=np.int32)
        states = cp.arange(size, dtype=np.int32)
        inside = open_states & (component >= 0)
        cp.minimum.at(heads, component[inside], states[inside])
        head = cp.where(inside, heads[cp.maximum(component, 0)], states)
        first = open_states & (head == states)
    ranks = cp.cumsum(first, dtype=np.int32) - 1
    number = cp.where(open_states, ranks if component is None else ranks[head], np.int32(-1)).astype(np.int32)
    return number, int(ranks[-1]) + 1 if size else 0


def restrict(model: Model, number: Any, unknowns: int, known: Any, reward: Any | None, keep: Any | None) -> Restricted:
    """The equations of the numbered states; see :func:`galton.reduce.restriction.restrict`."""
    values = model.values
    codes = values.plain if values.dictionary is None else values.index
    assert codes is not None
    kernel = _kernels(model.row_starts, codes)
    kept = cp.empty(model.n_choices, dtype=np.uint8)
    unknown = cp.empty(model.n_choices, dtype=np.int32)
    kernel.launch("mark_rows", model.n_states, model.choice_starts, number, keep, model.n_states, kept, unknown)
    rows = positions(kept)
    owner = unknown[rows]
    del kept, unknown
    if unknowns and how_many(owner[1:] < owner[:-1]):  # components gather rows from several places
        order = cp.argsort(owner, kind="stable")
        rows, owner = rows[order], owner[order]
    counts = cp.empty(len(rows), dtype=np.int32)
    longest = cp.zeros(1, dtype=np.uint64)
    row_starts, columns = model.row_starts, model.columns
    kernel.launch("count_entries", len(rows), row_starts, columns, number, rows, owner, len(rows), counts, longest)
    starts = cp.zeros(len(rows) + 1, dtype=row_starts.dtype)
    cp.cumsum(counts, out=starts[1:], dtype=row_starts.dtype)
    del counts
    entries = int(starts[-1])
    new_columns, new_codes = cp.empty(entries, dtype=np.int32), cp.empty(entries, dtype=codes.dtype)
    scale, constant = cp.empty(len(rows)), cp.empty(len(rows))
    exits = cp.empty(len(rows), dtype=np.uint8)
    given = (row_starts, columns, codes, values.dictionary, number, known, reward, rows, owner, len(rows))
    rates = int(model.has_rates)
    scaled = cp.zeros(1, dtype=np.uint64)
    written = (starts, new_columns, new_codes, scale, constant, exits, scaled)
    kernel.launch("write_rows", len(rows), *given, rates, *written)
    groups = None
    if model.choice_starts is not None:
        groups = cp.searchsorted(owner, cp.arange(unknowns + 1, dtype=np.int32)).astype(np.int32)
    progress = _progress(kernel, groups, starts, new_columns, exits, owner, unknowns)
    if starts.itemsize == 8 and entries <= LARGEST:
        starts = starts.astype(np.int32)
    # Without loops and rates nothing is divided out: eight bytes a row that no sweep has to read.
    kept_scale = scale if int(scaled[0]) else None
    return Restricted(groups, starts, new_columns, new_codes, kept_scale, constant, rows, progress, int(longest[0]))


def _progress(
    kernel: Kernels, groups: Any | None, starts: Any, columns: Any, exits: Any, owner: Any, unknowns: int
) -> Any:
    """A row of each unknown; together a strategy that leaves the unknowns with probability 1, where one does."""
    if groups is None:
        return cp.arange(unknowns, dtype=np.int32)
    progress = cp.full(unknowns, -1, dtype=np.int32)
    changed = cp.ones(1, dtype=np.uint64)
    given, rows = (starts, columns, groups, exits), len(owner)
    wide = wide_unknowns(groups) is not None
    while int(changed[0]):
        changed[:] = 0
        for _ in range(8):
            kernel.launch("make_progress", unknowns, *given, unknowns, MANY_ROWS, progress, changed)
            if wide:
                kernel.launch("make_wide_progress", rows, *given, owner, rows, MANY_ROWS, progress, changed)
    return cp.where(progress < 0, groups[:-1], progress).astype(np.int32)


def _kernels(offsets: Any, codes: Any) -> Kernels:
    return kernels(FILE, "OFFSET=int" if offsets.itemsize == 4 else "OFFSET=long long", f"CODE={CODES[codes.itemsize]}")
