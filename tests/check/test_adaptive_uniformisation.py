"""Adaptive uniformisation, against the matrix exponential, uniformisation from all states, and closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
import scipy.linalg
from asking import MACHINE, ask
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from small_ctmcs import Impatient, exact_until, flow, generator, masks, rate_matrices, times

from galton.backend.steps import exit_rates
from galton.checking.bounded import forward_in_time as forward
from galton.checking.bounded.question import WideError
from galton.checking.bounded.within_time import cumulative_time, instantaneous_time, timed_until
from galton.checking.quantity import Quantity
from galton.lang.source import GaltonError
from galton.model.sparse import Model, Rewards
from galton.solve.adaptive_uniformisation import Distribution, Effort, MovingChain
from galton.solve.methods import BACKWARD, FORWARD
from galton.solve.settings import Settings

Floats = npt.NDArray[np.float64]
FORWARDS, BACKWARDS = (Settings(threads=1, method=name) for name in (FORWARD, BACKWARD))


def assert_holds(question: Callable[[], Quantity], expected: float, largest: float = 1.0) -> None:
    """In the initial state, and close; the matrix exponential is off by some digits of the largest of its numbers."""
    if 0 < expected < 1e-8:
        return  # more digits than those are asked for
    try:
        found = question()
    except WideError:
        assert expected == 0  # what is less than the least double may be too rare
        return
    assert found.method == FORWARD or not found.work  # known without any
    assert found.lower[0] <= expected + 1e-11 * expected + 1e-15 * largest
    assert found.upper[0] >= expected - 1e-11 * expected - 1e-15 * largest
    assert found.upper[0] - found.lower[0] <= 2e-6 * found.upper[0] + 1e-290


def agree(one: Quantity, other: Quantity) -> bool:
    """Whether the bounds of the initial state overlap, of answers that were found in the two directions."""
    assert (one.method, other.method) == (FORWARD, BACKWARD) or not one.work  # known without any
    return bool(one.lower[0] <= other.upper[0] and other.lower[0] <= one.upper[0])


def birth_and_death(states: int, birth: float, death: float) -> Floats:
    """A queue."""
    return np.diag(np.full(states - 1, birth), 1) + np.diag(np.full(states - 1, death), -1)


# Random chains.


@hypothesis_settings(deadline=None, max_examples=150)
@given(rate_matrices(), masks, masks, times, times)
def test_until(rates: Floats, through: list[bool], goal: list[bool], low: float, more: float) -> None:
    a, b = np.array(through[: len(rates)]), np.array(goal[: len(rates)])
    expected = float(exact_until(rates, a, b, low, low + more)[0])
    assume(np.isfinite(expected))  # some exponentials of SciPy 1.12 are no numbers
    model = Model.from_matrix("ctmc", rates)
    assert_holds(lambda: timed_until(model, a, b, low, low + more, FORWARDS), expected)


@pytest.mark.slow
@hypothesis_settings(deadline=None, max_examples=100)
@given(rate_matrices(), st.lists(st.integers(0, 4), min_size=5, max_size=5), times)
def test_rewards(rates: Floats, numbers: list[int], time: float) -> None:
    n = len(rates)
    reward = np.array(numbers[:n], dtype=float)
    model = Model.from_matrix("ctmc", rates)
    expected = float((flow(rates, np.ones(n, bool), time) @ reward)[0])
    assert_holds(lambda: instantaneous_time(model, Rewards(state=reward), time, FORWARDS), expected)
    larger = np.zeros((n + 1, n + 1))
    larger[:n, :n], larger[:n, n] = generator(rates), reward
    expected = float(np.asarray(scipy.linalg.expm(larger * time))[0, n])
    assert_holds(lambda: cumulative_time(model, Rewards(state=reward), time, FORWARDS), expected, max(time, 1.0))


@st.composite
def large_chains(draw: st.DrawFn) -> Floats:
    """Sparse, with rates from slow to fast, some states being far from the first one."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(20, 120))
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= draw(st.integers(1, 6))
    rates = np.where(
        near & (random.random((n, n)) < 0.5), 10.0 ** random.uniform(-4, draw(st.integers(0, 3)), (n, n)), 0
    )
    rates[random.integers(n, size=3), 0] = random.random(3)  # ways back to the beginning, which then has many
    return rates


