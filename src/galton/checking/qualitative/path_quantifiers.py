"""``A [ path ]`` and ``E [ path ]`` of CTL: about all paths or some path, whatever their probability.

Every transition counts as a choice of its own; then "some path" is "some strategy", and graph analysis has the answer
(Clarke, Emerson and Sistla 1986, through de Alfaro 1997). Formulas of linear temporal logic need the product with an
automaton besides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...backend.rows import best_choice, every_successor_in
from ...device.arrays import namespace
from ...lang.properties import PathQuantifier
from ...model.sparse import Mask, Model
from ...model.values import Values
from .. import paths
from ..inspection import Terms, quantified_path

if TYPE_CHECKING:
    from ..evaluation import Evaluation


def quantified(evaluation: Evaluation, formula: PathQuantifier) -> Mask:
    """Return the states where all paths (``A``), or some path (``E``), satisfy a path formula."""
    path = quantified_path(formula, Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source))
    if isinstance(path, paths.Now):
        return evaluation.mask(path.states)
    model = evaluation.model
    every = formula.quantifier == "A"
    if isinstance(path, paths.Linear):
        from ..ltl import some_path

        found = some_path(evaluation, free(model), path.formula, negated=every)
        return ~found if every else found
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
    """Return the model with each transition made a choice of its own, so that a strategy picks a path."""
    starts = model.row_starts[model.row_groups]
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
    from ...graph import can_reach

    return can_reach(model, through, goal)


def _some_avoids(model: Model, through: Mask, goal: Mask) -> Mask:
    from ...graph import can_avoid

    return can_avoid(free(model), through, goal)


def _some_next(model: Model, states: Mask) -> Mask:
    found: Mask = best_choice(model, ~every_successor_in(model, ~states), maximise=True)
    return found
