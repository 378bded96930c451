"""Whether numbers swing for long before they settle: then a window of time needs many vectors, and there are many.

A few steps of Arnoldi's method with (σ - Q)⁻¹ for σ about 10/t show which eigenvalues λ of Q are left by the time t:
λ t is near 0. What such a part does is exp(λs): where |Im λ| is several times |Re λ|, it turns several times before it
is gone. Cycles and stages that follow each other are such chains. It is a guess, on which no bound depends.
"""

from __future__ import annotations

import math

import numpy as np

from ... import _core
from ...backend.bicgstab import dot
from ..settings import Settings
from .effort import Budget
from .open_chain import OpenChain
from .resolvent import Resolvents
from .weight import Weight

__all__ = ["swings"]

SHIFT = 10.0  # σ t
VECTORS = 10
ROUGH = 0.1  # residuals, beside the vectors
LEFT = 10.0  # -Re λt of what is nearly gone by the end
SLOWLY = 2.0  # -Re λt of what hardly settles
TURNS = 1.75  # |Im λ| beside |Re λ| that is too much


def swings(chain: OpenChain, weight: Weight, time: float, settings: Settings, budget: Budget) -> bool:
    """Whether something swings that is not gone by that time."""
    w, n = weight.w, chain.n
    resolvents = Resolvents(chain, w, settings, budget, order=weight.order)
    resolvents.next_level()
    resolvent = resolvents.at(SHIFT / time)
    lower, upper = chain.drift(w)
    slope = (lower + (upper - lower) / 2) / w  # w is about the numbers at that time
    if not slope.any():
        return False
    count = min(VECTORS, n)
    v, h = np.empty((count + 1, n)), np.zeros((count + 1, count))
    v[0] = slope / math.sqrt(dot(slope, slope))
    for m in range(1, count + 1):
        x = resolvent.solve(v[m - 1], ROUGH * float(np.abs(v[m - 1]).max()))
        parts = np.empty(m)
        h[m, m - 1] = _core.orthogonalise(v[:m], x, parts, chain.threads)
        h[:m, m - 1] = parts
        budget.spend(8 * m * n)
        if h[m, m - 1] <= 1e-14 * np.linalg.norm(h[:m, m - 1]):
            break
        v[m] = x / h[m, m - 1]
    try:
        found = SHIFT - time * np.linalg.eigvals(np.linalg.inv(h[:m, :m]))
    except np.linalg.LinAlgError:
        return False
    left = found[found.real > -LEFT]
    return bool((np.abs(left.imag) > TURNS * np.maximum(np.abs(left.real), SLOWLY)).any())
