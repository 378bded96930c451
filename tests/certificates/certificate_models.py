"""Small random models and questions about them, by seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from galton import Model

UNBOUNDED = (
    'P{o} [ F "a" ]',
    'P{o} [ G !"a" ]',
    'P{o} [ !"b" U "a" ]',
    'P{o} [ "b" W "a" ]',
    'P{o} [ "a" R "b" ]',
    'R{o} [ F "a" ]',
    'R{o} [ !"b" U "a" ]',
    "R{o} [ C ]",
    'T{o} [ F "a" ]',
)
STEPS = (
    'P{o} [ F<=4 "a" ]',
    'P{o} [ !"b" U[2,5] "a" ]',
    'P{o} [ G<=3 !"a" ]',
    "R{o} [ C<=4 ]",
    "R{o} [ I=3 ]",
    'P{o} [ X "a" ]',
)
LONG_RUN = ('S{o} [ "a" ]', "R{o} [ S ]")


@dataclass(frozen=True)
class Case:
    """A model and a property."""

    model: Model
    prop: str
    seed: int


def random_case(seed: int) -> Case:
    """A model of two to eight states and a property; the same for the same seed."""
    rng = random.Random(seed)
    kind = rng.choice(("dtmc", "ctmc", "mdp", "mdp"))
    model = random_model(rng, kind)
    families = [UNBOUNDED, UNBOUNDED] + ([STEPS] if kind != "ctmc" else []) + ([LONG_RUN] if kind != "mdp" else [])
    family = rng.choice(families)
    if rng.random() < 0.15:
        asked = rng.choice((">=", ">", "<=", "<")) + rng.choice(("0.5", "1", "0", "0.25"))
    else:
        asked = rng.choice(("min=?", "max=?")) if kind == "mdp" else "=?"
    return Case(model, rng.choice(family).format(o=asked), seed)


def random_model(rng: random.Random, kind: str) -> Model:
    """A model with labels "a" and "b" and rewards of states and choices."""
    size = rng.randint(2, 8)
    wild = rng.random() < 0.3
    starts, rows = [0], []
    for state in range(size):
        for _ in range(rng.randint(1, 3) if kind == "mdp" and size <= 6 else 1):
            rows.append(_row(rng, kind, size, state, wild))
        starts.append(len(rows))
    matrix = np.array(rows)
    labels = {name: [rng.random() < 0.3 for _ in range(size)] for name in ("a", "b")}
    earned = [rng.choice((0.0, 0.0, 1.0, 0.1, 2.5, 1e-9 if wild else 3.0)) for _ in range(size)]
    return Model.from_matrix(
        kind,  # type: ignore[arg-type]
        matrix,
        initial=rng.randrange(size),
        labels=labels,
        rewards={"r": earned},
        row_groups=starts if kind == "mdp" else None,
    )


def _row(rng: random.Random, kind: str, size: int, state: int, wild: bool) -> list[float]:
    row = [0.0] * size
    for target in rng.sample(range(size), min(size, rng.randint(1, 3))):
        row[target] = 10.0 ** rng.uniform(-12, 0) if wild else rng.choice((1, 1, 2, 3, 5, rng.random() + 0.01))
    if kind == "ctmc":
        return row
    total = sum(row)
    return [value / total for value in row]
