"""Automata with fewer states and simpler conditions for the same language.

- States that are known to accept the same words, in different strongly connected components, become the one that
  comes last: a run changes to it finitely often, so its acceptance is that of what it does afterwards.
- Components in which all cycles are accepted, or all rejected, say so by constant marks; where the others need fewer
  marks, the condition is rewritten for them.
- Bisimilar states become one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from .acceptance import ALL, NONE, Acceptance, Mark, complement, inf, marks_of, replaced, satisfying
from .automaton import Automaton
from .diagrams import Diagrams
from .equivalence import language_classes
from .graph import Edge, components, has_cycle, inside_components

_FEW_STATES = 40  # as many are compared with each other, all pairs of them


def reduced(automaton: Automaton, languages: Sequence[Hashable] = ()) -> Automaton:
    """Return a smaller automaton for the same language; ``languages`` has a key for each state, where one is known."""
    if languages:
        automaton = trimmed(_redirected(automaton, languages))
    automaton = quotient(simplified(automaton))
    if 1 < automaton.n_states <= _FEW_STATES:
        joined = trimmed(_redirected(automaton, language_classes(automaton)))
        if joined.n_states < automaton.n_states:
            automaton = quotient(simplified(joined))
    return automaton


def quotient(automaton: Automaton) -> Automaton:
    """Return the automaton with bisimilar states joined, numbered breadth first."""
    blocks = [0] * automaton.n_states
    while (finer := _split(automaton, blocks)) != blocks:
        blocks = finer
    first: dict[int, int] = {}
    for state, block in enumerate(blocks):
        first.setdefault(block, state)
    return trimmed(_moved(automaton, [first[block] for block in blocks]))


def _split(automaton: Automaton, blocks: list[int]) -> list[int]:
    """States in different blocks where an edge with the same letter and marks leads to different ones."""
    scratch = Diagrams()
    numbers: dict[int, int] = {}
    found = []
    for edges in automaton.edges:
        signature = automaton.diagrams.map(edges, lambda leaf: (blocks[leaf[0]], leaf[1]), into=scratch)
        found.append(numbers.setdefault(signature, len(numbers)))
    return found


def _redirected(automaton: Automaton, languages: Sequence[Hashable]) -> Automaton:
    """Every state replaced by one with the same language in the component that comes last."""
    home = components(
        automaton.n_states, _all_edges(automaton)
    )  # a component has a smaller number than those before it
    last: dict[Hashable, int] = {}
    for state, key in enumerate(languages):
        if key not in last or home[state] < home[last[key]]:
            last[key] = state
    targets = [last[key] if home[last[key]] < home[state] else state for state, key in enumerate(languages)]
    return _moved(automaton, targets)


def _moved(automaton: Automaton, targets: Sequence[int]) -> Automaton:
    """Edges to each state lead to its target instead."""
    diagrams = Diagrams()
    edges = [
        automaton.diagrams.map(found, lambda leaf: (targets[leaf[0]], leaf[1]), into=diagrams)
        for found in automaton.edges
    ]
    return replace(automaton, initial=targets[automaton.initial], diagrams=diagrams, edges=tuple(edges))


def trimmed(automaton: Automaton) -> Automaton:
    """Return an automaton of the reachable states, numbered breadth first."""
    numbers = {automaton.initial: 0}
    queue = [automaton.initial]
    for state in queue:  # grows while it is read
        for successor, _ in automaton.diagrams.leaves(automaton.edges[state]):
            if successor not in numbers:
                numbers[successor] = len(queue)
                queue.append(successor)
    diagrams = Diagrams()
    edges = [
        automaton.diagrams.map(automaton.edges[state], lambda leaf: (numbers[leaf[0]], leaf[1]), into=diagrams)
        for state in queue
    ]
    return replace(automaton, initial=0, diagrams=diagrams, edges=tuple(edges))


# Conditions


@dataclass(frozen=True)
class _Part:
    """A strongly connected component that has accepted and rejected cycles, with the condition as it is there."""

    acceptance: Acceptance
    renumbered: dict[int, int]  # marks of the automaton to those of the condition


def simplified(automaton: Automaton) -> Automaton:
    """Return the automaton with marks only where they matter, and a condition of no more than is needed."""
    edges = _all_edges(automaton)
    home = components(automaton.n_states, edges)
    inside = inside_components(automaton.n_states, edges)
    constant: dict[int, bool] = {}
    parts: dict[int, _Part] = {}
    for number, own in inside.items():
        if not has_cycle(own, automaton.acceptance):
            constant[number] = False
        elif not has_cycle(own, complement(automaton.acceptance)):
            constant[number] = True
        else:
            parts[number] = _local(own, automaton.acceptance)
    conditions = {part.acceptance for part in parts.values()}
    if len(conditions) > 1:
        whole = _local([edge for number in parts for edge in inside[number]], automaton.acceptance)
        parts, conditions = dict.fromkeys(parts, whole), {whole.acceptance}
    condition = conditions.pop() if conditions else _of_constants(set(constant.values()))
    marks = {True: satisfying(condition) or 0, False: satisfying(complement(condition)) or 0}

    def change(state: int, leaf: tuple[int, int]) -> tuple[int, int]:
        number = home[state]
        if home[leaf[0]] != number:
            return leaf[0], 0  # crossed once
        if number in constant:
            return leaf[0], marks[constant[number]]
        renumbered = parts[number].renumbered
        return leaf[0], sum({1 << new for old, new in renumbered.items() if leaf[1] >> old & 1})

    diagrams = Diagrams()
    changed = [
        automaton.diagrams.map(found, lambda leaf, state=state: change(state, leaf), into=diagrams)  # type: ignore[misc]
        for state, found in enumerate(automaton.edges)
    ]
    return replace(automaton, diagrams=diagrams, edges=tuple(changed), acceptance=condition)


def _of_constants(verdicts: set[bool]) -> Acceptance:
    """The condition of a weak automaton: its components are constant."""
    return inf(0) if len(verdicts) == 2 else ALL if True in verdicts else NONE


def _local(edges: Sequence[Edge], acceptance: Acceptance) -> _Part:
    """The condition among some edges, where marks may be everywhere, nowhere, or always together."""
    columns: dict[int, tuple[bool, ...]] = {
        mark: tuple(bool(marks >> mark & 1) for _, _, marks in edges) for mark in marks_of(acceptance)
    }
    first: dict[tuple[bool, ...], int] = {}
    same = {mark: first.setdefault(column, mark) for mark, column in columns.items()}

    def change(mark: Mark) -> Acceptance:
        column = columns[mark.number]
        if all(column) or not any(column):
            return ALL if all(column) == (mark.operator == "Inf") else NONE
        return Mark(mark.operator, same[mark.number])

    found = replaced(acceptance, change)
    renumbered = {mark: number for number, mark in enumerate(_in_order(found))}
    changed = replaced(found, lambda mark: Mark(mark.operator, renumbered[mark.number]))
    return _Part(changed, renumbered)


def _in_order(acceptance: Acceptance) -> list[int]:
    """Marks in the order of a condition's text."""
    if isinstance(acceptance, Mark):
        return [acceptance.number]
    return list(dict.fromkeys(mark for part in acceptance.operands for mark in _in_order(part)))


def _all_edges(automaton: Automaton) -> list[Edge]:
    return [
        (state, successor, marks)
        for state, found in enumerate(automaton.edges)
        for successor, marks in automaton.diagrams.leaves(found)
    ]
