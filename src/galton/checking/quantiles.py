"""``quantile(min b, P>=0.9 [ F{"cost"}<=b done ])``: the least or greatest whole number for which a formula holds.

What a formula says about a bound is monotone in it, so that levels are looked at one after the other until the formula
changes its mind (Baier, Daum, Dubslaff, Klein and Klüppelholz, "Energy-utility quantiles", NFM 2014). Whether that will
ever happen is told by the value without the bound, which is the limit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..lang.expressions import Expression, Name
from ..lang.properties import (
    Comparison,
    Cumulative,
    CumulativeBudget,
    Optimum,
    Probability,
    Quantile,
    Reward,
    TimeBound,
)
from ..lang.rendering import render
from ..lang.resolution import parts
from ..lang.source import LanguageError, UnsupportedError
from ..solve.settings import FINEST, Settings
from . import intervals, paths
from .answering import about_initial
from .budgets.answer import METHOD, refuse_elsewhere, unfolded_reward, unfolded_until
from .budgets.bounds import Dimension, dimensions
from .budgets.costs import costs_of, step_costs
from .evaluation import Evaluation, UndecidedError
from .inspection import Terms, optimum_of
from .intervals import Numbers
from .operators import structure_of
from .quantity import Quantity, Work
from .result import Result, Solved

if TYPE_CHECKING:
    from ..lang.program import Program
    from ..lang.resolution import Question
    from ..model.sparse import Model
    from .budgets.unfolding import Unfolding

__all__ = ["answer_quantile", "sought_bound"]

MOST_LEVELS = 10**6
_TIGHTER = 1e3
_CLOSE = 1e-14  # of a limit: nearer than this no level tells more


def sought_bound(formula: Quantile, terms: Terms) -> tuple[TimeBound, bool]:
    """Return the bound that a quantile seeks, and whether it is an upper one; an error where there is none."""
    operator = formula.formula
    source = terms.source
    if not isinstance(operator, (Probability, Reward)) or operator.comparison is None:
        message = "a quantile needs a formula that holds or not"
        raise LanguageError(message, source, operator.span, "as in quantile(min b, P>=0.9 [ F<=b done ])")
    every = [part for part in parts(operator) if isinstance(part, Name) and part.name == formula.name]
    found = [bound for bound in _bounds(operator, terms) for end in (bound.low, bound.high) if _is(end, formula.name)]
    if not found or len(every) != 1:
        where = "nowhere" if not every else "more than once" if len(every) > 1 else "where it bounds nothing"
        message = f"a quantile seeks a bound on steps or rewards, and '{formula.name}' stands {where}"
        raise LanguageError(message, source, operator.span, f'as in F<={formula.name} or F{{"cost"}}<={formula.name}')
    bound = found[0]
    if bound.low is not None and bound.high is not None:
        raise UnsupportedError("quantiles of one end of an interval are not supported", source, operator.span)
    if terms.nature.is_continuous and not bound.is_budget:
        raise UnsupportedError(
            "quantiles of a time are not supported, only of steps and rewards", source, operator.span
        )
    return bound, bound.high is not None


def _is(expression: Expression | None, name: str) -> bool:
    return isinstance(expression, Name) and expression.name == name


def _bounds(operator: Probability | Reward, terms: Terms) -> tuple[TimeBound, ...]:
    if isinstance(operator, Probability):
        path = paths.shape(operator.path)
        return path.bound.all if isinstance(path, paths.Until) and path.bound is not None else ()
    match operator.objective:
        case Cumulative(limit, strict) if limit is not None:
            return (TimeBound(high=limit, high_strict=strict),)
        case CumulativeBudget(bound):
            return bound.all
    return ()


def answer_quantile(
    program: Program, model: Model, question: Question, formula: Quantile, settings: Settings, *, strategy: bool
) -> Result:
    """Answer a property that is ``quantile(…)``."""
    start = time.perf_counter()
    terms = Terms(model.nature, program.constants, question.source)
    bound, is_upper = sought_bound(formula, terms)
    knows = replace(program, constants={**program.constants, formula.name: 1})
    evaluation = Evaluation(model, knows, question.source, settings)
    refuse_elsewhere(evaluation, replace(settings, strategy=strategy), formula)
    while True:
        search = _Search(evaluation, formula, bound, is_upper, settings)
        try:
            value, note = search.found()
            break
        except UndecidedError:
            if settings.eps <= FINEST:
                raise
            settings = settings.tighter(min(_TIGHTER, settings.eps / FINEST))
    number = float("nan") if value is None else value
    return Result(
        formula=question.prop.text,
        value=number,
        lower=value,
        upper=value,
        about=about_initial(evaluation),
        method=METHOD,
        steps=(Solved(render(formula), METHOD, search.work),),
        warnings=tuple(dict.fromkeys([*model.warnings, *evaluation.warnings, *([note] if note else [])])),
        placement=model.placement,
        seconds=time.perf_counter() - start,
    )


@dataclass(eq=False)
class _Search:
    evaluation: Evaluation
    formula: Quantile
    bound: TimeBound
    is_upper: bool
    settings: Settings
    work: tuple[Work, ...] = ()

    @cached_property
    def operator(self) -> Probability | Reward:
        operator = self.formula.formula
        assert isinstance(operator, (Probability, Reward))
        return operator

    @cached_property
    def comparison(self) -> Comparison:
        assert self.operator.comparison is not None
        return self.operator.comparison

    @cached_property
    def path(self) -> paths.Until | None:
        if not isinstance(self.operator, Probability):
            return None
        path = paths.shape(self.operator.path)
        assert isinstance(path, paths.Until)
        return path

    @cached_property
    def threshold(self) -> float:
        evaluation = self.evaluation
        found = paths.threshold(self.operator, evaluation.program.constants, evaluation.source)
        assert found is not None
        return found

    @cached_property
    def optimum(self) -> Optimum | None:
        evaluation = self.evaluation
        terms = Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source)
        return optimum_of(self.operator, terms)

    @property
    def negated(self) -> bool:
        return self.path is not None and self.path.negated

    @property
    def dual(self) -> Optimum | None:
        """The optimum of the until itself."""
        if self.optimum is None or not self.negated:
            return self.optimum
        return "min" if self.optimum == "max" else "max"

    def found(self) -> tuple[int | None, str]:
        """The number, or None and why there is none."""
        # Does the formula come to hold as the bound grows, or does it cease to?
        comes = (self.comparison.operator in (">", ">=")) == (self.is_upper != self.negated)
        name, text = self.formula.name, render(self.operator)
        if comes == (self.formula.optimum == "max"):  # then only the first bound matters
            holds = self._holds_at_first()
            if self.formula.optimum == "min":
                return (0, "") if holds else (None, f"{text} holds for no {name}: larger bounds do not help")
            change = self._change(comes)
            if change is None:
                return None, f"{text} holds for no {name}"
            return None, f"{text} holds for every large {name}, so there is no greatest"
        change = self._change(comes)
        if comes:
            return (change, "") if change is not None else (None, f"{text} holds for no {name}")
        if change is None:
            return None, f"{text} holds for every {name}, so there is no greatest"
        return (change - 1, "") if change > 0 else (None, f"{text} holds for no {name}, not even for 0")

    def _holds_at_first(self) -> bool:
        for _, numbers in self._levels():
            return self._decided(numbers, 0)
        raise AssertionError("there is always a level 0")

    def _change(self, comes: bool) -> int | None:
        """The least bound at which the formula holds (``comes``) or does not; None if there is none."""
        limit = self._limit()
        if limit is not None:
            meant = self._truth(limit)
            if meant is not None and meant != comes:
                return None
        undecided: int | None = None
        for number, numbers in self._levels():
            holds = self._truth(numbers)
            if holds == comes:
                if undecided is not None:
                    raise self._undecided(undecided, numbers)
                return number
            if holds is None and undecided is None:
                undecided, last = number, numbers
                if limit is not None and self._is_close(last, limit):
                    raise self._undecided(undecided, last)
        if undecided is not None:
            raise self._undecided(undecided, numbers)
        return None

    def _is_close(self, numbers: Numbers, limit: Numbers) -> bool:
        apart = np.abs(limit.upper - numbers.lower).max()
        return bool(apart <= max(_CLOSE, self.settings.eps * 1e-3) * max(float(np.abs(limit.upper).max()), 1e-300))

    def _truth(self, numbers: Numbers) -> bool | None:
        found = intervals.compare(self.comparison.operator, numbers, Numbers.exactly(self.threshold))
        return True if np.all(found.must) else False if not np.all(found.may) else None

    def _decided(self, numbers: Numbers, number: int) -> bool:
        holds = self._truth(numbers)
        if holds is None:
            raise self._undecided(number, numbers)
        return holds

    def _undecided(self, number: int, numbers: Numbers) -> UndecidedError:
        low, high = float(np.min(numbers.lower)), float(np.max(numbers.upper))
        return UndecidedError(
            f"whether {render(self.operator)} holds for {self.formula.name}={number} cannot be decided: the value is "
            f"between {low!s} and {high!s}"
        )

    def _levels(self) -> Iterator[tuple[int, Numbers]]:
        """The least bound of each level, and the value there in the initial states, as long as it may change."""
        unfolding, unit = self._unfolding()
        initial = self.evaluation.model.initial
        strict = self.bound.high_strict if self.is_upper else self.bound.low_strict
        if self.is_upper and strict:
            yield 0, self._meant(np.zeros(len(initial)), np.zeros(len(initial)))
        same, before = 0, None
        try:
            for level in unfolding.levels():
                lower, upper = level.lower[initial].copy(), level.upper[initial].copy()
                yield self._least(level.units, unit, strict), self._meant(lower, upper)
                now = level.lower.tobytes() + level.upper.tobytes() if not self.is_upper else b""
                same = same + 1 if now and now == before else 0
                before = now
                if same > unfolding.kept:
                    return
                if level.units >= MOST_LEVELS:
                    message = (
                        f"no bound up to {self._least(level.units, unit, strict):,} changes {render(self.operator)}"
                    )
                    raise UndecidedError(f"{message}; larger ones are not looked at")
        finally:
            self.work = (Work("levels", unfolding.describe(), unfolding.solved + unfolding.sweeps),)

    def _least(self, units: int, unit: Fraction, strict: bool) -> int:
        """The least bound that leads to a level: that many units fit under it, or so many are needed to meet it."""
        if self.is_upper:
            return math.floor(units * unit) + 1 if strict else math.ceil(units * unit)
        if units == 0:
            return 0
        return math.ceil((units - 1) * unit) if strict else math.floor((units - 1) * unit) + 1

    def _meant(self, lower: intervals.Floats, upper: intervals.Floats) -> Numbers:
        """Values of the formula from those of the levels."""
        if self.path is None:
            return Numbers(lower, upper)
        found = Numbers(np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0))
        if self.negated:
            found = Numbers.exactly(1.0) - found
            found = Numbers(np.clip(found.lower, 0.0, 1.0), np.clip(found.upper, 0.0, 1.0))
        return found

    def _unfolding(self) -> tuple[Unfolding, Fraction]:
        evaluation, bound = self.evaluation, self.bound
        limit = bound.high or bound.low
        assert limit is not None
        reward = bound.reward
        costs = step_costs(evaluation.model) if reward is None else costs_of(evaluation, reward, limit.span)
        return self._unfolded([Dimension(costs, MOST_LEVELS, self.is_upper), *self._others()]), costs.unit

    def _others(self) -> list[Dimension]:
        """What other bounds count."""
        others = tuple(part for part in _bounds(self.operator, self._terms) if part != self.bound)
        return dimensions(self.evaluation, replace(others[0], also=others[1:])) if others else []

    def _unfolded(self, counted: list[Dimension]) -> Unfolding:
        evaluation = self.evaluation
        if self.path is not None:
            through, goal = evaluation.mask(self.path.through), evaluation.mask(self.path.goal)
            return unfolded_until(evaluation, through, goal, counted, self.dual, self.settings)
        assert isinstance(self.operator, Reward)
        structure = structure_of(evaluation, self.operator)
        return unfolded_reward(evaluation, structure, counted, self.dual, self.settings)

    @property
    def _terms(self) -> Terms:
        evaluation = self.evaluation
        return Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source)

    def _limit(self) -> Numbers | None:
        """The value where the bound is infinite; None where it is not known."""
        evaluation = self.evaluation
        if not self.is_upper:
            return None
        initial = evaluation.model.initial
        if others := self._others():
            *_, last = self._unfolded(others).levels()
            return self._meant(last.lower[initial], last.upper[initial])
        found: Quantity
        settings = replace(self.settings, strategy=False)
        if self.path is not None:
            from .unbounded.until import until

            through, goal = evaluation.mask(self.path.through), evaluation.mask(self.path.goal)
            found = until(evaluation.model, through, goal, self.dual, settings)
        else:
            from .unbounded.rewards import total_reward

            assert isinstance(self.operator, Reward)
            structure = structure_of(evaluation, self.operator)
            found = total_reward(evaluation.model, structure, self.optimum, settings)
        return self._meant(found.lower[initial], found.upper[initial])
