"""States where something is certain within a number of steps: known from the graph, without rounding.

Probabilities that sum to 1 in truth need not do so when added up, and a property may ask for P>=1. One step is a pass
over the transitions, so only so many are made; a state that would be found later keeps its bounds, which hold anyway.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...backend.rows import best_choice, every_successor_in
from ...model.sparse import Mask, Model

__all__ = ["surely_within"]

WORK = 3e7  # transitions to look at


def surely_within(
    model: Model, through: Mask, goal: Mask, steps: int, optimum: Literal["min", "max"] | None, *, until: bool
) -> Mask:
    """Find states from which all paths through ``through`` are in the goal after so many steps.

    With ``until``, a path may be in the goal sooner.

    For an MDP, all paths of some strategy if the optimum is ``"max"``, of every strategy otherwise. Maybe not all such
    states are found.
    """
    found = goal
    for _ in range(min(steps, 1 + int(WORK / max(model.n_transitions, 1)))):
        before = best_choice(model, every_successor_in(model, found), maximise=optimum == "max")
        more = (before & through) | goal if until else before & through
        if np.array_equal(more, found):
            return found
        found, steps = more, steps - 1
    return found if until or steps == 0 else np.zeros_like(found)
