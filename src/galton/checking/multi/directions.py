"""One direction: how far any strategy gets in it, and a strategy that gets there.

For weights w that are not negative, the greatest weighted sum of the objectives is one question for the solver of
expected rewards. Its upper bound is a half space that no strategy leaves; the objectives of the strategy found are
computed one by one, with bounds, and are a point that can be attained (Forejt, Kwiatkowska and Parker, "Pareto curves
for probabilistic model checking", 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...model.errors import NumericError
from ...model.rounding import FAINT
from ...model.sparse import Int32s, Rewards
from ...model.values import Floats
from ...reduce.submodels import with_rows
from ...solve.settings import Settings
from ..gate import ImpossibleAnswerError, admit
from ..quantity import Quantity
from ..unbounded.rewards import reachability_reward, total_reward
from ..unbounded.until import until
from .arena import Arena
from .exact_chains import exact_rewards
from .losses import Losses, losses

__all__ = ["Directions", "HalfSpace", "Point", "Weights", "dot", "rounded_weights"]

Weights = tuple[Fraction, ...]
_BITS = 30  # of a weight: sums of a few are exact in doubles


@dataclass(frozen=True)
class Point:
    """What one strategy attains at least: internal numbers, one for each objective, and bounds on each."""

    least: tuple[Fraction, ...]
    most: tuple[Fraction, ...]


@dataclass(frozen=True)
class HalfSpace:
    """No strategy has a weighted sum above ``most``."""

    weights: Weights
    most: Fraction

    def excludes(self, numbers: Sequence[Fraction]) -> bool:
        """Whether numbers lie outside, by more than the rounding of these numbers to doubles."""
        room = dot(self.weights, [abs(number) for number in numbers]) / 2**50
        return dot(self.weights, numbers) > self.most + room


@dataclass(eq=False)
class Directions:
    """The directions that were looked at, with what was found; ``exact`` says whether points are fractions if small."""

    arena: Arena
    settings: Settings
    exact: bool = False
    points: list[Point] = field(default_factory=list)
    half_spaces: list[HalfSpace] = field(default_factory=list)
    iterations: int = 0

    def look(self, weights: Weights) -> tuple[HalfSpace, Point | None]:
        """Return the half space of a direction, and a point near its border; None if its costs are infinite.

        Weights are those of :func:`rounded_weights`.
        """
        value, most = self._optimum([float(weight) for weight in weights])
        half_space = HalfSpace(weights, most)
        self.half_spaces.append(half_space)
        choices = value.choices
        model = self.arena.model
        last = model.row_groups[1:] - 1
        point = self._point(last if choices is None else np.where(choices < 0, last, choices).astype(np.int32))
        if point is not None and point not in self.points:
            self.points.append(point)
        return half_space, point

    def knows(self, weights: Weights) -> bool:
        """Whether a direction was looked at already."""
        return any(half_space.weights == weights for half_space in self.half_spaces)

    @property
    def is_possible(self) -> bool:
        """Whether some strategy has finite costs."""
        if not self.arena.has_costs:
            return True
        from ...graph import surely_reaches

        model = self.arena.model
        everywhere = np.ones(model.n_states, dtype=np.bool_)
        found = surely_reaches(model, everywhere, self.arena.stopped, some_strategy=True)
        return bool(found[self.arena.initial])

    def _optimum(self, weights: Sequence[float]) -> tuple[Quantity, Fraction]:
        """The weighted optimum, and what no strategy passes.

        Sums of weights are exact. A product with a reward is rounded once and each sum of two once, and no term is
        negative, so that rows, and with them values, are right up to one factor.
        """
        arena = self.arena
        slack = Fraction(len(weights) + 2, 2**52)
        settings = replace(self.settings, strategy=True)
        if not arena.has_costs:
            rows = self._weighted(weights, range(len(weights)))
            found = total_reward(arena.model, Rewards(choice=rows), "max", settings)
            self._note(found)
            return found, Fraction(float(found.upper[arena.initial])) * (1 + slack)
        # A run stops exactly once: what it does not gain there is a cost like the others.
        likely = [i for i, objective in enumerate(arena.objectives) if objective.is_probability]
        all_of_them = sum(weights[i] for i in likely)
        rows = self._weighted(weights, [i for i, objective in enumerate(arena.objectives) if objective.is_cost])
        to_lose = Fraction(all_of_them)
        for i, lost in self._losses.items():
            rows += weights[i] * lost.rows
            to_lose += Fraction(weights[i]) * Fraction(lost.most)
        to_stop = arena.model.row_starts[1:] - 1  # the last entry of a row is the only one of a stop
        stops = arena.model.columns[to_stop] == arena.model.n_states - 1
        stops[-1] = False  # a stopped run pays nothing
        rows[stops] += all_of_them - self._weighted(weights, likely)[stops]
        found = reachability_reward(arena.model, Rewards(choice=rows), arena.stopped, "min", settings)
        self._note(found)
        return found, to_lose - Fraction(float(found.lower[arena.initial])) * (1 - slack)

    @cached_property
    def _losses(self) -> dict[int, Losses]:
        """The rewards to be large, beside costs."""
        arena = self.arena
        return {
            i: losses(arena.model, arena.gains[i], replace(self.settings, strategy=False))
            for i, objective in enumerate(arena.objectives)
            if not objective.is_probability and not objective.is_cost
        }

    def _weighted(self, weights: Sequence[float], objectives: Sequence[int]) -> Floats:
        rows = np.zeros(self.arena.model.n_choices)
        for i in objectives:
            part = weights[i] * self.arena.gains[i]
            if weights[i] and ((part < FAINT) & (self.arena.gains[i] > 0)).any():
                raise NumericError("rewards are too small to be weighed against other objectives in doubles")
            rows += part
        return rows

    def _point(self, rows: Int32s) -> Point | None:
        """What the strategy that takes these rows comes to."""
        arena = self.arena
        chain = replace(with_rows(arena.model, rows, None), type="dtmc")
        everywhere = np.ones(chain.n_states, dtype=np.bool_)
        least, most = [], []
        for objective, gains in zip(arena.objectives, arena.gains, strict=True):
            if objective.is_probability:
                found = until(chain, everywhere, gains[rows] > 0, None, self.settings)
            else:
                found = total_reward(chain, Rewards(choice=gains[rows]), None, self.settings)
            self._note(found)
            low, high = float(found.lower[arena.initial]), float(found.upper[arena.initial])
            if not np.isfinite(high):
                return None
            bounds = (-Fraction(high), -Fraction(low)) if objective.is_cost else (Fraction(low), Fraction(high))
            least.append(bounds[0])
            most.append(bounds[1])
        known = exact_rewards(chain, [gains[rows] for gains in arena.gains]) if self.exact else None
        if known is not None:
            signed = [-x if objective.is_cost else x for x, objective in zip(known, arena.objectives, strict=True)]
            if not all(low <= x <= high for low, x, high in zip(least, signed, most, strict=True)):
                raise ImpossibleAnswerError("multi(…) came out with a point outside its bounds: a mistake of Galton")
            least = most = signed
        return Point(tuple(least), tuple(most))

    def _note(self, found: Quantity) -> None:
        if not found.proved:
            raise NumericError(f"{found.method} proves no bounds, and several objectives need them")
        admit(found, "multi(…)", np.inf)
        self.iterations += found.iterations


def dot(weights: Sequence[Fraction], numbers: Sequence[Fraction]) -> Fraction:
    """Return the sum of products."""
    return sum((a * b for a, b in zip(weights, numbers, strict=True)), Fraction(0))


def rounded_weights(weights: Sequence[Fraction]) -> Weights:
    """Return a direction close to the given one, with few enough bits; the greatest weight is 1."""
    largest = max(weights)
    return tuple(Fraction(round(weight / largest * 2**_BITS), 2**_BITS) for weight in weights)
