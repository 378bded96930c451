"""Where the numbers of a matrix are on a device: CSR as it came, or laid out anew for the threads that read it.

See ``rows.cuh`` and ``states.cuh`` for the layouts. Slices are made by the kernels of ``slices.cu``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.arrays import on_host
from ...device.cuda.kernels import Kernels, kernels
from ..formats import FORMATS, MANY_ROWS, SHORT, Statistics
from .numbers import Table
from .wide import Wide, wide_unknowns

__all__ = ["CODES", "Layout", "Variant", "csr", "lanes_for", "lay_out", "measure"]

FILE = Path(__file__).with_name("slices.cu")
CODES = {1: "unsigned char", 2: "unsigned short", 4: "float", 8: "double"}
NO_ENTRY = 0x40000000  # as in states.cuh
MOST_STATES = NO_ENTRY  # that column numbers of slices can tell apart
WARP = 32
LANES = {"ell": 1, "sliced": 1, "half-sliced": 2}
MEASURERS = 1 << 16  # threads that measure rows
LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Variant:
    """How a matrix is read: entries at a time, threads of a block, and whether slices are cached like all else."""

    unroll: int = 4
    block: int = 128
    cached: bool = False

    def __str__(self) -> str:
        return f"{self.unroll} x {self.block} {'cached' if self.cached else 'streamed'}"


@dataclass(frozen=True, eq=False)
class Layout:
    """A matrix with a row or several for each unknown.

    Attributes
    ----------
    name
        One of :data:`galton.backend.formats.FORMATS`.
    groups, starts, columns, codes, dictionary
        As the kernels take them.
    rows
        The number of rows.
    places
        What a sweep reads of ``columns`` and ``codes``, in entries.
    reason
        Why this one.
    source
        For slices, the matrix in CSR. They have the scale and the constant of each row in them, rounded to the nearest,
        and are for sweeps alone.
    """

    name: str
    groups: Any | None
    starts: Any
    columns: Any
    codes: Any
    dictionary: Any | None
    size: int
    rows: int
    places: int
    lanes: int
    reason: str = ""
    source: Layout | None = None
    variant: Variant = Variant()

    @property
    def defines(self) -> tuple[str, ...]:
        """The macros of ``rows.cuh``."""
        layout = {"ell": "ELL", "sliced": "SLICED", "half-sliced": "SLICED"}.get(self.name, "CSR")
        shape = (f"LANES={self.lanes}", f"UNROLL={self.variant.unroll}", f"LAYOUT={layout}")
        cached = ("CACHED=1",) if self.variant.cached else ()
        return (*_types(self.starts, self.codes), *cached, *shape)

    @cached_property
    def wide(self) -> Wide | None:
        """The unknowns that have blocks of their own. Slices have none."""
        return wide_unknowns(self.groups) if self.source is None else None

    @property
    def bytes_per_sweep(self) -> int:
        """The fewest bytes of the matrix that a sweep over all unknowns has to read."""
        groups = 0 if self.groups is None or self.source is not None else self.groups.nbytes
        return int(self.starts.nbytes + groups + self.places * (self.columns.itemsize + self.codes.itemsize))

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, without those of the CSR that slices were made of."""
        groups = self.groups if self.source is None else None
        parts = (groups, self.starts, self.columns, self.codes, self.dictionary)
        return sum(int(part.nbytes) for part in parts if part is not None)

    def __str__(self) -> str:
        dictionary = self.dictionary
        width = self.codes.itemsize
        values = f"{width}-byte values" if dictionary is None else f"{width}-byte numbers of {len(dictionary):,} values"
        lanes = f" ({self.lanes})" if self.name == "csr-vector" else ""
        return f"{FORMATS[self.name]}{lanes}, {values}"


def csr(
    groups: Any | None,
    starts: Any,
    columns: Any,
    codes: Any,
    dictionary: Any | None,
    *,
    name: str = "csr",
    reason: str = "",
) -> Layout:
    """The matrix as it is, for the formats that read it row after row."""
    rows = len(starts) - 1
    size = rows if groups is None else len(groups) - 1
    mean = len(columns) / max(rows, 1)
    lanes = max(lanes_for(mean), 4) if name == "csr-vector" else 1
    parts = (groups, starts, columns, codes, dictionary)
    return Layout(name, *parts, size=size, rows=rows, places=len(columns), lanes=lanes, reason=reason)


