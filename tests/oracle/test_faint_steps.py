"""Many steps of small models whose probabilities and rewards are far apart, against exact fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import exact_steps as steps
import numpy as np
import pytest
from exact import Vector, from_sparse

import galton
from galton.model.sparse import Model, Rewards

PARTS = ([1.0], [0.5, 0.5], [0.25, 0.75], [2.0**-40, 1 - 2.0**-40], [2.0**-50, 0.5, 0.5 - 2.0**-50])
EARNED = (0.0, 0.0, 1.0, 1e-300, 1e300, 1e-150, 5e-324)
FLIPPED = {"min": "max", "max": "min", None: None}


def random_model(source: random.Random) -> Model:
    kind, size = source.choice(("dtmc", "mdp")), source.randint(2, 6)
    rows, starts = [], [0]
    for state in range(size):
        for _ in range(1 if kind == "dtmc" else source.choice((1, 2))):
            row = [0.0] * size
            for part in source.choice(PARTS):
                row[source.choice((state, (state + 1) % size, source.randrange(size)))] += part
            rows.append(row)
        starts.append(len(rows))
    return Model.from_matrix(
        "dtmc" if kind == "dtmc" else "mdp",
        np.array(rows),
        row_groups=None if kind == "dtmc" else starts,
        labels={name: np.array([source.random() < 0.5 for _ in range(size)]) for name in "ab"},
        rewards={"r": Rewards(state=np.array([source.choice(EARNED) for _ in range(size)]))},
    )


def questions(model: Model, source: random.Random) -> list[tuple[str, Vector]]:
    exact = from_sparse(model)
    a, b, earned = exact.labels["a"], exact.labels["b"], exact.rewards["r"]
    low = source.choice((3, 17, 40, 120))
    high = low + source.choice((0, 1, 5))
    found = []
    for optimum in ("min", "max") if model.type == "mdp" else (None,):
        p, r = f"P{optimum or ''}=?", f'R{{"r"}}{optimum or ""}=?'
        never = steps.bounded_until(exact, exact.states, exact.states - a, 0, low, FLIPPED[optimum])
        found += [
            (f'{p} [ "a" U<={high} "b" ]', steps.bounded_until(exact, a, b, 0, high, optimum)),
            (f'{p} [ "a" U[{low},{high}] "b" ]', steps.bounded_until(exact, a, b, low, high, optimum)),
            (f'{p} [ F={low} "b" ]', steps.bounded_until(exact, exact.states, b, low, low, optimum)),
            (f'{p} [ G<={low} "a" ]', [1 - value for value in never]),
            (f"{r} [ I={low} ]", steps.instantaneous(exact, earned, low, optimum)),
            (f"{r} [ C<={low} ]", steps.cumulative(exact, earned, low, optimum)),
        ]
    return found


@pytest.mark.parametrize("seed", range(30))
def test_many_steps_with_numbers_far_apart(seed: int) -> None:
    source = random.Random(seed)
    model = random_model(source)
    for text, values in questions(model, source):
        found, value = galton.check(model, text), Fraction(values[0])
        assert found.lower is not None
        assert found.upper is not None
        assert Fraction(found.lower) <= value <= Fraction(found.upper), text
        if value > Fraction(1, 10**290):
            assert math.isclose(found.lower, found.upper, rel_tol=2.1e-6), text
