"""Complete elimination without subtraction: bounds with nearly all digits, whatever the chain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from irreducible import birth_death, chain, chains, exact_gain, machines

from galton.backend.chain import Chain
from galton.solve.direct.elimination import averages


def average(asked: Chain) -> tuple[float, float]:
    members = np.arange(asked.n_states, dtype=np.int32)
    lower, upper = averages(asked.matrix, asked.reward, members, np.array([0, asked.n_states]))
    return float(lower[0]), float(upper[0])


@settings(deadline=None)
@given(chains(12))
def test_bounds_hold_the_gain_and_are_close(asked: Chain) -> None:
    exact = exact_gain(asked)
    lower, upper = average(asked)
    assert lower <= exact <= upper
    assert Fraction(upper) - Fraction(lower) <= Fraction(1, 10**12) * exact


def test_a_tiny_gain_has_its_digits() -> None:
    asked, exact = machines([1e-5] * 8, [1.0] * 8, 8)
    assert exact < 1e-39
    lower, upper = average(asked)
    assert lower <= exact <= upper <= lower * (1 + 1e-8)


def test_rates_of_all_sizes() -> None:
    random = np.random.default_rng(5)
    up, down = 10 ** random.uniform(-6, 6, 300), 10 ** random.uniform(-6, 6, 300)
    asked = birth_death(up, down, np.arange(301) % 2)
    weights = [Fraction(1)]
    for rise, fall in zip(up.tolist(), down.tolist(), strict=True):
        weights.append(weights[-1] * Fraction(rise) / Fraction(fall))
    exact = sum(weights[1::2], Fraction(0)) / sum(weights)
    lower, upper = average(asked)
    assert lower <= exact <= upper <= lower * (1 + 1e-9)


def test_negative_rewards() -> None:
    asked = chain(2, {(0, 1): 1.0, (1, 0): 3.0}, [-1.0, 0.5])
    lower, upper = average(asked)
    assert lower <= -0.625 <= upper
    assert upper - lower < 1e-13


def test_numbers_beyond_doubles_are_not_claimed() -> None:
    asked = birth_death(np.full(40, 1e-20), np.full(40, 1e20), np.arange(41) == 40)
    lower, upper = average(asked)  # 1e-1600
    assert lower == 0
    assert upper == np.inf


def test_many_components_at_once() -> None:
    asked = chain(5, {(0, 4): 1.0, (4, 0): 3.0, (1, 2): 1.0, (2, 1): 1.0, (3, 3): 1.0}, [8, 1, 2, 5, 0])
    lower, upper = averages(
        asked.matrix, asked.reward, np.array([0, 4, 1, 2, 3], dtype=np.int32), np.array([0, 2, 4, 5])
    )
    assert (lower <= [6, 1.5, 5]).all()
    assert (upper >= [6, 1.5, 5]).all()
    assert (upper - lower < 1e-12).all()
