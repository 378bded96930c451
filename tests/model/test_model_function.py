"""Models from Python functions."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import galton
from galton.model import Model, ModelError
from galton.model.from_function import explore_function


def die(state: tuple[int, int]) -> list[tuple[float, tuple[int, int]]]:
    """Knuth and Yao's die from a coin."""
    s, _ = state
    if s == 7:
        return [(1, state)]
    faces = {3: [(1, 0), (7, 1)], 4: [(7, 2), (7, 3)], 5: [(7, 4), (7, 5)], 6: [(2, 0), (7, 6)]}
    return [(0.5, target) for target in faces.get(s, [(2 * s + 1, 0), (2 * s + 2, 0)])]


def test_chain_is_numbered_breadth_first() -> None:
    model = explore_function(
        die, (0, 0), labels={"six": lambda state: state[1] == 6}, rewards={"flips": lambda s: s[0] < 7}
    )
    assert model.n_states == 13
    assert [model.states[i] for i in range(4)] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert model.transitions(0) == [("", [(0.5, 1), (0.5, 2)])]
    six = model.states.find((7, 6))
    assert np.flatnonzero(model.labels["six"]).tolist() == [six]
    assert list(model.labels) == ["init", "deadlock", "six"]
    system = np.eye(13) - model.matrix.toarray()
    transient = model.rewards["flips"].state == 1
    flips = np.linalg.solve(system[np.ix_(transient, transient)], np.ones(transient.sum()))
    assert flips[0] == pytest.approx(11 / 3)


def test_mdp_with_named_actions_twice_and_none() -> None:
    def step(x: int) -> Any:
        if x == 0:
            return [("go", [(1, 1)]), ("go", [(0.5, 1), (0.5, 2)]), (None, [(1, 0)])]
        return {"back": [(1, 0)]} if x == 1 else {}

    model = explore_function(step, 0, "mdp", choice_rewards={"cost": lambda x, action: 10 * x + len(action)})
    assert model.transitions(0) == [("go", [(1.0, 1)]), ("go", [(0.5, 1), (0.5, 2)]), ("", [(1.0, 0)])]
    assert model.transitions(1) == [("back", [(1.0, 0)])]
    assert model.transitions(2) == [("", [(1.0, 2)])]
    assert model.labels["deadlock"].tolist() == [False, False, True]
    assert model.rewards["cost"].choice.tolist() == [2, 2, 0, 14, 0]


def test_ctmc_rewards_of_jumps_are_rates() -> None:
    def queue(x: int) -> list[tuple[float, int]]:
        return [(3 if x < 2 else 0, x + 1), (4 if x else 0, x - 1)]

    model = explore_function(
        queue, 0, "ctmc", rewards={"r": lambda x: x}, choice_rewards={"r": lambda x, _: 0.5, "jumps": lambda x, _: 1}
    )
    assert model.n_states == 3
    assert list(model.rewards) == ["r", "jumps"]
    assert model.rewards["r"].state.tolist() == [0, 1, 2]
    assert model.rewards["r"].choice.tolist() == [1.5, 3.5, 2]
    assert model.rewards["jumps"].choice.tolist() == model.exit_rates.tolist()


def test_rates_that_are_all_zero_are_a_deadlock() -> None:
    model = explore_function(lambda x: [(0, 9)], 0, "ctmc", choice_rewards={"jumps": lambda x, _: 1})
    assert model.n_states == 1
    assert model.labels["deadlock"].all()
    assert model.rewards["jumps"].choice.tolist() == [0]


