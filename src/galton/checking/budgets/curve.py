"""Many values of one budget, from the levels of one pass."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ...lang.expressions import Expression
from ...lang.properties import CumulativeBudget, Optimum, Probability, Reward, TimeBound
from .. import paths
from ..bounded.question import Curve
from ..quantity import Work
from .answer import METHOD, refuse_elsewhere, unfolded_reward, unfolded_until
from .bounds import dimensions, whole_limit
from .costs import as_fraction

if TYPE_CHECKING:
    from ...model.sparse import Rewards
    from ...solve.settings import Settings
    from ..evaluation import Evaluation

__all__ = ["budget_curve", "single_budget", "without_budget"]


def single_budget(expression: Expression) -> TimeBound | None:
    """Return the bound of a question that has one upper bound, on a reward; None for others."""
    match expression:
        case Probability(path, _, None):
            shape = paths.shape(path)
            bound = shape.bound if isinstance(shape, paths.Until) and not shape.negated else None
        case Reward(CumulativeBudget(bound), _, _, None):
            pass
        case _:
            return None
    if bound is None or bound.reward is None or bound.also or bound.low is not None or bound.high is None:
        return None
    return bound


def without_budget(expression: Expression) -> list[Expression] | None:
    """Return what such a question is made of besides its bound; None for others."""
    if single_budget(expression) is None:
        return None
    match expression:
        case Probability(path):
            shape = paths.shape(path)
            assert isinstance(shape, paths.Until)
            return [shape.through, shape.goal]
        case Reward(_, structure) if isinstance(structure, Expression):
            return [structure]
    return []


def budget_curve(
    evaluation: Evaluation,
    expression: Probability | Reward,
    values: Sequence[Fraction | float],
    structure: Rewards | None,
    optimum: Optimum | None,
    settings: Settings,
) -> Curve:
    """Bound the value in the initial states for each value of the budget, in ascending order."""
    start = time.perf_counter()
    refuse_elsewhere(evaluation, settings, expression)
    bound = single_budget(expression)
    assert bound is not None
    (counted,) = dimensions(evaluation, bound)
    levels = [whole_limit(as_fraction(float(v)), counted.costs.unit, strict=bound.high_strict) for v in values]
    widest = [replace(counted, limit=max(levels))]
    if isinstance(expression, Probability):
        path = paths.shape(expression.path)
        assert isinstance(path, paths.Until)
        through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
        unfolding = unfolded_until(evaluation, through, goal, widest, optimum, settings)
    else:
        assert structure is not None
        unfolding = unfolded_reward(evaluation, structure, widest, optimum, settings)
    initial = evaluation.model.initial
    lower, upper = (np.zeros((len(levels), len(initial))) for _ in range(2))
    most = 1.0 if isinstance(expression, Probability) else math.inf
    wanted: dict[int, list[int]] = {}
    for row, units in enumerate(levels):
        wanted.setdefault(units, []).append(row)
    for level in unfolding.levels():
        for row in wanted.get(level.units, ()):
            lower[row], upper[row] = level.lower[initial], np.minimum(level.upper[initial], most)
    work = Work(METHOD, unfolding.describe(), unfolding.solved + unfolding.sweeps, time.perf_counter() - start)
    return Curve(lower, upper, METHOD, (work,))
