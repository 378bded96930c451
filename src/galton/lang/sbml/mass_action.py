"""Mass action: from a law about amounts, as if they were continuous, to propensities that count molecules.

In a law k·A·A of A + A → B, the amount a of A stands for pairs of molecules, of which there are a·(a-1) in order. So a
power a^m of what is consumed becomes a·(a-1)·…·(a-m+1), with the same constant: for large amounts both are the same,
and none is left to react where fewer than m are there (D. T. Gillespie, Journal of Physical Chemistry 81, 1977, whose
constant for unordered pairs is twice the k of the law). A law that says a·(a-1) already is left as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product

from .laws import Law, Monomial, NotALawError, Term, coefficient, term_text

__all__ = ["propensities"]

MOST_PARTS = 8  # of a law

Direction = tuple[str, dict[str, int]]
"""A coefficient, and how many molecules of which species are drawn."""


def propensities(
    law: Law, consumed: Mapping[str, int], produced: Mapping[str, int], *, reversible: bool
) -> tuple[list[Direction], list[Direction]]:
    """The propensities of a reaction, and of its reverse if the law has one; NotALawError if this is no mass action.

    Several of one direction are ways for the same to happen, such as by itself and with the help of a catalyst.
    """
    if not law:
        raise NotALawError("its law is zero")
    monomials = list(dict.fromkeys(term.amounts for term in law))
    forward = [m for m in monomials if _fits(m, consumed) and _has_sign(law, m, 1)]
    backward = [m for m in monomials if _fits(m, produced) and _has_sign(law, m, -1)] if reversible else []
    negated = [Term(-term.number, term.over, term.under, term.amounts) for term in law]
    plain = forward, [m for m in backward if m not in forward]
    pairs = (([there], [back]) for there in forward for back in backward)
    for ahead, back in [plain, *(([there], []) for there in forward), *pairs]:
        if ahead and _is_sum(law, ahead, back):
            return [_direction(law, m) for m in ahead], [_direction(negated, m) for m in back]
    raise NotALawError(_reason(monomials, consumed, reversible))


def _has_sign(law: Law, amounts: Monomial, sign: int) -> bool:
    return all(sign * term.number > 0 for term in coefficient(law, amounts))


def _fits(amounts: Monomial, consumed: Mapping[str, int]) -> bool:
    """Whether a product has what is consumed, as often as it is; catalysts may stand there besides."""
    powers = dict(amounts)
    return all(powers.get(name) == count for name, count in consumed.items())


def _direction(law: Law, amounts: Monomial) -> Direction:
    terms = coefficient(law, amounts)
    text = "+".join(term_text(term) for term in terms)
    return (f"({text})" if len(terms) > 1 else text), dict(amounts)


def _is_sum(law: Law, ahead: list[Monomial], back: list[Monomial]) -> bool:
    """Whether a law is the sum of these products less those, each with powers or with falling powers."""
    parts = [*ahead, *back]
    if len(parts) > MOST_PARTS:
        return False
    forms = ([list(_times(coefficient(law, m), form)) for form in ([(1, m)], list(_falling(m)))] for m in parts)
    wanted = _as_dict(law)
    return any(_as_dict(term for part in chosen for term in part) == wanted for chosen in product(*forms))


def _as_dict(terms: Iterable[Term]) -> dict[object, Fraction]:
    sums: Counter[object] = Counter()
    for term in terms:
        sums[term.amounts, term.over, term.under] += term.number  # type: ignore[assignment]
    return {key: Fraction(number) for key, number in sums.items() if number}


def _times(terms: list[Term], form: list[tuple[int, Monomial]]) -> Iterator[Term]:
    for term in terms:
        for number, amounts in form:
            yield Term(term.number * number, term.over, term.under, amounts)


def _falling(amounts: Monomial) -> Iterator[tuple[int, Monomial]]:
    """The terms of a·(a-1)·…, one factor for each species, multiplied out."""
    for parts in product(*([(power, number, name) for power, number in _one(most)] for name, most in amounts)):
        number = 1
        for _, factor, _ in parts:
            number *= factor
        yield number, tuple((name, power) for power, _, name in parts)


def _one(most: int) -> list[tuple[int, int]]:
    """a·(a-1)·…·(a-most+1) as pairs of a power and its number: Stirling numbers of the first kind."""
    numbers = {1: 1}
    for less in range(1, most):
        longer: Counter[int] = Counter()
        for power, number in numbers.items():
            longer[power + 1] += number
            longer[power] -= less * number
        numbers = dict(longer)
    return list(numbers.items())


def _reason(monomials: list[Monomial], consumed: Mapping[str, int], reversible: bool) -> str:
    wanted = "*".join(f"{name}^{count}" if count > 1 else name for name, count in consumed.items()) or "no amount"
    found = " and ".join("*".join(f"{n}^{p}" if p > 1 else n for n, p in m) or "a constant" for m in monomials)
    less = ", less a constant times what it produces" if reversible else ""
    return f"mass action is a constant times {wanted}{less}; this law has terms with {found}"
