"""Long-run averages against exact fractions, on chains of every shape."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from asking import ask
from hypothesis import given, settings
from hypothesis import strategies as st

from galton.checking.long_run import long_run
from galton.model.sparse import Model, Rewards
from galton.solve.settings import Settings

Matrix = list[list[Fraction]]


def solve(matrix: Matrix, right: list[Fraction]) -> list[Fraction]:
    """Gauss–Jordan elimination in fractions."""
    n = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def exact_long_run(model: Model, reward: list[Fraction]) -> list[Fraction]:
    """The long-run average in every state: gains of the bottom components, then where runs end."""
    n = model.n_states
    rates: Matrix = [[Fraction(0)] * n for _ in range(n)]
    for s in range(n):
        for rate, t in model.transitions(s)[0][1]:
            if s != t:
                rates[s][t] = Fraction(rate)
    reach = [{s} for s in range(n)]
    for _ in range(n):
        for s in range(n):
            reach[s] |= set().union(*(reach[t] for t in range(n) if rates[s][t]), set())
    values: list[Fraction | None] = [None] * n
    for s in range(n):
        if values[s] is None and all(s in reach[t] for t in reach[s]):
            part = sorted(reach[s])
            balance = [
                [rates[i][j] - (sum(rates[i]) if i == j else 0) for i in part] for j in part
            ]  # transposed: flow into j
            balance[0] = [Fraction(1)] * len(part)
            weights = solve(balance, [Fraction(1)] + [Fraction(0)] * (len(part) - 1))
            for t in part:
                values[t] = sum((w * reward[i] for w, i in zip(weights, part, strict=True)), Fraction(0))
    rest = [s for s in range(n) if values[s] is None]
    if rest:
        system = [[(sum(rates[s]) if s == t else 0) - rates[s][t] for t in rest] for s in rest]
        right = [sum((rates[s][t] * values[t] for t in range(n) if values[t] is not None), Fraction(0)) for s in rest]
        for s, x in zip(rest, solve(system, right), strict=True):
            values[s] = x
    return values  # type: ignore[return-value]


@st.composite
def chains(draw: st.DrawFn) -> tuple[Model, Rewards]:
    kind = draw(st.sampled_from(["dtmc", "ctmc"]))
    n = draw(st.integers(1, 7))
    # Powers of two, so that probabilities are exact: what the fractions see is what the chain is.
    exponent = st.integers(-20, 20) if draw(st.booleans()) else st.integers(-2, 2)
    edges = st.dictionaries(st.integers(0, n - 1), exponent, min_size=0, max_size=4)
    matrix = np.zeros((n, n))
    for s in range(n):
        for t, e in draw(edges).items():
            matrix[s, t] = 2.0**e
        if kind == "dtmc":
            row = matrix[s].copy()
            row[s] = 0.0
            scale = 2.0 ** np.ceil(np.log2(row.sum())) if row.any() else 1.0
            matrix[s] = row / scale
            matrix[s, s] = 1.0 - matrix[s].sum()
    reward = st.lists(st.sampled_from([0.0, 1.0, 2.5, 1e-9, 1e6]), min_size=n, max_size=n)
    state = np.array(draw(reward)) if draw(st.booleans()) else None
    choice = np.array(draw(reward)) if draw(st.booleans()) else None
    return Model.from_matrix(kind, matrix), Rewards(state=state, choice=choice)


def total(model: Model, reward: Rewards) -> list[Fraction]:
    parts = [part for part in (reward.state, reward.choice) if part is not None]
    return [sum((Fraction(float(part[s])) for part in parts), Fraction(0)) for s in range(model.n_states)]


def contains(model: Model, reward: Rewards, options: Settings = Settings()) -> None:  # noqa: B008
    found = long_run(model, reward, options)
    exacts = exact_long_run(model, total(model, reward))
    for s, exact in enumerate(exacts):
        low, high = Fraction(float(found.lower[s])), Fraction(float(found.upper[s]))
        assert low <= exact <= high
        assert high - low <= 2 * Fraction(options.eps) * exact


@settings(deadline=None, max_examples=300)
@given(chains())
def test_bounds_hold_the_exact_average(case: tuple[Model, Rewards]) -> None:
    contains(*case)


def test_a_periodic_chain() -> None:
    model = Model.from_matrix("dtmc", np.roll(np.eye(6), 1, axis=1))
    contains(model, Rewards(state=np.array([0.0, 0, 0, 0, 0, 1])))


def test_several_bottom_components() -> None:
    matrix = [[0, 0.5, 0.25, 0.25], [0.5, 0, 0.5, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    found = long_run(Model.from_matrix("dtmc", matrix), Rewards(state=np.array([7.0, 7, 1, 5])), Settings())
    assert found.value == pytest.approx([7 / 3, 5 / 3, 1, 5], rel=1e-6)


def test_the_same_gain_everywhere_needs_no_solution() -> None:
    matrix = [[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]]
    found = long_run(Model.from_matrix("dtmc", matrix), Rewards(state=np.array([7.0, 2, 2])), Settings())
    assert found.lower.tolist() == found.upper.tolist() == [2, 2, 2]
    assert [step.step for step in found.work] == ["bottom components"]


def test_no_reward() -> None:
    found = long_run(Model.from_matrix("dtmc", [[0, 1], [1, 0]]), Rewards(), Settings())
    assert found.upper.tolist() == [0, 0]


def test_negative_rewards() -> None:
    model = Model.from_matrix("ctmc", [[0, 1], [3, 0]])
    found = long_run(model, Rewards(state=np.array([-1.0, 0.5])), Settings())
    assert found.lower[0] <= -0.625 <= found.upper[0]
    assert found.upper[0] - found.lower[0] < 1e-12


def test_digits_of_a_reward_on_a_device() -> None:
    """Absorbing states keep the reward they have: a device answered 0.10000000149011612, proved, in place of 0.1."""
    text = """
        ctmc
        module m
          s : [0..2] init 0;
          [] s=0 -> 1/4 : (s'=1) + 3/4 : (s'=2);
          [] s>0 -> true;
        endmodule
        rewards s=1 : 0.1; s=2 : 1/3; endrewards
    """
    found = ask(text, "R=? [ S ]")
    truth = (Fraction(0.1) + 3 * Fraction(1 / 3)) / 4
    assert found.lower <= truth <= found.upper
    assert ask(text, "filter(state, R=? [ S ], s=1)").value == 0.1
