"""Automata put together: synchronisation vectors over edges, and what each joint step earns.

Automata become modules and edges commands. The program's composition is a list of vectors, each with the commands that
move together and the name of what they do. Rewards of the PRISM language belong to actions, those of JANI to edges; so
edges that earn different rewards are kept apart under names of their own: ``go`` and ``go_2``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from ..expressions import Binary, Expression, Literal, Name
from ..program import Vector
from ..source import Source, Span, UnsupportedError
from ..syntax import AssignmentSyntax, CommandSyntax, Identifier, RewardItemSyntax, UpdateSyntax
from .automata import Automaton, Destination, Edge
from .effects import Values, after, is_independent, mean_value, names_in, together
from .expressions import substitute
from .names import Names

__all__ = ["Composition", "Joint", "compose"]

MOST_JOINT_EDGES = 100_000
JOINT = "joint edges"  # no automaton has this name


@dataclass(frozen=True)
class Joint:
    """A synchronisation vector: automata by number with the actions they take part with, and what they do then."""

    parts: tuple[tuple[int, str | None], ...]
    result: str | None
    span: Span


@dataclass
class Composition:
    """Commands by module, vectors, and for each reward expression what actions earn."""

    commands: dict[str, list[CommandSyntax]]
    vectors: list[Vector] = field(default_factory=list)
    items: list[list[RewardItemSyntax]] = field(default_factory=list)
    means: set[int] = field(default_factory=set)  # reward expressions of which only a mean is known


def compose(
    automata: Sequence[Automaton],
    joints: Sequence[Joint],
    earned: Sequence[Expression],
    transient: Values,
    names: Names,
    source: Source,
) -> Composition:
    """Put automata together.

    Parameters
    ----------
    joints
        The synchronisation vectors, with one for the silent edges of each automaton.
    earned
        Expressions that are collected in steps: each is worth what it is after the assignments of an edge.
    transient
        Transient variables with their initial values.
    names
        The names of actions that are taken.
    """
    return _Composer(automata, earned, transient, names, source).compose(joints)


class _Composer:
    def __init__(
        self,
        automata: Sequence[Automaton],
        earned: Sequence[Expression],
        transient: Values,
        names: Names,
        source: Source,
    ):
        self._automata, self._earned, self._transient, self._source = automata, earned, transient, source
        self._names = names
        self._paid = [names_in(value) for value in earned]
        self._named: dict[str | None, dict[tuple[Expression, ...], str | None]] = {}
        self._groups: dict[tuple[str, tuple[Edge, ...]], str | None] = {}
        self._found = Composition({automaton.name: [] for automaton in automata}, items=[[] for _ in earned])

    def compose(self, joints: Sequence[Joint]) -> Composition:
        for joint in joints:
            parts = [[e for e in self._automata[i].edges if e.action == action] for i, action in joint.parts]
            if all(parts):
                self._add(joint, parts)
        for earned in self._named.values():
            for values, action in earned.items():
                self._earn(values, action)
        return self._found

    def _add(self, joint: Joint, parts: list[list[Edge]]) -> None:
        modules = [self._automata[number].name for number, _ in joint.parts]
        if len(parts) > 1 and not is_independent(parts, self._paid):
            if prod(map(len, parts)) > MOST_JOINT_EDGES:
                raise UnsupportedError(
                    f"more than {MOST_JOINT_EDGES:,} joint edges share variables", self._source, joint.span
                )
            parts, modules = [[together(edges) for edges in product(*parts)]], [JOINT]
        classes = [self._classes(part) for part in parts]
        for chosen in product(*classes):
            values = tuple(
                self._total([values[place] for values, _ in chosen], place) for place in range(len(self._earned))
            )
            members = (
                (module, self._group(module, edges, joint.result))
                for module, (_, edges) in zip(modules, chosen, strict=True)
            )
            self._found.vectors.append(Vector(self._name(joint.result, values), tuple(members)))

    def _classes(self, edges: list[Edge]) -> list[tuple[tuple[Expression | None, ...], list[Edge]]]:
        """Edges that earn the same, with what that is; None where they have no say in it."""
        written = {a.variable for edge in edges for d in edge.destinations for a in d.assignments}
        found: dict[tuple[Expression | None, ...], list[Edge]] = {}
        for edge in edges:
            values: list[Expression | None] = []
            for place, value in enumerate(self._earned):
                if self._paid[place].isdisjoint(written):
                    values.append(None)
                    continue
                worth, is_mean = mean_value(edge, value, self._transient, self._source)
                values.append(worth)
                if is_mean:
                    self._found.means.add(place)
            found.setdefault(tuple(values), []).append(edge)
        return list(found.items())

    def _total(self, values: list[Expression | None], place: int) -> Expression:
        """What a joint step earns: at most one of its edges has a say in it."""
        said = next((value for value in values if value is not None), None)
        return said if said is not None else substitute(self._earned[place], self._transient)

    def _name(self, result: str | None, values: tuple[Expression, ...]) -> str | None:
        known = self._named.setdefault(result, {})
        if values not in known:
            known[values] = self._names.new(f"{result or 'tau'}_{len(known) + 1}") if known else result
        return known[values]

    def _group(self, module: str, edges: list[Edge], result: str | None) -> str | None:
        """What edges that always come together are called inside their module."""
        key = module, tuple(edges)
        if key not in self._groups:
            action = edges[0].action if module != JOINT else result
            taken = {name for (other, _), name in self._groups.items() if other == module}
            name, number = action, 2
            while name in taken:
                name, number = f"{action or 'tau'} {number}", number + 1
            self._groups[key] = name
            label = None if name is None else Identifier(name, edges[0].span)
            self._found.commands.setdefault(module, []).extend(self._command(edge, label) for edge in edges)
        return self._groups[key]

    def _command(self, edge: Edge, action: Identifier | None) -> CommandSyntax:
        updates = tuple(self._update(edge, destination) for destination in edge.destinations)
        return CommandSyntax(action, edge.guard, updates, edge.span)

    def _update(self, edge: Edge, destination: Destination) -> UpdateSyntax:
        values = after(destination.assignments, self._transient, self._source)
        spans = {assignment.variable: assignment.span for assignment in destination.assignments}
        assignments = tuple(
            AssignmentSyntax(Identifier(name, spans[name]), value)
            for name, value in values.items()
            if name not in self._transient and value != Name(name)
        )
        return UpdateSyntax(_weight(edge.rate, destination.probability), assignments, destination.span)

    def _earn(self, values: tuple[Expression, ...], action: str | None) -> None:
        for items, value in zip(self._found.items, values, strict=True):
            if value not in (Literal(0), Literal(0.0)):
                label = None if action is None else Identifier(action, value.span)
                items.append(RewardItemSyntax(True, label, Literal(True, span=value.span), value, value.span))


def _weight(rate: Expression | None, probability: Expression | None) -> Expression | None:
    """The rate of a destination. Where its probability is a share of the edge's rate, it is that share as written."""
    if rate is None or probability is None:
        return rate or probability
    if isinstance(probability, Binary) and probability.operator == "/" and probability.right == rate:
        return probability.left
    return Binary("*", rate, probability, span=probability.span)
