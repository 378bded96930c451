"""A guess at the bias of an irreducible chain: the vector h in Poisson's equation g = r + Qh.

BiCGStab on the equation, with one of three preconditioners, all in ``src/core``:

- Incomplete elimination of the states, those far from where the chain spends its time first. It is exact where the
  chain drifts, however long the way, and Krylov's method repairs what was forgotten: models on which sweeps or plain
  Krylov methods need thousands of iterations, or fail, take about ten. A smaller threshold forgets less: more memory,
  fewer steps (``incomplete_elimination.hpp``, ``elimination_order.hpp``).
- Complete elimination, in another order: affordable on chains that look like a plane.
- Gauss–Seidel sweeps forth and back: for flow that goes in circles (``symmetric_sweep.hpp``).

Requires: an irreducible chain. Guarantees: nothing; :mod:`galton.solve.long_run` proves bounds for whatever comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ... import _core
from ...model.errors import NumericError
from ..protocol import Preconditioner, Watching
from .elimination import eliminated

if TYPE_CHECKING:
    from ..chain import Chain

Floats = npt.NDArray[np.float64]

__all__ = ["Bias", "bias", "drift_bounds", "eliminates"]

WALK = 200_000  # steps of the random walk that finds where the chain spends its time
MOST_ORDERS = 4  # that are tried
MUCH_BUSIER = 10.0  # as a power of two: where a state is visited so much more often, the order should end in it
MOST_FILL = 20  # transitions that elimination may keep, for each of the chain
MOST_OPERATIONS = 10**10  # of an elimination: about ten seconds
THREADS_FROM = 50_000  # transitions
BATCH = 30  # steps between looks at what they brought


class Bias:
    """Poisson's equation of a chain, solved as often as it takes. ``sweeps`` counts products with the matrix."""

    def __init__(self, chain: Chain, watching: Watching) -> None:
        self.chain, self.watching = chain, watching
        self.sweeps = 0
        self.threads = watching.n_threads if len(chain.columns) >= THREADS_FROM else 1
        self.exit_rates = _core.leaving_rates(chain.matrix)
        self.preconditioner: _core.Preconditioner | None = None
        self._end_in(_core.busiest_state(chain.matrix, 0, min(WALK, 50 * chain.n_states)))

    @property
    def preconditioners(self) -> list[Preconditioner]:
        """Those of :data:`PRECONDITIONERS`, for this chain."""
        return [Preconditioner(name, partial(prepare, self), patience) for name, prepare, patience in PRECONDITIONERS]

    def eliminate(self, threshold: float) -> bool:
        """Precondition by elimination with this threshold; False when that would take too much memory or time."""
        for _ in range(MOST_ORDERS):
            self.preconditioner = None  # frees the memory of the one before
            elimination = self._elimination(threshold)
            if elimination is None:
                return False
            if elimination.share_of_last() * self.chain.n_states >= 1:
                break
            state, busier = elimination.busiest()
            if busier < MUCH_BUSIER:
                break
            self._end_in(state)
        self.preconditioner = elimination
        return True

    def sweep(self) -> bool:
        """Precondition by sweeps."""
        self.preconditioner = _core.SymmetricSweep(self.chain.matrix, self.exit_rates, self.threads)
        return True

    def improve(self, reward: Floats, h: Floats, *, relative: float, absolute: float, patience: int) -> bool:
        """Improve h, in place, until r + Qh seems to be constant up to a width.

        False when that does not happen: when so many steps do not bring the tenth of the width.
        """
        assert self.preconditioner is not None
        start = h.copy()
        lower, upper, broken, _ = self.solver.begin(reward, h)
        self._count(1)
        first = best = upper - lower
        since = 0
        while not broken and upper - lower > max(relative * abs(lower), absolute) and since < patience:
            lower, upper, broken, steps = self.solver.advance(self.preconditioner, relative, absolute, BATCH)
            self._count(2 * steps)
            self.watching.tell(step="long run", sweeps=self.sweeps, estimate=(lower + upper) / 2, width=upper - lower)
            since += steps
            if upper - lower < best / 10:
                best, since = upper - lower, 0
        if not (upper - lower <= first and np.isfinite(h).all()):
            h[:] = start
            return False
        return upper - lower <= max(relative * abs(lower), absolute)

    def _end_in(self, state: int) -> None:
        self.busiest = state
        self.solver = _core.Bias(self.chain.matrix, state, self.threads)

    def _elimination(self, threshold: float) -> _core.IncompleteElimination | None:
        return eliminated(
            self.chain.matrix,
            len(self.chain.columns),
            self.exit_rates,
            self.busiest,
            threshold,
            fill=MOST_FILL,
            operations=MOST_OPERATIONS,
            threads=self.threads,
            watching=self.watching,
            step="long run",
        )

    def _count(self, sweeps: int) -> None:
        self.sweeps += sweeps
        most = self.watching.max_iterations
        if most is not None and self.sweeps > most:
            raise NumericError(f"the long-run average has not converged within {most:,} sweeps; raise --max-iterations")


eliminates = True
PRECONDITIONERS: tuple[tuple[str, Callable[[Bias], bool], int], ...] = (
    ("incomplete elimination", lambda bias: bias.eliminate(0.03), 30),
    ("sweeps", lambda bias: bias.sweep(), 200),
    ("incomplete elimination", lambda bias: bias.eliminate(3e-3), 30),
    ("elimination", lambda bias: bias.eliminate(0.0), 30),
    ("incomplete elimination", lambda bias: bias.eliminate(3e-4), 30),
    ("incomplete elimination", lambda bias: bias.eliminate(3e-5), 50),
)


def bias(chain: Chain, watching: Watching) -> Bias:
    """A guess at the bias, to be improved."""
    return Bias(chain, watching)


def drift_bounds(
    chain: Chain, state: Floats | None, choice: Floats | None, high: Floats, low: Floats | None, threads: int
) -> tuple[Floats, Floats]:
    """Bounds on r + Qh in every row, rounding included; h is the sum of the two vectors."""
    lower, upper = np.empty(chain.n_rows), np.empty(chain.n_rows)
    _core.drift_bounds(
        chain.matrix, state=state, choice=choice, high=high, low=low, lower=lower, upper=upper, threads=threads
    )
    return lower, upper
