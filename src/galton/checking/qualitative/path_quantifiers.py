"""``A [ path ]`` and ``E [ path ]`` of CTL: about all paths or some path, whatever their probability.

Every transition counts as a choice of its own; then "some path" is "some strategy", and graph analysis has the answer
(Clarke, Emerson and Sistla 1986, through de Alfaro 1997). Bounds are counted in steps over sets of states. Formulas of
linear temporal logic need the product with an automaton besides.
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
from ..inspection import Terms, interval_of, quantified_path
from .zero_one import zero_one_steps

if TYPE_CHECKING:
    from ..evaluation import Evaluation


def quantified(evaluation: Evaluation, formula: PathQuantifier) -> Mask:
    """Return the states where all paths (``A``), or some path (``E``), satisfy a path formula."""
    terms = Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source)
    path = quantified_path(formula, terms)
    if isinstance(path, paths.Now):
        return evaluation.mask(path.states)
    model = evaluation.model
    every = formula.quantifier == "A"
    if isinstance(path, paths.Linear):
        if evaluation.settings.fair:
            from ..fair_linear import some_fair_path as some_path
        else:
            from ..ltl import some_path

        found = some_path(evaluation, free(model), path.formula, negated=every)
        return ~found if every else found
    if isinstance(path, paths.Next):
        states = evaluation.mask(path.states)
        return ~_some_next(model, ~states) if every else _some_next(model, states)
    through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
    low, high, _ = interval_of(path, terms)
    # A path that avoids the until for ever exists for some, where all paths do not have it; and the other way round.
    wanted = every == path.negated
    fair = evaluation.settings.fair
    if low == 0 and high is None:
        found = _some_until(model, through, goal) if wanted else _some_avoids(model, through, goal, fair=fair)
    else:
        end = None if high is None else int(high)
        found = _some_within(model, through, goal, int(low), end, avoids=not wanted, fair=fair)
    return ~found if every else found


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


def _some_avoids(model: Model, through: Mask, goal: Mask, *, fair: bool) -> Mask:
    if fair:
        from ..fairness import some_fair_path_avoids

        return some_fair_path_avoids(model, free(model), through, goal)
    from ...graph import can_avoid

    return can_avoid(free(model), through, goal)


def _some_within(
    model: Model, through: Mask, goal: Mask, low: int, high: int | None, *, avoids: bool, fair: bool
) -> Mask:
    """Where some path is in the goal after ``low`` to ``high`` steps, and before in ``through``; or some is not."""
    if not avoids:
        return ~zero_one_steps(free(model), through, goal, low, high, "max")[0]
    later = None
    if fair and high is None:
        misses = _some_avoids(model, through, goal, fair=True)
        later = misses, ~misses
    return ~zero_one_steps(free(model), through, goal, low, high, "min", later)[1]


def _some_next(model: Model, states: Mask) -> Mask:
    found: Mask = best_choice(model, ~every_successor_in(model, ~states), maximise=True)
    return found
