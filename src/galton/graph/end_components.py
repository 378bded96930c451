"""Maximal end components (de Alfaro 1997): where a strategy of an MDP can stay for ever.

They are where bounds from above do not come down by themselves and where total rewards become infinite. The search is
in ``src/core/graph/end_components.cpp``.
"""

from __future__ import annotations

from .. import backend
from ..backend.components import EndComponents
from ..model.sparse import Mask, Model
from .small import at_home_if_small

__all__ = ["maximal_end_components"]


@at_home_if_small
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
    return backend.of(model.columns).graph.end_components(model, within, choices)
