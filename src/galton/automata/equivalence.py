"""Which states of an automaton accept the same words."""

from __future__ import annotations

from .acceptance import Acceptance, Mark, complement, gate, replaced
from .automaton import Automaton
from .diagrams import Diagrams
from .graph import Edge, has_cycle, inside_components


def language_classes(automaton: Automaton) -> list[int]:
    """Return a number for each state, the same for states that accept the same words.

    Two states differ if from the pair of them a cycle can be reached that one of the two runs accepts and the other
    does not.
    """
    n = automaton.n_states
    edges, before = _pairs(automaton)
    condition = _difference(automaton.acceptance, automaton.n_marks)
    inside = inside_components(n * n, edges)
    differing = [own[0][0] for own in inside.values() if has_cycle(own, condition)]
    different = set(differing)
    while differing:
        for pair in before[differing.pop()]:
            if pair not in different:
                different.add(pair)
                differing.append(pair)
    return [next(other for other in range(n) if state * n + other not in different) for state in range(n)]


def _pairs(automaton: Automaton) -> tuple[list[Edge], list[list[int]]]:
    """The edges of two runs at once, with the marks of both, and the pairs before each pair."""
    n, shift = automaton.n_states, automaton.n_marks
    scratch = Diagrams()
    own = [automaton.diagrams.map(found, lambda leaf: leaf, into=scratch) for found in automaton.edges]
    edges: list[Edge] = []
    before: list[list[int]] = [[] for _ in range(n * n)]
    for one in range(n):
        for other in range(n):
            if one == other:
                continue
            joint = scratch.combine(own[one], own[other], lambda a, b: (a[0] * n + b[0], a[1] | b[1] << shift))
            for successor, marks in scratch.leaves(joint):
                edges.append((one * n + other, successor, marks))
                before[successor].append(one * n + other)
    return edges, before


def _difference(acceptance: Acceptance, shift: int) -> Acceptance:
    """That the first of two runs is accepted and the second is not, or the other way round."""
    other = replaced(acceptance, lambda mark: Mark(mark.operator, mark.number + shift))
    only_first = gate("&", (acceptance, complement(other)))
    only_second = gate("&", (complement(acceptance), other))
    return gate("|", (only_first, only_second))
