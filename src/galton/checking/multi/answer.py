"""From ``multi(…)`` to its answer."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from ...device.arrays import is_on_host
from ...device.errors import DeviceError
from ...lang.properties import Multi
from ...lang.source import UnsupportedError
from ...model.errors import NumericError
from ...model.values import Floats
from ...solve.settings import FINEST, Settings
from ..evaluation import Evaluation, UndecidedError
from ..inspection import Terms, UsageError
from ..quantity import Work
from ..result import ParetoSet, Result, Solved
from .arena import Arena, arena
from .averages import AverageDirections, averages_of
from .directions import Directions, HalfSpace, Point, SumDirections
from .mixed import MixedDirections
from .mixtures import Mixture, Worth, memoryless
from .objectives import Objective, objectives_of
from .pareto import pareto_front
from .queries import Best, Met, best_under_bounds, can_be_met
from .worth import require_worth

if TYPE_CHECKING:
    from ...lang.program import Program
    from ...lang.resolution import Question
    from ...model.sparse import Model

__all__ = ["answer"]

METHOD = "weighted sums"
_FINER = 100  # how much narrower each direction is solved
_FINEST = 10 * FINEST  # and at most
_INFEASIBLE = "no strategy meets all bounds of multi(…), so there is no best one"


def answer(
    program: Program, model: Model, question: Question, formula: Multi, settings: Settings, *, strategy: bool
) -> Result:
    """Answer a property that is ``multi(…)``."""
    start = time.perf_counter()
    source = question.source
    objectives = objectives_of(formula, Terms(model.nature, program.constants, source))
    if settings.by_hand:
        raise UsageError(f"--method {settings.method} is not for multi(…), whose bounds are proved; leave it away")
    if not is_on_host(model.columns) or model.on_device:
        raise DeviceError("several objectives are not checked on a device")
    if len(model.initial) > 1:
        message = f"multi(…) is about one initial state, and there are {len(model.initial):,}: this is not supported"
        raise UnsupportedError(message, source, formula.span)
    settings = replace(settings, strategy=strategy)
    evaluation = Evaluation(model, program, source, settings)
    asked = tuple(objective for objective in objectives if not objective.is_trivial)
    found = _Query(evaluation, asked, settings).result(question.prop.text)
    name = evaluation.state_name(int(model.initial[0]))
    warnings = dict.fromkeys([*model.warnings, *evaluation.warnings, *found.warnings])
    return replace(found, about=f"the initial {name}", warnings=tuple(warnings), seconds=time.perf_counter() - start)


@dataclass(eq=False)
class _Query:
    evaluation: Evaluation
    objectives: tuple[Objective, ...]
    settings: Settings

    def result(self, text: str) -> Result:
        # Bounds that do not tell are asked for once more, as narrow as they get.
        found = self._found(max(self.settings.eps / _FINER, _FINEST), False, text)
        wide = isinstance(found.value, float) and found.lower is not None and bool(found.warnings)
        if found.value is None or wide:
            try:
                again = self._found(_FINEST, True, text)
                found = found if again.value is None else again
            except NumericError:
                if found.value is None:
                    raise
        if found.value is None and self._asked:
            message = "whether the bounds of multi(…) can be met together cannot be decided"
            raise UndecidedError(f"{message}: they are met just so, or just not")
        return found

    @property
    def _asked(self) -> list[int]:
        """The objectives whose best is asked for."""
        return [i for i, objective in enumerate(self.objectives) if objective.least is None]

    def _found(self, eps: float, exact: bool, text: str) -> Result:
        directions = self._directions(replace(self.settings, eps=eps), exact)
        if not self._asked:
            return self._truth(directions, text)
        if len(self._asked) == 1:
            return self._best(directions, self._asked[0], text)
        return self._pareto(directions, text)

    @cached_property
    def _arena(self) -> Arena:
        return arena(self.evaluation, self.objectives)

    @cached_property
    def _averages(self) -> dict[int, Floats]:
        return averages_of(self.evaluation, self.objectives)

    def _directions(self, settings: Settings, exact: bool) -> Directions:
        averages = self._averages
        if self.objectives and len(averages) == len(self.objectives):
            rewards = tuple(averages.values())
            return AverageDirections(
                settings, exact, model=self.evaluation.model, asked=self.objectives, rewards=rewards
            )
        if averages:
            return MixedDirections(settings, exact, arena=self._arena, averages=averages)
        return SumDirections(settings, exact, arena=self._arena)

    def _truth(self, directions: Directions, text: str) -> Result:
        met = can_be_met(directions, self._least) if self.objectives else Met(())
        strategy = None
        if isinstance(met, Met):
            strategy = self._mixture(directions, [point for _, point in met.mixture], [p for p, _ in met.mixture])
        value = isinstance(met, Met) if met is not None else None
        return self._made(directions, Result(formula=text, value=value, strategy=strategy))

    @property
    def _least(self) -> list[Fraction | None]:
        return [objective.least for objective in self.objectives]

    def _best(self, directions: Directions, asked: int, text: str) -> Result:
        objective = self.objectives[asked]
        found = best_under_bounds(directions, asked, self._least, self.settings.tolerance)
        if found is False:
            if objective.is_cost and directions.leaves_out:
                return self._without_cost(asked, text)
            return self._made(directions, Result(formula=text, value=math.nan, warnings=(_INFEASIBLE,)))
        if not isinstance(found, Best):
            return self._made(directions, Result(formula=text, value=None))
        lower, upper = sorted((objective.turned(found.lower), objective.turned(found.upper)))
        low, high = max(_down(lower), 0.0), _up(upper)
        if objective.is_share:
            high = min(high, 1.0)
        warnings: tuple[str, ...] = ()
        if not self.settings.tolerance.accepts(low, high):
            apart = f"the bounds are {high - low:.2g} apart, which is more than eps asks for"
            warnings = (f"{apart}; the directions that were looked at come no closer",)
        middle = low if low == high else low + (high - low) / 2
        points, shares = [point for _, point in found.mixture], [share for share, _ in found.mixture]
        strategy = self._mixture(directions, points, shares)
        made = Result(formula=text, value=middle, lower=low, upper=high, warnings=warnings, strategy=strategy)
        return self._made(directions, made)

    def _without_cost(self, asked: int, text: str) -> Result:
        """The least cost where no strategy of finite cost meets the bounds: infinite if another one does."""
        others = tuple(objective for i, objective in enumerate(self.objectives) if i != asked)
        met = _Query(self.evaluation, others, self.settings).result(text)
        if met.value is None:
            return met
        value = math.inf if met.value else math.nan
        bound = math.inf if met.value else None
        warnings = () if met.value else (_INFEASIBLE,)
        return replace(met, value=value, lower=bound, upper=bound, warnings=warnings)

    def _pareto(self, directions: Directions, text: str) -> Result:
        front = pareto_front(directions, self.settings.tolerance)
        if not front.points:
            message = "all strategies have infinite rewards, so there is no Pareto set"
            raise UnsupportedError(message, self.evaluation.source, self.objectives[0].formula.span)
        warnings = []
        if front.gap > self.settings.eps:
            count = len(directions.half_spaces)
            message = (
                f"some may lie {front.gap:.2g} above the others, more than eps asks for, after {count:,} directions"
            )
            if not math.isfinite(front.gap):
                message = "in some direction no bounds could be proved"
            warnings.append(f"points may be missing: {message}")
        if directions.leaves_out:
            warnings.append("strategies whose reward is infinite are left out of the Pareto set")
        bounds = tuple(self._bounds(point) for point in front.points)
        shown = ParetoSet(
            tuple(tuple(self._middle(low, high) for low, high in each) for each in bounds),
            front.gap,
            bounds,
            tuple(self._turned(space) for space in directions.half_spaces),
            tuple(objective.text for objective in self.objectives),
            tuple(objective.maximise for objective in self.objectives),
        )
        strategy = self._mixture(directions, front.points, None)
        made = Result(formula=text, value=shown, warnings=tuple(warnings), strategy=strategy)
        return self._made(directions, made)

    def _middle(self, low: float, high: float) -> float:
        return low if low == high else low + (high - low) / 2

    def _bounds(self, point: Point) -> tuple[tuple[float, float], ...]:
        """Bounds on the numbers of a point as people asked for it."""
        found = []
        for objective, *numbers in zip(self.objectives, point.least, point.most, strict=True):
            lower, upper = sorted(objective.turned(number) for number in numbers)
            found.append((_down(lower) + 0.0, _up(upper) + 0.0))
        return tuple(found)

    def _turned(self, space: HalfSpace) -> tuple[tuple[float, ...], float]:
        """A half space in the numbers that people asked for; its limit is rounded up."""
        weights, limit = [], space.most
        for objective, weight in zip(self.objectives, space.weights, strict=True):
            weights.append(float(weight if objective.maximise else -weight))
            if objective.is_probability and not objective.maximise:
                limit -= weight
        return tuple(weights), _up(limit)

    def _mixture(
        self, directions: Directions, points: Sequence[Point], shares: Sequence[Fraction] | None
    ) -> Mixture | None:
        """The strategies of some points, each of them checked; None where nobody asked for strategies."""
        if not self.settings.strategy:
            return None
        model = self.evaluation.model
        names = tuple(objective.text for objective in self.objectives)
        if not points:  # nothing is asked of a strategy
            first = memoryless(model, model.row_groups[:-1])
            return Mixture(names, (first,), (Fraction(1),), ((),))
        strategies, values = [], []
        for point in points:
            strategies.append(directions.strategy(point, model))
            values.append(tuple(Worth(low, high) for low, high in self._bounds(point)))
            require_worth(strategies[-1], self.objectives, values[-1], self.evaluation)
        return Mixture(names, tuple(strategies), None if shares is None else tuple(shares), tuple(values))

    def _made(self, directions: Directions, result: Result) -> Result:
        detail = f"{len(directions.half_spaces):,} directions, {len(directions.points):,} strategies"
        work = (*directions.work, Work(METHOD, detail, directions.iterations))
        return replace(result, method=METHOD, steps=(Solved(result.formula, METHOD, work),))


def _down(number: Fraction) -> float:
    """The greatest double that is not above a number."""
    near = float(number)
    return near if Fraction(near) <= number else math.nextafter(near, -math.inf)


def _up(number: Fraction) -> float:
    """The least double that is not below a number."""
    return -_down(-number)
