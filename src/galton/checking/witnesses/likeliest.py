"""Paths from the cheapest on, as many as are asked for.

The k-th cheapest path from a place is an arc and the j-th cheapest path from where it leads, j being at most k. So each
place keeps the paths found so far and a heap of candidates for the next one, and only those are looked for that are
needed: the recursive enumeration of Jiménez and Marzal, "Computing the k shortest paths: a new algorithm and an
experimental comparison", 1999.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from .search import Search

__all__ = ["Step", "cheapest_paths"]


class Step(NamedTuple):
    """An arc of a path, and the place that it leaves."""

    place: int
    arc: int


class _Found(NamedTuple):
    """A path from a place: what it costs, its first arc and what that costs, where it leads, which path follows."""

    cost: float
    arc: int
    arc_cost: float
    target: int
    rank: int


_END = _Found(0.0, -1, 0.0, -1, -1)


def cheapest_paths(search: Search, start: int) -> Iterator[list[Step]]:
    """All paths from a place to an end, from the cheapest on; they may be infinitely many."""
    if search.cost(start) == math.inf:
        return
    paths = _Paths(search)
    rank = 0
    while paths.reach(start, rank):
        yield paths.steps(start, rank)
        rank += 1


class _Paths:
    """The paths found so far, and candidates for the next ones."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.found: dict[int, list[_Found]] = {}
        self.candidates: dict[int, list[_Found]] = {}
        self.complete: set[int] = set()  # places all of whose paths are found

    def reach(self, start: int, rank: int) -> bool:
        """Find paths from a place up to the given one; False if there are fewer."""
        while len(self._found(start)) <= rank and start not in self.complete:
            self._find_next(start)
        return len(self.found[start]) > rank

    def steps(self, place: int, rank: int) -> list[Step]:
        """One of the paths that were found."""
        path = []
        while (step := self._found(place)[rank]) is not _END:
            path.append(Step(place, step.arc))
            place, rank = step.target, step.rank
        return path

    def _find_next(self, start: int) -> None:
        """Find one more path from a place.

        It may begin like the last one and go on with the next path from there, which may not be found yet, and so on
        along the last path: with a stack, because paths are long.
        """
        waiting = [start]
        while waiting:
            place = waiting[-1]
            heap, last = self._candidates(place), self._found(place)[-1]
            after = self._found(last.target)
            if len(after) > last.rank + 1:
                cost = last.arc_cost + after[last.rank + 1].cost
                heappush(heap, last._replace(cost=cost, rank=last.rank + 1))
            elif last.target not in self.complete:
                waiting.append(last.target)
                continue
            if heap:
                self.found[place].append(heappop(heap))
            else:
                self.complete.add(place)
            waiting.pop()

    def _found(self, place: int) -> list[_Found]:
        if place not in self.found:
            first = self.search.first(place)
            if first is None:
                self.found[place] = [_END]
                self.complete.add(place)
            else:
                arc, cost, target = first
                self.found[place] = [_Found(self.search.cost(place), arc, cost, target, 0)]
        return self.found[place]

    def _candidates(self, place: int) -> list[_Found]:
        if place not in self.candidates:
            taken = self.found[place][0].arc
            heap = [
                _Found(cost + self.search.cost(target), arc, cost, target, 0)
                for arc, cost, target in self.search.ways(place)
                if arc != taken
            ]
            heapify(heap)
            self.candidates[place] = heap
        return self.candidates[place]
