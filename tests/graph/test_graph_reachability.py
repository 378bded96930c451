"""Which states reach a goal with probability 0 or 1: against all strategies, one by one."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from graph_oracle import chain_outcomes, edge_graph, outcomes
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import as_model, larger_models, masks, small_models, successors_of

from galton.graph import attractor, can_avoid, can_reach, forward_reachable, surely_reaches, zero_and_one
from galton.model.sparse import Mask, Model

MODELS = settings(deadline=None, max_examples=300)
FEWER = settings(deadline=None, max_examples=150)


@pytest.mark.slow
@MODELS
@given(small_models(), st.data())
def test_all_strategies_one_by_one(model: Model, data: st.DataObject) -> None:
    through, goal = data.draw(masks(model.n_states, 0.8)), data.draw(masks(model.n_states, 0.3))
    positive, sure = outcomes(model, through, goal)
    assert can_reach(model, through, goal).tolist() == positive.any(axis=0).tolist()
    assert can_avoid(model, through, goal).tolist() == (~positive).any(axis=0).tolist()
    zero, one = zero_and_one(model, through, goal, "max")
    assert (zero.tolist(), one.tolist()) == ((~positive).all(axis=0).tolist(), sure.any(axis=0).tolist())
    zero, one = zero_and_one(model, through, goal, "min")
    assert (zero.tolist(), one.tolist()) == ((~positive).any(axis=0).tolist(), sure.all(axis=0).tolist())
    assert surely_reaches(model, through, goal, some_strategy=True).tolist() == sure.any(axis=0).tolist()
    assert surely_reaches(model, through, goal, some_strategy=False).tolist() == sure.all(axis=0).tolist()


@MODELS
@given(st.one_of(small_models(6), larger_models()), st.data())
def test_the_attractor_reaches_what_can_be_reached(model: Model, data: st.DataObject) -> None:
    through, goal = data.draw(masks(model.n_states, 0.9)), data.draw(masks(model.n_states, 0.1))
    reachable = can_reach(model, through, goal)
    positive, _ = chain_outcomes(following(model, attractor(model, through, goal)), through, goal)
    assert np.array_equal(positive, reachable)


@MODELS
@given(st.one_of(small_models(6), larger_models()), st.data())
def test_the_attractor_that_stays_among_the_sure_is_sure(model: Model, data: st.DataObject) -> None:
    through, goal = data.draw(masks(model.n_states, 0.9)), data.draw(masks(model.n_states, 0.1))
    sure = surely_reaches(model, through, goal, some_strategy=True)
    strategy = attractor(model, through, goal, staying=sure)
    _, every = chain_outcomes(following(model, strategy), through, goal)
    assert np.array_equal(every, sure)


def following(model: Model, strategy: np.ndarray) -> list[set[int]]:
    successors = successors_of(model)
    return [successors[state][strategy[state] - model.choices(state)[0]] for state in range(model.n_states)]


@FEWER
@given(st.one_of(small_models(), larger_models()), st.data())
def test_forward_search(model: Model, data: st.DataObject) -> None:
    start = data.draw(masks(model.n_states, 0.05))
    within = data.draw(st.none() | masks(model.n_states, 0.9))
    inside = np.ones(model.n_states, dtype=bool) if within is None else within
    graph = edge_graph(model, inside, np.ones(model.n_choices, dtype=bool))
    first = set(np.flatnonzero(start & inside).tolist())
    expected = first.union(*(nx.descendants(graph, state) for state in first))
    assert set(np.flatnonzero(forward_reachable(model, start, within)).tolist()) == expected


# Named cases.

EVERYWHERE = np.array([True, True, True])
NOWHERE = ~EVERYWHERE


def only(*states: int) -> Mask:
    return np.isin(np.arange(3), states)


def four_answers(model: Model, through: Mask, goal: Mask) -> list[list[int]]:
    answers = (
        can_reach(model, through, goal),
        can_avoid(model, through, goal),
        surely_reaches(model, through, goal, some_strategy=True),
        surely_reaches(model, through, goal, some_strategy=False),
    )
    return [np.flatnonzero(answer).tolist() for answer in answers]


# State 0 waits, or tosses a coin for 1 or 2; 1 and 2 are ends.
COIN = as_model([[{0}, {1, 2}], [{1}], [{2}]])
# State 0 waits or tries, which may fail and leave it where it is; 1 goes back; 2 is an end.
RETRY = as_model([[{0}, {0, 1}], [{0}, {2}], [{2}]])


def test_no_goal() -> None:
    for model in (COIN, RETRY):
        assert four_answers(model, EVERYWHERE, NOWHERE) == [[], [0, 1, 2], [], []]


def test_everything_is_goal() -> None:
    for model in (COIN, RETRY):
        assert four_answers(model, NOWHERE, EVERYWHERE) == [[0, 1, 2], [], [0, 1, 2], [0, 1, 2]]


def test_a_coin_may_miss() -> None:
    assert four_answers(COIN, EVERYWHERE, only(1)) == [[0, 1], [0, 2], [1], [1]]


def test_trying_again_succeeds() -> None:
    assert four_answers(RETRY, EVERYWHERE, only(2)) == [[0, 1, 2], [0, 1], [0, 1, 2], [2]]


def test_the_way_may_be_blocked() -> None:
    assert four_answers(RETRY, only(1), only(2)) == [[1, 2], [0, 1], [1, 2], [2]]


def test_a_goal_that_may_not_be_passed_is_still_a_goal() -> None:
    assert four_answers(RETRY, only(0, 1), only(2)) == four_answers(RETRY, EVERYWHERE, only(2))


def test_a_single_state() -> None:
    alone, yes, no = as_model([[{0}]]), np.array([True]), np.array([False])
    assert four_answers(alone, yes, no) == [[], [0], [], []]
    assert four_answers(alone, no, yes) == [[0], [], [0], [0]]
    assert forward_reachable(alone, yes).tolist() == [True]
    assert forward_reachable(alone, yes, no).tolist() == [False]


def test_the_values_are_not_looked_at() -> None:
    rates = Model.from_matrix("ctmc", [[0, 1e-300, 0], [0, 0, 1e300], [5.0, 0, 0]])
    assert four_answers(rates, EVERYWHERE, only(2)) == [[0, 1, 2], [], [0, 1, 2], [0, 1, 2]]


def test_masks_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(ValueError, match="wrong length"):
        can_reach(COIN, np.ones(4, dtype=bool), only(1))
    with pytest.raises(ValueError, match="wrong length"):
        forward_reachable(COIN, only(0), np.ones(2, dtype=bool))
