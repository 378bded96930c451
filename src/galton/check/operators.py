"""``P``, ``R``, ``T`` and ``S``: which question to which solver.

``G``, ``W`` and release are one minus an until with the optimum turned around (:mod:`.paths`). A bound on an MDP is
meant for all strategies, so ``P>=p`` asks for the minimum and ``P<=p`` for the maximum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..lang.expressions import Expression
from ..lang.properties import (
    Comparison,
    Cumulative,
    ExpectedTime,
    Instantaneous,
    LongRun,
    Optimum,
    Probability,
    SteadyState,
    UnaryPath,
)
from ..lang.properties import Reward as RewardOperator
from ..lang.rendering import render
from ..lang.source import LanguageError, UnsupportedError
from ..lang.stream import nearest
from ..model.sparse import Mask, Model, Rewards
from . import intervals, paths
from .evaluation import UndefinedError
from .intervals import Numbers, Truth
from .quantity import Quantity, Work

if TYPE_CHECKING:
    from .evaluation import Evaluation


def probability(evaluation: Evaluation, formula: Probability) -> Truth | Numbers:
    """``P … [ path ]``."""
    bound = _threshold(evaluation, formula.comparison, most=1.0)
    path = paths.normalise(formula.path, evaluation.source)
    optimum = _optimum(evaluation, formula, "P")
    quantity = evaluation.solved(formula, _path_probability(evaluation, path, optimum))
    return _answer(formula.comparison, quantity, bound)


def reward(evaluation: Evaluation, formula: RewardOperator) -> Truth | Numbers:
    """``R{…} … [ objective ]``."""
    bound = _threshold(evaluation, formula.comparison)
    structure = _structure(evaluation, formula)
    optimum = _optimum(evaluation, formula, "R")
    quantity = evaluation.solved(formula, _objective(evaluation, formula, structure, optimum))
    return _answer(formula.comparison, quantity, bound)


def expected_time(evaluation: Evaluation, formula: ExpectedTime) -> Truth | Numbers:
    """Storm's ``T … [ F states ]``: a reward of 1 for every step or unit of time."""
    bound = _threshold(evaluation, formula.comparison)
    optimum = _optimum(evaluation, formula, "T")
    structure = Rewards(state=np.ones(evaluation.model.n_states))
    quantity = evaluation.solved(formula, _path_reward(evaluation, formula.path, structure, optimum))
    return _answer(formula.comparison, quantity, bound)


def steady_state(evaluation: Evaluation, formula: SteadyState) -> Truth | Numbers:
    """``S … [ states ]``: the long-run average of being there."""
    from .long_run import long_run

    _refuse_mdp(evaluation, formula, "the long-run behaviour of an MDP, S, is not supported")
    bound = _threshold(evaluation, formula.comparison, most=1.0)
    indicator = evaluation.mask(formula.states).astype(np.float64)
    quantity = long_run(evaluation.model, Rewards(state=indicator), evaluation.settings)
    return _answer(formula.comparison, evaluation.solved(formula, _within(quantity, 1.0)), bound)


# Thresholds and optima.


def _threshold(evaluation: Evaluation, comparison: Comparison | None, most: float = math.inf) -> float | None:
    """What an operator's value is compared with."""
    if comparison is None:
        return None
    span = comparison.bound.span
    value = float(paths.constant(comparison.bound, evaluation.program.constants, evaluation.source))
    if not 0 <= value <= most:
        what = "a probability lies between 0 and 1" if most == 1 else "expected rewards and times are not negative"
        raise LanguageError(f"{what}, and this bound is {value:g}", evaluation.source, span)
    return value


def _answer(comparison: Comparison | None, quantity: Quantity, bound: float | None) -> Truth | Numbers:
    found = Numbers(quantity.lower, quantity.upper)
    if comparison is None or bound is None:
        return found
    return intervals.compare(comparison.operator, found, Numbers.exactly(bound))