def test_several_initial_states() -> None:
    model = explore_function(lambda x: [(1, x // 2)], [5, 9, 5])
    assert model.initial.tolist() == [0, 1]
    assert list(model.states) == [5, 9, 2, 4, 1, 0]


def test_variables_come_from_named_tuples_and_dataclasses() -> None:
    class Point(NamedTuple):
        x: int
        y: int

    @dataclass(frozen=True)
    class Place:
        x: int
        y: int

    for kind in (Point, Place):
        model = explore_function(lambda s, kind=kind: [(1, kind(s.y, s.x))], kind(1, 2))
        assert model.states is not None
        assert model.states.variables == ("x", "y")
        assert model.states.column("y").tolist() == [2, 1]
    assert explore_function(lambda s: [(1, s)], (1, 2)).states.variables == ("s0", "s1")
    assert explore_function(lambda s: [(1, s)], "heads").states.variables is None


def walk(x: int) -> list[tuple[float, int]]:
    """Down with probability 0.7, up with 0.3, without end."""
    return [(0.3, x + 1), (0.7, x - 1)] if x > 0 else []


def reach(model: Model, *labels: str) -> float:
    """The probability of reaching a label from state 0, by brute force."""
    goal = np.any([model.labels[label] for label in labels], axis=0)
    x, matrix = goal.astype(float), model.matrix
    for _ in range(5000):
        x = np.maximum(goal, matrix @ x)
    return float(x[0])


@pytest.mark.parametrize("options", [{"max_states": 12}, {"order": "most-probable", "min_probability": 1e-4}])
def test_a_part_of_an_endless_model_bounds_the_whole(options: dict[str, Any]) -> None:
    home = {"home": lambda x: x == 0}
    model = explore_function(walk, 1, labels=home, rewards={"steps": lambda x: 1}, **options)
    unexplored = model.labels["unexplored"]
    assert unexplored.sum() >= 1
    assert not (unexplored & model.labels["deadlock"]).any()
    assert all(model.transitions(state) == [("", [(1.0, state)])] for state in np.flatnonzero(unexplored).tolist())
    assert model.rewards["steps"].state.tolist() == (~unexplored).astype(float).tolist()
    low, high = reach(model, "home"), reach(model, "home", "unexplored")
    assert low < 1 <= high + 1e-12  # the truth is 1
    assert high - low < 1e-3


def test_most_probable_first_follows_the_best_path_not_the_first_found() -> None:
    """b is met from the start by a thin path; the way over c is better, so b is explored before d."""
    graph = {
        "a": [(0.1, "b"), (0.6, "c"), (0.3, "d")],
        "b": [(1, "x")],
        "c": [(0.9, "b"), (0.1, "c")],
        "d": [(1, "y")],
    }
    seen = []

    def step(state: str) -> list[tuple[float, str]]:
        seen.append(state)
        return graph.get(state, [])

    model = explore_function(step, "a", order="most-probable", min_probability=0.3)
    assert seen == ["a", "c", "b", "x", "d", "y"]  # 1, 0.6, 0.54, 0.54, 0.3, 0.3
    assert not model.labels["unexplored"].any()
    seen.clear()
    model = explore_function(step, "a", order="most-probable", min_probability=0.31)
    assert seen == ["a", "c", "b", "x"]
    assert [model.states[i] for i in np.flatnonzero(model.labels["unexplored"])] == ["d"]


def test_most_probable_first_in_a_ctmc_goes_by_jumps_not_rates() -> None:
    graph = {"start": [(1, "slow"), (2, "fast")], "slow": [(1, "x")], "fast": [(90, "y"), (10, "z")]}
    seen = []

    def step(state: str) -> list[tuple[float, str]]:
        seen.append(state)
        return graph.get(state, [])

    explore_function(step, "start", "ctmc", order="most-probable")
    assert seen == ["start", "fast", "y", "slow", "x", "z"]  # 1, 2/3, 0.6, 1/3, 1/3, 0.07


def test_choices_explored_out_of_order_stay_with_their_states() -> None:
    def step(x: int) -> Any:
        if x == 1:
            return {}
        return {f"a{x}": [(0.1, min(2 * x + 1, 6)), (0.9, min(2 * x + 2, 6))], "loop": [(1, x)]}

    plain = explore_function(step, 0, "mdp", choice_rewards={"r": lambda x, a: x + (a == "loop")})
    best = explore_function(step, 0, "mdp", choice_rewards={"r": lambda x, a: x + (a == "loop")}, order="most-probable")
    for model in (plain, best):
        assert model.states is not None
        for number, state in enumerate(model.states):
            if state == 1:
                continue
            assert [name for name, _ in model.transitions(number)] == [f"a{state}", "loop"]
            rewards = model.rewards["r"].choice[list(model.choices(number))]
            assert rewards.tolist() == [state, state + 1]


def test_an_error_in_the_function_says_for_which_state() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        explore_function(lambda x: [(1 // (3 - x), x + 1)], 2)
    assert caught.value.__notes__ == ["while exploring the state 3"]


@pytest.mark.parametrize(
    ("step", "options", "message"),
    [
        (lambda x: [(0.5, 1), (0.4, 2)], {}, "the probabilities of going from 0 sum to 0.9, not 1"),
        (lambda x: {"go": [(0.5, 1)]}, {"type": "mdp"}, "from 0 with the action 'go' sum to 0.5, not 1"),
        (lambda x: [(-0.5, 1), (1.5, 2)], {}, "the probability of going from 0 to 1 is -0.5"),
        (lambda x: [(float("nan"), 1)], {"type": "ctmc"}, "the rate of going from 0 to 1 is nan"),
        (lambda x: [(1, [2])], {}, "the state [2] cannot be hashed; use tuples, frozen dataclasses"),
        (lambda x: None, {}, "gave None for the state 0; expected a list of (probability, state) pairs"),
        (lambda x: 1, {"type": "ctmc"}, "gave 1 for the state 0; expected a list of (rate, state) pairs"),
        (lambda x: [("a", 0.5)], {}, "gave [('a', 0.5)] for the state 0; expected a list of (probability, state)"),
        (lambda x: None, {"type": "mdp"}, "gave None for the state 0; expected {action: [(probability, state), …]}"),
        (lambda x: [(1, [(1, 0)])], {"type": "mdp"}, "the action 1 of the state 0 is not a name"),
        (lambda x: {"go": []}, {"type": "mdp"}, "the action 'go' of the state 0 leads nowhere; leave it out"),
        (lambda x: [], {"rewards": {"r": lambda x: float("inf")}}, "the reward 'r' of the state 0 is inf"),
        (lambda x: [], {"labels": {"init": bool}}, "the label 'init' is made by Galton; choose another name"),
        (lambda x: [], {"min_probability": 0.5}, 'min_probability needs order="most-probable"'),
        (lambda x: [], {"min_probability": 2}, "min_probability must be between 0 and 1, not 2"),
        (lambda x: [], {"max_states": 0}, "max_states must be at least 1, not 0"),
        (lambda x: [], {"order": "dfs"}, 'the order is "bfs" or "most-probable", not \'dfs\''),
        (lambda x: [], {"type": "pta"}, "the type of a model is dtmc, ctmc or mdp, not 'pta'"),
    ],
)
def test_errors(step: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        explore_function(step, 0, **options)
    assert message in str(caught.value)


def test_no_initial_state() -> None:
    with pytest.raises(ModelError, match="there is no initial state"):
        explore_function(lambda x: [], [])


def test_numbers_and_tuples_are_variables_with_the_argument_s_name() -> None:
    def gambler(euros: int) -> list[tuple[float, int]]:
        return [] if euros in (0, 10) else [(0.5, euros - 1), (0.5, euros + 1)]

    def swap(pair: tuple[int, bool]) -> list[tuple[float, tuple[int, bool]]]:
        return [(1, (3 - pair[0], not pair[1]))]

    assert galton.check(Model.from_function(gambler, 5), "P=? [ F euros=10 ]") == pytest.approx(0.5)
    assert galton.check(Model.from_function(swap, (1, False)), "P=? [ X pair0=2 & pair1 ]") == 1
    named = Model.from_function(swap, (1, False), variables=("n", "up"))
    assert galton.check(named, "P=? [ X n=2 & up ]") == 1
    assert galton.check(Model.from_function(lambda on: [(1, not on)], False), "P=? [ X on ]") == 1
    assert galton.check(Model.from_function(lambda F: [(1, F + 1)] if F < 3 else [], 0), "P=? [ F x=3 ]") == 1


def test_numbers_beyond_those_of_the_language_are_no_variables() -> None:
    """Doubles do not tell 2^60 from its successor, and properties compute in doubles."""
    model = Model.from_function(lambda x: [(1, x)], 2**60)
    with pytest.raises(galton.LanguageError, match="unknown name 'x'"):
        galton.check(model, "P=? [ F x=1 ]")


def test_states_of_several_kinds_have_no_variables() -> None:
    model = Model.from_function(lambda x: [(1, "end")] if x == 0 else [], 0)
    assert model.states is not None
    assert model.states.variables is None
    mixed = Model.from_function(lambda x: [(1, (1, 2, 3))] if x == (0,) else [], (0,))
    assert mixed.states is not None
    assert mixed.states.variables is None


def test_parts_that_are_tuples_are_no_variables() -> None:
    """They were taken for rows of integers, or for arrays of no shape."""

    def swap(hand: tuple[int, ...], count: int) -> list[tuple[float, tuple[tuple[int, ...], int]]]:
        return [(1.0, (hand[1:], count + 1))] if hand else [(1.0, (hand, count))]

    for least in (0, 1):
        model = galton.Model.from_function(
            lambda state, least=least: swap(*state) if len(state[0]) > least else [(1.0, state)],
            initial=((1, 2), 0),
        )
        names = model.states.variables
        assert names is not None
        column = model.states.column(names[0])
        assert column.dtype == object
        assert column[0] == (1, 2)
        assert galton.check(model, f"P=? [ F {names[1]}={2 - least} ]").value == 1
