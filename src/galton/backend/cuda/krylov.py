"""BiCGStab on a device (van der Vorst 1992): no scalar crosses the bus in the loop.

:class:`Iteration` makes steps of the method for any product and preconditioner; :func:`bicgstab` solves (I - A) x = b
for a chain, or for the rows that an MDP's strategy takes. The vector operations are in ``vectors.cu``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.cuda.kernels import kernels

__all__ = ["SWEEPS", "Iteration", "bicgstab", "relative_residual"]

FILE = Path(__file__).with_name("vectors.cu")
SWEEPS = 2000
MOST_THREADS = 1 << 18  # for a dot product: about what a device holds
LOOK = 8  # iterations between looks at the residual
PATIENCE = 8  # looks without anything better


class Iteration:
    """Steps of BiCGStab from x, which is improved in place, with the residual ``r`` to begin with.

    ``product(x, y)`` writes into y; ``precondition(x)`` returns a vector, x itself where there is nothing to do.
    """

    def __init__(
        self, x: Any, r: Any, product: Callable[[Any, Any], None], precondition: Callable[[Any], Any] = lambda x: x
    ) -> None:
        self.x, self.r, self._product, self._precondition = x, r, product, precondition
        self._kernels = kernels(FILE, "OFFSET=int")
        self._shadow = r.copy()
        self._p, self._v, self._t = cp.zeros_like(x), cp.zeros_like(x), cp.empty_like(x)
        self._scalars = cp.asarray(np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]))

    def run(self, steps: int) -> None:
        """So many steps, two products each."""
        n, scalars, run = len(self.x), self._scalars, self._kernels.launch
        few = min(n, MOST_THREADS)
        for _ in range(steps):
            run("dots", few, n, self._shadow, self.r, None, scalars)
            run("begin_step", 1, scalars, block=1)
            run("turn", n, n, self.r, self._v, self._p, scalars)
            p = self._precondition(self._p)
            self._product(p, self._v)
            run("dots", few, n, self._shadow, self._v, None, scalars)
            run("half_step", 1, scalars, block=1)
            run("subtract", n, n, self.r, self._v, scalars)
            s = self._precondition(self.r)
            self._product(s, self._t)
            run("dots", few, n, self._t, self.r, self._t, scalars)
            run("end_step", 1, scalars, block=1)
            run("settle", n, n, p, s, self._t, self.x, self.r, scalars)


def bicgstab(system: Any, x: Any, chosen: Any | None, sweeps: int, tolerance: float) -> tuple[int, float]:
    """Products made, and the largest relative residual; x gets the best that was found.

    The system is one with ``multiply``, on one device or on several.
    """

    def residual_of(vector: Any) -> Any:
        found = cp.empty_like(x)
        system.multiply(vector, found, chosen, with_constant=True)
        found -= vector
        return found

    def product(vector: Any, found: Any) -> None:
        system.multiply(vector, found, chosen, with_constant=False)
        cp.subtract(vector, found, out=found)

    at, useless, done = x.copy(), 0, 1
    r = residual_of(at)
    best = relative_residual(r, x)
    iteration = Iteration(at, r, product)
    while done < sweeps and best > tolerance and useless < PATIENCE:
        iteration.run(LOOK)
        done += 2 * LOOK + 1
        iteration.r[:] = residual_of(at)  # what recursion lost is found again
        found = relative_residual(iteration.r, at)
        useless += 1
        if found < best:
            best, x[:], useless = found, at, 0
    return done, best


def relative_residual(r: Any, x: Any) -> float:
    """The largest |r| / |x|."""
    size = cp.abs(r)
    with np.errstate(divide="ignore"):  # infinite where what is 0 should not be
        return float(cp.max(size / cp.where(size > 0, cp.abs(x), 1.0)))
