"""From ``multi(…)`` to its answer."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ...device.arrays import is_on_host
from ...device.errors import DeviceError
from ...lang.properties import Multi
from ...lang.source import UnsupportedError
from ...solve.settings import FINEST, Settings
from ..evaluation import Evaluation, UndecidedError
from ..inspection import Terms, UsageError
from ..quantity import Work
from ..result import ParetoSet, Result, Solved
from .arena import arena
from .directions import Directions, Point
from .objectives import Objective, objectives_of
from .queries import Best, best_under_bounds, can_be_met, pareto_points

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
    if strategy:
        raise UnsupportedError("strategies for several objectives are not supported", source, formula.span)
    if not is_on_host(model.columns) or model.on_device:
        raise DeviceError("several objectives are not checked on a device")
    if len(model.initial) > 1:
        message = f"multi(…) is about one initial state, and there are {len(model.initial):,}: this is not supported"
        raise UnsupportedError(message, source, formula.span)
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
        asked = [i for i, objective in enumerate(self.objectives) if objective.least is None]
        built = arena(self.evaluation, self.objectives)
        # Bounds that do not tell are asked for once more, as narrow as they get.
        for eps, exact in ((max(self.settings.eps / _FINER, _FINEST), False), (_FINEST, True)):
            directions = Directions(built, replace(self.settings, eps=eps, strategy=False), exact)
            if not asked:
                found = self._truth(directions, text)
            elif len(asked) == 1:
                found = self._best(directions, asked[0], text)
            else:
                found = self._pareto(directions, text)
            if found.value is not None:
                break
        if found.value is None and asked:
            message = "whether the bounds of multi(…) can be met together cannot be decided"
            raise UndecidedError(f"{message}: they are met just so, or just not")
        return found

    def _truth(self, directions: Directions, text: str) -> Result:
        met = can_be_met(directions, self._least) if self.objectives else True
        return self._made(directions, Result(formula=text, value=met))

    @property
    def _least(self) -> list[Fraction | None]:
        return [objective.least for objective in self.objectives]

    def _best(self, directions: Directions, asked: int, text: str) -> Result:
        objective = self.objectives[asked]
        found = best_under_bounds(directions, asked, self._least, self.settings.tolerance)
        if found is False:
            if objective.is_cost and directions.arena.is_costly:
                return self._without_cost(asked, text)
            return self._made(directions, Result(formula=text, value=math.nan, warnings=(_INFEASIBLE,)))
        if not isinstance(found, Best):
            return self._made(directions, Result(formula=text, value=None))
        lower, upper = sorted((objective.turned(found.lower), objective.turned(found.upper)))
        low, high = max(_down(lower), 0.0), _up(upper)
        if objective.is_probability:
            high = min(high, 1.0)
        warnings: tuple[str, ...] = ()
        if not self.settings.tolerance.accepts(low, high):
            apart = f"the bounds are {high - low:.2g} apart, which is more than eps asks for"
            warnings = (f"{apart}; the directions that were looked at come no closer",)
        middle = low if low == high else low + (high - low) / 2
        return self._made(directions, Result(formula=text, value=middle, lower=low, upper=high, warnings=warnings))

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
        points, gap = pareto_points(directions, self.settings.eps)
        if not points:
            message = "all strategies have infinite rewards, so there is no Pareto set"
            raise UnsupportedError(message, self.evaluation.source, self.objectives[0].formula.span)
        warnings = []
        if gap > self.settings.eps:
            warnings.append(f"points may be missing: some may lie {gap:.2g} above the curve, more than eps asks for")
        if directions.arena.is_costly:
            warnings.append("strategies whose reward is infinite are left out of the Pareto set")
        front = ParetoSet(tuple(self._shown(point) for point in points), gap)
        return self._made(directions, Result(formula=text, value=front, warnings=tuple(warnings)))

    def _shown(self, point: Point) -> tuple[float, ...]:
        """A point as people asked for it: the middle of its bounds."""
        middle = [(low + high) / 2 for low, high in zip(point.least, point.most, strict=True)]
        return tuple(float(o.turned(number)) + 0.0 for o, number in zip(self.objectives, middle, strict=True))

    def _made(self, directions: Directions, result: Result) -> Result:
        detail = f"{len(directions.half_spaces):,} directions, {len(directions.points):,} strategies"
        work = (*directions.arena.work, Work(METHOD, detail, directions.iterations))
        return replace(result, method=METHOD, steps=(Solved(result.formula, METHOD, work),))


def _down(number: Fraction) -> float:
    """The greatest double that is not above a number."""
    near = float(number)
    return near if Fraction(near) <= number else math.nextafter(near, -math.inf)


def _up(number: Fraction) -> float:
    """The least double that is not below a number."""
    return -_down(-number)
