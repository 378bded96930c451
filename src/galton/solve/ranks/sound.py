"""Propose, then prove, across ranks.

The proof is that of :mod:`galton.solve.sound`: bounds (1 ± δ)x ± εw, with w about x + Aw, that one sweep with directed
rounding confirms. Each rank sweeps over its own rows, by the core's kernels, and all have to agree. PETSc proposes x
and w: a chain's equations are linear, and so are those of the strategy that sweeps choose in an MDP (policy iteration
with inexact evaluation, as madupite does it: Gargiani et al. 2024). Where no such bounds are found, bounds are improved
sweep by sweep instead, each rounded outwards.
"""

from __future__ import annotations

import time
from itertools import product

import numpy as np

from ... import _core
from ...backend.petsc import krylov
from ...backend.petsc.graph import strategy_towards
from ...backend.petsc.world import World
from ...backend.protocol import Optimum, Stop
from ...model.errors import NumericError
from ...model.rounding import SPACING
from ...model.values import Floats
from ..settings import Settings
from ..solution import Work
from ..sound import NEAR, SHARES
from .equations import Int32s, RankEquations

__all__ = ["propose", "solve"]

FEW_SWEEPS, IMPROVEMENTS = 4, 16
CLOSE = 1e-8
ROUNDS = 400  # of evaluating a strategy, or of correcting a solution
USELESS = 5  # of them in a row, after which nothing helps
MORE_SWEEPS = 200
INTERVAL_SWEEPS = 20_000


class _Linear:
    """PETSc's solver of the chain's equations, or of those of one strategy: one at a time, since each takes memory."""

    def __init__(self, equations: RankEquations) -> None:
        self._equations = equations
        self._solver: krylov.Krylov | None = None
        self._steps = 0

    def of(self, chosen: Int32s | None) -> krylov.Krylov:
        """The solver for these choices, which may have changed since the last time."""
        if chosen is not None:
            self.forget()
        if self._solver is None:
            self._solver = krylov.Krylov(self._equations.halo, *self._equations.entries(chosen))
        return self._solver

    def forget(self) -> None:
        """Give PETSc's memory back."""
        if self._solver is not None:
            self._steps += self._solver.steps
            self._solver.destroy()
            self._solver = None

    @property
    def steps(self) -> int:
        """Of Krylov methods, up to now."""
        return self._steps + (self._solver.steps if self._solver is not None else 0)


class _Proposer:
    """Solves equations with some constants, roughly; ``x`` has the ghosts behind the own unknowns."""

    def __init__(self, equations: RankEquations, system: _core.System, linear: _Linear, settings: Settings) -> None:
        self.equations, self.system, self.linear, self.settings = equations, system, linear, settings
        halo = equations.halo
        self.halo, self.world = halo, halo.world
        self.span = equations.span(settings.n_threads)
        self.x, self.room = np.zeros(halo.size), np.zeros(halo.size)
        self.chosen: Int32s | None = None
        if equations.groups is not None:
            self.chosen = np.ascontiguousarray(equations.groups[:-1]).copy()
        self.sweeps = 0

    def sweep(self, count: int, aim: float) -> float:
        """Sweeps in place; the largest relative change in the last, on any rank."""
        residual = np.inf
        for _ in range(count):
            if self.chosen is None:
                _, residual = self.system.gauss_seidel(self.x, self.room, None, self.span, Stop(1, 0.0))
            else:
                _, residual = self.system.improve(self.x, self.room, self.chosen, self.span)
            self.halo.refresh(self.x)
            self.sweeps += 1
            residual = self.world.greatest(residual)
            if residual <= aim:
                break
        return residual

    def evaluate(self, relative: float) -> float:
        """Correct x by the solution of a linear system: that of the chain, or of the strategy chosen.

        Returns how far that moved x, relative to its largest number; 0 where it did not.
        """
        if not krylov.available():
            return 0.0
        n = self.halo.n
        before = self.x.copy()
        after = self.x.copy()
        self.system.jacobi(after, self.room, self.chosen, self.span, Stop(1, 0.0))
        self.sweeps += 1
        with np.errstate(invalid="ignore"):
            right = after[:n] - before[:n]
        if not self.world.all(np.isfinite(right).all()):
            return 0.0
        found = self.linear.of(self.chosen).solve(right, relative)
        if found is None:
            return 0.0
        x = before[:n] + found
        size = self.world.greatest(np.abs(x).max(initial=0.0))
        if not self.world.all((x >= 0).all()):
            # Krylov methods know nothing of signs: what is off by little is put right by sweeps.
            if not self.world.all((x >= -1e-6 * size).all()):
                return 0.0
            x = np.maximum(x, 0.0)
        self.x[:n] = x
        self.halo.refresh(self.x)
        moved = self.world.greatest(np.abs(found).max(initial=0.0))
        return moved / size if size else 0.0

    def solve(self, aim: float) -> float:
        """Until a sweep changes no unknown by more than ``aim`` of itself, or nothing helps any more."""
        sweeps = FEW_SWEEPS if self.chosen is None else IMPROVEMENTS
        # A strategy that sweeps change little may still be far from the best: what counts is what it is worth.
        settled = np.inf if self.chosen is None else max(10 * aim, 1e-10)
        residual, moved = self.sweep(sweeps, aim), 0.0 if self.chosen is None else np.inf
        best, useless = residual, 0
        for _ in range(ROUNDS):
            if (residual <= aim and moved <= settled) or useless == USELESS:
                break
            before = self.x.copy()
            relative = aim / 16 if self.chosen is None else min(aim / 16, residual * 1e-3)
            moved = self.evaluate(max(relative, 1e-12))
            residual = self.sweep(sweeps, aim)
            if not residual < 1e3 * best:
                self.x[:] = before
                residual = self.sweep(MORE_SWEEPS, aim)
            if residual > max(best / 2, aim):
                useless += 1
                residual = self.sweep(MORE_SWEEPS, aim)
            if residual <= best / 2:
                best, useless = residual, 0
            self.settings.tell(step="iterate", sweeps=self.sweeps, residual=residual)
        return residual


