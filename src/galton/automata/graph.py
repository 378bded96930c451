"""Graphs whose edges have marks: strongly connected components, and cycles that a condition accepts."""

from __future__ import annotations

from collections.abc import Iterable

from .acceptance import ALL, NONE, Acceptance, Mark, fin, holds, marks_of, replaced

Edge = tuple[int, int, int]  # source, target, marks


def inside_components(n_states: int, edges: Iterable[Edge]) -> dict[int, list[Edge]]:
    """Return the edges inside of each strongly connected component that has some."""
    every = list(edges)
    home = components(n_states, every)
    inside: dict[int, list[Edge]] = {}
    for edge in every:
        if home[edge[0]] == home[edge[1]]:
            inside.setdefault(home[edge[0]], []).append(edge)
    return inside


def has_cycle(edges: list[Edge], acceptance: Acceptance) -> bool:
    """Whether a cycle among edges is accepted: the marks of all its edges together satisfy the condition."""
    ends = dict.fromkeys(end for source, target, _ in edges for end in (source, target))
    number = {state: i for i, state in enumerate(ends)}
    renumbered = [(number[source], number[target], marks) for source, target, marks in edges]
    inside = inside_components(len(number), renumbered)
    return any(_has_cycle_inside(part, acceptance) for part in inside.values())


def _has_cycle_inside(edges: list[Edge], acceptance: Acceptance) -> bool:
    """Whether a cycle is accepted among the edges of one strongly connected component."""
    met = 0
    for _, _, marks in edges:
        met |= marks
    if holds(acceptance, met):
        return True

    def present(mark: Mark) -> Acceptance:
        return mark if met >> mark.number & 1 else ALL if mark.operator == "Fin" else NONE

    left = replaced(acceptance, present)
    avoidable = next((mark for mark in marks_of(left) if _occurs(left, fin(mark))), None)
    if avoidable is None:
        return False
    without = [edge for edge in edges if not edge[2] >> avoidable & 1]
    avoided = replaced(left, lambda mark: mark if mark != fin(avoidable) else ALL)
    ignored = replaced(left, lambda mark: mark if mark != fin(avoidable) else NONE)
    return has_cycle(without, avoided) or _has_cycle_inside(edges, ignored)


def _occurs(acceptance: Acceptance, mark: Acceptance) -> bool:
    if isinstance(acceptance, Mark):
        return acceptance == mark
    return any(_occurs(part, mark) for part in acceptance.operands)


def components(n_states: int, edges: Iterable[Edge]) -> list[int]:
    """Return the number of each state's strongly connected component; successors have smaller ones (Tarjan, 1972)."""
    successors: list[list[int]] = [[] for _ in range(n_states)]
    for source, target, _ in edges:
        successors[source].append(target)
    order = [-1] * n_states  # when a state was met
    lowest = [0] * n_states
    home = [-1] * n_states
    met = 0
    n_homes = 0
    pending: list[int] = []
    for root in range(n_states):
        if order[root] >= 0:
            continue
        path = [(root, iter(successors[root]))]
        order[root] = lowest[root] = met
        met += 1
        pending.append(root)
        while path:
            state, rest = path[-1]
            for successor in rest:
                if order[successor] < 0:
                    order[successor] = lowest[successor] = met
                    met += 1
                    pending.append(successor)
                    path.append((successor, iter(successors[successor])))
                    break
                if home[successor] < 0:
                    lowest[state] = min(lowest[state], order[successor])
            else:
                path.pop()
                if path:
                    before = path[-1][0]
                    lowest[before] = min(lowest[before], lowest[state])
                if lowest[state] == order[state]:
                    while home[state] < 0:
                        home[pending.pop()] = n_homes
                    n_homes += 1
    return home
