"""The solution of u' = Qu + r at a time, for stiff chains: few equations, where uniformisation makes q·t steps.

From a time on at which uniformisation is still cheap, one window of time follows the other, each several times as long
as all before it (:mod:`.window`). What comes out is proved (:mod:`.pieces`), or not accepted.

Requires: a chain on the host. Guarantees: bounds, rounding included; how close they are comes out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from ...model.values import Floats
from ..methods import RATIONAL as METHOD
from ..settings import Settings
from .effort import Budget, UnsolvedError
from .open_chain import OpenChain, Reals
from .pieces import Piece, Track
from .resolvent import Resolvents
from .weight import Weight
from .window import Proposal, Window

__all__ = ["Evolution", "Windows"]

RATIO, MOST_RATIO = 4.0, 64.0  # of the end of a window and its beginning
FEW, MANY = 14, 24  # vectors of a window, after which the next one is longer, or shorter
FASTER, USUAL = 1.6, 20  # how much longer; and how many vectors a shorter one is to need
SHORTER = 0.3  # of a window that was too long
SHORTEST = 1.02  # ratio


@dataclass(frozen=True, eq=False)
class Evolution:
    """Bounds in the open states, and what it took: windows, equations, steps to solve them, sweeps over Q in all."""

    lower: Floats
    upper: Floats
    windows: int
    solved: int
    steps: int
    sweeps: int


class Windows:
    """Windows of time one after the other, from bounds ``known`` at some time above 0 to the end.

    Errors of ``allowed``, beside the weight and before they grow, are aimed at. Where doubles have too few digits for
    that, vectors may be ``fine``. When the budget is spent, :meth:`run` can go on later, with the
    vectors that are there.
    """

    def __init__(
        self,
        chain: OpenChain,
        weight: Weight,
        known: tuple[float, Floats, Floats],
        end: float,
        allowed: float,
        settings: Settings,
        budget: Budget,
        fine: bool = False,
    ) -> None:
        self.allowed, self._end = allowed, end
        self._chain, self._w, self._settings, self._budget = chain, weight.w, settings, budget
        self._begin, lower, upper = known
        self._track = Track(chain, weight.w, weight.growth, lower, upper)
        self._resolvents = Resolvents(chain, weight.w, settings, budget, order=weight.order, fine=fine)
        self._resolvents.next_level()
        self._before = budget.spent
        self._u: Reals = ((lower + (upper - lower) / 2) / weight.w).astype(self._resolvents.real)
        self._now, self._ratio, self._left = self._begin, RATIO, allowed
        self._proposal: Proposal | None = None
        self._windows = self._solved = self._steps = self._sweeps = 0

    def run(self, watch: Callable[[Piece, Track], None] | None = None) -> Evolution:
        """Bounds on u at the end. ``watch`` is shown each piece when the track has come to its end."""
        while self._now < self._end:
            then = _next(self._now, self._ratio, self._end)
            window = self._proposed(then)
            if window is None:
                self._ratio = 1 + (min(self._ratio, then / self._now) - 1) * SHORTER
                if self._ratio < SHORTEST:
                    raise UnsolvedError("windows that are too short")
                continue
            self._prove(window, watch)
            if self._now < then:
                self._ratio = self._now / window.pieces[0].begin
            elif window.vectors <= FEW:
                self._ratio = min(self._ratio * FASTER, MOST_RATIO)
            elif window.vectors >= MANY:
                self._ratio = 1 + (self._ratio - 1) * (USUAL / window.vectors) ** 2
            self._budget.begin_window()
            self._budget.come_to(_part_done(self._begin, self._now, self._end), self._before)
        below, above = self._track.bounds()
        return Evolution(below, above, self._windows, self._solved, self._steps, self._sweeps + 2 * self._steps)

    def _proposed(self, then: float) -> Window | None:
        below, above = self._chain.drift(self._u * self._w)
        slope = (below + (above - below) / 2) / self._w
        part = math.log(then / self._now) / math.log(self._end / self._begin)
        if self._proposal is None:
            self._budget.begin_window()
            allowed = max(self.allowed * part, self._left / 3)
            self._proposal = Proposal(self._resolvents, self._u, slope, self._now, then, allowed)
        window = self._proposal.run()
        if window is not None:
            # Before any of it is proved: no try is given up in the midst of a window.
            entries = len(self._chain.rows.columns) + 8 * self._chain.n
            self._budget.spend(2 * sum(len(piece.coefficients) for piece in window.pieces) * entries)
        self._proposal = None
        return window

    def _prove(self, window: Window, watch: Callable[[Piece, Track], None] | None) -> None:
        for scaled in window.pieces:
            piece = replace(scaled, coefficients=scaled.coefficients * self._w)
            self._left -= self._track.step(piece)
            self._sweeps += len(piece.coefficients)
            if watch is not None:
                watch(piece, self._track)
        self._now = window.pieces[-1].end
        self._u = window.pieces[-1].coefficients.sum(axis=0)
        self._windows += 1
        self._solved, self._steps = self._solved + window.vectors, self._steps + window.steps
        self._settings.tell(method=METHOD, time=self._now, horizon=self._end, windows=self._windows)


def _next(now: float, ratio: float, end: float) -> float:
    """Where a window may end: not so that a short one is left."""
    if now * (1 + 1.2 * (ratio - 1)) > end:
        return end
    return math.sqrt(now * end) if now * ratio**1.5 > end else now * ratio


def _part_done(begin: float, now: float, end: float) -> float:
    """The part of the work on all windows that has been done; the first ones take most."""
    way = math.log(now / begin) / math.log(end / begin)
    return 2 * way / (1 + way)
