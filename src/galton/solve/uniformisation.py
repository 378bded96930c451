"""Uniformisation (Jensen 1953): a CTMC as a chain that makes a step with every event of a Poisson process of rate q.

A state that leaves with rate E stays with probability 1 - E/q at an event, so q has to be at least the largest E; q·t
steps are expected within time t, so it should not be much more. A little more keeps the chain from being periodic, and
the digits of 1 - E/q. Loops make no difference in continuous time: they are left out where they alone would make q
large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..backend.steps import Chain, Part, exit_rates, part_of
from ..device.arrays import greatest
from ..model.sparse import Mask, Model

Floats = npt.NDArray[np.float64]

__all__ = ["Uniformised", "uniformise"]

ABOVE = 1.02  # what PRISM takes
LOOPS_MATTER = 0.9


@dataclass(frozen=True, eq=False)
class Uniformised:
    """Some states of a CTMC as a chain with steps at the given rate; transitions to other states are left out."""

    part: Part
    rate: float
    stay: Floats
    threads: int

    def chain(self, start: Floats) -> Chain:
        """The chain with a vector to begin with, ``(part.n_states,)``."""
        return Chain(self.part, start.astype(np.float64), 1 / self.rate, self.stay, self.threads)

    @property
    def alike(self) -> int:
        """How many rows are like their neighbours, so that steps are quicker; on a device none is looked for."""
        return int(getattr(self.part.matrix.chain(1 / self.rate, self.stay), "alike", 0))


def uniformise(
    model: Model, keep: Mask | None, threads: int, prepare: Callable[[Part], Part] = lambda part: part
) -> Uniformised | None:
    """The states to keep, None for all, as a chain; None where none of them is ever left.

    ``prepare`` may lay the matrix of these states out anew.
    """
    high, low = exit_rates(model, threads, loops=True)
    without, rest = exit_rates(model, threads, loops=False)
    inside = slice(None) if keep is None else keep
    rate, needed = (greatest(rates[inside]) for rates in (high, without))
    if needed == 0:
        return None
    loops = needed >= LOOPS_MATTER * rate
    if not loops:
        rate, high, low = needed, without, rest
    rate *= ABOVE
    part = prepare(part_of(model, keep, threads, loops=loops))
    stay = ((rate - part.of(high)) - part.of(low)) / rate
    return Uniformised(part, rate, stay, threads)
