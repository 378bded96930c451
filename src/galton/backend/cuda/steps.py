"""Steps of chains and MDPs on a CUDA device.

The kernels are in ``steps.cu``, ``part.cu`` and ``products.cu``. The steps of a call follow each other on the device;
the extremes of the last come back once, in the end.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.arrays import members, offsets, on_host, repeated
from ...device.cuda.kernels import Kernels, kernels
from ...device.cuda.positions import positions
from ...model.rounding import DOUBLE, SINGLE, Precision
from ...model.sparse import Model
from ..formats import FORMATS, STEPPING, suitable
from .layout import Layout, csr, lanes_for, lay_out, measure
from .rows import spread

__all__ = [
    "Bellman",
    "Chain",
    "StepMatrix",
    "batch",
    "exit_rates",
    "matrix_of",
    "part_of",
    "row_products",
    "threads",
]

BATCH = 1e10  # entries and rows that one call goes over: about a tenth of a second
MEETING = 1e5  # entries that the device could have gone over while its threads wait for each other, between two steps

FILES = {name: Path(__file__).with_name(f"{name}.cu") for name in ("steps", "part", "products")}
GOLDEN = 0.6180339887498949  # multiples of which are spread over what comes after the point
ROUNDING = 1e-12
LARGEST = 2**31 - 1
LEAST_FLOAT = 2.0**-120  # values from this up to its inverse have all their digits as floats
TOGETHER = 8_000_000  # entries and rows from which on a step takes longer than a launch
ALONE = 4096  # threads up to which one block is faster than several that have to meet
BLOCK = 512
EXTREMES_THREADS = 1 << 17  # threads that find the extremes of the last step
_NOBODY = (None, 0, None)  # is watched


@dataclass(frozen=True, eq=False)
class StepMatrix:
    """The rows of a model or of a part of it; no groups for a chain, no dictionary where codes are values.

    ``format`` is that of steps, one of :data:`STEPPING`; for any other name they stay with CSR, and None stands for the
    one that suits the matrix. With ``single`` vectors are floats, and so are values where their range allows it.
    """

    groups: Any | None
    starts: Any
    columns: Any
    codes: Any
    dictionary: Any | None
    format: str | None = None
    single: bool = False

    @property
    def precision(self) -> Precision:
        """What vectors are kept in."""
        return SINGLE if self.single else DOUBLE

    @property
    def rounds_values(self) -> bool:
        """Whether values are floats. Numbers of a dictionary are exact, and shorter still."""
        return bool(self.codes.dtype == np.float32)

    @cached_property
    def csr(self) -> Layout:
        """The matrix as it is, with as many threads a row as its length asks for."""
        name = "csr" if lanes_for(len(self.columns) / max(len(self.starts) - 1, 1)) == 1 else "csr-vector"
        return csr(self.groups, self.starts, self.columns, self.codes, self.dictionary, name=name)

    @property
    def work(self) -> int:
        """Of a step: entries and rows, by what they take."""
        return len(self.columns) + 3 * len(self.starts)

    @cached_property
    def layout(self) -> Layout:
        """The matrix for many steps: laid out anew where a step is long and gets shorter so."""
        if self.format is not None:
            if self.format not in STEPPING:
                return self._as_it_is("there is no other for steps")
            return lay_out(self.csr, self.format, "as asked")
        if self.work < TOGETHER:
            return self._as_it_is("small")
        name, _ = suitable(measure(self.csr))
        if name not in STEPPING or name == self.csr.name:
            return self._as_it_is("by its rows")
        try:
            found = [(*_tried(layout, self.precision), layout) for layout in (self.csr, lay_out(self.csr, name))]
        except cp.cuda.memory.OutOfMemoryError:
            return self._as_it_is("no memory for another format")
        # Nothing else looks at steps again, as proofs do at sweeps: a format has to give what CSR gives.
        plain, other_way = (result for _, result, _ in found)
        allowed = ROUNDING + 2 * self.precision.storing
        if not float(cp.abs(plain - other_way).max()) <= allowed * float(cp.abs(plain).max()):
            return self._as_it_is(f"{FORMATS[name]} gave other numbers")
        (fast, _, best), (slow, _, other) = sorted(found, key=lambda one: one[0])
        return replace(best, reason=f"{fast * 1e6:,.0f} µs a step, {FORMATS[other.name]} {slow * 1e6:,.0f}")

    def _as_it_is(self, reason: str) -> Layout:
        return replace(self.csr, reason=reason)

    def in_format(self, name: str | None, *, single: bool = False) -> StepMatrix:
        """The matrix in a format of :mod:`galton.backend.formats`, None for any, and in single precision or not."""
        codes = self.codes
        if single and self.dictionary is None and _fit_floats(codes):
            codes = codes.astype(np.float32)
        return replace(self, codes=codes, format=name, single=single)

    def renumbered(self, states: Any, position: Any) -> StepMatrix:
        """The matrix with its states in another order; ``position`` has the new number of each."""
        rows, groups, owners = states, None, None
        if self.groups is not None:
            places, sizes = members(self.groups, states)
            rows, groups = places.astype(np.int32), offsets(sizes, np.int32)
            owners = repeated(cp.arange(len(states), dtype=np.int32), sizes)
        return self.picked(rows, groups, owners, position, loops=True)

    def picked(self, rows: Any, groups: Any | None, owners: Any | None, position: Any, *, loops: bool) -> StepMatrix:
        """Some rows, given what ``part.cu`` asks for."""
        kernel, n_rows = _kernels("part", self.csr), len(rows)
        counts = cp.empty(n_rows, dtype=np.int32)
        kept = (position, rows, owners, int(loops), n_rows)
        kernel.launch("count_part", n_rows, self.starts, self.columns, *kept, counts)
        starts = offsets(counts, self.starts.dtype)
        entries = int(starts[-1])
        columns, codes = cp.empty(entries, dtype=np.int32), cp.empty(entries, dtype=self.codes.dtype)
        kernel.launch("write_part", n_rows, self.starts, self.columns, self.codes, *kept, starts, columns, codes)
        if starts.itemsize == 8 and entries <= LARGEST:
            starts = starts.astype(np.int32)
        return StepMatrix(groups, starts, columns, codes, self.dictionary)

    def describe(self) -> str:
        """The format, and why."""
        vectors = ", vectors in single precision" if self.single else ""
        return f"{self.layout}{vectors}: {self.layout.reason}"

    def chain(self, scale: float, stay: Any | None) -> Chain:
        """A chain to make steps of."""
        return Chain(self, scale, stay)

    def bellman(self, constant: Any | None, maximise: bool) -> Bellman:
        """An MDP to make steps of."""
        return Bellman(self, constant, maximise)


def _kernels(file: str, layout: Layout, precision: Precision = DOUBLE, *more: str) -> Kernels:
    real = ("REAL=float",) if precision is SINGLE else ()
    return kernels(FILES[file], *layout.defines, *real, *more)


def _fit_floats(values: Any) -> bool:
    """Whether no value loses more than its last digits as a float."""
    if not len(values):
        return False
    return float(values.min()) >= LEAST_FLOAT and float(values.max()) <= 1 / LEAST_FLOAT


def _rows(layout: Layout, constant: Any | None = None, optimum: int = 0, chunks: Any | None = None) -> tuple[Any, ...]:
    """``ROWS_PARAMETERS`` of ``rows.cuh``."""
    pattern = (layout.starts, layout.columns, layout.groups)
    return (*pattern, layout.codes, layout.dictionary, None, None, constant, None, optimum, chunks)


def _tried(layout: Layout, precision: Precision, steps: int = 8) -> tuple[float, Any]:
    """How long one of a few steps takes, after one that may have to load the kernels; and what comes of it."""
    kernel, size, real = _kernels("steps", layout, precision), layout.size, precision.real
    x, y = ((cp.arange(size) * GOLDEN) % 1.0).astype(real), cp.zeros(size, dtype=real)
    extremes = cp.zeros(8, dtype=np.uint64)
    chain = layout.groups is None
    given = (*_rows(layout), 1.0, None, None, None) if chain else _rows(layout, None, 1)
    for count in (1, steps):
        start = time.perf_counter()
        for _ in range(count):
            name = "chain_steps" if chain else "bellman_steps"
            kernel.launch(name, size * layout.lanes, *given, x, y, size, 0, 1, 1, *_NOBODY, extremes)
        int(extremes[0])  # waits for the device
        seconds = (time.perf_counter() - start) / count
    return seconds, y


def matrix_of(model: Model) -> StepMatrix:
    """The matrix of a model; the arrays are shared."""
    values = model.values
    codes = values.plain if values.dictionary is None else values.index
    return StepMatrix(model.choice_starts, model.row_starts, model.columns, codes, values.dictionary)


def part_of(model: Model, keep: Any, loops: bool, threads: int) -> tuple[Any, Any, StepMatrix, Any, int]:
    """The states kept, for each state its number among them or -1, their matrix, its offsets and its entries."""
    matrix = matrix_of(model)
    states = positions(keep)
    position = cp.where(keep, cp.cumsum(keep, dtype=np.int32) - 1, np.int32(-1)).astype(np.int32)
    groups, rows, owners = None, states, None
    if model.choice_starts is not None:
        groups = cp.zeros(len(states) + 1, dtype=np.int32)
        cp.cumsum((model.choice_starts[1:] - model.choice_starts[:-1])[states], out=groups[1:])
        owner = spread(model, position)
        rows = positions(owner >= 0)
        owners = owner[rows]
    part = matrix.picked(rows, groups, owners, position, loops=loops)
    return states, position, part, part.starts, len(part.columns)


def batch(entries: int, rows: int) -> int:
    """How many steps over so many entries and rows to ask for at a time."""
    return max(1, int(BATCH / (entries + 3 * rows + 1 + MEETING)))


def threads(wanted: int) -> int:
    """One: the device has its own."""
    return 1


def row_products(model: Model, vector: Any, threads: int) -> Any:
    """``(choices,)`` the matrix of a model times a vector."""
    matrix, n_rows = matrix_of(model), model.n_choices
    products, given = cp.empty(n_rows), vector.astype(np.float64, copy=False)
    lanes = n_rows * matrix.csr.lanes
    _kernels("products", matrix.csr).launch("row_products", lanes, *_rows(matrix.csr), given, products, n_rows)
    return products


def exit_rates(model: Model, loops: bool, threads: int) -> tuple[Any, Any]:
    """``(states,)`` the sum of the rates out of each state, as a double and what it lacks."""
    matrix, n_rows = matrix_of(model), model.n_choices
    high, low = cp.empty(n_rows), cp.empty(n_rows)
    kernel = _kernels("products", matrix.csr)
    kernel.launch("exit_rates", n_rows, *_rows(matrix.csr), int(loops), n_rows, high, low)
    return high, low


class _Steps:
    """Launches of the kernels of ``steps.cu``; ``step`` has the first arguments of those that make steps."""

    step: tuple[Any, ...]
    recorded: Any | None = None  # what the watched states showed, before each step
    _seen: tuple[Any, int, Any] = _NOBODY

    def __init__(self, layout: Layout, work: int, precision: Precision) -> None:
        self._wide = layout.wide
        self._kernels = _kernels("steps", layout, precision)
        self._of_wide = _kernels("steps", layout, precision, *self._wide.defines) if self._wide else self._kernels
        self._size, self._threads, self._work = layout.size, layout.size * layout.lanes, work
        self._real = precision.real
        self._extremes = cp.zeros(8, dtype=np.uint64)

    def _run(
        self, kernel: str, steps: int, x: Any, other: Any, watched: Any | None, record: Any | None, *given: Any
    ) -> list[float]:
        if not len(x) == len(other) == self._size:
            raise ValueError("a vector has the wrong length")
        if not x.dtype == other.dtype == self._real:
            raise ValueError(f"vectors are of {x.dtype} and {other.dtype}, not of {np.dtype(self._real)}")
        self.begin(steps, watched)
        one_launch = self._wide is None and self._work < TOGETHER
        held = self._kernels.most_threads(kernel, BLOCK) if one_launch else 0
        if held:
            threads = min(self._threads, BLOCK if self._threads <= ALONE else held)
            arguments = (*given, x, other, self._size, 0, steps, steps, *self._seen, self._extremes)
            self._kernels.launch_together(kernel, threads, *arguments, block=BLOCK)
        else:
            for step in range(steps):
                self.one_step(kernel, step, steps, x, other, *given)
        found = self.seen(steps, x, other)
        if record is not None:
            record[:] = on_host(self.recorded)
        return found

    def begin(self, steps: int, watched: Any | None) -> None:
        """Forget the extremes of other steps, and make room for what so many will show in the watched states."""
        self._extremes[:] = 0
        self.recorded = None if watched is None else cp.empty(steps * len(watched))
        self._seen = _NOBODY if watched is None else (watched, len(watched), self.recorded)

    def one_step(self, kernel: str, step: int, steps: int, x: Any, other: Any, *given: Any) -> None:
        """One of so many steps: from x into the other vector, or back if it has an odd number."""
        arguments = (*given, x, other, self._size, step, step + 1, steps, *self._seen, self._extremes)
        self._kernels.launch(kernel, self._threads, *arguments)
        if self._wide is not None:
            self._of_wide.launch(kernel, self._wide.threads, *arguments, block=self._wide.block)

    def seen(self, steps: int, x: Any, other: Any) -> list[float]:
        """The extremes of the last of so many steps."""
        threads = min(self._size, EXTREMES_THREADS)
        self._kernels.launch("last_step_extremes", threads, x, other, self._size, steps, self._extremes)
        return _decoded(self._extremes)


class Chain(_Steps):
    """Steps of one chain, ``x <- factor * (A x) + stay * x``, or ``x <- A x`` without ``stay``."""

    def __init__(self, matrix: StepMatrix, factor: float, stay: Any | None) -> None:
        super().__init__(matrix.layout, matrix.work, matrix.precision)
        staying = None if stay is None else stay.astype(matrix.precision.real, copy=False)
        self.step = (*_rows(matrix.layout), float(factor), staying)
        self._stays = stay is not None

    def run(
        self,
        steps: int,
        weights: Any | None,
        x: Any,
        other: Any,
        total: Any | None,
        threads: int,
        watched: Any | None = None,
        record: Any | None = None,
    ) -> tuple[bool, *tuple[float, ...]]:
        """``steps`` times: ``total += weight * x``, then a step; what is watched is brought home.

        Returns whether x ended in ``other``, and the numbers of :class:`galton.backend.steps.Seen`.
        """
        given = None if weights is None else cp.asarray(weights)
        extremes = self._run("chain_steps", steps, x, other, watched, record, *self.step, given, total)
        if self._stays:
            extremes[-1] = 0.0
        return (steps % 2 == 1, *extremes)


class Bellman(_Steps):
    """Steps of one MDP, ``x <- opt (A x + constant)``."""

    def __init__(self, matrix: StepMatrix, constant: Any | None, maximise: bool) -> None:
        layout = matrix.layout
        if layout.source is not None and constant is not None:  # slices have it among their numbers
            layout, constant = lay_out(layout.source, layout.name, constant=constant), None
        super().__init__(layout, matrix.work, matrix.precision)
        chunks = None if layout.wide is None else layout.wide.chunks
        self.step = _rows(layout, constant, 1 if maximise else -1, chunks)

    def run(
        self,
        steps: int,
        x: Any,
        other: Any,
        choices: Any | None,
        threads: int,
        watched: Any | None = None,
        record: Any | None = None,
    ) -> tuple[bool, *tuple[float, ...]]:
        """``steps`` steps; choices, if any, and what is watched are brought home.

        Returns whether x ended in ``other``, and the numbers of :class:`galton.backend.steps.Seen`.
        """
        if choices is None:
            extremes = self._run("bellman_steps", steps, x, other, watched, record, *self.step)
        else:
            chosen = cp.empty(len(choices), dtype=np.int32)
            extremes = self._run("bellman_choices", steps, x, other, watched, record, *self.step, chosen)
            choices[:] = on_host(chosen)
        return (steps % 2 == 1, *extremes)


def _decoded(extremes: Any) -> list[float]:
    """The seven numbers of ``step_extremes.cuh``: the least ones are there as negations, 0 says that there are none."""
    keys = extremes.get()[:7]
    bits = np.where(keys >> np.uint64(63), keys ^ np.uint64(1 << 63), ~keys)
    values = np.where(keys == 0, -np.inf, bits.view(np.float64))
    signs = np.array([-1, 1, -1, 1, -1, 1, -1])
    return [float(value) for value in signs * values]
