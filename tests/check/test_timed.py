"""Time bounds against the matrix exponential, on random small CTMCs, and closed forms for extreme ones."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from small_ctmcs import Impatient, exact_until, exponential, flow, generator, masks, rate_matrices, times

from galton.checking.bounded.question import NegativeRewardError
from galton.checking.bounded.within_time import cumulative_time, instantaneous_time, timed_until
from galton.checking.quantity import Quantity
from galton.lang import GaltonError
from galton.model.sparse import Model, Rewards
from galton.solve.settings import Settings

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
SETTINGS = Settings(threads=1)


def assert_holds(found: Quantity, expected: Floats) -> None:
    # What the matrix exponential is off: a part of what is there, and some digits of the 1 that all of it began with.
    slack = 1e-11 * np.abs(expected).max(initial=0) + 1e-17
    assert (found.lower <= expected + slack).all()
    assert (found.upper >= expected - slack).all()
    assert found.upper[0] - found.lower[0] <= 2e-6 * found.upper[0] + 1e-290  # the initial state
    assert (found.upper - found.lower <= 2e-6 * found.upper.max() + 1e-280).all()


@hypothesis_settings(deadline=None, max_examples=60)
@given(rate_matrices(), masks, masks, times, times)
def test_until_within_an_interval(
    rates: Floats, through: list[bool], goal: list[bool], low: float, more: float
) -> None:
    a, b = np.array(through[: len(rates)]), np.array(goal[: len(rates)])
    found = timed_until(Model.from_matrix("ctmc", rates), a, b, low, low + more, SETTINGS, everywhere=True)
    assert_holds(found, exact_until(rates, a, b, low, low + more))


def test_the_exponential_is_off_where_little_is_left() -> None:
    """Named for a failure of the test: a state that cannot reach the goal had 1.3e-18 beside another's 1.7e-10."""
    rates = np.array([[0.0, 0.0, 0.0, 0.5], [0.0] * 4, [3.0, 0.0, 0.0, 0.0], [0.0] * 4])
    through, goal = np.array([True, False, True, False]), np.array([False, False, True, False])
    found = timed_until(Model.from_matrix("ctmc", rates), through, goal, 7.5, 7.5, SETTINGS, everywhere=True)
    assert_holds(found, exact_until(rates, through, goal, 7.5, 7.5))
    assert (found.lower[0], found.upper[0]) == (0.0, 0.0)
    assert found.lower[2] <= math.exp(-22.5) <= found.upper[2]


@hypothesis_settings(deadline=None, max_examples=40)
@given(rate_matrices(), st.lists(st.integers(0, 4), min_size=5, max_size=5), times)
def test_rewards(rates: Floats, numbers: list[int], time: float) -> None:
    n = len(rates)
    reward = np.array(numbers[:n], dtype=float)
    model = Model.from_matrix("ctmc", rates)
    found = instantaneous_time(model, Rewards(state=reward, choice=np.ones(n)), time, SETTINGS, everywhere=True)
    assert_holds(found, flow(rates, np.ones(n, bool), time) @ reward)
    # The integral of exp(Q u) r is a block of the exponential of a larger matrix (Van Loan 1978).
    larger = np.zeros((n + 1, n + 1))
    larger[:n, :n], larger[:n, n] = generator(rates), reward
    expected = exponential(larger * time)[:n, n]
    assert_holds(cumulative_time(model, Rewards(state=reward), time, SETTINGS, everywhere=True), expected)
    half = Rewards(state=reward / 2, choice=reward / 2)
    assert_holds(cumulative_time(model, half, time, SETTINGS, everywhere=True), expected)


def pair(there: float, back: float = 0.0) -> Model:
    return Model.from_matrix("ctmc", [[0.0, there], [back, 0.0]])


ALL, FIRST, SECOND = np.ones(2, bool), np.array([True, False]), np.array([False, True])


@pytest.mark.parametrize("time", [1e-300, 1e-100, 1e-9, 1e-3, 1.0, 20.0, 1e3, 1e6, 1e9])
def test_one_jump_whatever_the_time(time: float) -> None:
    found = timed_until(pair(1.0), ALL, SECOND, 0, time, SETTINGS)
    truth = -math.expm1(-time)
    assert found.lower[0] <= truth * (1 + 1e-15)
    assert found.upper[0] >= truth * (1 - 1e-15)
    assert found.upper[0] - found.lower[0] <= 2e-6 * truth
    assert found.upper[0] <= 1


