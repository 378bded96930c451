"""Directions among long-run averages.

A weighted sum of averages is the average of the weighted rewards, for which the solver of single averages has bounds
and a strategy without memory. An average to be small is one of what is left of the greatest reward. What strategies
attain in expectation is the convex hull of these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...lang.properties import Reward, SteadyState
from ...model.errors import NumericError
from ...model.sparse import Model, Rewards
from ...model.values import Floats
from ...reduce.submodels import with_rows
from ..best_long_run import best_long_run
from ..gate import admit
from ..long_run import long_run
from ..operators import structure_of
from ..quantity import Quantity, Work
from ..unbounded.rewards import rewards_by_row
from .directions import Directions, Plan, Point, Weights
from .mixtures import MemoryStrategy, memoryless
from .objectives import Objective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..evaluation import Evaluation

__all__ = ["AverageDirections", "averages_of"]


@dataclass(eq=False, kw_only=True)
class AverageDirections(Directions):
    """The directions of an MDP whose objectives are averages; ``rewards`` are ``(choices,)`` for each."""

    model: Model
    asked: tuple[Objective, ...]
    rewards: tuple[Floats, ...]

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """What is asked for."""
        return self.asked

    @property
    def work(self) -> tuple[Work, ...]:
        """What was done before there were directions: nothing."""
        return ()

    @property
    def is_possible(self) -> bool:
        """Whether some strategy has finite averages: all have."""
        return True

    @property
    def leaves_out(self) -> bool:
        """Whether there are strategies with infinite averages: there are none."""
        return False

    @cached_property
    def _most(self) -> list[float]:
        return [float(rows.max(initial=0.0)) for rows in self.rewards]

    def _optimum(self, weights: Weights) -> tuple[Fraction, Plan]:
        """The best average of the weighted rewards.

        Each reward is weighed, taken off and added with one rounding each, of what is at most the weighted sum of the
        greatest rewards.
        """
        model = self.model
        rows, taken, largest = np.zeros(model.n_choices), Fraction(0), Fraction(0)
        for weight, objective, earned, most in zip(weights, self.asked, self.rewards, self._most, strict=True):
            largest += weight * Fraction(most)
            if objective.maximise:
                rows += float(weight) * earned
            else:
                rows += float(weight) * (most - earned)
                taken += weight * Fraction(most)
        settings = replace(self.settings, strategy=True)
        found = best_long_run(model, Rewards(choice=rows), "max", settings)
        self._note(found)
        rounding = largest * Fraction(2 * len(weights) + 4, 2**52)
        assert found.choices is not None
        choices = np.where(found.choices < 0, model.row_groups[:-1], found.choices).astype(np.int32)
        return Fraction(float(found.upper[self._initial])) + rounding - taken, Plan(choices)

    def strategy(self, point: Point, model: Model) -> MemoryStrategy:
        """The strategy of the model that a point came from."""
        return memoryless(model, self._plan_of(point).choices)

    def _point(self, plan: Plan) -> Point:
        choices = plan.choices
        chain = replace(with_rows(self.model, choices, None), type="dtmc", rewards={})
        least, most = [], []
        for objective, earned in zip(self.asked, self.rewards, strict=True):
            found = long_run(chain, Rewards(state=earned[choices]), replace(self.settings, strategy=False))
            self._note(found)
            low, high = (Fraction(float(bound[self._initial])) for bound in (found.lower, found.upper))
            least.append(low if objective.maximise else -high)
            most.append(high if objective.maximise else -low)
        return Point(tuple(least), tuple(most))

    @property
    def _initial(self) -> int:
        return int(self.model.initial[0])

    def _note(self, found: Quantity) -> None:
        if not found.proved:
            raise NumericError(f"{found.method} proves no bounds, and several objectives need them")
        admit(found, "multi(…)", np.inf)
        self.iterations += found.iterations


def averages_of(evaluation: Evaluation, objectives: Sequence[Objective]) -> dict[int, Floats]:
    """Return ``(choices,)`` what is averaged in objectives of the long run: sums of two rewards are rounded, once."""
    found = {}
    for i, objective in enumerate(objectives):
        formula = objective.formula
        if not objective.is_long_run:
            continue
        if isinstance(formula, SteadyState):
            structure = Rewards(state=evaluation.mask(formula.states).astype(np.float64))
        else:
            assert isinstance(formula, Reward)
            structure = structure_of(evaluation, formula)
        found[i] = rewards_by_row(evaluation.model, structure)
    return found
