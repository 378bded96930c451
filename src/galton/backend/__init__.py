"""The primitives that methods are made of, once per device.

:class:`System` names those of the equations ``x = opt(Ax + b)``. Methods are written over it and do not know who does
the work: ``_core.System`` in C++ on the CPU, or :class:`.reference.System` in NumPy, which says in a few lines what
each primitive means. The inner products and vector updates of Krylov methods are NumPy's own on the CPU: they go once
through memory, as a kernel would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Int32s = npt.NDArray[np.int32]

__all__ = ["Span", "Stop", "System"]


class Span(NamedTuple):
    """The unknowns that a primitive works on: ``first`` up to ``last``, which is not one of them.

    ``threads`` may share the work on a CPU, where it can be shared; a device shares it out as it sees fit.
    """

    first: int
    last: int
    threads: int = 1

    @property
    def part(self) -> slice:
        """Their part of a vector."""
        return slice(self.first, self.last)


class Stop(NamedTuple):
    """When sweeps end: after so many, or when no unknown changes by more than ``tolerance``.

    ``relative`` measures a change in parts of the unknown itself.
    """

    sweeps: int
    tolerance: float = 0.0
    relative: bool = True


class System(Protocol):
    """``x[s] = opt over rows r of s: scale[r] · Σ values·x[columns] + constant[r]``, short ``x = F(x)``.

    All work on the unknowns of a :class:`Span` and read the others as they are. Vectors have a number per unknown of
    the whole system. Sweeps return how many there were and the largest change in the last; ``copy`` gives them room.
    """

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
        """Sweeps in place, ``omega`` of the way to F(x); by the rows ``chosen``, or the best where None."""

    def jacobi(
        self, x: Floats, copy: Floats, chosen: Int32s | None, span: Span, stop: Stop, *, omega: float = 1.0
    ) -> tuple[int, float]:
        """Sweeps that read only values from before the sweep, otherwise like :meth:`gauss_seidel`."""

    def improve(self, x: Floats, copy: Floats, chosen: Int32s, span: Span) -> tuple[int, float]:
        """A Gauss–Seidel sweep that also writes the best rows; how many changed, and the largest relative change."""

    def defect(self, x: Floats, span: Span) -> float:
        """The largest |F(x) - x| / x."""

    def row_values(self, x: Floats, values: Floats, span: Span) -> None:
        """The value of each row of the span, before the best is taken."""

    def is_above(self, upper: Floats, span: Span, slack: float) -> bool:
        """Whether upper >= F(upper) for certain, were scale and constants larger by a part of ``slack``."""

    def is_below(self, lower: Floats, span: Span, slack: float) -> bool:
        """Whether 0 <= lower <= F(lower) < ∞ for certain, were scale and constants smaller by a part of ``slack``."""

    def weigh_rows(
        self, x: Floats, chosen: Int32s | None, constants: Floats, span: Span, *, near: float, share: float
    ) -> None:
        """Write constants for the equations of w, about x + Aw, by which :mod:`galton.solve.sound` shifts x to bounds.

        They are x for the rows chosen, and for those with a value within ``near`` of x and a constant of at most
        ``share`` of it, both relative; minus infinity for others.
        """

    def left_to_delta(self, x: Floats, w: Floats, constants: Floats, span: Span, *, share: float) -> float:
        """The largest (Aw - w + x) / b of the other rows with a finite b above ``share`` of x."""

    def growth(self, w: Floats, x: Floats, span: Span) -> float:
        """The largest (F(w) - w) / x, at least 0."""

    def take_free_rows(self, x: Floats, chosen: Int32s, span: Span) -> None:
        """Where x is 0, choose the first row that is worth 0."""

    def propagate(self, lower: Floats, upper: Floats, span: Span, slack: float) -> None:
        """One Gauss–Seidel sweep on bounds, rounded outward: bounds they were, bounds they are."""

    def bicgstab(
        self, x: Floats, chosen: Int32s | None, span: Span, sweeps: int, tolerance: float
    ) -> tuple[int, float]:
        """BiCGStab on x = G(x), where G is a Gauss–Seidel sweep, until every residual is at most ``tolerance`` of x."""

    def solve_induced(self, x: Floats, chosen: Int32s, span: Span, tolerance: float) -> tuple[int, float]:
        """The solution for the rows chosen, however; what it took in sweeps, and the largest residual."""
