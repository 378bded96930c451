"""Equations split over several CUDA devices, each with its part of the rows (Bošnački and others, STTT 2011).

A part has a range of the unknowns, the rows of these, and a copy of the unknowns elsewhere that its rows refer to, its
*halo*. After each sweep the halos are brought up to date, from device to device and no more than what is referred to.
Vectors come and go whole, on the device where they are; so that many sweeps are made in between. A device may have
several parts: one is enough for tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cupy as cp
import numpy as np

from ...device.arrays import on_host
from ..protocol import Span, Stop
from . import krylov
from .formats import in_format
from .layout import Layout, csr
from .system import System, next_batch

__all__ = ["PartitionedSystem"]


@dataclass(frozen=True, eq=False)
class _Part:
    """Unknowns ``first`` up to ``last`` and their rows; vectors have the halo's numbers after their own."""

    device: int
    first: int
    last: int
    rows: slice
    halo: Any  # numbers of unknowns, ascending; on the device where whole vectors are
    system: System
    constant: Any
    wanted: tuple[tuple[int, slice, Any], ...]  # of which part, for which piece of the halo, which of its unknowns

    @property
    def size(self) -> int:
        """Unknowns of its own."""
        return self.last - self.first

    @property
    def span(self) -> Span:
        """Its unknowns, as it numbers them."""
        return Span(0, self.size)

    def piece_of(self, vector: Any) -> Any:
        """Its piece of a vector over all unknowns, and the halo."""
        pieces = vector[self.first : self.last], vector[self.halo]
        with _on(self.device):
            return cp.concatenate([_brought(piece) for piece in pieces])

    def rows_of(self, chosen: Any | None) -> Any:
        """The rows that its unknowns take, as it numbers them; None for a chain."""
        if chosen is None:
            return None
        with _on(self.device):
            return _brought(chosen[self.first : self.last]) - np.int32(self.rows.start)


