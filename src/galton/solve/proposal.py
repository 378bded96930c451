"""Proposals: good approximate solutions, fast, without a promise.

Gauss–Seidel sweeps while they do well; then BiCGStab preconditioned by the same sweep; where that takes long, for
chains, by an elimination (:mod:`.absorbing`). For an MDP the strategy is held fixed meanwhile, in turn with sweeps that
improve it (policy iteration with inexact evaluation, Puterman and Shin 1978).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..backend.protocol import LITTLE_NOISE, NOISE, Stop, System
from ..device.arrays import how_many
from ..model.values import Floats
from .absorbing import AbsorbingChains
from .equations import Segment
from .settings import Settings

__all__ = ["ENTRIES_PER_CALL", "SMALL", "Proposer"]

FEW_SWEEPS = 4  # between two looks at how fast they converge
EASY_SWEEPS = 40  # more than these are not worth making when BiCGStab could be tried
IMPROVEMENTS = 4  # sweeps, while they change the strategy, before it is evaluated again
KRYLOV_SWEEPS = 2000  # after which BiCGStab is restarted
FEW_KRYLOV_SWEEPS = 300  # after which an elimination is tried
ROUNDS = 200  # of improving a strategy, or of restarting
FINE = 1e-14  # changes that are asked for, below which strategies are evaluated to nearly the last digit
SMALL = 20_000  # unknowns up to which a segment that resists is solved directly before more is tried
ENTRIES_PER_CALL = 5e7  # about a tenth of a second: how long Ctrl-C may have to wait


@dataclass(eq=False)
class Proposer:
    """Solves segment after segment of a system in place.

    Attributes
    ----------
    system
        The equations.
    x, copy
        ``(unknowns,)`` the solution so far, and room for another.
    chosen
        The rows taken, None for a chain.
    sweeps
        Sweeps over a segment so far.
    absorbing
        Segments as chains that end, where there are such.
    """

    system: System
    x: Floats
    copy: Floats
    chosen: npt.NDArray[np.int32] | None
    settings: Settings
    sweeps: int = 0
    absorbing: AbsorbingChains | None = None

    def sweep(self, segment: Segment, sweeps: int, aim: float = 0.0, noise: float = NOISE) -> float:
        """Gauss–Seidel sweeps, taking the best rows; returns the largest relative change in the last."""
        span, residual = segment.span(self.settings.n_threads), float("inf")
        if self.chosen is None:
            done, residual = self.system.gauss_seidel(self.x, self.copy, None, span, Stop(sweeps, aim))
            self.sweeps += done
            return residual
        for _ in range(sweeps):
            changed, residual = self.system.improve(self.x, self.copy, self.chosen, span, noise)
            self.sweeps += 1
            if residual <= aim or not changed:
                break
        return residual

    def evaluate(self, segment: Segment, aim: float, *, fine: bool = False) -> None:
        """Solve for the rows taken; what comes out with a negative number in it is thrown away.

        For a minimum this is where to begin. Sweeps from zero may settle on a strategy that never ends, for which there
        is no solution; one that ends, once evaluated, is improved only by others that end.
        """
        span = segment.span(self.settings.n_threads)
        part = span.part
        before = self.x[part].copy()
        if self.chosen is None:
            done = self._evaluate_chain(segment, aim)
        else:
            done, _ = self.system.solve_induced(self.x, self.chosen, span, aim, fine=fine)
        self.sweeps += done
        found = self.x[part]
        if how_many((found >= 0) & (found < np.inf)) < len(found):
            self.x[part] = before

    def _evaluate_chain(self, segment: Segment, aim: float) -> int:
        """By BiCGStab, with an elimination where sweeps take long; returns how many there were."""
        span, done, residual = segment.span(self.settings.n_threads), 0, math.inf
        eliminations = self.absorbing
        if eliminations is None or not eliminations.promises(segment):
            few = KRYLOV_SWEEPS if eliminations is None else FEW_KRYLOV_SWEEPS
            done, residual = self.system.bicgstab(self.x, None, span, few, aim)
        if eliminations is not None and residual > aim:
            more, residual = eliminations.improve(self.system, self.x, segment, aim)
            done += more
            if residual > aim:
                more, _ = self.system.bicgstab(self.x, None, span, KRYLOV_SWEEPS, aim)
                done += more
        return done

    def solve(self, segment: Segment, aim: float, entries: int, rounds: int = ROUNDS) -> float:
        """Until a sweep changes no unknown by more than ``aim`` of itself, or nothing helps any more."""
        residual = self._easily(segment, aim) if self.chosen is None else self.sweep(segment, 1)
        best, useless = residual, 0
        for _ in range(rounds):
            if residual <= aim or useless == 4:
                break
            goal = aim / 4 if self.chosen is None else max(aim / 4, min(1e-2, residual * 1e-3))
            # Over many steps to an exit rounding adds up, and rows that are worth the same look different by that.
            fine = goal < FINE and self.chosen is not None
            noise = LITTLE_NOISE if fine else NOISE
            self.evaluate(segment, goal, fine=fine)
            residual = self.sweep(segment, IMPROVEMENTS, aim, noise)
            if residual > best / 2:
                useless += 1
                if self.chosen is None or useless == 4:
                    more = int(np.clip(ENTRIES_PER_CALL / max(entries, 1), FEW_SWEEPS, 1000))
                    residual = self.sweep(segment, more, aim, noise)
            if residual <= best / 2:
                best, useless = residual, 0
            self.settings.tell(step="iterate", sweeps=self.sweeps, residual=residual)
        return residual

    def _easily(self, segment: Segment, aim: float) -> float:
        """Sweeps for as long as they promise to get there soon."""
        residual = self.sweep(segment, FEW_SWEEPS, aim)
        while residual > aim:
            before = residual
            residual = self.sweep(segment, FEW_SWEEPS, aim)
            gain = math.log(before / residual) if 0 < residual < before else 0.0
            if residual > aim and gain * EASY_SWEEPS < FEW_SWEEPS * math.log(residual / aim):
                break
        return residual
