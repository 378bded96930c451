"""JANI models (jani-model, version 1) as model and property files of the PRISM language.

What comes out is what a parser of PRISM's text would give, so everything behind it works the same: constants, checking,
building on any device, synthesis, exact numbers. JANI's own ways are translated:

- a location is a value of a variable, unless the automaton has only one;
- a transient variable is a formula over the state, and a label if it is a truth value;
- assignments with indices become one update (:mod:`.effects`);
- synchronisation vectors become those of the program, and edges keep apart what they earn (:mod:`.composition`);
- what properties collect becomes reward structures (:mod:`.rewards`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ..depth import DeepRecursion
from ..expressions import Binary, Conditional, Expression, Label, Literal, Name, Type, Unary
from ..model_types import MODEL_TYPES, Nature
from ..properties import Property, PropertyFile
from ..property_types import PropertyScope
from ..source import Source, UnsupportedError
from ..stream import nearest
from ..syntax import (
    ConstantDeclaration,
    Definition,
    Identifier,
    ModelFile,
    ModuleSyntax,
    RewardItemSyntax,
    RewardsSyntax,
    SystemDefinition,
    SystemVectors,
    VariableDeclaration,
)
from .automata import Automaton, Destination, Edge, Variable, read_automaton, read_variable
from .composition import JOINT, Composition, Joint, compose
from .effects import names_in
from .expressions import Scope, expression, guarded, joined, type_of
from .json_text import Node, read_json
from .names import Names
from .properties import PropertyReader
from .rewards import EXIT, STATE, STEP, Structures

__all__ = ["read_model", "read_properties"]

_FEATURES = ("derived-operators", "functions", "state-exit-rewards")
_KEYS = (
    *("jani-version", "name", "metadata", "type", "features", "actions", "constants", "variables", "functions"),
    *("restrict-initial", "properties", "automata", "system"),
)
_FOREIGN_TYPES = ("lts", "ma", "ctmdp", "ta", "pta", "sta", "ha", "pha", "sha")


def read_model(source: Source) -> ModelFile:
    """The model of a JANI file.

    >>> text = '''{"jani-version": 1, "name": "m", "type": "dtmc", "system": {"elements": [{"automaton": "a"}]},
    ...   "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": []}]}'''
    >>> read_model(Source("example.jani", text)).modules[0].name.name
    'a'
    """
    return _read(source)[0]


def read_properties(source: Source) -> PropertyFile:
    """The properties of a JANI file."""
    return _read(source)[1]


@lru_cache(maxsize=2)
def _read(source: Source) -> tuple[ModelFile, PropertyFile]:
    """Both at once, because the rewards of a model are those that its properties collect."""
    with DeepRecursion(source):
        return _Reader(source).read()


class _Reader:
    def __init__(self, source: Source):
        self._source = source
        self._node = read_json(source).only(_KEYS, "a JANI model")
        self._nature = self._read_nature()
        self._names = Names()
        self._constants, self._constant_scope = self._read_constants()
        self._globals, self._scope = self._read_variables()
        self._action_names = Names()
        self._actions = self._read_actions()
        self._automata, self._joints = self._read_system()
        self._transient = {v.name: v for v in self._all_variables() if v.transient}

    def read(self) -> tuple[ModelFile, PropertyFile]:
        formulas = [
            *(Definition(Identifier(name, self._transient[name].span), v) for name, v in self._state_values().items()),
            *(Definition(Identifier(name, value.span), value) for name, value in self._named_values().items()),
        ]
        structures = self._structures()
        initial = self._initial()
        properties = self._properties(structures, one_initial=initial is None)
        names = [structure.value for structure in structures.found if STEP in structure.ways]
        values = {name: _initial_value(variable) for name, variable in self._transient.items()}
        composed = compose(self._automata, self._joints, names, values, self._action_names, self._source)
        labels = [name for name, variable in self._transient.items() if variable.type == "bool"]
        model = ModelFile(
            self._source,
            Identifier(self._nature.type, self._node["type"].span),
            self._constants,
            tuple(formulas),
            tuple(Definition(Identifier(name, self._transient[name].span), Name(name)) for name in labels),
            self._declarations(self._globals, initial),
            self._modules(composed, initial),
            self._reward_structures(structures, composed),
            initial,
            (SystemDefinition(None, SystemVectors(tuple(composed.vectors)), self._node["system"].span),),
            shares_variables=True,
        )
        return model, PropertyFile(self._source, (), (), (), properties)

    # Declarations

    def _read_nature(self) -> Nature:
        node = self._node
        version = node.need("jani-version", "a JANI model")
        if version.value != "1":
            raise version.unsupported(f"version {version.value} of JANI is not supported: this reads version 1")
        kind = node.need("type", "a JANI model")
        name = kind.text("the type of a model")
        if name in _FOREIGN_TYPES:
            raise kind.unsupported(f"models of type {name} are not supported: Galton checks dtmc, ctmc and mdp models")
        if name not in MODEL_TYPES:
            raise kind.error(f"there is no model type '{name}'", nearest(name, MODEL_TYPES))
        for feature in node.list_of("features", "'features'"):
            if feature.text("a feature") not in _FEATURES:
                raise feature.unsupported(f"the feature '{feature.value}' is not supported")
        return MODEL_TYPES[name]

    def _read_constants(self) -> tuple[tuple[ConstantDeclaration, ...], Scope]:
        nodes = self._node.list_of("constants", "'constants'")
        known: dict[str, Expression] = {}
        for node in nodes:
            node.only(("name", "type", "value"), "a constant")
            self._declare(node, "a constant", known)
        scope = Scope(known)
        declarations = []
        for node in nodes:
            name = known[str(node["name"].value)]
            assert isinstance(name, Name)
            value = expression(node["value"], scope) if "value" in node else None
            kind = type_of(node.need("type", "a constant"))
            declarations.append(ConstantDeclaration(Identifier(name.name, node["name"].span), kind, value))
        return tuple(declarations), scope

    def _declare(self, node: Node, what: str, known: dict[str, Expression]) -> str:
        name = node.need("name", what).text(f"the name of {what}")
        if name in known:
            raise node["name"].error(f"the name '{name}' is taken already")
        known[name] = Name(self._names.new(name))
        return name

    def _read_variables(self) -> tuple[tuple[Variable, ...], Scope]:
        known = dict(self._constant_scope.names)
        variables = []
        for node in self._node.list_of("variables", "'variables'"):
            name = known[self._declare(node, "a variable", known)]
            assert isinstance(name, Name)
            variables.append(read_variable(node, self._constant_scope, name.name))
        scope = Scope(known)
        scope.add_functions(self._node.list_of("functions", "'functions'"))
        return tuple(variables), scope

    def _all_variables(self) -> tuple[Variable, ...]:
        return (*self._globals, *(variable for automaton in self._automata for variable in automaton.variables))

    # Automata and how they synchronise

    def _read_actions(self) -> dict[str, str]:
        actions: dict[str, str] = {}
        for node in self._node.list_of("actions", "'actions'"):
            name = node.only(("name",), "an action").need("name", "an action").text("the name of an action")
            if name in actions:
                raise node["name"].error(f"there is an action '{name}' already")
            actions[name] = self._action_names.new(name)
        return actions

    def _read_system(self) -> tuple[tuple[Automaton, ...], tuple[Joint, ...]]:
        known: dict[str, Node] = {}
        for node in self._node.need("automata", "a JANI model").items("'automata'"):
            name = node.need("name", "an automaton").text("the name of an automaton")
            if name in known:
                raise node["name"].error(f"there is an automaton '{name}' already")
            known[name] = node
        system = self._node.need("system", "a JANI model").only(("elements", "syncs", "automaton"), "'system'")
        elements = [system] if "automaton" in system else list(system.need("elements", "'system'").items("'elements'"))
        if not elements:
            raise system.error("the system has no automaton")
        modules = Names()
        automata = []
        for element in elements:
            name = element.need("automaton", "an element").text("the name of an automaton")
            if name not in known:
                raise element["automaton"].error(f"there is no automaton '{name}'", nearest(name, known))
            if element is not system:
                element.only(("automaton", "input-enable"), "an element")
            automaton = read_automaton(
                known[name], modules.new(name), self._scope, self._constant_scope, self._names, self._actions
            )
            for edge in automaton.edges:
                if edge.rate is not None and not self._nature.has_rates:
                    message = f"edges of a {self._nature.type} cannot have rates or weights here"
                    raise UnsupportedError(message, self._source, edge.rate.span)
            automata.append(self._input_enabled(automaton, element))
        return tuple(automata), self._read_joints(system, automata)

    def _input_enabled(self, automaton: Automaton, element: Node) -> Automaton:
        """The automaton with an edge that does nothing where no other takes part in an action."""
        more = []
        for node in element.list_of("input-enable", "'input-enable'"):
            action, span = self._action(node), node.span
            guards = [edge.guard for edge in automaton.edges if edge.action == action]
            idle: Expression = Unary("!", joined("|", guards, span), span=span) if guards else Literal(True, span=span)
            more.append(Edge(action, idle, None, (Destination(None, (), span),), span))
        return replace(automaton, edges=(*automaton.edges, *more))

    def _action(self, node: Node) -> str:
        name = node.text("an action")
        if name not in self._actions:
            raise node.error(f"the model has no action '{name}'", nearest(name, self._actions))
        return self._actions[name]

    def _read_joints(self, system: Node, automata: list[Automaton]) -> tuple[Joint, ...]:
        joints = [Joint(((number, None),), None, automaton.span) for number, automaton in enumerate(automata)]
        if "syncs" not in system and len(automata) == 1:  # alone, it does what it does
            own = [Joint(((0, action),), action, system.span) for action in self._actions.values()]
            return (*joints, *own)
        for node in system.list_of("syncs", "'syncs'"):
            node.only(("synchronise", "result"), "a synchronisation vector")
            listed = node.need("synchronise", "a synchronisation vector")
            entries = list(listed.items("'synchronise'"))
            if len(entries) != len(automata):
                message = f"this vector has {len(entries)} entries, and the system {len(automata)} automata"
                raise listed.error(message, "one for each automaton: an action, or null if it takes no part")
            parts = tuple((number, self._action(e)) for number, e in enumerate(entries) if e.value is not None)
            if not parts:
                raise listed.error("a vector needs an automaton that takes part")
            result = node.get("result")
            silent = result is None or result.value is None
            joints.append(Joint(parts, None if silent or result is None else self._action(result), node.span))
        return tuple(joints)

    # What states are worth

    def _state_values(self) -> dict[str, Expression]:
        """What each transient variable is worth in a state: what the locations say, or its initial value."""
        found: dict[str, Expression] = {name: _initial_value(variable) for name, variable in self._transient.items()}
        owners: dict[str, Automaton] = {}
        for automaton in self._automata:
            for name in dict.fromkeys(name for values in automaton.transient_values for name in values):
                if name not in self._transient:
                    message = f"only transient variables have values in locations, and '{name}' is none"
                    raise UnsupportedError(message, self._source, automaton.span)
                if name in owners:
                    message = f"the locations of two automata give '{name}' values, which is not supported"
                    raise UnsupportedError(message, self._source, automaton.span)
                owners[name] = automaton
                found[name] = _by_location(automaton, name, found[name])
        return found

    def _named_values(self) -> dict[str, Expression]:
        """Functions without parameters, which are formulas by another name."""
        functions = {name: function for name, function in self._scope.functions.items() if not function.parameters}
        return {self._names.new(name): function.called([], ()) for name, function in functions.items()}

    def _structures(self) -> Structures:
        """Reward structures for transient numbers, but for those that edges only pass on."""
        located = {name for automaton in self._automata for values in automaton.transient_values for name in values}
        assignments = [
            assignment
            for automaton in self._automata
            for edge in automaton.edges
            for destination in edge.destinations
            for assignment in destination.assignments
        ]
        assigned = {assignment.variable for assignment in assignments}
        read = {name for assignment in assignments for name in names_in(assignment.value)}
        read |= {name for automaton in self._automata for edge in automaton.edges for name in names_in(edge.guard)}
        given: dict[str, frozenset[str]] = {}
        for name, variable in self._transient.items():
            if variable.type == "bool":
                continue
            always = _initial_value(variable) not in (Literal(0), Literal(0.0))
            ways = {STATE} if always or name in located else set()
            given[name] = frozenset(
                ways | ({STEP} if always or name in assigned else set()) | ({EXIT} if ways else set())
            )
        structures = Structures(self._nature, given)
        for name in given:
            if name not in read:
                structures.add_variable(name)
        return structures

    def _properties(self, structures: Structures, one_initial: bool) -> tuple[Property, ...]:
        truths = {v.name for v in self._transient.values() if v.type == "bool"}
        types: dict[str, Type] = {c.name.name: c.type for c in self._constants}
        types |= {v.name: v.type for v in self._globals}
        names = {
            name: Label(meant.name) if isinstance(meant, Name) and meant.name in truths else meant
            for name, meant in self._scope.names.items()
        }
        scope = Scope(names)
        scope.add_functions(self._node.list_of("functions", "'functions'"))
        known = PropertyScope(self._source, types, labels=dict.fromkeys(truths, "bool"))
        reader = PropertyReader(self._nature, scope, self._scope, known, structures, one_initial)
        found: dict[str, Property] = {}
        for node in self._node.list_of("properties", "'properties'"):
            prop = reader.read(node)
            assert prop.name is not None
            if prop.name in found:
                raise node["name"].error(f"there is a property '{prop.name}' already")
            found[prop.name] = prop
        return tuple(found.values())

    def _reward_structures(self, structures: Structures, composed: Composition) -> tuple[RewardsSyntax, ...]:
        found = []
        steps = iter(enumerate(composed.items))
        results = dict.fromkeys(vector.action for vector in composed.vectors)
        for structure in structures.found:
            span = structure.value.span
            items: list[RewardItemSyntax] = []
            mean = False
            if STATE in structure.ways:
                items.append(_item(False, None, structure.value))
            if EXIT in structure.ways:
                items += [_item(True, result, structure.value) for result in results]
            if STEP in structure.ways:
                number, earned = next(steps)
                items += earned
                mean = number in composed.means
            found.append(RewardsSyntax(Identifier(structure.name, span), tuple(items), span, mean))
        return tuple(found)

    # Modules and initial states

    def _initial(self) -> Expression | None:
        """The condition of initial states; None where every variable says itself what it begins with."""
        variables = [variable for variable in self._all_variables() if not variable.transient]
        restriction = guarded(self._node.get("restrict-initial"), self._scope, "'restrict-initial'")
        conditions = [automaton.initial for automaton in self._automata if automaton.initial is not None]
        if restriction is not None and restriction != Literal(True):
            conditions.append(restriction)
        if not conditions and all(variable.initial is not None for variable in variables):
            return None
        fixed: list[Expression] = [
            Binary("=", Name(v.name, span=v.span), v.initial, span=v.span) for v in variables if v.initial is not None
        ]
        span = self._node["restrict-initial"].span if restriction is not None else self._node["automata"].span
        return joined("&", [*fixed, *conditions], span) if fixed or conditions else Literal(True, span=span)

    def _declarations(
        self, variables: tuple[Variable, ...], initial: Expression | None
    ) -> tuple[VariableDeclaration, ...]:
        return tuple(
            VariableDeclaration(
                Identifier(v.name, v.span), v.type, v.low, v.high, v.initial if initial is None else None
            )
            for v in variables
            if not v.transient
        )

    def _modules(self, composed: Composition, initial: Expression | None) -> tuple[ModuleSyntax, ...]:
        modules = [
            ModuleSyntax(
                Identifier(automaton.name, automaton.span),
                self._declarations(automaton.variables, initial),
                tuple(composed.commands[automaton.name]),
                automaton.span,
            )
            for automaton in self._automata
        ]
        if joint := composed.commands.get(JOINT):
            span = self._node["system"].span
            modules.append(ModuleSyntax(Identifier(JOINT, span), (), tuple(joint), span))
        return tuple(modules)


def _initial_value(variable: Variable) -> Expression:
    assert variable.initial is not None
    return variable.initial


def _item(transition: bool, action: str | None, value: Expression) -> RewardItemSyntax:
    label = None if action is None else Identifier(action, value.span)
    return RewardItemSyntax(transition, label, Literal(True, span=value.span), value, value.span)


def _by_location(automaton: Automaton, name: str, otherwise: Expression) -> Expression:
    """The value of a transient variable, by the location that an automaton is at."""
    places: dict[Expression, list[Expression]] = {}
    for at, values in zip(automaton.at, automaton.transient_values, strict=True):
        if name in values:
            places.setdefault(values[name], []).append(at)
    for value, where in places.items():
        if len(automaton.at) == 1:
            return value
        otherwise = Conditional(joined("|", where, value.span), value, otherwise, span=value.span)
    return otherwise
