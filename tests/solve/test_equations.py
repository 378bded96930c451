"""From a model to equations: restriction, self-loops, merging, order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from galton import _core
from galton.backend.cpu.matrix import matrix_of
from galton.graph import maximal_end_components, strongly_connected_components
from galton.model.sparse import Model
from galton.reduce.component_order import segments_of
from galton.reduce.restriction import restrict
from galton.reduce.unknowns import open_equations
from galton.solve.settings import Settings


def dense(equations):
    """The equations as a matrix and a vector, scale multiplied in."""
    rows = len(equations.starts) - 1
    matrix = np.zeros((rows, equations.size))
    entries = equations.values.array()
    for r in range(rows):
        for e in range(equations.starts[r], equations.starts[r + 1]):
            matrix[r, equations.columns[e]] += entries[e]
    if equations.scale is not None:
        matrix *= equations.scale[:, None]
    return matrix, equations.constant


def test_known_values_become_constants_and_loops_are_divided_out() -> None:
    chain = Model.from_matrix("dtmc", [[0.5, 0.25, 0.25, 0], [0, 0, 0.5, 0.5], [0, 0, 1, 0], [0, 0, 0, 1]])
    known = np.array([0, 0, 1, 0], dtype=float)
    equations = restrict(chain, np.array([0, 1], dtype=np.int32), known)
    matrix, constant = dense(equations)
    assert matrix.tolist() == [[0, 0.5], [0, 0]]
    assert constant.tolist() == [0.5, 0.5]


def test_a_loop_close_to_one_keeps_its_digits() -> None:
    leak = 1e-13
    chain = Model.from_matrix("dtmc", [[1 - 3 * leak, 2 * leak, leak], [0, 1, 0], [0, 0, 1]])
    equations = restrict(chain, np.array([0], dtype=np.int32), np.array([0.0, 1.0, 0.0]))
    assert equations.constant[0] == pytest.approx(2 / 3, rel=1e-15)


def test_rates_become_probabilities() -> None:
    chain = Model.from_matrix("ctmc", [[0, 3, 1], [2, 0, 2], [0, 0, 1]])
    equations = restrict(chain, np.array([0, 1], dtype=np.int32), np.array([0, 0, 1.0]), reward=np.array([8.0, 4.0, 0]))
    matrix, constant = dense(equations)
    assert matrix.tolist() == [[0, 0.75], [0.5, 0]]
    assert constant.tolist() == [0.25 + 2, 0.5 + 1]


def test_a_row_that_leads_nowhere_else_is_infinite() -> None:
    mdp = Model.from_matrix("mdp", [[1, 0], [0, 1], [0, 1]], row_groups=[0, 2, 3])
    equations = restrict(
        mdp, np.array([0], dtype=np.int32), np.zeros(2), optimum="min", reward=np.array([1.0, 5.0, 0.0])
    )
    assert equations.constant.tolist() == [np.inf, 5.0]
    assert equations.progress.tolist() == [1]


def test_an_end_component_is_one_unknown() -> None:
    # States 0 and 1 can go back and forth for ever, and leave to 2 or 3.
    matrix = [[0, 1, 0, 0], [0, 0, 0.5, 0.5], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    mdp = Model.from_matrix("mdp", matrix, row_groups=[0, 2, 4, 5, 6])
    inner = maximal_end_components(mdp, np.array([True, True, False, False]))
    unknowns = open_equations(
        mdp, np.array([True, True, False, False]), np.array([0, 0, 1.0, 0]), Settings(), optimum="max", merge=inner
    )
    assert unknowns.equations.size == 1
    assert sorted(unknowns.equations.constant.tolist()) == [0.5, 1.0]
    lifted = unknowns.lift(np.array([0.9]), np.array([0, 0, 1.0, 0]))
    assert lifted.tolist() == [0.9, 0.9, 1.0, 0.0]
    best = np.flatnonzero(unknowns.equations.constant == 1.0).astype(np.int32)
    choices = unknowns.lift_choices(best, np.full(4, -1, dtype=np.int32))
    assert choices.tolist() == [0, 3, -1, -1]  # state 0 goes to 1, which leaves


@given(st.lists(st.tuples(st.integers(1, 3000), st.booleans()), max_size=60))
def test_segments_cover_everything_in_order_and_cut_no_component(parts: list[tuple[int, bool]]) -> None:
    sizes = [size for many, single in parts for size in ([1] * many if single else [many + 1])]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    segments = list(segments_of(starts, np.array(sizes, dtype=np.int64) == 1))
    assert [s.first for s in segments] == [0, *(s.last for s in segments[:-1])][: len(segments)]
    assert (segments[-1].last if segments else 0) == sum(sizes)
    assert {s.last for s in segments} <= set(starts.tolist())
    for segment in segments:
        inside = np.array(sizes)[np.searchsorted(starts, segment.first) : np.searchsorted(starts, segment.last)]
        assert segment.first < segment.last
        assert not segment.acyclic or (inside == 1).all()


def test_components_are_ordered_from_their_exits() -> None:
    n = 50  # a walk that is left at state 0 only
    matrix = np.zeros((n + 1, n + 1))
    for s in range(n):
        matrix[s, max(s - 1, 0) if s else n] += 0.5
        matrix[s, min(s + 1, n - 1)] += 0.5
    matrix[n, n] = 1
    chain = Model.from_matrix("dtmc", matrix)
    inside = np.arange(n + 1) < n
    components = strongly_connected_components(chain, inside)
    order = components.order.copy()
    _core.order_by_exit(matrix_of(chain), components.component, components.starts, None, order)
    assert order.tolist() == list(range(n))


@given(st.integers(2, 30), st.integers(0, 10_000))
def test_progress_leaves_the_unknowns(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = np.zeros((2 * n + 1, n + 1))
    for row in range(2 * n):
        targets = random.choice(n + 1, size=2, replace=False)
        matrix[row, targets] = 0.5
    matrix[2 * n, n] = 1
    mdp = Model.from_matrix("mdp", matrix, row_groups=[*range(0, 2 * n + 1, 2), 2 * n + 1])
    from galton.graph import can_reach

    goal = np.arange(n + 1) == n
    open_states = can_reach(mdp, np.ones(n + 1, dtype=bool), goal) & ~goal
    if not open_states.any():
        return
    unknowns = open_equations(mdp, open_states, goal.astype(float), Settings(), optimum="max")
    matrix, _ = dense(unknowns.equations)
    chosen = matrix[unknowns.equations.progress]
    assert np.abs(np.linalg.eigvals(chosen)).max(initial=0.0) < 1 - 1e-9
