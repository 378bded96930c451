"""All transitions of a program at once, with rates that are polynomials in the parameters.

The core looks for the states; guards, targets and coefficients are then evaluated for all of them together, a
combination of commands at a time, and what comes out is collected by row, column and monomial. No other matrix is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from ..backend.failures import SemanticError
from ..explore.discovery import StateSpace, discover
from ..explore.evaluate import evaluate_states
from ..lang import GaltonError
from ..lang.evaluation import EvaluationError, evaluate_state, fold
from ..lang.expressions import Binary, Expression, Literal, Name
from ..lang.program import Program, RewardItem, Update
from ..lang.resolution import parts
from ..lower import vectorised
from ..lower.expression_graph import Graph
from ..lower.lowering import ExpressionLowering, LoweredCommand, LoweredUpdate
from ..model.sparse import Mask
from ..model.states import Field, PackedStates, State
from .parameters import OpenProgram
from .polynomials import Decomposition, Exponents, Floats, Terms

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]

__all__ = ["Collected", "Int32s", "Ints", "Multiples", "Transitions", "explored", "group_starts"]


@dataclass(frozen=True, eq=False)
class Multiples:
    """Numbers of the form ``coefficients[i] * terms[i]``, per state or per transition; no coefficient is negative."""

    terms: Int32s
    coefficients: Floats

    def bounds(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """``(numbers, boxes)`` their ranges, from those of the terms."""
        c = self.coefficients[:, None]
        return c * lower[self.terms], c * upper[self.terms]


@dataclass(eq=False)
class Collected:
    """Numbers for pairs of a row and a column, as monomials; those with the same place and monomial are added up."""

    rows: list[Ints]
    columns: list[Ints]
    monomials: list[Ints]
    values: list[Floats]

    @classmethod
    def empty(cls) -> Collected:
        return cls([], [], [], [])

    def add(self, rows: Ints, columns: Ints, monomial: int, values: Floats) -> None:
        there = values != 0
        self.rows.append(rows[there])
        self.columns.append(columns[there])
        self.monomials.append(np.full(int(there.sum()), monomial, dtype=np.int64))
        self.values.append(values[there])

    def __add__(self, other: Collected) -> Collected:
        return Collected(
            self.rows + other.rows,
            self.columns + other.columns,
            self.monomials + other.monomials,
            self.values + other.values,
        )

    def merged(self) -> tuple[Ints, Ints, Ints, Floats]:
        """Rows, columns, monomials and values, sorted in this order."""
        parts = [self.rows, self.columns, self.monomials]
        rows, columns, monomials = (np.concatenate(part) if part else np.empty(0, dtype=np.int64) for part in parts)
        values = np.concatenate(self.values) if self.values else np.empty(0)
        order = np.lexsort((monomials, columns, rows))
        rows, columns, monomials, values = rows[order], columns[order], monomials[order], values[order]
        if not len(rows):
            return rows, columns, monomials, values
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0) | (np.diff(monomials) != 0)
        first = np.flatnonzero(new)
        values = np.add.reduceat(values, first)
        there = values != 0
        first = first[there]
        return rows[first], columns[first], monomials[first], values[there]


class TermTable:
    """Distinct polynomials, up to a factor, by number."""

    def __init__(self, parameters: int):
        self.monomials: dict[Exponents, int] = {(0,) * parameters: 0}
        self._terms: dict[tuple[tuple[int, ...], tuple[float, ...]], int] = {((0,), (1.0,)): 0}

    def monomial(self, exponents: Exponents) -> int:
        return self.monomials.setdefault(exponents, len(self.monomials))

    def multiples(self, starts: Ints, monomials: Ints, values: Floats) -> Multiples:
        """The sums of ``values * monomials`` between successive starts as multiples of terms."""
        count = len(starts) - 1
        terms, coefficients = np.zeros(count, dtype=np.int32), np.zeros(count)
        length = np.diff(starts)
        single = np.flatnonzero(length == 1)
        for sign in (1.0, -1.0):  # coefficients are positive: what is negative is so because of its term
            mine = single[values[starts[single]] * sign > 0]
            monomial = monomials[starts[mine]]
            for m in np.unique(monomial).tolist():
                terms[mine[monomial == m]] = self._term((m,), (sign,))
            coefficients[mine] = np.abs(values[starts[mine]])
        for place in np.flatnonzero(length > 1):
            part = slice(starts[place], starts[place + 1])
            scale = float(np.abs(values[part]).max())
            terms[place] = self._term(tuple(monomials[part].tolist()), tuple((values[part] / scale).tolist()))
            coefficients[place] = scale
        return Multiples(terms, coefficients)

    def _term(self, monomials: tuple[int, ...], coefficients: tuple[float, ...]) -> int:
        return self._terms.setdefault((monomials, coefficients), len(self._terms))

    def terms(self) -> Terms:
        lengths = [len(monomials) for monomials, _ in self._terms]
        return Terms(
            np.array(list(self.monomials), dtype=np.int32).reshape(len(self.monomials), -1),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.array([m for monomials, _ in self._terms for m in monomials], dtype=np.int32),
            np.array([c for _, coefficients in self._terms for c in coefficients]),
        )


class States:
    """Expressions over the states of a model."""

    def __init__(self, program: Program, fields: Sequence[Field], words: npt.NDArray[np.uint64]):
        self.program, self.fields, self.words = program, fields, words
        self._lowering = ExpressionLowering(program, [field.name for field in fields if field.bits == 0])

    def values(self, expression: Expression, rows: Ints) -> npt.NDArray[np.generic]:
        """The value of an expression in some states."""
        return self.node_values(self._lowering.graph, self._lowering.node(expression), expression, rows)

    def node_values(self, graph: Graph, node: int, expression: Expression, rows: Ints) -> npt.NDArray[np.generic]:
        """The value, in some states, of an expression that is a node of a graph already."""
        if vectorised.possible(graph, node):
            found: npt.NDArray[np.generic] = vectorised.evaluate(graph, node, self.fields, self.words[rows])
            return found
        # Powers, logarithms, and what has no value in some states: one at a time, by the rules of the language, but
        # once for all states that differ only in variables that are not mentioned.
        words, same = self._mentioned(expression, rows)
        folded = fold(expression, self.program.constants)
        values = []
        for number, state in enumerate(PackedStates(tuple(self.fields), words)):
            try:
                values.append(evaluate_state(folded, state))
            except EvaluationError as error:
                first = self.state(int(rows[np.argmax(same == number)]))
                raise SemanticError(f"{error}, in state {first}", self.program.source, expression.span) from None
        return np.array(values)[same]

    def state(self, row: int) -> State:
        """The state with a number."""
        return PackedStates(tuple(self.fields), self.words[row : row + 1])[0]

    def _mentioned(self, expression: Expression, rows: Ints) -> tuple[npt.NDArray[np.uint64], Ints]:
        """The distinct values of the variables of an expression, as packed states, and which of them each state has."""
        names = {part.name for part in parts(expression) if isinstance(part, Name)}
        mask = np.zeros(self.words.shape[1], dtype=np.uint64)
        for field in self.fields:
            if field.name in names:
                mask[field.word] |= np.uint64(field.mask)
        distinct, same = np.unique(self.words[rows] & mask, axis=0, return_inverse=True)
        return np.ascontiguousarray(distinct), same.reshape(-1)

    def targets(self, rows: Ints, assigned: Iterable[tuple[int, npt.NDArray[np.generic]]]) -> Ints:
        """The states that some states become."""
        words = self.words[rows]
        for variable, values in assigned:
            field = self.fields[variable]
            codes = (values.astype(np.int64) - field.low).astype(np.uint64) << np.uint64(field.shift)
            words[:, field.word] = (words[:, field.word] & np.uint64(~field.mask & (2**64 - 1))) | codes
        return _search(self.words, words)


def _search(sorted_words: npt.NDArray[np.uint64], wanted: npt.NDArray[np.uint64]) -> Ints:
    """Where each wanted row is among rows that ascend."""
    if sorted_words.shape[1] == 1:
        found = np.searchsorted(sorted_words[:, 0], wanted[:, 0])
    else:
        both = np.concatenate([sorted_words, wanted])
        _, number = np.unique(both, axis=0, return_inverse=True)
        found = number.reshape(-1)[len(sorted_words) :]
    if not (found < len(sorted_words)).all() or not (sorted_words[found] == wanted).all():
        raise GaltonError(
            "a transition has rate 0 at one point within the ranges of the parameters and not at others; make the "
            "ranges smaller"
        )
    return found


def group_starts(rows: Ints, columns: Ints) -> Ints:
    if not len(rows):
        return np.zeros(1, dtype=np.int64)
    new = np.flatnonzero((np.diff(rows) != 0) | (np.diff(columns) != 0)) + 1
    return np.concatenate([[0], new, [len(rows)]]).astype(np.int64)


def explored(opened: OpenProgram, threads: int | None, *, choices: bool) -> Transitions:
    """The states of a program, found at one point inside the ranges, and all transitions between them."""
    space = discover(opened.program, threads=threads)
    if len(space.initial_words) != 1:
        raise GaltonError(f"synthesis is about one initial state, and this model has {len(space.initial_words):,}")
    found = Transitions(opened, space, choices=choices)
    found.collect()
    return found


class Transitions:
    """All that commands do when they move together, for all states at once: rates and rewards, as polynomials.

    Rows are states or, with ``choices``, the combinations of commands that are enabled in each state.
    """

    def __init__(self, opened: OpenProgram, space: StateSpace, *, choices: bool) -> None:
        self._decomposition: Decomposition = opened.decomposition
        self._program, self._space, self._lowered = opened.program, space, space.lowered
        self._states = States(opened.program, space.states.fields, space.states.words)
        self._left = np.zeros(self.n_states, dtype=bool)  # states with a transition, be it a loop
        self.table = TermTable(len(opened.parameters))
        self.transitions = Collected.empty()
        structures = opened.program.rewards
        self._items = [(number, item) for number, structure in enumerate(structures) for item in structure.items]
        self.of_states = [Collected.empty() for _ in structures]
        self.of_transitions = [Collected.empty() for _ in structures]
        self._choices = choices
        self.choice_states: list[Ints] = []
        self.n_choices = 0
        # Numbers that may be negative by themselves, whatever they are added to.
        self.rate_parts: list[Multiples] = []
        self.reward_parts: list[Multiples] = []
        self._may_be_negative = any(parameter.low < 0 for parameter in opened.parameters)

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return len(self._space.states)

    @property
    def packed(self) -> PackedStates:
        """The states, in canonical order."""
        return self._space.states

    @property
    def initial(self) -> Int32s:
        """The number of the initial state."""
        return self._space.initial

    @property
    def reward_names(self) -> list[str]:
        """One for each reward structure."""
        return self._program.reward_names

    @property
    def labels(self) -> dict[str, Mask]:
        """Where the labels of the program hold, and the two that every model has."""
        program = self._program
        masks = evaluate_states(program, self._space, list(program.labels.values()), program.source)
        initial = np.zeros(self.n_states, dtype=bool)
        initial[self.initial] = True
        return {"init": initial, "deadlock": ~self._left, **dict(zip(program.labels, masks, strict=True))}

    def collect(self) -> None:
        """Go through all commands and rewards."""
        everywhere = np.arange(len(self._states.words), dtype=np.int64)
        for product in self._lowered.products:
            action = self._lowered.actions[product.action]
            for chosen, rows in self._enabled(product.factors, everywhere):
                self._updates(chosen, rows, self._owners(rows), action)
        for number, item in self._items:
            if not item.transition:
                rows = everywhere[self._holds(item.guard, everywhere)]
                self._earn(self.of_states[number], rows, self._numbers(item.value, rows))

    def matrix(self) -> tuple[Ints, Ints, Multiples]:
        """Rows and columns of the transitions, sorted, and their rates."""
        rows, columns, monomials, values = self.transitions.merged()
        starts = group_starts(rows, columns)
        return rows[starts[:-1]], columns[starts[:-1]], self.table.multiples(starts, monomials, values)

    def earned(self, collected: Collected, count: int) -> Multiples:
        """What each of ``count`` rows earns; nothing where nothing was collected."""
        rows, _, monomials, values = collected.merged()
        starts = group_starts(rows, np.zeros_like(rows))
        found = self.table.multiples(starts, monomials, values)
        terms, coefficients = np.zeros(count, dtype=np.int32), np.zeros(count)
        place = rows[starts[:-1]]
        terms[place], coefficients[place] = found.terms, found.coefficients
        return Multiples(terms, coefficients)

    def _enabled(
        self, factors: Sequence[tuple[int, ...]], rows: Ints
    ) -> Iterator[tuple[tuple[LoweredCommand, ...], Ints]]:
        """One command of each factor, and the states where all of them are enabled."""
        if not len(rows):
            return
        if not factors:
            yield (), rows
            return
        for index in factors[0]:
            command = self._lowered.commands[index]
            guard = self._states.node_values(self._lowered.graph, command.guard, command.source.guard, rows)
            for others, there in self._enabled(factors[1:], rows[guard.astype(bool)]):
                yield (command, *others), there

    def _owners(self, rows: Ints) -> Ints:
        """The rows of the matrix that belong to a combination of commands in these states."""
        if not self._choices:
            return rows
        self.choice_states.append(rows)
        self.n_choices += len(rows)
        return np.arange(self.n_choices - len(rows), self.n_choices, dtype=np.int64)

    def _updates(self, chosen: Sequence[LoweredCommand], rows: Ints, owners: Ints, action: str) -> None:
        """All combinations of the updates of commands that move together."""

        def combine(
            rest: Sequence[LoweredCommand], rates: dict[Exponents, Floats], assigned: list[tuple[LoweredUpdate, Update]]
        ) -> None:
            if rest:
                command = rest[0]
                for update in command.updates:
                    sources = [command.source.updates[place] for place in update.places]
                    chances = [source.probability or Literal(1.0) for source in sources]
                    own = self._numbers(reduce(lambda a, b: Binary("+", a, b, span=a.span), chances), rows)
                    combine(rest[1:], _times(rates, own), [*assigned, (update, sources[0])])
            else:
                self._transition(rows, owners, rates, assigned, action)

        combine(chosen, {(0,) * len(self._decomposition.parameters): np.ones(len(rows))}, [])

    def _transition(
        self,
        rows: Ints,
        owners: Ints,
        rates: dict[Exponents, Floats],
        assigned: list[tuple[LoweredUpdate, Update]],
        action: str,
    ) -> None:
        there = np.any([values != 0 for values in rates.values()], axis=0)
        rows, owners, rates = rows[there], owners[there], {m: values[there] for m, values in rates.items()}
        if not len(rows):
            return
        self._left[rows] = True
        self._note(self.rate_parts, rates)
        for number, item in self._items:
            if item.transition and (item.action or "") == action:
                self._transition_reward(number, item, rows, owners, rates)
        values = [
            (variable, self._states.node_values(self._lowered.graph, node, assignment.value, rows))
            for update, source in assigned
            for (variable, node), assignment in zip(update.assignments, source.assignments, strict=True)
        ]
        targets = self._states.targets(rows, values)
        # In continuous time a loop changes nothing.
        matters = np.ones(len(rows), dtype=bool) if self._choices else targets != rows
        for exponents, rate in rates.items():
            self.transitions.add(owners[matters], targets[matters], self.table.monomial(exponents), rate[matters])

    def _transition_reward(
        self, number: int, item: RewardItem, rows: Ints, owners: Ints, rates: dict[Exponents, Floats]
    ) -> None:
        earns = self._holds(item.guard, rows)
        if earns.any():
            part = {m: values[earns] for m, values in rates.items()}
            earned = _times(part, self._numbers(item.value, rows[earns]))
            self._earn(self.of_transitions[number], owners[earns], earned)

    def _note(self, noted: list[Multiples], values: dict[Exponents, Floats]) -> None:
        """Keep numbers in which something is subtracted, to have their signs looked at."""
        if not self._may_be_negative and all((own >= 0).all() for own in values.values()):
            return
        alone = Collected.empty()
        for exponents, own in values.items():
            place = np.arange(len(own), dtype=np.int64)
            alone.add(place, place, self.table.monomial(exponents), own)
        rows, columns, monomials, merged = alone.merged()
        noted.append(self.table.multiples(group_starts(rows, columns), monomials, merged))

    def _earn(self, collected: Collected, rows: Ints, values: dict[Exponents, Floats]) -> None:
        self._note(self.reward_parts, values)
        for exponents, earned in values.items():
            collected.add(rows, np.zeros_like(rows), self.table.monomial(exponents), earned)

    def _holds(self, condition: Expression, rows: Ints) -> npt.NDArray[np.bool_]:
        return self._states.values(condition, rows).astype(bool)

    def _numbers(self, expression: Expression, rows: Ints) -> dict[Exponents, Floats]:
        """The monomials of an expression with their coefficients in some states."""
        found = {}
        for exponents, coefficient in self._decomposition.polynomial(expression).items():
            values = self._states.values(coefficient, rows).astype(np.float64)
            wrong = np.flatnonzero(~np.isfinite(values))
            if len(wrong):
                message = f"this is {values[wrong[0]]:g}, in state {self._states.state(int(rows[wrong[0]]))}"
                raise SemanticError(message, self._decomposition.source, expression.span, "it must be finite")
            found[exponents] = values
        return found


def _times(left: dict[Exponents, Floats], right: dict[Exponents, Floats]) -> dict[Exponents, Floats]:
    result: dict[Exponents, Floats] = {}
    for m, a in left.items():
        for n, b in right.items():
            both = tuple(i + j for i, j in zip(m, n, strict=True))
            result[both] = result[both] + a * b if both in result else a * b
    return result
