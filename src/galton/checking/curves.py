"""Whole curves: a bounded property at many values of its bound, answered in one pass.

``P=? [ F<=T done ]`` for a thousand values of ``T`` asks for the same vectors again and again, summed up with other
weights. Where the values differ in nothing but the upper bound of the outermost operator, steps are made once, and each
point is a sum over what the initial states had before each step (:mod:`galton.solve.record`). Every point has bounds of
its own, proved like those of a single answer.

What does not fit, or comes out too wide, has no answer here: it is asked alone then. Which properties are curves is
known to :mod:`.upper_bounds`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..device.arrays import on_host
from ..device.errors import DeviceError, device_errors
from ..lang.expressions import Expression
from ..lang.program import Program
from ..lang.properties import Instantaneous, Probability, Reward
from ..lang.rendering import render
from ..lang.resolution import Question
from ..lang.source import GaltonError
from ..model.sparse import Model, Rewards
from ..solve.methods import DEFAULT, TIMED, TIMED_ON_HOST
from ..solve.settings import Settings
from . import paths
from .answering import about_initial
from .bounded.question import BoundedQuestion, Curve
from .budgets.curve import budget_curve, single_budget
from .evaluation import Evaluation
from .gate import admit
from .inspection import Terms, optimum_of
from .operators import structure_of
from .quantity import Quantity, Work
from .result import Number, Result, Solved

Floats = npt.NDArray[np.float64]

__all__ = ["AnsweredCurve", "answer_curve"]


@dataclass(frozen=True, eq=False)
class AnsweredCurve:
    """A property at many values of its bound: numbers in arrays, and results as they are looked at.

    Attributes
    ----------
    lower, upper
        For each bound, the least and the greatest that the number can be in an initial state.
    values
        For each bound the number, or the smallest and the largest over several initial states.
    close
        Whether the bounds of the number are as close as asked for.
    shared
        A result with all that the points have in common.
    """

    bounds: Sequence[float]
    lower: Floats
    upper: Floats
    values: Sequence[Number | tuple[Number, Number] | None]
    close: Sequence[bool]
    shared: Result

    def at(self, bound: float) -> Result | None:
        """The answer for one of the bounds; None where it has to be asked alone."""
        place = self._places[bound]
        if not self.close[place]:
            return None
        return self.shared.with_number(self.values[place], float(self.lower[place]), float(self.upper[place]))

    @cached_property
    def _places(self) -> dict[float, int]:
        return {bound: place for place, bound in enumerate(self.bounds)}


class Curved(Protocol):
    """A number that depends on a bound, and can be found for many of them at once."""

    @property
    def at_zero(self) -> Floats:
        """The number of every state for the bound 0."""

    def curve(self, ask: BoundedQuestion, points: Sequence[float]) -> Curve:
        """Bound it in the initial states for bounds above 0 that ascend."""


def answer_curve(
    model: Model, program: Program, question: Question, bounds: Sequence[float], settings: Settings
) -> AnsweredCurve | None:
    """Answer a property for several values of its upper bound, which ascend; None where each has to be asked alone.

    ``program`` knows its constants; the one that it has for the bound does not matter.
    """
    if not _fits(model, settings):
        return None
    try:
        with device_errors("there is not enough memory on the device"):
            return _Pass(model, program, question, settings).answered(bounds)
    except (GaltonError, DeviceError):
        return None  # whoever asks each by itself tells what is wrong


def _fits(model: Model, settings: Settings) -> bool:
    """Whether all choices of a user are looked at here, where the model is."""
    if settings.method not in (None, DEFAULT, *TIMED):
        return False
    if model.on_device:
        return settings.method not in TIMED_ON_HOST
    return not (settings.format or settings.order or settings.single)


@dataclass
class _Pass:
    """One pass for all points."""

    model: Model
    program: Program
    question: Question
    settings: Settings

    def answered(self, bounds: Sequence[float]) -> AnsweredCurve | None:
        """Return the answers in the order of the bounds."""
        start = time.perf_counter()
        expression = self.question.prop.expression
        evaluation = Evaluation(self.model, self.program, self.question.source, self.settings)
        curve = self._curve(evaluation, expression, bounds)
        if curve is None:
            return None
        most = 1.0 if isinstance(expression, Probability) else np.inf
        text = render(expression)
        admit(Quantity(curve.lower.ravel(), curve.upper.ravel(), curve.method), text, most)
        seconds = (time.perf_counter() - start) / len(bounds)
        note = Work("curve", f"{len(bounds):,} points in one pass")
        shared = Result(
            formula=self.question.prop.text,
            value=None,
            about=about_initial(evaluation),
            method=curve.method,
            placement=self.model.placement,
            steps=(Solved(text, curve.method, (*curve.work, note)),),
            warnings=tuple(dict.fromkeys([*self.model.warnings, *evaluation.warnings])),
            seconds=seconds,
            name=self.question.prop.name,
        )
        middle = Quantity(curve.lower, curve.upper, curve.method).value
        values: Sequence[Any] = middle.min(axis=1).tolist()
        lower, upper = curve.lower.min(axis=1), curve.upper.max(axis=1)
        if self.model.n_initial > 1:
            close = np.ones(len(bounds), dtype=np.bool_)
            values = list(zip(values, middle.max(axis=1).tolist(), strict=True))
        else:
            close = self.settings.tolerance.accepted(lower, upper) | ~np.isfinite(upper)
        return AnsweredCurve(bounds, lower, upper, values, close.tolist(), shared)

    def _curve(self, evaluation: Evaluation, expression: Expression, bounds: Sequence[float]) -> Curve | None:
        """Bounds in the initial states, ``(bounds, states)``; None where nothing can happen."""
        assert isinstance(expression, (Probability, Reward))
        terms = Terms(self.model.nature, self.program.constants, self.question.source)
        optimum = optimum_of(expression, terms)
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
