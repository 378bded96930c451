"""States where something is certain within a number of steps: known from the graph, without rounding.

Probabilities that sum to 1 in truth need not do so when added up, and a property may ask for P>=1. One step is a pass
over the transitions, so only so many are made; a state that would be found later keeps its bounds, which hold anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ...backend.rows import best_choice, every_successor_in
from ...device.arrays import on_host
from ...model.sparse import Int32s, Mask, Model

Optimum = Literal["min", "max"] | None

__all__ = ["surely_after", "surely_within"]

WORK = 3e7  # transitions to look at


def surely_within(model: Model, through: Mask, goal: Mask, steps: int, optimum: Optimum, *, until: bool) -> Mask:
    """Find states from which all paths through ``through`` are in the goal after so many steps.

    With ``until``, a path may be in the goal sooner.

    For an MDP, all paths of some strategy if the optimum is ``"max"``, of every strategy otherwise. Maybe not all such
    states are found.
    """
    found = goal
    for _ in range(min(steps, _most_steps(model))):
        more = _step_earlier(model, through, goal, found, optimum, until=until)
        if np.array_equal(more, found):
            return found
        found, steps = more, steps - 1
    return found if until or steps == 0 else np.zeros_like(found)


def surely_after(
    model: Model,
    through: Mask,
    goal: Mask,
    steps: Sequence[int],
    states: Int32s,
    optimum: Optimum,
    *,
    until: bool,
) -> Mask:
    """Whether :func:`surely_within` finds some states, for many numbers of steps that ascend: ``(steps, states)``."""
    found, settled, most = goal, False, _most_steps(model)
    sure, made = np.zeros((len(steps), len(states)), dtype=np.bool_), 0
    for place, count in enumerate(steps):
        while made < min(count, most) and not settled:
            more = _step_earlier(model, through, goal, found, optimum, until=until)
            settled = bool(np.array_equal(more, found))
            found, made = more, made + 1
        if until or settled or made == count:
            sure[place] = on_host(found[states])
    return sure


def _most_steps(model: Model) -> int:
    return 1 + int(WORK / max(model.n_transitions, 1))


def _step_earlier(model: Model, through: Mask, goal: Mask, found: Mask, optimum: Optimum, *, until: bool) -> Mask:
    before = best_choice(model, every_successor_in(model, found), maximise=optimum == "max")
    return (before & through) | goal if until else before & through
