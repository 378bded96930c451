"""Proposals on a device, where sweeps over everything are cheap and nothing else is.

Value iteration in batches of sweeps, each looked at once. What is left is predicted from how fast a batch made the
changes smaller; only where that promises too many sweeps is the strategy so far evaluated by BiCGStab.

In single precision, where that is asked for, sweeps move fewer bytes. They go on so as long as they make the changes
smaller that a sweep in double precision shows; then the others begin where they ended.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..backend.protocol import Stop
from ..device.arrays import greatest
from .equations import Segment
from .proposal import SMALL, Proposer

__all__ = ["ParallelProposer"]

FIRST, LONGEST = 32, 1024  # sweeps of a batch
MANY = 150  # predicted sweeps from which on BiCGStab is tried
USELESS = 3  # evaluations in a row that did not halve the changes
MOST, MOST_OF_SMALL = 400_000, 20_000  # sweeps before a segment is given up; a small one is quickly solved directly
TOLD_BY_FLOATS = 1e-5  # changes below which rounding to single precision begins to show


@dataclass(eq=False)
class ParallelProposer(Proposer):
    """A :class:`~galton.solve.proposal.Proposer` for a system whose primitives run on a device."""

    _single: bool = field(init=False)

    def __post_init__(self) -> None:
        self._single = self.settings.single

    def solve(self, segment: Segment, aim: float, entries: int, rounds: int = 0) -> float:
        """Until a sweep changes no unknown by more than ``aim`` of itself, or nothing helps any more."""
        most = MOST if segment.last - segment.first > SMALL else MOST_OF_SMALL
        batch, spent, stuck = FIRST, 0, 0
        evaluated, useless = math.inf, 0  # the residual at the last evaluation, and how many in a row were in vain
        residual = self._batch(segment, batch, aim, math.inf)
        best = residual
        while residual > aim and spent < most:
            before = residual
            residual = self._batch(segment, batch, aim, before)
            spent += batch
            self.settings.tell(step="iterate", sweeps=self.sweeps, residual=residual)
            gain = math.log(before / residual) / batch if 0 < residual < before else 0.0
            left = math.log(residual / aim) / gain if gain > 0 and residual > aim else 0.0
            # Changes as large as the values themselves are a wave that is still on its way.
            if residual > aim and residual < 0.5 and (left > MANY or not gain):
                stuck = 0 if residual < 0.9 * best else stuck + 1
                best = min(best, residual)
                useless = 0 if residual < evaluated / 2 else useless + 1
                if useless < USELESS:
                    evaluated = residual
                    self.evaluate(segment, max(aim / 4, residual * 1e-3))
                    residual = self.sweep(segment, 4, aim)
                    continue  # a batch is longer only where no evaluation helps
                if stuck > 20:
                    break
            batch = min(max(spent // 4, FIRST), LONGEST)  # what is made in vain is a fifth at most
        return residual

    def _batch(self, segment: Segment, sweeps: int, aim: float, before: float) -> float:
        """Sweeps that take the best rows; for an MDP the last one also says which they are."""
        if self._single and before > max(aim, TOLD_BY_FLOATS):
            kept = self.x.copy()
            with np.errstate(over="ignore"):
                x = self.x.astype(np.float32)
            self._plainly(x, segment, sweeps - 1)
            self.x[:] = x
            residual = self.sweep(segment, 1, aim)
            if residual < before and greatest(self.x) < np.inf:
                return residual
            # Too large or too small for floats, or too close already.
            self.x[:], self._single = kept, False
        if self.chosen is None:
            return self.sweep(segment, sweeps, aim)
        self._plainly(self.x, segment, sweeps - 1)
        return self.sweep(segment, 1, aim)

    def _plainly(self, x: Any, segment: Segment, sweeps: int) -> None:
        """So many sweeps, without a look."""
        span = segment.span(self.settings.n_threads)
        done, _ = self.system.gauss_seidel(x, self.copy, None, span, Stop(sweeps))
        self.sweeps += done
