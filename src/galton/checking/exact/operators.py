"""``P``, ``R``, ``T`` and ``S`` in exact numbers: which question goes to which function.

Doubles answer the same question first, about sets of states that were decided exactly. What they say is the guess that
exact arithmetic begins with, and the check of what it ends with.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...lang.properties import (
    Comparison,
    Cumulative,
    ExpectedTime,
    Instantaneous,
    LongRun,
    Optimum,
    Probability,
    Reward,
    SteadyState,
    UnaryPath,
)
from ...lang.rendering import render
from ...model.sparse import Mask, Rewards
from .. import paths
from ..evaluation import UndefinedError
from ..inspection import Terms, interval_of, named_structure, optimum_of, rewarded_path, step_count
from ..quantity import Quantity, Work
from . import steps
from .expressions import Compiler
from .long_run import best_average, chain_average
from .model import ExactModel, Gains
from .numbers import INFINITY, Number, Rational, less, name_of_arithmetic, rational
from .proposals import SETTINGS, agree, proposed
from .unbounded import reachability_reward, total_reward, until

if TYPE_CHECKING:
    from ...automata import Automaton
    from ...lang.expressions import Expression
    from ..automaton_product import Product
    from .evaluation import ExactEvaluation, Values

__all__ = ["solved"]

Operator = Probability | Reward | ExpectedTime | SteadyState
_FLIPPED: dict[Optimum | None, Optimum | None] = {None: None, "min": "max", "max": "min"}


def solved(evaluation: ExactEvaluation, formula: Operator) -> Values:
    """The value of an operator in every state: a number, or whether it meets the threshold."""
    from .evaluation import Values

    values = _Asked(evaluation, formula).values()
    if formula.comparison is None:
        return Values("double", values)
    bound = _threshold(evaluation, formula, formula.comparison)
    return Values("bool", [_meets(value, formula.comparison.operator, bound) for value in values])


def _threshold(evaluation: ExactEvaluation, formula: Operator, comparison: Comparison) -> Rational:
    paths.threshold(formula, evaluation.program.constants, evaluation.source)  # is it one?
    value = Compiler(evaluation.source, {}, evaluation.constants).constant(comparison.bound)
    assert value is not None
    return rational(value) if isinstance(value, int) else value


def _meets(value: Number, operator: str, bound: Rational) -> bool:
    match operator:
        case "<":
            return less(value, bound)
        case "<=":
            return not less(bound, value)
        case ">":
            return less(bound, value)
    return not less(value, bound)


class _Asked:
    """One operator."""

    def __init__(self, evaluation: ExactEvaluation, formula: Operator) -> None:
        self._evaluation, self._formula = evaluation, formula
        self._model, self._graph = evaluation.exact, evaluation.model
        self._terms = Terms(self._graph.nature, evaluation.program.constants, evaluation.source)
        self._optimum = optimum_of(formula, self._terms)
        self._watchman = evaluation.watchman
        self._work: list[Work] = []
        self._length = self._graph.n_states
        self._signed = False  # whether there are rewards below zero, which doubles do not take all at once

    def values(self) -> list[Number]:
        """What it is in every state."""
        match self._formula:
            case Probability(path):
                values = self._probability(paths.shape(path))
            case Reward():
                values = self._reward(self._formula)
            case ExpectedTime(path):
                ones = Rewards(state=np.ones(self._graph.n_states))
                values = self._path_reward(path, lambda model: model.of_states(_everywhere(model)), ones)
            case SteadyState(states):
                values = self._average(self._model.of_states(self._mask(states)))
        self._evaluation.note(self._formula, self._work)
        return values

    def _mask(self, expression: Expression) -> Mask:
        return self._evaluation.mask(expression)

    def _goal(self, path: paths.Until) -> Mask:
        """The goal; it is told if there is none, unless one may be behind states that leave the path."""
        found = self._mask(path.goal)
        if not found.any() and not (self._model.model.info.get("cut") and not self._mask(path.through).all()):
            self._evaluation.warnings.append(f"no state satisfies {render(path.goal)}, so it is never reached")
        return found

    def _exactly(
        self, doubles: Callable[[], Quantity], exact: Callable[[Quantity | None], list[Number]]
    ) -> list[Number]:
        """The exact values, from what doubles propose and inside of their bounds."""
        start = time.perf_counter()
        found = None if self._signed else proposed(doubles)
        half = time.perf_counter()
        how = "none" if found is None else f"{found.method}, {found.iterations:,} sweeps"
        self._work.append(Work("proposal in doubles", how, 0, half - start))
        values = exact(found)
        self._work.append(
            Work(
                "exact arithmetic",
                f"{name_of_arithmetic()}, {self._digits(values):,} digits",
                0,
                time.perf_counter() - half,
            )
        )
        agree(values, found, render(self._formula), self._model.numbers.deviation, self._length)
        return values

    def _digits(self, values: list[Number]) -> int:
        """Digits of the longest denominator in an initial state."""
        places = self._graph.initial.tolist() if len(values) == self._graph.n_states else [0]
        found = [int(values[i].denominator).bit_length() for i in places if not isinstance(values[i], float)]  # type: ignore[union-attr]
        return math.ceil(max(found, default=1) * math.log10(2))

    # Probabilities.

    def _probability(self, path: paths.Path | paths.Linear) -> list[Number]:
        match path:
            case paths.Linear(formula):
                return self._linear(formula)
            case paths.Now(states):
                return [rational(int(holds)) for holds in self._mask(states).tolist()]
            case paths.Next(states):
                return self._next(self._mask(states))
        optimum = _FLIPPED[self._optimum] if path.negated else self._optimum
        low, high, _ = interval_of(path, self._terms)
        bounded = low != 0 or high is not None
        through, goal = self._mask(path.through), self._mask(path.goal) if path.negated else self._goal(path)
        values: list[Number] = []
        if high is None:
            values = self._until(self._model, through, goal, optimum)
        if bounded:
            values = self._bounded(through, goal, int(low), None if high is None else int(high), optimum, values)
        return [1 - value for value in values] if path.negated else values

    def _until(self, model: ExactModel, through: Mask, goal: Mask, optimum: Optimum | None) -> list[Number]:
        from ..unbounded.until import until as until_in_doubles

        return self._exactly(
            lambda: until_in_doubles(model.model, through, goal, optimum, SETTINGS),
            lambda found: until(model, through, goal, optimum, _values(found), self._watchman),
        )

    def _bounded(
        self, through: Mask, goal: Mask, low: int, high: int | None, optimum: Optimum | None, later: list[Number]
    ) -> list[Number]:
        from ..bounded.within_steps import bounded_until

        self._length += low if high is None else high
        return self._exactly(
            lambda: bounded_until(self._graph, through, goal, low, high, optimum, SETTINGS),
            lambda _: steps.bounded_until(self._model, through, goal, low, high, optimum, later, self._watchman),
        )

    def _next(self, goal: Mask) -> list[Number]:
        from ..bounded.single_step import jump_probability
        from ..bounded.within_steps import next_step

        def doubles() -> Quantity:
            if self._graph.has_rates:
                return jump_probability(self._graph, goal)
            return next_step(self._graph, goal, self._optimum, SETTINGS)

        return self._exactly(doubles, lambda _: steps.next_step(self._model, goal, self._optimum, self._watchman))

    def _linear(self, formula: Expression) -> list[Number]:
        from ...automata.acceptance import complement

        automaton, found = self._product(formula)
        least = self._optimum == "min"
        goal = found.accepting(complement(automaton.acceptance) if least else automaton.acceptance)
        model = self._over(found)
        values = self._until(model, _everywhere(model), goal, self._optimum and "max")
        return [1 - values[place] if least else values[place] for place in found.starts.tolist()]

    def _product(self, formula: Expression, *, counting: bool = False) -> tuple[Automaton, Product]:
        """The automaton of a formula of linear temporal logic, and its product with the model."""
        from ..automaton_product import product
        from ..ltl import automaton_of

        automaton, states = automaton_of(formula, self._terms, counting=counting)
        masks = [self._mask(part) for part in states]
        return automaton, product(self._graph, automaton, masks, np.arange(self._graph.n_states, dtype=np.int32))

    def _over(self, product: Product) -> ExactModel:
        self._length = product.model.n_states
        return ExactModel(product.model, self._model.numbers, product.rows, product.states)

    # Rewards.

    def _reward(self, formula: Reward) -> list[Number]:
        name = named_structure(formula, self._evaluation.program.reward_names, self._terms)
        rewards = self._graph.rewards[name]
        self._refuse_negative(name, rewards, formula)
        gains = self._model.of_structure(name, rewards)
        match formula.objective:
            case Cumulative(None):
                return self._total(gains)
            case Cumulative() as bounded:
                return self._cumulative(gains, step_count(bounded, self._terms))
            case Instantaneous(moment):
                count = paths.whole(moment, self._terms.constants, self._terms.source)
                return self._instantaneous(name, rewards, count)
            case LongRun():
                return self._average(gains)
        return self._path_reward(formula.objective, lambda model: model.of_structure(name, rewards), rewards)

    def _total(self, gains: Gains) -> list[Number]:
        from ..unbounded.rewards import total_reward as total_in_doubles

        return self._exactly(
            lambda: total_in_doubles(self._graph, gains.doubles, self._optimum, SETTINGS),
            lambda found: total_reward(self._model, gains, self._optimum, _values(found), self._watchman),
        )

    def _cumulative(self, gains: Gains, count: int) -> list[Number]:
        from ..bounded.within_steps import cumulative_steps

        self._length += count
        return self._exactly(
            lambda: cumulative_steps(self._graph, gains.doubles, count, self._optimum, SETTINGS),
            lambda _: steps.cumulative(self._model, gains, count, self._optimum, self._watchman),
        )

    def _instantaneous(self, name: str, rewards: Rewards, count: int) -> list[Number]:
        from ..bounded.within_steps import instantaneous_steps

        self._length += count
        values = [self._model.numbers.state_reward(name, state) for state in range(self._graph.n_states)]
        return self._exactly(
            lambda: instantaneous_steps(self._graph, Rewards(state=rewards.state), count, self._optimum, SETTINGS),
            lambda _: steps.instantaneous(self._model, values, count, self._optimum, self._watchman),
        )

    def _path_reward(
        self, formula: Expression, gains_of: Callable[[ExactModel], Gains], rewards: Rewards
    ) -> list[Number]:
        path = rewarded_path(formula, self._terms)
        if isinstance(path, paths.Linear):
            return self._linear_reward(path.formula, gains_of, rewards)
        if isinstance(path, paths.Now):
            return [rational(0) if holds else INFINITY for holds in self._mask(path.states).tolist()]
        if isinstance(path, paths.Next):
            return self._next_reward(gains_of(self._model), self._mask(path.states))
        goal, model = self._goal(path), self._model
        if not isinstance(formula, UnaryPath):
            from ...reduce.submodels import absorbing

            ended = ~self._mask(path.through) & ~goal
            cut, rewards, rows = absorbing(self._graph, ended, rewards)
            model = ExactModel(cut, self._model.numbers, rows)
        return self._until_reward(model, gains_of(model), rewards, goal)

    def _until_reward(self, model: ExactModel, gains: Gains, doubles: Rewards, goal: Mask) -> list[Number]:
        from ..unbounded.rewards import reachability_reward as reward_in_doubles

        return self._exactly(
            lambda: reward_in_doubles(model.model, doubles, goal, self._optimum, SETTINGS),
            lambda found: reachability_reward(model, gains, goal, self._optimum, _values(found), self._watchman),
        )

    def _linear_reward(
        self, formula: Expression, gains_of: Callable[[ExactModel], Gains], rewards: Rewards
    ) -> list[Number]:
        automaton, found = self._product(formula, counting=True)
        sure = np.array([automaton.accepts_everything(state) for state in range(automaton.n_states)])
        doubles = Rewards(
            state=None if rewards.state is None else rewards.state[found.states],
            choice=None if rewards.choice is None else rewards.choice[found.rows],
        )
        model = self._over(found)
        values = self._until_reward(model, gains_of(model), doubles, sure[found.after])
        return [values[place] for place in found.starts.tolist()]

    def _next_reward(self, gains: Gains, goal: Mask) -> list[Number]:
        from ..bounded.single_step import next_reward

        return self._exactly(
            lambda: next_reward(self._graph, gains.doubles, goal, self._optimum),
            lambda _: steps.next_reward(self._model, gains, goal, self._optimum, self._watchman),
        )

    def _average(self, gains: Gains) -> list[Number]:
        from dataclasses import replace

        from ..best_long_run import best_long_run
        from ..long_run import long_run

        optimum = self._optimum
        if optimum is None:
            return self._exactly(
                lambda: long_run(self._graph, gains.doubles, SETTINGS),
                lambda found: chain_average(self._model, gains, _values(found), self._watchman),
            )
        wanted = replace(SETTINGS, strategy=True)
        return self._exactly(
            lambda: best_long_run(self._graph, gains.doubles, optimum, wanted),
            lambda found: best_average(self._model, gains, optimum, found, self._watchman),
        )

    # What is refused.

    def _refuse_negative(self, name: str, rewards: Rewards, formula: Reward) -> None:
        parts = [part for part in (rewards.state, rewards.choice) if part is not None and part.size]
        if not any(part.min() < 0 for part in parts):
            return
        bounded = isinstance(formula.objective, Cumulative) and formula.objective.bound is not None
        if not self._graph.has_choices and (bounded or isinstance(formula.objective, (Instantaneous, LongRun))):
            self._signed = True
            return
        message = f'the reward structure "{name}" has negative rewards, such as {min(float(p.min()) for p in parts):g}'
        hint = "in chains, I=, C<= and S are answered"
        raise UndefinedError(message, self._terms.source, formula.span, hint)


def _values(found: Quantity | None) -> np.ndarray | None:
    return None if found is None else found.value


def _everywhere(model: ExactModel) -> Mask:
    return np.ones(model.model.n_states, dtype=np.bool_)
