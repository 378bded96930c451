"""Equations in parts on several devices; :class:`galton.backend.protocol.System` says what each primitive means.

Vectors are whole, on the host or on a device, as who asks has them. Each part gets its piece; many sweeps, or all steps
of Krylov's method, are made before the pieces go back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import cupy as cp
import numpy as np

from ...bicgstab import HostUpdates, Iteration
from ...protocol import NOISE, Span, Stop
from .. import krylov
from ..layout import Layout
from ..system import System, next_batch
from .parts import Part, Parts, brought, on
from .vectors import Vector

__all__ = ["SplitSystem"]


class SplitSystem:
    """The equations. All primitives work on all unknowns.

    Parameters
    ----------
    parts
        The rows as they were split.
    layouts
        The rows of each part in the format of sweeps, on its device.
    scales
        Of the rows of each part, on its device; None where they are 1.
    constant
        Over all rows. It may change where it is not ``compact``: then parts look it up before each use.
    optimum
        -1, 0 or 1.
    """

    def __init__(
        self,
        parts: Parts,
        layouts: Sequence[Layout],
        scales: Sequence[Any | None],
        constant: Any,
        optimum: int,
        *,
        compact: bool = False,
    ) -> None:
        self.size, self.parts = parts.size, parts
        self._changing = None if compact else constant
        self._constants = [part.of_rows(constant) for part in parts]
        self.systems = []
        for part, layout, scale, mine in zip(parts, layouts, scales, self._constants, strict=True):
            with on(part.device):
                self.systems.append(System(layout, scale, mine, optimum, compact=compact))

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
        return self._sweeps(x, chosen, span, stop, omega)

    def jacobi(
        self, x: Any, copy: Any, chosen: Any | None, span: Span, stop: Stop, *, omega: float = 1.0
    ) -> tuple[int, float]:
        """Sweeps from the values before."""
        return self._sweeps(x, chosen, span, stop, omega, in_place=False)

    def _sweeps(
        self, x: Any, chosen: Any | None, span: Span, stop: Stop, omega: float, *, in_place: bool = True
    ) -> tuple[int, float]:
        self._ready(span)
        vectors = self.parts.scatter(x)
        others = vectors if in_place else self.parts.copies(vectors)
        rows = [part.own_rows(chosen) for part in self.parts]
        done, residual = 0, float("inf")
        while done < stop.sweeps and residual > stop.tolerance:
            batch = next_batch(stop, done)
            for sweep in range(batch):
                measure = sweep == batch - 1
                for part, system, before, after, taken in zip(
                    self.parts, self.systems, vectors, others, rows, strict=True
                ):
                    with on(part.device):
                        system.sweep_once(
                            before,
                            after,
                            taken,
                            Span(0, part.size),
                            down=sweep % 2,
                            omega=omega,
                            relative=stop.relative,
                            measure=measure,
                        )
                vectors, others = others, vectors
                self.parts.exchange(vectors)
            done += batch
            residual = max(self._each(lambda system, _: system.last_change()))
        self.parts.gather(vectors, x)
        return done, residual

    def improve(self, x: Any, copy: Any, chosen: Any, span: Span, noise: float = NOISE) -> tuple[int, float]:
        """A sweep in place that also takes the best rows."""
        vectors, rows = self.parts.scatter(x), self._rows_of(chosen)
        found = self._ask(span, lambda system, own, x, rows: system.improve(x, x, rows, own, noise), vectors, rows)
        self.parts.gather(vectors, x)
        self._take(rows, chosen)
        return sum(changed for changed, _ in found), max(change for _, change in found)

    def defect(self, x: Any, span: Span) -> float:
        """The largest |F(x) - x| / x."""
        return self._largest(span, lambda system, own, x: system.defect(x, own), self.parts.scatter(x))

    def row_values(self, x: Any, values: Any, span: Span) -> None:
        """The value of each row."""
        found = self._room_for_rows()
        self._ask(span, lambda system, own, x, y: system.row_values(x, y, own), self.parts.scatter(x), found)
        self.parts.gather_rows(found, values)

    def multiply(self, x: Any, y: Any, chosen: Any | None, *, with_constant: bool, from_x: bool = False) -> None:
        """Write Ax + b into y, or Ax, or x - Ax; of a chain, or of the chain of the rows chosen."""
        self._ready(Span(0, self.size))
        found = self._room()
        vector, rows = Vector.of(self.parts, x), self._rows_of(chosen)
        self._multiply(vector, found, rows, with_constant=with_constant, from_x=from_x)
        found.gather(y)

    def _multiply(self, x: Vector, y: Vector, rows: list[Any], *, with_constant: bool, from_x: bool = False) -> None:
        """The products of vectors that are in parts."""

        def multiply(system: System, own: Span, x: Any, y: Any, rows: Any) -> None:
            system.multiply(x, y, rows, with_constant=with_constant, from_x=from_x)

        self._each(multiply, self.parts.with_halos(x.pieces), y.pieces, rows)

    # Proofs.

    def is_above(self, upper: Any, span: Span, slack: float) -> bool:
        """Whether upper >= F(upper) for certain."""
        return all(self._ask(span, lambda system, own, u: system.is_above(u, own, slack), self.parts.scatter(upper)))

    def is_below(self, lower: Any, span: Span, slack: float) -> bool:
        """Whether 0 <= lower <= F(lower) < ∞ for certain."""
        return all(self._ask(span, lambda system, own, u: system.is_below(u, own, slack), self.parts.scatter(lower)))

    def propagate(self, lower: Any, upper: Any, span: Span, slack: float) -> None:
        """One sweep on bounds, rounded outward."""
        lowers, uppers = self.parts.scatter(lower), self.parts.scatter(upper)
        self._ask(span, lambda system, own, low, high: system.propagate(low, high, own, slack), lowers, uppers)
        self.parts.gather(lowers, lower)
        self.parts.gather(uppers, upper)

    # Weights.

    def weigh_rows(self, x: Any, chosen: Any | None, constants: Any, span: Span, *, near: float, share: float) -> None:
        """Constants for the equations of w."""
        found, vectors, rows = self._room_for_rows(), self.parts.scatter(x), self._rows_of(chosen)

        def weigh(system: System, own: Span, x: Any, rows: Any, constants: Any) -> None:
            system.weigh_rows(x, rows, constants, own, near=near, share=share)

        self._ask(span, weigh, vectors, rows, found)
        self.parts.gather_rows(found, constants)

    def left_to_delta(self, x: Any, w: Any, constants: Any, span: Span, *, share: float) -> float:
        """What δ has to do for the rows without a weight."""

        def left(system: System, own: Span, x: Any, w: Any, constants: Any) -> float:
            return system.left_to_delta(x, w, constants, own, share=share)

        weights = [part.of_rows(constants) for part in self.parts]
        return self._largest(span, left, self.parts.scatter(x), self.parts.scatter(w), weights)

    def growth(self, w: Any, x: Any, span: Span) -> float:
        """The largest (F(w) - w) / x."""
        vectors = self.parts.scatter(w), self.parts.scatter(x)
        return self._largest(span, lambda system, own, w, x: system.growth(w, x, own), *vectors)

    def take_free_rows(self, x: Any, chosen: Any, span: Span) -> None:
        """Where x is 0, the first row that is worth 0."""
        rows = self._rows_of(chosen)
        self._ask(span, lambda system, own, x, rows: system.take_free_rows(x, rows, own), self.parts.scatter(x), rows)
        self._take(rows, chosen)

    # Krylov.

    def bicgstab(self, x: Any, chosen: Any | None, span: Span, sweeps: int, tolerance: float) -> tuple[int, float]:
        """BiCGStab on x = Ax + b; its vectors stay in parts, and only sums of products leave the devices."""
        rows = self._rows_of(chosen)
        self._ready(span)

        def product(vector: Vector, found: Vector) -> None:
            self._multiply(vector, found, rows, with_constant=False, from_x=True)

        def residual() -> Vector:
            found = self._room()
            self._multiply(at, found, rows, with_constant=True)
            found -= at
            return found

        at = Vector.of(self.parts, x)
        best = at.copy()

        def keep() -> None:
            best[:] = at

        iteration: Any = Iteration(at, residual(), product, updates=HostUpdates())  # type: ignore[arg-type]
        limits = {"products": 2, "patience": krylov.PATIENCE}
        done = krylov.improve(iteration, residual, keep, sweeps, tolerance, measured=_relative_residual, **limits)
        best.gather(x)
        return done

    def solve_induced(
        self, x: Any, chosen: Any, span: Span, tolerance: float, *, fine: bool = False
    ) -> tuple[int, float]:
        """The solution for the rows chosen."""
        assert not fine, "devices do not undo what rounding adds up to"
        return self.bicgstab(x, chosen, span, krylov.SWEEPS, tolerance)

    # Parts.

    def _ready(self, span: Span) -> None:
        """Let parts have the constants as they are now."""
        assert (span.first, span.last) == (0, self.size), "parts solve all unknowns together"
        if self._changing is None:
            return
        for part, mine in zip(self.parts, self._constants, strict=True):
            with on(part.device):
                mine[:] = brought(self._changing[part.rows])

    def _ask(self, span: Span, question: Callable[..., Any], *pieces: list[Any]) -> list[Any]:
        """What each part answers, with the constants as they are now."""
        self._ready(span)
        return self._each(question, *pieces)

    def _largest(self, span: Span, question: Callable[..., float], *pieces: list[Any]) -> float:
        return float(max(self._ask(span, question, *pieces)))

    def _each(self, question: Callable[..., Any], *pieces: list[Any]) -> list[Any]:
        """What each part answers, given its system, its unknowns and its piece of each of the lists."""
        answers = []
        for part, system, *given in zip(self.parts, self.systems, *pieces, strict=True):
            with on(part.device):
                answers.append(question(system, Span(0, part.size), *given))
        return answers

    def _room(self) -> Vector:
        return Vector(self.parts, self.parts.each(lambda part: cp.empty(part.size)))

    def _room_for_rows(self) -> list[Any]:
        return self.parts.each(lambda part: cp.empty(part.rows.stop - part.rows.start))

    def _rows_of(self, chosen: Any | None) -> list[Any]:
        return [part.own_rows(chosen) for part in self.parts]

    def _take(self, rows: list[Any], chosen: Any) -> None:
        """Write the rows that parts take."""

        def numbered(part: Part, own: Any) -> Any:
            with on(part.device):
                return own + np.int32(part.rows.start)

        self.parts.gather([numbered(*given) for given in zip(self.parts, rows, strict=True)], chosen)


def _relative_residual(r: Vector, x: Vector) -> float:
    """The largest |r| / |x|."""
    found = []
    for part, *given in zip(r.parts, r.pieces, x.pieces, strict=True):
        with on(part.device):
            found.append(krylov.relative_residual(*given))
    return float(np.max(found))
