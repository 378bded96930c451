"""Every method on random models: what is proved must overlap with what the default proves, the rest must be near it."""

from __future__ import annotations

import numpy as np
import pytest
import questions
from hypothesis import given, settings
from hypothesis import strategies as st

from galton.checking.quantity import Quantity
from galton.checking.unbounded.rewards import reachability_reward, total_reward
from galton.checking.unbounded.until import until
from galton.model.sparse import Model, Rewards
from galton.solve import METHODS, Settings
from galton.solve.equations import Optimum
from galton.solve.methods import method
from galton.solve.requirements import Requirement

EPS = 1e-9
Rows = list[list[dict[int, int]]]  # per state, per choice: weights of targets


@st.composite
def weighted_models(draw: st.DrawFn, most_choices: int) -> Rows:
    states = draw(st.integers(2, 7))
    choice = st.dictionaries(st.integers(0, states - 1), st.integers(1, 6), min_size=1, max_size=3)
    return draw(st.lists(st.lists(choice, min_size=1, max_size=most_choices), min_size=states, max_size=states))


def as_model(rows: Rows) -> Model:
    dense = np.zeros((sum(map(len, rows)), len(rows)))
    for k, choice in enumerate(choice for state in rows for choice in state):
        for target, weight in choice.items():
            dense[k, target] = weight / sum(choice.values())
    if all(len(state) == 1 for state in rows):
        return Model.from_matrix("dtmc", dense)
    return Model.from_matrix("mdp", dense, row_groups=np.cumsum([0, *map(len, rows)]))


def ask(model: Model, question: str, optimum: Optimum | None, paid: int, options: Settings) -> Quantity:
    """A question whose goal is the last state, with a reward in the states whose bit is set."""
    goal = np.arange(model.n_states) == model.n_states - 1
    rewards = Rewards(state=np.array([float(paid >> s & 1) for s in range(model.n_states)]))
    match question:
        case "P [ F goal ]":
            return until(model, np.ones(model.n_states, dtype=np.bool_), goal, optimum, options)
        case "R [ F goal ]":
            return reachability_reward(model, rewards, goal, optimum, options)
    return total_reward(model, rewards, optimum, options)


QUESTIONS = ["P [ F goal ]", "R [ F goal ]", "R [ C ]"]


@settings(deadline=None, max_examples=100)
@given(weighted_models(1), st.sampled_from(QUESTIONS), st.integers(0, 127))
def test_chains(rows: Rows, question: str, paid: int) -> None:
    agree(as_model(rows), question, None, paid)


@settings(deadline=None, max_examples=200)
@given(weighted_models(3), st.sampled_from(QUESTIONS), st.sampled_from(["min", "max"]), st.integers(0, 127))
def test_mdps(rows: Rows, question: str, optimum: Optimum, paid: int) -> None:
    agree(as_model(rows), question, optimum, paid)


def test_a_strategy_to_begin_with_leaves_the_unknowns() -> None:
    """Each row it takes may lead out or to an earlier unknown: also where some choices must not be taken."""
    random = np.random.default_rng(0)
    solved = 0
    while solved < 400:
        states = int(random.integers(4, 9))
        rows: Rows = [
            [
                dict.fromkeys(map(int, random.choice(states, random.integers(1, 3), replace=False)), 1)
                for _ in range(random.integers(1, 4))
            ]
            for _ in range(states)
        ]
        try:
            equations = questions.reward(as_model(rows), np.ones(states), [states - 1], "min")
        except pytest.fail.Exception:  # nothing is left to solve
            continue
        solved += 1
        for unknown, row in enumerate(equations.progress):
            entries = slice(int(equations.starts[row]), int(equations.starts[row + 1]))
            assert equations.exits[row] > 0 or (equations.columns[entries] < unknown).any()


def agree(model: Model, question: str, optimum: Optimum | None, paid: int) -> None:
    default = ask(model, question, optimum, paid, Settings())
    for name in METHODS:
        if Requirement.CHAIN in method(name).requires and model.type == "mdp":
            continue
        for full in (name, f"topological:{name}"):
            found = ask(model, question, optimum, paid, Settings(method=full, eps=EPS))
            room = 1.0 if found.proved else 1 + 1e-5
            assert (found.lower <= default.upper * room).all()
            assert (default.lower <= found.upper * room).all()
            sought = np.isfinite(found.upper)
            low, high = found.lower[sought], found.upper[sought]
            assert (high - low <= (2 * EPS * high if found.proved else 0.0)).all()
