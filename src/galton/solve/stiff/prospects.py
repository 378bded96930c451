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

from ...model.sparse import Int32s
from ...model.values import Floats
from ..settings import Settings
from .effort import READY, Budget, UnsolvedError
from .open_chain import OpenChain
from .resolvent import Resolvent, Resolvents
from .space import Space
from .weight import Weighing, Weight

__all__ = ["Prospects"]

SHIFT = 10  # σ t
VECTORS = 10
ROUGH = 0.1  # residuals, beside the vectors
LEFT = 10.0  # -Re λt of what is nearly gone by the end
SLOWLY = 2.0  # -Re λt of what hardly settles
TURNS = 1.75  # |Im λ| beside |Re λ| that is too much


class Prospects:
    """The weight of errors at a time, and whether windows up to it are likely to succeed.

    What was given up for too much work goes on where it was: eliminations are kept.

    Attributes
    ----------
    time
        The last one asked for.
    budget
        What may be spent. Where that is without end, all is likely to succeed.
    least
        Numbers of important states that are less than this beside their weight are too small.
    """

    def __init__(
        self, chain: OpenChain, time: float, important: Int32s, least: float, settings: Settings, budget: Budget
    ) -> None:
        self._chain, self._important, self._settings = chain, important, settings
        self.time, self.budget, self.least = time, budget, least
        self._weighing: Weighing | None = None
        self._resolvents: Resolvents | None = None
        self._resolvent: Resolvent | None = None
        self._space: Space | None = None
        self._weight: Weight | None = None

    def weight(self) -> Weight:
        """The weight of errors; raises where something speaks against windows."""
        if self._weighing is None:
            self.budget.spend(READY)
            self._weighing = Weighing(self._chain, self.time, self._settings, self.budget)
        if self._weight is None:
            self._weight = self._weighing.run()
        if self.budget.steps < math.inf:
            reason = self._why_not(self._weight)
            if reason:
                raise UnsolvedError(reason)
        return self._weight

    def _why_not(self, weight: Weight) -> str:
        """What speaks against windows; empty where nothing does."""
        chain, sigma = self._chain, SHIFT / self.time
        if self._resolvents is None or self._resolvent is None:
            self._resolvents = Resolvents(chain, weight.w, self._settings, self.budget, order=weight.order)
            self._resolvents.next_level()
            self._resolvent = self._resolvents.at(sigma)
        beside = _beside_weight(self._resolvent, chain, weight.w, sigma)
        if beside[self._important].min(initial=math.inf) < self.least:
            return "its numbers are too small"
        return "its numbers swing for long" if self._swings(weight.w) else ""

    def _swings(self, w: Floats) -> bool:
        """Whether something swings that is not gone by that time."""
        assert self._resolvents is not None
        assert self._resolvent is not None
        if self._space is None:
            lower, upper = self._chain.drift(w)
            slope = (lower + (upper - lower) / 2) / w  # w is about the numbers at that time
            if not slope.any():
                return False
            self._space = Space(self._resolvents, self._resolvent, slope, min(VECTORS, self._chain.n))
        space = self._space
        while space.size < len(space.x) and not space.is_whole:
            space.add(ROUGH * space.largest)
        try:
            found = SHIFT - self.time * np.linalg.eigvals(np.linalg.inv(space.h[: space.size, : space.size]))
        except np.linalg.LinAlgError:
            return False
        left = found[found.real > -LEFT]
        return bool((np.abs(left.imag) > TURNS * np.maximum(np.abs(left.real), SLOWLY)).any())


def _beside_weight(resolvent: Resolvent, chain: OpenChain, w: Floats, sigma: float) -> Floats:
    """About u(t)/w. Eliminations are good enough, and keep small numbers small."""
    earned, found = np.maximum(chain.drift(np.zeros(chain.n))[1], 0.0) / w, chain.start / w
    for _ in range(SHIFT):
        found = resolvent.precondition(sigma * found + earned)
    return found