def test_a_rare_event_over_a_very_long_time() -> None:
    """A state is left many times a second, and once in a thousand years in the direction that counts."""
    rates = np.zeros((3, 3))
    rates[0, 1], rates[1, 0], rates[1, 2] = 1e4, 1e4, 1e-10
    found = timed_until(Model.from_matrix("ctmc", rates), np.ones(3, bool), np.arange(3) == 2, 0, 1000.0, SETTINGS)
    assert found.value[0] == pytest.approx(-math.expm1(-0.5e-10 * 1000), rel=1e-6)
    assert found.iterations < 1000


def test_tiny_probabilities_keep_their_digits() -> None:
    """Twenty jumps within a short time: t^20 / 20! up to a factor close to 1."""
    n, time = 20, 1e-12
    rates = np.diag(np.ones(n), 1)
    goal = np.arange(n + 1) == n
    found = timed_until(Model.from_matrix("ctmc", rates), ~goal, goal, 0, time, SETTINGS)
    truth = time**n / math.factorial(n) * (1 - time * n / (n + 1))  # 4e-259
    assert found.lower[0] <= truth <= found.upper[0]
    assert found.upper[0] - found.lower[0] <= 2e-6 * truth


def test_what_is_too_small_for_a_double_has_bounds_around_zero() -> None:
    n = 40
    rates = np.diag(np.ones(n), 1)
    goal = np.arange(n + 1) == n
    found = timed_until(Model.from_matrix("ctmc", rates), ~goal, goal, 0, 1e-12, SETTINGS)
    assert found.lower[0] == 0
    assert 0 < found.upper[0] < 1e-290


def test_long_rewards_end_early() -> None:
    found = cumulative_time(pair(1.0, 2.0), Rewards(state=np.array([3.0, 0.0])), 1e6, SETTINGS)
    # Two thirds of the time in the first state, and a start that is one third of 1/3 better than that.
    assert found.value[0] == pytest.approx(3 * (2 / 3 * 1e6 + 1 / 3 / 3), rel=1e-6)
    assert found.iterations < 1000
    found = instantaneous_time(pair(1.0, 2.0), Rewards(state=np.array([3.0, 0.0])), 1e6, SETTINGS)
    assert found.value[0] == pytest.approx(2, rel=1e-6)
    assert found.iterations < 1000


def test_only_what_is_asked_for_is_followed() -> None:
    """A queue that is empty to begin with need not wait for full ones to become empty."""
    rates = np.diag(np.full(200, 1.0), 1) + np.diag(np.full(200, 3.0), -1)
    model, reward = Model.from_matrix("ctmc", rates), Rewards(state=np.arange(201) + 1.0)
    close = cumulative_time(model, reward, 1e4, SETTINGS, everywhere=True)
    quick = cumulative_time(model, reward, 1e4, SETTINGS)
    assert quick.iterations < close.iterations
    assert quick.upper[0] - quick.lower[0] <= 2e-6 * quick.upper[0]
    assert (quick.lower <= close.upper).all()
    assert (quick.upper >= close.lower).all()


def test_progress_is_told_and_can_stop_it() -> None:
    watch = Impatient()
    rates = np.diag(np.full(200, 1.0), 1) + np.diag(np.full(200, 3.0), -1)
    backward = Settings(threads=1, method="uniformisation", watch=watch)
    with pytest.raises(KeyboardInterrupt):
        cumulative_time(Model.from_matrix("ctmc", rates), Rewards(state=np.arange(201.0)), 1e4, backward)
    news = watch.news
    assert news[0]["iterations"] < news[2]["iterations"] <= news[2]["horizon"]
    assert news[0]["lower"] <= news[2]["lower"] <= news[2]["upper"] <= news[0]["upper"]


def test_a_phase_that_fails_at_once_is_not_followed() -> None:
    found = timed_until(pair(1.0), SECOND, SECOND, 1.0, math.inf, SETTINGS)
    assert (found.lower[0], found.upper[0]) == (0, 0)
    assert found.iterations == 0