@hypothesis_settings(deadline=None, max_examples=60)
@given(large_chains(), st.sampled_from([0.01, 0.5, 3.0, 20.0]), st.sampled_from([0.0, 0.7]), st.integers(0, 2**32))
def test_both_directions_agree(rates: Floats, time: float, low: float, seed: int) -> None:
    random, n = np.random.default_rng(seed), len(rates)
    model = Model.from_matrix("ctmc", rates)
    through, goal = random.random(n) < 0.95, np.arange(n) >= random.integers(1, n)
    reward = Rewards(state=random.random(n), choice=random.random(n) * (random.random(n) < 0.3))
    back = timed_until(model, through, goal, low, low + time, BACKWARDS)
    try:
        assert agree(timed_until(model, through, goal, low, low + time, FORWARDS), back)
    except WideError:
        assert back.upper[0] < 1e-20
    for question in (cumulative_time, instantaneous_time):
        assert agree(question(model, reward, time, FORWARDS), question(model, reward, time, BACKWARDS))


# Closed forms.


@pytest.mark.parametrize("time", [1e-9, 1e-3, 1.0, 20.0, 1e3, 1e6])
def test_one_jump_whatever_the_time(time: float) -> None:
    model = Model.from_matrix("ctmc", [[0.0, 1.0], [0.0, 0.0]])
    found = timed_until(model, np.ones(2, bool), np.array([False, True]), 0, time, FORWARDS)
    truth = -math.expm1(-time)
    assert found.lower[0] <= truth * (1 + 1e-15)
    assert found.upper[0] >= truth * (1 - 1e-15)
    assert found.upper[0] - found.lower[0] <= 2e-6 * truth


@pytest.mark.parametrize(("jumps", "time"), [(3, 1e-4), (8, 0.01), (30, 4.0)])
def test_rare_events_are_followed_more_closely(jumps: int, time: float) -> None:
    """So many jumps at rate 1: the tail of a Poisson distribution, from 1e-13 to 1e-25."""
    rates = np.diag(np.ones(jumps), 1)
    goal = np.arange(jumps + 1) == jumps
    found = timed_until(Model.from_matrix("ctmc", rates), ~goal, goal, 0, time, FORWARDS)
    terms = [math.exp(-time + k * math.log(time) - math.lgamma(k + 1)) for k in range(jumps, jumps + 60)]
    truth = math.fsum(terms)
    assert found.lower[0] * (1 - 1e-12) <= truth <= found.upper[0] * (1 + 1e-12)
    assert found.upper[0] - found.lower[0] <= 2e-6 * truth


def test_states_become_faster_on_the_way() -> None:
    """A population that doubles: its mean is exp(t), and states with k members are left at rate k."""
    n = 3000
    rates = np.diag(np.arange(1.0, n), 1)
    model, time = Model.from_matrix("ctmc", rates), 4.0
    found = instantaneous_time(model, Rewards(state=np.arange(1.0, n + 1)), time, FORWARDS)
    # Geometric with chance exp(-t); what is beyond the last state stays there.
    p = math.exp(-time)
    truth = (1 - (1 - p) ** n) / p
    assert found.lower[0] <= truth * (1 + 1e-12)
    assert found.upper[0] >= truth * (1 - 1e-12)
    assert found.upper[0] - found.lower[0] <= 2e-6 * truth


def test_a_time_that_no_number_of_intervals_divides() -> None:
    """Erlang's distribution at odd times: intervals must add up to them exactly."""
    n = 400
    goal = np.arange(n + 1) == n
    for time in (0.1 + 0.2, 10 / 3, math.pi, 1e-3 * math.e):
        rates = np.diag(np.full(n, n / time), 1)
        found = timed_until(Model.from_matrix("ctmc", rates), ~goal, goal, 0, time, replace(FORWARDS, eps=1e-10))
        # P(N >= n) for a mean of n, up to the rounding of the rates.
        below = math.fsum(math.exp(-n + k * math.log(n) - math.lgamma(k + 1)) for k in range(n))
        assert found.lower[0] <= 1 - below + 1e-12
        assert found.upper[0] >= 1 - below - 1e-12


def test_a_long_time_ends_when_nothing_moves_any_more() -> None:
    model = Model.from_matrix("ctmc", [[0.0, 1.0], [2.0, 0.0]])
    reward = Rewards(state=np.array([3.0, 0.0]))
    found = instantaneous_time(model, reward, 1e6, FORWARDS)
    assert found.lower[0] <= 2 <= found.upper[0]
    assert found.iterations < 1000
    found = cumulative_time(model, reward, 1e6, FORWARDS)
    assert found.lower[0] <= 3 * (2 / 3 * 1e6 + 1 / 9) <= found.upper[0]
    assert found.iterations < 1000


