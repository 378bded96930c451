"""Properties of a JANI file, as properties of the PRISM language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..expressions import Binary, Expression, Label
from ..model_types import Nature
from ..properties import (
    BinaryPath,
    Comparison,
    Cumulative,
    Filter,
    Instantaneous,
    LongRun,
    Optimum,
    PathQuantifier,
    Probability,
    Property,
    Reward,
    SteadyState,
    TimeBound,
    UnaryPath,
)
from ..rendering import render
from ..source import LanguageError
from ..types import Scope as Types
from .expressions import Scope, Translation, expression
from .json_text import Node
from .rewards import STATE, STEP, Structures

__all__ = ["PropertyReader"]

_FILTERS = {"min": "min", "max": "max", "sum": "sum", "avg": "avg", "count": "count", "∀": "forall", "∃": "exists"}
_FILTERS |= {"argmin": "argmin", "argmax": "argmax", "values": "printall"}
_SAME_FOR_ONE = ("min", "max", "sum", "avg", "∀", "∃", "values")  # what says the same of a single state
_BOUNDS = ("step-bounds", "time-bounds", "reward-bounds")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class PropertyReader:
    """Reads properties; what they collect joins ``structures``.

    Parameters
    ----------
    scope, rewards
        What names mean in a property, where transient truth values are labels, and in what it collects.
    types
        The types of what it may use.
    one_initial
        Whether the model has one initial state only, so that filters over the initial states change nothing.
    """

    def __init__(
        self, nature: Nature, scope: Scope, rewards: Scope, types: Types, structures: Structures, one_initial: bool
    ):
        self.nature, self.scope, self.rewards, self.types = nature, scope, rewards, types
        self.structures, self.one_initial = structures, one_initial

    def read(self, node: Node) -> Property:
        """A property; one that makes no sense keeps its error to itself."""
        name = node.only(("name", "expression"), "a property").need("name", "a property").text("the name of a property")
        body = node.need("expression", "a property")
        try:
            found = _PropertyTranslation(self).expression(body)
        except LanguageError as error:
            return Property(name, name, body.span, error)
        return Property(name, render(found), body.span, found)


class _PropertyTranslation(Translation):
    def __init__(self, reader: PropertyReader):
        super().__init__(reader.scope)
        self._reader, self._nature = reader, reader.nature

    def _operation(self, node: Node, op: str) -> Expression:
        if op in _SPECIAL:
            return replace(_SPECIAL[op](self, node), span=node.span)
        found = super()._operation(node, op)
        return self._compared(found) if isinstance(found, Binary) else found

    def _compared(self, found: Binary) -> Expression:
        """``Pmin ≥ 0.9`` as ``P>=0.9 [ … ]``, where both mean the same."""
        if found.operator not in _MIRRORED:
            return found
        quantity, sign, bound = found.left, found.operator, found.right
        if isinstance(bound, (Probability, Reward, SteadyState)):
            quantity, sign, bound = bound, _MIRRORED[sign], quantity
        if not isinstance(quantity, (Probability, Reward, SteadyState)) or quantity.comparison is not None:
            return found
        if quantity.optimum is not None and (quantity.optimum == "min") != (sign in (">", ">=")):
            return found
        comparison = Comparison(sign, bound)  # type: ignore[arg-type]
        return replace(quantity, optimum=None, comparison=comparison, span=found.span)

    # Operators

    def _filter(self, node: Node) -> Expression:
        node.only(("op", "fun", "values", "states"), "'filter'")
        fun = node.need("fun", "'filter'")
        if fun.text("'fun'") not in _FILTERS:
            raise fun.error(f"no filter is called '{fun.value}'", f"there are {', '.join(_FILTERS)}")
        values, states = (self.expression(node.need(key, "'filter'")) for key in ("values", "states"))
        if states == Label("init") and (
            fun.value == "values" or (self._reader.one_initial and fun.value in _SAME_FOR_ONE)
        ):
            return values
        return Filter(_FILTERS[str(fun.value)], values, states)

    def _states(self, node: Node) -> Expression:
        node.only(("op",), "a set of states")
        return Label("init" if node["op"].value == "initial" else "deadlock")

    def _timelock(self, node: Node) -> Expression:
        raise node.unsupported("'timelock' belongs to timed models")

    def _optimum(self, node: Node) -> Optimum | None:
        if not self._nature.has_choices:
            return None
        return "min" if str(node["op"].value).endswith("min") else "max"

    def _probability(self, node: Node) -> Expression:
        path = node.only(("op", "exp"), "a probability").need("exp", "a probability")
        return Probability(self.expression(path), self._optimum(node))

    def _quantifier(self, node: Node) -> Expression:
        path = node.only(("op", "exp"), "a quantifier").need("exp", "a quantifier")
        return PathQuantifier("A" if node["op"].value == "∀" else "E", self.expression(path))

    def _long_run(self, node: Node) -> Expression:
        what = "a long-run average"
        value = node.only(("op", "exp", "accumulate"), what).need("exp", what)
        if "accumulate" not in node:
            asked = self.expression(value)
            if self._reader.types.type_of(asked) == "bool":
                return SteadyState(asked, self._optimum(node))
        structure = self._structure(value, node.get("accumulate"), (STATE, STEP), node)
        return Reward(LongRun(), structure, self._optimum(node))

    def _expected(self, node: Node) -> Expression:
        what = "an expected value"
        instants = ("step-instant", "time-instant")
        node.only(("op", "exp", "accumulate", "reach", "reward-instants", *instants), what)
        value, accumulate = node.need("exp", what), node.get("accumulate")
        if "reward-instants" in node:
            raise node["reward-instants"].unsupported("'reward-instants' are not supported")
        ends = [key for key in ("reach", *instants) if key in node]
        if len(ends) > 1:
            raise node[ends[1]].unsupported(f"'{ends[0]}' and '{ends[1]}' are not supported together")
        structure = self._structure(value, accumulate, (STATE,), node)
        objective: Expression
        if not ends:
            if accumulate is None:
                raise node.error("an expected value needs 'accumulate', 'reach', 'step-instant' or 'time-instant'")
            objective = Cumulative(None)
        elif ends == ["reach"]:
            if accumulate is None:
                raise node.unsupported("an expected value upon reaching states needs 'accumulate'")
            objective = UnaryPath("F", self.expression(node["reach"]))
        else:
            time = self._instant(node, ends[0])
            objective = Instantaneous(time) if accumulate is None else Cumulative(time)
        return Reward(objective, structure, self._optimum(node))

    def _instant(self, node: Node, key: str) -> Expression:
        if (key == "time-instant") != self._nature.is_continuous:
            raise self._foreign_time(node[key], key)
        return self.expression(node[key])

    def _foreign_time(self, node: Node, key: str) -> LanguageError:
        counted = "time passes" if self._nature.is_continuous else "steps are counted"
        return node.unsupported(f"'{key}' is not supported in a {self._nature.type}, where {counted}")

    def _structure(self, value: Node, accumulate: Node | None, otherwise: tuple[str, ...], what: Node) -> str:
        return self._reader.structures.collected(expression(value, self._reader.rewards), accumulate, otherwise, what)

    # Paths

    def _unary_path(self, node: Node) -> Expression:
        op = node["op"].value
        operand = node.only(("op", "exp", *_BOUNDS), f"'{op}'").need("exp", f"'{op}'")
        return UnaryPath(op, self.expression(operand), self._bound(node))  # type: ignore[arg-type]

    def _binary_path(self, node: Node) -> Expression:
        op = node["op"].value
        node.only(("op", "left", "right", *_BOUNDS), f"'{op}'")
        left, right = (self.expression(node.need(key, f"'{op}'")) for key in ("left", "right"))
        bound = self._bound(node)
        if op == "U" and getattr(left, "value", None) is True:
            return UnaryPath("F", right, bound)
        return BinaryPath(op, left, right, bound)  # type: ignore[arg-type]

    def _bound(self, node: Node) -> TimeBound | None:
        found: list[TimeBound] = []
        if "step-bounds" in node:
            found.append(replace(self._interval(node["step-bounds"]), counts_steps=self._nature.is_continuous))
        if "time-bounds" in node:
            if not self._nature.is_continuous:
                raise self._foreign_time(node["time-bounds"], "time-bounds")
            found.append(self._interval(node["time-bounds"]))
        for each in node.list_of("reward-bounds", "'reward-bounds'"):
            what = "a bound on rewards"
            each.only(("exp", "accumulate", "bounds"), what)
            interval = self._interval(each.need("bounds", what))
            accumulate = each.need("accumulate", what)
            found.append(replace(interval, reward=self._structure(each.need("exp", what), accumulate, (), each)))
        if len(found) > 1:  # beside others, steps are counted by name
            found = [
                b if b.reward is not None or self._nature.is_continuous else replace(b, counts_steps=True)
                for b in found
            ]
        return replace(found[0], also=tuple(found[1:])) if found else None

    def _interval(self, node: Node) -> TimeBound:
        node.only(("lower", "lower-exclusive", "upper", "upper-exclusive"), "a bound")
        low, high = (self.expression(node[key]) if key in node else None for key in ("lower", "upper"))
        if low is None and high is None:
            raise node.error("a bound needs 'lower' or 'upper'")
        low_strict, high_strict = (
            f"{key}-exclusive" in node and node[f"{key}-exclusive"].truth(f"'{key}-exclusive'")
            for key in ("lower", "upper")
        )
        if low is not None and high is not None and (low_strict or high_strict):
            raise node.unsupported("a bound on both sides must include its ends")
        return TimeBound(low, high, low_strict, high_strict)


_SPECIAL: dict[str, Callable[[_PropertyTranslation, Node], Expression]] = {
    "filter": _PropertyTranslation._filter,
    **dict.fromkeys(("initial", "deadlock"), _PropertyTranslation._states),
    "timelock": _PropertyTranslation._timelock,
    **dict.fromkeys(("Pmin", "Pmax"), _PropertyTranslation._probability),
    **dict.fromkeys(("∀", "∃"), _PropertyTranslation._quantifier),
    **dict.fromkeys(("Smin", "Smax"), _PropertyTranslation._long_run),
    **dict.fromkeys(("Emin", "Emax"), _PropertyTranslation._expected),
    **dict.fromkeys(("X", "F", "G"), _PropertyTranslation._unary_path),
    **dict.fromkeys(("U", "W", "R"), _PropertyTranslation._binary_path),
}
