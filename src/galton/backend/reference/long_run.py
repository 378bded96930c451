"""Poisson's equation of an irreducible chain, by a dense matrix; bounds on its drift, by fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...model.errors import NumericError
from ...model.values import Floats
from ..chain import Chain
from ..protocol import Preconditioner, Watching

__all__ = ["Bias", "bias", "drift_bounds", "eliminates"]


class Bias:
    """The bias h of a chain, in g = r + Qh; its last equation says that h is 0 in the busiest state.

    See :class:`galton.backend.protocol.Bias`.
    """

    threads = 1

    def __init__(self, chain: Chain, watching: Watching) -> None:
        self._watching = watching
        self.sweeps = 0
        n, values = chain.n_states, chain.values.array()
        rates = np.zeros((n, n))
        rates[np.repeat(np.arange(n), np.diff(chain.row_starts)), chain.columns] = values
        np.fill_diagonal(rates, 0.0)
        self.exit_rates = rates.sum(axis=1)
        self._flow = rates - np.diag(self.exit_rates)  # Q
        self.busiest = int(np.argmax(_stationary(self._flow)))
        # The unknowns are h and -g, the equations those of all states and that of the busiest one.
        here = np.zeros(n)
        here[self.busiest] = 1.0
        self._matrix = np.block([[self._flow, np.ones((n, 1))], [here, np.zeros((1, 1))]])

    @property
    def preconditioners(self) -> list[Preconditioner]:
        """One, for there is nothing to prepare."""
        return [Preconditioner("a dense matrix", lambda: True, 1)]

    def improve(self, reward: Floats, h: Floats, *, relative: float, absolute: float, patience: int) -> bool:
        """Solve for what is left; False where h is no better for it, or r + Qh is not as constant as was asked."""
        before = reward + self._flow @ h
        correction = np.linalg.solve(self._matrix, np.append(-before, 0.0))[:-1]
        after = reward + self._flow @ (h + correction)
        self.sweeps += 2
        most = self._watching.max_iterations
        if most is not None and self.sweeps > most:
            raise NumericError(f"the long-run average has not converged within {most:,} sweeps; raise --max-iterations")
        self._watching.tell(
            step="long run", sweeps=self.sweeps, estimate=float(after.mean()), width=float(np.ptp(after))
        )
        if not np.ptp(after) <= np.ptp(before):
            return False
        h += correction
        return bool(np.ptp(after) <= max(relative * abs(after.min()), absolute))


def _stationary(flow: Floats) -> Floats:
    """How much of its time a chain spends in each state."""
    n = len(flow)
    equations = np.vstack([flow.T[:-1], np.ones(n)])
    return np.linalg.solve(equations, np.append(np.zeros(n - 1), 1.0))


eliminates = False


def bias(chain: Chain, watching: Watching) -> Bias:
    """A guess at the bias, to be improved."""
    return Bias(chain, watching)


def drift_bounds(
    chain: Chain, state: Floats | None, choice: Floats | None, high: Floats, low: Floats | None, threads: int
) -> tuple[Floats, Floats]:
    """Bounds on r + Qh in every row, the doubles around the exact number; h is the sum of the two vectors."""
    parts = [part for part in (high, low) if part is not None]
    h = [sum((Fraction(float(part[s])) for part in parts), Fraction(0)) for s in range(chain.n_states)]
    rates, drift = chain.values.array(), []
    for row in range(chain.n_rows):
        s = row if chain.owners is None else int(chain.owners[row])
        earned = [float(part[at]) for part, at in ((state, s), (choice, row)) if part is not None]
        entries = range(int(chain.row_starts[row]), int(chain.row_starts[row + 1]))
        moved = sum((Fraction(float(rates[e])) * (h[chain.columns[e]] - h[s]) for e in entries), Fraction(0))
        drift.append(float(moved + sum(map(Fraction, earned), Fraction(0))))
    return np.nextafter(drift, -np.inf), np.nextafter(drift, np.inf)
