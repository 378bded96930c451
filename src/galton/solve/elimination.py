"""Long-run averages of small irreducible chains, directly (Grassmann, Taksar and Heyman 1985).

Requires: closed, irreducible components with a few thousand states at most.
Guarantees: bounds whose relative distance is known beforehand (about 1e-9 for 1000 states), however stiff the chain,
however small the average, periodic or not: see ``src/core/elimination.hpp``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core

Floats = npt.NDArray[np.float64]

__all__ = ["averages"]


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
