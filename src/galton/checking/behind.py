"""What stands behind an answer: the number that a threshold was compared with, and why an answer is no number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..lang.expressions import Binary, Expression
from ..lang.properties import ExpectedTime, Filter, Probability, Reward, SteadyState, children
from ..lang.rendering import render
from ..lang.source import LanguageError
from .evaluation import UndefinedError
from .inspection import Terms, optimum_of
from .intervals import Numbers
from .result import Result

if TYPE_CHECKING:
    from ..model.sparse import Int32s
    from .evaluation import Evaluation

_KIND: dict[type, str] = {
    Probability: "probability",
    Reward: "expected reward",
    ExpectedTime: "expected time",
    SteadyState: "long-run probability",
}

__all__ = ["no_number", "number_behind"]


def number_behind(evaluation: Evaluation, expression: Expression, states: Int32s) -> Result | None:
    """The number that ``P>=0.5 [ … ]`` and its like compare with their bound; None where it was not needed.

    Graph analysis decides ``P>0`` and ``P>=1`` without it.
    """
    if not isinstance(expression, (Probability, Reward, ExpectedTime, SteadyState)) or expression.comparison is None:
        return None
    from .answering import single_number

    text = render(expression)
    solved = next((step for step in reversed(evaluation.steps) if step.formula == text), None)
    if solved is None:
        return None
    low, high = (evaluation.at(values, states) for values in (solved.quantity.lower, solved.quantity.upper))
    if isinstance(expression, Probability) and (high - low).max(initial=0.0) >= 1.0:
        return None  # graph analysis has seen that it is neither 0 nor 1, and no more
    optimum = optimum_of(expression, Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source))
    which = {None: "", "min": "least ", "max": "greatest "}[optimum]
    return Result(
        formula=render(replace(expression, optimum=optimum, comparison=None)),
        about=f"the {which}{_KIND[type(expression)]}",
        value=single_number(low, high),
        lower=float(low.min()),
        upper=float(high.max()),
        method=solved.quantity.method,
        proved=solved.quantity.proved,
    )


def no_number(evaluation: Evaluation, expression: Expression, states: Int32s) -> LanguageError:
    """The error for an answer that is no number: which part of the property is to blame, and in which state."""
    state = int(states[0])
    part = expression
    while not isinstance(part, Filter):
        value = evaluation.value(part)
        if isinstance(value, Numbers):
            state = next((int(s) for s in states if _is_nan(evaluation, value, int(s))), state)
        guilty = [one for one in children(part) if _has_nan(evaluation, one, state)]
        if not guilty:
            break
        part = guilty[0]
    what = "this has no value"
    if isinstance(part, Binary) and part.operator == "/":
        above, below = (_number(evaluation, side, state) for side in (part.left, part.right))
        what = f"this is {above:g}/{below:g}, which is no number"
    where = evaluation.state_name(state)
    return UndefinedError(f"{what}, in {where}", evaluation.source, part.span)


def _has_nan(evaluation: Evaluation, part: Expression, state: int) -> bool:
    value = evaluation.value(part)
    return isinstance(value, Numbers) and _is_nan(evaluation, value, state)


def _is_nan(evaluation: Evaluation, value: Numbers, state: int) -> bool:
    return bool(np.isnan(float(evaluation.everywhere(value.lower)[state])))


def _number(evaluation: Evaluation, part: Expression, state: int) -> float:
    return float(evaluation.everywhere(evaluation.numbers(part).lower)[state])
