"""Poisson's equation of an irreducible chain that lies in parts on several devices, and the proof of its gain.

As in ``cuda/long_run.py``, BiCGStab with steps of Jacobi's method; vectors stay in parts until the bias is as good as
asked for. Sweeps from level to level need the whole chain on one device: they are tried where it is there and the
others come to nothing. A proof is one pass, each part over its own rows.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import cupy as cp
import numpy as np

from .... import _core
from ....device.arrays import is_on_host, namespace
from ....model.errors import NumericError
from ...bicgstab import HostUpdates, Iteration
from ...protocol import Preconditioner
from .. import long_run as alone
from ..chain import ChainRows
from ..layout import csr
from .parts import Parts, on
from .vectors import Vector

if TYPE_CHECKING:
    from ...chain import Chain
    from ...protocol import Watching

__all__ = ["Bias", "bias", "drift_bounds", "eliminates"]

WALK = 200_000  # jumps of the walk on the host that finds a busy state
STEPS = ((32, 200), (128, 300))  # of Jacobi's method, and how patiently


class SplitRows:
    """The rows of a chain in parts, and kernels that run over them."""

    def __init__(self, chain: Chain) -> None:
        values = chain.values
        codes = values.plain if values.dictionary is None else values.index
        whole = csr(None, chain.row_starts, chain.columns, codes, values.dictionary)
        self.parts = Parts(whole, chain.devices)
        matrices = [part.matrix for part in self.parts]
        self._rows = [ChainRows(m.starts, m.columns, m.codes, m.dictionary) for m in matrices]

    def run(self, kernel: str, *vectors: list[Any]) -> None:
        """Launch a kernel of ``drift.cu`` for each part, with its piece of each vector."""
        for part, rows, *given in zip(self.parts, self._rows, *vectors, strict=True):
            with on(part.device):
                rows.run(alone.FILE, kernel, *given)

    def room(self) -> list[Any]:
        """A number for each state."""
        return self.parts.each(lambda part: cp.empty(part.size))

    def outflow(self, x: Vector) -> Vector:
        """What flows out of each state."""
        found = self.room()
        self.run("outflow", self.parts.with_halos(x.pieces), found)
        return Vector(self.parts, found)

    def smoothed(self, x: Vector, exit_rates: Vector, y: Vector, steps: int) -> Vector:
        """Damped steps of Jacobi's method on the equation that the outflow of x is y."""
        vectors = self.parts.with_halos(x.pieces)
        others, damping = self.parts.copies(vectors), [alone.DAMPING] * len(self.parts)
        for _ in range(steps):
            self.run("smooth", exit_rates.pieces, damping, y.pieces, vectors, others)
            vectors, others = others, vectors
            self.parts.exchange(vectors)
        return Vector(self.parts, [piece[: part.size] for part, piece in zip(self.parts, vectors, strict=True)])


_SPLIT: WeakKeyDictionary[Chain, SplitRows] = WeakKeyDictionary()


def _rows_of(chain: Chain) -> SplitRows:
    """The rows of a chain, which are split once, for its bias and for all proofs."""
    if chain not in _SPLIT:
        _SPLIT[chain] = SplitRows(chain)
    return _SPLIT[chain]


def drift_bounds(
    chain: Chain, state: Any | None, choice: Any | None, high: Any, low: Any | None, threads: int
) -> tuple[Any, Any]:
    """Bounds on r + Qh in every state, rounding included."""
    rows, xp = _rows_of(chain), namespace(high)
    parts = rows.parts
    none: list[Any] = [None] * len(parts)
    rewards = [none if part is None else parts.pieces(part) for part in (state, choice)]
    vectors = [none if part is None else parts.scatter(part) for part in (high, low)]
    below, above = rows.room(), rows.room()
    rows.run("drift_bounds", none, *rewards, *vectors, below, above)  # a chain: no choice belongs to another's state
    lower, upper = xp.empty(parts.size), xp.empty(parts.size)
    parts.gather(below, lower)
    parts.gather(above, upper)
    return lower, upper


