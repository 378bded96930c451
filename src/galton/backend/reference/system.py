"""The primitives of equations in NumPy: the specification of sweeps, proof and krylov in ``src/core/solve``.

Meant to be read, and to be compared with. What depends on the number of threads does so here too: a range is cut into
the same parts, and each part sees the others as they were before the sweep. Bounds are rounded outward by going to the
next number after every operation, which is a little wider than rounding in the right direction at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...model.values import Floats
from ..bicgstab import HostUpdates, Iteration
from ..protocol import NOISE, Span, Stop

Int32s = npt.NDArray[np.int32]

__all__ = ["Matrix", "System"]

WORTH_A_THREAD = 400_000  # entries and rows of a part


@dataclass(frozen=True, eq=False)
class Matrix:
    """Rows grouped by unknown, without groups for a chain; values are plain, or numbers into a dictionary."""

    groups: Int32s | None
    starts: npt.NDArray[np.integer]
    columns: Int32s
    values: npt.NDArray[np.generic]
    dictionary: Floats | None

    def entries(self, row: int) -> tuple[Int32s, Floats]:
        """Columns and values of a row."""
        part = slice(int(self.starts[row]), int(self.starts[row + 1]))
        values = self.values[part] if self.dictionary is None else self.dictionary[self.values[part].astype(np.intp)]
        return self.columns[part], values.astype(np.float64)

    def rows(self, unknown: int) -> range:
        """The rows of an unknown."""
        if self.groups is None:
            return range(unknown, unknown + 1)
        return range(int(self.groups[unknown]), int(self.groups[unknown + 1]))


class System:
    """Equations to sweep over; :class:`galton.backend.protocol.System` says what each primitive is."""

    def __init__(self, matrix: Matrix, scale: Floats | None, constant: Floats, optimum: int) -> None:
        self.matrix, self.constant, self.optimum = matrix, constant, optimum
        self.scale = np.ones(len(constant)) if scale is None else scale

    # F, row by row.

    def row(self, row: int, x: Floats) -> float:
        """The value of a row."""
        columns, values = self.matrix.entries(row)
        return float(self.scale[row] * (values @ x[columns]) + self.constant[row])

    def best(self, unknown: int, value: Callable[[int], float]) -> tuple[float, int]:
        """The best value of an unknown's rows, and the first row that has it."""
        rows = self.matrix.rows(unknown)
        found = [value(row) for row in rows]
        which = int(np.argmin(found) if self.optimum < 0 else np.argmax(found))
        return found[which], rows[which]

    def apply(self, unknown: int, x: Floats, chosen: Int32s | None) -> float:
        """F(x) of an unknown."""
        if self.matrix.groups is not None and chosen is not None:
            return self.row(int(chosen[unknown]), x)
        return self.optimum_of(unknown, x)[0]

    def optimum_of(self, unknown: int, x: Floats) -> tuple[float, int]:
        """The best value of an unknown, and the row that has it."""
        return self.best(unknown, lambda row: self.row(row, x))

    def row_values(self, x: Floats, values: Floats, span: Span) -> None:
        rows = range(self.matrix.rows(span.first).start, self.matrix.rows(span.last - 1).stop)
        values[:] = [self.row(row, x) for row in rows]

    def defect(self, x: Floats, span: Span) -> float:
        differences = np.abs([self.apply(s, x, None) - x[s] for s in _unknowns(span)])
        wrong = differences > 0
        with np.errstate(divide="ignore"):
            return float(np.max(differences[wrong] / x[span.part][wrong], initial=0.0))

    # Sweeps.

    def parts(self, span: Span) -> Iterator[tuple[int, int]]:
        """A range in parts with about as many entries and unknowns each: one for every thread that is worth it."""
        first, last, threads = span
        edges = [self.matrix.starts[self.matrix.rows(s).start] for s in range(first, last)]
        edges.append(self.matrix.starts[self.matrix.rows(last - 1).stop])
        weight = np.array(edges) - edges[0] + np.arange(last - first + 1)
        count = int(np.clip(weight[-1] // WORTH_A_THREAD, 1, max(threads, 1)))
        cuts = [first, *(first + int(np.searchsorted(weight, weight[-1] * p // count)) for p in range(1, count)), last]
        yield from pairwise(cuts)

    def gauss_seidel(
        self,
        x: Floats,
        copy: Floats,
        chosen: Int32s | None,
        span: Span,
        stop: Stop,
        *,
        forward: bool = True,
        omega: float = 1.0,
    ) -> tuple[int, float]:
        def sweep(old: Floats, now: Floats) -> None:
            for begin, end in self.parts(span):
                seen = old.copy()
                for s in range(begin, end) if forward else reversed(range(begin, end)):
                    seen[s] = now[s] = _relaxed(old[s], self.apply(s, seen, chosen), omega)

        return _repeat(sweep, x, copy, span, stop)

    def jacobi(
        self, x: Floats, copy: Floats, chosen: Int32s | None, span: Span, stop: Stop, *, omega: float = 1.0
    ) -> tuple[int, float]:
        def sweep(old: Floats, now: Floats) -> None:
            for s in _unknowns(span):
                now[s] = _relaxed(old[s], self.apply(s, old, chosen), omega)

        return _repeat(sweep, x, copy, span, stop)

    def improve(self, x: Floats, copy: Floats, chosen: Int32s, span: Span, noise: float = NOISE) -> tuple[int, float]:
        before = chosen.copy()

        def sweep(old: Floats, now: Floats) -> None:
            for begin, end in self.parts(span):
                seen = old.copy()
                for s in range(begin, end):
                    value, which = self.optimum_of(s, seen)
                    if abs(self.row(int(chosen[s]), seen) - value) > noise * abs(value):
                        chosen[s] = which
                    seen[s] = now[s] = value

        _, change = _repeat(sweep, x, copy, span, Stop(1))
        return int((chosen != before).sum()), change

    # Proofs.

    def row_above(self, row: int, upper: Floats, slack: float) -> float:
        """A bound from above on a row."""
        total = 0.0
        for column, value in zip(*self.matrix.entries(row), strict=True):
            total = _add(total, _multiply(value, upper[column], np.inf), np.inf)
        total, constant = _multiply(total, self.scale[row], np.inf), float(self.constant[row])
        total, constant = (_add(part, _multiply(part, slack, np.inf), np.inf) for part in (total, constant))
        return _add(total, constant, np.inf)

    def row_below(self, row: int, lower: Floats, slack: float) -> float:
        """A bound from below on a row, where ``lower`` is not negative."""
        total = 0.0
        for column, value in zip(*self.matrix.entries(row), strict=True):
            total = _add(total, _multiply(value, lower[column], -np.inf), -np.inf)
        total, constant = _multiply(total, self.scale[row], -np.inf), float(self.constant[row])
        total, constant = (_multiply(part, _add(1.0, -slack, -np.inf), -np.inf) for part in (total, constant))
        return _add(total, constant, -np.inf)

    def is_above(self, upper: Floats, span: Span, slack: float) -> bool:
        return all(upper[s] >= self.best(s, lambda r: self.row_above(r, upper, slack))[0] for s in _unknowns(span))

    def is_below(self, lower: Floats, span: Span, slack: float) -> bool:
        # Where infinity is its own bound it would prove itself, and the sums want numbers that are not negative.
        return all(
            0 <= lower[s] < np.inf and lower[s] <= self.best(s, lambda r: self.row_below(r, lower, slack))[0]
            for s in _unknowns(span)
        )

    def propagate(self, lower: Floats, upper: Floats, span: Span, slack: float) -> None:
        for s in _unknowns(span):
            above = self.best(s, lambda r: self.row_above(r, upper, slack))[0]
            below = self.best(s, lambda r: self.row_below(r, lower, slack))[0]
            upper[s], lower[s] = above, max(below, 0.0)

    # Weights.

    def weigh_rows(
        self, x: Floats, chosen: Int32s | None, constants: Floats, span: Span, *, near: float, share: float
    ) -> None:
        for s in _unknowns(span):
            for row in self.matrix.rows(s):
                close = abs(self.row(row, x) - x[s]) <= near * x[s] and self.constant[row] <= share * x[s]
                taken = self.matrix.groups is None or chosen is None or chosen[s] == row
                constants[row] = x[s] if taken or close else -np.inf

    def left_to_delta(self, x: Floats, w: Floats, constants: Floats, span: Span, *, share: float) -> float:
        needed = [
            (self.row(row, w) - self.constant[row] - w[s] + x[s]) / self.constant[row]
            for s in _unknowns(span)
            for row in self.matrix.rows(s)
            if constants[row] == -np.inf and share * x[s] < self.constant[row] < np.inf
        ]
        return float(max(0.0, *needed)) if needed else 0.0

    def growth(self, w: Floats, x: Floats, span: Span) -> float:
        return float(max(0.0, *((self.apply(s, w, None) - w[s]) / x[s] for s in _unknowns(span))))

    def take_free_rows(self, x: Floats, chosen: Int32s, span: Span) -> None:
        for s in _unknowns(span):
            free = [row for row in self.matrix.rows(s) if self.row(row, x) == 0]
            if x[s] == 0 and free:
                chosen[s] = free[0]

    # Krylov.

    def solve_induced(
        self, x: Floats, chosen: Int32s, span: Span, tolerance: float, *, fine: bool = False
    ) -> tuple[int, float]:
        """The solution for the rows chosen, by Gaussian elimination; ``fine``, in fractions."""
        size = span.last - span.first
        matrix, right = np.eye(size), np.empty(size)
        outside = x.copy()
        outside[span.part] = 0.0
        for s in _unknowns(span):
            row = int(chosen[s])
            right[s - span.first] = self.row(row, outside)
            columns, values = self.matrix.entries(row)
            inside = (columns >= span.first) & (columns < span.last)
            scale = 1.0 if self.scale is None else self.scale[row]
            np.subtract.at(matrix[s - span.first], columns[inside] - span.first, scale * values[inside])
        x[span.part] = _solved_in_fractions(matrix, right) if fine else np.linalg.solve(matrix, right)
        swept = x.copy()
        _, residual = self.jacobi(swept, x.copy(), chosen, span, Stop(1))
        return 1, residual

    def bicgstab(
        self, x: Floats, chosen: Int32s | None, span: Span, sweeps: int, tolerance: float
    ) -> tuple[int, float]:
        part = span.part
        at = x[part]  # a view
        weight = np.divide(1.0, at * at, out=np.zeros_like(at), where=at > 0)
        full = np.zeros_like(x)

        def preconditioned(z: Floats, found: Floats) -> None:
            """Z - (I - L)⁻¹ U z: the operator and its preconditioner at once."""
            full[part] = z
            old = full.copy()
            for begin, end in self.parts(span):
                seen = old.copy()
                for s in range(begin, end):
                    row = s if chosen is None or self.matrix.groups is None else int(chosen[s])
                    seen[s] = full[s] = self.row(row, seen) - self.constant[row]
            found[:] = z - full[part]

        swept = x.copy()
        self.gauss_seidel(swept, x.copy(), chosen, span, Stop(1))
        r = swept[part] - at
        residual = float(np.max(np.abs(r[at > 0]) / at[at > 0], initial=0.0))
        iteration = Iteration(at, r, preconditioned, updates=HostUpdates(weight))
        best, best_x, done = residual, at.copy(), 1
        while done < sweeps and residual > tolerance:
            iteration.run(1)
            done += 2
            wrong = r != 0
            residual = float(np.max(np.abs(r[wrong]) / np.abs(at[wrong]), initial=0.0))
            if not np.isfinite(residual):
                break
            if residual < best:
                best, best_x = residual, at.copy()
        at[:] = best_x
        return done, best


def _relaxed(old: float, new: float, omega: float) -> float:
    return new if omega == 1 else old + omega * (new - old)


def _multiply(a: float, b: float, towards: float) -> float:
    return float(np.nextafter(a * b, towards)) if a and b else 0.0


def _add(a: float, b: float, towards: float) -> float:
    return float(np.nextafter(a + b, towards)) if a and b else a + b


def _unknowns(span: Span) -> range:
    return range(span.first, span.last)


def _repeat(
    sweep: Callable[[Floats, Floats], None], x: Floats, copy: Floats, span: Span, stop: Stop
) -> tuple[int, float]:
    """Sweep after sweep from a copy of x into x."""
    part, done, change = span.part, 0, 0.0
    copy[:] = x
    while done < stop.sweeps:
        copy[part] = x[part]
        sweep(copy, x)
        done += 1
        changes = np.abs(x[part] - copy[part])
        if stop.relative:
            moved = changes > 0
            with np.errstate(divide="ignore"):
                changes[moved] /= np.abs(x[part][moved])
        change = float(changes.max(initial=0.0))
        if change <= stop.tolerance:
            break
    return done, change


def _solved_in_fractions(matrix: Floats, right: Floats) -> list[float]:
    rows = [[Fraction(number) for number in (*row, last)] for row, last in zip(matrix, right, strict=True)]
    for pivot in range(len(rows)):
        swap = next(i for i in range(pivot, len(rows)) if rows[i][pivot])
        rows[pivot], rows[swap] = rows[swap], rows[pivot]
        first = rows[pivot] = [number / rows[pivot][pivot] for number in rows[pivot]]
        for i, row in enumerate(rows):
            if i != pivot and row[pivot]:
                rows[i] = [number - row[pivot] * above for number, above in zip(row, first, strict=True)]
    return [float(row[-1]) for row in rows]
