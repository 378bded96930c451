"""The gain of irreducible chains, by every method that proposes a bias, on chains that are hard for most of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from irreducible import birth_death, chains, exact_gain, from_arrays, grid, machines

from galton import _core
from galton.backend.chain import Chain
from galton.backend.cpu import long_run as kernels
from galton.model.errors import NumericError
from galton.solve.direct import elimination
from galton.solve.long_run import Gain, gain
from galton.solve.settings import Settings


def check(asked: Chain, exact: Fraction | float, **options: Any) -> Gain:
    found = gain(asked, Settings(**options))
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower <= 2e-6 * abs(float(exact))
    return found


def noise(n: int, seed: int = 1) -> np.random.Generator:
    return np.random.default_rng([n, seed])


def dense_gain(asked: Chain) -> float:
    """By NumPy, for chains that are not stiff."""
    n = asked.n_states
    rates = np.zeros((n, n))
    owners = np.repeat(np.arange(n), np.diff(asked.row_starts))
    rates[owners, asked.columns] = asked.values.array()
    balance = (rates - np.diag(rates.sum(axis=1))).T
    balance[0] = 1
    return float(np.linalg.solve(balance, np.eye(n)[0]) @ asked.reward)


@settings(deadline=None)
@given(chains())
def test_small_chains(asked: Chain) -> None:
    exact = exact_gain(asked)
    found = gain(asked, Settings())
    assert found.lower <= exact <= found.upper
    assert Fraction(found.upper) - Fraction(found.lower) <= Fraction(2, 10**6) * exact


@pytest.mark.parametrize("method", kernels.PRECONDITIONERS, ids=lambda method: method[0])
def test_every_method(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    random = noise(400)
    rows = np.repeat(np.arange(400), 4)
    columns = np.concatenate([(rows[::4] + 1) % 400, random.integers(0, 400, 1200)]).reshape(4, 400).T.ravel()
    asked = from_arrays(rows, columns, random.uniform(0.1, 1, 1600), 400, random.uniform(0, 1, 400))
    monkeypatch.setattr(kernels, "PRECONDITIONERS", (method,))
    found = gain(asked, Settings())
    assert found.method == f"BiCGStab, {method[0]}"
    assert found.lower == pytest.approx(dense_gain(asked), rel=1e-6)
    assert found.upper - found.lower <= 2e-6 * found.lower


@pytest.mark.parametrize(("up", "down"), [(1.0, 1.0), (3.0, 1.0), (1.0, 3.0), (1.0, 1.01)])
def test_long_queues(up: float, down: float) -> None:
    n = 5000
    ratio = Fraction(up) / Fraction(down)
    if ratio == 1:
        exact = Fraction(n, 2)
    else:  # the mean of a truncated geometric distribution
        power = ratio ** (n + 1)
        exact = ratio / (1 - ratio) - (n + 1) * power / (1 - power)
    check(birth_death(np.full(n, up), np.full(n, down), np.arange(n + 1)), exact)


def test_a_periodic_ring() -> None:
    n = 20_000
    states = np.arange(n)
    check(from_arrays(states, (states + 1) % n, np.ones(n), n, states == 7), Fraction(1, n))


@pytest.mark.parametrize("down", [1, 2, 6, 12])
def test_what_is_rare_has_its_digits(down: int) -> None:
    check(*machines([1e-3 * (1 + i / 8) for i in range(12)], [1 + i / 4 for i in range(12)], down))


def test_a_gain_below_all_doubles() -> None:
    n = 4000
    asked = from_arrays(
        np.concatenate([np.arange(n), np.arange(1, n + 1)]),
        np.concatenate([np.arange(1, n + 1), np.zeros(n, dtype=np.int64)]),
        np.ones(2 * n),
        n + 1,
        np.arange(n + 1) == n,
    )
    found = gain(asked, Settings())  # about 2^-4000
    assert found.lower == 0
    assert found.upper < 1e-300


def test_two_wells() -> None:
    width, depth = 40, 25.0
    x = np.linspace(-1.5, 1.5, width)
    energy = depth * ((x[:, None] ** 2 - 1) ** 2 + 2 * x**2)

    def towards(there: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.exp(-(there - energy) / 2)

    moved = [np.roll(energy, shift, axis) for shift, axis in ((-1, 0), (1, 0), (-1, 1), (1, 1))]
    reward = np.zeros((width, width))
    reward[width // 2 :] = 3.0
    weights = np.exp(-(energy - energy.min()))  # detailed balance
    exact = float((weights * reward).sum() / weights.sum())
    found = gain(grid(width, tuple(map(towards, moved)), reward), Settings())  # type: ignore[arg-type]
    assert found.lower == pytest.approx(exact, rel=1e-6)
    assert found.upper - found.lower <= 2e-6 * found.lower


def test_flow_in_circles() -> None:
    width = 60
    along = np.arange(width) / width
    right, up = np.broadcast_to(along, (width, width)), np.broadcast_to(along[:, None], (width, width))
    asked = grid(width, (1 + right, 2 - right, 2 - up, 1 + up), right * up)
    assert gain(asked, Settings()).lower == pytest.approx(dense_gain(asked), rel=1e-6)


def test_nearly_decomposable() -> None:
    random = noise(2000)
    states = np.arange(4000)
    block = states // 50 * 50
    inside = [block + random.integers(0, 50, 4000) for _ in range(3)] + [block + (states + 1) % 50]
    outside = [(states + 50) % 4000]
    rows = np.tile(states, 5)
    rates = np.concatenate([random.uniform(0.1, 1, 16000), 1e-8 * random.uniform(0.1, 1, 4000)])
    asked = from_arrays(rows, np.concatenate(inside + outside), rates, 4000, random.uniform(0, 1, 4000))
    found = gain(asked, Settings())
    assert found.upper - found.lower <= 2e-6 * found.lower


def test_weights_over_thousands_of_orders_of_magnitude() -> None:
    """Products of rates leave the range of doubles; those of elimination do not."""
    random = noise(3)
    up, down = 10 ** random.uniform(-6, 6, (2, 20_000))
    asked = birth_death(up, down, np.arange(20_001) / 20_000)
    found = gain(asked, Settings())
    assert found.method == "elimination"
    assert found.upper - found.lower <= 2e-6 * found.lower
    heights = np.concatenate([[0.0], np.cumsum(np.log(up) - np.log(down))])
    weights = np.exp(heights - heights.max())  # those that count are exact to ten digits
    assert found.lower == pytest.approx(weights @ asked.reward / weights.sum(), rel=1e-6)


def test_what_is_too_dense_to_eliminate_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elimination, "OPERATIONS", 0)
    monkeypatch.setattr(elimination, "AT_ONCE", 1)
    monkeypatch.setattr(kernels, "PRECONDITIONERS", ())
    asked = birth_death(np.full(300, 1e-3), np.full(300, 1e3), np.arange(301) % 7)
    with pytest.raises(NumericError, match=r"lies in \[.*too many transitions") as refused:
        gain(asked, Settings())
    assert refused.value.kind == "numeric"


def test_sweeps_are_limited_when_asked() -> None:
    asked = birth_death(np.full(1000, 1.0), np.full(1000, 1.0), np.arange(1001))
    with pytest.raises(NumericError, match="max_iterations"):
        gain(asked, Settings(max_iterations=1))


def test_absolute_widths_and_news() -> None:
    told: list[dict[str, Any]] = []
    asked, exact = machines([0.01] * 10, [1.0] * 10, 1)
    found = gain(asked, Settings(eps=1e-3, relative=False, watch=told.append))
    assert found.lower <= exact <= found.upper <= found.lower + 2e-3
    assert {"sweeps", "lower", "upper"} <= told[-1].keys()


def test_negative_rewards_are_relative_to_the_largest() -> None:
    n = 1000
    states = np.arange(n)
    reward = np.where(states % 2 == 0, 5.0, -5.0)
    found = gain(from_arrays(states, (states + 1) % n, np.ones(n), n, reward), Settings())
    assert found.lower <= 0 <= found.upper
    assert found.upper - found.lower <= 1e-5


@given(st.integers(1, 60), st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_orders_are_orders(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.concatenate([np.arange(n), random.integers(0, n, 2 * n)])
    columns = np.concatenate([(np.arange(n) + 1) % n, random.integers(0, n, 2 * n)])
    asked = from_arrays(rows, columns, random.uniform(0.1, 10, 3 * n), n, np.zeros(n))
    last = int(random.integers(n))
    for order in (_core.far_first(asked.matrix, last), _core.nested_dissection(asked.matrix, last)):
        assert sorted(order) == list(range(n))
        assert order[-1] == last
    place = np.argsort(_core.far_first(asked.matrix, last))
    for state in range(n):
        behind = place[asked.columns[asked.row_starts[state] : asked.row_starts[state + 1]]].max()
        assert behind > place[state] or state == last


def test_threads_eliminate_alike() -> None:
    asked, _ = machines([0.01 * (1 + i) for i in range(12)], [1.0] * 12, 3)
    rates = _core.leaving_rates(asked.matrix)
    order = _core.far_first(asked.matrix, 0)
    biases = []
    for threads in (1, 2, 5):
        elimination = _core.IncompleteElimination(
            asked.matrix,
            leaving_rates=rates,
            order=order,
            threshold=0.01,
            capacity=10**6,
            operations=10**9,
            threads=threads,
        )
        while elimination.advance():
            pass
        solver = _core.Bias(asked.matrix, 0, 1)
        h = np.zeros(asked.n_states)
        solver.begin(asked.reward, h)
        for _ in range(3):  # one by one: a call ends early where a machine is slow
            solver.advance(elimination, 0.0, 0.0, 1)
        biases.append(h)
    assert np.array_equal(biases[0], biases[1])
    assert np.array_equal(biases[0], biases[2])
