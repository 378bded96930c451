"""Solutions x of (σ - Q) x = b: BiCGStab with an incomplete elimination of states as its preconditioner.

The open states are a chain that is killed at rate σ: one more state, the last, stands for all ends. States are
eliminated one after the other, forgetting what hardly matters (``src/core/long_run/incomplete_elimination.hpp``).

All is scaled by a positive vector w that is about as large as the numbers sought: x stands for x/w, and R(s,t) for
R(s,t) w(t)/w(s). That is Doob's transform of the chain: small numbers are sought to as many digits as large ones.

Requires: σ above the growth of w (:mod:`.weight`). Guarantees: nothing; who proposes with it proves afterwards.
"""

from __future__ import annotations

import numpy as np

from ... import _core
from ...backend.bicgstab import HostUpdates, Iteration
from ...backend.cpu.elimination import eliminated_in
from ...backend.protocol import OPTIMA, Span
from ...model.rounding import UNIT
from ...model.sparse import Int32s
from ...model.values import Floats
from ..settings import Settings
from .effort import CALL, ELIMINATING, WALK, WALKING, Budget, UnsolvedError
from .open_chain import OpenChain, Reals

__all__ = ["Resolvent", "Resolvents"]

THRESHOLDS = (3e-3, 3e-4, 3e-5, 0.0)  # of what is forgotten; the next where BiCGStab takes too many steps
RESTARTS = 4
REFINEMENTS = 3  # corrections of a solution that needs more digits than doubles have
PATIENCE = 80  # steps of BiCGStab
FILL = 40  # entries that an elimination may keep, for each of the chain
OPERATIONS = 3_000  # of an elimination, for each entry of the chain


class Resolvents:
    """The chain killed at whatever rate, scaled by w; what it takes is spent of a budget."""

    def __init__(
        self,
        chain: OpenChain,
        w: Floats,
        settings: Settings,
        budget: Budget,
        *,
        order: Int32s | None = None,
        fine: bool = False,
    ) -> None:
        self.chain, self.settings, self.spend = chain, settings, budget.spend
        self.w, self.real = w, np.longdouble if fine else np.float64
        rows, n = chain.rows, chain.n
        self._starts = np.append(rows.starts + np.arange(n + 1), rows.starts[-1] + n + 1)
        self._ends = self._starts[1 : n + 1] - 1  # places of the rates at which states are killed
        columns = np.full(len(rows.columns) + n + 1, n, dtype=np.int32)
        inside = np.ones(len(columns), dtype=np.bool_)
        inside[self._ends] = inside[-1] = False
        columns[inside] = rows.columns
        columns[-1] = 0
        self._columns = columns
        self._values = np.empty(len(columns))
        self._values[inside] = rows.rates * w[rows.columns] / w[rows.owners]
        self._values[-1] = 1.0
        # (Qw)/w: what rows of the scaled Q sum to.
        lower, upper = chain.drift(w, constant=False)
        self._growth = (lower + upper) / 2 / w
        self.order = order
        self.level = -1

    def next_level(self) -> bool:
        """Forget less from now on; False where nothing is forgotten already."""
        self.level += 1
        return self.level < len(THRESHOLDS)

    def at(self, sigma: float) -> Resolvent:
        """The chain killed at this rate."""
        values = self._values.copy()
        values[self._ends] = np.maximum(sigma - self._growth, sigma * 1e-3)
        matrix = _core.Matrix(None, self._starts, self._columns, values, None)
        if self.order is None:
            self.order = self._ordered(values)
        return Resolvent(self, sigma, matrix, self.chain.exits + sigma, len(values))

    def residual(self, b: Floats, x: Reals, sigma: float) -> Floats:
        """What b - (σ - Q) x is, but for the rounding of differences."""
        lower, upper = self.chain.drift(x * self.w, constant=False)
        self.spend(2 * len(self._columns) + 16 * self.chain.n)
        found: Floats = (b - sigma * x).astype(np.float64) + (lower + (upper - lower) / 2) / self.w
        return found

    def _ordered(self, values: Floats) -> Int32s:
        """Those that are far from where the chain spends its time first; who ends begins anew there."""
        n = self.chain.n
        matrix = _core.Matrix(None, self._starts, self._columns, values, None)
        walk = min(WALK, 50 * n)  # finds where the chain spends its time
        self.spend(WALKING * walk)
        busiest = _core.busiest_state(matrix, 0, walk)
        if busiest == n:
            busiest = 0
        columns = self._columns.copy()
        columns[-1] = busiest
        order = np.asarray(_core.far_first(_core.Matrix(None, self._starts, columns, values, None), busiest))
        return np.append(order[order != n], n).astype(np.int32)


