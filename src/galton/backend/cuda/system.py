"""Equations ``x = opt(Ax + b)`` on a CUDA device: the primitives of :class:`galton.backend.protocol.System`.

The kernels are in ``sweeps.cu``, ``evaluate.cu``, ``proof.cu`` and ``weigh.cu``. Threads and direction mean nothing
here: a Gauss–Seidel sweep is one in place, in which some threads see what others have just written. Nothing is brought
back from the device but the largest change, and that only now and then. Sweeps may be over vectors in single precision.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.cuda.kernels import Kernels, kernels
from ..protocol import NOISE, Span, Stop
from . import induced, krylov, numbers
from .layout import WARP, Layout

__all__ = ["System", "next_batch"]

FILES = {name: Path(__file__).with_name(f"{name}.cu") for name in ("sweeps", "evaluate", "proof", "weigh", "segmented")}
CHECK_EVERY = 32  # sweeps between checks of how much they change
CHUNK = 1024  # as in segmented.cu
DOWN, NEAREST, UP = -1, 0, 1


class System:
    """The equations; see :class:`galton.backend.protocol.System` for what each primitive means.

    Parameters
    ----------
    matrix
        In any format. Slices must have this scale and this constant in them; sweeps read them, and all else reads what
        they were made of.
    scale, constant
        ``(rows,)``; no scale for 1 everywhere.
    optimum
        -1, 0 or 1.
    compact
        Whether constants do not change: then there may be slices, and codes for scale and constant.
    """

    def __init__(
        self, matrix: Layout, scale: Any | None, constant: Any, optimum: int, *, compact: bool = False
    ) -> None:
        self.matrix = matrix if matrix.source is None else matrix.source
        self.size = matrix.size
        self._slices = None if matrix.source is None or not compact else matrix
        self._scale, self._constant = scale, constant
        pack = numbers.compact if compact else _plain
        self._of_rows = (*(_plain(None) if scale is None else pack(scale)), *pack(constant))
        self._optimum = optimum
        self._results = cp.zeros(2, dtype=np.uint64)  # of kernels: a maximum as bits, and a count
        self._segmented = _Segmented(matrix) if matrix.name == "segmented" else None

    @property
    def bytes_per_sweep(self) -> int:
        """The fewest bytes that a sweep over all unknowns has to move: matrix, numbers of rows, x in and out."""
        if self._slices is not None:
            return self._slices.bytes_per_sweep + 16 * self.size
        of_rows = 0
        for values, codes in (self._of_rows[:2], self._of_rows[2:]):
            if values is not None:
                of_rows += (values if codes is None else codes).nbytes
        sums = 0 if self._segmented is None else self._segmented.bytes_moved
        return int(self.matrix.bytes_per_sweep + of_rows + 16 * self.size + sums)

    @property
    def nbytes(self) -> int:
        """Bytes of what sweeps need besides vectors: the matrix in their format, numbers of rows, and sums."""
        if self._slices is not None:
            return self._slices.nbytes
        of_rows = sum(int(part.nbytes) for part in self._of_rows if part is not None)
        sums = 0 if self._segmented is None else self._segmented.bytes_moved // 2
        return self.matrix.nbytes + of_rows + sums

    # Sweeps.

    def gauss_seidel(
        self,
        x: Any,
        copy: Any,
        chosen: Any | None,
        span: Span,
        stop: Stop,
        *,
        forward: bool = True,
        omega: float = 1.0,
    ) -> tuple[int, float]:
        """Sweeps in place."""
        return self._sweeps(x, x, chosen, span, stop, omega)

    def jacobi(
        self, x: Any, copy: Any, chosen: Any | None, span: Span, stop: Stop, *, omega: float = 1.0
    ) -> tuple[int, float]:
        """Sweeps from one vector into the other."""
        copy[:] = x
        done, residual = self._sweeps(x, copy, chosen, span, stop, omega)
        if done % 2:
            x[span.part] = copy[span.part]
        return done, residual

    def _sweeps(self, x: Any, y: Any, chosen: Any | None, span: Span, stop: Stop, omega: float) -> tuple[int, float]:
        done, residual = 0, float("inf")
        while done < stop.sweeps and residual > stop.tolerance:
            batch = next_batch(stop, done)
            for sweep in range(batch):
                measure = sweep == batch - 1
                self.sweep_once(
                    x, y, chosen, span, down=sweep % 2, omega=omega, relative=stop.relative, measure=measure
                )
                x, y = y, x
            done += batch
            residual = self.last_change()
        return done, residual

    def sweep_once(
        self,
        x: Any,
        y: Any,
        chosen: Any | None,
        span: Span,
        *,
        down: int,
        omega: float,
        relative: bool,
        measure: bool,
    ) -> None:
        """A sweep from x into y, which may be x, upwards or downwards; :meth:`last_change` has a measured change."""
        if measure:
            self._results[:] = 0
        shape = (float(omega), down, span.first, span.last, int(relative), self._results if measure else None)
        slices = self._slices if chosen is None else None  # which have nothing for a single row
        self._sweep("sweep", slices, span, x, chosen, x, y, *shape, wide=chosen is None)

    def last_change(self) -> float:
        """The largest change of the last sweep that was measured."""
        return self._largest()

    def improve(self, x: Any, copy: Any, chosen: Any, span: Span, noise: float = NOISE) -> tuple[int, float]:
        """A sweep in place that also takes the best rows; whether any changed, and the largest change."""
        assert noise == NOISE, "the kernel knows no other"
        self._results[:] = 0
        results = (self._results, self._results[1:])
        self._sweep("improve", self._slices, span, x, x, chosen, span.first, span.last, *results)
        change, changed = self._results.get()
        return int(changed), float(np.uint64(change).view(np.float64))

    def defect(self, x: Any, span: Span) -> float:
        """The largest |F(x) - x| / x."""
        return self._maximum("evaluate", "defect", span, x, NEAREST, x, span.first, span.last)

    def row_values(self, x: Any, values: Any, span: Span) -> None:
        """The value of each row."""
        if self._slices is not None and self.matrix.groups is None and (span.first, span.last) == (0, self.size):
            self.multiply(x, values, None, with_constant=True)
            return
        self._run("evaluate", "row_values", span, x, NEAREST, x, values, span.first, span.last)

    def multiply(self, x: Any, y: Any, chosen: Any | None, *, with_constant: bool, from_x: bool = False) -> None:
        """Write Ax + b into y, or Ax, or x - Ax; of a chain, or of the chain of the rows chosen."""
        span, slices = Span(0, self.size), self._slices if chosen is None and self.matrix.groups is None else None
        given = (chosen, x, y, int(with_constant), int(from_x), 0, self.size)
        if slices is None:
            self._run("evaluate", "multiply", span, x, NEAREST, *given, wide=False)
        else:
            self._over("evaluate", "multiply", slices, span, x, *given)

    # Proofs.

    def is_above(self, upper: Any, span: Span, slack: float) -> bool:
        """Whether upper >= F(upper) for certain."""
        return self._maximum("proof", "is_above", span, upper, UP, upper, slack, span.first, span.last) == 0

    def is_below(self, lower: Any, span: Span, slack: float) -> bool:
        """Whether 0 <= lower <= F(lower) < ∞ for certain."""
        return self._maximum("proof", "is_below", span, lower, DOWN, lower, slack, span.first, span.last) == 0

    def propagate(self, lower: Any, upper: Any, span: Span, slack: float) -> None:
        """One sweep on bounds, rounded outward."""
        if self._segmented is None and self.matrix.wide is None:
            self._run("proof", "propagate", span, upper, UP, lower, upper, slack, span.first, span.last)
        else:  # one vector at a time, because of its sums or of what blocks tell each other
            self._run("proof", "propagate", span, upper, UP, None, upper, slack, span.first, span.last)
            self._run("proof", "propagate", span, lower, DOWN, lower, None, slack, span.first, span.last)

    # Weights.

    def weigh_rows(self, x: Any, chosen: Any | None, constants: Any, span: Span, *, near: float, share: float) -> None:
        """Constants for the equations of w."""
        self._run("weigh", "weigh_rows", span, x, NEAREST, x, chosen, near, share, constants, span.first, span.last)

    def left_to_delta(self, x: Any, w: Any, constants: Any, span: Span, *, share: float) -> float:
        """What δ has to do for the rows without a weight."""
        return self._maximum("weigh", "left_to_delta", span, w, NEAREST, x, w, constants, share, span.first, span.last)

    def growth(self, w: Any, x: Any, span: Span) -> float:
        """The largest (F(w) - w) / x."""
        return self._maximum("weigh", "growth", span, w, NEAREST, w, x, span.first, span.last)

    def take_free_rows(self, x: Any, chosen: Any, span: Span) -> None:
        """Where x is 0, the first row that is worth 0."""
        self._run("weigh", "take_free_rows", span, x, NEAREST, x, chosen, span.first, span.last)

    # Krylov.

    def bicgstab(self, x: Any, chosen: Any | None, span: Span, sweeps: int, tolerance: float) -> tuple[int, float]:
        """BiCGStab on x = Ax + b, until every residual is at most ``tolerance`` of x."""
        assert (span.first, span.last) == (0, self.size), "a device solves all unknowns together"
        return self._by_levels(x, chosen, sweeps, tolerance) or krylov.bicgstab(self, x, chosen, sweeps, tolerance)

    def _by_levels(self, x: Any, chosen: Any | None, sweeps: int, tolerance: float) -> tuple[int, float] | None:
        """By sweeps from level to level as well; None where there are none, or no memory for the rows once more."""
        try:
            return induced.solve(self.matrix, self._scale, self._constant, x, chosen, sweeps, tolerance)
        except cp.cuda.memory.OutOfMemoryError:
            return None

    def solve_induced(
        self, x: Any, chosen: Any, span: Span, tolerance: float, *, fine: bool = False
    ) -> tuple[int, float]:
        """The solution for the rows chosen."""
        assert not fine, "a device does not undo what rounding adds up to"
        return self.bicgstab(x, chosen, span, krylov.SWEEPS, tolerance)

    # Launches.

    def _sweep(
        self, kernel: str, slices: Layout | None, span: Span, of: Any, *arguments: Any, wide: bool = True
    ) -> None:
        """Over slices where there are any."""
        if slices is None:
            self._run("sweeps", kernel, span, of, NEAREST, *arguments, wide=wide)
        else:
            self._over("sweeps", kernel, slices, span, of, *arguments)

    def _over(self, file: str, kernel: str, slices: Layout, span: Span, of: Any, *arguments: Any) -> None:
        """Threads for the unknowns of a span, over slices, which have scales and constants in them."""
        pattern = (slices.starts, slices.columns, slices.groups)
        rows = (*pattern, slices.codes, slices.dictionary, *[None] * 4, self._optimum, None)
        threads, block = (span.last - span.first) * slices.lanes, slices.variant.block
        kernels(FILES[file], *slices.defines, *_real(of)).launch(kernel, threads, *rows, *arguments, block=block)

    def _run(
        self, file: str, kernel: str, span: Span, of: Any, rounding: int, *arguments: Any, wide: bool = True
    ) -> None:
        """Threads for the unknowns of a span; ``of`` is the vector that rows are multiplied with, rounded so.

        Where unknowns are wide, a second launch is for these, unless one row of each is all that is read.
        """
        matrix, shared = self.matrix, self.matrix.wide if wide else None
        if self._segmented is not None:
            self._segmented.run(of, rounding)
        given = (*self._rows, None if shared is None else shared.chunks, *arguments)
        threads, block = (span.last - span.first) * matrix.lanes, matrix.variant.block
        self._kernels(file, of).launch(kernel, threads, *given, block=block)
        if shared is not None:
            self._kernels(file, of, *shared.defines).launch(kernel, shared.threads, *given, block=shared.block)

    def _maximum(self, file: str, kernel: str, span: Span, of: Any, rounding: int, *arguments: Any) -> float:
        self._results[:] = 0
        self._run(file, kernel, span, of, rounding, *arguments, self._results)
        return self._largest()

    def _kernels(self, file: str, of: Any, *more: str) -> Kernels:
        layout = self.matrix if self._segmented is None else self._segmented
        return kernels(FILES[file], *layout.defines, *_real(of), *more)

    @property
    def _rows(self) -> tuple[Any, ...]:
        """``ROWS_PARAMETERS`` of ``rows.cuh``, but for the last."""
        matrix = self.matrix
        if self._segmented is not None:
            return (None, None, matrix.groups, None, self._segmented.sums, *self._of_rows, self._optimum)
        pattern = (matrix.starts, matrix.columns, matrix.groups)
        return (*pattern, matrix.codes, matrix.dictionary, *self._of_rows, self._optimum)

    def _largest(self) -> float:
        return float(self._results[0].get().view(np.float64))


def next_batch(stop: Stop, done: int) -> int:
    """Sweeps until the next check: the change of the last sweep of each batch is measured, and that of no other."""
    return min(CHECK_EVERY if stop.tolerance > 0 else stop.sweeps, stop.sweeps - done)


def _real(vector: Any) -> tuple[str, ...]:
    """The macro of ``rows.cuh`` for a vector: sweeps take floats, too."""
    return ("REAL=float",) if vector.dtype == np.float32 else ()


def _plain(array: Any | None) -> tuple[Any | None, None]:
    return array, None


class _Segmented:
    """The sums of all rows, by ``segmented.cu``: what kernels over unknowns then read in the place of a matrix."""

    def __init__(self, matrix: Layout) -> None:
        self._matrix = matrix
        self._chunks = -(-len(matrix.columns) // CHUNK)
        self.sums = cp.zeros(matrix.rows)
        self._carried_rows, self._carried = cp.empty(self._chunks, dtype=np.int32), cp.empty(self._chunks)
        self.defines = (*matrix.defines[:-1], "LAYOUT=SUMS")

    @property
    def bytes_moved(self) -> int:
        """Beyond the matrix: sums and what is carried, written and read."""
        return 2 * int(self.sums.nbytes + self._carried_rows.nbytes + self._carried.nbytes)

    def run(self, x: Any, rounding: int) -> None:
        matrix, carried, block = self._matrix, (self._carried_rows, self._carried), self._matrix.variant.block
        kernel = kernels(FILES["segmented"], *replace(matrix, lanes=WARP).defines, *_real(x))
        rows = (matrix.starts, matrix.columns, matrix.groups, matrix.codes, matrix.dictionary, *[None] * 4, 0, None)
        threads, given = self._chunks * WARP, (x, matrix.rows, rounding, self.sums)
        kernel.launch("sum_chunks", threads, *rows, *given, *carried, block=block)
        kernel.launch("add_carried", self._chunks, matrix.starts, *carried, self._chunks, rounding, self.sums)
