"""The solution of u' = Qu + r at a time, for stiff chains: few equations are solved, where uniformisation makes q·t steps.

From a time on at which uniformisation is still cheap, one window of time follows the other, each several times as long
as all before it (:mod:`.window`). What comes out is proved (:mod:`.pieces`), or not accepted.

Requires: a chain on the host. Guarantees: bounds, rounding included; how close they are comes out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...model.values import Floats
from ..settings import Settings
from .open_chain import OpenChain
from .pieces import Piece, Track
from .resolvent import Resolvents, UnsolvedError
from .weight import weigh
from .window import propose

__all__ = ["Evolution", "evolve"]

RATIO, MOST_RATIO = 4.0, 64.0
FEW, MANY = 14, 24  # vectors


@dataclass(frozen=True, eq=False)
class Evolution:
    """Bounds in the open states, and what it took."""

    lower: Floats
    upper: Floats
    windows: int
    solved: int
    steps: int
    work: float


def evolve(
    chain: OpenChain,
    begin: float,
    lower: Floats,
    upper: Floats,
    end: float,
    allowed: float,
    settings: Settings,
    watch: Callable[[Piece, Track], None] | None = None,
    verbose: bool = False,
) -> Evolution:
    """Bounds on u at the end, from bounds at the beginning. Errors of ``allowed``, beside the weight, are aimed at."""
    weight = weigh(chain, end, settings)
    w = weight.w
    if verbose: print('weight', weight.growth*end, weight.work)
    track = Track(chain, w, weight.growth, lower, upper)
    resolvents = Resolvents(chain, w, settings, weight.order)
    resolvents.work = weight.work
    u = (lower + (upper - lower) / 2) / w
    now, ratio, windows, solved, steps = begin, RATIO, 0, 0, 0
    while now < end:
        then = now * ratio
        then = end if then * 1.2 > end else min(then, math.sqrt(now * end) if now * ratio**1.5 > end else then)
        below, above = chain.drift(u * w)
        slope = (below + (above - below) / 2) / w
        share = allowed * math.log(then / now) / math.log(end / begin)
        window = propose(resolvents, u, slope, now, then, share)
        added = 0.0
        for piece in window.pieces:
            piece = replace(piece, coefficients=piece.coefficients * w)
            added += track.step(piece)
            if watch is not None:
                watch(piece, track)
            resolvents.work += len(piece.coefficients) * 2 * (len(chain.rows.columns) + 8 * chain.n)
        if verbose: print(f'  {now:.4g} ratio {window.pieces[-1].end/now:.3g} m {window.vectors} steps {window.steps} added {added:.2g} of {share:.2g} level {resolvents.level} degree {len(piece.coefficients)-1}')
        now = window.pieces[-1].end
        u = window.pieces[-1].coefficients.sum(axis=0)
        windows, solved, steps = windows + 1, solved + window.vectors, steps + window.steps
        if window.vectors <= FEW:
            ratio = min(ratio * 1.6, MOST_RATIO)
        elif window.vectors >= MANY:
            ratio = 1 + (ratio - 1) * 0.6
    below, above = track.bounds()
    return Evolution(below, above, windows, solved, steps, resolvents.work)
