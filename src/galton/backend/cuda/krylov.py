"""BiCGStab on a device: no scalar crosses the bus in the loop.

:class:`DeviceUpdates` is what lies between two products; :func:`bicgstab` solves (I - A) x = b for a chain, or for the
rows that an MDP's strategy takes. The kernels are in ``vectors.cu``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.cuda.kernels import kernels
from ..bicgstab import Iteration

__all__ = ["SWEEPS", "DeviceUpdates", "bicgstab", "improve"]

FILE = Path(__file__).with_name("vectors.cu")
SWEEPS = 2000
MOST_THREADS = 1 << 18  # for a dot product: about what a device holds
CHECK_EVERY = 8  # iterations between checks of the residual
PATIENCE = 8  # checks without anything better


class DeviceUpdates:
    """The updates of :class:`galton.backend.bicgstab.Iteration` in fused kernels; scalars stay on the device."""

    def __init__(self) -> None:
        self._kernels = kernels(FILE, "OFFSET=int")
        self._scalars = cp.asarray(np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]))

    def turn(self, shadow: Any, r: Any, v: Any, p: Any) -> None:
        """The next direction."""
        self._dots(shadow, r, None)
        self._run("begin_step", 1, self._scalars, block=1)
        self._run("turn", len(r), len(r), r, v, p, self._scalars)

    def half_step(self, shadow: Any, v: Any, r: Any) -> None:
        """Along the direction."""
        self._dots(shadow, v, None)
        self._run("half_step", 1, self._scalars, block=1)
        self._run("subtract", len(r), len(r), r, v, self._scalars)

    def end_step(self, p: Any, s: Any, t: Any, x: Any, r: Any) -> None:
        """Along what is left, to the least residual."""
        self._dots(t, r, t)
        self._run("end_step", 1, self._scalars, block=1)
        self._run("settle", len(r), len(r), p, s, t, x, r, self._scalars)

    def _dots(self, a: Any, b: Any, c: Any | None) -> None:
        self._run("dots", min(len(a), MOST_THREADS), len(a), a, b, c, self._scalars)

    def _run(self, kernel: str, threads: int, *arguments: Any, **options: int) -> None:
        self._kernels.launch(kernel, threads, *arguments, **options)


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
        system.multiply(vector, found, chosen, with_constant=False, from_x=True)

    at = x.copy()
    iteration = Iteration(at, residual_of(at), product, updates=DeviceUpdates())

    def keep() -> None:
        x[:] = at

    return improve(iteration, lambda: residual_of(at), keep, sweeps, tolerance, products=2, patience=PATIENCE)


def improve(
    iteration: Iteration,
    residual: Callable[[], Any],
    keep: Callable[[], None],
    sweeps: int,
    tolerance: float,
    *,
    products: int,
    patience: int,
) -> tuple[int, float]:
    """Steps until every residual is at most ``tolerance`` of x: what they took in products, and the largest residual.

    Parameters
    ----------
    residual
        Computes it anew: what recursion lost is found again.
    keep
        Called when x is better than ever.
    products
        That a step is worth.
    patience
        Checks without anything better before giving up.
    """
    done, useless, best = 1, 0, _relative_residual(iteration.r, iteration.x)
    while done < sweeps and best > tolerance and useless < patience:
        iteration.run(CHECK_EVERY)
        done += products * CHECK_EVERY + 1
        iteration.r[:] = residual()
        found = _relative_residual(iteration.r, iteration.x)
        useless += 1
        if found < best:
            best, useless = found, 0
            keep()
    return done, best


def _relative_residual(r: Any, x: Any) -> float:
    """The largest |r| / |x|."""
    size = cp.abs(r)
    with np.errstate(divide="ignore"):  # infinite where what is 0 should not be
        return float(cp.max(size / cp.where(size > 0, cp.abs(x), 1.0)))
