"""``P``, ``R``, ``T`` and ``S``: which question goes to which solver.

============================  ============================================  ==========================================
question                      DTMC, MDP                                     CTMC
============================  ============================================  ==========================================
``P [ X a ]``                 ``bounded.within_steps.next_step``            ``bounded.single_step.jump_probability``
``P [ a U b ]``               ``unbounded.until.until``                     ``unbounded.until.until``
``P [ a U[i,j] b ]``          ``bounded.within_steps.bounded_until``        ``bounded.within_time.timed_until``
``P``, ``R`` of budgets       ``budgets``                                   ``budgets``, of steps
``P [ path || condition ]``   ``conditional``                               ``conditional``, without bounds
``P``, ``R`` of LTL           ``ltl``                                       ``ltl``, without bounds
``P>0``, ``P>=1`` of these    ``qualitative.zero_one``                      ``qualitative.zero_one``
``R [ X a ]``                 ``bounded.single_step.next_reward``           ``bounded.single_step.next_reward``
``R [ F a ]``, ``T [ F a ]``  ``unbounded.rewards.reachability_reward``     ``unbounded.rewards.reachability_reward``
``R [ C ]``                   ``unbounded.rewards.total_reward``            ``unbounded.rewards.total_reward``
``R [ C<=k ]``                ``bounded.within_steps.cumulative_steps``     ``bounded.within_time.cumulative_time``
``R [ I=k ]``                 ``bounded.within_steps.instantaneous_steps``  ``bounded.within_time.instantaneous_time``
``S [ a ]``, ``R [ S ]``      ``long_run.long_run``;                        ``long_run.long_run``
                              of an MDP, ``best_long_run.best_long_run``
============================  ============================================  ==========================================

``F`` is an until; ``G``, ``W`` and release are one minus an until with the optimum turned around (:mod:`.paths`). A
bound on an MDP is meant for all strategies, so ``P>=p`` asks for the minimum and ``P<=p`` for the maximum.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..device.arrays import how_many, namespace
from ..lang.expressions import Expression
from ..lang.properties import (
    Comparison,
    Cumulative,
    CumulativeBudget,
    ExpectedTime,
    Given,
    Instantaneous,
    LongRun,
    Optimum,
    Probability,
    SteadyState,
    UnaryPath,
)
from ..lang.properties import Reward as RewardOperator
from ..lang.rendering import render
from ..lang.source import GaltonError
from ..model.sparse import Mask, Model, Rewards
from ..solve.settings import Settings
from . import intervals, paths
from .evaluation import UndefinedError
from .inspection import (
    Interval,
    Terms,
    interval_of,
    named_structure,
    optimum_of,
    rewarded_path,
    step_count,
)
from .intervals import Numbers, Truth
from .quantity import Quantity, Work

if TYPE_CHECKING:
    from ..solve.settings import Settings
    from .evaluation import Evaluation


def probability(evaluation: Evaluation, formula: Probability) -> Truth | Numbers:
    """Return the value of ``P … [ path ]`` in every state: bounds on it, or whether it meets the threshold."""
    bound = _threshold(evaluation, formula)
    optimum = optimum_of(formula, _terms(evaluation))
    if isinstance(formula.path, Given):
        from .conditional import conditional_probability

        found = conditional_probability(evaluation, formula.path, optimum, evaluation.settings_for(formula))
        return _answer(formula.comparison, evaluation.solved(formula, found), bound)
    path = paths.shape(formula.path)
    wanted = formula is evaluation.strategy_of or paths.is_budget(path)  # whose bounds tell what is certain
    if not wanted and not isinstance(path, paths.Now) and _is_qualitative(formula.comparison, bound):
        return Truth.exactly(_decided(evaluation, formula, path, optimum))
    quantity = evaluation.solved(formula, _path_probability(evaluation, formula, path, optimum))
    return _answer(formula.comparison, quantity, bound)


def reward(evaluation: Evaluation, formula: RewardOperator) -> Truth | Numbers:
    """Return the value of ``R{…} … [ objective ]`` in every state: bounds on it, or whether it meets the threshold."""
    bound = _threshold(evaluation, formula)
    optimum = optimum_of(formula, _terms(evaluation))
    name, structure = _meant(evaluation, formula)
    if _has_negative(structure) and _may_be_negative(evaluation, formula):
        quantity = evaluation.solved(formula, _signed(evaluation, formula, structure), signed=True)
        return _answer(formula.comparison, quantity, bound)
    _refuse_negative(evaluation, structure, name, formula)
    quantity = evaluation.solved(formula, _objective(evaluation, formula, structure, optimum))
    return _answer(formula.comparison, quantity, bound)


def expected_time(evaluation: Evaluation, formula: ExpectedTime) -> Truth | Numbers:
    """Return the value of Storm's ``T … [ F states ]``: a reward of 1 for every step or unit of time."""
    bound = _threshold(evaluation, formula)
    optimum = optimum_of(formula, _terms(evaluation))
    model = evaluation.model
    structure = Rewards(state=namespace(model.columns).ones(model.n_states))
    found = _path_reward(evaluation, formula.path, structure, optimum, evaluation.settings_for(formula))
    quantity = evaluation.solved(formula, found)
    return _answer(formula.comparison, quantity, bound)


