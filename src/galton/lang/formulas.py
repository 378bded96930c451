"""Formulas and renamings: replacing names by what they stand for.

PRISM expands formulas as text would, after module renaming, and a renaming reaches into the bodies of the formulas a
module uses, unless it renames the formula itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from .expressions import Call, Expression, Literal, Name, map_children
from .source import LanguageError, Source
from .syntax import Definition


class FormulaCycle(LanguageError):
    """Formulas that stand in each other, for ever."""


class Expander:
    """Expands the formulas of a text, and applies one module's renaming on the way.

    An expanded formula keeps the places of its body, except that its outermost node stands where the formula was
    used: a guard that is an ``int`` formula is wrong at the guard, an ``&`` of numbers in a formula is wrong there.
    """

    def __init__(self, formulas: Iterable[Definition], source: Source, renaming: Mapping[str, str] | None = None):
        self._definitions = {formula.name.name: formula for formula in formulas}
        self._source = source
        self._renaming = renaming or {}
        self._plain = self if not renaming else Expander(self._definitions.values(), source)
        self._expanded: dict[str, Expression] = {}
        self._known: dict[
            int, tuple[Expression, Expression]
        ] = {}  # what was expanded, by its id, which is kept its own
        self.does_nothing = not self._definitions and not self._renaming
        self._open: list[str] = []

    def renamed(self, renaming: Mapping[str, str]) -> Expander:
        """An expander for a module that is a renamed copy of another."""
        return Expander(self._definitions.values(), self._source, renaming)

    def expand(self, expression: Expression) -> Expression:
        """The expression without formulas, and with new names."""
        if self.does_nothing or type(expression) is Literal:
            return expression
        known = self._known.get(id(expression))
        if known is None:
            known = self._known[id(expression)] = expression, self._expand(expression)
        return known[1]

    def _expand(self, expression: Expression) -> Expression:
        match expression:
            case Name(name):
                if name in self._renaming:
                    return self._plain.expand(Name(self._renaming[name], span=expression.span))
                if name in self._definitions:
                    return replace(self.formula(name), span=expression.span)
                return expression
            case Call(function, arguments) if function in self._renaming:
                renamed = tuple(map(self.expand, arguments))
                return Call(self._renaming[function], renamed, span=expression.span)
        return map_children(expression, self.expand)

    def formula(self, name: str) -> Expression:
        """The expanded body of a formula."""
        if name not in self._expanded:
            definition = self._definitions[name]
            if name in self._open:
                cycle = " → ".join([*self._open[self._open.index(name) :], name])
                raise FormulaCycle(
                    f"the formula '{name}' refers to itself: {cycle}", self._source, definition.name.span
                )
            self._open.append(name)
            self._expanded[name] = self.expand(definition.body)
            self._open.pop()
        return self._expanded[name]
