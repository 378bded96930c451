"""Step bounds against recursion with fractions, on random chains and MDPs."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import galton
from galton.checking.bounded.question import NegativeRewardError, WideError
from galton.checking.bounded.within_steps import bounded_until, cumulative_steps, instantaneous_steps, next_step
from galton.checking.quantity import Quantity
from galton.lang import GaltonError
from galton.model.sparse import Model, Rewards
from galton.solve import step_limits as patience
from galton.solve.finite_horizon import StrategyTooLargeError
from galton.solve.settings import Settings
from galton.solve.step_limits import TooManyStepsError

Rows = list[list[dict[int, int]]]  # per state, per choice: weights of targets
Vector = list[Fraction]
SETTINGS = Settings(threads=1)
OPTIMA: dict[str | None, Callable[..., Fraction]] = {"min": min, "max": max, None: max}


@st.composite
def weighted_models(draw: st.DrawFn, most_choices: int) -> Rows:
    states = draw(st.integers(1, 5))
    choice = st.dictionaries(st.integers(0, states - 1), st.integers(1, 4), min_size=1, max_size=3)
    return draw(st.lists(st.lists(choice, min_size=1, max_size=most_choices), min_size=states, max_size=states))


def as_model(rows: Rows, *, mdp: bool) -> Model:
    dense = np.zeros((sum(map(len, rows)), len(rows)))
    for k, choice in enumerate(choice for state in rows for choice in state):
        for target, weight in choice.items():
            dense[k, target] = weight / sum(choice.values())
    if not mdp:
        return Model.from_matrix("dtmc", dense)
    return Model.from_matrix("mdp", dense, row_groups=np.cumsum([0, *map(len, rows)]))


def expectation(choice: dict[int, int], x: Vector) -> Fraction:
    return sum((Fraction(weight, sum(choice.values())) * x[target] for target, weight in choice.items()), Fraction(0))


def exact_until(rows: Rows, through: list[bool], goal: list[bool], low: int, high: int, optimum: str | None) -> Vector:
    x = [Fraction(int(g)) for g in goal[: len(rows)]]
    for left in range(1, high + 1):
        step = [
            OPTIMA[optimum](expectation(choice, x) for choice in choices) if through[s] else Fraction(0)
            for s, choices in enumerate(rows)
        ]
        # With `left` steps to go, high - left have been made: the goal counts once low of them have.
        x = [Fraction(1) if goal[s] and high - left >= low else step[s] for s in range(len(rows))]
    return x


def exact_rewards(rows: Rows, state: list[int], choice: list[int], steps: int, optimum: str | None) -> Vector:
    x = [Fraction(0)] * len(rows)
    first = np.cumsum([0, *map(len, rows)])
    for _ in range(steps):
        x = [
            OPTIMA[optimum](
                state[s] + choice[first[s] + k] + expectation(option, x) for k, option in enumerate(choices)
            )
            for s, choices in enumerate(rows)
        ]
    return x


def exact_instant(rows: Rows, state: list[int], steps: int, optimum: str | None) -> Vector:
    x = [Fraction(r) for r in state[: len(rows)]]
    for _ in range(steps):
        x = [OPTIMA[optimum](expectation(option, x) for option in choices) for choices in rows]
    return x


def assert_holds(found: Quantity, expected: Vector) -> None:
    assert len(found.lower) == len(expected)
    for low, truth, high in zip(found.lower, expected, found.upper, strict=True):
        assert Fraction(float(low)) <= truth <= Fraction(float(high))
    assert found.upper[0] - found.lower[0] <= 2e-6 * found.upper[0]  # the initial state
    assert (found.upper - found.lower <= 2e-6 * found.upper.max()).all()


masks = st.lists(st.booleans(), min_size=5, max_size=5)
numbers = st.lists(st.integers(0, 3), min_size=15, max_size=15)


@hypothesis_settings(deadline=None, max_examples=40)
@given(weighted_models(1), masks, masks, st.integers(0, 4), st.integers(0, 20))
def test_until_in_a_chain(rows: Rows, through: list[bool], goal: list[bool], low: int, more: int) -> None:
    n = len(rows)
    found = bounded_until(
        as_model(rows, mdp=False),
        np.array(through[:n]),
        np.array(goal[:n]),
        low,
        low + more,
        None,
        SETTINGS,
        everywhere=True,
    )
    assert_holds(found, exact_until(rows, through, goal, low, low + more, None))


@hypothesis_settings(deadline=None, max_examples=40)
@given(weighted_models(3), masks, masks, st.integers(0, 3), st.integers(0, 12), st.sampled_from(["min", "max"]))
def test_until_in_an_mdp(rows: Rows, through: list[bool], goal: list[bool], low: int, more: int, optimum: str) -> None:
    n = len(rows)
    model, a, b = as_model(rows, mdp=True), np.array(through[:n]), np.array(goal[:n])
    found = bounded_until(model, a, b, low, low + more, optimum, SETTINGS, strategy=True)  # type: ignore[arg-type]
    expected = exact_until(rows, through, goal, low, low + more, optimum)
    assert_holds(found, expected)
    plain = bounded_until(model, a, b, low, low + more, optimum, SETTINGS, everywhere=True)  # type: ignore[arg-type]
    assert plain.choices is None
    assert_holds(plain, expected)
    assert found.choices is not None
    assert found.choices.shape == (low + more, n)
    attained = until_under(model, found.choices, a, b, low)
    assert attained == pytest.approx([float(x) for x in expected], abs=1e-9)


def until_under(
    model: Model, choices: npt.NDArray[np.int32], through: npt.NDArray[np.bool_], goal: npt.NDArray[np.bool_], low: int
) -> npt.NDArray[np.float64]:
    """The probability under a strategy; where it does not choose, the first choice is taken."""
    assert model.choice_starts is not None
    matrix, x = model.to_scipy(), goal.astype(float)
    for made in reversed(range(len(choices))):
        rows = np.where(choices[made] >= 0, choices[made], model.choice_starts[:-1])
        assert (rows >= model.choice_starts[:-1]).all()
        assert (rows < model.choice_starts[1:]).all()
        x = np.where(through, (matrix @ x)[rows], 0.0)
        if made >= low:
            x[goal] = 1.0
    return x


@hypothesis_settings(deadline=None, max_examples=40)
@given(weighted_models(3), masks, st.sampled_from(["min", "max"]))
def test_next(rows: Rows, goal: list[bool], optimum: str) -> None:
    n = len(rows)
    model = as_model(rows, mdp=True)
    found = next_step(model, np.array(goal[:n]), optimum, SETTINGS, strategy=True)  # type: ignore[arg-type]
    expected = [OPTIMA[optimum](expectation(c, [Fraction(int(g)) for g in goal]) for c in choices) for choices in rows]
    assert_holds(found, expected)
    assert found.choices is not None
    attained = (model.to_scipy() @ np.array(goal[:n], dtype=float))[found.choices[0]]
    assert attained == pytest.approx([float(x) for x in expected])
    for k, truth in enumerate(expected):
        if truth in (0, 1):
            assert found.lower[k] == found.upper[k] == truth


@hypothesis_settings(deadline=None, max_examples=40)
@given(weighted_models(3), numbers, numbers, st.integers(0, 20), st.sampled_from(["min", "max"]), st.booleans())
def test_rewards(rows: Rows, state: list[int], choice: list[int], steps: int, optimum: str, chain: bool) -> None:
    if chain:
        rows = [choices[:1] for choices in rows]
    model, n = as_model(rows, mdp=not chain), len(rows)
    reward = Rewards(state=np.array(state[:n], dtype=float), choice=np.array(choice[: model.n_choices], dtype=float))
    found = cumulative_steps(model, reward, steps, optimum, SETTINGS, everywhere=True)  # type: ignore[arg-type]
    assert_holds(found, exact_rewards(rows, state, choice, steps, optimum))
    found = instantaneous_steps(model, reward, steps, optimum, SETTINGS, everywhere=True)  # type: ignore[arg-type]
    assert_holds(found, exact_instant(rows, state, steps, optimum))


@hypothesis_settings(deadline=None, max_examples=25)
@given(weighted_models(3), numbers, st.integers(1, 8), st.sampled_from(["min", "max"]))
def test_strategies_earn_what_they_promise(rows: Rows, state: list[int], steps: int, optimum: str) -> None:
    model, n = as_model(rows, mdp=True), len(rows)
    reward = Rewards(state=np.array(state[:n], dtype=float))
    for operator, start in ((cumulative_steps, np.zeros(n)), (instantaneous_steps, reward.state)):
        found = operator(model, reward, steps, optimum, SETTINGS, strategy=True)  # type: ignore[arg-type]
        assert found.choices is not None
        assert found.choices.shape == (steps, n)
        x = np.array(start)
        for rows_taken in reversed(found.choices):
            taken = np.where(rows_taken >= 0, rows_taken, np.asarray(model.choice_starts)[:-1])
            x = (model.to_scipy() @ x)[taken] + (reward.state if operator is cumulative_steps else 0.0)
        assert x == pytest.approx(found.value, abs=1e-9)


# Long horizons, which end early.


def leaky(stay: float) -> Model:
    return Model.from_matrix("dtmc", [[stay, 1 - stay], [0.0, 1.0]])


def test_a_slow_leak_is_followed_for_a_million_steps_in_a_few() -> None:
    found = bounded_until(leaky(1 - 2**-30), np.ones(2, bool), np.array([False, True]), 0, 10**6, None, SETTINGS)
    truth = -math.expm1(10**6 * math.log1p(-(2**-30)))
    assert found.lower[0] <= truth * (1 + 1e-14)
    assert found.upper[0] >= truth * (1 - 1e-14)
    assert found.upper[0] - found.lower[0] < 1e-6 * found.upper[0]
    assert found.iterations < 100


def test_rewards_of_a_mixing_chain_end_early() -> None:
    model = Model.from_matrix("dtmc", [[0.5, 0.5], [0.25, 0.75]])
    found = cumulative_steps(model, Rewards(state=np.array([1.0, 0.0])), 10**7, None, SETTINGS)
    # π = (1/3, 2/3), and the deviation from it shrinks to a quarter with each step.
    truth = Fraction(10**7, 3) + Fraction(2, 3) / (1 - Fraction(1, 4))
    assert Fraction(float(found.lower[0])) <= truth <= Fraction(float(found.upper[0]))
    assert found.iterations < 100


@pytest.mark.parametrize("optimum", ["min", "max"])
def test_mdps_end_early_too(optimum: str) -> None:
    dense = np.array([[0.5, 0.5], [0.9, 0.1], [0.25, 0.75]])
    model = Model.from_matrix("mdp", dense, row_groups=np.array([0, 2, 3]))
    found = cumulative_steps(model, Rewards(state=np.array([1.0, 0.0])), 10**6, optimum, SETTINGS)  # type: ignore[arg-type]
    row = dense[0] if optimum == "min" else dense[1]
    share = 0.25 / (0.25 + row[1])
    assert found.value[0] == pytest.approx(10**6 * share, rel=1e-5)
    assert found.iterations < 1000


def test_a_chain_that_alternates_is_followed_to_the_end() -> None:
    model = Model.from_matrix("dtmc", [[0.0, 1.0], [1.0, 0.0]])
    reward = Rewards(state=np.array([1.0, 0.0]))
    assert instantaneous_steps(model, reward, 10_001, None, SETTINGS).value.tolist() == pytest.approx([0, 1])
    assert cumulative_steps(model, reward, 10_001, None, SETTINGS).value.tolist() == pytest.approx([5001, 5000])


def test_tiny_probabilities_keep_their_digits() -> None:
    n = 60  # one path, with a probability of 1e-5 for each step
    dense = np.zeros((n + 1, n + 1))
    for s in range(n):
        dense[s, s + 1], dense[s, 0] = 1e-5, 1 - 1e-5
    dense[n, n] = 1
    goal = np.arange(n + 1) == n
    found = bounded_until(Model.from_matrix("dtmc", dense), ~goal, goal, 0, n, None, SETTINGS)
    assert found.lower[0] <= 1e-300 * (1 + 1e-12)
    assert found.upper[0] >= 1e-300 * (1 - 1e-12)
    assert found.upper[0] - found.lower[0] < 1e-312 * 1.5


# Edges.


def two_states() -> Model:
    return leaky(0.5)


def test_no_step_is_enough_for_the_goal_itself_only() -> None:
    found = bounded_until(two_states(), np.ones(2, bool), np.array([False, True]), 0, 0, None, SETTINGS)
    assert found.lower.tolist() == found.upper.tolist() == [0, 1]


def test_no_goal_and_nothing_but_goal() -> None:
    everywhere, nowhere = np.ones(2, bool), np.zeros(2, bool)
    assert bounded_until(two_states(), everywhere, nowhere, 0, 9, None, SETTINGS).upper.tolist() == [0, 0]
    assert bounded_until(two_states(), everywhere, everywhere, 3, 9, None, SETTINGS).lower.tolist() == [1, 1]
    assert bounded_until(two_states(), nowhere, everywhere, 0, 9, None, SETTINGS).lower.tolist() == [1, 1]
    assert bounded_until(two_states(), nowhere, everywhere, 1, 9, None, SETTINGS).upper.tolist() == [0, 0]


def test_certainty_is_exact() -> None:
    """Three thirds are not one in every order of addition; a property may ask for P>=1."""
    dense = np.zeros((5, 5))
    dense[0, 1:4], dense[1:4, 4], dense[4, 4] = [0.1, 0.2, 0.7], 1, 1
    goal = np.arange(5) == 4
    found = bounded_until(Model.from_matrix("dtmc", dense), ~goal, goal, 0, 2, None, SETTINGS)
    assert found.lower[0] == found.upper[0] == 1


@pytest.mark.parametrize(("low", "high"), [(-1, 5), (0, -1), (-2, None)])
def test_negative_bounds_are_refused(low: int, high: int | None) -> None:
    with pytest.raises(GaltonError, match="at least 0"):
        bounded_until(two_states(), np.ones(2, bool), np.ones(2, bool), low, high, None, SETTINGS)


def test_bounds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(GaltonError, match="no number of steps lies between 5 and 3"):
        bounded_until(two_states(), np.ones(2, bool), np.ones(2, bool), 5, 3, None, SETTINGS)


def test_negative_rewards_are_refused() -> None:
    with pytest.raises(NegativeRewardError, match="below zero"):
        cumulative_steps(two_states(), Rewards(state=np.array([1.0, -1.0])), 3, None, SETTINGS)


def test_a_strategy_that_would_not_fit_is_refused() -> None:
    model = as_model([[{0: 1}, {1: 1}], [{0: 1}]], mdp=True)
    with pytest.raises(StrategyTooLargeError, match="too large"):
        cumulative_steps(model, Rewards(state=np.ones(2)), 10**10, "max", SETTINGS, strategy=True)


def test_more_digits_than_there_are_is_said() -> None:
    model = Model.from_matrix("dtmc", [[0.0, 0.6, 0.4], [0.7, 0.0, 0.3], [0.0, 0.0, 1.0]])
    goal = np.array([False, False, True])
    with pytest.raises(WideError, match="larger eps"):
        bounded_until(model, ~goal, goal, 0, 10**4, None, Settings(eps=1e-17, threads=1))


@pytest.mark.parametrize("steps", ["1e30", "1e150", "1e300"])
def test_more_steps_than_an_array_can_number(steps: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a traceback: the weights of so many steps were powers of Python's long integers."""
    monkeypatch.setattr(patience, "SOME_STEPS", 1000)
    coin = "dtmc  module coin  s : [0..2];  [] s=0 -> 0.5:(s'=1) + 0.25:(s'=2) + 0.25:true;  endmodule"
    program = galton.parse(coin + "  rewards s=0 : 1; endrewards")
    for text, truth in (
        (f"P=? [ F={steps} s=1 ]", 2 / 3),
        (f"P=? [ F<={steps} s=1 ]", 2 / 3),
        (f"R=? [ C<={steps} ]", 4 / 3),
    ):
        try:
            answer = galton.check(program, text)
        except (WideError, TooManyStepsError):
            assert "F=" in text or steps == "1e300"  # the square of which no double holds
        else:
            assert answer.lower <= truth <= answer.upper
