"""Colours of variables: those that differ in how the program uses them get different ones.

Colours are refined as in the test for isomorphism of B. Weisfeiler and A. Lehman (1968): a term gets a number from
those of its operands, an operand one from all the places where it stands, and variables are told apart by these until
nothing changes. Variables of the same colour may be alike, or not: a proof decides. Numbers are hashes, so that those
of two refinements can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from .terms import Terms

__all__ = ["Colouring"]

_ONES = (1 << 61) - 1
MOST_ROUNDS = 50


class Colouring:
    """Refines colours of the variables that stand in some terms."""

    def __init__(self, terms: Terms, roots: Sequence[int]):
        self._roots = roots
        reached = set(roots)
        for term in range(max(roots, default=-1), -1, -1):  # operands come before what is made of them
            if term in reached:
                reached.update(terms.operands[term])
        self._terms = [
            (term, hash(terms.tags[term]), terms.operands[term], terms.unordered[term], terms.variable_of(term))
            for term in sorted(reached)
        ]
        self._size = max(reached, default=-1) + 1

    def refined(self, colours: Sequence[int]) -> list[int]:
        """Colours as fine as they get, from those given."""
        found, classes = list(colours), len(set(colours))
        for _ in range(MOST_ROUNDS):
            found = self._round(found)
            before, classes = classes, len(set(found))
            if classes in (before, len(found)):
                break
        return found

    def _round(self, colours: Sequence[int]) -> list[int]:
        content, context = [0] * self._size, [0] * self._size
        for term, tag, operands, unordered, variable in self._terms:
            if variable is not None:
                content[term] = colours[variable]
            elif unordered:
                content[term] = hash((tag, sum([content[a] for a in operands])))
            else:
                content[term] = hash((tag, *[content[a] for a in operands]))
        for place, root in enumerate(self._roots):
            context[root] += hash((place,))
        found = list(colours)
        for term, _, operands, unordered, variable in reversed(self._terms):
            if variable is not None:
                found[variable] = hash((colours[variable], context[term]))
                continue
            here = hash((context[term], content[term]))
            for place, operand in enumerate(operands):
                context[operand] = (context[operand] + (here if unordered else hash((here, place)))) & _ONES
        return found
