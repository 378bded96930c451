"""What a law says: a sum of terms, each a number times constants times powers of amounts.

Laws come as trees of libsbml. Products and differences are multiplied out; what has no such form is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = ["Law", "Monomial", "NotALawError", "Term", "coefficient", "expanded", "rendered"]

MOST_TERMS = 1000

Monomial = tuple[tuple[str, int], ...]
"""Powers of amounts, by species, sorted."""
Key = tuple[Monomial, tuple[str, ...], tuple[str, ...]]
Tree = Any  # libsbml has no types


class NotALawError(Exception):
    """What a law says that mass action does not, in words."""


@dataclass(frozen=True)
class Term:
    """A number times constants, over constants, times powers of amounts."""

    number: Fraction
    over: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    amounts: Monomial = ()

    def __mul__(self, other: Term) -> Term:
        over, under = Counter((*self.over, *other.over)), Counter((*self.under, *other.under))
        powers = Counter(dict(self.amounts))
        powers.update(dict(other.amounts))
        return Term(
            self.number * other.number,
            tuple(sorted((over - under).elements())),
            tuple(sorted((under - over).elements())),
            tuple(sorted((name, power) for name, power in powers.items() if power)),
        )

    def inverse(self) -> Term:
        """One over a term without amounts."""
        if self.amounts:
            raise NotALawError(f"it divides by the amount of {self.amounts[0][0]}")
        if not self.number:
            raise NotALawError("it divides by zero")
        return Term(1 / self.number, self.under, self.over)


Law = list[Term]


def expanded(tree: Tree, known: Callable[[str], Law]) -> Law:
    """A law multiplied out; ``known`` says what a name stands for."""
    import libsbml

    children = [tree.getChild(i) for i in range(tree.getNumChildren())]

    def below() -> list[Law]:
        return [expanded(child, known) for child in children]

    kind = tree.getType()
    if kind in (libsbml.AST_INTEGER, libsbml.AST_REAL, libsbml.AST_REAL_E, libsbml.AST_RATIONAL):
        return [Term(number_of(tree))]
    if kind == libsbml.AST_NAME:
        return known(tree.getName())
    if kind == libsbml.AST_PLUS:
        return _together(term for part in below() for term in part)
    if kind == libsbml.AST_MINUS:
        first, *others = below()
        if not others:
            return _negated(first)
        return _together([*first, *(term for part in others for term in _negated(part))])
    if kind == libsbml.AST_TIMES:
        return _product(below())
    if kind == libsbml.AST_DIVIDE:
        top, bottom = below()
        return _product([top, [_single(bottom, children[1], known).inverse()]])
    if kind in (libsbml.AST_POWER, libsbml.AST_FUNCTION_POWER):
        base, exponent = below()
        return _power(base, exponent, tree, known)
    raise NotALawError(f"'{_text(tree)}' is more than products of constants and amounts")


def _power(base: Law, exponent: Law, tree: Tree, known: Callable[[str], Law]) -> Law:
    whole = len(exponent) == 1 and exponent[0] == Term(exponent[0].number) and exponent[0].number.denominator == 1
    if whole and 0 <= exponent[0].number <= 16:
        return _product([base] * int(exponent[0].number))
    if any(term.amounts for term in (*base, *exponent)):
        raise NotALawError(f"'{_text(tree)}' is no whole power of an amount")
    return [Term(Fraction(1), (rendered(tree, known),))]


def _single(law: Law, tree: Tree, known: Callable[[str], Law]) -> Term:
    """A divisor as one term: a sum of constants counts as one."""
    if len(law) == 1:
        return law[0]
    if any(term.amounts for term in law):
        raise NotALawError(f"it divides by '{_text(tree)}', which changes with amounts")
    return Term(Fraction(1), (f"({rendered(tree, known)})",))


def _negated(law: Law) -> Law:
    return [Term(-term.number, term.over, term.under, term.amounts) for term in law]


def _product(laws: Iterable[Law]) -> Law:
    found = [Term(Fraction(1))]
    for law in laws:
        if len(found) * len(law) > MOST_TERMS:
            raise NotALawError("it has too many terms")
        found = _together(one * other for one in found for other in law)
    return found


def _together(terms: Iterable[Term]) -> Law:
    """Terms that differ in their numbers alone are one."""
    sums: dict[Key, Fraction] = {}
    for term in terms:
        key = (term.amounts, term.over, term.under)
        sums[key] = sums.get(key, Fraction(0)) + term.number
    return [Term(number, over, under, amounts) for (amounts, over, under), number in sums.items() if number]


def coefficient(terms: Iterable[Term], of: Monomial) -> list[Term]:
    """What stands before a product of amounts."""
    return [Term(term.number, term.over, term.under) for term in terms if term.amounts == of]


# Texts.


def number_of(tree: Tree) -> Fraction:
    """A number as it was written: 0.1 is a tenth."""
    import libsbml

    if tree.getType() == libsbml.AST_INTEGER:
        return Fraction(tree.getInteger())
    if tree.getType() == libsbml.AST_RATIONAL:
        return Fraction(tree.getNumerator(), tree.getDenominator())
    value = tree.getReal()
    if value != value or value in (float("inf"), float("-inf")):
        raise NotALawError("it has a number that is none")
    return Fraction(repr(value))


def written(number: Fraction) -> str:
    """A number in the PRISM language: a decimal, if it is one, or a quotient."""
    decimal = repr(float(number))
    if Fraction(decimal) != number:
        return f"({number.numerator}/{number.denominator})"
    return str(number.numerator) if number.denominator == 1 and abs(number) < 10**9 else decimal


def term_text(term: Term) -> str:
    """A term without amounts as an expression."""
    factors = list(term.over) if term.number == 1 and term.over else [written(term.number), *term.over]
    return "*".join(factors) + "".join(f"/{name}" for name in term.under)


OPERATORS: Mapping[str, str] = {"AST_PLUS": "+", "AST_MINUS": "-", "AST_TIMES": "*", "AST_DIVIDE": "/"}


def rendered(tree: Tree, known: Callable[[str], Law]) -> str:
    """An expression in the PRISM language; names stand for what ``known`` says."""
    import libsbml

    kind = tree.getType()
    parts = [tree.getChild(i) for i in range(tree.getNumChildren())]
    if kind == libsbml.AST_NAME:
        (term,) = known(tree.getName())
        amounts = "*".join(name for name, power in term.amounts for _ in range(power))
        text = term_text(Term(term.number, term.over, term.under))
        if not amounts:
            return text
        return amounts if text == "1" else f"{amounts}*{text}"
    if kind in (libsbml.AST_INTEGER, libsbml.AST_REAL, libsbml.AST_REAL_E, libsbml.AST_RATIONAL):
        number = number_of(tree)
        return written(number) if number >= 0 else f"({written(number)})"
    if kind in (libsbml.AST_POWER, libsbml.AST_FUNCTION_POWER):
        return f"pow({', '.join(rendered(part, known) for part in parts)})"
    symbol = next((text for name, text in OPERATORS.items() if kind == getattr(libsbml, name)), None)
    if symbol is None or not parts:
        raise NotALawError(f"'{_text(tree)}' has no counterpart in the PRISM language")
    if len(parts) == 1:
        return f"({symbol}{rendered(parts[0], known)})"
    return f"({symbol.join(rendered(part, known) for part in parts)})"


def _text(tree: Tree) -> str:
    import libsbml

    return str(libsbml.formulaToL3String(tree))
