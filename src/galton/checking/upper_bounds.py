"""The upper bound of a property: what a curve runs through, and what the property is made of besides.

``P=? [ F<=T done ]`` for many values of ``T`` is one question with many bounds, where ``T`` stands nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..lang.expressions import Expression, Value
from ..lang.model_types import Nature
from ..lang.properties import Cumulative, Instantaneous, Probability, Reward
from ..lang.resolution import Question
from . import paths
from .budgets.curve import single_budget, without_budget
from .inspection import Terms, interval_of, step_count

__all__ = ["UpperBound", "upper_bound"]


@dataclass(frozen=True)
class UpperBound:
    """The upper bound of the outermost operator of a property.

    Attributes
    ----------
    besides
        What the property is made of besides.
    at
        Its value, given those of all constants; None where there is a lower bound as well. A bound that makes no sense
        is an error.
    """

    besides: tuple[Expression, ...]
    at: Callable[[Mapping[str, Value]], float | None]


def upper_bound(question: Question, nature: Nature) -> UpperBound | None:
    """The upper bound of a property; None where it is of no kind that curves are for."""
    expression, source = question.prop.expression, question.source
    timed = nature.is_continuous

    def at_time(bound: Expression) -> Callable[[Mapping[str, Value]], float]:
        return lambda constants: paths.time(bound, constants, source)

    if (budget := single_budget(expression)) is not None and budget.high is not None:
        return UpperBound(tuple(without_budget(expression) or ()), at_time(budget.high))
    match expression:
        case Probability(path, _, None):
            shape = paths.shape(path)
            if not isinstance(shape, paths.Until) or shape.bound is None or shape.bound.high is None:
                return None
            if shape.bound.is_budget or (shape.negated and shape.through != paths.TRUE):
                return None
            until, low = shape, () if shape.bound.low is None else (shape.bound.low,)

            def within(constants: Mapping[str, Value]) -> float | None:
                least, most, _ = interval_of(until, Terms(nature, constants, source))
                return most if least == 0 else None

            return UpperBound((until.through, until.goal, *low), within)
        case Reward(Cumulative(bound) | Instantaneous(bound) as objective, structure, _, None) if bound is not None:
            besides = (structure,) if isinstance(structure, Expression) else ()
            if timed:
                return UpperBound(besides, at_time(bound))
            if isinstance(objective, Cumulative):
                return UpperBound(besides, lambda constants: step_count(objective, Terms(nature, constants, source)))
            return UpperBound(besides, lambda constants: paths.whole(bound, constants, source))
    return None