def test_a_distribution_that_moves_on() -> None:
    """States that mass has left are given up: a wave that goes through a long line."""
    n = 5000
    model = Model.from_matrix("ctmc", np.diag(np.full(n - 1, 100.0), 1))
    found = instantaneous_time(model, Rewards(state=np.arange(float(n))), 20.0, FORWARDS)
    assert found.lower[0] <= 2000 <= found.upper[0]
    followed = int(found.work[0].detail.split()[1].replace(",", ""))
    assert followed < n / 2


def test_a_state_that_many_lead_to() -> None:
    """Its sum has thousands of terms, each of which rounds."""
    n = 2000
    rates = np.zeros((n, n))
    rates[0, 1:], rates[1:, 0] = 1.0, 1000.0
    model, first = Model.from_matrix("ctmc", rates), np.arange(n) == 0
    found = timed_until(model, np.ones(n, bool), first, 2.0, 2.0, FORWARDS)
    up, down = n - 1.0, 1000.0
    truth = (down + up * math.exp(-(up + down) * 2.0)) / (up + down)
    assert found.lower[0] <= truth <= found.upper[0]


@pytest.mark.parametrize(
    ("there", "back", "time"), [(1 / 3, 0.7, 11.3), (2.1, 0.3, 7.7), (0.1, 0.2, 33.3), (17.0, 3.3, 2.9)]
)
def test_rounding_is_part_of_the_bounds(there: float, back: float, time: float) -> None:
    """With hardly anything to be lost, what is off is rounding: seen with fifty digits."""
    model = Model.from_matrix("ctmc", [[0.0, there], [back, 0.0]])
    chain = MovingChain(model, np.ones(2, bool), exit_rates(model, 1, loops=False), FORWARDS)
    found = chain.after(time, Distribution.at(0), 1e-30, Effort())
    with localcontext() as digits:
        digits.prec = 50
        a, b, t = Decimal(there), Decimal(back), Decimal(time)
        stay = (b + a * (-(a + b) * t).exp()) / (a + b)
        for k, truth in enumerate((stay, 1 - stay)):
            value = found.expected(np.eye(2)[k])
            lower, upper = found.bounds(value, 1.0)
            assert Decimal(lower) <= truth <= Decimal(upper)
            assert abs(Decimal(value) - truth) > Decimal(found.lost)


# Cases that were once wrong.


def test_what_is_earned_all_the_time_is_not_cut_by_a_rounded_product() -> None:
    """0.1 · 100.1 rounds down; the upper bound was that, and less than the truth."""
    model = Model.from_matrix("ctmc", birth_and_death(5, 1.0, 3.0))
    found = cumulative_time(model, Rewards(state=np.full(5, 0.1)), 100.1, FORWARDS)
    truth = Fraction(0.1) * Fraction(100.1)
    assert Fraction(float(found.lower[0])) <= truth <= Fraction(float(found.upper[0]))
    assert Fraction(float(found.upper[1])) >= truth


@pytest.mark.parametrize("reward", [1e-300, 1e-306, 1e-309])
def test_rewards_that_are_flushed_to_zero_are_left_to_others(reward: float) -> None:
    model = Model.from_matrix("ctmc", [[0.0, 1.0], [2.0, 0.0]])
    earning = Rewards(state=np.array([0.0, reward]))
    with pytest.raises(GaltonError, match=r"a reward of .* is beyond"):
        cumulative_time(model, earning, 1.0, FORWARDS)
    found = cumulative_time(model, earning, 1.0, Settings(threads=1))
    truth = reward * (1 / 3 - (1 - math.exp(-3)) / 9)
    assert found.lower[0] <= truth * (1 + 1e-9) + 5e-324
    assert found.upper[0] >= truth * (1 - 1e-9) - 5e-324


def test_what_is_beyond_it_is_answered_backward_by_default() -> None:
    """The bounds were 9e-9 of the truth too low."""
    n, time = 20_000, 100.0
    model = Model.from_matrix("ctmc", _sparse_queue(n, 1.0, 3.0))
    found = cumulative_time(model, Rewards(state=np.full(n, 1e-300)), time, Settings(threads=1))
    assert found.method == BACKWARD
    assert "given up: a reward of 1e-300" in found.work[0].detail
    assert found.lower[0] <= 1e-298 <= found.upper[0]


