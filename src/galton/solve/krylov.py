"""What Krylov methods share: they solve (I - A) d = r for a correction d, and are restarted from the true residual.

Restarting is what makes the answer good in every unknown, not only in norm: all terms of F(x) have one sign, so that
F(x) - x is known to nearly all digits of x, and every restart takes away some more digits of the error that is left.

Inner products are NumPy's, but not those of its BLAS: on a busy machine that waits longer for its threads than it adds,
and what it adds up depends on how many there are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..device.arrays import is_on_host
from ..model.values import Floats
from .equations import Segment
from .methods.method import Job

__all__ = ["Operator", "dot", "norm", "restarted"]

FRUITLESS = 10  # restarts without any gain, after which there will be none


def dot(a: Floats, b: Floats) -> float:
    """The inner product."""
    return float(np.einsum("i,i->", a, b)) if is_on_host(a) else float((a * b).sum())


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
        span = self.segment.span(self.job.threads)
        self._full[span.part] = d
        product: Floats = self.job.xp.empty(span.last - span.first)
        self._homogeneous.row_values(self._full, product, span)
        self.job.sweeps += 1
        return d - product


# correct(operator, x, F(x) - x, attempt) -> d, with x + d nearer to the solution.
Correct = Callable[[Operator, Floats, Floats, int], Floats]


def restarted(job: Job, segment: Segment, correct: Correct) -> None:
    """Correct x until a sweep would change no unknown by more than eps."""
    x = job.x[segment.first : segment.last]  # a view
    operator = Operator(job, segment)
    fruitless = 0
    residual = job.residual(segment)
    while not job.is_small(residual, x):
        size = float(np.abs(residual).max())
        if not job.left or fruitless >= FRUITLESS:
            raise job.not_converged(f"the residual is still {size:.2g}")
        old = x.copy()
        with np.errstate(all="ignore"):  # a breakdown is noticed by its result
            x += correct(operator, old, residual, fruitless)
        found = job.residual(segment)
        if np.isfinite(found).all() and norm(found) < norm(residual):
            residual, fruitless = found, 0
        else:
            x[:] = old
            fruitless += 1
        job.spend(1, size)
