"""Bounds on the gains of end components, by any vector h.

For any h, the best gain of a component lies between the least and the greatest, over its states, of the best
r + P h - h of their choices (Puterman 1994, theorem 8.5.5; Odoni 1969): whoever always takes the best choice earns at
least the least, and nobody earns more than the greatest. For the least gain it is the same with the least choices. One
sweep with outward rounding (``src/core/long_run/drift.hpp``) turns whatever a method proposes into such bounds.
"""

from __future__ import annotations

import numpy as np

from ... import backend
from ...backend.rows import best_choice, owners, spread
from ...device.arrays import extremes, namespace
from ...model.rounding import UNIT
from ...model.sparse import Int32s, Mask
from ...model.values import Floats
from ...solve.equations import Optimum
from ...solve.settings import Settings
from ...solve.tolerance import TINY
from .components import Inside

__all__ = ["Proof"]


class Proof:
    """The bounds known so far. Every proof holds, so that they only ever move towards each other.

    ``high`` and ``low`` are, for each component, the two parts of the h that proved the bound which a strategy attains:
    the lower one of the greatest gain, the upper one of the least. ``settled`` has choices that were found otherwise,
    -1 where there are none.
    """

    def __init__(self, inside: Inside, optimum: Optimum, settings: Settings) -> None:
        self.inside, self.optimum, self.settings = inside, optimum, settings
        self.maximise = optimum == "max"
        xp = namespace(inside.states)
        self.high, self.low = xp.zeros(len(inside.states)), xp.zeros(len(inside.states))
        self.lower, self.upper = xp.full(inside.count, -np.inf), xp.full(inside.count, np.inf)
        self.settled: Int32s = xp.full(len(inside.states), -1, dtype=np.int32)
        self.proofs = 0
        self.attempt(self.high)

    def drift(self, high: Floats, low: Floats | None = None) -> tuple[Floats, Floats]:
        """``(choices,)`` bounds on r + P h - h."""
        chain = self.inside.chain
        kernels = backend.of(chain.columns).long_run
        return kernels.drift_bounds(chain, chain.state, chain.choice, high, low, self.settings.n_threads)

    def attempt(self, high: Floats, low: Floats | None = None) -> None:
        """Narrow the bounds by what this vector, the sum of its two parts, proves."""
        inside, xp = self.inside, namespace(high)
        rows = self.drift(high, low)
        below, above = (best_choice(inside.model, bound, maximise=self.maximise) for bound in rows)
        if inside.count == 1:
            lower, upper = xp.asarray([float(below.min())]), xp.asarray([float(above.max())])
        else:
            lower, _ = extremes(below, inside.component, inside.count)
            _, upper = extremes(above, inside.component, inside.count)
        self.proofs += 1
        # What is no number proves nothing.
        lower, upper = xp.where(xp.isnan(lower), -np.inf, lower), xp.where(xp.isnan(upper), np.inf, upper)
        attained = lower > self.lower if self.maximise else upper < self.upper
        states = attained[inside.component]
        self.high = xp.where(states, high, self.high)
        self.low = xp.where(states, 0.0 if low is None else low, self.low)
        self.narrow(lower, upper)

    def narrow(self, lower: Floats, upper: Floats) -> None:
        """Take bounds that hold, where they are narrower."""
        xp = namespace(lower)
        # Rewards are not negative, and neither are averages; adding 0 makes no -0.
        self.lower, self.upper = xp.maximum(xp.maximum(self.lower, lower), 0.0) + 0.0, xp.minimum(self.upper, upper)

    @property
    def excess(self) -> Floats:
        """``(count,)`` how many times wider than allowed the bounds are."""
        xp, settings = namespace(self.lower), self.settings
        scale = self.lower if settings.relative else xp.ones(len(self.lower))
        return (self.upper - self.lower) / xp.maximum(2 * settings.eps * scale, TINY)  # type: ignore[no-any-return]

    @property
    def open(self) -> Mask:
        """``(count,)`` the components whose bounds are too wide."""
        return ~(self.excess <= 1)

    def policy(self) -> Int32s:
        """``(states,)`` the choices that attain the bound on their side, counted in the MDP of the components."""
        below, above = self.drift(self.high, self.low)
        rows = self.best_rows(below if self.maximise else above)
        return np.where(self.settled >= 0, self.settled, rows).astype(np.int32)

    def best_rows(self, worth: Floats) -> Int32s:
        """``(states,)`` the first of the best choices, by what ``(choices,)`` they are worth."""
        model, xp = self.inside.model, namespace(worth)
        best = worth == spread(model, best_choice(model, worth, maximise=self.maximise))
        rows = xp.flatnonzero(best).astype(np.int32)
        first = xp.full(model.n_states, model.n_choices, dtype=np.int32)
        xp.minimum.at(first, owners(model)[rows], rows)
        return first  # type: ignore[no-any-return]

    def only(self, component: int) -> Proof:
        """What is known of one component, to go on with."""
        part = Proof(self.inside.only(component), self.optimum, self.settings)
        states = self._states(component)
        part.attempt(self.high[states], self.low[states])
        return part

    def take(self, component: int, part: Proof) -> None:
        """Take what has become known of one component."""
        states = self._states(component)
        self.high[states], self.low[states] = part.high, part.low
        groups = self.inside.model.choice_starts
        assert groups is not None
        self.settled[states] = np.where(part.settled >= 0, part.settled + groups[states.start], -1)
        self.lower[component], self.upper[component] = part.lower[0], part.upper[0]

    def _states(self, component: int) -> slice:
        return slice(int(self.inside.starts[component]), int(self.inside.starts[component + 1]))

    def bounds(self) -> tuple[Floats, Floats]:
        """``(count,)`` bounds on the gains.

        Rows sum to 1 up to (entries + 4) units of rounding, and what they lack stays in their state here; the model has
        them divided by their sum. That changes how long a visit takes, and an average at most twice as much.
        """
        xp = namespace(self.lower)
        longest = int(xp.diff(self.inside.model.row_starts).max())
        slack = 2.1 * (longest + 4) * UNIT
        return self.lower * (1 - slack), self.upper * (1 + slack)