class PartitionedSystem:
    """Equations in parts, each on one of the given devices; :class:`galton.backend.protocol.System` has the primitives.

    ``constant`` may change where it is not ``compact``: what parts elsewhere have of it is looked up before each use.
    """

    def __init__(
        self,
        matrix: Layout,
        scale: Any | None,
        constant: Any,
        optimum: int,
        devices: Sequence[int],
        *,
        compact: bool = False,
        format: str | None = None,
    ) -> None:
        self.size = matrix.size
        self._constant = None if compact else constant
        self._parts: list[_Part] = []
        cuts = _cuts(matrix, len(devices))
        for number in range(len(devices)):
            part = _part(matrix, scale, constant, optimum, devices, number, cuts, compact, format)
            self._parts.append(part)

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
        """Sweeps in place, each part seeing the others as they were before the sweep."""
        return self._sweeps(x, chosen, stop, omega)

    def jacobi(
        self, x: Any, copy: Any, chosen: Any | None, span: Span, stop: Stop, *, omega: float = 1.0
    ) -> tuple[int, float]:
        """Sweeps from the values before."""
        return self._sweeps(x, chosen, stop, omega, in_place=False)

    def _sweeps(
        self, x: Any, chosen: Any | None, stop: Stop, omega: float, *, in_place: bool = True
    ) -> tuple[int, float]:
        vectors = self._scattered(x)
        others = vectors if in_place else self._copies(vectors)
        rows = [part.rows_of(chosen) for part in self._ready()]
        done, residual = 0, float("inf")
        while done < stop.sweeps and residual > stop.tolerance:
            batch = next_batch(stop, done)
            for sweep in range(batch):
                down, measure = sweep % 2, sweep == batch - 1
                for part, vector, other, own_rows in zip(self._parts, vectors, others, rows, strict=True):
                    with _on(part.device):
                        part.system.sweep_once(
                            vector,
                            other,
                            own_rows,
                            part.span,
                            down=down,
                            omega=omega,
                            relative=stop.relative,
                            measure=measure,
                        )
                vectors, others = others, vectors
                self._exchange(vectors)
            done += batch
            residual = max(self._ask(lambda part: part.system.last_change()))
        self._gather(vectors, x)
        return done, residual

    def improve(self, x: Any, copy: Any, chosen: Any, span: Span) -> tuple[int, float]:
        """A sweep in place that also takes the best rows."""
        vectors, changed, residual = self._scattered(x), 0, 0.0
        for part, vector in zip(self._ready(), vectors, strict=True):
            rows = part.rows_of(chosen)
            with _on(part.device):
                more, change = part.system.improve(vector, vector, rows, part.span)
                rows += np.int32(part.rows.start)
            chosen[part.first : part.last] = _brought(rows)
            changed, residual = changed + more, max(residual, change)
        self._gather(vectors, x)
        return changed, residual

    def defect(self, x: Any, span: Span) -> float:
        """The largest |F(x) - x| / x."""
        return max(self._ask(lambda part, x: part.system.defect(x, part.span), x))

    def row_values(self, x: Any, values: Any, span: Span) -> None:
        """The value of each row."""
        for part in self._ready():
            vector = part.piece_of(x)
            with _on(part.device):
                found = cp.empty(part.rows.stop - part.rows.start)
                part.system.row_values(vector, found, part.span)
            values[part.rows] = _brought(found)

    def multiply(self, x: Any, y: Any, chosen: Any | None, *, with_constant: bool, from_x: bool = False) -> None:
        """Write Ax + b into y, or Ax, or x - Ax; of a chain, or of the chain of the rows chosen."""
        for part in self._ready():
            vector, rows = part.piece_of(x), part.rows_of(chosen)
            with _on(part.device):
                found = cp.empty(part.size)
                part.system.multiply(vector, found, rows, with_constant=with_constant, from_x=from_x)
            y[part.first : part.last] = _brought(found)

    # Proofs.

    def is_above(self, upper: Any, span: Span, slack: float) -> bool:
        """Whether upper >= F(upper) for certain."""
        return all(self._ask(lambda part, u: part.system.is_above(u, part.span, slack), upper))

    def is_below(self, lower: Any, span: Span, slack: float) -> bool:
        """Whether 0 <= lower <= F(lower) < ∞ for certain."""
        return all(self._ask(lambda part, low: part.system.is_below(low, part.span, slack), lower))

    def propagate(self, lower: Any, upper: Any, span: Span, slack: float) -> None:
        """One sweep on bounds, rounded outward."""
        lowers, uppers = self._scattered(lower), self._scattered(upper)
        for part, low, high in zip(self._ready(), lowers, uppers, strict=True):
            with _on(part.device):
                part.system.propagate(low, high, part.span, slack)
        self._gather(lowers, lower)
        self._gather(uppers, upper)

    # Weights.

    def weigh_rows(self, x: Any, chosen: Any | None, constants: Any, span: Span, *, near: float, share: float) -> None:
        """Constants for the equations of w."""
        for part in self._ready():
            vector, rows = part.piece_of(x), part.rows_of(chosen)
            with _on(part.device):
                found = cp.empty(part.rows.stop - part.rows.start)
                part.system.weigh_rows(vector, rows, found, part.span, near=near, share=share)
            constants[part.rows] = _brought(found)

    def left_to_delta(self, x: Any, w: Any, constants: Any, span: Span, *, share: float) -> float:
        """What δ has to do for the rows without a weight."""

        def ask(part: _Part, x: Any, w: Any) -> float:
            weights = _brought(constants[part.rows])
            return part.system.left_to_delta(x, w, weights, part.span, share=share)

        return max(self._ask(ask, x, w))

    def growth(self, w: Any, x: Any, span: Span) -> float:
        """The largest (F(w) - w) / x."""
        return max(self._ask(lambda part, w, x: part.system.growth(w, x, part.span), w, x))

    def take_free_rows(self, x: Any, chosen: Any, span: Span) -> None:
        """Where x is 0, the first row that is worth 0."""
        for part in self._ready():
            vector, rows = part.piece_of(x), part.rows_of(chosen)
            with _on(part.device):
                part.system.take_free_rows(vector, rows, part.span)
                rows += np.int32(part.rows.start)
            chosen[part.first : part.last] = _brought(rows)

    # Krylov.

    def bicgstab(self, x: Any, chosen: Any | None, span: Span, sweeps: int, tolerance: float) -> tuple[int, float]:
        """BiCGStab on x = Ax + b; products are made by the parts, the rest on the device of x."""
        return krylov.bicgstab(self, x, chosen, sweeps, tolerance)

    def solve_induced(self, x: Any, chosen: Any, span: Span, tolerance: float) -> tuple[int, float]:
        """The solution for the rows chosen."""
        return self.bicgstab(x, chosen, span, krylov.SWEEPS, tolerance)

    # Parts.

    def _ready(self) -> Iterator[_Part]:
        """The parts, with constants as they are now."""
        for part in self._parts:
            if self._constant is not None:
                with _on(part.device):
                    part.constant[:] = _brought(self._constant[part.rows])
            yield part

    def _ask(self, question: Callable[..., float], *vectors: Any) -> list[float]:
        answers: list[float] = []
        for part in self._ready():
            pieces = [part.piece_of(vector) for vector in vectors]
            with _on(part.device):
                answers.append(question(part, *pieces))
        return answers

    def _scattered(self, x: Any) -> list[Any]:
        return [part.piece_of(x) for part in self._parts]

    def _copies(self, vectors: list[Any]) -> list[Any]:
        """Each on the device of its part: a copy lies where it is made."""
        copies = []
        for part, vector in zip(self._parts, vectors, strict=True):
            with _on(part.device):
                copies.append(vector.copy())
        return copies

    def _gather(self, vectors: list[Any], onto: Any) -> None:
        for part, vector in zip(self._parts, vectors, strict=True):
            onto[part.first : part.last] = _brought(vector[: part.size])

    def _exchange(self, vectors: list[Any]) -> None:
        """Bring all halos up to date."""
        for part, vector in zip(self._parts, vectors, strict=True):
            for owner, piece, unknowns in part.wanted:
                with _on(self._parts[owner].device):
                    sent = vectors[owner][unknowns]
                with _on(part.device):
                    vector[piece] = _brought(sent)


