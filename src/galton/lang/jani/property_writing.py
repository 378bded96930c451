"""Properties of the PRISM language as JANI writes them. JANI has no words for some; these are refused by name."""

from __future__ import annotations

from collections.abc import Mapping

from ..expressions import Expression, Label, Literal
from ..model_types import Nature
from ..properties import (
    BinaryPath,
    Comparison,
    Cumulative,
    ExpectedTime,
    Filter,
    Instantaneous,
    LongRun,
    PathQuantifier,
    Probability,
    Reward,
    SteadyState,
    TimeBound,
    UnaryPath,
)
from ..source import Source, UnsupportedError
from ..types import Scope
from .expression_writing import ExpressionWriter
from .json_writing import Json

__all__ = ["PropertyWriter"]

_FILTERS = {"min": "min", "max": "max", "sum": "sum", "avg": "avg", "count": "count", "forall": "∀", "exists": "∃"}
_FILTERS |= {"argmin": "argmin", "argmax": "argmax", "printall": "values"}
_SIGNS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥"}


class PropertyWriter(ExpressionWriter):
    """Writes properties whose formulas are expanded.

    ``rewards`` has, in the order of the reward structures, the variables that stand for them and what they accumulate.
    """

    def __init__(
        self,
        types: Scope,
        labels: Mapping[str, str],
        nature: Nature,
        rewards: Mapping[str, tuple[str, list[Json]]],
        source: Source,
    ):
        super().__init__(types, labels)
        self._nature, self._rewards, self._source = nature, rewards, source

    def property(self, expression: Expression) -> Json:
        """A whole property: what it asks of the initial states, unless it is a filter itself."""
        if isinstance(expression, Filter):
            return self.json(expression)
        return {"op": "filter", "fun": "values", "values": self.json(expression), "states": {"op": "initial"}}

    def json(self, expression: Expression) -> Json:
        match expression:
            case Label("init"):
                return {"op": "initial"}
            case Label("deadlock"):
                return {"op": "deadlock"}
            case Probability(path, optimum, comparison):
                return self._asked("P", {"exp": self.json(path)}, optimum, comparison)
            case SteadyState(states, optimum, comparison):
                return self._asked("S", {"exp": self.json(states)}, optimum, comparison)
            case ExpectedTime(UnaryPath("F", states, None), optimum, comparison):
                passing = "time" if self._nature.is_continuous else "steps"
                asked: dict[str, Json] = {"exp": 1, "accumulate": [passing], "reach": self.json(states)}
                return self._asked("E", asked, optimum, comparison)
            case Reward(objective, structure, optimum, comparison):
                name, collected = self._reward(structure, expression)
                kind, asked = self._objective(objective, name, collected)
                return self._asked(kind, asked, optimum, comparison)
            case PathQuantifier(quantifier, path):
                return {"op": "∀" if quantifier == "A" else "∃", "exp": self.json(path)}
            case Filter(operator, operand, states) if operator in _FILTERS:
                where: Json = True if states is None else self.json(states)
                return {"op": "filter", "fun": _FILTERS[operator], "values": self.json(operand), "states": where}
            case UnaryPath("F" | "G" as operator, operand, bound):
                return {"op": operator, "exp": self.json(operand), **self._bounds(bound)}
            case BinaryPath(operator, left, right, bound):
                return {"op": operator, "left": self.json(left), "right": self.json(right), **self._bounds(bound)}
        try:
            return super().json(expression)
        except TypeError:
            raise self._unsupported("JANI has no words for this", expression) from None

    def _asked(
        self, kind: str, asked: dict[str, Json], optimum: str | None, comparison: Comparison | None
    ) -> dict[str, Json]:
        if optimum is None:  # of a chain, or what holds for all strategies
            optimum = "max" if comparison is not None and comparison.operator in ("<", "<=") else "min"
        quantity: dict[str, Json] = {"op": f"{kind}{optimum}", **asked}
        if comparison is None:
            return quantity
        return {"op": _SIGNS[comparison.operator], "left": quantity, "right": self.json(comparison.bound)}

    def _reward(self, structure: str | Expression | None, whole: Expression) -> tuple[str, list[Json]]:
        if isinstance(structure, Literal):
            return list(self._rewards.values())[int(structure.value) - 1]
        if structure is None and self._rewards:
            return next(iter(self._rewards.values()))
        if not isinstance(structure, str) or structure not in self._rewards:
            raise self._unsupported("this reward structure is not known", whole)
        return self._rewards[structure]

    def _objective(self, objective: Expression, name: str, collected: list[Json]) -> tuple[str, dict[str, Json]]:
        instant = "time-instant" if self._nature.is_continuous else "step-instant"
        match objective:
            case LongRun():
                return "S", {"exp": name}
            case Cumulative(None):
                return "E", {"exp": name, "accumulate": collected}
            case Cumulative(Expression() as limit, False):
                return "E", {"exp": name, "accumulate": collected, instant: self.json(limit)}
            case Instantaneous(time):
                return "E", {"exp": name, instant: self.json(time)}
            case UnaryPath("F", states, None):
                return "E", {"exp": name, "accumulate": collected, "reach": self.json(states)}
        raise self._unsupported("JANI has no words for this objective", objective)

    def _bounds(self, bound: TimeBound | None) -> dict[str, Json]:
        found: dict[str, Json] = {}
        collected: list[Json] = []
        for part in bound.all if bound else ():
            interval = self._interval(part)
            if part.reward is not None:
                name, accumulate = self._reward(part.reward or None, Literal(0))
                collected.append({"exp": name, "accumulate": accumulate, "bounds": interval})
            else:
                timed = self._nature.is_continuous and not part.counts_steps
                found["time-bounds" if timed else "step-bounds"] = interval
        return {**found, "reward-bounds": collected} if collected else found

    def _interval(self, bound: TimeBound) -> Json:
        found: dict[str, Json] = {}
        for key, limit, strict in (("lower", bound.low, bound.low_strict), ("upper", bound.high, bound.high_strict)):
            if limit is not None:
                found |= {key: self.json(limit), **({f"{key}-exclusive": True} if strict else {})}
        return found

    def _unsupported(self, message: str, expression: Expression) -> UnsupportedError:
        return UnsupportedError(message, self._source, expression.span)
