"""What Krylov methods share: they solve (I - A) d = r for a correction d, and are restarted from the true residual.

Restarting is what makes the answer good in every unknown, not only in norm: all terms of F(x) have one sign, so that
F(x) - x is known to nearly all digits of x, and every restart takes away some more digits of the error that is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import numpy as np

from ..backend.bicgstab import dot
from ..model.sparse import Int32s
from ..model.values import Floats
from .equations import Segment
from .methods.base import Job

__all__ = ["Operator", "norm", "restarted"]

FRUITLESS = 10  # restarts without any gain, after which there will be none


def norm(a: Floats) -> float:
    """The length."""
    return float(np.sqrt(dot(a, a)))


class Multiplying(Protocol):
    """What a device's system knows besides what all do."""

    def multiply(self, x: Floats, y: Floats, chosen: Int32s | None, *, with_constant: bool, from_x: bool) -> None:
        """Write Ax + b into y, or Ax, or x - Ax."""


class Operator:
    """d ↦ (I - A) d on a range of unknowns of a chain, counting."""

    def __init__(self, job: Job, segment: Segment) -> None:
        self.job, self.segment = job, segment
        equations = job.equations
        self._on_host = job.xp is np
        if self._on_host:
            self._homogeneous = equations.system_with(np.zeros(len(equations.rows)), None)
            self._full = np.zeros(equations.size)  # zero outside the range

    def __call__(self, d: Floats) -> Floats:
        found: Floats = self.job.xp.empty(len(d))
        self.write(d, found)
        return found

    def write(self, d: Floats, found: Floats) -> None:
        """The product, into an array that is there. A device has all unknowns in one range, and one kernel for it."""
        self.job.sweeps += 1
        if not self._on_host:
            cast("Multiplying", self.job.system).multiply(d, found, None, with_constant=False, from_x=True)
            return
        span = self.segment.span(self.job.threads)
        self._full[span.part] = d
        self._homogeneous.row_values(self._full, found, span)
        np.subtract(d, found, out=found)


# correct(operator, x, F(x) - x, attempt) -> d, with x + d nearer to the solution.
Correct = Callable[[Operator, Floats, Floats, int], Floats]


def restarted(job: Job, segment: Segment, correct: Correct) -> None:
    """Correct x until a sweep would change no unknown by more than eps."""
    x = job.x[segment.first : segment.last]  # a view
    operator = Operator(job, segment)
    fruitless = 0
    residual = job.residual(segment)
    while not job.is_small(residual, x):
        size = float(abs(residual).max())
        if not job.left or fruitless >= FRUITLESS:
            raise job.not_converged(f"the residual is still {size:.2g}")
        old = x.copy()
        with np.errstate(all="ignore"):  # a breakdown is noticed by its result
            x += correct(operator, old, residual, fruitless)
        found = job.residual(segment)
        if job.xp.isfinite(found).all() and norm(found) < norm(residual):
            residual, fruitless = found, 0
        else:
            x[:] = old
            fruitless += 1
        job.spend(1, size)