class Resolvent:
    """(σ - Q) for one σ, and what its states were eliminated by."""

    def __init__(self, family: Resolvents, sigma: float, matrix: _core.Matrix, rates: Floats, entries: int) -> None:
        self._family, self._sigma, self._matrix, self._entries = family, sigma, matrix, entries
        self._n = family.chain.n
        self._diagonal = rates
        self._rates = np.append(rates, 1.0)
        self._products = _core.System(matrix, None, np.zeros(self._n + 1), OPTIMA[None])
        self._span = Span(0, self._n, family.chain.threads)
        self._room, self._found = np.zeros(self._n + 1), np.empty(self._n + 1)
        self._elimination: _core.IncompleteElimination | None = None
        self.steps = 0

    def solution(self, b: Floats, allowed: float) -> Reals:
        """The solution, with as many digits as vectors of the family have, and residuals of at most so much."""
        x: Reals = self.solve(b, allowed).astype(self._family.real, copy=False)
        for _ in range(REFINEMENTS if x.dtype != np.float64 else 0):
            rest = self._family.residual(b, x, self._sigma)
            if np.abs(rest).max() <= allowed:
                break
            x = x + self.solve(rest, allowed / 2)
        return x

    def solve(self, b: Floats, allowed: float) -> Floats:
        """The solution in doubles, with residuals of at most so much; forgets less where that is needed."""
        while (found := self._iterate(b, allowed, self.precondition(b))) is None:
            self._elimination = None
            if not self._family.next_level():
                raise UnsolvedError("no elimination solves the equations")
        return found

    def improve(self, b: Floats, allowed: float, x: Floats, near: Floats) -> Floats | None:
        """Make x the solution, with residuals of at most so much, all relative to a positive vector that is near."""
        return self._iterate(b, allowed, x, 1 / near)

    def precondition(self, b: Floats) -> Floats:
        """About the solution."""
        if self._elimination is None:
            self._elimination = self._eliminated()
            self._family.spend(ELIMINATING * self._elimination.entries)  # it is kept, even when this was too much
        self._room[:-1] = b
        self._elimination.solve_ending(self._room, self._found)
        self._family.spend(CALL + self._elimination.entries + 4 * self._n)
        return self._found[:-1].copy()

    def _product(self, x: Floats, y: Floats) -> None:
        self._room[:-1] = x
        self._products.row_values(self._room, self._found[:-1], self._span)
        np.multiply(self._diagonal, x, out=y)
        y -= self._found[:-1]
        self._family.spend(CALL + self._entries + 16 * self._n)

    def _iterate(self, b: Floats, allowed: float, x: Floats, weight: Floats | None = None) -> Floats | None:
        """Improve x in place; None where that does not come to an end. Residuals count by weight, or all alike."""
        r = np.empty(self._n)

        def largest(values: Floats) -> float:
            return float(np.abs(values if weight is None else values * weight).max())

        with np.errstate(all="ignore"):  # a breakdown is noticed by its result
            for _ in range(RESTARTS):  # the recurrence may know too little of its residual
                self._product(x, r)
                np.subtract(b, r, out=r)
                # What x itself is rounded by makes residuals of that size.
                allowed = max(allowed, 8 * UNIT * largest(self._diagonal * x))
                if largest(r) <= allowed:
                    return x
                updates = HostUpdates(None if weight is None else weight**2)
                iteration = Iteration(x, r, self._product, self.precondition, updates=updates)
                for _ in range(PATIENCE):
                    iteration.run(1)
                    self.steps += 1
                    size = largest(r)
                    if not size > allowed / 2:
                        break
                if not np.isfinite(size) or size > allowed:
                    return None
        return None

    def _eliminated(self) -> _core.IncompleteElimination:
        family = self._family
        assert family.order is not None
        threshold = THRESHOLDS[family.level]
        order = family.order if threshold else _core.nested_dissection(self._matrix, self._n)
        found = eliminated_in(
            self._matrix,
            self._entries,
            self._rates,
            order,
            threshold,
            fill=FILL,
            operations=OPERATIONS * self._entries,
            threads=family.chain.threads,
            watching=family.settings,
            step="stiff time",
            ending=True,
        )
        if found is None:
            raise UnsolvedError("eliminations take too much memory or time")
        return found
