"""The cheapest ways to a goal from everywhere: without a bound, and step by step.

A place is where a path can be: a state or, where steps are counted, a state after a number of steps. Both searches tell
for each place what the cheapest way to an end costs and which arc it begins with, and list the arcs of a place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...backend.failures import LimitError
from ...model.sparse import Mask
from .arcs import Arcs, Floats, Ints, only

__all__ = ["Search", "Staged", "Unbounded", "Way"]

MOST_PLACES = 20_000_000  # that are looked at one step after the other

Way = tuple[int, float, int]  # an arc, what it costs, and the place it leads to


class Search(Protocol):
    """What is known about ways to the end."""

    def cost(self, place: int) -> float:
        """What the cheapest way from a place costs; infinite where there is none."""

    def first(self, place: int) -> Way | None:
        """What the cheapest way from a place begins with; None at an end."""

    def ways(self, place: int) -> Iterator[Way]:
        """All arcs of a place from which the end can be reached."""

    def arcs(self, place: int) -> Arcs:
        """The arcs that the numbers of a place's arcs are of."""

    def through(self, start: int) -> Floats:
        """``(states,)`` what the cheapest way from a place to the end that goes through each state costs."""


@dataclass(frozen=True, eq=False)
class Unbounded:
    """Ways of any length to a goal; places are states (Dijkstra 1959, backwards from the goal)."""

    graph: Arcs
    costs: Floats
    arc: Ints

    @classmethod
    def of(cls, arcs: Arcs, through: Mask, goal: Mask) -> Unbounded:
        """Ways that stay in ``through`` until they are in the goal, where they end."""
        n = len(goal)
        sources = through & ~goal
        graph = only(arcs, sources[arcs.sources])
        costs, following = _distances(graph, np.flatnonzero(goal), backwards=True)
        # Of several arcs to the state that follows, the cheapest. Costs that vanish beside others make no circle so.
        leaving = graph.sources
        tree = np.flatnonzero(graph.targets == following[leaving])
        tree = tree[np.lexsort((graph.costs[tree], leaving[tree]))]
        states, places = np.unique(leaving[tree], return_index=True)
        arc = np.full(n, -1)
        arc[states] = tree[places]
        return cls(graph, costs, arc)

    def cost(self, place: int) -> float:
        """What the cheapest way from a state costs."""
        return float(self.costs[place])

    def first(self, place: int) -> Way | None:
        """What it begins with."""
        arc = int(self.arc[place])
        return None if arc < 0 else (arc, float(self.graph.costs[arc]), int(self.graph.targets[arc]))

    def ways(self, place: int) -> Iterator[Way]:
        """The arcs of a state."""
        for arc in range(int(self.graph.starts[place]), int(self.graph.starts[place + 1])):
            target = int(self.graph.targets[arc])
            if self.costs[target] < np.inf and self.graph.costs[arc] < np.inf:
                yield arc, float(self.graph.costs[arc]), target

    def arcs(self, place: int) -> Arcs:
        """Those of the whole graph."""
        return self.graph

    def through(self, start: int) -> Floats:
        """What the cheapest way through each state costs."""
        forwards, _ = _distances(self.graph, np.array([start]), backwards=False)
        return forwards + self.costs


def _distances(arcs: Arcs, starts: Ints, *, backwards: bool) -> tuple[Floats, Ints]:
    """What it costs to get from each state to the nearest start, or from there; and the state that is next to it."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    n = len(arcs.starts) - 1
    if not len(starts):
        return np.full(n, np.inf), np.full(n, -1)
    matrix = csr_array((arcs.costs, arcs.targets, arcs.starts), shape=(n, n))
    if backwards:
        matrix = matrix.T.tocsr()
    costs, next_to, _ = dijkstra(matrix, indices=starts, min_only=True, return_predecessors=True)  # type: ignore[call-overload]
    return costs, next_to


Rule = Callable[[int], tuple[Mask, Mask]]


@dataclass(frozen=True, eq=False)
class Staged:
    """Ways of a number of steps; a place is ``steps * states + state``."""

    graphs: Callable[[int], Arcs]
    costs: Floats
    arc: Ints

    @classmethod
    def of(cls, graphs: Callable[[int], Arcs], n: int, steps: int, rule: Rule) -> Staged:
        """Ways of up to so many steps.

        ``graphs`` gives the arcs after some steps; ``rule`` the states where a way ends then, and those where it may go
        on.
        """
        if (steps + 1) * n > MOST_PLACES:
            message = f"{steps:,} steps over {n:,} states are too many to look for paths in"
            raise LimitError(f"{message}; {MOST_PLACES:,} pairs of a step and a state are the most")
        costs, arc = np.full((steps + 1, n), np.inf), np.full((steps + 1, n), -1)
        for step in range(steps, -1, -1):
            ends, goes_on = rule(step)
            if step < steps:
                graph = graphs(step)
                least, taken = _cheapest(graph, costs[step + 1])
                costs[step], arc[step] = np.where(goes_on, least, np.inf), np.where(goes_on, taken, -1)
            costs[step][ends], arc[step][ends] = 0.0, -1
        return cls(graphs, costs, arc)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return int(self.costs.shape[1])

    def cost(self, place: int) -> float:
        """What the cheapest way from a place costs."""
        return float(self.costs[divmod(place, self.n_states)])

    def first(self, place: int) -> Way | None:
        """What it begins with."""
        step, state = divmod(place, self.n_states)
        arc = int(self.arc[step, state])
        if arc < 0:
            return None
        graph = self.graphs(step)
        return arc, float(graph.costs[arc]), (step + 1) * self.n_states + int(graph.targets[arc])

    def ways(self, place: int) -> Iterator[Way]:
        """The arcs of a place."""
        step, state = divmod(place, self.n_states)
        if self.arc[step, state] < 0:
            return
        graph, after = self.graphs(step), (step + 1) * self.n_states
        for arc in range(int(graph.starts[state]), int(graph.starts[state + 1])):
            target = int(graph.targets[arc])
            if self.costs[step + 1, target] < np.inf and graph.costs[arc] < np.inf:
                yield arc, float(graph.costs[arc]), after + target

    def arcs(self, place: int) -> Arcs:
        """Those after so many steps."""
        return self.graphs(place // self.n_states)

    def through(self, start: int) -> Floats:
        """What the cheapest way through each state costs, after any number of steps."""
        here = np.full(self.n_states, np.inf)
        here[start] = 0.0
        found: Floats = here + self.costs[0]
        for step in range(len(self.costs) - 1):
            graph, goes_on = self.graphs(step), self.arc[step] >= 0
            after = np.full(self.n_states, np.inf)
            np.minimum.at(after, graph.targets, (np.where(goes_on, here, np.inf))[graph.sources] + graph.costs)
            here = after
            found = np.minimum(found, here + self.costs[step + 1])
        return found


def _cheapest(graph: Arcs, after: Floats) -> tuple[Floats, Ints]:
    """What the cheapest arc of each state costs together with what comes after, and that arc."""
    n = len(graph.starts) - 1
    totals = graph.costs + after[graph.targets]
    some = np.flatnonzero(np.diff(graph.starts))
    least, taken = np.full(n, np.inf), np.full(n, -1)
    least[some] = np.minimum.reduceat(totals, graph.starts[some]) if len(some) else 0.0
    best = np.flatnonzero(totals == np.repeat(least, np.diff(graph.starts)))
    sources = graph.sources[best]
    taken[sources[::-1]] = best[::-1]  # the first of several
    return least, taken
