"""Maximal end components (de Alfaro 1997): where a strategy of an MDP can stay for ever.

They are where bounds from above do not come down by themselves and where total rewards become infinite. The search is
in ``src/core/graph_end_components.cpp``.
"""

from __future__ import annotations

from .. import _core
from ..backend.components import EndComponents
from ..backend.cpu.matrix import matrix_of
from ..model.sparse import Mask, Model
from .device import or_on_device

__all__ = ["maximal_end_components"]


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
