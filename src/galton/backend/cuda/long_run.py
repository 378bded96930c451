"""Poisson's equation of an irreducible chain on a device: BiCGStab, with one of two preconditioners.

Sweeps from level to level, by the number of jumps to the busiest state z (``levels.py``), do what an incomplete
elimination does on the CPU. Where they do not help, there are many cheap steps of Jacobi's method. As in
``src/core/long_run/bias.hpp``, the gain is what the equation of one state z says, and vectors vanish in z.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cupy as cp
import numpy as np

from ...device.arrays import how_many, on_host
from ...model.errors import NumericError
from ..bicgstab import Iteration
from ..protocol import Preconditioner
from .chain import ChainRows
from .krylov import DeviceUpdates
from .levels import Levels, levels_of

if TYPE_CHECKING:
    from ..chain import Chain
    from ..protocol import Watching

__all__ = ["Bias", "bias", "busiest_state", "drift_bounds", "eliminates", "rows_of"]

FILE = Path(__file__).with_name("drift.cu")
DAMPING = 0.8
CHECK_EVERY = 5  # iterations between checks of the width
WALKERS = 4096
JUMPS, ACROSS = 20_000, 4  # of a walker: so many, or so many times the side of a square of all states


def rows_of(chain: Chain) -> ChainRows:
    """The rows of a chain; the arrays are shared."""
    values = chain.values
    codes = values.plain if values.dictionary is None else values.index
    return ChainRows(chain.row_starts, chain.columns, codes, values.dictionary)


def busiest_state(rows: ChainRows, exit_rates: Any) -> int:
    """A state where the chain spends much of its time, found by many walkers."""
    ends = cp.empty(WALKERS, dtype=np.int32)
    jumps = max(JUMPS, int(ACROSS * rows.n_states**0.5))
    rows.run(FILE, "walk", exit_rates, 0, WALKERS, jumps, ends, threads=WALKERS)
    states, counts = np.unique(on_host(ends), return_counts=True)
    return int(states[counts.argmax()])


def drift_bounds(chain: Chain, state: Any, choice: Any, high: Any, low: Any | None, threads: int) -> tuple[Any, Any]:
    """Bounds on r + Qh in every row, rounding included."""
    lower, upper = cp.empty(chain.n_rows), cp.empty(chain.n_rows)
    rows_of(chain).run(FILE, "drift_bounds", chain.owners, state, choice, high, low, lower, upper)
    return lower, upper


class Bias:
    """Poisson's equation of a chain, solved as often as it takes. ``sweeps`` counts products with the matrix."""

    threads = 1

    def __init__(self, chain: Chain, watching: Watching) -> None:
        self.chain, self.watching = chain, watching
        self.sweeps = 0
        self._rows = rows_of(chain)
        self.exit_rates = cp.empty(chain.n_states)
        self._rows.run(FILE, "leaving_rates", self.exit_rates)
        self.busiest = busiest_state(self._rows, self.exit_rates)
        self._levels: Levels | None = None
        self._by: _Jacobi | _ByLevels = _Jacobi(self._rows, self.busiest, self.exit_rates, 1)

    @property
    def preconditioners(self) -> list[Preconditioner]:
        """Those of :data:`PRECONDITIONERS`, for this chain."""
        return [Preconditioner(name, partial(prepare, self), patience) for name, prepare, patience in PRECONDITIONERS]

    def sweep_levels(self, steps: int = 0) -> bool:
        """Precondition by sweeps from level to level, and so many steps of Jacobi's method after each.

        False where there are too many levels, or no memory for the chain once more.
        """
        try:
            if self._levels is None:
                near = cp.zeros(self.chain.n_states, dtype=np.bool_)
                near[self.busiest] = True
                self._levels = levels_of(self._rows, near)
            if self._levels is not None:
                self._by = _ByLevels(self._levels, self.exit_rates, steps)
        except cp.cuda.memory.OutOfMemoryError:
            self._levels = None
        return self._levels is not None

    def smooth(self, steps: int) -> bool:
        """Precondition by so many steps of Jacobi's method."""
        self._levels = None  # frees its memory
        self._by = _Jacobi(self._rows, self.busiest, self.exit_rates, steps)
        return True

    def improve(self, reward: Any, h: Any, *, relative: float, absolute: float, patience: int) -> bool:
        """Improve h, in place, until r + Qh seems to be constant up to a width; False when it does not."""
        by = self._by
        order = by.order
        reward, x = (reward, h.copy()) if order is None else (reward[order], h[order])
        residual, gain, width = self._residual(reward, x)
        first = best = width
        iteration = Iteration(x, residual, self._product, by.solve, updates=DeviceUpdates())
        since = 0
        while width > max(relative * abs(gain), absolute) and since < patience and np.isfinite(width):
            iteration.run(CHECK_EVERY)
            self._count(2 * CHECK_EVERY * (1 + by.sweeps))
            iteration.r[:], gain, width = self._residual(reward, x)
            since += CHECK_EVERY
            self.watching.tell(step="long run", sweeps=self.sweeps, estimate=gain, width=width)
            if width < best / 10:
                best, since = width, 0
        if not (width <= first and how_many(cp.isfinite(x)) == len(x)):
            return False
        if order is None:
            h[:] = x
        else:
            h[order] = x
        return width <= max(relative * abs(gain), absolute)

    def _residual(self, reward: Any, h: Any) -> tuple[Any, float, float]:
        """The right-hand side less the left, what z gains, and how far states are apart."""
        drift = cp.empty_like(h)
        self._by.rows.run(FILE, "outflow", h, drift)
        self._count(1)
        drift = reward - drift
        gain = drift[self._by.z : self._by.z + 1]
        low, high, mine = (float(x) for x in (drift.min(), drift.max(), gain[0]))
        return drift - gain, mine, high - low

    def _product(self, x: Any, found: Any) -> None:
        self._by.rows.run(FILE, "outflow", x, found)
        found -= found[self._by.z : self._by.z + 1].copy()

    def _count(self, sweeps: int) -> None:
        self.sweeps += sweeps
        most = self.watching.max_iterations
        if most is not None and self.sweeps > most:
            raise NumericError(f"the long-run average has not converged within {most:,} sweeps; raise --max-iterations")


