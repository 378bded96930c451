"""The gain of an irreducible chain, by a guess at its bias and a proof.

The gain g and the bias h solve Poisson's equation g = r + Qh, where (Qh)(s) is the sum over t of R(s,t)(h(t) - h(s)).
For *any* h, min(r + Qh) <= g <= max(r + Qh): one sweep that rounds downwards (``src/core/long_run/drift.hpp``) turns
whatever a method proposes into bounds.

Where the gain is tiny because what earns is rare, the rounding of r + Qh in the rare states is larger than the gain.
Then rewards are made a little higher there, by more than the rounding, and the bias of those is the guess: its r + Qh
stays below its gain in spite of the rounding, and the gain has hardly changed because the states are rare. Likewise
lower, for a bound from below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import backend
from ..backend.chain import Chain
from ..device.arrays import namespace
from ..model.errors import NumericError
from .direct.elimination import average
from .settings import Settings
from .tolerance import TINY

Floats = npt.NDArray[np.float64]

__all__ = ["Gain", "bias_of", "gain", "prove"]

MARGIN = 0.4  # of the width asked for: what a guess is made for, so that the proof has the rest


class Gain(NamedTuple):
    """Bounds on a gain and how they were found."""

    lower: float
    upper: float
    method: str
    sweeps: int


def drift_bounds(chain: Chain, high: Floats, low: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
    """Bounds on r + Qh in every state, rounding included; h is the sum of the two vectors."""
    kernels = backend.of(chain.columns, chain.devices).long_run
    return kernels.drift_bounds(chain, chain.state, chain.choice, high, low, threads)


def prove(chain: Chain, high: Floats, low: Floats | None = None, threads: int = 1) -> tuple[float, float]:
    """Bounds on the gain that any vector h gives; NaN where it is not finite."""
    lower, upper = drift_bounds(chain, high, low, threads)
    return float(lower.min()), float(upper.max())


def gain(chain: Chain, settings: Settings) -> Gain:
    """Bounds on the gain of an irreducible chain, as close as the settings ask."""
    search = _Search(chain, settings)
    tried = search.bias.preconditioners
    if name := search.propose():
        return Gain(search.lower, search.upper, f"BiCGStab, {name}", search.bias.sweeps)
    why = "elimination is for the CPU"
    if search.kernels.eliminates:
        try:
            if search.eliminate():
                return Gain(search.lower, search.upper, "elimination", search.bias.sweeps)
            why = "elimination comes no closer"
        except NumericError as error:
            why = f"elimination ({error})"
    raise NumericError(
        f"the long-run average of a component with {chain.n_states:,} states lies in [{search.lower:.9g}, "
        f"{search.upper:.9g}], and no method at hand comes closer: "
        f"tried BiCGStab with {', '.join(name for name, _, _ in tried)}; {why}; "
        "a larger --eps may do"
    )


def bias_of(chain: Chain, settings: Settings, seen: Callable[[Floats, Floats], None]) -> tuple[Floats, Floats, int]:
    """The two parts of the bias of a chain that ends in one place, as good as it gets, and the sweeps it took.

    ``seen`` is told of every guess on the way: some prove more on one side than the last one does. States that are left
    for ever may come with the chain, after those that are not.
    """
    search = _Search(chain, settings, seen)
    search.propose()
    return search.high, search.low, search.bias.sweeps


class _Search:
    """The bounds known so far. Every proof holds, so that they only ever move towards each other.

    The bias is sought as a correction ``low`` of ``high``: it solves the equation with what ``high`` leaves as rewards.
    """

    def __init__(self, chain: Chain, settings: Settings, seen: Callable[[Floats, Floats], None] | None = None) -> None:
        self.chain, self.settings, self.seen = chain, settings, seen
        self.kernels = backend.of(chain.columns, chain.devices).long_run
        self.bias = self.kernels.bias(chain, settings)
        xp = namespace(chain.columns)
        self.high, self.low = xp.zeros(chain.n_states), xp.zeros(chain.n_states)
        self.reward = chain.reward
        self.scale = 0.0 if settings.relative else 1.0
        if settings.relative and self.reward.min() < 0:  # the average may be zero: relative to the rewards, then
            self.scale = float(abs(self.reward).max())
        self.lower, self.upper = -np.inf, np.inf
        self._narrow(*self._prove(self.low))

    def propose(self) -> str:
        """Bring the bounds together, with one preconditioner after the other; the one that did, or an empty text."""
        for name, prepare, patience in self.bias.preconditioners:
            if prepare() and self.guess(patience):
                return name
        return ""

    def guess(self, patience: int) -> bool:
        """Improve the bias as long as that brings the bounds together; where only rounding is left, make up for it."""
        width = np.inf
        while self._improve(self.reward, self.low, patience):
            lower, upper = self._prove(self.low)
            if self._narrow(lower, upper):
                return True
            if not upper - lower < width / 2:
                return self._guess_on_both_sides(patience)
            width = upper - lower
            self._hold()
        return False

    def _guess_on_both_sides(self, patience: int) -> bool:
        """With rewards that make up for the rounding, on one side and then on the other."""
        lower, upper = self._drift_bounds(self.low)
        middle = (lower[self.bias.busiest] + upper[self.bias.busiest]) / 2
        xp = namespace(lower)
        slack = 4 * xp.maximum(upper - middle, middle - lower) + self._rounding()
        if not xp.isfinite(slack).all():
            return False
        for sign in (1.0, -1.0):
            low = self.low.copy()
            self._improve(self.reward + sign * slack, low, patience)
            if self._narrow(*self._prove(low)):
                return True
        return False

    def eliminate(self) -> bool:
        """Completely, which is always right."""
        return self._narrow(*average(self.chain.matrix, self.chain.reward, self.settings))

    def _hold(self) -> None:
        """Add the correction to what it corrects, and seek the next one."""
        self.high, self.low = self.high + self.low, np.zeros_like(self.low)
        lower, upper = self._drift_bounds(self.low)
        self.reward = (lower + upper) / 2

    def _rounding(self) -> Floats:
        """About what the digits of ``low`` can do to r + Qh."""
        size = abs(self.low)
        _, upper = self.kernels.drift_bounds(self.chain, None, None, size, None, self.bias.threads)
        with np.errstate(over="ignore", invalid="ignore"):  # a guess may be beyond all numbers, and is not proved then
            rounding: Floats = 2.0**-49 * (upper + 2 * self.bias.exit_rates * size)
        return rounding

    def _improve(self, reward: Floats, low: Floats, patience: int) -> bool:
        width = MARGIN * 2 * self.settings.eps
        relative = width if self.settings.relative else 0.0
        absolute = max(width * self.scale, TINY)
        return bool(self.bias.improve(reward, low, relative=relative, absolute=absolute, patience=patience))

    def _drift_bounds(self, low: Floats) -> tuple[Floats, Floats]:
        return drift_bounds(self.chain, self.high, low, self.bias.threads)

    def _prove(self, low: Floats) -> tuple[float, float]:
        if self.seen is not None:
            self.seen(self.high, low)
        return prove(self.chain, self.high, low, self.bias.threads)

    def _narrow(self, lower: float, upper: float) -> bool:
        """Whether the bounds are close now."""
        self.lower, self.upper = max(self.lower, lower) + 0.0, min(self.upper, upper) + 0.0  # which is never -0
        self.settings.tell(step="long run", sweeps=self.bias.sweeps, lower=self.lower, upper=self.upper)
        scale = self.scale
        if self.settings.relative and (self.lower > 0 or self.upper < 0):
            scale = max(scale, min(abs(self.lower), abs(self.upper)))
        return self.upper - self.lower <= max(2 * self.settings.eps * scale, TINY)
