"""Weights and their series against plain summation, and sums that end early against sums that do not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from galton.backend.steps import Chain, part_of
from galton.model.sparse import Model
from galton.solve.poisson import poisson
from galton.solve.power_sums import Weights, power_sum
from galton.solve.settings import Settings

LEAKS = [-0.01, -1e-9, 0.0, 1e-12, 1e-6, 1e-3, 0.02, 0.1, 0.5, 0.9, 0.999, 1.0, 2.0]


def by_summation(weights: Weights, first: int, leak: float) -> float:
    total = Fraction(0)
    factor, power = Fraction(max(1 - leak, 0.0)), Fraction(1)
    for k in range(first, min(weights.end, first + 400)):
        weight = weights.before if k < weights.left else float(weights.values[k - weights.left])
        total += Fraction(weight) * power
        power = Fraction(float(power * factor))  # rounded: fractions with thousands of digits are slow
    return float(total)


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("first", [0, 1, 7, 60])
@pytest.mark.parametrize("kind", ["fewer", "exactly", "at", "over", "at soon", "over soon"])
def test_series(kind: str, first: int, leak: float) -> None:
    weights = {
        "fewer": Weights.fewer_than(90),
        "exactly": Weights.exactly(90),
        "at": Weights.at_time(poisson(100.0)),
        "over": Weights.over_time(poisson(100.0)),
        "at soon": Weights.at_time(poisson(3.0)),
        "over soon": Weights.over_time(poisson(3.0)),
    }[kind]
    expected = by_summation(weights, first, leak)
    assert float(weights.series(first, leak)) == pytest.approx(expected, rel=1e-12, abs=1e-290)


@pytest.mark.parametrize("leak", [-1e-5, 0.0, 1e-7, 1e-4, 1e-2, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("first", [0, 100, 4000, 6000, 6400, 9000])
def test_series_of_many_steps(first: int, leak: float) -> None:
    """Where a closed form is used and where it must not be: far below the mean, powers of a small number win."""
    for weights in (Weights.at_time(poisson(10_000.0)), Weights.over_time(poisson(10_000.0))):
        ahead = np.full(max(weights.left - first, 0), weights.before)
        values = np.concatenate([ahead, weights.values[max(first - weights.left, 0) :]])
        with np.errstate(under="ignore"):
            expected = float(values @ (1 - leak) ** np.arange(len(values)))
        assert float(weights.series(first, leak)) == pytest.approx(expected, rel=1e-10, abs=1e-290)


@pytest.mark.parametrize("leak", [0.001, 0.3, 0.95, 0.9999])
@pytest.mark.parametrize("time", [0.5, 30.0, 2000.0])
def test_a_state_that_is_left(leak: float, time: float) -> None:
    """Whatever its rate is beside that of another, the probability to stay is exp(-rate time)."""
    model = Model.from_matrix("ctmc", [[0.0, leak, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    from galton.checking.bounded.within_time import timed_until

    here = np.array([True, False, False])
    found = timed_until(model, np.array([True, True, False]), here, time, time, Settings(threads=1))
    truth = math.exp(-leak * time)
    assert found.lower[0] <= truth * (1 + 1e-12)
    assert found.upper[0] >= truth * (1 - 1e-12)


def test_parts_of_weights() -> None:
    weights = Weights(1.0, 3, np.array([0.5, 0.25]))
    assert weights.end == 5
    part = weights.part(1, 3)
    assert part is not None
    assert part.tolist() == [1.0, 1.0, 0.5]
    assert Weights.exactly(10).part(2, 5) is None
    part = Weights.exactly(10).part(8, 3)
    assert part is not None
    assert part.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("seed", range(8))
def test_ending_early_holds_what_all_steps_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 12
    dense = rng.random((n, n)) * (rng.random((n, n)) < 0.4) + 1e-9 * np.eye(n)
    dense /= dense.sum(axis=1, keepdims=True)
    keep = np.ones(n, dtype=bool)
    keep[: seed % 3] = False  # a part that leaks, or all
    model = Model.from_matrix("dtmc", dense)
    part = part_of(model, keep, 1)
    start = rng.random(part.n_states)
    inside = dense[np.ix_(keep, keep)]
    for steps in (100, 3000):
        expected, x = np.zeros(part.n_states), start.copy()
        for _ in range(steps):
            expected, x = expected + x, inside @ x
        important = np.zeros(1, dtype=np.int32)
        for eps in (1e-2, 1e-6, 1e-9):
            chain = Chain(part, start.copy())
            found = power_sum(
                chain, Weights.fewer_than(steps), important, Settings(eps=eps), stochastic=bool(keep.all())
            )
            assert (found.lower <= expected * (1 + 1e-12)).all()
            assert (found.upper >= expected * (1 - 1e-12)).all()
            assert found.upper[0] - found.lower[0] <= 2 * eps * found.upper[0]