def steady_state(evaluation: Evaluation, formula: SteadyState) -> Truth | Numbers:
    """Return the value of ``S … [ states ]``: the long-run average of being in these states."""
    bound = _threshold(evaluation, formula)
    optimum = optimum_of(formula, _terms(evaluation))
    indicator = evaluation.mask(formula.states).astype(np.float64)
    settings = evaluation.settings_for(formula)
    quantity = _long_run(evaluation.focused_model, Rewards(state=indicator), optimum, settings)
    return _answer(formula.comparison, evaluation.solved(formula, _within(quantity, 1.0)), bound)


# What a property says.


def _terms(evaluation: Evaluation) -> Terms:
    return Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source)


def _threshold(
    evaluation: Evaluation, formula: Probability | RewardOperator | ExpectedTime | SteadyState
) -> float | None:
    return paths.threshold(formula, evaluation.program.constants, evaluation.source)


def _answer(comparison: Comparison | None, quantity: Quantity, bound: float | None) -> Truth | Numbers:
    found = Numbers(quantity.lower, quantity.upper)
    if comparison is None or bound is None:
        return found
    return intervals.compare(comparison.operator, found, Numbers.exactly(bound))


# Probabilities of paths.


def _path_probability(
    evaluation: Evaluation, formula: Probability, path: paths.Path | paths.Linear, optimum: Optimum | None
) -> Quantity:
    match path:
        case paths.Linear(linear) if optimum and evaluation.settings.fair:
            from .fair_linear import fair_linear_probability

            found = fair_linear_probability(evaluation, linear, optimum, evaluation.settings_for(formula))
            return _within(found, 1.0)
        case paths.Linear(linear):
            from .ltl import linear_probability

            return _within(linear_probability(evaluation, linear, optimum, evaluation.settings_for(formula)), 1.0)
        case paths.Now(states):
            return _exactly(evaluation.mask(states).astype(np.float64))
        case paths.Next(states):
            return _next(evaluation, formula, evaluation.mask(states), optimum)
        case paths.Until() if paths.is_budget(path):
            return _within_budgets(evaluation, formula, path, optimum)
        case paths.Until(negated=True):
            return _never(evaluation, formula, path, optimum)
    settings = evaluation.settings_for(formula)
    return _until(evaluation, path, interval_of(path, _terms(evaluation)), optimum, settings)


def _within_budgets(
    evaluation: Evaluation, formula: Probability, path: paths.Until, optimum: Optimum | None
) -> Quantity:
    from .budgets import budget_probability

    assert path.bound is not None
    through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
    settings = evaluation.settings_for(formula)
    if not path.negated:
        _warn_if_empty(evaluation, goal, path)
        return _within(budget_probability(evaluation, through, goal, path.bound, optimum, settings, formula), 1.0)
    dual: Optimum | None = optimum and ("min" if optimum == "max" else "max")
    return _complement(_within(budget_probability(evaluation, through, goal, path.bound, dual, settings, formula), 1.0))


