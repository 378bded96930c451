"""Formulas of linear temporal logic in negation normal form, as shared, immutable nodes.

Only literals, ``&``, ``|``, ``X``, ``U`` and ``W`` are nodes; the rest is written with them: ``F a`` is ``true U a``,
``G a`` is ``a W false``, ``a R b`` is ``b W (a & b)`` and its strong form ``a M b`` is ``b U (a & b)``. Equal formulas
are one object, so that comparing them costs nothing and a formula that repeats its parts takes no more memory for it.

A node knows its place in the hierarchy of Manna and Pnueli, as far as syntax shows it. Formulas without ``W`` are
co-safe (Σ1), those without ``U`` safe (Π1); where no ``U`` stands below a ``W`` the formula is in Σ2, where no ``W``
stands below a ``U`` in Π2. It also knows whether it is *eventual* (``f`` is ``F f``), *universal* (``f`` is ``G f``) or
both: then its truth does not change along a word (Etessami and Holzmann, "Optimizing Büchi automata", CONCUR 2000).

Formulas are made by :mod:`galton.automata.simplification`; :func:`node` makes them as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal as OneOf
from weakref import WeakValueDictionary
from zlib import crc32

Operator = OneOf["true", "false", "literal", "!literal", "&", "|", "X", "U", "W"]


class Formula:
    """A node; its operands are nodes again. A literal has the number of its atomic proposition."""

    __slots__ = (
        *("operator", "operands", "proposition", "height", "has_until", "has_weak_until"),
        *("is_sigma2", "is_pi2", "is_eventual", "is_universal", "negated", "order", "__weakref__"),
    )

    def __init__(self, operator: Operator, operands: tuple[Formula, ...], proposition: int):
        self.operator = operator
        self.operands = operands
        self.proposition = proposition
        self.negated: Formula | None = None  # once it is known
        self.height: int = 1 + max((part.height for part in operands), default=0)
        least = min((part.order[0] for part in operands if part.order[0] >= 0), default=proposition)
        digest = crc32(repr((operator, proposition, *(part.order for part in operands))).encode())
        self.order: tuple[int, int, int] = (least, self.height, digest)  # by structure, the same in every run
        self.has_until: bool = operator == "U" or any(part.has_until for part in operands)
        self.has_weak_until: bool = operator == "W" or any(part.has_weak_until for part in operands)
        self.is_sigma2: bool = all(part.is_sigma2 for part in operands) and not (operator == "W" and self.has_until)
        self.is_pi2: bool = all(part.is_pi2 for part in operands) and not (operator == "U" and self.has_weak_until)
        closed = operator not in ("literal", "!literal")
        self.is_eventual: bool = closed and (
            (operator == "U" and operands[0].operator == "true") or all(part.is_eventual for part in operands)
        )
        self.is_universal: bool = closed and (
            (operator == "W" and operands[1].operator == "false") or all(part.is_universal for part in operands)
        )

    @property
    def is_cosafe(self) -> bool:
        """Whether every word that satisfies it has a prefix that shows so, by syntax."""
        return not self.has_weak_until

    @property
    def is_safe(self) -> bool:
        """Whether every word that violates it has a prefix that shows so, by syntax."""
        return not self.has_until

    @property
    def is_suspendable(self) -> bool:
        """Whether it holds of a word if and only if it holds of its suffixes, as ``G F a`` does, by syntax."""
        return self.is_eventual and self.is_universal

    @property
    def is_propositional(self) -> bool:
        """Whether it has neither ``U`` nor ``W``."""
        return not (self.has_until or self.has_weak_until)

    @property
    def is_temporal(self) -> bool:
        """Whether its outermost operator is ``U`` or ``W``."""
        return self.operator in ("U", "W")

    def __repr__(self) -> str:
        from .text import render

        return f"<{render(self)}>"


_nodes: WeakValueDictionary[tuple[object, ...], Formula] = WeakValueDictionary()


def node(operator: Operator, operands: tuple[Formula, ...] = (), proposition: int = -1) -> Formula:
    """Return the node with these parts, the only one there is."""
    if operator in ("&", "|"):
        operands = tuple(sorted(operands, key=lambda part: part.order))
    key = (operator, operands, proposition)
    found = _nodes.get(key)
    if found is None:
        found = _nodes[key] = Formula(operator, operands, proposition)
    return found


TRUE = node("true")
FALSE = node("false")


def is_always(formula: Formula) -> bool:
    """Whether a formula is ``G a``."""
    return formula.operator == "W" and formula.operands[1] is FALSE


def is_eventually(formula: Formula) -> bool:
    """Whether a formula is ``F a``."""
    return formula.operator == "U" and formula.operands[0] is TRUE


def subformulas(formula: Formula) -> Iterator[Formula]:
    """Every subformula once, operands before what they are operands of."""
    seen: set[Formula] = set()
    stack = [(formula, False)]
    while stack:
        part, finished = stack.pop()
        if finished:
            yield part
        elif part not in seen:
            seen.add(part)
            stack.append((part, True))
            stack += [(operand, False) for operand in reversed(part.operands)]


def propositions(formula: Formula) -> list[int]:
    """The numbers of the atomic propositions that a formula speaks of, in order."""
    return sorted({part.proposition for part in subformulas(formula)} - {-1})
