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
from .effort import Budget, TooMuchWorkError, UnsolvedError
from .open_chain import OpenChain, Reals
from .pieces import Piece, Track
from .resolvent import Resolvents
from .swinging import swings
from .weight import Weight
from .window import propose

__all__ = ["Evolution", "evolve"]

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


def evolve(
    chain: OpenChain,
    weight: Weight,
    known: tuple[float, Floats, Floats],
    end: float,
    allowed: float,
    settings: Settings,
    budget: Budget,
    fine: bool = False,
    watch: Callable[[Piece, Track], None] | None = None,
) -> Evolution:
    """Bounds on u at the end, from bounds ``known`` at some time above 0.

    Errors of ``allowed``, beside the weight and before they grow, are aimed at. Where doubles have too few digits for
    that, vectors may be ``fine``. ``watch`` is shown each piece when the track has come to its end.
    """
    begin, lower, upper = known
    w, entries = weight.w, len(chain.rows.columns) + 8 * chain.n
    track = Track(chain, w, weight.growth, lower, upper)
    resolvents = Resolvents(chain, w, settings, budget, order=weight.order, fine=fine)
    resolvents.next_level()
    before = budget.spent
    u: Reals = ((lower + (upper - lower) / 2) / w).astype(resolvents.real)
    now, ratio, left = begin, RATIO, allowed
    windows = solved = steps = sweeps = 0
    while now < end:
        if budget.spent > budget.free:
            budget.free = math.inf
            if swings(chain, weight, end, settings, budget):
                raise UnsolvedError("its numbers swing for long")
        then = _next(now, ratio, end)
        below, above = chain.drift(u * w)
        slope = (below + (above - below) / 2) / w
        share = max(allowed * math.log(then / now) / math.log(end / begin), left / 3)
        window = propose(resolvents, u, slope, now, then, share)
        if window is None:
            ratio = 1 + (min(ratio, then / now) - 1) * SHORTER
            if ratio < SHORTEST:
                raise UnsolvedError("windows that are too short")
            continue
        for scaled in window.pieces:
            piece = replace(scaled, coefficients=scaled.coefficients * w)
            left -= track.step(piece)
            sweeps += len(piece.coefficients)
            budget.spend(2 * len(piece.coefficients) * entries)
            if watch is not None:
                watch(piece, track)
        now = window.pieces[-1].end
        u = window.pieces[-1].coefficients.sum(axis=0)
        windows, solved, steps = windows + 1, solved + window.vectors, steps + window.steps
        settings.tell(method=METHOD, time=now, horizon=end, windows=windows)
        if before + (budget.spent - before) * _share_left(begin, now, end) > budget.most:
            raise TooMuchWorkError("it would take more work than jumps do")
        if window.pieces[-1].end < then:
            ratio = now / window.pieces[0].begin
        elif window.vectors <= FEW:
            ratio = min(ratio * FASTER, MOST_RATIO)
        elif window.vectors >= MANY:
            ratio = 1 + (ratio - 1) * (USUAL / window.vectors) ** 2
    below, above = track.bounds()
    return Evolution(below, above, windows, solved, steps, sweeps + 2 * steps)


def _next(now: float, ratio: float, end: float) -> float:
    """Where a window may end: not so that a short one is left."""
    if now * (1 + 1.2 * (ratio - 1)) > end:
        return end
    return math.sqrt(now * end) if now * ratio**1.5 > end else now * ratio


def _share_left(begin: float, now: float, end: float) -> float:
    """How many times as much work all windows may take as those so far; the first ones take most."""
    return 0.5 + 0.5 * math.log(end / begin) / math.log(now / begin)
