"""Formulas made from their parts, simplified on the way.

The rules are those of the literature on translations (Somenzi and Bloem, "Efficient Büchi automata from LTL formulae",
CAV 2000; Etessami and Holzmann, CONCUR 2000; Babiak et al., "LTL to Büchi automata translation: fast and more
deterministic", TACAS 2012): constants and absorption by syntactic implication, operators that are pulled out of one
another, and what is eventual or universal. ``G F`` and ``F G`` come out at the top wherever these rules can bring them
there, because they cost no states.

Implication is found out by syntax, in one direction: where it is claimed it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from .formula import FALSE, TRUE, Formula, is_always, is_eventually, node, subformulas

_DEEP = 40  # formulas higher than this are unrolled bounds: comparing them with each other would take long
_REMEMBERED = 2**16


def proposition(number: int) -> Formula:
    """Return the atomic proposition with a number."""
    return node("literal", proposition=number)


def conjunction(operands: Iterable[Formula]) -> Formula:
    """Return ``a & b & …``."""
    parts = _flat("&", operands)
    if FALSE in parts or any(negation(part) in parts for part in parts if not part.operands):
        return FALSE
    parts = _joined(parts, is_always, lambda both: always(conjunction(both)))
    parts = _strongest(parts)
    if len(parts) > 1 and any(implies(one, negation(other)) for one, other in _pairs(parts)):
        return FALSE
    return _single(parts, TRUE) or node("&", tuple(parts))


def disjunction(operands: Iterable[Formula]) -> Formula:
    """Return ``a | b | …``."""
    parts = _flat("|", operands)
    if TRUE in parts or any(negation(part) in parts for part in parts if not part.operands):
        return TRUE
    parts = _joined(parts, is_eventually, lambda both: eventually(disjunction(both)))
    parts = _weakest(parts)
    if len(parts) > 1 and any(implies(negation(one), other) for one, other in _pairs(parts)):
        return TRUE
    return _single(parts, FALSE) or node("|", tuple(parts))


def negation(formula: Formula) -> Formula:
    """Return ``!a`` in negation normal form; negated again, it is ``a``."""
    if formula.negated is None:
        for part in subformulas(formula):  # from the inside out: bounds nest deeply
            if part.negated is None:
                part.negated = _negated(part)
                if part.negated.negated is None:
                    part.negated.negated = part
        assert formula.negated is not None
    return formula.negated


def _negated(formula: Formula) -> Formula:
    match formula.operator:
        case "true":
            return FALSE
        case "false":
            return TRUE
        case "literal":
            return node("!literal", proposition=formula.proposition)
        case "!literal":
            return node("literal", proposition=formula.proposition)
    parts = [negation(part) for part in formula.operands]
    match formula.operator:
        case "&":
            return disjunction(parts)
        case "|":
            return conjunction(parts)
        case "X":
            return next_step(parts[0])
        case "U":
            return weak_until(parts[1], conjunction(parts))
    return until(parts[1], conjunction(parts))


def next_step(operand: Formula) -> Formula:
    """Return ``X a``."""
    return operand if operand.is_suspendable else node("X", (operand,))


def eventually(operand: Formula) -> Formula:
    """Return ``F a``."""
    return until(TRUE, operand)


def always(operand: Formula) -> Formula:
    """Return ``G a``."""
    return weak_until(operand, FALSE)


def release(left: Formula, right: Formula) -> Formula:
    """Return ``a R b``: b holds up to and including the first a, or for ever."""
    return weak_until(right, conjunction((left, right)))


def strong_release(left: Formula, right: Formula) -> Formula:
    """Return ``a M b``: b holds up to and including the first a, and there is one."""
    return until(right, conjunction((left, right)))


def implication(left: Formula, right: Formula) -> Formula:
    """Return ``a => b``."""
    return disjunction((negation(left), right))


def equivalence(left: Formula, right: Formula) -> Formula:
    """Return ``a <=> b``."""
    return conjunction((implication(left, right), implication(right, left)))


@lru_cache(_REMEMBERED)
def until(left: Formula, right: Formula) -> Formula:
    """Return ``a U b``."""
    if right.is_eventual or implies(left, right):
        return right
    if left is not TRUE:
        if left.operator == "|":  # what implies b adds nothing to the way there
            left = disjunction(part for part in left.operands if not implies(part, right))
        covered = right.is_propositional and implies(negation(right), left)
        if covered or (left.is_eventual and implies(eventually(right), left)):
            left = TRUE
        elif left.is_universal:  # a holds from now on or not at all
            return disjunction((right, conjunction((left, eventually(right)))))
    if left.operator in ("X", "true") and right.operator == "X":
        return next_step(until(left.operands[0] if left.operands else TRUE, right.operands[0]))
    match right.operator:
        case "&" if held := [part for part in right.operands if part.is_suspendable]:
            others = conjunction(part for part in right.operands if part not in held)
            return conjunction((*held, until(left, others)))
        case "|" if left is TRUE and any(part.is_temporal or part.is_eventual for part in right.operands):
            found = [eventually(part) if part.is_temporal else part for part in right.operands]
            if any(part.is_eventual for part in found):
                others = eventually(disjunction(part for part in found if not part.is_eventual))
                return disjunction((*(part for part in found if part.is_eventual), others))
        case "U" if implies(left, right.operands[0]):
            return right
        case "U" if left is TRUE:
            return eventually(right.operands[1])
        case "W" if left is TRUE and right.operands[1] is not FALSE:  # F(a W b) = F G a | F b
            stay, goal = right.operands
            return disjunction((eventually(always(stay)), eventually(goal)))
        case "W" if left is TRUE:
            return _persistently(right)
    return node("U", (left, right))


@lru_cache(_REMEMBERED)
def weak_until(left: Formula, right: Formula) -> Formula:
    """Return ``a W b``."""
    if left is TRUE or right is TRUE:
        return TRUE
    if left is FALSE or implies(left, right):
        return right
    if left.is_universal:
        return disjunction((left, right))
    if right is not FALSE:
        if right.is_eventual:
            return disjunction((always(left), right))
        if right.is_propositional and implies(negation(right), left):
            return TRUE
        if left.operator == "|":
            left = disjunction(part for part in left.operands if not implies(part, right))
    if left.operator == "X" and right.operator in ("X", "false"):
        return next_step(weak_until(left.operands[0], right.operands[0] if right.operands else FALSE))
    if right is FALSE:
        return _always(left)
    if right.operator == "W" and implies(left, right.operands[0]):
        return right
    return node("W", (left, right))


def _always(operand: Formula) -> Formula:
    match operand.operator:
        case "|" if held := [part for part in operand.operands if part.is_suspendable]:
            others = disjunction(part for part in operand.operands if part not in held)
            return disjunction((*held, always(others)))
        case "&" if any(part.is_temporal or part.is_universal for part in operand.operands):
            found = [always(part) if part.is_temporal else part for part in operand.operands]
            if any(part.is_universal for part in found):
                others = always(conjunction(part for part in found if not part.is_universal))
                return conjunction((*(part for part in found if part.is_universal), others))
        case "W":  # G(a W b) = G(a | b)
            return always(disjunction(operand.operands))
        case "U" if operand.operands[0] is not TRUE:  # G(a U b) = G F b & G(a | b)
            return conjunction((always(eventually(operand.operands[1])), always(disjunction(operand.operands))))
        case "U":
            return _infinitely_often(operand)
    return node("W", (operand, FALSE))


def _infinitely_often(sometimes: Formula) -> Formula:
    """``G F a``: eventual parts of a conjunction come out of it, and steps ahead in a disjunction do not matter."""
    operand = sometimes.operands[1]
    if operand.operator == "&" and (apart := [part for part in operand.operands if part.is_eventual]):
        others = conjunction(part for part in operand.operands if part not in apart)
        return conjunction(always(eventually(part)) for part in (*apart, others))
    if operand.operator == "|" and any(part.operator == "X" for part in operand.operands):
        bare = (part.operands[0] if part.operator == "X" else part for part in operand.operands)
        return always(eventually(disjunction(bare)))
    return node("W", (sometimes, FALSE))


def _persistently(henceforth: Formula) -> Formula:
    """``F G a``, with the rules of ``G F`` turned around."""
    operand = henceforth.operands[0]
    if operand.operator == "|" and (apart := [part for part in operand.operands if part.is_universal]):
        others = disjunction(part for part in operand.operands if part not in apart)
        return disjunction(eventually(always(part)) for part in (*apart, others))
    if operand.operator == "&" and any(part.operator == "X" for part in operand.operands):
        bare = (part.operands[0] if part.operator == "X" else part for part in operand.operands)
        return eventually(always(conjunction(bare)))
    return node("U", (TRUE, henceforth))


# Operands of conjunctions and disjunctions


def _flat(operator: str, operands: Iterable[Formula]) -> list[Formula]:
    neutral = TRUE if operator == "&" else FALSE
    found: dict[Formula, None] = {}
    for operand in operands:
        inner = operand.operands if operand.operator == operator else (operand,)
        found |= dict.fromkeys(part for part in inner if part is not neutral)
    return list(found)


def _joined(
    parts: list[Formula], is_kind: Callable[[Formula], bool], join: Callable[[list[Formula]], Formula]
) -> list[Formula]:
    """``F a | F b`` becomes ``F (a | b)``, ``G a & G b`` becomes ``G (a & b)``; what is suspendable stays apart."""
    alike = [part for part in parts if is_kind(part) and not part.is_suspendable]
    if len(alike) < 2:
        return parts
    inner = [part.operands[1] if is_eventually(part) else part.operands[0] for part in alike]
    joined = join(inner)
    others = [part for part in parts if part not in alike]
    return _flat("|" if is_kind is is_eventually else "&", [*others, joined])


def _strongest(parts: list[Formula]) -> list[Formula]:
    """The operands of a conjunction without those that another one implies."""
    return _kept(parts, lambda part, other: implies(other, part))


def _weakest(parts: list[Formula]) -> list[Formula]:
    """The operands of a disjunction without those that imply another one."""
    return _kept(parts, implies)


def _kept(parts: list[Formula], superfluous: Callable[[Formula, Formula], bool]) -> list[Formula]:
    kept = list(parts)
    for part in parts:
        if any(superfluous(part, other) for other in kept if other is not part):
            kept.remove(part)
    return kept


def _pairs(parts: list[Formula]) -> Iterable[tuple[Formula, Formula]]:
    shallow = [part for part in parts if part.height <= _DEEP]
    return ((one, other) for i, one in enumerate(shallow) for other in shallow[i + 1 :])


def _single(parts: list[Formula], neutral: Formula) -> Formula | None:
    return neutral if not parts else parts[0] if len(parts) == 1 else None


# Implication


def implies(left: Formula, right: Formula) -> bool:
    """Whether every word that satisfies one formula satisfies the other, as far as syntax shows it."""
    if left is right or left is FALSE or right is TRUE:
        return True
    if left is TRUE or right is FALSE or left.height > _DEEP or right.height > _DEEP:
        return False
    return _implies(left, right)


@lru_cache(_REMEMBERED)
def _implies(left: Formula, right: Formula) -> bool:
    if left.operator == "|":
        return all(implies(part, right) for part in left.operands)
    if right.operator == "&":
        return all(implies(left, part) for part in right.operands)
    if left.operator == "&" and any(implies(part, right) for part in left.operands):
        return True
    if right.operator == "|" and any(implies(left, part) for part in right.operands):
        return True
    if left.operator == "X" and right.operator == "X":
        return implies(left.operands[0], right.operands[0])
    if left.is_temporal and all(implies(part, right) for part in left.operands):
        return True  # one of the two operands holds now
    if left.operator == "U" and right.is_eventual and implies(left.operands[1], right):
        return True
    if not right.is_temporal:
        return False
    stay, goal = right.operands
    if implies(left, goal):
        return True
    if right.operator == "W" and left.is_universal and (implies(left, stay) or implies(left, goal)):
        return True
    if left.operator == "U" or (left.operator == "W" and right.operator == "W"):
        return implies(left.operands[0], stay) and implies(left.operands[1], goal)
    return False
