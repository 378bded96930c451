"""Poisson's equation of an irreducible chain on a device: BiCGStab, preconditioned by a few steps of Jacobi's method.

What an elimination does better on one core, many cheap products do here. The number of steps is raised where BiCGStab
does not get on: more steps smooth further. As in ``src/core/bias.hpp``, the gain is what the equation of one state z
says, and vectors vanish in z.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import cupy as cp
import numpy as np

from ...model.arrays import on_host
from ...solve.solution import NumericError
from .krylov import Iteration
from .layout import CODES, lanes_for
from .module import Kernels, kernels

if TYPE_CHECKING:
    from ...solve.long_run import Chain
    from ...solve.settings import Settings

__all__ = ["Bias", "drift_bounds"]

FILE = Path(__file__).with_name("drift.cu")
DAMPING = 0.8
LOOK = 10  # iterations between looks at the width
WALKERS, JUMPS = 4096, 20_000


class _Products:
    """The kernels for one chain."""

    def __init__(self, chain: Chain) -> None:
        values = chain.values
        codes = values.plain if values.dictionary is None else values.index
        assert codes is not None
        starts, n = chain.row_starts, chain.n_states
        self.lanes = lanes_for(len(chain.columns) / max(n, 1))
        self._matrix = (starts, chain.columns, codes, values.dictionary, n)
        self._n = n
        offset = "OFFSET=int" if starts.itemsize == 4 else "OFFSET=long long"
        self._kernels: Kernels = kernels(FILE, offset, f"CODE={CODES[codes.itemsize]}", f"LANES={self.lanes}")

    def run(self, kernel: str, *arguments: Any, threads: int | None = None) -> None:
        """Launch for all states."""
        count = self._n * self.lanes if threads is None else threads
        self._kernels.launch(kernel, count, *self._matrix, *arguments)


def drift_bounds(chain: Chain, state: Any, choice: Any, high: Any, low: Any | None) -> tuple[Any, Any]:
    """Bounds on r + Qh in every state, rounding included."""
    lower, upper = cp.empty(chain.n_states), cp.empty(chain.n_states)
    _Products(chain).run("drift_bounds", state, choice, high, low, lower, upper)
    return lower, upper


class Bias:
    """As :class:`galton.solve.bias.Bias`."""

    threads = 1

    def __init__(self, chain: Chain, settings: Settings) -> None:
        self.chain, self.settings = chain, settings
        self.sweeps = 0
        self._products = _Products(chain)
        self.exit_rates = cp.empty(chain.n_states)
        self._products.run("leaving_rates", self.exit_rates)
        ends = cp.empty(WALKERS, dtype=np.int32)
        self._products.run("walk", self.exit_rates, 0, WALKERS, JUMPS, ends, threads=WALKERS)
        states, counts = np.unique(on_host(ends), return_counts=True)
        self.busiest = int(states[counts.argmax()])
        self._steps = 1

    def smooth(self, steps: int) -> bool:
        """Precondition by so many steps of Jacobi's method."""
        self._steps = steps
        return True

    def improve(self, reward: Any, h: Any, *, relative: float, absolute: float, patience: int) -> bool:
        """Improve h, in place, until r + Qh seems to be constant up to a width; False when it does not."""
        start = h.copy()
        residual, gain, width = self._residual(reward, h)
        first = best = width
        iteration = Iteration(h, residual, self._product, self._precondition)
        since = 0
        while width > max(relative * abs(gain), absolute) and since < patience and np.isfinite(width):
            iteration.run(LOOK)
            self._count(2 * LOOK * (1 + self._steps))
            iteration.r[:], gain, width = self._residual(reward, h)
            since += LOOK
            self.settings.tell(step="long run", sweeps=self.sweeps, estimate=gain, width=width)
            if width < best / 10:
                best, since = width, 0
        if not (width <= first and bool(cp.isfinite(h).all())):
            h[:] = start
            return False
        return width <= max(relative * abs(gain), absolute)

    def _residual(self, reward: Any, h: Any) -> tuple[Any, float, float]:
        """The right-hand side less the left, what z gains, and how far states are apart."""
        drift = cp.empty_like(h)
        self._products.run("outflow", h, drift)
        self._count(1)
        drift = reward - drift
        gain = drift[self.busiest : self.busiest + 1]
        low, high, mine = (float(x) for x in (drift.min(), drift.max(), gain[0]))
        return drift - gain, mine, high - low

    def _product(self, x: Any, found: Any) -> None:
        self._products.run("outflow", x, found)
        found -= found[self.busiest : self.busiest + 1].copy()

    def _precondition(self, y: Any) -> Any:
        x, other = y / self.exit_rates, cp.empty_like(y)
        for _ in range(self._steps - 1):
            self._products.run("smooth", self.exit_rates, DAMPING, y, x, other)
            x, other = other, x
        x -= x[self.busiest : self.busiest + 1].copy()
        return x

    def _count(self, sweeps: int) -> None:
        self.sweeps += sweeps
        most = self.settings.max_iterations
        if most is not None and self.sweeps > most:
            raise NumericError(f"the long-run average has not converged within {most:,} sweeps; raise --max-iterations")