@pytest.mark.parametrize(("rate", "time"), [(1e-307, 1e307), (2.3e-308, 1e308), (1e-200, 1e-200), (1e200, 1e-200)])
def test_rates_that_are_nearly_nothing_or_everything_are_left_to_others(rate: float, time: float) -> None:
    """The chance to stay was flushed to zero: 0.606 in place of 0.632."""
    model = Model.from_matrix("ctmc", [[0.0, rate], [0.0, 0.0]])
    with pytest.raises(GaltonError, match="is beyond what adaptive-uniformisation can do"):
        timed_until(model, np.ones(2, bool), np.array([False, True]), 0, time, FORWARDS)


def test_rewards_without_bounds_are_refused_in_a_sentence() -> None:
    model = Model.from_matrix("ctmc", [[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(GaltonError, match="a reward of"):
        cumulative_time(model, Rewards(state=np.array([1e200, 0.0])), 1.0, FORWARDS)


def test_more_steps_than_anybody_can_make_are_refused() -> None:
    model = Model.from_matrix("ctmc", [[0.0, 1e25], [1e25, 0.0]])
    with pytest.raises(GaltonError, match="too many to follow"):
        instantaneous_time(model, Rewards(state=np.array([1.0, 0.0])), 1.0, FORWARDS)


def test_rounding_is_part_of_what_a_standstill_may_move() -> None:
    """Where nothing seems to move any more, rounding might: bounds were wide, and were refused again and again."""
    rates = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 1e-12], [0.0, 5.0, 0.0]])
    model = Model.from_matrix("ctmc", rates)
    found = timed_until(model, np.ones(3, bool), np.arange(3) == 2, 1e3, 1e3, FORWARDS)
    assert agree(found, timed_until(model, np.ones(3, bool), np.arange(3) == 2, 1e3, 1e3, BACKWARDS))


@pytest.mark.parametrize("settings", [FORWARDS, replace(FORWARDS, relative=False)])
def test_a_very_short_time(settings: Settings) -> None:
    """The end of the Poisson distribution was counted as lost time where nothing is earned."""
    model = Model.from_matrix("ctmc", [[0.0, 1.0], [0.0, 0.0]])
    found = timed_until(model, np.ones(2, bool), np.array([False, True]), 0, 1e-43, settings)
    assert found.lower[0] <= 1e-43 * (1 + 1e-15)
    assert found.upper[0] >= 1e-43 * (1 - 1e-15)


def test_a_large_eps() -> None:
    model = Model.from_matrix("ctmc", [[0.0, 1.0], [2.0, 0.0]])
    found = instantaneous_time(model, Rewards(state=np.array([3.0, 0.0])), 1.0, replace(FORWARDS, eps=1e4))
    assert found.lower[0] <= 3 * (2 + math.exp(-3)) / 3 <= found.upper[0]


# When it is used.


def test_it_is_tried_where_little_of_a_chain_is_visited() -> None:
    """A queue that hardly ever fills."""
    n = 20_000
    model = Model.from_matrix("ctmc", _sparse_queue(n, 1.0, 3.0))
    reward = Rewards(state=np.arange(float(n)))
    found = instantaneous_time(model, reward, 100.0, Settings(threads=1))
    assert found.method == FORWARD
    assert agree(found, instantaneous_time(model, reward, 100.0, BACKWARDS))


def test_it_is_given_up_where_most_of_a_chain_is_visited() -> None:
    n = 20_000
    model = Model.from_matrix("ctmc", _sparse_queue(n, 1e4, 1.0))
    goal = np.arange(n) == n - 1
    found = timed_until(model, ~goal, goal, 0, 1.9, Settings(threads=1))
    assert found.method == BACKWARD
    assert "given up" in found.work[0].detail


def test_several_states_are_never_answered_by_one_distribution() -> None:
    n = 20_000
    model = replace(Model.from_matrix("ctmc", _sparse_queue(n, 1.0, 3.0)), initial=np.array([0, 1], dtype=np.int32))
    found = instantaneous_time(model, Rewards(state=np.arange(float(n))), 10.0, FORWARDS)
    assert found.method == BACKWARD
    assert (found.upper - found.lower <= 2e-6 * found.upper)[:2].all()


def test_what_is_too_rare_is_said() -> None:
    n = 200
    goal = np.arange(n + 1) == n
    model = Model.from_matrix("ctmc", np.diag(np.ones(n), 1))
    with pytest.raises(WideError, match="without method others are tried"):
        timed_until(model, ~goal, goal, 0, 1e-2, FORWARDS)
    found = timed_until(model, ~goal, goal, 0, 1e-2, Settings(threads=1))
    assert found.upper[0] - found.lower[0] <= 2e-6 * found.upper[0] + 1e-290


