"""Binary decision diagrams whose leaves are anything, shared by one manager.

A diagram is a number. 0 and 1 are the leaves False and True, so a diagram with these leaves alone is a Boolean
function (Bryant, "Graph-based algorithms for Boolean function manipulation", 1986). With other leaves it says which of
them belongs to a valuation of the variables: the edges of an automaton are the diagram from letters to successors.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

LEAF = 2**62  # the variable of leaves: below all others in the order
Cube = tuple[tuple[int, bool], ...]


class Diagrams:
    """All diagrams over variables 0, 1, …, in this order from the top."""

    def __init__(self) -> None:
        self.variable: list[int] = [LEAF, LEAF]
        self.low: list[int] = [0, 1]
        self.high: list[int] = [0, 1]
        self._value: dict[int, Any] = {0: False, 1: True}
        self._leaf: dict[Hashable, int] = {}
        self._inner: dict[tuple[int, int, int], int] = {}
        self._ite: dict[tuple[int, int, int], int] = {}

    def leaf(self, value: Hashable) -> int:
        """Return the diagram that is this value everywhere; False and True are 0 and 1."""
        if isinstance(value, bool):
            return int(value)
        found = self._leaf.get(value)
        if found is None:
            found = self._leaf[value] = self._new(LEAF, -1, -1)
            self._value[found] = value
        return found

    def value(self, leaf: int) -> Any:
        """Return what a leaf stands for."""
        return self._value[leaf]

    def inner(self, variable: int, low: int, high: int) -> int:
        """Return the diagram that is ``high`` where a variable is true and ``low`` elsewhere; both are below it."""
        if low == high:
            return low
        key = (variable, low, high)
        found = self._inner.get(key)
        if found is None:
            found = self._inner[key] = self._new(variable, low, high)
        return found

    def _new(self, variable: int, low: int, high: int) -> int:
        self.variable.append(variable)
        self.low.append(low)
        self.high.append(high)
        return len(self.variable) - 1

    def choose(self, condition: int, then: int, otherwise: int) -> int:
        """Return ``then`` where a Boolean function is true, ``otherwise`` elsewhere."""
        if condition < 2:
            return then if condition else otherwise
        if then == otherwise:
            return then
        if then == 1 and otherwise == 0:
            return condition
        key = (condition, then, otherwise)
        found = self._ite.get(key)
        if found is None:
            top = min(self.variable[condition], self.variable[then], self.variable[otherwise])
            low = self.choose(*(self._below(part, top, False) for part in key))
            high = self.choose(*(self._below(part, top, True) for part in key))
            found = self._ite[key] = self.inner(top, low, high)
        return found

    def _below(self, diagram: int, variable: int, value: bool) -> int:
        if self.variable[diagram] != variable:
            return diagram
        return self.high[diagram] if value else self.low[diagram]

    def conjunction(self, left: int, right: int) -> int:
        """Return the conjunction of two Boolean functions."""
        return self.choose(left, right, 0)

    def disjunction(self, left: int, right: int) -> int:
        """Return the disjunction of two Boolean functions."""
        return self.choose(left, 1, right)

    def negation(self, function: int) -> int:
        """Return the negation of a Boolean function."""
        return self.choose(function, 0, 1)

    def map(self, diagram: int, change: Callable[[Any], Hashable], into: Diagrams | None = None) -> int:
        """Return a diagram with the values of its leaves changed, among these diagrams or others."""
        known: dict[int, int] = {}
        target = into or self

        def mapped(part: int) -> int:
            if part not in known:
                variable = self.variable[part]
                if variable == LEAF:
                    known[part] = target.leaf(change(self._value[part]))
                else:
                    known[part] = target.inner(variable, mapped(self.low[part]), mapped(self.high[part]))
            return known[part]

        return mapped(diagram)

    def combine(self, left: int, right: int, join: Callable[[Any, Any], Hashable]) -> int:
        """Return the diagram of the joined values of two."""
        known: dict[tuple[int, int], int] = {}

        def combined(one: int, other: int) -> int:
            found = known.get((one, other))
            if found is None:
                top = min(self.variable[one], self.variable[other])
                if top == LEAF:
                    found = self.leaf(join(self._value[one], self._value[other]))
                else:
                    low = combined(self._below(one, top, False), self._below(other, top, False))
                    high = combined(self._below(one, top, True), self._below(other, top, True))
                    found = self.inner(top, low, high)
                known[one, other] = found
            return found

        return combined(left, right)

    def leaves(self, diagram: int) -> list[Any]:
        """Return the values of a diagram, each once, those of low branches first."""
        found: dict[Any, None] = {}
        seen: set[int] = set()
        stack = [diagram]
        while stack:
            part = stack.pop()
            if part in seen:
                continue
            seen.add(part)
            if self.variable[part] == LEAF:
                found[self._value[part]] = None
            else:
                stack += (self.high[part], self.low[part])
        return list(found)

    def at(self, diagram: int, letter: int) -> Any:
        """Return the value for a letter: bit i is the value of variable i."""
        while (variable := self.variable[diagram]) != LEAF:
            diagram = self.high[diagram] if letter >> variable & 1 else self.low[diagram]
        return self._value[diagram]

    def where(self, diagram: int, value: Hashable) -> int:
        """Return the Boolean function that is true where a diagram has this value."""
        return self.map(diagram, lambda leaf: bool(leaf == value))

    def cover(self, function: int) -> list[Cube]:
        """Return conjunctions of literals whose disjunction is a Boolean function, none of them superfluous.

        Minato, "Fast generation of irredundant sum-of-products forms from binary decision diagrams", SASIMI 1992.
        """
        return self._cover(function, function)[0]

    def _cover(self, low: int, high: int) -> tuple[list[Cube], int]:
        """Cubes for some function between two, and that function."""
        if low == 0:
            return [], 0
        if high == 1:
            return [()], 1
        top = min(self.variable[low], self.variable[high])
        below, above = self._below(low, top, False), self._below(high, top, False)
        below1, above1 = self._below(low, top, True), self._below(high, top, True)
        negative, covered = self._cover(self.choose(above1, 0, below), above)
        positive, covered1 = self._cover(self.choose(above, 0, below1), above1)
        rest = self.disjunction(self.choose(covered, 0, below), self.choose(covered1, 0, below1))
        neither, covered_by_both = self._cover(rest, self.conjunction(above, above1))
        cubes = [((top, False), *cube) for cube in negative] + [((top, True), *cube) for cube in positive] + neither
        either = self.inner(
            top, self.disjunction(covered, covered_by_both), self.disjunction(covered1, covered_by_both)
        )
        return cubes, either