def _never(evaluation: Evaluation, formula: Probability, path: paths.Until, optimum: Optimum | None) -> Quantity:
    """The probability that an until does not happen, with all its digits where it is small."""
    settings, interval = evaluation.settings_for(formula), interval_of(path, _terms(evaluation))
    dual: Optimum | None = optimum and ("min" if optimum == "max" else "max")
    low, high, timed = interval
    if low == 0 and high is None:
        return _until(evaluation, path, interval, dual, settings)
    always = path.through == paths.TRUE
    if low == 0 and high is not None and (always or optimum is None):
        # Either nothing happens until the end, or the path leaves for where it cannot happen any more.
        goal, end = path.goal, (high, high, timed)
        stay = paths.negation(goal) if always else paths.both(path.through, paths.negation(goal))
        staying = _until(evaluation, paths.Until(stay, stay), end, optimum, settings)
        if always:
            return staying
        left = paths.both(paths.negation(path.through), paths.negation(goal))
        leaving = _until(evaluation, paths.Until(stay, left), interval, None, settings)
        both = Numbers(staying.lower, staying.upper) + Numbers(leaving.lower, leaving.upper)
        return _within(replace(leaving, lower=both.lower, upper=both.upper, work=staying.work + leaving.work), 1.0)
    found = _complement(_until(evaluation, path, interval, dual, settings))
    # One minus a number close to 1 loses digits: ask for as many more.
    initial = evaluation.focused_model.initial
    least = float(found.lower[initial].min())
    if least > 0 and (found.upper - found.lower)[initial].max() > 2 * settings.eps * least:
        with suppress(GaltonError):
            found = _complement(_until(evaluation, path, interval, dual, settings.tighter(2 / least)))
    # What is certain is so exactly.
    zero, one = _zero_and_one(evaluation, path, optimum)
    lower, upper = (np.where(zero, 0.0, np.where(one, 1.0, bound)) for bound in (found.lower, found.upper))
    return replace(found, lower=lower, upper=upper)


def _next(evaluation: Evaluation, formula: Probability, states: Mask, optimum: Optimum | None) -> Quantity:
    if evaluation.model.has_rates:
        from .bounded.single_step import jump_probability

        return jump_probability(evaluation.model, states)
    from .bounded.within_steps import next_step

    settings = evaluation.settings_for(formula)
    found = next_step(evaluation.focused_model, states, optimum, settings, strategy=settings.strategy)
    if formula.comparison is not None:
        from .bounded.single_step import unscaled_step

        found = unscaled_step(found, evaluation.model, states, optimum)
    return _within(found, 1.0)


def _until(
    evaluation: Evaluation, path: paths.Until, interval: Interval, optimum: Optimum | None, settings: Settings
) -> Quantity:
    low, high, timed = interval
    through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
    if not path.negated:
        _warn_if_empty(evaluation, goal, path)
    model = evaluation.focused_model
    if low == 0 and high is None and settings.fair and optimum == "min":
        from .fairness import fair_until

        found = fair_until(model, through, goal, settings, negated=path.negated)
    elif low == 0 and high is None:
        from .unbounded.until import until

        found = until(model, through, goal, optimum, settings, negated=path.negated)
    elif timed:
        from .bounded.within_time import timed_until

        found = timed_until(model, through, goal, low, math.inf if high is None else high, settings)
    else:
        from .bounded.within_steps import bounded_until

        end, keep = None if high is None else int(high), settings.strategy
        settings = replace(settings, fair=settings.fair and end is None)  # any beginning can be gone on with fairly
        found = bounded_until(model, through, goal, int(low), end, optimum, settings, strategy=keep)
    return _within(found, 1.0)


def _warn_if_empty(evaluation: Evaluation, goal: Mask, path: paths.Until) -> None:
    """Say that there is no goal, unless there may be one behind states that leave the path, where exploration ended."""
    if how_many(goal) or (evaluation.model.info.get("cut") and not evaluation.mask(path.through).all()):
        return
    evaluation.warnings.append(f"no state satisfies {render(path.goal)}, so it is never reached")


# Rewards.


def structure_of(evaluation: Evaluation, formula: RewardOperator) -> Rewards:
    """Return the reward structure that an operator means; an error if it has negative rewards."""
    name, found = _meant(evaluation, formula)
    _refuse_negative(evaluation, found, name, formula)
    return found


def _meant(evaluation: Evaluation, formula: RewardOperator) -> tuple[str, Rewards]:
    name = named_structure(formula, evaluation.program.reward_names, _terms(evaluation))
    return name, evaluation.model.rewards[name]


def _parts(structure: Rewards) -> list[intervals.Floats]:
    return [part for part in (structure.state, structure.choice) if part is not None and part.size]


def _has_negative(structure: Rewards) -> bool:
    return any(part.min() < 0 for part in _parts(structure))


