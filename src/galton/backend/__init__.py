"""The primitives that methods are made of, once per device.

:class:`System` names those of the equations ``x = opt(Ax + b)``. Methods are written over it and do not know who does
the work: ``_core.System`` in C++ on the CPU, or :class:`.reference.System` in NumPy, which says in a few lines what
each primitive means. The inner products and vector updates of Krylov methods are NumPy's own on the CPU: they go once
through memory, as a kernel would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Int32s = npt.NDArray[np.int32]

__all__ = ["System"]


class System(Protocol):
    """``x[s] = opt over rows r of s: scale[r] · Σ values·x[columns] + constant[r]``, short ``x = F(x)``.

    All work on the unknowns ``first`` up to ``last`` and read the others as they are. Vectors have a number per unknown
    of the whole system. Sweeps stop when no unknown changes by more than ``tolerance``, of itself if ``relative``, and
    return how many there were and the largest change in the last; ``copy`` gives them room.
    """

    def gauss_seidel(
        self,
        x: Floats,
        copy: Floats,
        chosen: Int32s | None,
        first: int,
        last: int,
        sweeps: int,
        tolerance: float,
        relative: bool,
        forward: bool,
        omega: float,
        threads: int,
    ) -> tuple[int, float]:
        """Sweeps in place, ``omega`` of the way to F(x); by the rows ``chosen``, or the best where None."""

    def jacobi(
        self,
        x: Floats,
        copy: Floats,
        chosen: Int32s | None,
        first: int,
        last: int,
        sweeps: int,
        tolerance: float,
        relative: bool,
        omega: float,
        threads: int,
    ) -> tuple[int, float]:
        """The same from the values before the sweep."""

    def improve(
        self, x: Floats, copy: Floats, chosen: Int32s, first: int, last: int, threads: int
    ) -> tuple[int, float]:
        """A Gauss–Seidel sweep that also writes the best rows; how many changed, and the largest relative change."""

    def defect(self, x: Floats, first: int, last: int, threads: int) -> float:
        """The largest |F(x) - x| / x."""

    def row_values(self, x: Floats, values: Floats, first: int, last: int, threads: int) -> None:
        """The value of each row, before the best is taken."""

    def is_above(self, upper: Floats, first: int, last: int, slack: float, threads: int) -> bool:
        """Whether upper >= F(upper) for certain, were scale and constants larger by a part of ``slack``."""

    def is_below(self, lower: Floats, first: int, last: int, slack: float, threads: int) -> bool:
        """Whether 0 <= lower <= F(lower) < ∞ for certain, were scale and constants smaller by a part of ``slack``."""

    def weigh_rows(
        self,
        x: Floats,
        chosen: Int32s | None,
        near: float,
        share: float,
        constants: Floats,
        first: int,
        last: int,
        threads: int,
    ) -> None:
        """Write constants for the equations of w, about x + Aw, by which :mod:`galton.solve.sound` shifts x to bounds.

        They are x for the rows chosen, and for those with a value within ``near`` of x and a constant of at most
        ``share`` of it, both relative; minus infinity for others.
        """

    def left_to_delta(
        self, x: Floats, w: Floats, constants: Floats, share: float, first: int, last: int, threads: int
    ) -> float:
        """The largest (Aw - w + x) / b of the other rows with a finite b above ``share`` of x."""

    def growth(self, w: Floats, x: Floats, first: int, last: int, threads: int) -> float:
        """The largest (F(w) - w) / x, at least 0."""

    def take_free_rows(self, x: Floats, chosen: Int32s, first: int, last: int, threads: int) -> None:
        """Where x is 0, choose the first row that is worth 0."""

    def propagate(self, lower: Floats, upper: Floats, first: int, last: int, slack: float) -> None:
        """One Gauss–Seidel sweep on bounds, rounded outward: bounds they were, bounds they are."""

    def bicgstab(
        self, x: Floats, chosen: Int32s | None, first: int, last: int, sweeps: int, tolerance: float, threads: int
    ) -> tuple[int, float]:
        """BiCGStab on x = G(x), where G is a Gauss–Seidel sweep, until every residual is at most ``tolerance`` of x."""

    def solve_induced(self, x: Floats, chosen: Int32s, first: int, last: int, tolerance: float) -> tuple[int, float]:
        """The solution for the rows chosen, however; what it took in sweeps, and the largest residual."""
