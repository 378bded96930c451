"""Lifting finds what elimination finds."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from libraries import each_library, using

from galton.checking.exact import equations
from galton.checking.exact.equations import Equation, solve
from galton.checking.exact.lifting import lifted
from galton.checking.exact.limits import Watchman
from galton.checking.exact.numbers import as_fraction, rational


def ring(source: random.Random, size: int, denominators: list[int]) -> list[Equation]:
    """Unknowns in a ring with chords, so that they are one component; some leave."""
    found = []
    for i in range(size):
        targets = {(i + 1) % size, source.randrange(size)} - {i}
        weight = [rational(source.randint(1, 9), source.choice(denominators)) for _ in targets]
        leaves = rational(source.randint(0, 1) if i else 1, source.choice(denominators))
        constant = rational(source.randint(0, 10**6), source.choice(denominators))
        found.append(Equation(dict(zip(targets, weight, strict=True)), leaves, constant))
    return found


@each_library
@pytest.mark.parametrize("size", [2, 5, 40])
@pytest.mark.parametrize("denominators", [[1, 2, 3, 7], [10**6, 1, 10**9], [2**53, 3**40, 1], [10**30, 1]])
def test_as_elimination(size: int, denominators: list[int], library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with using(library):
        system = ring(random.Random(size), size, denominators)
        monkeypatch.setattr(equations, "FEW", size + 1)
        expected = solve(system, Watchman())
        rows = []
        for i, equation in enumerate(system):
            rows.append({i: equation.total()} | {j: -weight for j, weight in equation.links.items()})
        found = lifted(rows, [equation.constant for equation in system], Watchman())
        if found is not None:  # or doubles were no help
            assert list(map(as_fraction, found)) == list(map(as_fraction, expected))
        if max(denominators) < 100:
            assert found is not None


def test_long_right_sides() -> None:
    value = Fraction(3**500 + 1, 7**300)
    rows = [{0: rational(2), 1: rational(-1)}, {0: rational(-1), 1: rational(3)}]
    x, y = lifted(rows, [rational(value), rational(-1 * value)], Watchman()) or ()
    assert (as_fraction(x), as_fraction(y)) == (value * Fraction(2, 5), value * Fraction(-1, 5))


def test_what_is_singular_in_doubles_is_left_to_elimination() -> None:
    tiny = rational(1, 10**40)
    rows = [{0: rational(1) + tiny, 1: rational(-1)}, {0: rational(-1), 1: rational(1)}]
    assert lifted(rows, [rational(1), rational(0)], Watchman()) is None
    few = [Equation({1: rational(1)}, tiny, rational(1)), Equation({0: rational(1)}, rational(0), rational(0))]
    assert as_fraction(solve(few, Watchman())[0]) == 10**40