def _may_be_negative(evaluation: Evaluation, formula: RewardOperator) -> bool:
    """Whether an objective has a value with rewards of both signs: a mean, at a moment, until then or in the long run.

    Over an unbounded run, gains and losses need not add up to anything. And the best strategy of an MDP for the one is
    not that for the other.
    """
    bounded = isinstance(formula.objective, Cumulative) and formula.objective.bound is not None
    meaningful = bounded or isinstance(formula.objective, (Instantaneous, LongRun))
    return meaningful and not evaluation.model.has_choices


def _signed(evaluation: Evaluation, formula: RewardOperator, structure: Rewards) -> Quantity:
    """The mean of gains less the mean of losses, each with its own bounds; in a chain means are linear."""

    def part(sign: float) -> Rewards:
        xp = namespace(evaluation.model.columns)
        state, choice = (
            None if each is None else xp.maximum(sign * each, 0.0) + 0.0 for each in (structure.state, structure.choice)
        )
        return Rewards(state=state, choice=choice)

    gains, losses = (_objective(evaluation, formula, part(sign), None) for sign in (1.0, -1.0))
    work = gains.work + losses.work
    if not (gains.proved and losses.proved):
        value = gains.value - losses.value
        return replace(gains, lower=value, upper=value, work=work, proved=False)
    found = Numbers(gains.lower, gains.upper) - Numbers(losses.lower, losses.upper)
    return replace(gains, lower=found.lower, upper=found.upper, work=work)


def _refuse_negative(evaluation: Evaluation, structure: Rewards, name: str, formula: RewardOperator) -> None:
    if not _has_negative(structure):
        return
    least = min(float(part.min()) for part in _parts(structure))
    which = f'the reward structure "{name}"' if name else "the reward structure"
    why = "over runs without a bound, gains and losses need not add up to anything"
    if evaluation.model.has_choices:
        why = "for an MDP they are not supported"
    message = f"{which} has negative rewards, such as {least:g}: {why}"
    raise UndefinedError(message, evaluation.source, formula.span, "in chains, I=, C<= and S are answered")


def _objective(
    evaluation: Evaluation, formula: RewardOperator, structure: Rewards, optimum: Optimum | None
) -> Quantity:
    model, settings = evaluation.focused_model, evaluation.settings_for(formula)
    objective, constants, source = formula.objective, evaluation.program.constants, evaluation.source
    match objective:
        case Cumulative(None):
            if settings.fair and optimum == "min":
                from .fairness import fair_total_reward

                return fair_total_reward(model, structure, settings)
            from .unbounded.rewards import total_reward

            return total_reward(model, structure, optimum, settings)
        case Cumulative(limit) if limit is not None:
            if model.is_continuous:
                from .bounded.within_time import cumulative_time

                return cumulative_time(model, structure, paths.time(limit, constants, source), settings)
            from .bounded.within_steps import cumulative_steps

            count = step_count(objective, _terms(evaluation))
            return cumulative_steps(model, structure, count, optimum, settings, strategy=settings.strategy)
        case Instantaneous(moment):
            only_states = Rewards(state=structure.state)  # taking a transition takes no time: PRISM leaves them out
            if model.is_continuous:
                from .bounded.within_time import instantaneous_time

                return instantaneous_time(model, only_states, paths.time(moment, constants, source), settings)
            from .bounded.within_steps import instantaneous_steps

            count = paths.whole(moment, constants, source)
            return instantaneous_steps(model, only_states, count, optimum, settings, strategy=settings.strategy)
        case LongRun():
            return _long_run(model, structure, optimum, settings)
        case Given():
            from .conditional import conditional_reward

            name, _ = _meant(evaluation, formula)
            return conditional_reward(evaluation, objective, structure, name, optimum, settings)
        case CumulativeBudget(bound):
            from .budgets import budget_reward

            return budget_reward(evaluation, structure, bound, optimum, settings, formula)
    return _path_reward(evaluation, objective, structure, optimum, settings)


def _long_run(model: Model, structure: Rewards, optimum: Optimum | None, settings: Settings) -> Quantity:
    if optimum is None:
        from .long_run import long_run

        return long_run(model, structure, settings)
    from .best_long_run import best_long_run

    return best_long_run(model, structure, optimum, settings)