def test_loops_do_not_cost_steps() -> None:
    """A deadlock has a loop of rate 1, as in PRISM: much, where all else takes days."""
    rates = np.array([[0.0, 1e-7], [0.0, 1e3]])
    found = timed_until(Model.from_matrix("ctmc", rates), ALL, SECOND, 0, 1e7, SETTINGS)
    assert found.value[0] == pytest.approx(1 - math.exp(-1), rel=1e-6)
    found = cumulative_time(Model.from_matrix("ctmc", rates), Rewards(state=np.array([1.0, 0.5])), 1e7, SETTINGS)
    assert found.value[1] == pytest.approx(0.5e7, rel=1e-6)
    assert found.iterations < 50


# Edges.


def test_where_nothing_ever_happens() -> None:
    model = pair(0.0)
    assert timed_until(model, ALL, SECOND, 0, 5, SETTINGS).upper.tolist() == [0, 1]
    assert timed_until(model, ALL, SECOND, 2, 5, SETTINGS).value.tolist() == [0, 1]
    reward = Rewards(state=np.array([2.0, 3.0]))
    assert cumulative_time(model, reward, 4.0, SETTINGS).value.tolist() == pytest.approx([8, 12])
    assert instantaneous_time(model, reward, 4.0, SETTINGS).value.tolist() == [2, 3]


def test_no_goal_and_nothing_but_goal() -> None:
    nowhere = np.zeros(2, bool)
    assert timed_until(pair(1.0), ALL, nowhere, 0, 5, SETTINGS).upper.tolist() == [0, 0]
    assert timed_until(pair(1.0), nowhere, ALL, 0, 5, SETTINGS).lower.tolist() == [1, 1]
    assert timed_until(pair(1.0), nowhere, ALL, 1, 5, SETTINGS).upper.tolist() == [0, 0]


def test_no_time_at_all() -> None:
    model = pair(1.0)
    assert timed_until(model, ALL, SECOND, 0, 0, SETTINGS).lower.tolist() == [0, 1]
    reward = Rewards(state=np.array([2.0, 3.0]))
    assert cumulative_time(model, reward, 0.0, SETTINGS).upper.tolist() == [0, 0]
    assert instantaneous_time(model, reward, 0.0, SETTINGS).lower.tolist() == [2, 3]


def test_at_a_moment() -> None:
    found = timed_until(pair(1.0, 2.0), ALL, FIRST, 0.7, 0.7, SETTINGS)
    truth = 2 / 3 + math.exp(-3 * 0.7) / 3
    assert found.lower[0] <= truth * (1 + 1e-14)
    assert found.upper[0] >= truth * (1 - 1e-14)


@pytest.mark.parametrize(
    ("low", "high", "words"), [(-1, 2, "begins at 0"), (0, -2, "begins at 0"), (3, 2, "no time lies")]
)
def test_bounds_that_make_no_sense_are_refused(low: float, high: float, words: str) -> None:
    with pytest.raises(GaltonError, match=words):
        timed_until(pair(1.0), ALL, SECOND, low, high, SETTINGS)


@pytest.mark.parametrize("time", [-1.0, math.inf, math.nan])
def test_times_that_are_none_are_refused(time: float) -> None:
    for operator in (cumulative_time, instantaneous_time):
        with pytest.raises(GaltonError, match="a time bound"):
            operator(pair(1.0), Rewards(state=np.ones(2)), time, SETTINGS)


def test_negative_rewards_are_refused() -> None:
    with pytest.raises(NegativeRewardError, match="below zero"):
        cumulative_time(pair(1.0), Rewards(state=np.array([1.0, -1.0])), 3, SETTINGS)


def test_a_time_without_end_is_refused_only_where_it_is_too_long() -> None:
    with pytest.raises(GaltonError, match="jumps are expected"):
        timed_until(pair(1.0, 1e9), ALL, SECOND, 1e9, 1e9, replace(SETTINGS, method="uniformisation"))
    found = timed_until(pair(1.0, 1e9), ALL, SECOND, 1e9, 1e9, SETTINGS)  # by a method that makes no jumps
    assert found.lower[0] <= 1 / (1 + 1e9) <= found.upper[0]


def test_more_than_some_time() -> None:
    pytest.importorskip("galton.checking.unbounded.until")
    found = timed_until(pair(1.0, 2.0), ALL, SECOND, 5.0, math.inf, SETTINGS)
    assert found.value.tolist() == pytest.approx([1, 1])
