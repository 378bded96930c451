"""Reachability against every strategy of small random models, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galton.check.reachability import reachability
from galton.model.sparse import Model

Rows = list[list[dict[int, int]]]  # per state, per choice: weights of targets


@st.composite
def weighted_models(draw: st.DrawFn, most_choices: int) -> Rows:
    states = draw(st.integers(1, 5))
    choice = st.dictionaries(st.integers(0, states - 1), st.integers(1, 4), min_size=1, max_size=3)
    return draw(st.lists(st.lists(choice, min_size=1, max_size=most_choices), min_size=states, max_size=states))


def as_model(rows: Rows) -> Model:
    dense = np.zeros((sum(map(len, rows)), len(rows)))
    for k, choice in enumerate(choice for state in rows for choice in state):
        for target, weight in choice.items():
            dense[k, target] = weight / sum(choice.values())
    groups = np.cumsum([0, *map(len, rows)])
    return Model.from_matrix("mdp", dense, row_groups=groups)


def chain_reachability(matrix: npt.NDArray[np.float64], goal: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """By so many steps of the chain, squared again and again, that nothing changes any more."""
    absorbing = np.where(goal[:, None], np.eye(len(matrix)), matrix)
    for _ in range(60):
        absorbing = absorbing @ absorbing
        absorbing /= absorbing.sum(axis=1, keepdims=True)
    return absorbing @ goal.astype(float)


@settings(deadline=None, max_examples=150)
@given(weighted_models(3), st.sets(st.integers(0, 4)), st.sampled_from(["min", "max"]))
def test_the_optimum_over_all_strategies(rows: Rows, goals: set[int], optimum: str) -> None:
    model = as_model(rows)
    goal = np.array([state in goals for state in range(len(rows))])
    matrix = model.matrix.toarray()
    values = []
    for strategy in product(*(model.choices(state) for state in range(len(rows)))):
        values.append(chain_reachability(matrix[list(strategy)], goal))
    expected = np.min(values, axis=0) if optimum == "min" else np.max(values, axis=0)
    found, _ = reachability(model, np.ones(len(rows), dtype=bool), goal, optimum)  # type: ignore[arg-type]
    assert found == pytest.approx(expected, abs=1e-9)
