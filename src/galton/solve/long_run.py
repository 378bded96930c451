"""The gain of an irreducible chain, large or not, by a guess at its bias and a proof.

The gain g and the bias h solve Poisson's equation g = r + Qh, where (Qh)(s) is the sum over t of R(s,t)(h(t) - h(s)).
For *any* h, min(r + Qh) <= g <= max(r + Qh): one sweep that rounds downwards (``src/core/drift.hpp``) turns whatever a
method proposes into bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..lang.source import GaltonError
from ..model.values import Values
from .elimination import averages
from .settings import Settings

Floats = npt.NDArray[np.float64]

__all__ = ["Chain", "Gain", "NoConvergenceError", "gain", "prove"]

DIRECT = 3000  # states up to which elimination is the last resort


class NoConvergenceError(GaltonError):
    """Bounds that would not meet."""

    kind = "numeric"


@dataclass(frozen=True, eq=False)
class Chain:
    """An irreducible chain and a reward: arrays as in :class:`galton.model.sparse.Model`."""

    row_starts: npt.NDArray[np.int32] | npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    values: Values
    state: Floats | None
    choice: Floats | None

    @property
    def n_states(self) -> int:
        return len(self.row_starts) - 1

    @cached_property
    def matrix(self) -> _core.Matrix:
        entries = self.values.plain if self.values.dictionary is None else self.values.index
        return _core.Matrix(None, self.row_starts, self.columns, entries, self.values.dictionary)

    @cached_property
    def reward(self) -> Floats:
        """The reward of each state, rounded."""
        parts = [part for part in (self.state, self.choice) if part is not None]
        return np.asarray(sum(parts), dtype=np.float64) if parts else np.zeros(self.n_states)


class Gain(NamedTuple):
    """Bounds on a gain and how they were found."""

    lower: float
    upper: float
    method: str
    sweeps: int


def prove(chain: Chain, h: Floats, threads: int = 1) -> tuple[float, float]:
    """Bounds on the gain that any vector h gives; NaN where h is not finite."""
    lower, upper = np.empty(chain.n_states), np.empty(chain.n_states)
    _core.drift_bounds(chain.matrix, chain.state, chain.choice, h, lower, upper, threads)
    return float(lower.min()), float(upper.max())


def close(lower: float, upper: float, settings: Settings) -> bool:
    """Whether bounds are as close as was asked."""
    scale = min(abs(lower), abs(upper)) if settings.relative and lower * upper > 0 else 0.0
    if not settings.relative:
        scale = 1.0
    return upper - lower <= 2 * settings.eps * scale


def gain(chain: Chain, settings: Settings) -> Gain:
    """Bounds on the gain of an irreducible chain."""
    h = _guess(chain)
    lower, upper = prove(chain, h, settings.n_threads)
    if close(lower, upper, settings):
        return Gain(lower, upper, "sparse direct", 1)
    if chain.n_states <= DIRECT:
        everything = np.arange(chain.n_states, dtype=np.int32)
        low, high = averages(chain.matrix, chain.reward, everything, np.array([0, chain.n_states]))
        if close(low[0], high[0], settings):
            return Gain(float(low[0]), float(high[0]), "elimination", 1)
    raise NoConvergenceError(f"the bounds on the long-run average stay at [{lower:.9g}, {upper:.9g}]")


def _guess(chain: Chain) -> Floats:
    """Poisson's equation by a sparse direct solver, with h = 0 in the last state."""
    from scipy.sparse import csc_array, csr_array, diags_array, hstack
    from scipy.sparse.linalg import splu

    rates = csr_array((chain.values.array(), chain.columns, chain.row_starts))
    generator = rates - diags_array(rates.sum(axis=1))
    system = hstack([generator[:, :-1], csc_array(np.full((chain.n_states, 1), -1.0))], format="csc")
    return np.append(splu(system).solve(-chain.reward)[:-1], 0.0)
