"""Poisson weights of many boxes, whose uniformisation rates differ.

Rates are rounded up to one of a few, so that most boxes share their weights: those of a long time are tens of
thousands, and making them would take longer than using them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..backend.regions import Int64s
from ..solve.poisson import poisson
from ..solve.power_sums import Weights
from .polynomials import UNIT, Floats

CUT = 1e-11  # Poisson mass that may be cut on the right
PER_OCTAVE = 64  # rates; rounding up costs half a percent of the steps

__all__ = ["BundleWeights", "rounded_up"]


def rounded_up(rates: Floats) -> Floats:
    """Rates that are at least as large, and of which there are few."""
    few: Floats = np.exp2(np.ceil(np.log2(rates) * PER_OCTAVE) / PER_OCTAVE)
    larger: Floats = np.maximum(few, rates)
    return larger


@dataclass(frozen=True, eq=False)
class _Cut:
    """The weights for one mean, without those on the right that add up to next to nothing."""

    weights: Weights
    values: Floats
    rests: Floats
    missing: float

    @property
    def end(self) -> int:
        return self.weights.left + len(self.values)

    @property
    def error(self) -> float:
        return self.weights.error + (len(self.values) + 8) * UNIT


@lru_cache(maxsize=512)
def _cut_weights(mean: float, over: bool) -> _Cut:
    jumps = poisson(mean)
    weights = Weights.over_time(jumps) if over else Weights.at_time(jumps)
    rests = np.cumsum(weights.values[::-1])[::-1]
    allowed = CUT * (max(mean, 1.0) if over else 1.0)
    keep = max(int(np.searchsorted(-rests, -allowed)), 1)
    cut = float(rests[keep]) if keep < len(rests) else 0.0
    return _Cut(weights, weights.values[:keep], np.append(rests[:keep] - cut, 0.0), weights.missing + 1.01 * cut)


class BundleWeights:
    """The weights of the boxes of a bundle, as :class:`galton.backend.protocol.BoxWeights` has them.

    Attributes
    ----------
    before, left
        ``(boxes,)`` the weight of the steps before ``left``.
    offsets, values
        The weights from ``left`` on are ``values[offsets]`` and what follows.
    ends
        ``(boxes,)`` from here on they are 0; a box that needs no further steps has its own moved to where it is.
    missing, error, lacking
        ``(boxes,)`` what :class:`galton.solve.power_sums.Weights` says of the weights of one mean.
    """

    def __init__(self, means: Sequence[float], over: bool):
        own = [_cut_weights(mean, over) for mean in means]
        distinct = {id(one): one for one in own}
        starts = np.cumsum([0, *(len(one.values) for one in distinct.values())])
        place = dict(zip(distinct, starts.tolist(), strict=False))
        self._own = own
        self.values = np.concatenate([one.values for one in distinct.values()])
        self.offsets: Int64s = np.array([place[id(one)] for one in own], dtype=np.int64)
        self.before: Floats = np.array([one.weights.before for one in own])
        self.left: Int64s = np.array([one.weights.left for one in own], dtype=np.int64)
        self.ends: Int64s = np.array([one.end for one in own], dtype=np.int64)
        self.missing: Floats = np.array([one.missing for one in own])
        self.error: Floats = np.array([one.error for one in own])
        self.lacking: Floats = np.array([one.weights.lacking for one in own])

    def __len__(self) -> int:
        return len(self._own)

    def between(self, first: int, last: int) -> Floats | None:
        """``(steps, boxes)`` the weights of some steps; None where all are 0."""
        if not ((self.ends > first) & ((self.before > 0) | (self.left < last))).any():
            return None
        steps = np.arange(first, last)[:, None]
        inside = np.clip(steps - self.left + self.offsets, 0, len(self.values) - 1)
        found: Floats = np.where(steps < self.left, self.before, self.values[inside])
        found[steps >= self.ends] = 0.0
        return found

    def rests(self, first: int) -> Floats:
        """``(boxes,)`` the sums of the weights from ``first`` on."""
        return np.array(
            [
                max(one.weights.left - first, 0) * one.weights.before
                + float(one.rests[min(max(first - one.weights.left, 0), len(one.values))])
                for one in self._own
            ]
        )
