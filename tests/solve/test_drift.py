"""The proof of long-run averages, fed with whatever comes to mind: it may be useless, it may not be wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from irreducible import chain, chains, exact_gain, rates_of, reward_of

from galton.backend.chain import Chain
from galton.solve.long_run import drift_bounds, prove

anything = st.floats(-1e12, 1e12) | st.sampled_from([0.0, 1e-300, -1e-9, 1 / 3, 1e100])


@settings(deadline=None)
@given(chains(), st.data())
def test_bounds_hold_the_gain_for_any_h(chain: Chain, data: st.DataObject) -> None:
    h = np.array(data.draw(st.lists(anything, min_size=chain.n_states, max_size=chain.n_states)))
    lower, upper = prove(chain, h)
    assert lower <= exact_gain(chain) <= upper


@settings(deadline=None)
@given(chains(), st.data())
def test_bounds_hold_every_drift(chain: Chain, data: st.DataObject) -> None:
    vectors = st.lists(anything, min_size=chain.n_states, max_size=chain.n_states)
    high, low = np.array(data.draw(vectors)), np.array(data.draw(vectors))
    for parts in ([high], [high, low]):
        h = [sum((Fraction(float(part[s])) for part in parts), Fraction(0)) for s in range(chain.n_states)]
        lower, upper = drift_bounds(chain, *parts)
        for s, (rates, reward) in enumerate(zip(rates_of(chain), reward_of(chain), strict=True)):
            drift = reward + sum((rate * (h[t] - h[s]) for t, rate in rates.items()), Fraction(0))
            assert lower[s] <= drift <= upper[s]


def test_bounds_are_as_close_as_rounding_allows() -> None:
    asked = chain(2, {(0, 1): 0.1, (1, 0): 0.3}, [1, 0])
    lower, upper = prove(asked, np.array([2.5, 0.0]))  # the bias: h(0) - h(1) = 1 / (0.1 + 0.3)
    assert lower <= 0.75 <= upper
    assert upper - lower < 1e-15


def test_a_second_part_has_the_digits_that_the_first_has_not() -> None:
    slow = Fraction(1e-12)
    rates = {(0, 1): 1.0, (1, 0): 1.0, (1, 2): 1e-12, (2, 1): 1e-12, (2, 3): 1.0, (3, 2): 1.0}
    asked = chain(4, rates, [1.1, 2.3, 4.7, 8.9])
    exact, reward = exact_gain(asked), reward_of(asked)
    h = [Fraction(0), exact - reward[0]]
    h.append(h[1] + (exact - reward[1] + h[1]) / slow)  # about 1e12
    h.append(h[2] + reward[3] - exact)
    high = np.array([float(x) for x in h])
    low = np.array([float(x - Fraction(y)) for x, y in zip(h, high, strict=True)])
    (one_below, one_above), (below, above) = prove(asked, high), prove(asked, high, low)
    assert one_below <= exact <= one_above
    assert below <= exact <= above
    assert above - below < (one_above - one_below) / 100


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_a_number_proves_nothing(bad: float) -> None:
    lower, upper = prove(chain(2, {(0, 1): 1.0, (1, 0): 1.0}, [0, 1]), np.array([0.0, bad]))
    assert not upper - lower < 1e300


def test_rounding_is_as_before() -> None:
    prove(chain(2, {(0, 1): 1.0, (1, 0): 1.0}, [0, 1]), np.array([0.0, 1.0]))
    assert 1.0 + 2.0**-53 == 1.0
    assert 1.0 + 1.5 * 2.0**-53 > 1.0


def test_threads_find_the_same() -> None:
    n = 20_000
    states = np.arange(n)
    pairs = np.concatenate([np.stack([states, (states + shift) % n], axis=1) for shift in (1, 5, 7)])
    asked = chain(n, {(int(s), int(t)): 1.0 + s % 7 for s, t in pairs}, states % 5)
    h = np.sin(states)
    one, two = drift_bounds(asked, h, threads=1), drift_bounds(asked, h, threads=3)
    assert np.array_equal(one, two)