class _Solver:
    def __init__(self, equations: RankEquations, settings: Settings) -> None:
        self.equations, self.settings, self.halo = equations, settings, equations.halo
        self.world: World = equations.world
        self.system = equations.system(equations.constant, equations.optimum)
        self.linear = _Linear(equations)
        self.x = _Proposer(equations, self.system, self.linear, settings)
        self.w_constant = np.zeros(equations.n_rows)
        optimum: Optimum | None = None if equations.optimum is None else "max"
        self.w = _Proposer(equations, equations.system(self.w_constant, optimum), self.linear, settings)
        self.lower, self.upper = np.zeros(self.halo.size), np.zeros(self.halo.size)
        self.passed_on, self.proofs = 0.0, 0

    def run(self, most: float | None) -> str:
        """Find bounds; what they were found by."""
        if not self.halo.total:
            return "sound"
        if self.equations.optimum == "min" and self.equations.groups is not None:
            # Sweeps from zero may settle on a strategy that never ends; one that ends is improved by others that do.
            equations = self.equations
            assert equations.groups is not None
            self.x.chosen = strategy_towards(self.halo, equations.matrix, equations.exits, equations.groups)
            self.x.evaluate(1e-6)
        if self._iterate(0.8 * self.settings.eps):
            return "sound"
        if most is None:
            raise NumericError(
                "no method at hand proves bounds across ranks; other preconditioners may do (--petsc-options), or one "
                "machine (--device cpu)"
            )
        self._enclose(most)
        return "interval"

    def _iterate(self, budget: float) -> bool:
        self.x.solve(1e-3 if self.x.chosen is None else CLOSE)
        for near, share in product(NEAR if self.x.chosen is not None else NEAR[:1], SHARES):
            goal = budget
            for _ in range(4):
                steps = self._weigh(near, share, goal / (32 * SPACING))
                aim = goal / (16 * steps)
                if aim < 2 * SPACING:
                    break
                residual = self.x.solve(aim)
                if self._prove(budget):
                    return True
                if residual > aim:
                    break
                goal /= 8
        return False

    def _weigh(self, near: float, share: float, most: float) -> float:
        """Find w; how many times wider the bounds will be than what x violates its equations by."""
        x, w, span, n = self.x.x, self.w, self.x.span, self.halo.n
        self.system.weigh_rows(x, self.x.chosen, self.w_constant, span, near=near, share=share)
        if w.chosen is not None and self.x.chosen is not None:
            w.chosen[:] = self.x.chosen
        w.x[:] = x
        own = x[:n]
        steps = 1.0
        for _ in range(4):
            w.solve(0.2 / steps)
            w.x[:n][own == 0] = 0.0
            self.halo.refresh(w.x)
            with np.errstate(invalid="ignore", divide="ignore"):
                ratios = np.where(own > 0, w.x[:n] / own, 1.0)
            steps = max(steps, self.world.greatest(ratios.max(initial=1.0)))
            w.sweeps += 1
            if steps > most:
                break
            growth = self.world.greatest(w.system.growth(w.x, x, span) if n else 0.0)
            if self.world.all((w.x[:n] >= 0).all()) and growth <= 0.5:
                left = self.system.left_to_delta(x, w.x, self.w_constant, span, share=share) if n else 0.0
                self.passed_on = self.world.greatest(left)
                return max(steps, self.passed_on)
        return float("inf")

    def _prove(self, budget: float) -> bool:
        x, w, slack, span, n = self.x.x, self.w.x, self.equations.slack, self.x.span, self.halo.n
        defect = self.world.greatest(self.system.defect(x, span) if n else 0.0)
        self.proofs += 1
        if not np.isfinite(defect):
            return False
        for factor in (3.0, 30.0):
            epsilon = factor * (defect + slack + 2 * SPACING)
            delta = epsilon * (self.passed_on + 1)
            with np.errstate(invalid="ignore", over="ignore"):
                self.upper[:] = (1 + delta) * x + epsilon * w
                self.lower[:] = np.maximum((1 - delta) * x - epsilon * w, 0.0)
            self.proofs += 2
            above = not n or self.system.is_above(self.upper, span, slack)
            below = not n or self.system.is_below(self.lower, span, slack)
            if self.world.all(above and below):
                with np.errstate(invalid="ignore", divide="ignore"):
                    apart = np.where(self.upper > self.lower, (self.upper - self.lower) / x / 2, 0.0)
                return self.world.greatest(apart[:n].max(initial=0.0)) <= budget
        return False

    def _enclose(self, most: float) -> None:
        """Bounds from 0 and the most there can be inwards, sweep by sweep (Haddad and Monmege 2018)."""
        n, span = self.halo.n, self.x.span
        self.lower[:], self.upper[:] = 0.0, most
        for done in range(INTERVAL_SWEEPS):
            self.system.propagate(self.lower, self.upper, span, self.equations.slack)
            np.minimum(self.upper[:n], most, out=self.upper[:n])
            self.halo.refresh(self.lower)
            self.halo.refresh(self.upper)
            self.proofs += 1
            if done % 16 == 0:
                size = self.upper[:n] if self.settings.relative else 1.0
                apart = ((self.upper[:n] - self.lower[:n]) > self.settings.eps * size).any()
                if not self.world.any(apart):
                    return
                self.settings.tell(step="interval", sweeps=self.proofs)

    def work(self, seconds: float) -> tuple[Work, ...]:
        """What was done, in words."""
        self.linear.forget()
        sweeps = self.x.sweeps + self.w.sweeps + self.proofs
        detail = (
            f"{self.halo.total:,} unknowns on {self.world.size} ranks; {krylov.describe()}: "
            f"{self.linear.steps:,} steps; {self.x.sweeps:,} sweeps to propose, {self.w.sweeps:,} to weigh, "
            f"{self.proofs:,} to prove"
        )
        return (Work("propose and prove across ranks", detail, sweeps, seconds),)


def solve(
    equations: RankEquations, settings: Settings, most: float | None = None
) -> tuple[Floats, Floats, str, tuple[Work, ...]]:
    """Bounds on the unknowns of this rank and its ghosts, what found them, and what that took.

    Requires: every strategy leaves the unknowns with probability 1; x >= 0, and at most ``most`` where that is given.
    Guarantees: the bounds hold.
    """
    start = time.perf_counter()
    solver = _Solver(equations, settings)
    method = solver.run(most)
    solver.halo.refresh(solver.lower)
    solver.halo.refresh(solver.upper)
    return solver.lower, solver.upper, method, solver.work(time.perf_counter() - start)


def propose(equations: RankEquations, settings: Settings, aim: float) -> tuple[Floats, int]:
    """A solution without a promise, and how many sweeps and steps it took."""
    system = equations.system(equations.constant, equations.optimum)
    linear = _Linear(equations)
    proposer = _Proposer(equations, system, linear, settings)
    if equations.halo.total:
        proposer.solve(aim)
    linear.forget()
    return proposer.x, proposer.sweeps + linear.steps
