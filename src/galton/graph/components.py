"""Strongly connected components of a model (Tarjan 1972; Pearce 2016).

The edges of a state are those of all its choices together. The search is in ``src/core/graph/components.cpp``.
"""

from __future__ import annotations

import numpy as np

from .. import backend
from ..backend.components import Components
from ..device.arrays import namespace, offsets
from ..model.sparse import Mask, Model
from .small import at_home_if_small

__all__ = ["bottom_components", "strongly_connected_components"]


@at_home_if_small
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
    return backend.of(model.columns).graph.strong_components(model, within, choices)


@at_home_if_small
def bottom_components(model: Model, within: Mask | None = None) -> Components:
    """The bottom components among the states in ``within``: those that no edge leaves.

    Their states are where a chain ends up; ``component`` is -1 elsewhere.
    """
    found = strongly_connected_components(model, within)
    xp, bottom = namespace(model.columns), found.bottom
    inside = found.component >= 0
    inside[inside] = bottom[found.component[inside]]
    numbers = xp.cumsum(bottom, dtype=np.int32) - np.int32(1)
    component = xp.full(model.n_states, -1, dtype=np.int32)
    component[inside] = numbers[found.component[inside]]
    order = found.order[inside[found.order]]
    starts = offsets(found.sizes[bottom], np.int32)
    return Components(component, order, starts, found.trivial[bottom], bottom[bottom])
