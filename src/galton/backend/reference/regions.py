"""What the kernel of ``src/core/regions/regions.cpp`` computes, in NumPy: the readable specification, and slow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]

__all__ = ["region_steps"]


def region_steps(
    states: Int32s,
    starts: npt.NDArray[np.int64],
    terms: Int32s,
    group_starts: npt.NDArray[np.int64],
    columns: Int32s,
    coefficients: Floats,
    rates: Floats,
    weights: Floats,
    x: Floats,
    watched: Int32s,
    *,
    forward: bool = False,
) -> tuple[Floats, Floats, Floats]:
    """Steps from ``x``, ``(states, 2, boxes)``: below and above all that the values can be for rates within bounds.

    A row has groups of transitions, whose rates are coefficients times the same term. ``rates`` is ``(terms, 2,
    boxes)``, the least and greatest values of each term, already divided by the uniformisation rate; ``weights`` is
    ``(steps, boxes)``. Returns the last vector, the weighted sum of those before it in the watched states, and the
    largest changes of the last step, ``(2, boxes)``. Entries are of differences to the row's
    own state, or ``forward`` of values as they are.
    """
    row_of = np.repeat(np.arange(len(states)), np.diff(starts))
    group_of = np.repeat(np.arange(len(terms)), np.diff(group_starts))
    total = np.zeros((len(watched), *x.shape[1:]))
    change = np.zeros(x.shape[1:])
    for weight in weights:
        total += weight * x[watched]
        gain = np.zeros((len(terms), *x.shape[1:]))
        own = 0.0 if forward else x[states[row_of[group_of]]]
        np.add.at(gain, group_of, coefficients[:, None, None] * (x[columns] - own))
        least, most = rates[terms, 0], rates[terms, 1]
        chosen = np.empty_like(gain)
        chosen[:, 0] = np.where(gain[:, 0] > 0, least, most)
        chosen[:, 1] = np.where(gain[:, 1] > 0, most, least)
        moved = np.zeros((len(states), *x.shape[1:]))
        np.add.at(moved, row_of, chosen * gain)
        after = x.copy()
        after[states] += moved
        change = np.abs(after - x).max(axis=0, initial=0.0)
        x = after
    return x, total, change
