"""Bounded questions about a parametric MDP where strategies and parameters pull against each other.

For a number of steps the best strategy changes with each of them, so none can be fixed. But in every step a choice is
worth at least what the worst of its control points makes of it, at every point of a box; so the value of a game is a
bound, in which after each choice somebody else picks the control point. It is one pass backwards for each step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..checking import paths
from ..checking.evaluation import Evaluation
from ..checking.operators import structure_of
from ..lang.properties import Cumulative, Instantaneous, Optimum, Probability, Reward
from ..lang.source import UnsupportedError
from ..model.sparse import Model
from ..solve.step_limits import TooManyStepsError
from .polynomials import UNIT, Floats
from .transitions import Ints

OPPOSITE: dict[Optimum, Optimum] = {"min": "max", "max": "min"}
MOST_STEPS = 1_000_000
_BEST = {"min": np.minimum, "max": np.maximum}

__all__ = ["OPPOSITE", "Game"]


@dataclass(frozen=True, eq=False)
class Game:
    """A lifted MDP whose rows, the control points, are grouped by choices, and those by states."""

    model: Model
    choice_starts: Ints
    state_starts: Ints
    strategies: Optimum
    parameters: Optimum

    def value(self, operator: Probability | Reward, evaluation: Evaluation) -> tuple[float, float]:
        """Bounds on the value of the game in the initial state."""
        if isinstance(operator, Probability):
            return self._probability(operator, evaluation)
        values, steps = self._reward(operator, evaluation)
        return self._enclosed(values, steps)

    def _enclosed(self, values: Floats, steps: int) -> tuple[float, float]:
        """Sums of products that are not negative: each step is off by a few roundings, relative to what it gives."""
        longest = int(np.diff(self.model.row_starts).max(initial=0))
        error = 1.01 * UNIT * (longest + 4) * steps
        value = float(values[self.model.initial[0]])
        return value * (1 - error), value * (1 + error)

    def _probability(self, operator: Probability, evaluation: Evaluation) -> tuple[float, float]:
        source = evaluation.source
        path = paths.normalise(operator.path, source)
        if isinstance(path, paths.Next):
            return self._enclosed(self._step(evaluation.mask(path.states).astype(np.float64)), 1)
        if not isinstance(path, paths.Until) or (path.bound is not None and path.bound.is_budget):
            raise UnsupportedError("this path is not supported in a synthesis", source, operator.span)
        low, high = paths.steps(path.bound, evaluation.program.constants, source)
        if high is None:
            message = "a bound on steps needs an end in the synthesis of an MDP"
            raise UnsupportedError(message, source, operator.span, "as in F<=10 or F[5,10]")
        game = self
        if path.negated:  # whoever makes this likely makes the until unlikely
            game = replace(self, strategies=OPPOSITE[self.strategies], parameters=OPPOSITE[self.parameters])
        through, goal = evaluation.mask(path.through), evaluation.mask(path.goal)
        values = goal.astype(np.float64)
        self._refuse(high)
        for _ in range(high - low):
            values = np.where(goal, 1.0, np.where(through, game._step(values), 0.0))
        for _ in range(low):
            values = np.where(through, game._step(values), 0.0)
        lower, upper = game._enclosed(values, high)
        if path.negated:  # what is exactly 0 is exactly 1 then
            lower, upper = 1 - upper - UNIT if upper > 0 else 1.0, 1 - lower + UNIT
        return max(lower, 0.0), min(upper, 1.0)

    def _reward(self, operator: Reward, evaluation: Evaluation) -> tuple[Floats, int]:
        structure = structure_of(evaluation, operator)
        constants, source = evaluation.program.constants, evaluation.source
        nothing = np.zeros(self.model.n_states)
        state = nothing if structure.state is None else structure.state
        match operator.objective:
            case Instantaneous(moment):
                values, count, choice = state, paths.whole(moment, constants, source), None
                state = nothing
            case Cumulative(limit) if limit is not None:
                values, count, choice = nothing, paths.whole(limit, constants, source), structure.choice
                count -= operator.objective.strict
            case _:
                raise UnsupportedError("this reward is not supported in a synthesis", source, operator.span)
        self._refuse(count)
        for _ in range(count):
            values = state + self._step(values, choice)
        return values, max(count, 0)

    def _refuse(self, steps: int) -> None:
        """One pass for each step, for every box: there must not be too many."""
        if steps > MOST_STEPS:
            raise TooManyStepsError(
                f"{steps:.3g} steps are too many for the synthesis of an MDP, where at most {MOST_STEPS:,} are made; "
                "ask for fewer steps, or without a bound"
            )

    @cached_property
    def _matrix(self) -> Any:
        return self.model.to_scipy()

    def _step(self, values: Floats, earned: Floats | None = None) -> Floats:
        """What each state can make of the values after a step."""
        rows = self._matrix @ values
        if earned is not None:
            rows = rows + earned
        choices = _BEST[self.parameters].reduceat(rows, self.choice_starts[:-1])
        found: Floats = _BEST[self.strategies].reduceat(choices, self.state_starts[:-1])
        return found
