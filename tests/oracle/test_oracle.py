"""The exact checker itself: cases worked out by hand, and definitions tried in other ways."""

from __future__ import annotations

import math
from fractions import Fraction

import exact_chains as chains
import exact_policies as policies
import exact_steps as steps
import exact_time as time
import pytest
from exact import Exact, Number, Rewards, followed, from_sparse, over_strategies
from hypothesis import given
from hypothesis import strategies as st
from profile_settings import examples
from queries import TRUE, Bound, Label, Path, Probability, decimal
from random_models import RandomModel, models

import galton

HALF = Fraction(1, 2)


def chain(*rows: dict[int, object], rates: tuple[object, ...] = ()) -> Exact:
    kind = "ctmc" if rates else "dtmc"
    fractions = [[{t: Fraction(p) for t, p in row.items()}] for row in rows]
    return Exact(kind, fractions, exit_rates=[Fraction(r) for r in rates])


def earning(*state: object) -> Rewards:
    return Rewards([Fraction(r) for r in state], [[Fraction(0)] for _ in state])


# A coin that lands on heads (1), on tails (2), or on its edge: then it is tossed again.
COIN = chain({0: "1/2", 1: "1/6", 2: "1/3"}, {1: 1}, {2: 1})
# A queue with room for two: arrivals at rate 2, service at rate 3.
QUEUE = chain({1: 1}, {0: "3/5", 2: "2/5"}, {1: 1}, rates=(2, 5, 3))


def test_chances_of_a_coin() -> None:
    assert chains.until(COIN, {0}, {1}) == [Fraction(1, 3), 1, 0]
    assert chains.until(COIN, {1, 2}, {1}) == [0, 1, 0]
    assert chains.next_step(COIN, {0, 1}) == [Fraction(2, 3), 1, 0]


def test_bounds_of_steps() -> None:
    def of(low: int, high: int | None) -> Number:
        return steps.bounded_until(COIN, {0}, {1}, low, high, None)[0]

    assert of(0, 0) == 0
    assert of(0, 1) == Fraction(1, 6)
    assert of(0, 2) == Fraction(1, 6) + Fraction(1, 12)
    assert of(2, 2) == Fraction(1, 12)
    assert of(2, None) == Fraction(1, 6)
    # A state of the goal that is not in the left side counts at once or never.
    assert steps.bounded_until(COIN, {0}, {1}, 0, 5, None)[1] == 1
    assert steps.bounded_until(COIN, {0}, {1}, 1, 5, None)[1] == 0


def test_rewards_of_a_coin() -> None:
    one = earning(1, 0, 0)
    assert chains.reachability_reward(COIN, one, {1, 2}) == [2, 0, 0]
    assert chains.reachability_reward(COIN, one, {1}) == [math.inf, 0, math.inf]
    assert chains.total_reward(COIN, one) == [2, 0, 0]
    assert chains.total_reward(COIN, earning(1, 1, 0)) == [math.inf, math.inf, 0]
    assert steps.cumulative(COIN, one, 3, None) == [Fraction(7, 4), 0, 0]
    assert steps.instantaneous(COIN, earning(4, 6, 0), 1, None) == [3, 6, 0]
    assert chains.long_run(COIN, earning(5, 3, 9)) == [7, 3, 9]


def test_long_run_of_a_periodic_chain() -> None:
    assert chains.long_run(chain({1: 1}, {0: 1}), earning(1, 0)) == [HALF, HALF]


def test_queue() -> None:
    # Detailed balance: 2 p0 = 3 p1, 2 p1 = 3 p2.
    assert chains.long_run(QUEUE, earning(9, 0, 0))[0] == Fraction(81, 19)
    assert chains.long_run(QUEUE, earning(0, 1, 2))[2] == Fraction(6 + 2 * 4, 19)
    # From empty to full: 1/2 + t1, t1 = 1/5 + 3/5 t0.
    assert chains.reachability_reward(QUEUE, QUEUE.constant_rewards(), {2})[0] == Fraction(7, 4)


