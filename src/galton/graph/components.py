"""Strongly connected components of a model (Tarjan 1972; Pearce 2016).

The edges of a state are those of all its choices together. The search is in ``src/core/graph/components.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from ..backend.cpu import matrix_of
from ..model.sparse import Int32s, Mask, Model
from .device import or_on_device

__all__ = ["Components", "bottom_components", "strongly_connected_components"]


@dataclass(frozen=True, eq=False, repr=False)
class Components:
    """Strongly connected components in the order in which they can be solved: successors first.

    Attributes
    ----------
    component
        ``(states,)`` int32: the component of each state, -1 for states outside. An edge that leaves a component leads
        to one with a smaller number.
    order
        ``(states inside,)`` int32: the states sorted by component, each component in post-order of a depth-first
        search, so that successors mostly come before the states that lead to them.
    starts
        ``(count + 1,)`` int32: component c is ``order[starts[c]:starts[c + 1]]``.
    trivial
        ``(count,)`` mask of the components that are one state without an edge to itself.
    bottom
        ``(count,)`` mask of the components that no edge leaves, not even to a state outside.
    """

    component: Int32s
    order: Int32s
    starts: Int32s
    trivial: Mask
    bottom: Mask

    @property
    def count(self) -> int:
        """The number of components."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> Int32s:
        """``(count,)`` the number of states of each component."""
        return np.diff(self.starts)

    def states(self, component: int) -> Int32s:
        """The states of one component."""
        return self.order[self.starts[component] : self.starts[component + 1]]

    def __repr__(self) -> str:
        largest = int(self.sizes.max()) if self.count else 0
        return f"<{self.count:,} components of {len(self.order):,} states, the largest of {largest:,}>"


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