def _cuts(matrix: Layout, parts: int) -> list[int]:
    """Where parts begin and end, so that each has about as many rows and entries."""
    states = cp.arange(matrix.size + 1)
    rows = states if matrix.groups is None else matrix.groups
    weight = matrix.starts[rows].astype(np.int64) + rows
    total = int(weight[-1])
    goals = cp.asarray(np.array([total * p // parts for p in range(1, parts)], dtype=np.int64))
    return [0, *(int(cut) for cut in on_host(cp.searchsorted(weight, goals))), matrix.size]


def _part(
    matrix: Layout,
    scale: Any | None,
    constant: Any,
    optimum: int,
    devices: Sequence[int],
    number: int,
    cuts: list[int],
    compact: bool,
    format: str | None,
) -> _Part:
    device, first, last = devices[number], cuts[number], cuts[number + 1]
    bounds = (first, last) if matrix.groups is None else (int(matrix.groups[first]), int(matrix.groups[last]))
    rows = slice(*bounds)
    begin, end = int(matrix.starts[rows.start]), int(matrix.starts[rows.stop])
    columns = matrix.columns[begin:end]
    outside = (columns < first) | (columns >= last)
    halo = cp.unique(columns[outside])
    places = cp.searchsorted(halo, columns).astype(np.int32) + np.int32(last - first)
    local = cp.where(outside, places, columns - np.int32(first)).astype(np.int32)
    edges = [int(edge) for edge in on_host(cp.searchsorted(halo, cp.asarray(np.array(cuts, dtype=halo.dtype))))]
    with _on(device):
        groups = None if matrix.groups is None else _brought(matrix.groups[first : last + 1]) - np.int32(rows.start)
        starts = _brought(matrix.starts[rows.start : rows.stop + 1]) - matrix.starts.dtype.type(begin)
        values = (_brought(matrix.codes[begin:end]), None if matrix.dictionary is None else _brought(matrix.dictionary))
        mine = _brought(constant[rows]).copy()
        scales = None if scale is None else _brought(scale[rows])
        layout = in_format(csr(groups, starts, _brought(local), *values), format, scale=scales, constant=mine)
        system = System(layout, scales, mine, optimum, compact=compact)
    own = last - first
    wanted = []
    for owner, (low, high) in enumerate(pairwise(edges)):
        if low < high:
            unknowns = halo[low:high] - np.int32(cuts[owner])
            with _on(devices[owner]):
                wanted.append((owner, slice(own + low, own + high), _brought(unknowns)))
    return _Part(device, first, last, rows, halo, system, mine, tuple(wanted))


def _on(device: int) -> AbstractContextManager[Any]:
    found: AbstractContextManager[Any] = cp.cuda.Device(device)
    return found


def _brought(array: Any) -> Any:
    """An array on the current device, copied there if it is on another."""
    return cp.asarray(array)
