"""Random models, and the questions of the graph analysis answered from their definitions, slowly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, combinations, product

import networkx as nx
import numpy as np
import numpy.typing as npt
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
def larger_models(draw: st.DrawFn) -> Model:
    """Dozens to hundreds of states, sparse and in no order, so that searches take many steps."""
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    n, most_choices = draw(st.integers(20, 300)), draw(st.integers(1, 3))
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


# Chains: everything follows from where a path can end.


def chain_graph(successors: list[set[int]], through: Mask, goal: Mask) -> nx.DiGraph[int]:
    """The chain, stopped where ``through U goal`` is decided."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(successors)))
    for state, targets in enumerate(successors):
        stopped = goal[state] or not through[state]
        graph.add_edges_from((state, target) for target in ({state} if stopped else targets))
    return graph


def chain_outcomes(successors: list[set[int]], through: Mask, goal: Mask) -> tuple[Mask, Mask]:
    """The states that reach the goal with positive probability, and with probability 1: every path ends in a bottom
    component, so these are the states from which some, and every, such component is in the goal."""
    graph = chain_graph(successors, through, goal)
    ends = {state for part in nx.attracting_components(graph) for state in part}
    some, every = np.zeros((2, len(successors)), dtype=bool)
    for state in graph:
        met = [goal[end] for end in ends & {state, *nx.descendants(graph, state)}]
        some[state], every[state] = any(met), all(met)
    return some, every


# MDPs: all memoryless strategies, one by one.


def strategies(successors: Successors) -> Iterator[list[set[int]]]:
    return (list(choice) for choice in product(*successors))


def outcomes(model: Model, through: Mask, goal: Mask) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """``(strategies, states)``: whether each strategy reaches the goal with positive probability, and with 1."""
    results = [chain_outcomes(chosen, through, goal) for chosen in strategies(successors_of(model))]
    return np.array([some for some, _ in results]), np.array([every for _, every in results])


# Larger models: the fixed points as the textbook has them, on dense matrices.


class FixedPoints:
    """The four sets of states, each by repeating its definition until nothing changes."""

    def __init__(self, model: Model, through: Mask, goal: Mask) -> None:
        self.edges = model.matrix.toarray() > 0
        self.firsts = np.arange(model.n_states) if model.choice_starts is None else model.choice_starts[:-1]
        self.through, self.goal = through, goal

    def meets(self, states: Mask) -> Mask:
        return (self.edges & states).any(axis=1)

    def stays(self, states: Mask) -> Mask:
        return ~(self.edges & ~states).any(axis=1)

    def some(self, rows: Mask) -> Mask:
        return np.logical_or.reduceat(rows, self.firsts)

    def every(self, rows: Mask) -> Mask:
        return np.logical_and.reduceat(rows, self.firsts)

    def can_reach(self) -> Mask:
        return iterate(self.goal, lambda found: self.goal | self.through & self.some(self.meets(found)))

    def can_avoid(self) -> Mask:
        return ~iterate(self.goal, lambda found: self.goal | self.through & self.every(self.meets(found)))

    def surely_reaches(self, some_strategy: bool) -> Mask:
        step = self.some if some_strategy else self.every

        def inner(kept: Mask) -> Mask:
            good = self.stays(kept)
            return iterate(self.goal, lambda found: self.goal | self.through & step(good & self.meets(found)))

        return iterate(np.ones_like(self.goal), inner)


def iterate(states: Mask, step: Callable[[Mask], Mask]) -> Mask:
    while not np.array_equal(more := step(states), states):
        states = more
    return states


# End components: all sets of states that are one, and of those the largest.


def end_components(model: Model, within: Mask, choices: Mask) -> tuple[list[frozenset[int]], Mask]:
    """The maximal end components by trying all sets of states, and the choices that stay in one."""
    successors = successors_of(model)
    usable = [
        [row if choices[number] else None for row, number in zip(rows, model.choices(state), strict=True)]
        for state, rows in enumerate(successors)
    ]
    inside = np.flatnonzero(within).tolist()
    found = [set(states) for states in subsets(inside) if is_end_component(usable, set(states))]
    largest = [frozenset(states) for states in found if not any(states < other for other in found)]
    staying = np.zeros(model.n_choices, dtype=bool)
    for states in largest:
        for state in states:
            for number, row in zip(model.choices(state), usable[state], strict=True):
                staying[number] = row is not None and row <= states
    return largest, staying


def is_end_component(usable: list[list[set[int] | None]], states: set[int]) -> bool:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(states)
    for state in states:
        rows = [row for row in usable[state] if row is not None and row <= states]
        if not rows:
            return False
        graph.add_edges_from((state, target) for row in rows for target in row)
    return nx.is_strongly_connected(graph)


def subsets(items: list[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(items, size) for size in range(1, len(items) + 1))


# Components.


def edge_graph(model: Model, within: Mask, choices: Mask) -> nx.DiGraph[int]:
    """The states inside and the edges of the choices between them."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(np.flatnonzero(within).tolist())
    for state, rows in enumerate(successors_of(model)):
        for number, row in zip(model.choices(state), rows, strict=True):
            if within[state] and choices[number]:
                graph.add_edges_from((state, target) for target in row if within[target])
    return graph
