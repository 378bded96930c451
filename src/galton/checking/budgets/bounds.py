"""From the bounds of a formula to what is counted, and up to where."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ...lang.expressions import Expression
from ...lang.properties import TimeBound
from ...lang.source import LanguageError, UnsupportedError
from .. import paths
from .costs import Costs, as_fraction, costs_of, step_costs

if TYPE_CHECKING:
    from ..evaluation import Evaluation

__all__ = ["Dimension", "dimensions", "whole_limit"]

MOST_LEVELS = 10**8


@dataclass(frozen=True, eq=False)
class Dimension:
    """One thing that is counted.

    Attributes
    ----------
    costs
        What each choice spends.
    limit
        The greatest number of units that may be spent or, where it is not ``is_upper``, the least that must be.
    slack
        Of an upper bound with a lower one beside it: how many units may be left at the end, -1 if no number lies
        between; None for any.
    """

    costs: Costs
    limit: int
    is_upper: bool = True
    slack: int | None = None


def dimensions(evaluation: Evaluation, bound: TimeBound) -> list[Dimension]:
    """Return what a bound counts. A lower bound of 0 says nothing, and is left out."""
    found = [_dimension(evaluation, part) for part in bound.all]
    return [dimension for dimension in found if dimension.is_upper or dimension.limit > 0]


def _dimension(evaluation: Evaluation, bound: TimeBound) -> Dimension:
    source, constants = evaluation.source, evaluation.program.constants
    limit = bound.low if bound.high is None else bound.high
    assert limit is not None
    if bound.reward is not None:
        costs = costs_of(evaluation, bound.reward, limit.span)
    elif evaluation.model.is_continuous and not bound.counts_steps:
        message = "a bound on the time of a CTMC beside other bounds is not supported"
        raise UnsupportedError(message, source, limit.span)
    else:
        costs = step_costs(evaluation.model)

    def value(expression: Expression) -> Fraction:
        paths.time(expression, constants, source)  # which complains about what no bound can be
        return as_fraction(paths.constant(expression, constants, source))

    low = 0
    if bound.low is not None:
        units = value(bound.low) / costs.unit
        low = math.floor(units) + 1 if bound.low_strict else math.ceil(units)
    if bound.high is None:
        return Dimension(costs, _countable(low, costs, limit, evaluation), is_upper=False)
    high = whole_limit(value(bound.high), costs.unit, strict=bound.high_strict)
    if high < 0:
        raise LanguageError("no reward is below 0", source, bound.high.span)
    if bound.low is not None and value(bound.low) > value(bound.high):
        raise LanguageError("the interval is empty", source, bound.low.span.to(bound.high.span))
    return Dimension(costs, _countable(high, costs, limit, evaluation), slack=high - low if low else None)


def whole_limit(bound: Fraction, unit: Fraction, *, strict: bool) -> int:
    """Return how many units fit under a bound."""
    units = bound / unit
    return math.ceil(units) - 1 if strict else math.floor(units)


def _countable(levels: int, costs: Costs, limit: Expression, evaluation: Evaluation) -> int:
    if levels > MOST_LEVELS:
        message = f"rewards are counted by their common divisor, {float(costs.unit):.3g}, and this bound is "
        message += f"{levels:.3g} times as much; at most {MOST_LEVELS:,} are supported"
        raise UnsupportedError(message, evaluation.source, limit.span)
    return levels
