"""BiCGStab (van der Vorst 1992): the recurrence, over the vector operations of the place where the vectors are.

:class:`Iteration` makes steps for any product and preconditioner. What happens between two products is three updates,
each with the inner products that it needs (:class:`VectorUpdates`): in NumPy here, in fused kernels on a device
(``cuda/krylov.py``), where the scalars never leave it. In the core the recurrence is written out once more for each of
its two systems (``src/core/solve/krylov.cpp``, ``bias.cpp``), because there products and inner products are one pass.

A quotient by 0 counts as 0. A recurrence that breaks down forgets its direction so, and goes on with the residual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..device.arrays import is_on_host
from ..model.values import Floats

__all__ = ["HostUpdates", "Iteration", "VectorUpdates", "dot", "updates_for"]


class VectorUpdates(Protocol):
    """The updates of one solve, in the order of a step. They keep its scalars: rho, alpha, omega and beta."""

    def turn(self, shadow: Floats, r: Floats, v: Floats, p: Floats) -> None:
        """Rho is shadow·r, beta follows; p = r + beta (p - omega v)."""

    def half_step(self, shadow: Floats, v: Floats, r: Floats) -> None:
        """Alpha is rho / shadow·v; r = r - alpha v, called s from then on."""

    def end_step(self, p: Floats, s: Floats, t: Floats, x: Floats, r: Floats) -> None:
        """Omega is t·r / t·t; x = x + alpha p + omega s, r = r - omega t. The preconditioner has been at p and s."""


class Iteration:
    """Steps of BiCGStab from x, which is improved in place, with the residual ``r`` to begin with, kept in place too.

    ``product(x, y)`` writes into y; ``precondition(x)`` returns a vector, x itself where there is nothing to do. The
    ``shadow`` may be any vector that is not orthogonal to r; r itself if None.
    """

    def __init__(
        self,
        x: Floats,
        r: Floats,
        product: Callable[[Floats, Floats], None],
        precondition: Callable[[Floats], Floats] = lambda x: x,
        *,
        shadow: Floats | None = None,
        updates: VectorUpdates | None = None,
    ) -> None:
        self.x, self.r, self._product, self._precondition = x, r, product, precondition
        self._updates = updates or updates_for(x)
        self._shadow = r.copy() if shadow is None else shadow
        self._p, self._v, self._t = np.zeros_like(x), np.zeros_like(x), np.empty_like(x)

    def run(self, steps: int) -> None:
        """So many steps, two products each."""
        updates = self._updates
        for _ in range(steps):
            updates.turn(self._shadow, self.r, self._v, self._p)
            p = self._precondition(self._p)
            self._product(p, self._v)
            updates.half_step(self._shadow, self._v, self.r)
            s = self._precondition(self.r)
            self._product(s, self._t)
            updates.end_step(p, s, self._t, self.x, self.r)


def updates_for(x: Floats) -> VectorUpdates:
    """The updates of the place where a vector is."""
    if is_on_host(x):
        return HostUpdates()
    from .cuda.krylov import DeviceUpdates

    return DeviceUpdates()


class HostUpdates:
    """The updates in NumPy; with a ``weight``, inner products are weighted by it."""

    def __init__(self, weight: Floats | None = None) -> None:
        self._weight = weight
        self._rho = self._alpha = self._omega = 1.0

    def turn(self, shadow: Floats, r: Floats, v: Floats, p: Floats) -> None:
        """The next direction."""
        rho = self._dot(shadow, r)
        beta = _quotient(rho, self._rho) * _quotient(self._alpha, self._omega)
        self._rho = rho
        p -= self._omega * v
        p *= beta
        p += r

    def half_step(self, shadow: Floats, v: Floats, r: Floats) -> None:
        """Along the direction."""
        self._alpha = _quotient(self._rho, self._dot(shadow, v))
        r -= self._alpha * v

    def end_step(self, p: Floats, s: Floats, t: Floats, x: Floats, r: Floats) -> None:
        """Along what is left, to the least residual. Without a preconditioner s and r are one array."""
        self._omega = _quotient(self._dot(t, r), self._dot(t, t))
        x += self._alpha * p
        x += self._omega * s
        r -= self._omega * t

    def _dot(self, a: Floats, b: Floats) -> float:
        return dot(a, b if self._weight is None else b * self._weight)


def _quotient(a: float, b: float) -> float:
    return a / b if b else 0.0


def dot(a: Floats, b: Floats) -> float:
    """The inner product.

    It is NumPy's, but not that of its BLAS: on a busy machine that waits longer for its threads than it adds, and what
    it adds up depends on how many there are.
    """
    return float(np.einsum("i,i->", a, b)) if is_on_host(a) else float((a * b).sum())
