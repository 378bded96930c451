"""What an automaton's states decide: from some of them every word is accepted, from some none.

Where an accepted run always comes to a state of the first kind, the language is co-safe; where a rejected run always
comes to one of the second kind, it is safe. Then whether such a state is reached is all that matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .acceptance import complement
from .automaton import Automaton
from .graph import Edge, components, has_cycle, inside_components

__all__ = ["Verdicts", "verdicts"]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """``(states,)`` masks of the states that accept everything, and nothing; whether the language is (co-)safe."""

    accepting: NDArray[np.bool_]
    rejecting: NDArray[np.bool_]
    cosafe: bool
    safe: bool

    @property
    def decided(self) -> NDArray[np.bool_]:
        """The states from which what is read makes no difference."""
        return self.accepting | self.rejecting


def verdicts(automaton: Automaton) -> Verdicts:
    """Look at the cycles of all strongly connected components of an automaton.

    >>> from galton.automata import parse_ltl, translate
    >>> found = verdicts(translate(*parse_ltl("a U b")))
    >>> found.cosafe, found.safe, int(found.decided.sum())
    (True, False, 2)
    """
    edges: list[Edge] = [
        (state, successor, marks)
        for state, found in enumerate(automaton.edges)
        for successor, marks in automaton.diagrams.leaves(found)
    ]
    home = components(automaton.n_states, edges)
    inside = inside_components(automaton.n_states, edges)
    n_homes = max(home) + 1
    opposite = complement(automaton.acceptance)
    accepts = [number in inside and has_cycle(inside[number], automaton.acceptance) for number in range(n_homes)]
    rejects = [number in inside and has_cycle(inside[number], opposite) for number in range(n_homes)]
    can_accept, can_reject = list(accepts), list(rejects)
    for source, target, _ in sorted(edges, key=lambda edge: home[edge[0]]):  # successors have smaller numbers
        can_accept[home[source]] |= can_accept[home[target]]
        can_reject[home[source]] |= can_reject[home[target]]
    universal = [number for number in range(n_homes) if not can_reject[number]]
    empty = [number for number in range(n_homes) if not can_accept[number]]
    return Verdicts(
        np.isin(home, universal),
        np.isin(home, empty),
        not any(accepts[number] and can_reject[number] for number in range(n_homes)),
        not any(rejects[number] and can_accept[number] for number in range(n_homes)),
    )
