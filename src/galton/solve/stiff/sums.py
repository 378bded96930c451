"""What uniformisation sums up jump by jump, found by few equations instead: :class:`~galton.solve.power_sums.PowerSum`.

The first stretch of time is uniformisation's, a few hundred jumps; then windows follow (:mod:`.evolution`).
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...model.errors import NumericError
from ...model.rounding import UNIT
from ...model.sparse import Int32s
from ...model.values import Floats
from ..poisson import Poisson, poisson
from ..power_sums import PowerSum, Weights, power_sum
from ..settings import Settings
from ..tolerance import TINY
from ..uniformisation import Uniformised
from .effort import Budget, work_of_steps
from .evolution import Evolution, Windows
from .open_chain import OpenChain
from .pieces import Piece, Track
from .prospects import Prospects
from .weight import Weight

__all__ = ["FIRST_JUMPS", "StiffSum", "WideStretchError"]

FIRST_JUMPS = 500.0  # of uniformisation, in the mean
SHARE = 0.1  # of eps: errors that are aimed at beside the weight
TRIES = 3
DOUBT = 4.0  # times what seems to be needed is asked for in another try
FINEST = 1e-13  # errors beside the weight that doubles can be asked for
COARSEST = 1e-2
ROUNDED = 100.0  # units in the last place, times the jumps: about the error of vectors in doubles


class WideStretchError(NumericError):
    """Bounds that are wider than asked for."""


@dataclass(eq=False)
class StiffSum:
    """A question that :class:`OpenChain` states, and the chain of jumps that begins to answer it.

    Attributes
    ----------
    start
        What states are worth at the first jump.
    weights
        How much each jump counts, given how many there are.
    important
        States whose bounds have to be close relative to their own values: their places among the open ones.
    everywhere
        Whether those of all others have to be close relative to the largest value.
    budget
        What may be spent; when it is more, another try goes on where the last one was given up.
    """

    equation: OpenChain
    jumps: Uniformised
    start: Floats
    weights: Callable[[Poisson], Weights]
    important: Int32s
    settings: Settings
    everywhere: bool = False
    budget: Budget = field(default_factory=Budget)
    _weights: dict[float, Weight] = field(default_factory=dict, init=False)
    _prospects: Prospects | None = field(default=None, init=False)
    _begun: dict[float, PowerSum] = field(default_factory=dict, init=False)
    _going: Windows | None = field(default=None, init=False)

    def at(self, time: float) -> PowerSum:
        """Bounds in all open states; raises where they are wider than asked for, or take too much work."""
        begin = clock.perf_counter()
        if self._is_short(time):
            first = self._first(time)
            return replace(first, how=f"no window of time, but the {first.steps:,} jumps before one")
        return self._told(self._evolve(time), time, begin)

    def at_all(self, times: Sequence[float]) -> tuple[Floats, Floats, PowerSum]:
        """Bounds in the important states at many times that ascend, ``(times, states)``, and what it took.

        Where a time is so early that nothing is known, they are 0 and infinity.
        """
        begin = clock.perf_counter()
        lower = np.zeros((len(times), len(self.important)))
        upper = np.full_like(lower, np.inf)
        end = times[-1]
        if self._is_short(end):
            found = self.at(end)
            lower[-1], upper[-1] = found.lower[self.important], found.upper[self.important]
            return lower, upper, found

        def watch(piece: Piece, track: Track) -> None:
            for place, time in enumerate(times):
                if piece.begin < time <= piece.end:
                    lower[place], upper[place] = track.within(piece, time, self.important)

        return lower, upper, self._told(self._evolve(end, watch), end, begin)

    def _is_short(self, time: float) -> bool:
        return self.jumps.rate * time <= 2 * FIRST_JUMPS

    def _first(self, time: float) -> PowerSum:
        """By uniformisation, for a short time."""
        mean = self.jumps.rate * time if self._is_short(time) else FIRST_JUMPS
        if mean not in self._begun:
            weights, part = self.weights(poisson(mean)), self.jumps.part
            self.budget.spend(work_of_steps(weights.end, part.n_entries, 0))
            chain, none = self.jumps.chain(self.start), np.zeros(0, dtype=np.int32)
            self._begun[mean] = power_sum(chain, weights, none, self.settings, early=False)
        return self._begun[mean]

    def _weight(self, end: float) -> Weight:
        """The weight of errors; and something speaks for a success, where much else may not be spent."""
        if end not in self._weights:
            if self._prospects is None or self._prospects.time != end or self._prospects.budget is not self.budget:
                # Errors are at least this part of the weight: numbers that are less than it, by 1/eps, have no digits.
                least = FINEST / self.settings.eps if self.settings.relative else 0.0
                self._prospects = Prospects(self.equation, end, self.important, least, self.settings, self.budget)
            self._weights[end] = self._prospects.weight()
            self._prospects = None
        self.budget.trust()
        return self._weights[end]

    def _evolve(self, end: float, watch: Callable[[Piece, Track], None] | None = None) -> Evolution:
        """Bounds at the end that are close enough; with smaller errors if the first try is not."""
        if watch is not None:
            self._going = None  # who watches has to see all pieces
        weight, first = self._weight(end), self._first(end)
        allowed = SHARE * self.settings.eps
        if not self.settings.relative:
            allowed = min(allowed / float(weight.w[self.important].max(initial=TINY)), COARSEST)
        begin = FIRST_JUMPS / self.jumps.rate
        for _ in range(TRIES):
            if self._going is None:
                fine = ROUNDED * UNIT * self.jumps.rate * end > allowed
                known = begin, first.lower, first.upper
                self._going = Windows(self.equation, weight, known, end, allowed, self.settings, self.budget, fine)
            allowed = self._going.allowed
            found = self._going.run(watch)
            self._going = None
            excess = self.excess(found.lower[self.important], found.upper[self.important])
            if self.everywhere:
                excess = max(excess, self._largest_excess(found))
            if excess <= 1:
                return found
            allowed /= DOUBT * excess
            if allowed < FINEST:
                break
        raise WideStretchError(f"its bounds are {excess:.3g} times wider than they should be")

    def excess(self, lower: Floats, upper: Floats) -> float:
        """How many times wider bounds are than half of what may be: the other half is for what they are made into."""
        with np.errstate(divide="ignore", invalid="ignore"):
            width = (upper - lower) / (self.settings.eps * (lower if self.settings.relative else 1.0))
        most = float(np.where(upper <= TINY, 0.0, width).max(initial=0.0))
        return math.inf if math.isnan(most) else most

    def _largest_excess(self, found: Evolution) -> float:
        """How many times wider the bounds of all states are, relative to the largest number."""
        largest = float(found.lower.max()) if self.settings.relative else 1.0
        width = float((found.upper - found.lower).max())
        return width / (self.settings.eps * largest) if largest > 0 else math.inf

    def _told(self, found: Evolution, time: float, begin: float) -> PowerSum:
        steps = math.ceil(self.jumps.rate * time) if self.jumps.rate * time < math.inf else 0
        how = (
            f"{found.windows} windows of time and {found.solved} equations, solved in {found.steps} steps, "
            f"for {steps:,} jumps"
        )
        seconds = clock.perf_counter() - begin
        return PowerSum(found.lower, found.upper, found.sweeps, steps, seconds, how)
