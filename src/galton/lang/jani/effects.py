"""What a destination does: assignments in the order of their indices, as one update that happens at once.

Transient variables begin at their initial values and are gone afterwards, so each stands for an expression over the
state that is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from ..expressions import Binary, Expression, Literal, Name, children
from ..source import LanguageError, Source
from .automata import Assignment, Destination, Edge
from .expressions import substitute

__all__ = ["after", "is_independent", "mean_value", "names_in", "together"]

Values = Mapping[str, Expression]


def names_in(expression: Expression) -> set[str]:
    """The variables and constants of an expression."""
    if isinstance(expression, Name):
        return {expression.name}
    return {name for child in children(expression) for name in names_in(child)}


def after(assignments: Iterable[Assignment], transient: Values, source: Source) -> dict[str, Expression]:
    """What variables are worth after some assignments, in terms of the state before; those not there are unchanged.

    ``transient`` has the initial values of transient variables.
    """
    values: dict[str, Expression] = dict(transient)
    for _, group in groupby(sorted(assignments, key=_index), key=_index):
        at_once: dict[str, Expression] = {}
        for assignment in group:
            value = substitute(assignment.value, values)
            if at_once.setdefault(assignment.variable, value) != value:
                raise LanguageError(
                    f"'{assignment.variable}' is assigned two values at once",
                    source,
                    assignment.span,
                    "give one of the assignments a higher index",
                )
        values |= at_once
    return values


def _index(assignment: Assignment) -> int:
    return assignment.index


def is_independent(parts: list[list[Edge]], paid: Iterable[set[str]]) -> bool:
    """Whether edges that synchronise can be executed each by itself.

    That is so where no two of them write one variable, none reads what another wrote before, and none of the rewards,
    whose variables are ``paid``, depends on what several of them write.
    """
    assignments = [[a for edge in part for d in edge.destinations for a in d.assignments] for part in parts]
    first: list[dict[str, int]] = []
    for each in assignments:
        written: dict[str, int] = {}
        for assignment in each:
            written[assignment.variable] = min(assignment.index, written.get(assignment.variable, assignment.index))
        first.append(written)
    for place, each in enumerate(assignments):
        for other, written in enumerate(first):
            if other == place:
                continue
            if not written.keys().isdisjoint(first[place]):
                return False
            late = {name for a in each for name in names_in(a.value) if written.get(name, a.index) < a.index}
            if late:
                return False
    return all(sum(not names.isdisjoint(written) for written in first) <= 1 for names in paid)


def together(edges: tuple[Edge, ...]) -> Edge:
    """The edge that stands for several that are taken at once."""
    joint = edges[0]
    for edge in edges[1:]:
        destinations = tuple(
            Destination(_product(a.probability, b.probability), (*a.assignments, *b.assignments), a.span)
            for a in joint.destinations
            for b in edge.destinations
        )
        guard = Binary("&", joint.guard, edge.guard, span=edge.guard.span)
        joint = Edge(None, guard, _product(joint.rate, edge.rate), destinations, joint.span)
    return joint


def _product(left: Expression | None, right: Expression | None) -> Expression | None:
    if left is None or right is None:
        return left or right
    return Binary("*", left, right, span=left.span)


def mean_value(edge: Edge, value: Expression, transient: Values, source: Source) -> tuple[Expression, bool]:
    """What an expression is worth after an edge, and whether that is a mean over destinations that differ."""
    found: dict[Expression, list[Destination]] = {}
    for destination in edge.destinations:
        worth = substitute(value, after(destination.assignments, transient, source))
        found.setdefault(worth, []).append(destination)
    if len(found) == 1:
        return next(iter(found)), False
    terms: list[Expression] = []
    for worth, destinations in found.items():
        if worth in (Literal(0), Literal(0.0)):
            continue
        for destination in destinations:
            weight = destination.probability or Literal(1)
            terms.append(Binary("*", weight, worth, span=destination.span))
    total = terms[0]
    for term in terms[1:]:
        total = Binary("+", total, term, span=edge.span)
    return total, True
