"""What linear temporal logic means, told directly on ultimately periodic words, and random formulas and words.

A formula is a nested tuple here: ``("U", ("p", 0), ("X", ("p", 1)))``, and ``("F", 0, 3, a)`` is ``F[0,3] a``.
Nothing of this is shared with the code under test.
"""

from __future__ import annotations

from random import Random
from typing import Any

from galton.automata import bounds, simplification
from galton.automata.formula import FALSE, TRUE, Formula

Syntax = tuple[Any, ...]


def satisfied(formula: Syntax, stem: list[int], loop: list[int]) -> bool:
    """Whether ``stem loop loop …`` satisfies a formula; letters are sets of propositions, as bits."""
    word = stem + loop
    last = len(word) - 1

    def after(position: int) -> int:
        return position + 1 if position < last else len(stem)

    def ahead(position: int, steps: int) -> int:
        for _ in range(steps):
            position = after(position)
        return position

    def values(part: Syntax) -> list[bool]:
        match part:
            case (bool(value),):
                return [value] * len(word)
            case ("p", number):
                return [bool(letter >> number & 1) for letter in word]
            case ("!", operand):
                return [not value for value in values(operand)]
            case ("X", operand):
                found = values(operand)
                return [found[after(i)] for i in range(len(word))]
            case (operator, left, right) if operator in ("&", "|", "=>", "<=>"):
                pairs = list(zip(values(left), values(right), strict=True))
                return [{"&": a and b, "|": a or b, "=>": not a or b, "<=>": a == b}[operator] for a, b in pairs]
            case ("F", low, high, operand):
                return values(("U", low, high, (True,), operand))
            case ("G", low, high, operand):
                return values(("!", ("F", low, high, ("!", operand))))
            case ("W", low, high, left, right):
                stay, leave = ("&", left, ("!", right)), ("&", ("!", left), ("!", right))
                return values(("!", ("U", low, high, stay, leave)))
            case ("R", low, high, left, right):
                return values(("!", ("U", low, high, ("!", left), ("!", right))))
            case ("U", low, high, left, right):
                stay, goal = values(left), values(right)
                # Without an upper bound everything that can happen does so within one more round.
                most = low + 2 * len(word) if high is None else high
                return [
                    any(
                        goal[ahead(i, steps)] and all(stay[ahead(i, before)] for before in range(steps))
                        for steps in range(low, most + 1)
                    )
                    for i in range(len(word))
                ]
        raise ValueError(part)

    return values(formula)[0]


def built(formula: Syntax) -> Formula:
    """The formula under test with this meaning."""
    match formula:
        case (bool(value),):
            return TRUE if value else FALSE
        case ("p", number):
            return simplification.proposition(number)
        case ("!", operand):
            return simplification.negation(built(operand))
        case ("X", operand):
            return simplification.next_step(built(operand))
        case ("&", left, right):
            return simplification.conjunction((built(left), built(right)))
        case ("|", left, right):
            return simplification.disjunction((built(left), built(right)))
        case ("=>", left, right):
            return simplification.implication(built(left), built(right))
        case ("<=>", left, right):
            return simplification.equivalence(built(left), built(right))
        case ("F", low, high, operand):
            return bounds.bounded_until(TRUE, built(operand), low, high)
        case ("G", low, high, operand):
            return bounds.bounded_release(FALSE, built(operand), low, high)
        case ("U", low, high, left, right):
            return bounds.bounded_until(built(left), built(right), low, high)
        case ("W", low, high, left, right):
            return bounds.bounded_weak_until(built(left), built(right), low, high)
        case ("R", low, high, left, right):
            return bounds.bounded_release(built(left), built(right), low, high)
    raise ValueError(formula)


def random_formula(random: Random, size: int, n_propositions: int, bounded: float = 0.1) -> Syntax:
    """A formula with about so many operators; a share of its temporal operators is bounded."""
    if size <= 0:
        return ("p", random.randrange(n_propositions)) if random.random() < 0.95 else (random.random() < 0.5,)
    operator = random.choice(["!", "X", "F", "F", "G", "G", "U", "U", "W", "R", "&", "&", "|", "|", "=>", "<=>"])
    bound = (0, None)
    if random.random() < bounded:
        low = random.randrange(3)
        bound = (low, random.choice([None, low + random.randrange(3)]))
    if operator in ("!", "X"):
        return (operator, random_formula(random, size - 1, n_propositions, bounded))
    if operator in ("F", "G"):
        return (operator, *bound, random_formula(random, size - 1, n_propositions, bounded))
    left = random.randrange(size)
    parts = [random_formula(random, part, n_propositions, bounded) for part in (left, size - 1 - left)]
    return (operator, *(bound if operator in ("U", "W", "R") else ()), *parts)


def random_lasso(random: Random, n_propositions: int) -> tuple[list[int], list[int]]:
    """A stem, which may be empty, and a loop, which is not."""
    lengths = random.randrange(4), 1 + random.randrange(4)
    stem, loop = ([random.randrange(2**n_propositions) for _ in range(length)] for length in lengths)
    return stem, loop