def _optimum(
    evaluation: Evaluation, formula: Probability | RewardOperator | ExpectedTime, letter: str
) -> Optimum | None:
    """Over which strategies: none for a chain, and the worst ones where a bound must hold for all."""
    if evaluation.model.type != "mdp":
        return None
    if formula.optimum:
        return formula.optimum
    if formula.comparison is None:
        message = f"an MDP has no single value for {letter}=?: it depends on the strategy"
        hint = f"ask for {letter}min=? or {letter}max=?"
        raise LanguageError(message, evaluation.source, formula.span, hint)
    return "min" if formula.comparison.operator in (">", ">=") else "max"


def _refuse_mdp(evaluation: Evaluation, formula: Expression, message: str) -> None:
    if evaluation.model.type == "mdp":
        raise UnsupportedError(message, evaluation.source, formula.span)


# Probabilities of paths.


def _path_probability(evaluation: Evaluation, path: paths.Path, optimum: Optimum | None) -> Quantity:
    model, settings = evaluation.model, evaluation.settings
    match path:
        case paths.Now(states):
            return _exactly(evaluation.mask(states).astype(np.float64))
        case paths.Next(states):
            from .steps import next_step

            return _within(next_step(model, evaluation.mask(states), optimum, settings), 1.0)
        case paths.Until(negated=True):
            dual: Optimum | None = optimum and ("min" if optimum == "max" else "max")
            return _complement(_until(evaluation, path, dual))
    return _until(evaluation, path, optimum)


def _until(evaluation: Evaluation, path: paths.Until, optimum: Optimum | None) -> Quantity:
    model, settings, source = evaluation.model, evaluation.settings, evaluation.source
    constants = evaluation.program.constants
    if path.bound is not None and path.bound.reward is not None:
        message = "paths bounded by a reward, F^{rew{…}<=k}, are not supported"
        raise UnsupportedError(message, source, path.goal.span)
    timed = path.bound is not None and model.type == "ctmc"
    low, high = paths.times(path.bound, constants, source) if timed else paths.steps(path.bound, constants, source)
    through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
    if not path.negated:
        _warn_if_empty(evaluation, goal, path.goal)
    if low == 0 and (high is None or high == math.inf):
        from .until import until

        found = until(model, through, goal, optimum, settings)
    elif timed:
        from .timed import timed_until

        found = timed_until(model, through, goal, low, math.inf if high is None else high, settings)
    else:
        from .steps import bounded_until

        found = bounded_until(model, through, goal, int(low), None if high is None else int(high), optimum, settings)
    return _within(found, 1.0)


def _warn_if_empty(evaluation: Evaluation, goal: Mask, formula: Expression) -> None:
    if not goal.any():
        evaluation.warnings.append(f"no state satisfies {render(formula)}, so it is never reached")


# Rewards.


def _structure(evaluation: Evaluation, formula: RewardOperator) -> Rewards:
    """The reward structure that is meant: by name, by number from 1, or the first."""
    structures = evaluation.model.rewards
    source, span = evaluation.source, formula.span
    if not structures:
        raise LanguageError("the model has no rewards", source, span)
    match formula.structure:
        case None:
            name = next(iter(structures))
        case str() as name:
            if name not in structures:
                raise LanguageError(f'unknown reward structure "{name}"', source, span, nearest(name, structures))
        case index:
            number = paths.constant(index, evaluation.program.constants, source)
            if not 1 <= number <= len(structures):
                have = "1 reward structure" if len(structures) == 1 else f"{len(structures)} reward structures"
                raise LanguageError(f"the model has {have}, and this is number {number}", source, index.span)
            name = list(structures)[int(number) - 1]
    found = structures[name]
    _refuse_negative(evaluation, found, name, formula)
    return found


def _refuse_negative(evaluation: Evaluation, structure: Rewards, name: str, formula: RewardOperator) -> None:
    for part in (structure.state, structure.choice):
        if part is not None and part.size and part.min() < 0:
            which = f'the reward structure "{name}"' if name else "the reward structure"
            message = f"{which} has negative rewards, such as {part.min():g}; they are not supported"
            raise UndefinedError(message, evaluation.source, formula.span)


