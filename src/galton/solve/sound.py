"""The default: propose, then prove; segment by segment.

Proposals come from Gauss–Seidel sweeps (for an MDP mostly with the strategy held fixed: modified policy iteration,
Puterman and Shin 1978). The proof needs nothing but one sweep with directed rounding: ``u >= F(u)`` is above the
solution, ``l <= F(l)`` below it.

The bounds proved are (1 ± δ)x ± εw. Here w = x + Aw, roughly: w/x is the number of steps that remain, seen along the
paths that matter, and ε·x per step is what x may violate its own equation by. δ passes on the widths of the unknowns
solved before. Both are relative to x, so tiny probabilities keep their digits. It takes few sweeps to find a w, because
w - Aw >= x/2 will do.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from ..model.values import Floats
from .equations import Equations, Segment
from .settings import Settings
from .solution import NumericError, Solution

__all__ = ["solve"]

ENTRIES_PER_CALL = 5e7  # about a tenth of a second: how long Ctrl-C may have to wait
FEWEST_SWEEPS, MOST_SWEEPS = 4, 10_000  # in one call
ROUNDING = 2.0**-52
SHARES = (np.inf, 1e-3, 1e-6)


class _Solver:
    def __init__(self, equations: Equations, settings: Settings) -> None:
        self.equations, self.settings = equations, settings
        self.system = equations.system
        size = equations.size
        self.x, self.copy = np.zeros(size), np.zeros(size)
        self.w, self.w_copy = np.zeros(size), np.zeros(size)
        self.lower, self.upper = np.zeros(size), np.zeros(size)
        self.chosen = None if equations.groups is None else equations.groups[:-1].copy()
        self.sweeps = 0
        self.width = 0.0  # the largest half-width so far, relative
        self.threads = settings.n_threads
        self.proved = 0

    def run(self) -> Solution:
        cyclic = sum(not segment.acyclic for segment in self.equations.segments)
        budget = 0.8 * self.settings.eps / max(cyclic, 1)
        for segment in self.equations.segments:
            if segment.acyclic:
                self.system.propagate(self.lower, self.upper, segment.first, segment.last, self.equations.slack)
                self.sweeps += 1
                self._keep(segment)
            else:
                self._solve(segment, budget)
            self.proved = segment.last
        return Solution(self.lower, self.upper, "sound", self.sweeps, self.chosen)

    def _keep(self, segment: Segment) -> None:
        part = slice(segment.first, segment.last)
        middle = (self.lower[part] + self.upper[part]) / 2
        self.x[part] = self.copy[part] = middle
        with np.errstate(invalid="ignore"):
            widths = (self.upper[part] - middle) / middle
        self.width = max(self.width, float(np.nanmax(widths, initial=0.0)))

    def _solve(self, segment: Segment, budget: float) -> None:
        part = slice(segment.first, segment.last)
        residual = self._propose(segment, 1e-2, 50)
        steps = None
        for _ in range(30):
            if steps is None:
                steps = self._weigh(segment)
            aim = budget / (4 * steps)
            if aim < 4 * ROUNDING:
                break
            residual = self._propose(segment, aim, None)
            if self._prove(segment, budget):
                self._keep(segment)
                return
            budget_ratio = residual  # noqa: F841
            steps *= 4
        raise NumericError(f"could not prove bounds: {steps=} {residual=}")

    def _propose(self, segment: Segment, tolerance: float, limit: int | None) -> float:
        """Sweep until the relative change is below the tolerance."""
        first, last = segment.first, segment.last
        entries = self.equations.entries(segment) + last - first
        batch = int(np.clip(ENTRIES_PER_CALL / max(entries, 1), FEWEST_SWEEPS, MOST_SWEEPS))
        done, residual = 0, np.inf
        while residual > tolerance and (limit is None or done < limit):
            if self.chosen is None:
                count, residual = self.system.gauss_seidel(
                    self.x, self.copy, None, first, last, batch, tolerance, True, True, 1.0, self.threads
                )
            else:
                changed, residual = self.system.improve(self.x, self.copy, self.chosen, first, last, self.threads)
                count = 1
                if residual > tolerance:
                    sweeps = min(20 if changed * 100 < last - first else 5, batch)
                    more, _ = self.system.gauss_seidel(
                        self.x, self.copy, self.chosen, first, last, sweeps, tolerance / 10, True, True, 1.0, self.threads
                    )
                    count += more
            done += count
            self.sweeps += count
            self.settings.tell(step="propose", sweeps=self.sweeps, residual=residual)
        return residual

    def _weigh(self, segment: Segment) -> float:
        first, last = segment.first, segment.last
        part = slice(first, last)
        self.w[part] = self.x[part]
        entries = self.equations.entries(segment) + last - first
        batch = int(np.clip(ENTRIES_PER_CALL / max(entries, 1), FEWEST_SWEEPS, MOST_SWEEPS))
        growth = np.inf
        for _ in range(100000):
            count, growth = self.system.weights(
                self.x, self.w, self.w_copy, None, first, last, batch, np.inf, self.threads
            )
            self.sweeps += count
            if growth <= 0.5:
                break
        with np.errstate(invalid="ignore"):
            return float(np.nanmax(self.w[part] / self.x[part], initial=1.0))

    def _prove(self, segment: Segment, budget: float) -> bool:
        first, last = segment.first, segment.last
        part = slice(first, last)
        x, w = self.x[part], self.w[part]
        defect = self.system.defect(self.x, first, last, self.threads)
        self.sweeps += 1
        for factor in (3.0, 30.0):
            epsilon = factor * (defect + self.equations.slack + 2 * ROUNDING)
            delta = self.width * (1 + 1e-9) + 4 * ROUNDING
            self.upper[part] = (1 + delta) * x + epsilon * w
            self.lower[part] = np.maximum((1 - delta) * x - epsilon * w, 0.0)
            slack = self.equations.slack
            self.sweeps += 2
            if self.system.is_above(self.upper, first, last, slack, self.threads) and self.system.is_below(
                self.lower, first, last, slack, self.threads
            ):
                with np.errstate(invalid="ignore"):
                    widths = (self.upper[part] - self.lower[part]) / x / 2
                return float(np.nanmax(widths, initial=0.0)) <= self.width + budget
        return False


def solve(equations: Equations, settings: Settings) -> Solution:
    """Proved bounds on all unknowns."""
    return _Solver(equations, settings).run()
