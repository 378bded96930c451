"""A guess at the bias of an irreducible chain: the vector h in Poisson's equation g = r + Qh.

BiCGStab on the equation, preconditioned by incomplete elimination of the states, those far from where the chain spends
its time first (``src/core/bias.hpp``, ``incomplete_elimination.hpp``, ``elimination_order.hpp``). Elimination is exact
where the chain drifts, however long the way, and Krylov's method repairs what was forgotten: models on which sweeps or
plain Krylov methods need thousands of iterations, or fail, take about ten. A smaller threshold forgets less: more
memory, fewer steps.

Requires: an irreducible chain. Guarantees: nothing; :mod:`galton.solve.long_run` proves bounds for whatever comes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import _core
from ..explore.limits import available_memory
from .settings import Settings

if TYPE_CHECKING:
    from .long_run import Chain

Floats = npt.NDArray[np.float64]

__all__ = ["Bias"]

WALK = 200_000  # steps of the random walk that finds where the chain spends its time
MOST_FILL = 30  # transitions that elimination may keep, per transition of the chain …
SHARE = 0.5  # … and the share of the free memory that they may take
ENTRY = 8  # bytes of one
THREADS_FROM = 50_000  # transitions
PATIENCE = 10  # steps without a tenfold improvement after which the recursion is given up


class Bias:
    """Poisson's equation of a chain, solved as often as it takes. ``sweeps`` counts products with the matrix."""

    def __init__(self, chain: Chain, settings: Settings) -> None:
        self.chain, self.settings = chain, settings
        self.sweeps = 0
        self.threads = settings.n_threads if len(chain.columns) >= THREADS_FROM else 1
        self.exit_rates = _core.leaving_rates(chain.matrix)
        self.busiest = _core.busiest_state(chain.matrix, 0, min(WALK, 50 * chain.n_states))
        self.order = _core.far_first(chain.matrix, self.busiest)
        self.solver = _core.Bias(chain.matrix, self.busiest, self.threads)
        self.elimination: _core.IncompleteElimination | None = None

    def prepare(self, threshold: float) -> bool:
        """Eliminate with this threshold; False when that would keep too many transitions."""
        self.elimination = None  # frees the memory of the one before
        entries = len(self.chain.columns)
        capacity = int(min(MOST_FILL * entries, SHARE * available_memory() / ENTRY))
        elimination = _core.IncompleteElimination(
            self.chain.matrix, self.exit_rates, self.order, threshold, capacity, self.threads
        )
        while elimination.advance():
            self.settings.tell(step="long run", elimination=threshold, kept=elimination.entries)
        self.elimination = elimination
        return elimination.fits

    def improve(self, reward: Floats, h: Floats, *, relative: float, absolute: float = 0.0) -> bool:
        """Improve h, in place, until r + Qh seems to be constant up to a width; False when that does not happen."""
        assert self.elimination is not None
        start = h.copy()
        lower, upper, broken, _ = self.solver.begin(reward, h)
        self.sweeps += 1
        first = best = upper - lower
        since = 0
        while not broken and upper - lower > max(relative * abs(lower), absolute):
            lower, upper, broken, steps = self.solver.advance(self.elimination, relative, absolute, PATIENCE)
            self.sweeps += 2 * steps
            self.settings.tell(step="long run", sweeps=self.sweeps, estimate=(lower + upper) / 2, width=upper - lower)
            since += steps
            if upper - lower < best / 10:
                best, since = upper - lower, 0
            elif since > PATIENCE * (3 if best == first else 1):  # it may take a while to begin with
                break
        if not (np.isfinite(upper - lower) and np.isfinite(h).all()):
            h[:] = start
            return False
        return upper - lower <= max(relative * abs(lower), absolute)
