"""Strongly connected components of a model (Tarjan 1972; Pearce 2016).

The edges of a state are those of all its choices together. The search is in ``src/core/graph_components.cpp``.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from ..backend.components import Components
from ..backend.cpu.matrix import matrix_of
from ..model.sparse import Mask, Model
from .device import or_on_device

__all__ = ["bottom_components", "strongly_connected_components"]


@or_on_device
def strongly_connected_components(model: Model, within: Mask | None = None, choices: Mask | None = None) -> Components:
    """The strongly connected components of the states in ``within`` and the edges of the ``choices``.

    Parameters
    ----------
    model
        Any model.
    within
        ``(states,)`` mask: only these states; None for all.
    choices
        ``(choices,)`` mask: only the edges of these choices; None for all.

    >>> ring = Model.from_matrix("dtmc", [[0, 1, 0], [0.5, 0, 0.5], [0, 0, 1]])
    >>> found = strongly_connected_components(ring)
    >>> found.component.tolist(), found.bottom.tolist(), found.trivial.tolist()
    ([1, 1, 0], [True, False], [False, False])
    """
    return Components(*_core.strong_components(matrix_of(model), within, choices))


@or_on_device
def bottom_components(model: Model, within: Mask | None = None) -> Components:
    """The bottom components among the states in ``within``: those that no edge leaves.

    Their states are where a chain ends up; ``component`` is -1 elsewhere.
    """
    found = strongly_connected_components(model, within)
    sizes = found.sizes
    kept = np.repeat(found.bottom, sizes)
    numbers = np.append(np.where(found.bottom, np.cumsum(found.bottom) - 1, -1), -1).astype(np.int32)
    starts = np.concatenate(([0], np.cumsum(sizes[found.bottom]))).astype(np.int32)
    count = len(starts) - 1
    return Components(
        numbers[found.component],
        found.order[kept],
        starts,
        found.trivial[found.bottom],
        np.ones(count, dtype=np.bool_),
    )
