"""``A [ path ]`` and ``E [ path ]`` of CTL: about all paths or some path, whatever their probability.

Every transition counts as a choice of its own; then "some path" is "some strategy", and graph analysis has the answer
(Clarke, Emerson and Sistla 1986, through de Alfaro 1997).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..backend.rows import best_choice, every_successor_in
from ..device.arrays import namespace
from ..lang.properties import PathQuantifier
from ..model.sparse import Mask, Model
from ..model.values import Values
from . import paths
from .inspection import Terms, quantified_path

if TYPE_CHECKING:
    from .evaluation import Evaluation


def quantified(evaluation: Evaluation, formula: PathQuantifier) -> Mask:
    """The states where all paths, or some path, satisfy a formula."""
    path = quantified_path(formula, Terms(evaluation.model.type, evaluation.program.constants, evaluation.source))
    if isinstance(path, paths.Now):
        return evaluation.mask(path.states)
    model = evaluation.model
    every = formula.quantifier == "A"
    if isinstance(path, paths.Next):
        states = evaluation.mask(path.states)
        return ~_some_next(model, ~states) if every else _some_next(model, states)
    through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
    # A path that avoids the until for ever exists for some, where all paths do not have it; and the other way round.
    if every == path.negated:
        found = _some_until(model, through, goal)
        return ~found if every else found
    avoided = _some_avoids(model, through, goal)
    return ~avoided if every else avoided


def free(model: Model) -> Model:
    """The same graph with every transition a choice."""
    starts = model.row_starts if model.choice_starts is None else model.row_starts[model.choice_starts]
    xp, count = namespace(model.columns), model.n_transitions
    return replace(
        model,
        type="mdp",
        choice_starts=starts.astype(np.int32),
        row_starts=xp.arange(count + 1, dtype=np.int64),
        values=Values(plain=xp.ones(count)),
        rewards={},
        choice_actions=None,
    )


def _some_until(model: Model, through: Mask, goal: Mask) -> Mask:
    from ..graph import can_reach

    return can_reach(model, through, goal)


def _some_avoids(model: Model, through: Mask, goal: Mask) -> Mask:
    from ..graph import can_avoid

    return can_avoid(free(model), through, goal)


def _some_next(model: Model, states: Mask) -> Mask:
    found: Mask = best_choice(model, ~every_successor_in(model, ~states), maximise=True)
    return found
