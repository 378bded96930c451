"""What a decomposition of the graph of a model looks like, on every device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.sparse import Int32s, Mask

__all__ = ["Components", "EndComponents"]


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


@dataclass(frozen=True, eq=False, repr=False)
class EndComponents:
    """Maximal end components, numbered by their first states.

    Attributes
    ----------
    component
        ``(states,)`` int32: the end component of each state, -1 for states in none.
    staying
        ``(choices,)`` mask of the choices of the end components: those whose every successor is in the component of
        the state they belong to.
    count
        The number of end components.
    """

    component: Int32s
    staying: Mask
    count: int

    def __repr__(self) -> str:
        return f"<{self.count:,} end components of {np.count_nonzero(self.component >= 0):,} states>"
