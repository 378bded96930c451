"""The rows of all states at once, where integers decide about the graph.

Guards and assignments are evaluated over arrays of states. What is exact are the probabilities: constants mostly, which
need no state; the others are evaluated state by state. Where something is not as simple as that, or not as the model
has it, there is no result, and rows are found one by one (:mod:`.program_numbers`), with an error if need be.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...lower.lowering import Lowered, Product
from ...lower.vectorised import evaluate, possible
from ...model.sparse import Mask, Model
from ...model.states import PackedStates, Words
from .expressions import Function, State
from .numbers import Rational, rational

__all__ = ["RowsAtOnce", "rows_at_once"]

NO_ACTION = -2  # of the loop of a deadlock; -1 is that of states
_COST = 2, 64  # an operation on arrays takes as long as so many states one by one; so many are always fine
_ONES = 2**64 - 1
Integers = npt.NDArray[np.int64]
Probability = Function | Rational  # a number where it is the same in all states
Update = tuple[Probability, tuple[tuple[int, int], ...]]  # the assignments are variables with the nodes of their values


@dataclass(frozen=True, eq=False)
class RowsAtOnce:
    """For each entry of the matrix the place of its number, -1 where it was not asked for; and the numbers.

    ``actions`` are those of choices; ``deviation`` is the largest relative difference between a number and its double.
    """

    codes: list[int]
    numbers: list[Rational]
    actions: list[int]
    deviation: float


class _Unusual(Exception):
    """Something that has to be looked at state by state."""


def rows_at_once(
    lowered: Lowered,
    model: Model,
    states: Sequence[State],
    needed: Mask,
    probability_of: Callable[[int, tuple[int, ...]], Probability],
) -> RowsAtOnce | None:
    """The rows of the states that are needed; None where they have to be found one by one.

    ``probability_of`` gives the probability of some updates of a command together, which do the same.
    """
    try:
        return _Rows(lowered, model, states, needed, probability_of).found()
    except _Unusual:
        return None


class _Rows:
    def __init__(
        self,
        lowered: Lowered,
        model: Model,
        states: Sequence[State],
        needed: Mask,
        probability_of: Callable[[int, tuple[int, ...]], Probability],
    ) -> None:
        assert isinstance(model.states, PackedStates)
        self._lowered, self._model, self._states = lowered, model, states
        self._fields, words = model.states.fields, model.states.words
        self._insist(tuple(self._fields) == tuple(lowered.fields))
        self._index = _Index(words)
        self._where = np.flatnonzero(needed)
        self._words = words[self._where]
        self._updates: list[list[Update]] = [
            [(probability_of(number, update.places), update.assignments) for update in command.updates]
            for number, command in enumerate(lowered.commands)
        ]
        self._guards = [self._evaluated(command.guard) for command in lowered.commands]
        self._numbers: list[Rational] = [rational(1)]
        self._rows: list[Integers] = []
        self._targets: list[Integers] = []
        self._codes: list[Integers] = []
        groups = model.row_groups.astype(np.int64)
        self._first, self._last = groups[self._where], groups[self._where + 1]
        self._taken = np.zeros(len(self._where), dtype=np.int64)
        self._room = len(self._where) // _COST[0] + _COST[1]  # operations that are left
        self._actions = np.full(model.n_choices, NO_ACTION, dtype=np.int64)

    @staticmethod
    def _insist(usual: bool) -> None:
        if not usual:
            raise _Unusual

    def found(self) -> RowsAtOnce:
        for product in self._lowered.products:
            self._add_product(product)
        model, alone = self._model, self._taken == 0  # deadlocks
        self._insist(model.has_rates or model.has_choices or bool((self._taken <= 1).all()))
        self._insist(not model.has_choices or bool((np.maximum(self._taken, 1) == self._last - self._first).all()))
        self._add(self._first[alone], self._where[alone], np.zeros(int(alone.sum()), dtype=np.int64))
        codes = self._joined()
        return RowsAtOnce(codes.tolist(), self._numbers, self._actions.tolist(), self._deviation(codes))

    def _evaluated(self, node: int, some: Integers | None = None) -> Any:
        self._insist(possible(self._lowered.graph, node))
        words = self._words if some is None else self._words[some]
        return evaluate(self._lowered.graph, node, self._fields, words)

    def _add_product(self, product: Product) -> None:
        everywhere = np.arange(len(self._where), dtype=np.int64)
        for commands, some in self._enabled(product.factors[::-1], everywhere):
            rows = self._where[some]
            if self._model.has_choices:
                rows = self._first[some] + self._taken[some]
                self._insist(bool((rows < self._last[some]).all()))
            self._taken[some] += 1
            self._actions[rows] = product.action
            self._add_choice([self._updates[place] for place in commands], some, rows)

    def _enabled(self, factors: Sequence[Sequence[int]], some: Integers) -> Iterator[tuple[tuple[int, ...], Integers]]:
        """Commands, one of each factor, and those of some states where they are enabled together."""
        if not factors:
            yield (), some
            return
        for place in factors[0]:
            inside = some[self._guards[place][some]]
            if len(inside):
                for others, both in self._enabled(factors[1:], inside):
                    yield (place, *others), both

    def _add_choice(self, commands: Sequence[Sequence[Update]], some: Integers, rows: Integers) -> None:
        """Commands that move together, in some of the states."""
        values: dict[int, Any] = {}  # of nodes in these states
        fixed, varying = rational(0), [rational(0)] * len(some)
        for together in itertools.product(*commands):
            self._room -= 1
            self._insist(self._room > 0)
            likely = self._product([probability for probability, _ in together], some)
            if isinstance(likely, list):
                varying = [one + other for one, other in zip(varying, likely, strict=True)]
                self._insist(all(one >= 0 for one in likely))
                happens = np.array([bool(one) for one in likely], dtype=np.bool_)
                codes = len(self._numbers) + np.arange(len(likely), dtype=np.int64)
                self._numbers += likely
            else:
                self._insist(likely >= 0)
                if not likely:
                    continue
                fixed += likely
                happens = np.ones(len(some), dtype=np.bool_)
                codes = np.full(len(some), len(self._numbers), dtype=np.int64)
                self._numbers.append(likely)
            changes = [change for _, mine in together for change in mine]
            targets = self._moved(changes, some, values)[happens]
            self._insist(bool((targets >= 0).all()))
            self._add(rows[happens], targets, codes[happens])
        if not self._model.has_rates:  # or rows have to be divided by their sums
            self._insist(all(one + fixed == 1 for one in varying) if any(varying) else fixed == 1)

    def _moved(self, changes: Sequence[tuple[int, int]], some: Integers, values: dict[int, Any]) -> Integers:
        """Where some states come to by assignments; ``values`` are those of nodes there that are known already."""
        words, graph = self._words[some], self._lowered.graph
        cleared, fixed = [0] * words.shape[1], [0] * words.shape[1]  # bits that are the same in all of them
        for variable, node in changes:
            field = self._fields[variable]
            cleared[field.word] |= field.mask
            constant = graph.constant(node)
            if constant is not None:
                fixed[field.word] |= (int(constant) - field.low) << field.shift
        for word, bits in enumerate(cleared):
            if bits:
                words[:, word] = (words[:, word] & np.uint64(~bits & _ONES)) | np.uint64(fixed[word])
        for variable, node in changes:
            if graph.constant(node) is None:
                if node not in values:
                    values[node] = self._evaluated(node, some)
                field = self._fields[variable]
                codes = (np.asarray(values[node]).astype(np.int64) - field.low).astype(np.uint64)
                words[:, field.word] |= (codes << np.uint64(field.shift)) & np.uint64(field.mask)
        return self._index.find(words)

    def _product(self, parts: Sequence[Probability], some: Integers) -> Rational | list[Rational]:
        """The product of probabilities: a number, or one for each state."""
        fixed, found = rational(1), None
        for part in parts:
            if not callable(part):
                fixed = fixed * part
                continue
            each = [part(self._states[state]) for state in self._where[some].tolist()]
            found = each if found is None else [one * other for one, other in zip(found, each, strict=True)]
        return fixed if found is None else [fixed * one for one in found]

    def _add(self, rows: Integers, targets: Integers, codes: Integers) -> None:
        self._rows.append(rows)
        self._targets.append(targets)
        self._codes.append(codes)

    def _joined(self) -> Integers:
        """The code of each entry of the matrix; what leads to the same state is added up."""
        model, n = self._model, self._model.n_states
        rows, targets, codes = (np.concatenate(parts) for parts in (self._rows, self._targets, self._codes))
        keys = rows * n + targets
        order = np.argsort(keys, kind="stable")
        keys, codes = keys[order], codes[order]
        new = np.ones(len(keys), dtype=np.bool_)
        new[1:] = keys[1:] != keys[:-1]
        begins = np.append(np.flatnonzero(new), len(keys))
        joined = codes[begins[:-1]]
        sums: dict[tuple[int, ...], int] = {}
        for place in np.flatnonzero(np.diff(begins) > 1).tolist():
            parts = tuple(sorted(codes[begins[place] : begins[place + 1]].tolist()))
            if parts not in sums:
                sums[parts] = len(self._numbers)
                self._numbers.append(sum((self._numbers[part] for part in parts), rational(0)))
            joined[place] = sums[parts]
        entry_rows = np.repeat(np.arange(model.n_choices, dtype=np.int64), np.diff(model.row_starts))
        known = np.zeros(model.n_choices, dtype=np.bool_)
        known[rows] = True
        wanted = np.flatnonzero(known[entry_rows])
        expected = entry_rows[wanted] * n + model.columns[wanted]
        self._insist(np.array_equal(expected, keys[new]))
        found = np.full(model.n_transitions, -1, dtype=np.int64)
        found[wanted] = joined
        return found

    def _deviation(self, codes: Integers) -> float:
        values, known = self._model.values.array(), codes >= 0
        pairs = np.unique(np.stack([codes[known].astype(np.float64), values[known]]), axis=1)
        most = 0.0
        for code, double in pairs.T.tolist():
            most = max(most, abs(float(self._numbers[int(code)]) - double) / double)
        return most


class _Index:
    """From packed states to their numbers; states are in ascending order."""

    def __init__(self, words: Words) -> None:
        self._keys = self._sortable(words)
        if not bool((self._keys[1:] > self._keys[:-1]).all()):
            raise _Unusual

    @staticmethod
    def _sortable(words: Words) -> Any:
        if words.shape[1] == 1:
            return np.ascontiguousarray(words[:, 0])
        big = np.ascontiguousarray(words.astype(">u8"))
        return big.view(f"S{8 * words.shape[1]}")[:, 0]

    def find(self, words: Words) -> Integers:
        """The numbers of some states, -1 for those that are not there."""
        keys = self._sortable(words)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, place, -1).astype(np.int64)
