"""The questions of the graph analysis answered from their definitions, slowly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product

import networkx as nx
import numpy as np
import numpy.typing as npt
from random_graphs import Successors, successors_of

from galton.model.sparse import Mask, Model

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