def lay_out(
    matrix: Layout,
    name: str,
    reason: str = "",
    *,
    scale: Any | None = None,
    constant: Any | None = None,
    compact: bool = True,
) -> Layout:
    """A matrix that is in CSR, in the format of that name; slices get scale and constant as well.

    Slices have codes for their numbers where these are few enough, unless they are not to be ``compact``.
    """
    if name not in LANES:
        parts = (matrix.groups, matrix.starts, matrix.columns, matrix.codes, matrix.dictionary)
        return csr(*parts, name=name, reason=reason)
    if matrix.size > MOST_STATES:
        return replace(matrix, reason="too many unknowns for slices")
    if matrix.wide is not None:
        return replace(matrix, reason=f"{matrix.wide.unknowns:,} unknowns with more than {MANY_ROWS} rows, no slices")
    lanes = LANES[name]
    heights = _lines(matrix, lanes, constant)
    slices = cp.zeros(len(heights) + 1, dtype=np.int64)
    cp.cumsum(heights, out=slices[1:], dtype=np.int64)
    slices *= WARP
    if name == "ell":
        breadth = WARP * len(heights)
        total = breadth * (int(heights.max()) if len(heights) else 0)
        starts, given = cp.asarray(np.array([breadth, total], dtype=np.int64)), None
    else:
        breadth, total, starts, given = WARP, int(slices[-1]), slices, slices
    source = (matrix.starts, matrix.columns, matrix.groups, matrix.codes, matrix.dictionary)
    rows = (*source, scale, None, constant, None, 0, None)
    kernel, dictionary = _kernels(matrix), None
    if compact:
        table = Table(2, zero=True)
        kernel.launch("collect_numbers", matrix.rows, *rows, matrix.rows, *table.arguments)
        dictionary = table.sorted()
    distinct = 0 if dictionary is None else len(dictionary)
    plain = np.float32 if matrix.codes.dtype == np.float32 else np.float64
    code = plain if dictionary is None else np.uint8 if distinct <= 256 else np.uint16
    columns, codes = cp.full(total, NO_ENTRY, dtype=np.int32), cp.zeros(total, dtype=code)
    shape = (matrix.size, lanes, given, breadth)
    kernel.launch("fill", matrix.size, *rows, *shape, dictionary, distinct, codes.itemsize, columns, codes)
    if total <= LARGEST:
        starts = starts.astype(np.int32)
    laid = replace(matrix, starts=starts, columns=columns, codes=codes, dictionary=dictionary, places=total)
    return replace(laid, name=name, lanes=lanes, reason=reason, source=matrix)


def measure(matrix: Layout, constant: Any | None = None) -> Statistics:
    """The lengths of the rows of a matrix in CSR, and what slices would make of them."""
    entries, rows = len(matrix.columns), matrix.rows
    measured = cp.zeros(3, dtype=np.uint64)
    threads = min(rows, MEASURERS)
    given = (matrix.starts, constant, rows, threads)
    _kernels(matrix).launch("measure_rows", threads, *given, measured, measured[1:], measured[2:])
    longest, squares, numbers = (int(number) for number in on_host(measured))
    mean = entries / max(rows, 1)
    spread = max(squares / max(rows, 1) - mean**2, 0.0) ** 0.5
    if matrix.wide is not None:
        return Statistics(rows, entries, mean, spread, longest, math.inf, matrix.wide.unknowns)
    places = WARP * int(_lines(matrix, 1, constant).sum(dtype=np.int64)) / max(numbers, 1)
    return Statistics(rows, entries, mean, spread, longest, places)


def _lines(matrix: Layout, lanes: int, constant: Any | None) -> Any:
    """How many lines each slice of the matrix has."""
    states = WARP // lanes
    slices = -(-matrix.size // states)
    lines = cp.zeros(slices * states, dtype=np.int32)
    given = (matrix.starts, matrix.groups, constant, matrix.size)
    _kernels(matrix).launch("count_lines", matrix.size, *given, lanes, lines)
    return lines.reshape(slices, states).max(axis=1) if slices else lines


def _kernels(matrix: Layout) -> Kernels:
    return kernels(FILE, *_types(matrix.starts, matrix.codes), "LANES=1")


def _types(starts: Any, codes: Any) -> tuple[str, str]:
    return "OFFSET=int" if starts.itemsize == 4 else "OFFSET=long long", f"CODE={CODES[codes.itemsize]}"


def lanes_for(entries: float) -> int:
    """Threads for a row of so many entries."""
    return 1 if entries <= SHORT else 4 if entries <= 32 else 8 if entries <= 64 else 32
