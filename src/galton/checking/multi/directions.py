"""One direction: how far any strategy gets in it, and a strategy that gets there.

For weights w that are not negative, the greatest weighted sum of the objectives is one question for the solver of
expected rewards. Its upper bound is a half space that no strategy leaves; the objectives of the strategy found are
computed one by one, with bounds, and are a point that can be attained (Forejt, Kwiatkowska and Parker, "Pareto curves
for probabilistic model checking", 2012).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...model.errors import NumericError
from ...model.rounding import FAINT
from ...model.sparse import Int32s, Mask, Model
from ...model.values import Floats
from ...reduce.submodels import with_rows
from ...solve.settings import FINEST, Settings
from ..gate import ImpossibleAnswerError
from ..quantity import Work
from .arena import Arena
from .exact_chains import exact_rewards
from .losses import Losses, losses
from .mixtures import MemoryStrategy, from_arena
from .objectives import Objective
from .weighted import ChainValues, WeightedSums

__all__ = ["Directions", "HalfSpace", "Plan", "Point", "SumDirections", "Weights", "dot", "rounded_weights"]

Weights = tuple[Fraction, ...]
_BITS = 30  # of a weight: sums of a few are exact in doubles


@dataclass(frozen=True)
class Point:
    """What one strategy attains at least: internal numbers, one for each objective, and bounds on each.

    ``strategy`` is the place of its strategy among those that are kept; None where none are.
    """

    least: tuple[Fraction, ...]
    most: tuple[Fraction, ...]
    strategy: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class HalfSpace:
    """No strategy has a weighted sum above ``most``."""

    weights: Weights
    most: Fraction

    def excludes(self, numbers: Sequence[Fraction]) -> bool:
        """Whether numbers lie outside, by more than the rounding of these numbers to doubles."""
        room = dot(self.weights, [abs(number) for number in numbers]) / 2**50
        return dot(self.weights, numbers) > self.most + room


@dataclass(frozen=True, eq=False)
class Plan:
    """A strategy: ``(states,)`` the choices to take, and what to do for each way to stop where that is not for all."""

    choices: Int32s
    staying: tuple[Mask, ...] | None = None


@dataclass(eq=False)
class Directions(ABC):
    """The directions that were looked at, with what was found.

    Attributes
    ----------
    exact
        Whether points are fractions if the chains of strategies are small.
    plans
        The strategy that each point came from, where the settings ask for strategies.
    """

    settings: Settings
    exact: bool = False
    points: list[Point] = field(default_factory=list)
    half_spaces: list[HalfSpace] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    iterations: int = 0

    def look(self, weights: Weights) -> tuple[HalfSpace, Point | None]:
        """Return the half space of a direction, and a point near its border; None if its costs are infinite.

        Weights are those of :func:`rounded_weights`.
        """
        most, plan = self._optimum(weights)
        half_space = HalfSpace(weights, most)
        self.half_spaces.append(half_space)
        point = self._point(plan)
        if point is None:
            return half_space, None
        known = next((old for old in self.points if old == point), None)
        if known is not None:
            return half_space, known
        if self.settings.strategy:
            point = replace(point, strategy=len(self.plans))
            self.plans.append(plan)
        self.points.append(point)
        self.settings.tell(step="directions", sweeps=self.iterations, directions=len(self.half_spaces))
        return half_space, point

    def narrow(self, factor: float) -> None:
        """Solve for bounds that many times narrower from now on, as far as doubles go."""
        self.settings = replace(self.settings, eps=max(self.settings.eps / factor, 10 * FINEST))

    def knows(self, weights: Weights) -> bool:
        """Whether a direction was looked at already."""
        return any(half_space.weights == weights for half_space in self.half_spaces)

    @property
    @abstractmethod
    def objectives(self) -> tuple[Objective, ...]:
        """What is asked for."""

    @property
    @abstractmethod
    def work(self) -> tuple[Work, ...]:
        """What was done before there were directions."""

    @property
    @abstractmethod
    def is_possible(self) -> bool:
        """Whether some strategy has finite costs."""

    @property
    @abstractmethod
    def leaves_out(self) -> bool:
        """Whether there are strategies with infinite costs, which are left out."""

    @abstractmethod
    def strategy(self, point: Point, model: Model) -> MemoryStrategy:
        """The strategy of the model that a point came from."""

    @abstractmethod
    def _optimum(self, weights: Weights) -> tuple[Fraction, Plan]:
        """What no strategy passes, and one that nearly gets there."""

    @abstractmethod
    def _point(self, plan: Plan) -> Point | None:
        """What a strategy comes to."""

    def _plan_of(self, point: Point) -> Plan:
        assert point.strategy is not None
        return self.plans[point.strategy]


@dataclass(eq=False, kw_only=True)
class SumDirections(Directions):
    """The directions of an arena, whose objectives are sums of rewards."""

    arena: Arena
    _systems: dict[tuple[bool, ...], WeightedSums] = field(default_factory=dict)

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """What is asked for."""
        return self.arena.objectives

    @property
    def work(self) -> tuple[Work, ...]:
        """What was done before there were directions."""
        return self.arena.work

    @property
    def leaves_out(self) -> bool:
        """Whether there are strategies with infinite costs, which are left out."""
        return self.arena.is_costly

    @cached_property
    def is_possible(self) -> bool:
        """Whether some strategy has finite costs."""
        if not self.arena.has_costs:
            return True
        from ...graph import surely_reaches

        model = self.arena.model
        everywhere = np.ones(model.n_states, dtype=np.bool_)
        found = surely_reaches(model, everywhere, self.arena.stopped, some_strategy=True)
        return bool(found[self.arena.initial])

    def strategy(self, point: Point, model: Model) -> MemoryStrategy:
        """The strategy of the model that a point came from."""
        plan = self._plan_of(point)
        return from_arena(model, self.arena, plan.choices, plan.staying)

    def _optimum(self, weights: Weights) -> tuple[Fraction, Plan]:
        rows, to_lose = self._weighed(weights)
        return self._solved(weights, rows, to_lose)

    def _weighed(self, weights: Weights) -> tuple[Floats, Fraction]:
        """``(choices,)`` the weighted sum of all objectives, and what losses are taken off from.

        Sums of weights are exact. A product with a reward is rounded once and each sum of two once, and no term is
        negative, so that rows, and with them values, are right up to one factor.
        """
        rows, to_lose = np.zeros(self.arena.model.n_choices), Fraction(0)
        for weight, part in zip(weights, self._parts, strict=True):
            if weight and part.least * float(weight) < FAINT:
                raise NumericError("rewards are too small to be weighed against other objectives in doubles")
            rows += float(weight) * part.rows
            to_lose += weight * part.most
        return rows, to_lose

    def _solved(self, weights: Weights, rows: Floats, to_lose: Fraction) -> tuple[Fraction, Plan]:
        arena = self.arena
        slack = Fraction(len(weights) + 2, 2**52)
        pattern = tuple(bool(weight) for weight in weights) if arena.has_costs else ()
        if pattern not in self._systems:
            self._systems[pattern] = WeightedSums(arena, rows, self.settings)
        found = self._systems[pattern].best(np.array([float(weight) for weight in weights]), rows, self.settings)
        self.iterations += found.iterations
        last = arena.model.row_groups[1:] - 1
        plan = Plan(np.where(found.choices < 0, last, found.choices).astype(np.int32))
        if not arena.has_costs:
            return Fraction(found.upper) * (1 + slack), plan
        return to_lose - Fraction(found.lower) * (1 - slack), plan

    @cached_property
    def _chains(self) -> ChainValues:
        return ChainValues(self.arena)

    @cached_property
    def _parts(self) -> list[_Part]:
        """The objectives as rewards of one sign: gains, or beside costs what each choice loses of the most."""
        arena = self.arena
        if not arena.has_costs:
            return [_Part(gains) for gains in arena.gains]
        # A run stops exactly once: what it does not gain there is a cost like the others.
        stops = arena.endings >= 0
        found = []
        for objective, gains in zip(arena.objectives, arena.gains, strict=True):
            if objective.is_cost or objective.is_long_run:  # an average is no sum: there is nothing in it here
                found.append(_Part(gains))
            elif objective.is_probability:
                found.append(_Part(np.where(stops, 1.0 - gains, 0.0), Fraction(1)))
            else:
                lost: Losses = losses(arena.model, gains, replace(self.settings, strategy=False))
                found.append(_Part(lost.rows, Fraction(lost.most)))
        return found

    def _point(self, plan: Plan) -> Point | None:
        """What the strategy that takes these rows comes to."""
        arena, choices = self.arena, plan.choices
        before = self._chains.sweeps
        values = self._chains.of(choices, self.settings)
        if values is None:
            return None
        self.iterations += self._chains.sweeps - before
        least, most = [], []
        for objective, (low, high) in zip(arena.objectives, values, strict=True):
            if not 0 <= low <= high < np.inf:
                raise ImpossibleAnswerError(f"{objective.text} came out in [{low!r}, {high!r}]: a mistake of Galton")
            if objective.is_probability:
                high = min(high, 1.0)
            bounds = (-Fraction(high), -Fraction(low)) if objective.is_cost else (Fraction(low), Fraction(high))
            least.append(bounds[0])
            most.append(bounds[1])
        if self.exact:
            chain = replace(with_rows(arena.model, choices, None), type="dtmc")
            known = exact_rewards(chain, [gains[choices] for gains in arena.gains])
            if known is not None:
                signed = [-x if objective.is_cost else x for x, objective in zip(known, arena.objectives, strict=True)]
                if not all(low <= x <= high for low, x, high in zip(least, signed, most, strict=True)):
                    raise ImpossibleAnswerError(
                        "multi(…) came out with a point outside its bounds: a mistake of Galton"
                    )
                least = most = signed
        return Point(tuple(least), tuple(most))


@dataclass(frozen=True, eq=False)
class _Part:
    """What each choice counts for an objective, and what is taken off from; ``least`` is the least that counts."""

    rows: Floats
    most: Fraction = Fraction(0)

    @cached_property
    def least(self) -> float:
        positive = self.rows[self.rows > 0]
        return float(positive.min()) if len(positive) else np.inf


def dot(weights: Sequence[Fraction], numbers: Sequence[Fraction]) -> Fraction:
    """Return the sum of products."""
    return sum((a * b for a, b in zip(weights, numbers, strict=True)), Fraction(0))


def rounded_weights(weights: Sequence[Fraction]) -> Weights:
    """Return a direction close to the given one, with few enough bits; the greatest weight is 1."""
    largest = max(weights)
    return tuple(Fraction(round(weight / largest * 2**_BITS), 2**_BITS) for weight in weights)
