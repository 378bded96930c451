"""Automata as JANI has them: locations, local variables, edges with destinations, assignments with indices.

Expressions are translated, names are those of the program to be, and a location is a value of a variable. Nothing is
put together yet: that is :mod:`.composition`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..evaluation import LARGEST_INT, SMALLEST_INT
from ..expressions import Binary, Expression, Literal, Name, Type
from ..source import Span
from ..stream import nearest
from .expressions import Scope, expression, guarded, joined, type_of
from .json_text import Node
from .names import Names

__all__ = ["Assignment", "Automaton", "Destination", "Edge", "Variable", "read_automaton", "read_variable"]


@dataclass(frozen=True)
class Variable:
    """A variable; bounds are None where its type has none, the initial value where any will do."""

    name: str
    type: Type
    low: Expression | None
    high: Expression | None
    initial: Expression | None
    transient: bool
    span: Span


@dataclass(frozen=True)
class Assignment:
    """``variable := value``; those of one index happen at once, those of lower indices before."""

    variable: str
    value: Expression
    index: int
    span: Span


@dataclass(frozen=True)
class Destination:
    """Where an edge may lead, with its probability (None: 1)."""

    probability: Expression | None
    assignments: tuple[Assignment, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class Edge:
    """An edge; its guard includes that the automaton is at its location."""

    action: str | None
    guard: Expression
    rate: Expression | None
    destinations: tuple[Destination, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class Automaton:
    """An automaton. ``at`` is the condition of each location, ``transient_values`` what holds there."""

    name: str
    variables: tuple[Variable, ...]
    at: tuple[Expression, ...]
    transient_values: tuple[Mapping[str, Expression], ...]
    initial: Expression | None  # None: what its variables begin with says it all
    edges: tuple[Edge, ...]
    span: Span


def read_variable(node: Node, scope: Scope, name: str) -> Variable:
    """A variable of the model or of an automaton; its bounds and initial value may use constants."""
    node.only(("name", "type", "transient", "initial-value"), "a variable")
    shown = node["name"].value
    declared = node.need("type", "a variable")
    transient = "transient" in node and node["transient"].truth("'transient'")
    kind = type_of(declared)
    low = high = None
    if isinstance(declared.value, dict):
        declared.only(("kind", "base", "lower-bound", "upper-bound"), "a bounded type")
        low, high = (declared.get(key) for key in ("lower-bound", "upper-bound"))
        if low is None and high is None:
            raise declared.error("a bounded type needs 'lower-bound' or 'upper-bound'")
        if kind == "bool":
            raise declared.error("a bounded type has numbers: its base is 'int' or 'real'")
    if kind == "double" and not transient:
        raise declared.unsupported(
            f"the variable '{shown}' is a real: only transient variables can be",
            "states have whole numbers and truth values",
        )
    initial = node.get("initial-value")
    if transient and initial is None:
        raise node.error(f"the transient variable '{shown}' needs 'initial-value'")
    return Variable(
        name,
        kind,
        _bound(low, SMALLEST_INT, scope, bounded=high is not None),
        _bound(high, LARGEST_INT, scope, bounded=low is not None),
        None if initial is None else expression(initial, scope),
        transient,
        node["name"].span,
    )


def _bound(node: Node | None, otherwise: int, scope: Scope, *, bounded: bool) -> Expression | None:
    if node is not None:
        return expression(node, scope)
    return Literal(otherwise) if bounded else None


def read_automaton(
    node: Node, name: str, scope: Scope, constants: Scope, names: Names, actions: Mapping[str, str]
) -> Automaton:
    """An automaton, or one of several copies of it.

    Parameters
    ----------
    name
        What it is called; its variables are called after it where their own names are taken.
    scope, constants
        What its expressions may use, and what its declarations may.
    names
        The names that are taken.
    actions
        The actions of the model, with what they are called in the program.
    """
    what = "an automaton"
    node.only(("name", "variables", "restrict-initial", "locations", "initial-locations", "edges", "functions"), what)
    variables, own = [], {}
    for declared in node.list_of("variables", "the variables of an automaton"):
        plain = declared.need("name", "a variable").text("the name of a variable")
        if plain in own:
            raise declared["name"].error(f"the automaton has a variable '{plain}' already")
        variables.append(read_variable(declared, constants, names.new(plain, f"{name}_{plain}")))
        own[plain] = Name(variables[-1].name)
    return _Reader(node, name, scope.inside(own), names, actions, variables).automaton()


class _Reader:
    def __init__(
        self, node: Node, name: str, scope: Scope, names: Names, actions: Mapping[str, str], variables: list[Variable]
    ):
        self._node, self._name, self._scope, self._actions = node, name, scope, actions
        self._scope.add_functions(node.list_of("functions", "the functions of an automaton"))
        self._variables = variables
        self._locations = self._read_locations()
        self._initial = self._initial_locations()
        self._place: str | None = None
        if len(self._locations) > 1:
            self._place = names.new(f"{name}_location")
            first = Literal(self._initial[0]) if len(self._initial) == 1 else None
            last = Literal(len(self._locations) - 1)
            span = node["locations"].span
            self._variables.insert(0, Variable(self._place, "int", Literal(0), last, first, False, span))

    def automaton(self) -> Automaton:
        node = self._node
        return Automaton(
            self._name,
            tuple(self._variables),
            tuple(self._at(number, node.span) for number in range(len(self._locations))),
            tuple(map(self._transient_values, node["locations"].items("the locations"))),
            self._initial_condition(),
            tuple(map(self._edge, node.need("edges", "an automaton").items("the edges of an automaton"))),
            node["name"].span,
        )

    def _read_locations(self) -> dict[str, int]:
        locations: dict[str, int] = {}
        for location in self._node.need("locations", "an automaton").items("the locations"):
            location.only(("name", "transient-values", "time-progress"), "a location")
            if "time-progress" in location:
                raise location["time-progress"].unsupported("'time-progress' belongs to timed models")
            name = location.need("name", "a location").text("the name of a location")
            if name in locations:
                raise location["name"].error(f"there is a location '{name}' already")
            locations[name] = len(locations)
        if not locations:
            raise self._node["locations"].error("an automaton needs a location")
        return locations

    def _initial_locations(self) -> list[int]:
        listed = self._node.need("initial-locations", "an automaton")
        found = sorted({self._location(node) for node in listed.items("the initial locations")})
        if not found:
            raise listed.error("an automaton needs an initial location")
        return found

    def _location(self, node: Node) -> int:
        name = node.text("the name of a location")
        if name not in self._locations:
            raise node.error(f"the automaton has no location '{name}'", nearest(name, self._locations))
        return self._locations[name]

    def _at(self, number: int, span: Span) -> Expression:
        if self._place is None:
            return Literal(True, span=span)
        return Binary("=", Name(self._place, span=span), Literal(number, span=span), span=span)

    def _initial_condition(self) -> Expression | None:
        span = self._node["initial-locations"].span
        conditions = []
        if len(self._initial) > 1:
            conditions.append(joined("|", [self._at(number, span) for number in self._initial], span))
        restriction = guarded(self._node.get("restrict-initial"), self._scope, "'restrict-initial'")
        if restriction is not None and restriction != Literal(True):
            conditions.append(restriction)
        return joined("&", conditions, span) if conditions else None

    def _transient_values(self, location: Node) -> dict[str, Expression]:
        values: dict[str, Expression] = {}
        for node in location.list_of("transient-values", "the transient values of a location"):
            node.only(("ref", "value"), "a transient value")
            name = self._target(node.need("ref", "a transient value"))
            if name in values:
                raise node["ref"].error("this variable has a value here already")
            values[name] = expression(node.need("value", "a transient value"), self._scope)
        return values

    def _target(self, ref: Node) -> str:
        if isinstance(ref.value, dict):
            raise ref.unsupported("only variables can be assigned: arrays and datatypes are not supported")
        name = ref.text("what is assigned")
        meant = self._scope.names.get(name)
        if not isinstance(meant, Name):
            raise ref.error(f"unknown variable '{name}'", nearest(name, self._scope.names))
        return meant.name

    def _edge(self, node: Node) -> Edge:
        node.only(("location", "action", "rate", "guard", "destinations", "assignments"), "an edge")
        place = self._at(self._location(node.need("location", "an edge")), node["location"].span)
        guard = guarded(node.get("guard"), self._scope, "a guard") or Literal(True, span=node.span)
        if guard == Literal(True):
            guard = replace(place, span=guard.span)
        elif place != Literal(True):
            guard = Binary("&", place, guard, span=guard.span)
        common = self._assignments(node)
        destinations = node.need("destinations", "an edge")
        found = tuple(self._destination(each, common) for each in destinations.items("the destinations of an edge"))
        if not found:
            raise destinations.error("an edge needs a destination")
        return Edge(self._action(node), guard, guarded(node.get("rate"), self._scope, "a rate"), found, node.span)

    def _action(self, node: Node) -> str | None:
        if "action" not in node:
            return None
        name = node["action"].text("an action")
        if name not in self._actions:
            raise node["action"].error(f"the model has no action '{name}'", nearest(name, self._actions))
        return self._actions[name]

    def _destination(self, node: Node, common: tuple[Assignment, ...]) -> Destination:
        node.only(("location", "probability", "assignments"), "a destination")
        probability = guarded(node.get("probability"), self._scope, "a probability")
        assignments = (*common, *self._assignments(node))
        target = self._location(node.need("location", "a destination"))
        if self._place is not None:
            span = node["location"].span
            assignments = (Assignment(self._place, Literal(target, span=span), 0, span), *assignments)
        return Destination(probability, assignments, node.span)

    def _assignments(self, node: Node) -> tuple[Assignment, ...]:
        found = []
        for each in node.list_of("assignments", "the assignments"):
            each.only(("ref", "value", "index"), "an assignment")
            index = each.get("index")
            literal = Literal(0) if index is None else expression(index, Scope({}))
            if not isinstance(literal, Literal) or type(literal.value) is not int:
                assert index is not None
                raise index.error("an index must be a whole number")
            value = expression(each.need("value", "an assignment"), self._scope)
            found.append(Assignment(self._target(each.need("ref", "an assignment")), value, literal.value, each.span))
        return tuple(found)
