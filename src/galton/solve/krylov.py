"""What Krylov methods share: they solve (I - A) d = r for a correction d, and are restarted from the true residual.

Restarting is what makes the answer good in every unknown, not only in norm: all terms of F(x) have one sign, so that
F(x) - x is known to nearly all digits of x, and every restart takes away some more digits of the error that is left.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..backend.bicgstab import dot
from ..model.values import Floats
from .equations import Segment
from .methods.base import Job

__all__ = ["Operator", "norm", "restarted"]

FRUITLESS = 10  # restarts without any gain, after which there will be none


def norm(a: Floats) -> float:
    """The length."""
    return float(np.sqrt(dot(a, a)))


class Operator:
    """d ↦ (I - A) d on a range of unknowns of a chain, counting."""

    def __init__(self, job: Job, segment: Segment) -> None:
        self.job, self.segment = job, segment
        equations = job.equations
        xp = job.xp
        self._homogeneous = equations.system_with(xp.zeros(len(equations.rows)), None)
        self._full = xp.zeros(equations.size)  # zero outside the range

    def __call__(self, d: Floats) -> Floats:
        found: Floats = self.job.xp.empty(len(d))
        self.write(d, found)
        return found

    def write(self, d: Floats, found: Floats) -> None:
        """The product, into an array that is there."""
        span = self.segment.span(self.job.threads)
        self._full[span.part] = d
        self._homogeneous.row_values(self._full, found, span)
        self.job.xp.subtract(d, found, out=found)
        self.job.sweeps += 1


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
