"""Whole curves: a bounded property at many values of its bound, answered in one pass.

``P=? [ F<=T done ]`` for a thousand values of ``T`` asks for the same vectors again and again, summed up with other
weights. Where the values differ in nothing but the upper bound of the outermost operator, steps are made once, and each
point is a sum over what the initial states had before each step (:mod:`galton.solve.record`). Every point has bounds of
its own, proved like those of a single answer.

What does not fit, or comes out too wide, has no answer here: it is asked alone then.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..device.arrays import on_host
from ..device.errors import DeviceError, device_errors
from ..lang.expressions import Expression
from ..lang.program import Program
from ..lang.properties import Cumulative, Instantaneous, Probability, Reward
from ..lang.rendering import render
from ..lang.resolution import Question, agrees, constants_of
from ..lang.source import GaltonError
from ..model.sparse import Model, Rewards
from ..solve.methods import DEFAULT, TIMED, TIMED_ON_HOST
from ..solve.settings import Settings
from . import paths
from .answering import about_initial, meets, n_initial, single_number
from .bounded.question import BoundedQuestion, Curve
from .budgets.curve import budget_curve, single_budget, without_budget
from .evaluation import Evaluation
from .gate import admit
from .inspection import Terms, interval_of, optimum_of, step_count
from .operators import structure_of
from .quantity import Quantity, Work
from .result import Result, Solved

Floats = npt.NDArray[np.float64]

__all__ = ["Point", "answer_curve"]


class Point(NamedTuple):
    """A question, and the program that knows its constants."""

    program: Program
    question: Question


class Curved(Protocol):
    """A number that depends on a bound, and can be found for many of them at once."""

    @property
    def at_zero(self) -> Floats:
        """The number of every state for the bound 0."""

    def curve(self, ask: BoundedQuestion, points: Sequence[float]) -> Curve:
        """Bound it in the initial states for bounds above 0 that ascend."""


def answer_curve(model: Model, points: Sequence[Point], settings: Settings) -> list[Result | None]:
    """Answer questions that differ in their bound only; None for each that has to be asked alone."""
    alone: list[Result | None] = [None] * len(points)
    if len(points) < 2 or not _fits(model, settings) or not _differ_in_bound_only(points):
        return alone
    try:
        with device_errors("there is not enough memory on the device"):
            return _Pass(model, points, settings).results()
    except (GaltonError, DeviceError):
        return alone  # whoever asks each by itself tells what is wrong


def _fits(model: Model, settings: Settings) -> bool:
    """Whether all choices of a user are looked at here, where the model is."""
    if settings.method not in (None, DEFAULT, *TIMED):
        return False
    if model.on_device:
        return settings.method not in TIMED_ON_HOST
    return not (settings.format or settings.order or settings.single)


def _differ_in_bound_only(points: Sequence[Point]) -> bool:
    expression = points[0].question.prop.expression
    rest = _without_bound(expression, points[0])
    if rest is None or any(p.question.prop.expression != expression for p in points[1:]):
        return False
    first = points[0].program
    used = {name: value for part in rest for name, value in constants_of(part, first).items()}
    return all(p.program.labels == first.labels and agrees(p.program, used) for p in points[1:])


def _without_bound(expression: Expression, point: Point) -> list[Expression] | None:
    """What a property is made of besides its upper bound; None where it is of no kind that curves are for."""
    if (rest := without_budget(expression)) is not None:
        return rest
    match expression:
        case Probability(path, _, None):
            shape = paths.normalise(path, point.question.source)
            if not isinstance(shape, paths.Until) or shape.bound is None or shape.bound.high is None:
                return None
            if shape.bound.is_budget or (shape.negated and shape.through != paths.TRUE):
                return None
            low = [] if shape.bound.low is None else [shape.bound.low]
            return [shape.through, shape.goal, *low]
        case Reward(Cumulative(bound) | Instantaneous(bound), structure, _, None) if bound is not None:
            return [structure] if isinstance(structure, Expression) else []
    return None


@dataclass
class _Pass:
    """One pass for all points."""

    model: Model
    points: Sequence[Point]
    settings: Settings

    def results(self) -> list[Result | None]:
        """Return the answers in the order of the points."""
        start = time.perf_counter()
        program, question = self.points[0]
        expression = question.prop.expression
        evaluation = Evaluation(self.model, program, question.source, self.settings)
        bounds = [self._bound(point) for point in self.points]
        if any(bound is None for bound in bounds):
            return [None] * len(self.points)
        distinct = np.unique(np.array(bounds, dtype=np.float64))
        curve = self._curve(evaluation, expression, distinct.tolist())
        if curve is None:
            return [None] * len(self.points)
        most = 1.0 if isinstance(expression, Probability) else np.inf
        text = render(expression)
        admit(Quantity(curve.lower.ravel(), curve.upper.ravel(), curve.method), text, most)
        about = about_initial(evaluation)
        seconds = (time.perf_counter() - start) / len(self.points)
        note = Work("curve", f"{len(distinct):,} points in one pass")
        steps = (Solved(text, curve.method, (*curve.work, note)),)
        warnings = tuple(dict.fromkeys([*self.model.warnings, *evaluation.warnings]))
        shared = Result(
            formula=question.prop.text,
            value=None,
            about=about,
            method=curve.method,
            placement=self.model.placement,
            steps=steps,
            warnings=warnings,
            seconds=seconds,
        )
        rows = np.searchsorted(distinct, np.array(bounds, dtype=np.float64))
        return [self._result(shared, curve, int(row)) for row in rows]

    def _result(self, shared: Result, curve: Curve, row: int) -> Result | None:
        lower, upper = curve.lower[row], curve.upper[row]
        value = single_number(lower, upper, several=n_initial(self.model) > 1)
        found = replace(shared, value=value, lower=float(lower.min()), upper=float(upper.max()))
        return found if meets(found, self.settings) else None

    def _terms(self, point: Point) -> Terms:
        return Terms(self.model.nature, point.program.constants, point.question.source)

    def _bound(self, point: Point) -> float | None:
        """The bound of a point; None where there is a lower one as well."""
        terms, expression = self._terms(point), point.question.prop.expression
        if (budget := single_budget(expression)) is not None and budget.high is not None:
            return paths.time(budget.high, terms.constants, terms.source)
        timed = self.model.is_continuous
        match expression:
            case Probability(path):
                shape = paths.normalise(path, terms.source)
                assert isinstance(shape, paths.Until)
                low, high, _ = interval_of(shape, terms)
                return high if low == 0 else None
            case Reward(Cumulative(bound) as objective) if bound is not None:
                return paths.time(bound, terms.constants, terms.source) if timed else step_count(objective, terms)
            case Reward(Instantaneous(moment)):
                return (paths.time if timed else paths.whole)(moment, terms.constants, terms.source)
        return None

    def _curve(self, evaluation: Evaluation, expression: Expression, bounds: list[float]) -> Curve | None:
        """Bounds in the initial states, ``(bounds, states)``; None where nothing can happen."""
        assert isinstance(expression, (Probability, Reward))
        optimum = optimum_of(expression, self._terms(self.points[0]))
        if single_budget(expression) is not None:
            structure = structure_of(evaluation, expression) if isinstance(expression, Reward) else None
            return budget_curve(evaluation, expression, bounds, structure, optimum, evaluation.settings_for(expression))
        ask = BoundedQuestion(self.model, evaluation.settings_for(expression), optimum)
        curved = self._curved(evaluation, ask, expression)
        later = [bound for bound in bounds if bound > 0]
        if curved is None or not later:
            return None
        found = curved.curve(ask, later)
        if len(later) == len(bounds):
            return found
        now = on_host(curved.at_zero[self.model.initial])[None]
        return replace(found, lower=np.concatenate([now, found.lower]), upper=np.concatenate([now, found.upper]))

    def _curved(self, evaluation: Evaluation, ask: BoundedQuestion, expression: Probability | Reward) -> Curved | None:
        from .bounded import step_curves, within_time

        timed = self.model.is_continuous
        if isinstance(expression, Probability):
            path = paths.normalise(expression.path, evaluation.source)
            assert isinstance(path, paths.Until)
            goal = evaluation.mask(path.goal)
            if path.negated:
                return within_time.stay(ask, ~goal) if timed else step_curves.stay(ask, ~goal)
            if not goal.any():
                return None
            through = evaluation.mask(path.through)
            return within_time.reach(ask, through, goal) if timed else step_curves.reach(ask, through, goal)
        structure = structure_of(evaluation, expression)
        at = isinstance(expression.objective, Instantaneous)
        if not timed:
            return (step_curves.reward_at if at else step_curves.reward_over)(ask, structure)
        state, choice = ask.rewards(Rewards(state=structure.state) if at else structure)
        earned = state if at else state + choice
        return (within_time.reward_at if at else within_time.reward_over)(ask, earned) if earned.any() else None
