"""Elimination without subtraction (Grassmann, Taksar and Heyman 1985): systems and long-run averages, directly.

Requires: not too many transitions between the states that are left on the way.
Guarantees: bounds whose relative distance is known beforehand, however stiff the chain, however hard to leave, however
small the result, periodic or not: see ``src/core/solve/eliminate.hpp``, and
``src/core/long_run/average.hpp`` for small dense chains.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from .settings import Settings
from .solution import NumericError

Floats = npt.NDArray[np.float64]

__all__ = ["average", "averages", "carry_through"]

OPERATIONS = 2 * 10**9  # some ten seconds
AT_ONCE = 10**7  # of these, between two looks at signals
BUSY, DONE, CLOSED = range(3)  # how an elimination stands


def carry_through(elimination: _core.Elimination, settings: Settings, *, keep: int = 0) -> None:
    """Eliminate all states but ``keep``."""
    status, spent = BUSY, 0
    while status == BUSY:
        if spent > OPERATIONS:
            raise NumericError(f"{elimination.left:,} states with too many transitions between them are left")
        status = elimination.advance(AT_ONCE, keep)
        spent += AT_ONCE
        settings.tell(step="eliminate", left=elimination.left)
    if status == CLOSED:
        raise NumericError("some states are never left")


def average(matrix: _core.Matrix, reward: Floats, settings: Settings) -> tuple[float, float]:
    """Bounds on the long-run average of a reward of either sign in an irreducible chain, sparse and of any size."""
    below = above = 0.0
    for sign in (1.0, -1.0):
        part = np.maximum(sign * reward, 0.0)
        if not part.any():
            continue
        elimination = _core.Elimination.of_chain(matrix, part)
        carry_through(elimination, settings, keep=1)
        low, high = elimination.average()
        if sign > 0:
            below, above = low, high
        else:
            below, above = float(np.nextafter(below - high, -np.inf)), float(np.nextafter(above - low, np.inf))
    return below, above


def averages(
    matrix: _core.Matrix, reward: Floats, members: npt.NDArray[np.int32], starts: npt.NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Lower and upper bounds on the long-run average of a reward in each of many components.

    Parameters
    ----------
    reward
        ``(states,)`` of either sign.
    members, starts
        The states of component k are ``members[starts[k]]`` up to ``members[starts[k + 1]]``.

    Returns
    -------
    Two arrays, one entry per component; infinite where the numbers left the range of doubles.
    """
    lower, upper = _positive(matrix, np.maximum(reward, 0.0), members, starts)
    if (reward < 0).any():
        less, more = _positive(matrix, np.maximum(-reward, 0.0), members, starts)
        lower, upper = np.nextafter(lower - more, -np.inf), np.nextafter(upper - less, np.inf)
    return lower, upper


def _positive(
    matrix: _core.Matrix, reward: Floats, members: npt.NDArray[np.int32], starts: npt.NDArray[np.int64]
) -> tuple[Floats, Floats]:
    values, errors = np.empty(len(starts) - 1), np.empty(len(starts) - 1)
    _core.eliminate(matrix, reward, members, starts, values, errors)
    errors += 2.0**-52  # the rewards themselves are sums that were rounded
    known = np.isfinite(errors)
    values, errors = np.where(known, values, 0.0), np.where(known, errors, 0.0)
    lower = np.nextafter(values * (1 - errors), -np.inf)
    upper = np.nextafter(values * (1 + errors), np.inf)
    zero = known & (values == 0)  # and only then: nothing that is earned comes out as zero
    lower[zero] = upper[zero] = 0.0
    return np.where(known, np.maximum(lower, 0.0), 0.0), np.where(known, upper, np.inf)
