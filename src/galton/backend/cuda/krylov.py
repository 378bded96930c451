"""BiCGStab on a device (van der Vorst 1992): no scalar crosses the bus in the loop.

Solves (I - A) x = b for a chain, or for the rows that an MDP's strategy takes. Dot products are CuPy's and stay on the
device as arrays of one number; the vector updates read them there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy as cp

if TYPE_CHECKING:
    from .system import System

__all__ = ["SWEEPS", "bicgstab", "ratio"]

SWEEPS = 2000
LOOK = 8  # iterations between looks at the residual
PATIENCE = 8  # looks without anything better


def bicgstab(system: System, x: Any, chosen: Any | None, sweeps: int, tolerance: float) -> tuple[int, float]:
    """Products made, and the largest relative residual; x gets the best that was found."""

    def residual_of(vector: Any) -> Any:
        found = cp.empty_like(x)
        system.multiply(vector, found, True, 1, chosen)
        return found - vector

    def times(vector: Any) -> Any:
        found = cp.empty_like(x)
        system.multiply(vector, found, False, 1, chosen)
        return vector - found

    r = residual_of(x)
    best, best_x, done = _relative(r, x), x.copy(), 1
    shadow = r.copy()
    rho = alpha = omega = cp.ones(())
    p, v = cp.zeros_like(x), cp.zeros_like(x)
    at, useless = x.copy(), 0
    while done < sweeps and best > tolerance:
        for _ in range(LOOK):
            new_rho = shadow @ r
            beta = ratio(new_rho, rho) * ratio(alpha, omega)
            p = r + beta * (p - omega * v)
            v = times(p)
            alpha = ratio(new_rho, shadow @ v)
            s = r - alpha * v
            t = times(s)
            omega = ratio(t @ s, t @ t)
            at += alpha * p + omega * s
            r = s - omega * t
            rho = new_rho
        done += 2 * LOOK + 1
        r = residual_of(at)  # what recursion lost is found again
        found = _relative(r, at)
        if found < best:
            best, best_x[:], useless = found, at, 0
        useless += 1
        if useless == PATIENCE:
            break
    x[:] = best_x
    return done, best


def ratio(a: Any, b: Any) -> Any:
    """A quotient that stays on the device; 0 where it would be none."""
    return cp.where(b == 0, 0.0, a / cp.where(b == 0, 1.0, b))


def _relative(r: Any, x: Any) -> float:
    size = cp.abs(r)
    return float(cp.max(size / cp.where(size > 0, cp.abs(x), 1.0)))