def _objective(
    evaluation: Evaluation, formula: RewardOperator, structure: Rewards, optimum: Optimum | None
) -> Quantity:
    model, settings = evaluation.model, evaluation.settings
    objective, constants, source = formula.objective, evaluation.program.constants, evaluation.source
    match objective:
        case Cumulative(None):
            from .expected import total_reward

            return total_reward(model, structure, optimum, settings)
        case Cumulative(limit) if limit is not None:
            if model.type == "ctmc":
                from .timed import cumulative_time

                return cumulative_time(model, structure, paths.time(limit, constants, source), settings)
            from .steps import cumulative_steps

            count = paths.whole(limit, constants, source) - objective.strict
            if count < 0:
                raise LanguageError("no number of steps is below 0", source, limit.span)
            return cumulative_steps(model, structure, count, optimum, settings)
        case Instantaneous(moment):
            only_states = Rewards(state=structure.state)  # taking a transition takes no time: PRISM leaves them out
            if model.type == "ctmc":
                from .timed import instantaneous_time

                return instantaneous_time(model, only_states, paths.time(moment, constants, source), settings)
            from .steps import instantaneous_steps

            return instantaneous_steps(model, only_states, paths.whole(moment, constants, source), optimum, settings)
        case LongRun():
            from .long_run import long_run

            _refuse_mdp(evaluation, formula, "long-run rewards of an MDP, R [ S ], are not supported")
            return long_run(model, structure, settings)
    return _path_reward(evaluation, objective, structure, optimum)


def _path_reward(evaluation: Evaluation, formula: Expression, structure: Rewards, optimum: Optimum | None) -> Quantity:
    """The reward collected until a path formula is settled; infinite where it may stay unsettled or fail."""
    from .expected import reachability_reward

    model, settings, source = evaluation.model, evaluation.settings, evaluation.source
    path = paths.normalise(formula, source)
    if isinstance(path, paths.Now):
        return _exactly(np.where(evaluation.mask(path.states), 0.0, np.inf))
    if isinstance(path, paths.Next) or path.negated or path.bound is not None:
        raise _unrewarded(path, formula, evaluation)
    goal = evaluation.mask(path.goal)
    _warn_if_empty(evaluation, goal, path.goal)
    if not isinstance(formula, UnaryPath):
        from .transformation import absorbing

        through = evaluation.mask(path.through)
        model, structure = absorbing(model, ~through & ~goal, structure)
    return reachability_reward(model, structure, goal, optimum, settings)


def _unrewarded(path: paths.Path, formula: Expression, evaluation: Evaluation) -> LanguageError:
    if isinstance(path, paths.Until) and path.negated:
        message = f"{render(formula)} is not co-safe: no finite path makes it true, so rewards until then mean nothing"
        return LanguageError(message, evaluation.source, formula.span)
    what = "next" if isinstance(path, paths.Next) else "bounded"
    return UnsupportedError(f"rewards until a {what} formula are not supported", evaluation.source, formula.span)


# Quantities.


def _exactly(values: intervals.Floats) -> Quantity:
    return Quantity(values, values, "evaluation")


def _complement(quantity: Quantity) -> Quantity:
    """One minus a probability."""
    if not quantity.proved:
        value = 1 - quantity.value
        return replace(quantity, lower=value, upper=value)
    one = Numbers.exactly(1.0)
    found = one - Numbers(quantity.lower, quantity.upper)
    return replace(quantity, lower=np.maximum(found.lower, 0.0), upper=np.minimum(found.upper, 1.0))


def _within(quantity: Quantity, most: float) -> Quantity:
    """Bounds that rounding carried past what is possible are cut there."""
    if quantity.lower.min(initial=0.0) >= 0 and quantity.upper.max(initial=0.0) <= most:
        return quantity
    upper = np.clip(quantity.upper, 0.0, most)
    return replace(quantity, lower=np.clip(quantity.lower, 0.0, most), upper=upper)
