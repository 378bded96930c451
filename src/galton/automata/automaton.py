"""Deterministic, complete ω-automata whose acceptance is on edges, with letters as sets of atomic propositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .acceptance import Acceptance, complement, holds, marks_of
from .diagrams import Diagrams
from .graph import has_cycle


@dataclass(frozen=True)
class Automaton:
    """A deterministic Emerson–Lei automaton.

    A letter is a number: its bit i says whether proposition i holds. ``edges`` has a decision diagram for each state,
    from letters to pairs of a successor and the marks of the edge, as bits.
    """

    propositions: tuple[str, ...]
    initial: int
    diagrams: Diagrams
    edges: tuple[int, ...]
    acceptance: Acceptance

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return len(self.edges)

    @property
    def n_marks(self) -> int:
        """How many marks edges may have; those that count are the condition's."""
        return max(marks_of(self.acceptance), default=-1) + 1

    def step(self, state: int, letter: int) -> tuple[int, int]:
        """Return the successor of a state, and the marks of the edge to it."""
        successor, marks = self.diagrams.at(self.edges[state], letter)
        return successor, marks

    def accepts_everything(self, state: int) -> bool:
        """Whether a state leads only to itself and accepts: what was read so far decides."""
        leaves = self.diagrams.leaves(self.edges[state])
        if any(successor != state for successor, _ in leaves):
            return False
        # Letters may alternate: all marks of some of the edges together have to be accepted, not of each edge alone.
        return not has_cycle([(state, state, marks) for _, marks in leaves], complement(self.acceptance))

    def table(self, letters: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return successors and marks for each state (a row) and each of some letters (a column)."""
        steps = [[self.step(state, letter) for letter in letters] for state in range(self.n_states)]
        both = np.array(steps, dtype=np.int64).reshape(self.n_states, len(letters), 2)
        return both[..., 0].astype(np.int32), both[..., 1]

    def whole_table(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return successors and marks for each state (a row) and each letter (a column), in the order of letters.

        >>> from galton.automata import parse_ltl, translate
        >>> translate(*parse_ltl("X a")).whole_table()[0].tolist()
        [[1, 1], [2, 3], [2, 2], [3, 3]]
        """
        width = len(self.propositions)
        diagrams = self.diagrams
        known: dict[tuple[int, int], NDArray[np.intp]] = {}

        def leaves(part: int, level: int) -> NDArray[np.intp]:
            """The leaf for each valuation of the variables from ``level`` on, the first one slowest."""
            found = known.get((part, level))
            if found is None:
                if level == width:
                    found = np.array([part])
                else:
                    inner = diagrams.variable[part] == level
                    below = (diagrams.low[part], diagrams.high[part]) if inner else (part, part)
                    found = np.concatenate([leaves(each, level + 1) for each in below])
                known[part, level] = found
            return found

        order = np.arange(1 << width).reshape((2,) * width).T.ravel()  # bit i of a letter is variable i
        steps = np.array([leaves(edges, 0)[order] for edges in self.edges])
        distinct, place = np.unique(steps, return_inverse=True)
        both = np.array([diagrams.value(int(leaf)) for leaf in distinct], dtype=np.int64)[place.reshape(steps.shape)]
        return both[..., 0].astype(np.int32), both[..., 1]

    def accepts(self, stem: Sequence[int], loop: Sequence[int]) -> bool:
        """Whether the word ``stem loop loop …`` is in the language."""
        state = self.initial
        for letter in stem:
            state, _ = self.step(state, letter)
        seen: dict[int, int] = {}
        rounds: list[int] = []  # the marks of each round through the loop
        while state not in seen:
            seen[state] = len(rounds)
            met = 0
            for letter in loop:
                state, marks = self.step(state, letter)
                met |= marks
            rounds.append(met)
        for met in (repeated := rounds[seen[state] :])[1:]:
            repeated[0] |= met
        return holds(self.acceptance, repeated[0])
