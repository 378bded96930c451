"""The product of a model with a deterministic automaton that reads its states.

A state of the product is a state of the model and the state of the automaton before it reads that one. All edges out of
it then carry the same marks, so that marks belong to states here. The product has the kind of the model: choices stay
choices, rates stay rates.

It is built from the arrays of a model that is there already, breadth first, only as far as it can be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..automata import Automaton
from ..automata.acceptance import Acceptance, generalised_rabin, holds
from ..device.arrays import offsets
from ..graph import bottom_components, maximal_end_components
from ..lang.source import GaltonError
from ..model.sparse import Int32s, Mask, Model
from ..reduce.submodels import entries_of, picked

__all__ = ["Product", "product"]

_MOST_BITS = 62  # propositions and marks are bits of 64-bit numbers
_MOST_STATES = 2**31 - 1
_Verdict = Callable[[int], bool]
Marks = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Product:
    """The product as a model.

    Attributes
    ----------
    marks
        ``(states,)`` the marks of the automaton's edge that reads the state, as bits.
    after
        ``(states,)`` the automaton's state when it has read the state.
    starts
        The state of the product for each state of the original where words begin, -1 for the others.
    states, rows
        The state of the original for each state, and the choice of the original for each choice.
    """

    model: Model
    marks: Marks
    after: Int32s
    starts: Int32s
    states: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]

    def accepting(self, acceptance: Acceptance, choices: Mask | None = None) -> Mask:
        """The states of components in which runs are accepted with probability 1, in an MDP by some strategy.

        In an MDP, ``choices`` are those that strategies may take there; None for all.
        """
        if not self.model.has_choices:
            found = bottom_components(self.model)
            return self._chosen(found.component, lambda met: holds(acceptance, met))
        goal = np.zeros(self.model.n_states, dtype=np.bool_)
        for pair in generalised_rabin(acceptance):
            inner = maximal_end_components(self.model, self.marks & pair.fin == 0, choices)
            wanted = pair.inf
            goal |= self._chosen(inner.component, lambda met, wanted=wanted: met & wanted == wanted)  # type: ignore[misc]
        return goal

    def _chosen(self, component: Int32s, accepts: _Verdict) -> Mask:
        """The states of components by the marks that all of their states have together."""
        met = np.zeros(int(component.max(initial=-1)) + 1, dtype=np.int64)
        inside = component >= 0
        np.bitwise_or.at(met, component[inside], self.marks[inside])
        verdicts = {int(marks): accepts(int(marks)) for marks in np.unique(met)}
        good = np.array([verdicts[int(marks)] for marks in met], dtype=np.bool_)
        return np.concatenate((good, [False]))[component]


def product(model: Model, automaton: Automaton, propositions: Sequence[Mask], starts: Int32s) -> Product:
    """Return the product of a model with an automaton whose propositions hold in the given states.

    Words begin in the states ``starts``.
    """
    if max(len(propositions), automaton.n_marks) > _MOST_BITS:
        raise GaltonError(f"formulas with more than {_MOST_BITS} propositions or acceptance sets are not supported")
    n = model.n_states
    codes = np.zeros(n, dtype=np.int64)
    for i, mask in enumerate(propositions):
        codes |= mask.astype(np.int64) << i
    letters, letter = np.unique(codes, return_inverse=True)
    successor, marks = automaton.table([int(code) for code in letters])
    if automaton.n_states * n > _MOST_STATES:
        message = f"the product with an automaton of {automaton.n_states:,} states may have more than"
        raise GaltonError(f"{message} {_MOST_STATES:,} states")
    reached = _reached(model, automaton.initial * n + starts.astype(np.int64), successor, letter)
    keys = np.flatnonzero(reached)
    number = np.cumsum(reached, dtype=np.int64) - 1  # ascending by the model's state where the automaton's is the same
    source, reading = keys % n, keys // n
    groups = model.row_groups.astype(np.int64)
    rows, counts = _ranges(groups[source], groups[source + 1])
    entries, lengths = entries_of(model, rows)
    after = successor[reading, letter[source]]
    row_after = np.repeat(np.repeat(after, counts), lengths).astype(np.int64)
    columns = number[row_after * n + model.columns[entries]].astype(np.int32)
    found = np.full(n, -1, dtype=np.int32)
    found[starts] = number[automaton.initial * n + starts.astype(np.int64)]
    built = Model(
        type=model.type,
        choice_starts=offsets(counts, np.int32) if model.has_choices else None,
        row_starts=offsets(lengths, np.int64 if len(entries) > _MOST_STATES else np.int32),
        columns=columns,
        values=picked(model.values, entries),
        initial=np.unique(found[starts]),
        placement=model.placement,
    )
    return Product(built, marks[reading, letter[source]], after, found, source, rows)


def _reached(model: Model, first: npt.NDArray[np.int64], successor: Int32s, letter: npt.NDArray[np.intp]) -> Mask:
    """Which pairs can be reached, by the number of the automaton's state times the number of states plus the state."""
    n, groups = model.n_states, model.row_groups
    reached = np.zeros(len(successor) * n, dtype=np.bool_)
    frontier = np.unique(first)
    reached[frontier] = True
    row_starts = model.row_starts.astype(np.int64)
    while len(frontier):
        source = frontier % n
        entries, counts = _ranges(row_starts[groups[source]], row_starts[groups[source + 1]])
        after = np.repeat(successor[frontier // n, letter[source]].astype(np.int64), counts)
        targets = after * n + model.columns[entries]
        frontier = np.unique(targets[~reached[targets]])
        reached[frontier] = True
    return reached


def _ranges(
    begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All numbers of ranges, one range after the other, and how many each has."""
    counts = ends - begins
    places = offsets(counts)
    return np.repeat(begins - places[:-1], counts) + np.arange(places[-1]), counts
