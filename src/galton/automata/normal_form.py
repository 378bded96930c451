"""Formulas in Δ2: Boolean combinations of formulas in Σ2 and Π2, with ``G F`` and ``F G`` apart.

Every formula has such a form, of at most exponential size (Sickert and Esparza, "An efficient normalisation procedure
for linear temporal logic and very weak alternating automata", LICS 2020; Esparza, Rubio and Sickert, "Efficient
normalization of linear temporal logic", J. ACM 71(2), 2024). The equivalences used here are theirs, for formulas in
negation normal form, so monotone in their parts; f[a] is a formula in which a stands somewhere, f[b] the same with b:

- ``f[s] = (s & f[true]) | f[false]`` for s whose truth does not change along a word, such as ``G F a``;
- ``G F f[a W b] = G F f[a U b] | (F G a & G F f[true])``, and the dual for ``F G f[a U b]``;
- ``f W g = f U g | G f``, for an until in g;
- ``f[a U b] W g = (G F b & f[a W b] W g) | f[a U b] U (g | G f[false])``, for the innermost untils first.

The last two leave no until below a weak until. Negated, they leave no weak until below an until; the smaller result is
taken.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from .formula import FALSE, TRUE, Formula, is_always, is_eventually, subformulas
from .simplification import (
    always,
    conjunction,
    disjunction,
    eventually,
    negation,
    next_step,
    until,
    weak_until,
)

_Normalise = Callable[[Formula], Formula]
_REMEMBERED = 2**14


def is_infinitely_often(formula: Formula) -> bool:
    """Whether a formula is ``G F a``."""
    return is_always(formula) and is_eventually(formula.operands[0])


def is_persistently(formula: Formula) -> bool:
    """Whether a formula is ``F G a``."""
    return is_eventually(formula) and is_always(formula.operands[1])


def limit_operand(formula: Formula) -> Formula:
    """Return the a of ``G F a`` or ``F G a``."""
    return formula.operands[0].operands[1] if is_always(formula) else formula.operands[1].operands[0]


@lru_cache(_REMEMBERED)
def delta2(formula: Formula) -> Formula:
    """Return a formula as a Boolean combination of formulas that need no more than a (co-)Büchi automaton each.

    These are ``G F a`` with a co-safe, ``F G a`` with a safe, and formulas in Σ2 or Π2.
    """
    if formula.operator in ("&", "|"):
        return _combined(formula, [delta2(part) for part in formula.operands])
    if (constant := _suspendable_below(formula)) is not None:
        return _expanded(formula, constant, delta2)
    if is_infinitely_often(formula) or is_persistently(formula):
        return _limit(formula)
    if formula.is_sigma2 or formula.is_pi2:
        return formula
    ways = _sigma2(formula), negation(_sigma2(negation(formula)))
    found = min(ways, key=lambda way: (not is_delta2(way), len(list(subformulas(way)))))
    return found if is_delta2(found) else delta2(found)  # simplified, it may have another shape


def is_delta2(formula: Formula) -> bool:
    """Whether a formula is a Boolean combination of those that :func:`delta2` gives."""
    if formula.operator in ("&", "|"):
        return all(map(is_delta2, formula.operands))
    if is_infinitely_often(formula):
        return limit_operand(formula).is_cosafe
    if is_persistently(formula):
        return limit_operand(formula).is_safe
    return formula.is_sigma2 or formula.is_pi2


@lru_cache(_REMEMBERED)
def _sigma2(formula: Formula) -> Formula:
    """A Boolean combination of ``G F a`` and ``F G a`` as above, and of formulas in Σ2."""
    if formula.operator in ("&", "|"):
        return _combined(formula, [_sigma2(part) for part in formula.operands])
    if (constant := _suspendable_below(formula)) is not None:
        return _expanded(formula, constant, _sigma2)
    if is_infinitely_often(formula) or is_persistently(formula):
        return _limit(formula)
    if formula.is_sigma2:
        return formula
    simpler = rebuilt(formula, [_sigma2(part) for part in formula.operands])
    if simpler is not formula:
        return _sigma2(simpler)
    if formula.operator == "X":  # its operand is a Boolean combination
        (operand,) = formula.operands
        return _sigma2(_combined(operand, [next_step(part) for part in operand.operands]))
    stay, goal = formula.operands  # of a weak until: an until of formulas in Σ2 is in Σ2
    if goal.has_until:
        return _sigma2(disjunction((until(stay, goal), always(stay))))
    inner = next(part for part in subformulas(stay) if part.operator == "U")
    weaker = conjunction((always(eventually(inner.operands[1])), weak_until(_weakened(stay, inner), goal)))
    ended = until(stay, disjunction((goal, always(substituted(stay, inner, FALSE)))))
    return _sigma2(disjunction((weaker, ended)))


@lru_cache(_REMEMBERED)
def _limit(formula: Formula) -> Formula:
    """``G F a`` or ``F G a`` as a combination of such formulas with a co-safe or safe."""
    if formula.operator in ("&", "|"):
        return _combined(formula, [_limit(part) for part in formula.operands])
    if is_persistently(formula):
        return negation(_limit(negation(formula)))
    if not is_infinitely_often(formula):
        return delta2(formula)  # simplified, it may be false or have another shape
    if (constant := _suspendable_below(formula)) is not None:
        return _expanded(formula, constant, _limit)
    operand = limit_operand(formula)
    if operand.is_cosafe:
        return formula
    weak = next(part for part in subformulas(operand) if part.operator == "W")
    stay, goal = weak.operands
    ended = always(eventually(substituted(operand, weak, until(stay, goal))))
    stayed = conjunction((eventually(always(stay)), always(eventually(substituted(operand, weak, TRUE)))))
    return _limit(disjunction((ended, stayed)))


def _weakened(formula: Formula, inner: Formula) -> Formula:
    return substituted(formula, inner, weak_until(*inner.operands))


def _expanded(formula: Formula, constant: Formula, normalise: _Normalise) -> Formula:
    there = conjunction((constant, substituted(formula, constant, TRUE)))
    return normalise(disjunction((there, substituted(formula, constant, FALSE))))


def _suspendable_below(formula: Formula) -> Formula | None:
    """The innermost suspendable formula below a temporal operator or a next, if there is one."""
    inside = formula
    if is_infinitely_often(formula) or is_persistently(formula):
        inside = formula.operands[is_persistently(formula)]
    found = (part for part in subformulas(inside) if part.is_temporal and part.is_suspendable and part is not formula)
    return next(found, None)


def _combined(formula: Formula, parts: list[Formula]) -> Formula:
    return conjunction(parts) if formula.operator == "&" else disjunction(parts)


def rebuilt(formula: Formula, operands: list[Formula]) -> Formula:
    """Return a formula with other operands, simplified."""
    match formula.operator:
        case "&":
            return conjunction(operands)
        case "|":
            return disjunction(operands)
        case "X":
            return next_step(operands[0])
        case "U":
            return until(operands[0], operands[1])
        case "W":
            return weak_until(operands[0], operands[1])
    return formula


def substituted(formula: Formula, old: Formula, new: Formula) -> Formula:
    """Return a formula with every occurrence of a subformula replaced."""
    known: dict[Formula, Formula] = {}
    for part in subformulas(formula):
        known[part] = new if part is old else rebuilt(part, [known[operand] for operand in part.operands])
    return known[formula]