def test_transient_of_two_states() -> None:
    flip = chain({1: 1}, {0: 1}, rates=(1, 1))
    at = Fraction(3, 4)
    value = time.timed_until(flip, {0, 1}, {0}, at, at)[0]
    assert math.isclose(value, (1 + math.exp(-1.5)) / 2, rel_tol=1e-15)
    assert math.isclose(time.timed_until(flip, {0, 1}, {1}, Fraction(0), at)[0], 1 - math.exp(-0.75), rel_tol=1e-15)
    assert math.isclose(time.timed_until(flip, {0}, {1}, at, None)[0], math.exp(-0.75), rel_tol=1e-15)
    assert math.isclose(
        time.timed_until(flip, {0}, {1}, at, 2 * at)[0], math.exp(-0.75) - math.exp(-1.5), rel_tol=1e-14
    )
    assert time.timed_until(flip, {0}, {1}, at, 2 * at)[1] == 0
    staying = time.cumulative(flip, earning(1, 0), at)[0]
    assert math.isclose(staying, 0.375 + (1 - math.exp(-1.5)) / 4, rel_tol=1e-15)


def test_chances_that_no_digits_can_hold() -> None:
    leaving = chain({1: 1}, {1: 1}, rates=(1, 1))
    assert 0 < time.timed_until(leaving, {0, 1}, {0}, Fraction(10**6), Fraction(10**6))[0] < Fraction(1, 10**100)
    assert 0 < 1 - time.timed_until(leaving, {0, 1}, {1}, Fraction(0), Fraction(10**6))[0] < Fraction(1, 10**100)
    assert time.timed_until(leaving, {0, 1}, {0, 1}, Fraction(3), Fraction(3)) == [1, 1]
    assert time.timed_until(leaving, {0, 1}, set(), Fraction(3), Fraction(4)) == [0, 0]


def test_large_times_are_the_long_run() -> None:
    late = time.instantaneous(QUEUE, earning(0, 1, 2), Fraction(10_000))
    assert abs(late[0] - Fraction(14, 19)) < Fraction(1, 10**100)


def decisions(*states: list[tuple[dict[int, object], object]]) -> tuple[Exact, Rewards]:
    """Each state as its choices, each choice as its distribution and its reward."""
    rows = [[{t: Fraction(p) for t, p in row.items()} for row, _ in choices] for choices in states]
    paid = [[Fraction(reward) for _, reward in choices] for choices in states]
    return Exact("mdp", rows), Rewards([Fraction(0)] * len(states), paid)


everything = pytest.mark.parametrize("by_policies", [False, True])


@everything
def test_strategies(by_policies: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies, "ENUMERATED", 0 if by_policies else 10**6)
    # Wait for nothing or go to 1 for 3; there, try for the goal 2 for 1, go back for nothing, or leave to 3.
    trip, paid = decisions(
        [({0: 1}, 0), ({1: 1}, 3)], [({2: "1/2", 0: "1/2"}, 1), ({0: 1}, 0), ({3: 1}, 0)], [({2: 1}, 0)], [({3: 1}, 0)]
    )
    assert policies.until(trip, trip.states, {2}, "max") == [1, 1, 1, 0]
    assert policies.until(trip, trip.states, {2}, "min") == [0, 0, 1, 0]
    # Waiting for nothing never arrives, so it is no cheap way to the goal.
    assert policies.reachability_reward(trip, paid, {2}, "min") == [8, 5, 0, math.inf]
    assert policies.reachability_reward(trip, paid, {2}, "max") == [math.inf, math.inf, 0, math.inf]
    assert policies.total_reward(trip, paid, "min") == [0, 0, 0, 0]
    assert policies.total_reward(trip, paid, "max") == [math.inf, math.inf, 0, 0]


@everything
def test_cycles_that_earn_nothing(by_policies: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies, "ENUMERATED", 0 if by_policies else 10**6)
    cycle, paid = decisions([({1: 1}, 0), ({2: 1}, 7)], [({0: 1}, 0), ({2: 1}, 3)], [({2: 1}, 0)])
    assert policies.reachability_reward(cycle, paid, {2}, "min") == [3, 3, 0]
    assert policies.reachability_reward(cycle, paid, {2}, "max") == [math.inf, math.inf, 0]
    assert policies.total_reward(cycle, paid, "min") == [0, 0, 0]
    assert policies.total_reward(cycle, paid, "max") == [7, 7, 0]


