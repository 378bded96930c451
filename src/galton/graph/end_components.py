"""Maximal end components (de Alfaro 1997): where a strategy of an MDP can stay for ever.

They are where bounds from above do not come down by themselves and where total rewards become infinite. The search is
in ``src/core/graph/end_components.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from ..backend.cpu import matrix_of
from ..model.sparse import Int32s, Mask, Model
from .device import or_on_device

__all__ = ["EndComponents", "maximal_end_components"]


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


@or_on_device
def maximal_end_components(model: Model, within: Mask | None = None, choices: Mask | None = None) -> EndComponents:
    """The maximal end components of the states in ``within`` and the ``choices``.

    A single state is one only if it has a choice that stays in it.

    Parameters
    ----------
    model
        Any model; in a chain, the end components are the bottom components.
    within
        ``(states,)`` mask: only these states; None for all.
    choices
        ``(choices,)`` mask: only these choices; None for all.

    >>> waiting = Model.from_matrix("mdp", [[1, 0], [0, 1], [0.5, 0.5]], row_groups=[0, 2, 3])
    >>> found = maximal_end_components(waiting)
    >>> found.component.tolist(), found.staying.tolist()
    ([0, 0], [True, True, True])
    >>> maximal_end_components(waiting, choices=np.array([True, False, True])).component.tolist()
    [0, -1]
    """
    return EndComponents(*_core.end_components(matrix_of(model), within, choices))
