"""Random models of which only the graph matters, and random sets of their states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from galton.model.sparse import Mask, Model

Successors = list[list[set[int]]]  # per state, per choice


def as_model(successors: Successors, *, wide: bool = False) -> Model:
    """An MDP with these edges; a DTMC where every state has one choice."""
    rows = [row for state in successors for row in state]
    matrix = np.zeros((len(rows), len(successors)))
    for k, row in enumerate(rows):
        matrix[k, list(row)] = 1 / len(row)
    if all(len(state) == 1 for state in successors):
        model = Model.from_matrix("dtmc", matrix)
    else:
        model = Model.from_matrix("mdp", matrix, row_groups=np.cumsum([0, *map(len, successors)]))
    return replace(model, row_starts=model.row_starts.astype(np.int64)) if wide else model


def successors_of(model: Model) -> Successors:
    return [
        [set(model.columns[model.row_starts[row] : model.row_starts[row + 1]].tolist()) for row in model.choices(state)]
        for state in range(model.n_states)
    ]


@st.composite
def small_models(draw: st.DrawFn, most_states: int = 5, most_choices: int = 3) -> Model:
    n = draw(st.integers(1, most_states))
    choice = st.sets(st.integers(0, n - 1), min_size=1, max_size=3)
    states = st.lists(st.lists(choice, min_size=1, max_size=most_choices), min_size=n, max_size=n)
    return as_model(draw(states), wide=draw(st.booleans()))


@st.composite
def larger_models(draw: st.DrawFn, most_states: int = 300) -> Model:
    """Dozens to hundreds of states, sparse and in no order, so that searches take many steps."""
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    n, most_choices = draw(st.integers(20, most_states)), draw(st.integers(1, 3))
    near = draw(st.booleans())  # neighbours in a hidden order, or anywhere
    hidden = random.permutation(n)

    def target(state: int) -> int:
        return int(hidden[(state + random.integers(-2, 4)) % n] if near else random.integers(n))

    successors: Successors = [[] for _ in range(n)]
    for state in range(n):
        for _ in range(random.integers(1, most_choices + 1)):
            successors[hidden[state]].append({target(state) for _ in range(random.integers(1, 3))})
    return as_model(successors, wide=draw(st.booleans()))


def masks(size: int, share: float = 0.5) -> st.SearchStrategy[Mask]:
    return st.integers(0, 1 << 32).map(lambda seed: np.random.default_rng(seed).random(size) < share)
