"""The verifier's numbers, and its shortcut through doubles, against fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from campaign import question_of
from certificate_models import random_model
from certificate_oracle import exact_value

from galton.verifier.numbers import Rows, Vector, compare, dyadic, outward, parsed, printed
from galton.verifier.steps import _in_doubles, _in_integers

DOUBLES = [0.0, 1.0, -1.0, 0.1, 5e-324, -5e-324, 2.0**-1022, 1e308, 1 / 3, math.nextafter(1, 2), 1e-300]


@pytest.mark.parametrize("value", DOUBLES)
def test_doubles_are_exact(value: float) -> None:
    m, e = dyadic(value)
    assert Fraction(m) * Fraction(2) ** e == Fraction(value)
    assert compare(parsed(printed((m, e))), (m, e)) == 0
    assert compare(parsed(value.hex()), (m, e)) == 0
    assert outward((m, e), up=True) == outward((m, e), up=False) == value


def test_rounding_outwards() -> None:
    third = ((1 << 200) // 3, -200)
    below, above = outward(third, up=False), outward(third, up=True)
    assert below < above == math.nextafter(below, 1)
    assert compare(dyadic(below), third) < 0 < compare(dyadic(above), third)
    assert outward((1, -5000), up=True) == 5e-324
    assert outward((1, -5000), up=False) == 0.0
    assert outward((1, 5000), up=True) == math.inf
    assert outward((1, 5000), up=False) == float(np.finfo(float).max)
    assert outward((-1, 5000), up=True) == -float(np.finfo(float).max)


def drift(rows: Rows, row: int, x: list[float], gain: float, less: float) -> Fraction:
    columns, values = rows.entries(row)
    own = int(rows.owner[row])
    weight = Fraction(1) if rows.rates else sum(map(Fraction, values), Fraction(0))
    moves = sum(
        (Fraction(v) * (Fraction(x[j]) - Fraction(x[own])) for j, v in zip(columns, values, strict=True)), Fraction(0)
    )
    return moves + weight * (Fraction(gain) - Fraction(less))


@pytest.mark.parametrize("seed", range(200))
def test_signs_of_drifts_are_those_of_fractions(seed: int) -> None:
    """Numbers that nearly cancel, that underflow, and that are the same."""
    rng = random.Random(seed)
    n = rng.randint(2, 5)
    values = [rng.choice((0.5, 1 / 3, rng.random(), 10.0 ** rng.uniform(-320, 5))) or 1.0 for _ in range(n)]
    rows = Rows(np.array([0, n]), np.arange(n), np.array(values), np.array([0]), rng.random() < 0.5)
    base = rng.choice((1.0, 0.3, 1e-300, 1e200, 5e-324, 0.0))
    x = [base * rng.choice((1.0, 1.0, 1 + 2.0**-52, 1 - 2.0**-53, 0.5, 3.0)) for _ in range(n)]
    if rng.random() < 0.5:  # the last one balances the others, as well as a double can
        total = sum(Fraction(v) * (Fraction(y) - Fraction(x[0])) for v, y in zip(values[:-1], x[:-1], strict=True))
        x[-1] = float(min(max(Fraction(x[0]) - total / Fraction(values[-1]), Fraction(-1e300)), Fraction(1e300)))
    gain, less = (rng.choice((0.0, 0.0, 1.0, 5e-324, base)) for _ in range(2))
    exact = drift(rows, 0, x, gain, less)
    vector, other = Vector.of_doubles(np.array(x)), Vector.of_doubles(np.full(n, less))
    for sign in (1, -1):
        wrong = rows.wrong(np.array([0]), vector, (np.array([gain]),), sign, less=other)
        assert bool(wrong) == (exact * sign < 0), f"drift {float(exact)}"


@pytest.mark.parametrize("seed", range(12))
def test_steps_in_integers_and_in_doubles_hold_the_exact_value(seed: int) -> None:
    rng = random.Random(seed)
    model = random_model(rng, rng.choice(("dtmc", "mdp")))
    o = "max=?" if model.type == "mdp" else "=?"
    for prop in (
        f'P{o} [ !"b" U[2,5] "a" ]',
        f'P{o} [ G<=3 !"a" ]',
        f"R{o} [ C<=4 ]",
        f"R{o} [ I=3 ]",
        f'P{o} [ X "a" ]',
    ):
        question, exact = question_of(model, prop), exact_value(model, prop)
        for way, near in ((_in_integers, 1e-15), (_in_doubles, 1e-12)):
            lower, upper = way(question)
            for low, value, high in zip(lower, exact, upper, strict=True):
                assert low is not None
                assert high is not None
                assert Fraction(low[0]) * Fraction(2) ** low[1] <= value <= Fraction(high[0]) * Fraction(2) ** high[1]
                assert outward(high, up=True) - outward(low, up=False) <= near * max(1.0, float(value))
