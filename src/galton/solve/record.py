"""What a few states were worth before each of many steps: all that a curve over time or steps is made of.

The vectors themselves are not kept. A sum over all steps, with whatever weights, is a sum over these numbers.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..backend.steps import Bellman, Chain, Seen
from ..device.arrays import namespace, on_host
from ..lang.source import GaltonError
from ..model.sparse import Int32s

if TYPE_CHECKING:
    from .power_sums import Weights

Floats = npt.NDArray[np.float64]

__all__ = ["Record", "RecordTooLargeError"]

MOST = 1 << 27  # numbers to keep: a gibibyte


class RecordTooLargeError(GaltonError):
    """More steps times states than can be kept."""

    kind = "limit"


class Record:
    """``(steps, states)`` numbers of some states, given by their places in the part that steps are made of."""

    def __init__(self, states: Int32s) -> None:
        """Watch these states; the columns of the record are in their order."""
        xp = namespace(states)
        order = xp.argsort(states)
        self._watched = xp.ascontiguousarray(states[order])
        self._states = states
        self._order = on_host(order)
        self._room = np.empty((64, len(states)))
        self.steps = 0

    def advance(self, chain: Chain | Bellman, steps: int) -> Seen:
        """Make so many steps, and keep what the states have before each."""
        first, last = self.steps, self.steps + steps
        if last * len(self._order) > MOST:
            raise RecordTooLargeError(f"{last:,} steps of {len(self._order):,} states are too many to be kept")
        if last > len(self._room):
            room = np.empty((max(last, 2 * len(self._room)), len(self._order)))
            room[:first] = self._room[:first]
            self._room = room
        record = np.empty(steps * len(self._order))
        seen = chain.advance(steps, None, self._watched, record)
        self._room[first:last, self._order] = record.reshape(steps, -1)
        self.steps = last
        self.__dict__.pop("_totals", None)
        return seen

    def of(self, vector: Floats) -> Floats:
        """What the states have in a vector, on the host, in doubles."""
        return on_host(vector[self._states]).astype(np.float64, copy=False)

    def __getitem__(self, step: int) -> Floats:
        """What they had before a step."""
        found: Floats = self._room[: self.steps][step]
        return found

    @cached_property
    def _totals(self) -> Floats:
        """Sums over the first 0, 1, … steps."""
        return np.concatenate([np.zeros((1, len(self._order))), np.cumsum(self._room[: self.steps], axis=0)])

    def sum(self, weights: Weights) -> Floats:
        """The sum over all steps made, each with its weight."""
        ahead = min(weights.left, self.steps)
        total: Floats = weights.before * self._totals[ahead] if weights.before else np.zeros(len(self._order))
        if self.steps > ahead:
            values = weights.values[: self.steps - ahead]
            total = total + values @ self._room[ahead : ahead + len(values)]
        return total