class _Jacobi:
    """Some damped steps of Jacobi's method."""

    order = None

    def __init__(self, rows: ChainRows, z: int, exit_rates: Any, steps: int) -> None:
        self.rows, self.z, self.sweeps = rows, z, steps
        self._exit_rates = exit_rates

    def solve(self, y: Any) -> Any:
        """An x whose outflow is roughly y less a constant; 0 in z."""
        x = _smoothed(self.rows, self._exit_rates, y, y / self._exit_rates, self.sweeps - 1)
        x -= x[self.z : self.z + 1].copy()
        return x


class _ByLevels:
    """Sweeps from level to level around z, towards it and back, in the numbers of the levels."""

    def __init__(self, levels: Levels, exit_rates: Any, steps: int) -> None:
        self.rows, self.order, self.sweeps = levels.rows, levels.order, 2 + steps
        self.z = levels.rows.n_states - 1
        self._levels, self._steps = levels, steps
        self._exit_rates = exit_rates[levels.order] if steps else None
        self._weights = levels.weights()
        # How long it takes to come to z, nearly: what a gain of 1 adds to every state.
        self._time = cp.empty(levels.rows.n_states)
        levels.onwards(cp.ones(levels.rows.n_states), self._time, self._weights, self._weights)

    def solve(self, y: Any) -> Any:
        """An x whose outflow is roughly y less a constant; 0 in z."""
        x = cp.empty_like(y)
        self._levels.onwards(y, x, self._weights, self._weights)
        gain = x[-1:] / self._time[-1:]
        self._levels.back(x, self._weights, gain, self._time)
        if self._steps:
            x = _smoothed(self.rows, self._exit_rates, y, x, self._steps)
            x -= x[-1:].copy()
        return x


def _smoothed(rows: ChainRows, exit_rates: Any, y: Any, x: Any, steps: int) -> Any:
    other = cp.empty_like(y)
    for _ in range(steps):
        rows.run(FILE, "smooth", exit_rates, DAMPING, y, x, other)
        x, other = other, x
    return x


eliminates = False
PRECONDITIONERS: tuple[tuple[str, Callable[[Bias], bool], int], ...] = (
    ("sweeps by levels", lambda bias: bias.sweep_levels(), 40),
    ("32 steps of Jacobi's method", lambda bias: bias.smooth(32), 200),
    ("128 steps of Jacobi's method", lambda bias: bias.smooth(128), 300),
    ("sweeps by levels, 8 steps of Jacobi's method", lambda bias: bias.sweep_levels(8), 300),
)


def bias(chain: Chain, watching: Watching) -> Bias:
    """A guess at the bias, to be improved."""
    return Bias(chain, watching)