def test_a_chain_that_few_steps_go_through_is_not_worth_trying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forward, "_bounds", lambda *_: pytest.fail("tried"))
    model = Model.from_matrix("ctmc", birth_and_death(10, 1.0, 2.0))
    assert instantaneous_time(model, Rewards(state=np.arange(10.0)), 5.0, Settings(threads=1)).method == BACKWARD


SEVERAL_STATES = ('P=? [ F>=2 "up" ]', 'filter(max, P=? [ F<=1 "up" ], !"up")')  # from where bounds are needed


@pytest.mark.parametrize(
    "text",
    [
        'P=? [ F<=5 !"up" ]',
        'P=? [ F[2,4] "up" ]',
        'P=? [ F[3,3] "up" ]',
        'P=? [ F>=2 "up" ]',
        'P=? [ G<=4 "up" ]',
        'P=? [ G[2,4] "up" ]',
        'P=? [ "up" U<=0.5 !"up" ]',
        'P=? [ "up" W[1,2] !"up" ]',
        'P=? [ "up" R<=2 !"up" ]',
        'P=? [ F<=0 "up" ]',
        'P>=0.5 [ F<=3 !"up" ]',
        'P=? [ F<=2 P<0.9 [ F<=1 "up" ] ]',
        'filter(max, P=? [ F<=1 "up" ], !"up")',
        'filter(state, P=? [ F<=1 "up" ], state=1)',
        'R{"time"}=? [ C<=7 ]',
        'R{"repairs"}=? [ C<=2.5 ]',
        'R{"power"}=? [ I=3 ]',
        'R{"repairs"}=? [ C<=2 ] / R{"time"}=? [ C<=2 ]',
        'pow(P=? [ F<=5 !"up" ], -1)',
        'P=? [ F<=5 !"up" ] > 0.4 ? 1 : 2',
    ],
)
def test_formulas(text: str) -> None:
    ahead, back = (ask(MACHINE, text, method=name) for name in (FORWARD, BACKWARD))
    if ahead.lower is None or ahead.upper is None or back.lower is None or back.upper is None:
        assert ahead.value == back.value
    else:
        assert max(ahead.lower, back.lower) <= min(ahead.upper, back.upper)
        assert ahead.upper - ahead.lower <= 4e-6 * ahead.upper
    assert ahead.proved
    assert ahead.method.endswith(BACKWARD if text in SEVERAL_STATES else FORWARD)


def test_nothing_moves_from_where_a_goal_is_reached() -> None:
    """It was 0.9999999999999993."""
    found = ask(MACHINE, 'P=? [ F<=5 "up" ]', method=FORWARD)
    assert (found.method, found.lower, found.upper) == (FORWARD, 1.0, 1.0)


def test_where_it_has_no_say_it_is_refused_or_the_plan_tells() -> None:
    with pytest.raises(GaltonError, match=f"method=.{FORWARD}. does nothing for .* it is for time bounds"):
        ask(MACHINE, "P=? [ F state=2 ]", method=FORWARD)
    found = ask(MACHINE, 'filter(sum, P=? [ F<=1 "up" ], true)', method=FORWARD)
    assert found.method == BACKWARD
    assert any(f"{FORWARD} is for CTMCs within a time, from one state" in work.detail for work in found.work)


def test_where_few_states_matter_backward_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of the whole model was taken for the work to be done backward, and forward tried for seconds."""
    monkeypatch.setattr(forward, "_bounds", lambda *_: pytest.fail("tried"))
    n = 100_000
    model = Model.from_matrix("ctmc", _sparse_queue(n, 1.0, 0.0))
    goal = np.arange(n) == 12
    assert timed_until(model, ~goal, goal, 0, 1e8, Settings(threads=1)).lower[0] > 0.999


def test_progress_is_told_and_can_stop_it() -> None:
    watch = Impatient()
    model = Model.from_matrix("ctmc", np.diag(np.full(999, 100.0), 1))
    with pytest.raises(KeyboardInterrupt):
        instantaneous_time(model, Rewards(state=np.arange(1000.0)), 9.0, replace(FORWARDS, watch=watch))
    assert 0 < watch.news[0]["time"] < watch.news[2]["time"] < 9


def _sparse_queue(states: int, birth: float, death: float) -> object:
    import scipy.sparse

    return scipy.sparse.diags_array(
        [np.full(states - 1, birth), np.full(states - 1, death)], offsets=[1, -1], format="csr"
    )
