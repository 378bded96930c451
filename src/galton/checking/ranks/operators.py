"""``P``, ``R``, ``T`` and ``S`` across ranks: which question goes to which solver.

What a property says is found out as on one machine (:mod:`..operators`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from ...lang.expressions import Expression
from ...lang.properties import (
    Cumulative,
    ExpectedTime,
    Given,
    Instantaneous,
    LongRun,
    Optimum,
    Probability,
    SteadyState,
    UnaryPath,
)
from ...lang.properties import Reward as RewardOperator
from ...lang.rendering import render
from ...model.sparse import Mask, Rewards
from ...solve.settings import Settings
from .. import paths
from ..bounded.question import WideError, are_close
from ..inspection import interval_of, optimum_of, rewarded_path, step_count
from ..intervals import Numbers, Truth
from ..operators import _answer, _complement, _is_qualitative, _meant, _terms, _threshold
from ..quantity import Quantity, Work
from ..unbounded.rewards import rewards_by_row
from . import bounded, unbounded
from .linear import linear_goal, linear_probability, linear_zero_one

if TYPE_CHECKING:
    from .evaluation import RankEvaluation

__all__ = ["expected_time", "probability", "reward", "steady_state"]


def probability(evaluation: RankEvaluation, formula: Probability) -> Truth | Numbers:
    """Return the value of ``P … [ path ]`` in every state of this rank."""
    bound, optimum = _threshold(evaluation, formula), optimum_of(formula, _terms(evaluation))
    path = None if isinstance(formula.path, Given) else paths.shape(formula.path)
    if path is None or paths.is_budget(path):
        raise evaluation.refuse("conditions" if path is None else "budgets", formula.span)
    if _is_for_ever(path) and _is_qualitative(formula.comparison, bound):
        assert formula.comparison is not None
        zero, one = _zero_and_one(evaluation, path, optimum)
        return Truth.exactly({">": ~zero, "<=": zero, ">=": one, "<": ~one}[formula.comparison.operator])
    found = evaluation.solved(formula, _path_probability(evaluation, formula, path, optimum))
    return _answer(formula.comparison, found, bound)


def _is_for_ever(path: paths.Path | paths.Linear) -> TypeGuard[paths.Until | paths.Linear]:
    return isinstance(path, paths.Linear) or (isinstance(path, paths.Until) and path.bound is None)


def _dual(optimum: Optimum | None) -> Optimum | None:
    return optimum and ("min" if optimum == "max" else "max")


def _zero_and_one(
    evaluation: RankEvaluation, path: paths.Until | paths.Linear, optimum: Optimum | None
) -> tuple[Mask, Mask]:
    if isinstance(path, paths.Linear):
        return linear_zero_one(evaluation, path.formula, optimum)
    through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
    if path.negated:
        zero, one = evaluation.graph.zero_and_one(through, goal, _dual(optimum))
        return one, zero
    _warn_if_empty(evaluation, goal, path)
    return evaluation.graph.zero_and_one(through, goal, optimum)


def _path_probability(
    evaluation: RankEvaluation, formula: Probability, path: paths.Path | paths.Linear, optimum: Optimum | None
) -> Quantity:
    graph, settings = evaluation.graph, evaluation.settings_for(formula)
    if isinstance(path, paths.Linear):
        return linear_probability(evaluation, path.formula, optimum, settings)
    if isinstance(path, paths.Now):
        now = evaluation.mask(path.states).astype(np.float64)
        return Quantity(now, now, "evaluation")
    if isinstance(path, paths.Next):
        return _accepted(evaluation, bounded.next_step(graph, evaluation.mask(path.states), optimum, settings))
    through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
    if not path.negated:
        _warn_if_empty(evaluation, goal, path)
    which = _dual(optimum) if path.negated else optimum
    low, high, timed = interval_of(path, _terms(evaluation))
    if low == 0 and high is None:
        return unbounded.until(graph, through, goal, which, settings, negated=path.negated)
    if timed:
        found = bounded.timed_until(graph, through, goal, low, math.inf if high is None else high, settings)
    else:
        found = bounded.bounded_until(
            graph, through, goal, int(low), None if high is None else int(high), which, settings
        )
    return _accepted(evaluation, _complement(found) if path.negated else found)


def _accepted(evaluation: RankEvaluation, found: Quantity) -> Quantity:
    """What steps came to, if its bounds are as close as asked for in the initial states of all ranks."""
    world, initial = evaluation.world, evaluation.part.initial
    lower, upper = found.lower[initial], found.upper[initial]
    if not world.all(are_close(lower, upper, evaluation.settings)):
        raise WideError.after(found.iterations, world.greatest((upper - lower).max(initial=0.0)))
    return found


def _warn_if_empty(evaluation: RankEvaluation, goal: Mask, path: paths.Until) -> None:
    """Say that there is no goal, unless there may be one behind states that leave the path, where exploration ended."""
    world = evaluation.world
    if world.any(goal.any()):
        return
    if not (evaluation.model.info.get("cut") and world.any((~evaluation.mask(path.through)).any())):
        evaluation.warnings.append(f"no state satisfies {render(path.goal)}, so it is never reached")


def reward(evaluation: RankEvaluation, formula: RewardOperator) -> Truth | Numbers:
    """Return the value of ``R{…} … [ objective ]`` in every state of this rank."""
    bound, optimum = _threshold(evaluation, formula), optimum_of(formula, _terms(evaluation))
    _, structure = _meant(evaluation, formula)
    parts = [part for part in (structure.state, structure.choice) if part is not None]
    if evaluation.world.any(any((part < 0).any() for part in parts)):
        raise evaluation.refuse("rewards below zero", formula.span)
    if evaluation.world.any(any((~np.isfinite(part)).any() for part in parts)):
        raise evaluation.refuse("infinite rewards", formula.span)
    found = _objective(evaluation, formula, structure, optimum, evaluation.settings_for(formula))
    return _answer(formula.comparison, evaluation.solved(formula, found), bound)


def _objective(
    evaluation: RankEvaluation, formula: RewardOperator, structure: Rewards, optimum: Optimum | None, settings: Settings
) -> Quantity:
    graph, model, objective = evaluation.graph, evaluation.part, formula.objective
    constants, source = evaluation.program.constants, evaluation.source
    match objective:
        case Cumulative(None):
            return unbounded.total_reward(graph, rewards_by_row(model, structure), optimum, settings)
        case Cumulative(limit) if limit is not None:
            if model.is_continuous:
                time = paths.time(limit, constants, source)
                return _accepted(evaluation, bounded.cumulative_time(graph, structure, time, settings))
            count, rows = step_count(objective, _terms(evaluation)), rewards_by_row(model, structure)
            return _accepted(evaluation, bounded.cumulative_steps(graph, rows, count, optimum, settings))
        case Instantaneous(moment):
            if model.is_continuous:
                time = paths.time(moment, constants, source)
                return _accepted(evaluation, bounded.instantaneous_time(graph, structure, time, settings))
            count = paths.whole(moment, constants, source)
            return _accepted(evaluation, bounded.instantaneous_steps(graph, structure, count, optimum, settings))
        case LongRun():
            return _long_run(evaluation, structure, optimum, settings, formula)
    return _until_settled(evaluation, objective, structure, optimum, settings)


def _until_settled(
    evaluation: RankEvaluation, formula: Expression, structure: Rewards, optimum: Optimum | None, settings: Settings
) -> Quantity:
    path = rewarded_path(formula, _terms(evaluation))
    work: tuple[Work, ...] = ()
    if isinstance(path, paths.Linear):
        goal, work = linear_goal(evaluation, path.formula)
    elif isinstance(path, paths.Until) and isinstance(formula, UnaryPath):
        goal = evaluation.mask(path.goal)
        _warn_if_empty(evaluation, goal, path)
    else:
        raise evaluation.refuse("rewards until the end of such a path", formula.span)
    finite = unbounded.surely(evaluation.graph, goal, some_strategy=optimum == "min")
    rows = rewards_by_row(evaluation.model, structure)
    found = unbounded.reward_until(evaluation.graph, rows, goal, finite, optimum, settings)
    return replace(found, work=(*work, *found.work))


def expected_time(evaluation: RankEvaluation, formula: ExpectedTime) -> Truth | Numbers:
    """Return the value of ``T … [ F states ]`` in every state of this rank."""
    bound, optimum = _threshold(evaluation, formula), optimum_of(formula, _terms(evaluation))
    structure = Rewards(state=np.ones(evaluation.model.n_states))
    found = _until_settled(evaluation, formula.path, structure, optimum, evaluation.settings_for(formula))
    return _answer(formula.comparison, evaluation.solved(formula, found), bound)


def steady_state(evaluation: RankEvaluation, formula: SteadyState) -> Truth | Numbers:
    """Return the value of ``S … [ states ]`` in every state of this rank."""
    bound, optimum = _threshold(evaluation, formula), optimum_of(formula, _terms(evaluation))
    indicator = evaluation.mask(formula.states).astype(np.float64)
    found = _long_run(evaluation, Rewards(state=indicator), optimum, evaluation.settings_for(formula), formula)
    lower, upper = np.clip(found.lower, 0.0, 1.0), np.clip(found.upper, 0.0, 1.0)
    found = Quantity(lower, upper, found.method, found.work)
    return _answer(formula.comparison, evaluation.solved(formula, found), bound)


def _long_run(
    evaluation: RankEvaluation,
    structure: Rewards,
    optimum: Optimum | None,
    settings: Settings,
    formula: RewardOperator | SteadyState,
) -> Quantity:
    if optimum is not None:
        raise evaluation.refuse("long-run averages of MDPs", formula.span)
    from .long_run import long_run

    return long_run(evaluation.graph, structure, settings)
