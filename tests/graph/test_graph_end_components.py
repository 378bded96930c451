"""Maximal end components against all sets of states, and against bottom components."""

from __future__ import annotations

import numpy as np
from graph_oracle import end_components
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import as_model, masks, small_models

from galton.graph import bottom_components, maximal_end_components
from galton.model.sparse import Model

MODELS = settings(deadline=None, max_examples=400)


@MODELS
@given(small_models(7), st.data())
def test_all_sets_of_states(model: Model, data: st.DataObject) -> None:
    within = data.draw(st.none() | masks(model.n_states, 0.8))
    choices = data.draw(st.none() | masks(model.n_choices, 0.8))
    found = maximal_end_components(model, within, choices)
    expected, staying = end_components(
        model,
        np.ones(model.n_states, dtype=bool) if within is None else within,
        np.ones(model.n_choices, dtype=bool) if choices is None else choices,
    )
    parts = [frozenset(np.flatnonzero(found.component == number).tolist()) for number in range(found.count)]
    assert set(parts) == set(expected)
    assert parts == sorted(parts, key=min)
    assert found.staying.tolist() == staying.tolist()


@settings(deadline=None, max_examples=100)
@given(st.one_of(small_models(7, most_choices=1)))
def test_in_a_chain_they_are_the_bottom_components(model: Model) -> None:
    found, bottom = maximal_end_components(model), bottom_components(model)
    assert np.array_equal(found.component >= 0, bottom.component >= 0)
    assert found.count == bottom.count
    assert np.array_equal(found.staying, bottom.component >= 0)


def test_a_single_state_needs_a_choice_that_stays() -> None:
    assert maximal_end_components(as_model([[{0, 1}], [{1}]])).component.tolist() == [-1, 0]
    assert maximal_end_components(as_model([[{0, 1}, {0}], [{1}]])).component.tolist() == [0, 1]


def test_nothing_inside() -> None:
    model = as_model([[{0}], [{1}, {0}]])
    assert maximal_end_components(model, np.zeros(2, dtype=bool)).count == 0
    assert maximal_end_components(model, choices=np.zeros(3, dtype=bool)).component.tolist() == [-1, -1]


def test_a_component_that_a_choice_may_leave_is_still_one() -> None:
    found = maximal_end_components(as_model([[{1}], [{0}, {0, 2}], [{2}]]))
    assert found.component.tolist() == [0, 0, 1]
    assert found.staying.tolist() == [True, True, False, True]


def test_a_child_reached_by_a_row_that_is_taken_away() -> None:
    """From 1 the search goes to 2 by a row that also leads to the end 3, and 2 goes back to 0: 0 and 2 belong together,
    and 1, whose every row leads to 3, must not take 2 away with it."""
    found = maximal_end_components(as_model([[{1}, {2}], [{2, 3}], [{0}], [{3}]]))
    assert found.component.tolist() == [0, -1, 0, 1]
    assert found.staying.tolist() == [False, True, False, True, True]
