"""Strongly connected components against NetworkX and SciPy."""

from __future__ import annotations

import networkx as nx
import numpy as np
from graph_oracle import edge_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import as_model, larger_models, masks, small_models
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from galton.graph import Components, bottom_components, strongly_connected_components
from galton.model.sparse import Mask, Model

MODELS = settings(deadline=None, max_examples=300)


def partition(found: Components) -> set[frozenset[int]]:
    return {frozenset(found.states(number).tolist()) for number in range(found.count)}


def check(found: Components, model: Model, within: Mask, choices: Mask) -> None:
    graph = edge_graph(model, within, choices)
    assert partition(found) == {frozenset(part) for part in nx.strongly_connected_components(graph)}
    assert found.starts[0] == 0
    assert found.starts[-1] == len(found.order) == np.count_nonzero(within)
    assert np.array_equal(found.component[found.order], np.repeat(np.arange(found.count), found.sizes))
    assert (found.component[~within] == -1).all()
    for source, target in graph.edges:
        assert found.component[target] <= found.component[source]
    everything = edge_graph(model, np.ones(model.n_states, dtype=bool), choices)
    for number in range(found.count):
        part = set(found.states(number).tolist())
        alone = len(part) == 1 and not graph.has_edge(*part, *part)
        assert found.trivial[number] == alone
        assert found.bottom[number] == all(target in part for state in part for target in everything[state])


@MODELS
@given(st.one_of(small_models(7), larger_models()), st.data())
def test_networkx_finds_the_same(model: Model, data: st.DataObject) -> None:
    within = data.draw(st.none() | masks(model.n_states, 0.8))
    choices = data.draw(st.none() | masks(model.n_choices, 0.8))
    everywhere, always = np.ones(model.n_states, dtype=bool), np.ones(model.n_choices, dtype=bool)
    found = strongly_connected_components(model, within, choices)
    check(found, model, everywhere if within is None else within, always if choices is None else choices)


@MODELS
@given(st.one_of(small_models(7), larger_models()), st.data())
def test_bottom_components(model: Model, data: st.DataObject) -> None:
    within = data.draw(st.none() | masks(model.n_states, 0.9))
    inside = np.ones(model.n_states, dtype=bool) if within is None else within
    graph = edge_graph(model, np.ones(model.n_states, dtype=bool), np.ones(model.n_choices, dtype=bool))
    expected = {frozenset(part) for part in nx.attracting_components(graph) if all(inside[list(part)])}
    found = bottom_components(model, within)
    assert partition(found) == expected
    for number in range(found.count):
        assert (found.component[found.states(number)] == number).all()
    assert np.count_nonzero(found.component >= 0) == len(found.order)
    assert found.bottom.all()


def test_scipy_finds_the_same_in_a_large_graph() -> None:
    """Twice as many edges as states: one giant component and many small ones."""
    random = np.random.default_rng(3)
    n = 200_000
    rows, columns = np.repeat(np.arange(n), 2), random.integers(n, size=2 * n)
    columns[::7] = rows[::7]
    model = Model.from_matrix("ctmc", (np.ones(2 * n), (rows, columns)))
    found = strongly_connected_components(model)
    count, labels = connected_components(csr_array(model.matrix), directed=True, connection="strong")
    assert found.count == count
    assert found.sizes.max() > n // 2
    # The same number of classes, and each of ours within one of SciPy's: the same classes.
    first = found.order[found.starts[:-1]]
    assert np.array_equal(labels[first][found.component], labels)
    sources = np.repeat(np.arange(n), np.diff(model.row_starts))
    assert (found.component[model.columns] <= found.component[sources]).all()


def test_inside_a_component_successors_mostly_come_first() -> None:
    """A ring that is entered at 0: only the edge that closes it goes the other way."""
    ring = as_model([[{1}], [{2}], [{3}], [{0}]])
    assert strongly_connected_components(ring).order.tolist() == [3, 2, 1, 0]


def test_no_states_inside() -> None:
    found = strongly_connected_components(as_model([[{1}], [{0}]]), np.array([False, False]))
    assert (found.count, found.component.tolist(), found.order.tolist()) == (0, [-1, -1], [])
    assert (found.trivial.tolist(), found.bottom.tolist(), found.starts.tolist()) == ([], [], [0])


def test_a_single_state() -> None:
    found = strongly_connected_components(as_model([[{0}]]))
    assert (found.trivial.tolist(), found.bottom.tolist()) == ([False], [True])
    found = strongly_connected_components(as_model([[{0}]]), choices=np.array([False]))
    assert (found.trivial.tolist(), found.bottom.tolist()) == ([True], [True])


def test_an_edge_out_of_the_subset_leaves_the_component() -> None:
    found = strongly_connected_components(as_model([[{1}], [{0, 2}], [{2}]]), np.array([True, True, False]))
    assert (found.count, found.bottom.tolist()) == (1, [False])