@examples(60)
@given(models(["mdp"], largest=6), st.sampled_from(["min", "max"]))
def test_policy_iteration_finds_the_best_strategy(random: RandomModel, optimum: str) -> None:
    model = random.exact
    through, goal, rewards = model.states - model.labels["b"], model.labels["a"], model.rewards["r"]
    if math.prod(map(len, model.rows)) > 600:
        return
    assert policies.until_by_policies(model, through, goal, optimum) == over_strategies(
        model, lambda induced, _: chains.until(induced, through, goal), optimum
    )
    assert policies.reachability_reward_by_policies(model, rewards, goal, optimum) == over_strategies(
        model, lambda induced, way: chains.reachability_reward(induced, followed(rewards, way), goal), optimum
    )
    assert policies.total_reward_by_policies(model, rewards, optimum) == over_strategies(
        model, lambda induced, way: chains.total_reward(induced, followed(rewards, way)), optimum
    )
    assert policies.long_run_by_policies(model, rewards, optimum) == over_strategies(
        model, lambda induced, way: chains.long_run(induced, followed(rewards, way)), optimum
    )


def holds(path: Path, word: tuple[int, ...], model: Exact) -> bool:
    """The semantics of a bounded path formula on a path that is long enough to decide it."""
    left, right = path.left.states(model), path.right.states(model)
    low, high = path.bound.ends(Fraction(1)) if path.bound else (Fraction(0), None)
    within = [k for k in range(len(word)) if low <= k <= high]
    match path.operator:
        case "F":
            return any(word[k] in right for k in within)
        case "G":
            return all(word[k] in right for k in within)
        case "U":
            return any(word[k] in right and all(s in left for s in word[:k]) for k in within)
        case "R":  # the right side holds, but for states after one where the left side held
            return all(word[k] in right or any(s in left for s in word[:k]) for k in within)
    # W: the left side does not end, within the bounds, before the right side has come.
    ends = (k for k in within if word[k] not in left | right)
    return not any(all(s in left - right for s in word[:k]) for k in ends)


@examples(60)
@given(models(["dtmc"], largest=5), st.sampled_from("FGURW"), st.data())
def test_bounded_formulas_path_by_path(random: RandomModel, operator: str, data: st.DataObject) -> None:
    model = random.exact
    bound = data.draw(st.sampled_from(["<=", "<", "=", "[]"]).map(lambda r: Bound(r, Fraction(2), Fraction(4))))
    path = Path(operator, TRUE if operator in "FG" else Label("a"), Label("b"), bound)
    expected = [Fraction(0)] * len(model.rows)
    for start in model.states:
        for word, probability in words(model, start, 4):
            expected[start] += probability * holds(path, word, model)
    assert Probability(path).exact(model) == expected


def words(model: Exact, start: int, length: int) -> list[tuple[tuple[int, ...], Fraction]]:
    """All paths of so many steps with their probabilities."""
    found = [((start,), Fraction(1))]
    for _ in range(length):
        found = [((*word, t), p * q) for word, p in found for t, q in model.rows[word[-1]][0].items()]
    return found


@examples(80)
@given(models())
def test_the_text_means_the_fractions(random: RandomModel) -> None:
    """What Galton builds from the text is what the fractions say, up to the rounding of doubles."""
    built, meant = from_sparse(galton.parse(random.text).build()), random.exact
    assert (built.initial, built.labels) == (meant.initial, meant.labels)
    if random.type == "ctmc":
        assert all(map(close, built.exit_rates, meant.exit_rates))
    for state in meant.states:
        assert close_rows(built, state) == close_rows(meant, state)


def close(one: Fraction, other: Fraction) -> bool:
    return abs(one - other) <= Fraction(1, 10**14) * abs(other)


def close_rows(model: Exact, state: int) -> list[object]:
    """The choices of a state with their rewards, rounded to ten digits; their order is not defined."""
    kept = []
    for c, row in enumerate(model.rows[state]):
        rewards = [f"{float(r.total(state, c)):.9e}" for r in model.rewards.values()]
        kept.append((sorted((t, f"{float(p):.9e}") for t, p in row.items()), rewards))
    return sorted(kept)


def test_decimals() -> None:
    assert decimal(Fraction(1, 2**20)) == "0.00000095367431640625"
    assert decimal(Fraction(5, 2)) == "2.5"
    assert decimal(Fraction(10_000)) == "10000"
    assert decimal(Fraction(2, 3)) == "2/3"
