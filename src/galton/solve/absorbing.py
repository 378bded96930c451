"""Chains in which sweeps hardly move: BiCGStab with an elimination of states as its preconditioner.

The unknowns of a segment are a chain that ends: one more state stands for all that is outside of it. States are
eliminated one after the other, as for long-run averages (``src/core/long_run/incomplete_elimination.hpp``). Completely
first, by nested dissection, if that takes no longer than about a thousand sweeps: a walk over a plane, which sweeps
need ten thousand for, is solved by it at once. Otherwise forgetting what hardly matters, the farthest states first.
BiCGStab repairs what was forgotten or rounded. Where neither is enough, sweeps have their turn, and then there is more
time for an elimination: who waits for the better of the two waits at most a few times longer than for it alone.

Requires: one row for each unknown. Guarantees: nothing; who proposes with it proves afterwards.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from ..backend.bicgstab import HostUpdates, Iteration
from ..backend.cpu.elimination import eliminated
from ..backend.protocol import OPTIMA, Span, System
from ..device.arrays import offsets
from ..model.values import Floats
from .equations import Equations, Segment
from .settings import Settings

__all__ = ["AbsorbingChains"]

# What is tried between sweeps: operations for each entry of the chain, of which three thousand take as long as about a
# thousand sweeps; thresholds of what is forgotten, and steps of BiCGStab.
ATTEMPTS = (
    (3_000, (0.0, 12), (3e-4, 80)),
    (12_000, (0.0, 12), (3e-5, 80)),
    (48_000, (0.0, 12), (3e-6, 80)),
)
FILL = 50  # entries that an elimination may keep, for each of the chain
LOOK = 4  # steps between two looks
LEAST = 1e-150  # smaller numbers weigh as much as this one, whose square is still a double


class AbsorbingChains:
    """The segments of equations as chains that end. The elimination of the last one is kept, for other constants."""

    def __init__(self, equations: Equations, settings: Settings) -> None:
        self._equations, self._settings = equations, settings
        self._segment: Segment | None = None
        self._chain: _AbsorbingChain | None = None

    def promises(self, segment: Segment) -> bool:
        """Whether an elimination that has done well is at hand."""
        return segment == self._segment and self._chain is not None and self._chain.does_well

    def improve(self, system: System, x: Floats, segment: Segment, aim: float) -> tuple[int, float]:
        """Bring x closer to the solution, in place, until every residual is at most ``aim`` of it.

        What it took in sweeps, and the largest residual; infinite where nothing could be eliminated.
        """
        if segment != self._segment:
            self._chain = None  # frees the memory of the one before
            self._chain, self._segment = _AbsorbingChain(self._equations, segment, self._settings), segment
        assert self._chain is not None
        return self._chain.improve(system, x, aim)


class _AbsorbingChain:
    """One segment, and what its states were eliminated by."""

    def __init__(self, equations: Equations, segment: Segment, settings: Settings) -> None:
        self._segment, self._settings = segment, settings
        self._n = segment.last - segment.first
        self._entries, self._matrix = _chain_of(equations, segment)
        # Without constants: products with the matrix. The state outside counts as 0.
        self._products = _core.System(self._matrix, None, np.zeros(self._n + 1), OPTIMA[None])
        self._later = list(ATTEMPTS)
        self._elimination: _core.IncompleteElimination | None = None
        self._steps = 0
        self.does_well = False

    def improve(self, system: System, x: Floats, aim: float) -> tuple[int, float]:
        """With the elimination at hand, or with those whose turn it is, until one does."""
        if self._elimination is not None:
            sweeps, residual = self._iterate(system, x, aim)
            if self.does_well:
                return sweeps, residual
        sweeps, residual = 0, float("inf")
        operations, *attempts = self._later.pop(0) if self._later else (0,)
        for threshold, self._steps in attempts:
            self._elimination = None  # frees the memory of the one before
            self._elimination = self._eliminated(threshold, operations)
            if self._elimination is None:
                continue
            more, residual = self._iterate(system, x, aim)
            sweeps += more
            if self.does_well:
                break
        return sweeps, residual

    def _eliminated(self, threshold: float, operations: int) -> _core.IncompleteElimination | None:
        return eliminated(
            self._matrix,
            self._entries,
            _core.leaving_rates(self._matrix),
            self._n,
            threshold,
            fill=FILL,
            operations=operations * self._entries,
            threads=self._settings.n_threads,
            watching=self._settings,
            step="iterate",
        )

    def _iterate(self, system: System, x: Floats, aim: float) -> tuple[int, float]:
        """Steps of BiCGStab for a correction of x; the best on the way is added.

        The elimination alone makes the first step: inner products are relative to x, which has to know its size first.
        """
        here = x[self._segment.first : self._segment.last]
        with np.errstate(over="ignore", invalid="ignore"):
            residual = self._violation(system, x)
            first = here + self._precondition(residual)
            if ((first > 0) & (first < np.inf)).all():
                here[:] = first
                residual = self._violation(system, x)
            correction, added = np.zeros(self._n), np.zeros(self._n)
            best, steps = _relative(residual, here), 0
            updates = HostUpdates(np.square(1 / np.maximum(np.abs(here), LEAST)))
            iteration = Iteration(correction, residual, self._product, self._precondition, updates=updates)
            while steps < self._steps and best > aim:
                iteration.run(LOOK)
                steps += LOOK
                size = _relative(residual, here + correction)
                self._settings.tell(step="iterate", sweeps=2 * steps, residual=size)
                if not np.isfinite(size):
                    break
                if size < best:
                    best, added = size, correction.copy()
        here += added
        self.does_well = best <= aim
        return 2 * steps + 2, best

    def _violation(self, system: System, x: Floats) -> Floats:
        """F(x) - x."""
        values = np.empty(self._n)
        system.row_values(x, values, self._segment.span(self._settings.n_threads))
        values -= x[self._segment.first : self._segment.last]
        return values

    def _product(self, x: Floats, y: Floats) -> None:
        found = np.empty(self._n + 1)
        self._products.row_values(np.append(x, 0.0), found, Span(0, self._n + 1, self._settings.n_threads))
        np.subtract(x, found[:-1], out=y)

    def _precondition(self, x: Floats) -> Floats:
        assert self._elimination is not None
        solved = np.empty(self._n + 1)
        self._elimination.solve_ending(np.append(x, 0.0), solved)
        return solved[:-1]


def _relative(residual: Floats, x: Floats) -> float:
    """The largest residual beside its unknown; no number where something is none."""
    return float((np.abs(residual) / np.maximum(np.abs(x), LEAST)).max())


def _chain_of(equations: Equations, segment: Segment) -> tuple[int, _core.Matrix]:
    """A chain on the unknowns of a segment and one state for all others, behind them; and how many entries it has.

    Probabilities to go there are sums of what leads there, not differences from 1.
    """
    first, n = segment.first, segment.last - segment.first
    rows = equations.rows_of(segment)
    starts = equations.starts[rows.start : rows.stop + 1].astype(np.int64)
    entries = slice(int(starts[0]), int(starts[-1]))
    owner = np.repeat(np.arange(n), np.diff(starts))
    values = equations.values[entries]
    if equations.scale is not None:
        values = values * equations.scale[rows][owner]
    columns = equations.columns[entries].astype(np.int64) - first
    inside = (columns >= 0) & (columns < n)
    leaving = equations.exits[rows] + np.bincount(owner[~inside], values[~inside], minlength=n)
    # The state outside, which has to lead somewhere, leads to the first unknown.
    owners = np.concatenate([owner[inside], np.flatnonzero(leaving), [n]])
    order = np.argsort(owners, kind="stable")
    columns = np.concatenate([columns[inside], np.full(np.count_nonzero(leaving), n), [0]])[order]
    values = np.concatenate([values[inside], leaving[leaving != 0], [1.0]])[order]
    starts = offsets(np.bincount(owners, minlength=n + 1), np.int64)
    return len(columns), _core.Matrix(None, starts, columns.astype(np.int32), values, None)
