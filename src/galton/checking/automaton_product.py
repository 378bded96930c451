"""The product of a model with a deterministic automaton that reads its states.

A state of the product is a state of the model and the state of the automaton before it reads that one. All edges out of
it then carry the same marks, so that marks belong to states here. The product has the kind of the model: choices stay
choices, rates stay rates.

Explorers make it where they can (:mod:`.automaton_reading`). Here it is built from the arrays of a model that is there
already, only as far as it can be reached, in the core (``src/core/graph/product.cpp``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _core
from ..automata import Automaton
from ..automata.acceptance import Acceptance, Mark, Pair, gate, generalised_rabin, inf, marks_of
from ..backend.cpu.matrix import matrix_of
from ..backend.failures import LimitError
from ..backend.limits import Limits
from ..device.arrays import how_many, namespace
from ..graph import EndComponents, bottom_components, can_reach, maximal_end_components
from ..lang.source import GaltonError
from ..model.sparse import Int32s, Mask, Model
from ..reduce.submodels import picked

__all__ = [
    "MOST_BITS",
    "Marks",
    "Product",
    "accepted_where",
    "accepting_states",
    "asked_by",
    "pair_components",
    "product",
]

MOST_BITS = 62  # propositions and marks are bits of 64-bit numbers
_MOST_STATES = 2**31 - 1
_BYTES_OF_A_PAIR = 3 / 16  # that might be reached
_FEW_PROPOSITIONS = 16  # whose letters are counted, not sorted
Marks = npt.NDArray[np.integer]


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
        """See :func:`accepting_states`."""
        return accepting_states(self.model, self.marks, acceptance, choices=choices)


def accepting_states(
    model: Model, marks: Marks, acceptance: Acceptance, *, within: Mask | None = None, choices: Mask | None = None
) -> Mask:
    """The states of components in which runs are accepted with probability 1, in an MDP by some strategy.

    Parameters
    ----------
    marks
        ``(states,)`` the marks of each state, as bits.
    within, choices
        The states, and in an MDP the choices, that components may have; None for all.
    """
    if not model.has_choices:
        return _chosen(_where_runs_end(model, within), marks, acceptance)
    goal = namespace(model.columns).zeros(model.n_states, dtype=np.bool_)
    for _, _, accepted in pair_components(model, marks, acceptance, within=within, choices=choices):
        goal |= accepted
    return goal  # type: ignore[no-any-return]


def pair_components(
    model: Model, marks: Marks, acceptance: Acceptance, *, within: Mask | None = None, choices: Mask | None = None
) -> Iterator[tuple[Pair, EndComponents, Mask]]:
    """For each generalised Rabin pair, the end components without what it forbids, and the states of those it accepts.

    ``within`` and ``choices`` are as in :func:`accepting_states`.
    """
    for pair in generalised_rabin(acceptance):
        allowed, wanted = asked_by(pair, marks, within)
        found = maximal_end_components(model, allowed, choices)
        yield pair, found, _chosen(found.component, marks, wanted)


def asked_by(pair: Pair, marks: Marks, within: Mask | None) -> tuple[Mask | None, Acceptance]:
    """The states where a pair allows to stay, None for all, and what its components have to meet."""
    allowed = within
    if pair.fin:
        unmarked = marks & pair.fin == 0
        allowed = unmarked if within is None else within & unmarked
    return allowed, gate("&", [inf(mark) for mark in range(pair.inf.bit_length()) if pair.inf >> mark & 1])


def _where_runs_end(chain: Model, within: Mask | None) -> Int32s:
    """The bottom component of each state of a chain, -1 where it is in none.

    A state that is never left is one by itself, and who can get there is in no other: that is found much faster than
    all strongly connected components, and often leaves nothing to look at.
    """
    xp = namespace(chain.columns)
    every = xp.arange(chain.n_states, dtype=np.int32)
    starts = chain.row_starts
    alone = (xp.diff(starts) == 1) & (chain.columns[starts[:-1]] == every)
    if not how_many(alone):
        return bottom_components(chain, within).component
    rest = ~can_reach(chain, xp.ones(chain.n_states, dtype=np.bool_), alone)
    if within is not None:
        alone, rest = alone & within, rest & within
    component = xp.where(alone, every, np.int32(-1))
    if how_many(rest):
        found = bottom_components(chain, rest).component
        # A number for each: that of one of its states.
        first = xp.zeros(int(found.max()) + 2, dtype=np.int32)
        first[found[rest]] = every[rest]
        component = xp.where(found >= 0, first[found], component)
    return component  # type: ignore[no-any-return]


def _chosen(component: Int32s, marks: Marks, acceptance: Acceptance) -> Mask:
    """The states of components whose states have, all together, marks that are accepted."""
    xp = namespace(component)
    count = int(component.max()) + 1 if len(component) else 0
    met = {}
    for mark in marks_of(acceptance):
        met[mark] = xp.zeros(count + 1, dtype=np.bool_)  # the last is for the states in no component, -1
        met[mark][component[marks & (1 << mark) != 0]] = True
    good = xp.array(accepted_where(acceptance, met, xp.ones(count + 1, dtype=np.bool_)))
    good[count] = False
    return good[component]  # type: ignore[no-any-return]


def accepted_where(acceptance: Acceptance, met: Mapping[int, Mask], everywhere: Mask) -> Mask:
    """Where a run is accepted that meets again and again just the marks that are ``met`` there."""
    if isinstance(acceptance, Mark):
        there = met[acceptance.number]
        return there if acceptance.operator == "Inf" else ~there
    every = acceptance.operator == "&"
    found = everywhere if every else ~everywhere
    for operand in acceptance.operands:
        part = accepted_where(operand, met, everywhere)
        found = found & part if every else found | part
    return found


def product(model: Model, automaton: Automaton, propositions: Sequence[Mask], starts: Int32s) -> Product:
    """Return the product of a model with an automaton whose propositions hold in the given states.

    Words begin in the states ``starts``.
    """
    if max(len(propositions), automaton.n_marks) > MOST_BITS:
        raise GaltonError(f"formulas with more than {MOST_BITS} propositions or acceptance sets are not supported")
    n = model.n_states
    letters, letter = _letters(propositions, n)
    successor, marks = automaton.table([int(code) for code in letters])
    too_large = LimitError(
        f"the product with an automaton of {automaton.n_states:,} states is too large for this machine"
    )
    if _BYTES_OF_A_PAIR * automaton.n_states * n > Limits.choose(None, None).memory_bytes:
        raise too_large
    first = automaton.initial * n + np.unique(starts).astype(np.int64)
    try:
        pairs, choice_starts, rows, row_starts, entries, columns = _core.automaton_product(
            matrix_of(model), letter, np.ascontiguousarray(successor).ravel(), len(letters), first
        )
    except OverflowError:
        raise too_large from None
    source, reading = pairs % n, pairs // n
    found = np.full(n, -1, dtype=np.int32)
    found[first - automaton.initial * n] = np.searchsorted(pairs, first)
    built = Model(
        type=model.type,
        choice_starts=choice_starts if model.has_choices else None,
        row_starts=row_starts if len(entries) > _MOST_STATES else row_starts.astype(np.int32),
        columns=columns,
        values=picked(model.values, entries),
        initial=np.unique(found[starts]),
        placement=model.placement,
    )
    place = reading * len(letters) + letter[source]
    return Product(built, marks.ravel()[place], successor.ravel()[place], found, source, rows)


def _letters(propositions: Sequence[Mask], n_states: int) -> tuple[npt.NDArray[np.int64], Int32s]:
    """The letters that occur, and for each state the number of its letter among these."""
    codes = np.zeros(n_states, dtype=np.int64)
    for i, mask in enumerate(propositions):
        codes |= mask.astype(np.int64) << i
    if len(propositions) > _FEW_PROPOSITIONS:
        found, number = np.unique(codes, return_inverse=True)
        return found, number.astype(np.int32)
    occurs = np.zeros(1 << len(propositions), dtype=np.bool_)
    occurs[codes] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[codes]
