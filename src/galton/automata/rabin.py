"""Automata whose generalised Rabin pairs ask for one mark each, for strategies that need to know what to do next.

Who has to meet several marks infinitely often meets them in turn: a counter for each such pair, beside the automaton's
state, says which is next, and the edge that ends a round has the pair's new mark.
"""

from __future__ import annotations

from dataclasses import replace

from .acceptance import Acceptance, Pair, complement, fin, gate, generalised_rabin, inf
from .automaton import Automaton
from .diagrams import Diagrams

__all__ = ["rabin"]


def rabin(automaton: Automaton, *, negated: bool = False) -> Automaton:
    """Return an automaton for the same language whose condition is a disjunction of ``Fin(…) & Inf(…)``.

    With ``negated``, that holds for the complement of the condition.

    >>> from galton.automata import parse_ltl, translate
    >>> two = translate(*parse_ltl("G F a & G F b"))
    >>> two.n_states, rabin(two).n_states, rabin(two, negated=True).n_states
    (1, 2, 1)
    """
    condition = complement(automaton.acceptance) if negated else automaton.acceptance
    pairs = generalised_rabin(condition)
    turns = [[mark for mark in range(pair.inf.bit_length()) if pair.inf >> mark & 1] for pair in pairs]
    start = (automaton.initial, *(0 for _ in pairs))
    numbers = {start: 0}
    queue = [start]
    diagrams = Diagrams()
    edges = []
    for state, *counters in queue:  # grows while it is read

        def change(leaf: tuple[int, int], counters: list[int] = counters) -> tuple[int, int]:
            successor, marks = leaf
            after, found = [successor], 0
            for number, (pair, order, counter) in enumerate(zip(pairs, turns, counters, strict=True)):
                counter, done = _advanced(order, counter, marks)
                after.append(counter)
                found |= (marks & pair.fin != 0) << 2 * number | done << 2 * number + 1
            key = tuple(after)
            if key not in numbers:
                numbers[key] = len(queue)
                queue.append(key)
            return numbers[key], found

        edges.append(automaton.diagrams.map(automaton.edges[state], change, into=diagrams))
    wanted = gate("|", [_condition(number, pair) for number, pair in enumerate(pairs)])
    acceptance = complement(wanted) if negated else wanted
    return replace(automaton, initial=0, diagrams=diagrams, edges=tuple(edges), acceptance=acceptance)


def _advanced(order: list[int], counter: int, marks: int) -> tuple[int, bool]:
    """The mark that comes next after an edge, and whether the edge ends a round."""
    if len(order) < 2:
        return 0, bool(order) and bool(marks >> order[0] & 1)
    while counter < len(order) and marks >> order[counter] & 1:
        counter += 1
    return (0, True) if counter == len(order) else (counter, False)


def _condition(number: int, pair: Pair) -> Acceptance:
    parts = [fin(2 * number)] if pair.fin else []
    return gate("&", [*parts, *([inf(2 * number + 1)] if pair.inf else [])])