def _path_reward(
    evaluation: Evaluation, formula: Expression, structure: Rewards, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """The reward collected until a path formula is settled; infinite where it may stay unsettled or fail."""
    from .bounded.single_step import next_reward

    path = rewarded_path(formula, _terms(evaluation))
    if isinstance(path, paths.Linear):
        from .ltl import linear_reward

        return linear_reward(evaluation, path.formula, structure, optimum, settings)
    if isinstance(path, paths.Now):
        now = evaluation.mask(path.states)
        return replace(_exactly(np.where(now, 0.0, np.inf)), infinite=~now)
    if isinstance(path, paths.Next):
        return next_reward(evaluation.model, structure, evaluation.mask(path.states), optimum)
    goal = evaluation.mask(path.goal)
    _warn_if_empty(evaluation, goal, path)
    model = evaluation.focused_model
    if isinstance(formula, UnaryPath):
        return _reward_until(model, structure, goal, optimum, settings)
    from ..reduce.submodels import absorbing

    model, structure, rows = absorbing(model, ~evaluation.mask(path.through) & ~goal, structure)
    found = _reward_until(model, structure, goal, optimum, settings)
    if found.choices is None or rows is None:
        return found
    return replace(found, choices=np.where(found.choices < 0, -1, rows[found.choices]).astype(np.int32))


def _reward_until(
    model: Model, structure: Rewards, goal: Mask, optimum: Optimum | None, settings: Settings
) -> Quantity:
    if settings.fair and optimum == "max":
        from .fairness import fair_reward

        return fair_reward(model, structure, goal, settings)
    from .unbounded.rewards import reachability_reward

    return reachability_reward(model, structure, goal, optimum, settings)


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
    xp = namespace(found.lower)
    return replace(quantity, lower=xp.maximum(found.lower, 0.0), upper=xp.minimum(found.upper, 1.0))


# Whether something happens at all, or for certain.


def _is_qualitative(comparison: Comparison | None, bound: float | None) -> bool:
    return comparison is not None and (comparison.operator, bound) in ((">", 0.0), ("<=", 0.0), (">=", 1.0), ("<", 1.0))


def _decided(
    evaluation: Evaluation,
    formula: Probability,
    path: paths.Next | paths.Until | paths.Linear,
    optimum: Optimum | None,
) -> Mask:
    """Where ``P>0``, ``P<=0``, ``P>=1`` or ``P<1`` holds."""
    start = time.perf_counter()
    zero, one = _zero_and_one(evaluation, path, optimum)
    detail = f"{int(zero.sum()):,} states with probability 0, {int(one.sum()):,} with 1"
    work = Work("graph analysis", detail, seconds=time.perf_counter() - start)
    evaluation.solved(formula, Quantity(one.astype(float), (~zero).astype(float), "graph analysis", (work,)))
    assert formula.comparison is not None
    return {">": ~zero, "<=": zero, ">=": one, "<": ~one}[formula.comparison.operator]


def _zero_and_one(
    evaluation: Evaluation, path: paths.Next | paths.Until | paths.Linear, optimum: Optimum | None
) -> tuple[Mask, Mask]:
    """The states where the probability of a path is exactly 0, and exactly 1."""
    if isinstance(path, paths.Linear) and optimum and evaluation.settings.fair:
        from .fair_linear import fair_linear_zero_one

        return fair_linear_zero_one(evaluation, path.formula, optimum)
    if isinstance(path, paths.Linear):
        from .ltl import linear_zero_one

        return linear_zero_one(evaluation, path.formula, optimum)
    from .qualitative import zero_one

    model = evaluation.model
    if isinstance(path, paths.Next):
        return zero_one.zero_one_next(model, evaluation.mask(path.states), optimum)
    low, high, timed = interval_of(path, _terms(evaluation))
    through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
    if path.negated:
        optimum = optimum and ("min" if optimum == "max" else "max")
    else:
        _warn_if_empty(evaluation, goal, path)
    if timed:
        found = zero_one.zero_one_times(model, through, goal, low, math.inf if high is None else high)
    else:
        end, later = None if high is None else int(high), None
        if end is None and evaluation.settings.fair and optimum == "min":
            from .fairness import fair_zero_one

            later = fair_zero_one(model, through, goal)
        found = zero_one.zero_one_steps(model, through, goal, int(low), end, optimum, later)
    return found[::-1] if path.negated else found


def _within(quantity: Quantity, most: float) -> Quantity:
    """Bounds that rounding carried past what is possible are cut there."""
    if quantity.lower.min() >= 0 and quantity.upper.max() <= most:
        return quantity
    upper = np.clip(quantity.upper, 0.0, most)
    return replace(quantity, lower=np.clip(quantity.lower, 0.0, most), upper=upper)
