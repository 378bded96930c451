"""The mean of a value that is given where a chain ends up, with proof.

A vector u with drift (Qu)(s) <= 0 in every transient state s, and above the given values elsewhere, is above the mean;
likewise below. From any solution x and any t with drift at most -1/2 (about twice the expected time until absorption),
x + θt passes for θ large enough, and one sweep that rounds downwards says whether it does.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import _core
from ..check.quantity import Work
from .long_run import NoConvergenceError
from .settings import Settings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]

__all__ = ["absorbed_value"]


def absorbed_value(matrix: _core.Matrix, rates: csr_array, lower: Floats, upper: Floats, settings: Settings) -> Work:
    """Fill in the bounds where they are NaN: the transient states, from all of which the others are reached."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    start = perf_counter()
    open_states = np.flatnonzero(np.isnan(lower))
    closed = np.flatnonzero(~np.isnan(lower))
    least, most = lower[closed].min(), upper[closed].max()
    rows = rates[open_states]
    inner = (diags_array(rows.sum(axis=1)) - rows[:, open_states]).tocsc()
    outer = rows[:, closed]
    right = np.stack([outer @ lower[closed], outer @ upper[closed], np.ones(len(open_states))], axis=1)
    solution = splu(inner).solve(right)
    time = np.zeros(len(lower))
    time[open_states] = 2 * solution[:, 2]
    for known, guess, sign in ((lower, solution[:, 0], -1.0), (upper, solution[:, 1], 1.0)):
        guessed = known.copy()
        guessed[open_states] = guess
        moved = _shifted(matrix, guessed, time, sign, open_states, settings)
        known[open_states] = np.clip(moved[open_states], least, most)
    return Work("absorption", f"sparse direct, {len(open_states):,} transient states", 1, perf_counter() - start)


def _shifted(
    matrix: _core.Matrix, guess: Floats, time: Floats, sign: float, states: npt.NDArray[np.intp], settings: Settings
) -> Floats:
    """The guess, moved up (or down) until its drift says that it is a bound."""
    low, high = np.empty(len(guess)), np.empty(len(guess))
    shift = 0.0
    for _ in range(60):
        moved = guess + sign * shift * time
        _core.drift_bounds(matrix, None, None, moved, low, high, settings.n_threads)
        worst = float(high[states].max() if sign > 0 else -low[states].min())
        if worst <= 0:
            return moved
        if not np.isfinite(worst):
            break
        shift = 2 * shift + 2 * worst
    raise NoConvergenceError("the equations of the transient states are too badly conditioned for a direct solver")