class Bias:
    """Poisson's equation of a chain, solved as often as it takes. ``sweeps`` counts products with the matrix."""

    threads = 1

    def __init__(self, chain: Chain, watching: Watching) -> None:
        self.chain, self.watching = chain, watching
        self.sweeps = 0
        self._rows = _rows_of(chain)
        rates = self._rows.room()
        self._rows.run("leaving_rates", rates)
        self._rates = Vector(self._rows.parts, rates)
        self.exit_rates = namespace(chain.columns).empty(chain.n_states)
        self._rates.gather(self.exit_rates)
        self.busiest = _busiest(chain, self.exit_rates)
        self._steps = 1
        self._alone: alone.Bias | None = None

    @property
    def preconditioners(self) -> list[Preconditioner]:
        """Steps of Jacobi's method, by all devices; then, where one has the whole chain, sweeps by levels there."""
        together = [
            Preconditioner(f"{steps} steps of Jacobi's method", partial(self.smooth, steps), patience)
            for steps, patience in STEPS
        ]
        by_levels = Preconditioner("sweeps by levels on one device", self.sweep_levels, 40)
        return together if is_on_host(self.chain.columns) else [*together, by_levels]

    def smooth(self, steps: int) -> bool:
        """Precondition by so many steps of Jacobi's method."""
        self._steps = steps
        return True

    def sweep_levels(self) -> bool:
        """Leave the rest to the device that has the chain; False where there is no room for its levels."""
        self._alone = alone.Bias(self.chain, self.watching)
        return self._alone.sweep_levels()

    def improve(self, reward: Any, h: Any, *, relative: float, absolute: float, patience: int) -> bool:
        """Improve h, in place, until r + Qh seems to be constant up to a width; False when it does not."""
        if self._alone is not None:
            self._alone.sweeps = self.sweeps
            found = self._alone.improve(reward, h, relative=relative, absolute=absolute, patience=patience)
            self.sweeps = self._alone.sweeps
            return found
        parts = self._rows.parts
        given, x = Vector.of(parts, reward), Vector.of(parts, h)
        residual, gain, width = self._residual(given, x)
        first = best = width
        iteration: Any = Iteration(x, residual, self._product, self._solve, updates=HostUpdates())  # type: ignore[arg-type]
        since = 0
        while width > max(relative * abs(gain), absolute) and since < patience and np.isfinite(width):
            iteration.run(alone.CHECK_EVERY)
            self._count(2 * alone.CHECK_EVERY * (1 + self._steps))
            iteration.r[:], gain, width = self._residual(given, x)
            since += alone.CHECK_EVERY
            self.watching.tell(step="long run", sweeps=self.sweeps, estimate=gain, width=width)
            if width < best / 10:
                best, since = width, 0
        if not (width <= first and x.is_finite()):
            return False
        x.gather(h)
        return width <= max(relative * abs(gain), absolute)

    def _residual(self, reward: Vector, h: Vector) -> tuple[Vector, float, float]:
        """The right-hand side less the left, what the busiest state gains, and how far states are apart."""
        drift = reward - self._rows.outflow(h)
        self._count(1)
        gain, width = drift.at(self.busiest), drift.greatest() - drift.least()
        drift -= gain
        return drift, gain, width

    def _product(self, x: Vector, found: Vector) -> None:
        flow = self._rows.outflow(x)
        flow -= flow.at(self.busiest)
        found[:] = flow

    def _solve(self, y: Vector) -> Vector:
        """An x whose outflow is roughly y less a constant; 0 in the busiest state."""
        x = self._rows.smoothed(y / self._rates, self._rates, y, self._steps - 1)
        x -= x.at(self.busiest)
        return x

    def _count(self, sweeps: int) -> None:
        self.sweeps += sweeps
        most = self.watching.max_iterations
        if most is not None and self.sweeps > most:
            raise NumericError(f"the long-run average has not converged within {most:,} sweeps; raise --max-iterations")


def _busiest(chain: Chain, exit_rates: Any) -> int:
    """A state where the chain spends much of its time, found by walking where the chain lies as a whole."""
    if is_on_host(chain.columns):
        return int(_core.busiest_state(chain.matrix, 0, min(WALK, 50 * chain.n_states)))
    return alone.busiest_state(alone.rows_of(chain), exit_rates)


eliminates = False


def bias(chain: Chain, watching: Watching) -> Bias:
    """A guess at the bias, to be improved."""
    return Bias(chain, watching)
