"""LTL with bounds in steps, beside the definition: all paths of a small model, each judged by the meaning of a formula.

Storm does not answer these, and the automata's own tests know words only. Strategies may look at the whole path, as
the best for such a formula does. Untimed formulas on a CTMC are those of the chain of its jumps.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

import galton

N, DEEPEST, LONGEST, ROUNDS = 3, 3, 4, 12
Path = tuple[int, ...]
Rows = list[list[list[int]]]  # for each state its choices, each with a weight for every state
Formula = tuple[Any, ...]  # ("at", states), ("!", f), ("&", f, g), ("X", f), ("F", k, f), ("U", k, f, g) …


def random_formula(random: Random, depth: int = DEEPEST) -> Formula:
    if not depth:
        return ("at", tuple(random.sample(range(N), random.randint(1, N - 1))))
    operator = random.choice("!&|XFGU")
    bound = (random.randint(0, 2),) if operator in "FGU" else ()
    return (operator, *bound, *(random_formula(random, depth - 1) for _ in range(2 if operator in "&|U" else 1)))


def text(formula: Formula) -> str:
    match formula:
        case ("at", states):
            return f"({'|'.join(f's={state}' for state in states)})"
        case ("&" | "|" as operator, left, right):
            return f"({text(left)} {operator} {text(right)})"
        case ("U", bound, left, right):
            return f"({text(left)} U<={bound} {text(right)})"
        case ("F" | "G" as operator, bound, inner):
            return f"({operator}<={bound} {text(inner)})"
        case (operator, inner):
            return f"({operator} {text(inner)})"
    raise AssertionError(formula)


def horizon(formula: Formula) -> int:
    """The last place of a path that matters."""
    if formula[0] == "at":
        return 0
    ahead = {"X": 1, "F": formula[1], "G": formula[1], "U": formula[1]}.get(formula[0], 0)
    return int(ahead) + max(horizon(part) for part in formula[1:] if isinstance(part, tuple))


def holds(formula: Formula, path: Path, place: int = 0) -> bool:
    """What the formula means on a path that is long enough."""
    match formula:
        case ("at", states):
            return path[place] in states
        case ("!", inner):
            return not holds(inner, path, place)
        case ("&", left, right):
            return holds(left, path, place) and holds(right, path, place)
        case ("|", left, right):
            return holds(left, path, place) or holds(right, path, place)
        case ("X", inner):
            return holds(inner, path, place + 1)
        case ("F", bound, inner):
            return any(holds(inner, path, place + step) for step in range(bound + 1))
        case ("G", bound, inner):
            return all(holds(inner, path, place + step) for step in range(bound + 1))
        case ("U", bound, left, right):
            return any(
                holds(right, path, place + step) and all(holds(left, path, place + before) for before in range(step))
                for step in range(bound + 1)
            )
    raise AssertionError(formula)


def by_paths(rows: Rows, formula: Formula, best: Any, path: Path = (0,)) -> Fraction:
    """The probability of the formula, with the best choice after each path."""
    if len(path) > horizon(formula):
        return Fraction(holds(formula, path))
    values = []
    for weights in rows[path[-1]]:
        reached = ((state, weight) for state, weight in enumerate(weights) if weight)
        values.append(
            sum(Fraction(weight, sum(weights)) * by_paths(rows, formula, best, (*path, to)) for to, weight in reached)
        )
    return Fraction(best(values))


def model_of(kind: str, rows: Rows) -> str:
    lines = []
    for state, choices in enumerate(rows):
        for weights in choices:
            whole = 1 if kind == "ctmc" else sum(weights)
            jumps = (f"{weight}/{whole} : (s'={to})" for to, weight in enumerate(weights) if weight)
            lines.append(f"[] s={state} -> {' + '.join(jumps)};")
    return f"{kind} module m s:[0..{N - 1}]; {' '.join(lines)} endmodule"


@pytest.mark.parametrize("kind", ["dtmc", "mdp min", "mdp max", "ctmc"])
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_bounded_formulas_mean_what_their_paths_say(kind: str, seed: int) -> None:
    random = Random(f"{kind} {seed}")
    kind, _, optimum = kind.partition(" ")
    most = 2 if kind == "mdp" else 1
    rows = [
        [[random.choice((0, 1, 1, 2)) for _ in range(N - 1)] + [1] for _ in range(random.randint(1, most))]
        for _ in range(N)
    ]
    program = galton.parse(model_of(kind, rows))
    for _ in range(6):
        formula = random_formula(random)
        while not 1 <= horizon(formula) <= LONGEST:
            formula = random_formula(random)
        if kind == "ctmc":  # bounds would be in time there
            formula = (
                "X",
                ("|", ("X", ("at", (0,))), ("&", ("at", (1,)), ("X", ("X", ("at", (random.randrange(N),)))))),
            )
        found = galton.check(program, f"P{optimum}=? [ {text(formula)} ]", device="cpu")
        exact = by_paths(rows, formula, min if optimum == "min" else max)
        assert found.lower is not None
        assert found.upper is not None
        assert Fraction(found.lower) - Fraction(1, 10**15) <= exact <= Fraction(found.upper) + Fraction(1, 10**15)
        assert found.upper - found.lower <= 2e-6
