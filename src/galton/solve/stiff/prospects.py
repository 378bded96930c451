"""Why windows of time are not likely to succeed: found for little before they are, or while the first ones are.

**Numbers that swing** for long before they settle need many vectors for a window, and many windows. A few steps of
Arnoldi's method with (σ - Q)⁻¹ for σ about 10/t show which eigenvalues λ of Q are left by the time t: λ t is near 0.
What such a part does is exp(λs): where |Im λ| is several times |Re λ|, it turns several times before it is gone. Cycles
and stages that follow each other are such chains.

**Numbers that are small beside their weight** are those of what hardly comes in time, but soon after. The weight w is a
mean of u over an exponential time, which may be long; errors are about as large as w, whatever u(t) is. The mean over a
sum of ten exponential times, with the same mean t, is much closer to u(t): (I - tQ/10)⁻¹⁰ u₀, where nothing is earned.
Where u grows with time it is more than 0.45 u(t), the probability that such a sum is above its mean.

Both are guesses, on which no bound depends.
"""

from __future__ import annotations

import math

import numpy as np

from ... import _core
from ...backend.bicgstab import dot
from ...model.sparse import Int32s
from ...model.values import Floats
from ..settings import Settings
from .effort import Budget
from .open_chain import OpenChain
from .resolvent import Resolvent, Resolvents
from .weight import Weight

__all__ = ["why_not"]

SHIFT = 10  # σ t
VECTORS = 10
ROUGH = 0.1  # residuals, beside the vectors
LEFT = 10.0  # -Re λt of what is nearly gone by the end
SLOWLY = 2.0  # -Re λt of what hardly settles
TURNS = 1.75  # |Im λ| beside |Re λ| that is too much


def why_not(
    chain: OpenChain, weight: Weight, time: float, important: Int32s, least: float, settings: Settings, budget: Budget
) -> str:
    """What speaks against windows up to that time; empty where nothing does.

    Numbers of important states that are less than ``least`` beside their weight are too small.
    """
    resolvents = Resolvents(chain, weight.w, settings, budget, order=weight.order)
    resolvents.next_level()
    resolvent = resolvents.at(SHIFT / time)
    if _beside_weight(resolvent, chain, weight.w, SHIFT / time)[important].min(initial=math.inf) < least:
        return "its numbers are too small"
    return "its numbers swing for long" if _swings(resolvent, chain, weight.w, time, budget) else ""


def _beside_weight(resolvent: Resolvent, chain: OpenChain, w: Floats, sigma: float) -> Floats:
    """About u(t)/w. Eliminations are good enough, and keep small numbers small."""
    earned, found = np.maximum(chain.drift(np.zeros(chain.n))[1], 0.0) / w, chain.start / w
    for _ in range(SHIFT):
        found = resolvent.precondition(sigma * found + earned)
    return found


def _swings(resolvent: Resolvent, chain: OpenChain, w: Floats, time: float, budget: Budget) -> bool:
    """Whether something swings that is not gone by that time."""
    n = chain.n
    lower, upper = chain.drift(w)
    slope = (lower + (upper - lower) / 2) / w  # w is about the numbers at that time
    if not slope.any():
        return False
    count = min(VECTORS, n)
    v, h = np.empty((count + 1, n)), np.zeros((count + 1, count))
    v[0] = slope / math.sqrt(dot(slope, slope))
    for m in range(1, count + 1):
        x, parts = resolvent.solve(v[m - 1], ROUGH * float(np.abs(v[m - 1]).max())), np.empty(m)
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
