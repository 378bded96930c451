"""Acceptance conditions of Emerson and Lei: Boolean combinations of "infinitely often" and "finitely often".

Marks stand on edges; a run is accepted or not by the set of marks that it meets infinitely often. All the classical
conditions are of this form, and a disjunctive normal form of any is a generalised Rabin condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal as OneOf


@dataclass(frozen=True, slots=True)
class Mark:
    """``Inf(m)``, the mark is met infinitely often, or ``Fin(m)``, it is not."""

    operator: OneOf["Inf", "Fin"]
    number: int


@dataclass(frozen=True, slots=True)
class Gate:
    """``a & b & …`` or ``a | b | …``; without operands true and false."""

    operator: OneOf["&", "|"]
    operands: tuple[Acceptance, ...] = ()


Acceptance = Mark | Gate
ALL = Gate("&")
NONE = Gate("|")


@dataclass(frozen=True, slots=True)
class Pair:
    """A generalised Rabin pair: no mark of ``fin`` infinitely often, and each of ``inf`` so. Sets are bits."""

    fin: int
    inf: int


def inf(mark: int) -> Acceptance:
    """Return "this mark infinitely often"."""
    return Mark("Inf", mark)


def fin(mark: int) -> Acceptance:
    """Return "this mark finitely often"."""
    return Mark("Fin", mark)


def gate(operator: OneOf["&", "|"], operands: Iterable[Acceptance]) -> Acceptance:
    """Return a conjunction or disjunction without constants, repetitions and nesting that say nothing."""
    neutral, absorbing = (ALL, NONE) if operator == "&" else (NONE, ALL)
    found: dict[Acceptance, None] = {}
    for operand in operands:
        if operand == absorbing:
            return absorbing
        inner = operand.operands if isinstance(operand, Gate) and operand.operator == operator else (operand,)
        found |= dict.fromkeys(part for part in inner if part != neutral)
    parts = tuple(found)
    return parts[0] if len(parts) == 1 else Gate(operator, parts)


def holds(acceptance: Acceptance, marks: int) -> bool:
    """Whether a run is accepted that meets exactly these marks infinitely often."""
    if isinstance(acceptance, Mark):
        return bool(marks >> acceptance.number & 1) == (acceptance.operator == "Inf")
    every = all if acceptance.operator == "&" else any
    return every(holds(part, marks) for part in acceptance.operands)


def replaced(acceptance: Acceptance, change: Callable[[Mark], Acceptance]) -> Acceptance:
    """Return a condition with every mark replaced."""
    if isinstance(acceptance, Mark):
        return change(acceptance)
    return gate(acceptance.operator, (replaced(part, change) for part in acceptance.operands))


def complement(acceptance: Acceptance) -> Acceptance:
    """Return the condition that accepts exactly the other runs."""
    if isinstance(acceptance, Mark):
        return Mark("Fin" if acceptance.operator == "Inf" else "Inf", acceptance.number)
    return Gate("|" if acceptance.operator == "&" else "&", tuple(map(complement, acceptance.operands)))


def marks_of(acceptance: Acceptance) -> list[int]:
    """Return the numbers of all marks, in order."""
    if isinstance(acceptance, Mark):
        return [acceptance.number]
    return sorted({mark for part in acceptance.operands for mark in marks_of(part)})


def satisfying(acceptance: Acceptance) -> int | None:
    """Return marks, as bits, with which a run is accepted; None where there are none."""
    everything = _inf_marks(acceptance)
    if holds(acceptance, everything):  # always, where no mark is asked for both infinitely and finitely often
        return everything
    return next((pair.inf for pair in generalised_rabin(acceptance)), None)


def _inf_marks(acceptance: Acceptance) -> int:
    if isinstance(acceptance, Mark):
        return 1 << acceptance.number if acceptance.operator == "Inf" else 0
    found = 0
    for part in acceptance.operands:
        found |= _inf_marks(part)
    return found


def generalised_rabin(acceptance: Acceptance) -> list[Pair]:
    """Return the pairs of which one has to hold: the disjunctive normal form."""
    if isinstance(acceptance, Mark):
        bit = 1 << acceptance.number
        return [Pair(0, bit) if acceptance.operator == "Inf" else Pair(bit, 0)]
    if acceptance.operator == "|":
        return _least([pair for part in acceptance.operands for pair in generalised_rabin(part)])
    pairs = [Pair(0, 0)]
    for part in acceptance.operands:
        both = [Pair(p.fin | q.fin, p.inf | q.inf) for p in pairs for q in generalised_rabin(part)]
        pairs = _least([pair for pair in both if not pair.fin & pair.inf])
    return pairs


def _least(pairs: list[Pair]) -> list[Pair]:
    """Pairs without those that ask for more than another one."""
    distinct = list(dict.fromkeys(pairs))
    return [
        p for p in distinct if not any(q != p and q.fin & p.fin == q.fin and q.inf & p.inf == q.inf for q in distinct)
    ]
