"""Programs of the PRISM language as JANI models.

Modules become automata with one location, commands edges, and the composition synchronisation vectors. All variables
are global, because modules may read those of others. Labels and rewards become transient variables. Constants stay
open where they have no value. What comes out reads the same in Galton, and in Storm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..depth import DeepRecursion
from ..evaluation import LARGEST_INT, SMALLEST_INT
from ..expressions import Binary, Conditional, Expression, Literal, Type, Value
from ..formulas import Expander
from ..model_types import DEFAULT_TYPE, TYPE_KEYWORDS, nature_of
from ..modules import written_out
from ..program import Vector
from ..properties import Property, PropertyFile, substitute
from ..property_types import PropertyScope
from ..source import LanguageError
from ..syntax import (
    CommandSyntax,
    ModelFile,
    ModuleSyntax,
    RewardItemSyntax,
    RewardsSyntax,
    UpdateSyntax,
    VariableDeclaration,
)
from ..systems import compose, vectors_of
from ..types import Scope
from .expression_writing import ExpressionWriter, number_json
from .json_writing import Json, json_text
from .names import Names
from .property_writing import PropertyWriter

__all__ = ["LeftOut", "jani_text"]

LOCATION = "here"
LeftOut = tuple[Property, LanguageError]
"""A property that JANI has no words for, and the reason."""

_TYPES: dict[Type, str] = {"bool": "bool", "int": "int", "double": "real"}


def jani_text(
    file: ModelFile,
    properties: Sequence[PropertyFile] = (),
    constants: Mapping[str, Value] | None = None,
    name: str = "model",
) -> tuple[str, list[LeftOut]]:
    """A model file as a JANI text, and the properties that had to be left out, with the reasons.

    Parameters
    ----------
    file
        What was parsed; it should have been checked, if all its constants are known.
    properties
        Property files that go with it.
    constants
        Values for constants that the file leaves open; without one they stay open.
    name
        The name of the model.
    """
    with DeepRecursion(file.source):
        return _Writer(file, properties, constants or {}).text(name)


class _Writer:
    def __init__(self, file: ModelFile, properties: Sequence[PropertyFile], constants: Mapping[str, Value]):
        self._file, self._properties, self._given = file, properties, constants
        self._nature = nature_of(TYPE_KEYWORDS[file.type.name] if file.type else DEFAULT_TYPE)
        self._expander = Expander(file.formulas, file.source)
        self._modules = written_out(file, self._expander)
        self._constants = [*file.constants, *(constant for each in properties for constant in each.constants)]
        self._variables = [*file.globals, *(variable for module in self._modules for variable in module.variables)]
        types: dict[str, Type] = {constant.name.name: constant.type for constant in self._constants}
        self._types = Scope(file.source, types | {variable.name.name: variable.type for variable in self._variables})
        names = Names(self._types.types)
        self._label_definitions = [*file.labels, *(label for each in properties for label in each.labels)]
        self._labels: dict[str, str] = {}
        for label in self._label_definitions:
            self._labels[label.name.name] = names.new(label.name.name, f"label_{label.name.name}")
        self._rewards = [names.new(*_names_of_rewards(rewards)) for rewards in file.rewards]
        self._expressions = ExpressionWriter(self._types, self._labels)
        system, self._actions = compose(file, [module.name.name for module in self._modules], self._own_actions())
        alphabets = {m.name.name: dict.fromkeys(_action(command) for command in m.commands) for m in self._modules}
        self._vectors = vectors_of(system, alphabets)

    def text(self, name: str) -> tuple[str, list[LeftOut]]:
        written, left_out = self._written_properties()
        edges, syncs, actions = self._composed()
        model: dict[str, Json] = {
            "jani-version": 1,
            "name": name,
            "type": self._nature.type,
            "features": ["derived-operators", *([] if self._nature.is_continuous else ["state-exit-rewards"])],
            "actions": [{"name": action} for action in actions],
            "constants": [self._constant(place) for place in range(len(self._constants))],
            "variables": [*map(self._variable, self._variables), *self._transient_variables()],
        }
        if self._file.initial is not None:
            model["restrict-initial"] = {"exp": self._json(self._file.initial)}
        model["automata"] = [self._automaton(module, edges[module.name.name]) for module in self._modules]
        elements: list[Json] = [{"automaton": module.name.name} for module in self._modules]
        model |= {"system": {"elements": elements, "syncs": syncs}, "properties": written}
        return json_text(model) + "\n", left_out

    def _own_actions(self) -> list[str]:
        commands = (command for module in self._modules for command in module.commands)
        return list(dict.fromkeys(command.action.name for command in commands if command.action))

    def _json(self, expression: Expression) -> Json:
        return self._expressions.json(self._expander.expand(expression))

    # Declarations

    def _constant(self, place: int) -> Json:
        declaration = self._constants[place]
        found: dict[str, Json] = {"name": declaration.name.name, "type": _TYPES[declaration.type]}
        if declaration.value is not None:
            found["value"] = self._json(declaration.value)
        elif declaration.name.name in self._given:
            found["value"] = number_json(self._given[declaration.name.name])
        return found

    def _variable(self, variable: VariableDeclaration) -> Json:
        """A variable with what it begins with: as PRISM has it, the least value if nothing is said."""
        kind: Json = _TYPES[variable.type]
        begins: Json = False if variable.type == "bool" else 0
        if variable.low is not None and variable.high is not None:
            bounds = {
                key: self._json(bound)
                for key, bound, none in (
                    ("lower-bound", variable.low, Literal(SMALLEST_INT)),
                    ("upper-bound", variable.high, Literal(LARGEST_INT)),
                )
                if bound != none
            }
            kind, begins = {"kind": "bounded", "base": "int", **bounds}, self._json(variable.low)
        found: dict[str, Json] = {"name": variable.name.name, "type": kind}
        if self._file.initial is None:
            found["initial-value"] = begins if variable.initial is None else self._json(variable.initial)
        return found

    def _transient_variables(self) -> Iterable[Json]:
        for name in self._labels.values():
            yield {"name": name, "type": "bool", "transient": True, "initial-value": False}
        for name in self._rewards:
            yield {"name": name, "type": "real", "transient": True, "initial-value": 0}

    # Automata

    def _automaton(self, module: ModuleSyntax, edges: list[Json]) -> Json:
        location: dict[str, Json] = {"name": LOCATION}
        if module is self._modules[0] and (values := self._state_values()):
            location["transient-values"] = values
        return {
            "name": module.name.name,
            "locations": [location],
            "initial-locations": [LOCATION],
            "edges": edges,
        }

    def _state_values(self) -> list[Json]:
        """What labels and rewards are worth in a state: it is all the same whose location says so."""
        found: list[Json] = []
        formulas = self._formulas()
        for label in self._label_definitions:
            body = substitute(label.body, formulas)
            found.append({"ref": self._labels[label.name.name], "value": self._expressions.json(body)})
        for name, rewards in zip(self._rewards, self._file.rewards, strict=True):
            if (value := self._earned(item for item in rewards.items if not item.transition)) is not None:
                found.append({"ref": name, "value": value})
        return found

    def _formulas(self) -> dict[str, Expression]:
        formulas = {f.name.name: self._expander.formula(f.name.name) for f in self._file.formulas}
        for each in self._properties:
            for formula in each.formulas:
                formulas[formula.name.name] = substitute(formula.body, formulas)
        return formulas

    def _earned(self, items: Iterable[RewardItemSyntax]) -> Json:
        """What reward items come to in a state; None for nothing."""
        total: Expression | None = None
        for item in items:
            guard, value = self._expander.expand(item.guard), self._expander.expand(item.value)
            earned = value if guard == Literal(True) else Conditional(guard, value, Literal(0))
            total = earned if total is None else Binary("+", total, earned)
        return None if total is None else self._expressions.json(total)

    def _composed(self) -> tuple[dict[str, list[Json]], list[Json], list[str]]:
        """The edges of each automaton, the synchronisation vectors, and all actions.

        What a joint step earns is paid by its first automaton. If that takes part in other steps too that pay something
        else, or by somebody else, its edges are there once for each, under names of their own.
        """
        places = {module.name.name: place for place, module in enumerate(self._modules)}
        names = Names()
        actions = {action: names.new(action) for action in dict.fromkeys((*self._own_actions(), *self._actions))}
        edges: dict[str, list[Json]] = {module.name.name: [] for module in self._modules}
        known: dict[tuple[str, str | None, str | None, bool], str | None] = {}
        syncs: list[Json] = []
        for vector in self._vectors:
            entries: list[Json] = [None] * len(self._modules)
            silent = vector.action is None and len(vector.parts) == 1 and vector.parts[0][1] is None
            for place, (module, action) in enumerate(vector.parts):
                key = module, action, vector.action, place == 0 and self._pays(vector)
                if not key[3]:
                    key = module, action, None, False
                if key not in known:
                    same = action is not None and any(other[:2] == key[:2] for other in known)
                    known[key] = names.new(f"{action}_paid") if same else None if action is None else actions[action]
                    edges[module] += self._edges(module, action, known[key], vector.action if key[3] else "")
                entries[places[module]] = known[key]
            if not silent:
                result: dict[str, Json] = {} if vector.action is None else {"result": actions[vector.action]}
                syncs.append({"synchronise": entries, **result})
        used = dict.fromkeys([*actions.values(), *(name for name in known.values() if name is not None)])
        return edges, syncs, list(used)

    def _pays(self, vector: Vector) -> bool:
        return any(_pays(item, vector.action) for rewards in self._file.rewards for item in rewards.items)

    def _edges(self, module: str, action: str | None, name: str | None, paid_for: str | None) -> list[Json]:
        """The edges of the commands with an action; ``paid_for`` is the action whose rewards they earn, or empty."""
        (source,) = (m for m in self._modules if m.name.name == module)
        earned: list[Json] = []
        for variable, rewards in zip(self._rewards, self._file.rewards, strict=True):
            items = [item for item in rewards.items if paid_for != "" and _pays(item, paid_for)]
            if items:
                earned.append({"ref": variable, "value": self._earned(items)})
        commands = [command for command in source.commands if _action(command) == action]
        return [edge for command in commands for edge in self._edge(command, name, earned)]

    def _edge(self, command: CommandSyntax, action: str | None, earned: list[Json]) -> list[Json]:
        """An edge, or in a CTMC one for each update: rates add up by themselves."""
        edge: dict[str, Json] = {"location": LOCATION, **({} if action is None else {"action": action})}
        guard: dict[str, Json] = {}
        if command.guard != Literal(True):
            guard["guard"] = {"exp": self._expressions.json(command.guard)}
        if not self._nature.has_rates:
            return [{**edge, **guard, "destinations": [self._destination(u, earned) for u in command.updates]}]
        found: list[Json] = []
        for update in command.updates:
            rate: Json = 1 if update.probability is None else self._expressions.json(update.probability)
            destination = self._destination(update._replace(probability=None), earned)
            found.append({**edge, "rate": {"exp": rate}, **guard, "destinations": [destination]})
        return found

    def _destination(self, update: UpdateSyntax, earned: list[Json]) -> Json:
        found: dict[str, Json] = {"location": LOCATION}
        if update.probability is not None:
            found["probability"] = {"exp": self._expressions.json(update.probability)}
        assignments: list[Json] = [
            {"ref": a.variable, "value": self._expressions.json(a.value)} for a in update.assignments
        ]
        if assignments or earned:
            found["assignments"] = [*assignments, *earned]
        return found

    # Properties

    def _written_properties(self) -> tuple[list[Json], list[LeftOut]]:
        """The properties; those without a name get one."""
        formulas = self._formulas()
        taken = Names(prop.name for each in self._properties for prop in each.properties if prop.name)
        rewards = {
            rewards.name.name if rewards.name else f"#{place}": (variable, self._accumulated(rewards))
            for place, (variable, rewards) in enumerate(zip(self._rewards, self._file.rewards, strict=True), 1)
        }
        written: list[Json] = []
        left_out: list[LeftOut] = []
        for each in self._properties:
            types = PropertyScope(each.source, self._types.types, labels=dict.fromkeys(self._labels, "bool"))
            writer = PropertyWriter(types, self._labels, self._nature, rewards, each.source)
            for prop in each.properties:
                try:
                    asked = writer.property(substitute(prop.expression, formulas))
                except LanguageError as error:
                    left_out.append((prop, error))
                    continue
                written.append({"name": prop.name or taken.new("property"), "expression": asked, "comment": prop.text})
        return written, left_out

    def _accumulated(self, rewards: RewardsSyntax) -> list[Json]:
        states = "time" if self._nature.is_continuous else "exit"
        found: list[Json] = [states] if any(not item.transition for item in rewards.items) else []
        if not found or any(item.transition for item in rewards.items):
            found.append("steps")
        return found


def _names_of_rewards(rewards: RewardsSyntax) -> tuple[str, ...]:
    return (rewards.name.name, f"reward_{rewards.name.name}") if rewards.name else ("reward",)


def _action(command: CommandSyntax) -> str | None:
    return command.action.name if command.action else None


def _pays(item: RewardItemSyntax, action: str | None) -> bool:
    return item.transition and (item.action.name if item.action else None) == action
