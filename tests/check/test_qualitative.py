"""Probabilities that are exactly 0 or 1, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from asking import COIN, GAMBLE, MACHINE, ask
from hypothesis import given, settings
from hypothesis import strategies as st

from galton.checking.qualitative.zero_one import zero_one_next, zero_one_steps
from galton.model.sparse import Model

Rows = list[list[dict[int, int]]]  # per state, per choice: weights of targets


@st.composite
def weighted_models(draw: st.DrawFn) -> Rows:
    states = draw(st.integers(1, 4))
    choice = st.dictionaries(st.integers(0, states - 1), st.integers(1, 3), min_size=1, max_size=3)
    return draw(st.lists(st.lists(choice, min_size=1, max_size=3), min_size=states, max_size=states))


def as_model(rows: Rows) -> Model:
    dense = np.zeros((sum(map(len, rows)), len(rows)))
    for k, choice in enumerate(choice for state in rows for choice in state):
        for target, weight in choice.items():
            dense[k, target] = weight / sum(choice.values())
    return Model.from_matrix("mdp", dense, row_groups=np.cumsum([0, *map(len, rows)]))


def step(rows: Rows, values: list[Fraction], optimum: str) -> list[Fraction]:
    best = max if optimum == "max" else min
    return [
        best(sum(Fraction(w, sum(c.values())) * values[t] for t, w in c.items()) for c in state)  # type: ignore[type-var]
        for state in rows
    ]


MASKS = st.lists(st.booleans(), min_size=4, max_size=4)


@settings(deadline=None, max_examples=200)
@given(weighted_models(), MASKS, MASKS, st.integers(0, 3), st.integers(0, 4), st.sampled_from(["min", "max"]))
def test_steps(rows: Rows, may_pass: list[bool], goals: list[bool], low: int, more: int, optimum: str) -> None:
    model, n = as_model(rows), len(rows)
    through, goal = np.array(may_pass[:n]), np.array(goals[:n])
    values = [Fraction(int(g)) for g in goal]
    for _ in range(more):
        after = step(rows, values, optimum)
        values = [Fraction(1) if goal[s] else after[s] if through[s] else Fraction(0) for s in range(n)]
    for _ in range(low):
        after = step(rows, values, optimum)
        values = [after[s] if through[s] else Fraction(0) for s in range(n)]
    zero, one = zero_one_steps(model, through, goal, low, low + more, optimum)  # type: ignore[arg-type]
    assert zero.tolist() == [value == 0 for value in values]
    assert one.tolist() == [value == 1 for value in values]


@given(weighted_models(), MASKS, st.sampled_from(["min", "max"]))
def test_next(rows: Rows, goals: list[bool], optimum: str) -> None:
    goal = np.array(goals[: len(rows)])
    values = step(rows, [Fraction(int(g)) for g in goal], optimum)
    zero, one = zero_one_next(as_model(rows), goal, optimum)  # type: ignore[arg-type]
    assert zero.tolist() == [value == 0 for value in values]
    assert one.tolist() == [value == 1 for value in values]


@pytest.mark.parametrize(
    ("text", "prop", "expected"),
    [
        (COIN, "P>=1 [ X x<2 ]", True),
        (COIN, "P>0 [ X x=2 ]", False),
        (COIN, "P<1 [ F<=1000 heads ]", True),  # by less than any double can tell
        (COIN, "P>=1 [ F heads ]", True),
        (COIN, "P<=0 [ G !heads ]", True),
        (COIN, "P>0 [ G<=2000 !heads ]", True),
        (COIN, "P>0 [ F=3 x=3 ]", True),
        (COIN, "P>0 [ F=3 x=0 & !heads ]", False),
        (GAMBLE, "P>=1 [ F<=5 s>2 ]", False),
        (GAMBLE, "Pmax>=1 [ F<=3 s>2 ]", True),
        (GAMBLE, "Pmax<1 [ F<=2 s=2 ]", True),
        (GAMBLE, "P>0 [ F<=2 s=3 ]", False),
        (GAMBLE, "Pmax>0 [ F<=1 s=3 ]", True),
        (GAMBLE, "Pmax>=1 [ G s!=4 ]", True),
        (MACHINE, "P>0 [ F<=1e-9 state=2 ]", True),
        (MACHINE, "P<1 [ F<=1e9 state=2 ]", True),
        (MACHINE, "P>=1 [ F state=2 ]", True),
        (MACHINE, "P>=1 [ F>=3 state=2 ]", True),
        (MACHINE, "P>=1 [ F<=0 state=0 ]", True),
        (MACHINE, "P>=1 [ G<=1 state<2 ]", False),
        (MACHINE, "P>0 [ state<2 U[1,2] state=2 ]", True),
        (MACHINE, "P>0 [ state=0 U=1 state=2 ]", False),
        (MACHINE, "filter(state, P>=1 [ F[1,2] state=2 ], state=2)", True),
        (MACHINE, "filter(state, P>0 [ state<2 U>=1 state=2 ], state=2)", False),
        (MACHINE, "P>=1 [ X state=1 ]", True),
    ],
)
def test_what_no_bounds_could_tell(text: str, prop: str, expected: bool) -> None:
    found = ask(text, prop)
    assert found.value is expected
    assert found.method == "graph analysis"
