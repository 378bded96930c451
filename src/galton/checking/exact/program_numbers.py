"""The numbers of a program's model, as the text has them: rows are evaluated state by state, in rationals.

States and their order are those that exploration found, in doubles. Where a guard, an assignment or a probability that
is zero or not come out otherwise in rationals, the graph would be another one: that is an error with the state.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ...lang.expressions import Expression, Type
from ...lang.program import Command, Program
from ...lang.source import GaltonError
from ...lower.lowering import Lowered, Product, lower
from ...model.sparse import Mask, Model
from ...model.states import PackedStates
from ...model.values import Floats
from .expressions import Compiler, Exactly, Function, State, is_whole
from .model import divided
from .numbers import Rational, rational
from .rows_at_once import Probability, RowsAtOnce, rows_at_once

__all__ = ["NumbersOfProgram", "OtherGraphError", "numbers_of"]

Targets = dict[int, Rational]
Items = dict[tuple[str, int], list[tuple[Function, Function]]]  # by structure and action, -1 for states: guards, values
_Branch = tuple[Rational, list[tuple[int, int]]]  # the probability of an update, and the new values of variables


class OtherGraphError(GaltonError):
    """A model whose transitions are others in rationals than in doubles."""

    kind = "unsupported"


@dataclass(frozen=True)
class _Update:
    probability: Probability
    assignments: tuple[tuple[int, Function], ...]


@dataclass(frozen=True)
class _Command:
    guard: Function
    updates: tuple[_Update, ...]


@dataclass
class _Row:
    """A choice: its action, where it leads to, and the action rewards of its parts with their weights."""

    action: int
    targets: Targets
    earned: dict[str, Rational]


class NumbersOfProgram:
    """Rows and rewards of the model of a program, found when they are asked for.

    Parameters
    ----------
    program, model
        The program, and the model that was built from it; the rows of some states may have been left out.
    constants
        The exact values of the constants.
    """

    def __init__(self, program: Program, model: Model, constants: Mapping[str, Exactly]) -> None:
        assert isinstance(model.states, PackedStates)
        self.deviation, self.warning = 0.0, ""
        self._zero = rational(0)
        self.modules = program.modules
        self._model, self._nature = model, model.nature
        lowered = lower(program)
        types: dict[str, Type] = {variable.name: variable.type for variable in program.variables}
        self._compiler = Compiler(program.source, types, constants, program.labels)
        columns = [model.states.column(name).astype(int).tolist() for name in types]
        self._states: list[State] = list(zip(*columns, strict=True)) if columns else [()] * model.n_states
        self._number = {state: place for place, state in enumerate(self._states)}
        self._lowered = lowered
        self._variable = {name: place for place, name in enumerate(types)}
        self._commands = [self._command(command.source) for command in lowered.commands]
        self._items = self._reward_items(program, lowered)
        self._with_actions = {structure for structure, action in self._items if action >= 0}
        self._values: dict[int, list[Rational]] = {}
        self._choice_rewards: dict[tuple[str, int], Rational] = {}
        # Lists, because they are looked at one by one.
        self._groups: list[int] = model.row_groups.tolist()
        self._starts: list[int] = model.row_starts.tolist()
        self._columns: list[int] = model.columns.tolist()
        self._doubles: list[float] = model.values.array().tolist()
        self._rows: dict[tuple[float, ...], list[tuple[list[Rational], list[Rational]]]] = {}
        self._left_out = list(self._never_enabled(program, lowered))
        self._whole = self._is_whole(program)
        self._at_once: RowsAtOnce | None = None
        self._varies = any(callable(update.probability) for command in self._commands for update in command.updates)

    def require(self, states: Mask, *, lazily: bool = True) -> None:
        """Find the rows of some states; raise an error where the graph is another one there in rationals.

        Rows of which that is known not to be so may be left for later, ``lazily``, unless some were left out of the
        model.
        """
        for state in states.nonzero()[0].tolist() if self._left_out else ():
            if any(guard(self._states[state]) for guard in self._left_out):
                raise self._other_graph(state)
        missing = np.array([first not in self._values for first in self._groups[:-1]]) & states
        if self._at_once is not None:
            missing &= np.array(self._at_once.codes)[np.array(self._starts)[self._groups[:-1]]] < 0
        if self._at_once is None and self._whole:
            self._at_once = rows_at_once(self._lowered, self._model, self._states, missing, self._probability_of)
            if self._at_once is not None:
                self.deviation = max(self.deviation, self._at_once.deviation)
                return
        if not (lazily and self._whole and not self._varies):
            for state in missing.nonzero()[0].tolist():
                self._load(state)

    # What the others ask for.

    def row(self, choice: int) -> list[Rational]:
        """The probabilities or rates of a choice, in the order of its entries."""
        begin = self._starts[choice]
        if self._at_once is not None and self._at_once.codes[begin] >= 0:
            numbers = self._at_once.numbers
            return [numbers[code] for code in self._at_once.codes[begin : self._starts[choice + 1]]]
        if choice not in self._values:
            self._load(self._owner(choice))
        return self._values[choice]

    def state_reward(self, structure: str, state: int) -> Rational:
        """What a state earns."""
        earned = self._earned(structure, -1, self._states[state])
        self._compare(earned, self._model.rewards[structure].state, state)
        return earned

    def choice_reward(self, structure: str, choice: int) -> Rational:
        """What a choice earns, on top of its state."""
        if structure not in self._with_actions:
            return self._zero
        at_once = self._at_once
        if at_once is not None and at_once.codes[self._starts[choice]] >= 0 and not self._nature.has_rates:
            earned = self._earned(structure, at_once.actions[choice], self._states[self._owner(choice)])
        else:
            if choice not in self._values:
                self._load(self._owner(choice))
            earned = self._choice_rewards.get((structure, choice), self._zero)
        self._compare(earned, self._model.rewards[structure].choice, choice)
        return earned

    def _compare(self, value: Rational, doubles: Floats | None, place: int) -> None:
        """Note how far a number is from its double."""
        double = 0.0 if doubles is None or not doubles.size else float(doubles[place])
        if value or double:
            apart = abs(float(value) - double) / abs(double) if double else 1.0
            self.deviation = max(self.deviation, apart)

    # Compiling.

    def _command(self, command: Command) -> _Command:
        function = self._compiler.function
        updates = []
        for update in command.updates:
            assignments = tuple((self._variable[a.variable], function(a.value)) for a in update.assignments)
            updates.append(_Update(self._probability(update.probability), assignments))
        return _Command(function(command.guard), tuple(updates))

    def _probability(self, expression: Expression | None) -> Probability:
        if expression is None:
            return rational(1)
        function = self._compiler.function(expression)
        if self._compiler.constant(expression) is None:
            return function
        value = function(())
        return rational(value) if isinstance(value, int) else value

    def _reward_items(self, program: Program, lowered: Lowered) -> Items:
        number = {name: place for place, name in enumerate(lowered.actions)}
        function = self._compiler.function
        found: Items = {}
        for name, structure in zip(program.reward_names, program.rewards, strict=True):
            for item in structure.items:
                action = -1
                if item.transition:
                    action = number.get(item.action, len(number)) if item.action else 0
                found.setdefault((name, action), []).append((function(item.guard), function(item.value)))
        return found

    def _is_whole(self, program: Program) -> bool:
        """Whether integers decide about the graph, but for which probabilities are zero."""

        def whole(expression: Expression) -> bool:
            return is_whole(expression, program.constants, program.labels)

        sources = [command.source for command in self._lowered.commands]
        assignments = (a.value for source in sources for update in source.updates for a in update.assignments)
        return all(whole(source.guard) for source in sources) and all(map(whole, assignments))

    def _probability_of(self, command: int, places: tuple[int, ...]) -> Probability:
        """The probability of some updates of a command together."""
        parts = [self._commands[command].updates[place].probability for place in places]
        if len(parts) == 1:
            part = parts[0]
            return (lambda s: part(s) + self._zero) if callable(part) else part
        return sum((part for part in parts if not callable(part)), self._zero)  # they are constants

    def _never_enabled(self, program: Program, lowered: Lowered) -> Iterator[Function]:
        """The guards of commands that lowering dropped because of how doubles compare."""
        kept = {id(command.source) for command in lowered.commands}
        for module in program.modules:
            for command in module.commands:
                if id(command) not in kept and not is_whole(command.guard, program.constants, program.labels):
                    yield self._compiler.function(command.guard)

    # Rows.

    def _owner(self, choice: int) -> int:
        if not self._nature.has_choices:
            return choice
        return bisect_right(self._groups, choice) - 1

    def _load(self, number: int) -> None:
        state = self._states[number]
        rows = [row for product in self._lowered.products for row in self._moves(product, state, number)]
        if not rows:
            rows = [_Row(0, {number: rational(1)}, {})]
        elif not self._nature.has_choices:
            rows = [self._merged(rows)]
        first, last = self._groups[number], self._groups[number + 1]
        if last - first != len(rows):
            raise self._other_graph(number)
        for choice, row in zip(range(first, last), rows, strict=True):
            begin, end = self._starts[choice], self._starts[choice + 1]
            columns = self._columns[begin:end]
            targets = row.targets
            if len(targets) != end - begin or not all(target in targets for target in columns):
                raise self._other_graph(number)
            values = [targets[target] for target in columns]
            self._values[choice] = self._finished(values, tuple(self._doubles[begin:end]), number)
            for name, earned in row.earned.items():
                self._choice_rewards[name, choice] = earned

    def _finished(self, values: list[Rational], doubles: tuple[float, ...], state: int) -> list[Rational]:
        """The numbers of a row, divided by their sum where they are probabilities; many rows have the same."""
        alike = self._rows.setdefault(doubles, [])
        for known, row in alike:
            if known == values:
                return row
        row = values
        if not self._nature.has_rates:
            self._note_sum(values, state)
            row = divided(values)
        apart = max(abs(float(value) - double) / double for value, double in zip(row, doubles, strict=True))
        self.deviation = max(self.deviation, apart)
        alike.append((values, row))
        return row

    def _moves(self, product: Product, state: State, number: int) -> Iterator[_Row]:
        """The choices of a product: one enabled command of each factor, that of the first factor varying fastest."""
        enabled: list[list[list[_Branch]]] = []
        for factor in product.factors:
            commands = [self._commands[place] for place in factor if self._commands[place].guard(state)]
            if not commands:
                return
            enabled.append([self._branches(command, state, number) for command in commands])
        earned: dict[str, Rational] | None = None
        for backwards in itertools.product(*reversed(enabled)):
            targets = self._targets(backwards, state, number)
            if targets:  # or all rates are 0
                if earned is None:
                    earned = self._earned_by(product.action, state)
                yield _Row(product.action, targets, earned)

    def _branches(self, command: _Command, state: State, number: int) -> list[_Branch]:
        """The updates of a command that may happen: how likely each is, and the new values of variables."""
        found = []
        for update in command.updates:
            value = update.probability
            if callable(value):
                value = value(state)
                value = rational(value) if isinstance(value, int) else value
            if value < 0:
                raise self._other_graph(number)
            if value:
                changes = [(variable, int(function(state))) for variable, function in update.assignments]
                found.append((value, changes))
        return found

    def _targets(self, together: Sequence[list[_Branch]], state: State, number: int) -> Targets:
        """Where commands lead that move together, one update of each."""
        partly: dict[State, Rational] = {state: rational(1)}
        for branches in together:
            after: dict[State, Rational] = {}
            for before, weight in partly.items():
                for probability, changes in branches:
                    changed = list(before)
                    for variable, value in changes:
                        changed[variable] = value
                    place = tuple(changed)
                    likely = probability if len(together) == 1 else weight * probability
                    after[place] = after[place] + likely if place in after else likely
            partly = after
        try:
            return {self._number[place]: weight for place, weight in partly.items()}
        except KeyError:
            raise self._other_graph(number) from None

    def _merged(self, rows: list[_Row]) -> _Row:
        """All choices of a chain as one: rates are added up, and of probabilities each choice gets the same share."""
        has_rates = self._nature.has_rates
        if len(rows) == 1 and not has_rates:
            return rows[0]
        share = rational(1) if has_rates else rational(1, len(rows))
        targets: Targets = {}
        earned: dict[str, Rational] = {}
        for row in rows:
            rate = sum(row.targets.values(), self._zero) if has_rates else rational(1)
            for target, value in row.targets.items():
                targets[target] = targets.get(target, self._zero) + share * value
            for name, each in row.earned.items():
                earned[name] = earned.get(name, self._zero) + share * rate * each
        return _Row(0, targets, earned)

    def _earned_by(self, action: int, state: State) -> dict[str, Rational]:
        return {name: self._earned(name, action, state) for name, which in self._items if which == action}

    def _earned(self, structure: str, action: int, state: State) -> Rational:
        total = self._zero
        for guard, value in self._items.get((structure, action), ()):
            if guard(state):
                total = total + value(state)
        return total

    def _note_sum(self, values: list[Rational], state: int) -> None:
        total = sum(values[1:], values[0])
        if total != 1 and not self.warning:
            self.warning = (
                f"the probabilities of state {self._model.states[state]!r} sum to {float(total)!r}, not 1; "  # type: ignore[index]
                "they are divided by their exact sum"
            )

    def _other_graph(self, state: int) -> OtherGraphError:
        shown = self._model.states[state]  # type: ignore[index]
        return OtherGraphError(
            f"in state {shown!r} the model has other transitions in exact numbers than in doubles, which it was "
            "explored with: a guard, an update or a probability depends on how doubles round. Write it with integers, "
            "or ask without --exact"
        )


_last: WeakKeyDictionary[Model, NumbersOfProgram] = WeakKeyDictionary()


def numbers_of(program: Program, model: Model, constants: Mapping[str, Exactly]) -> NumbersOfProgram:
    """The numbers of the model of a program; those that were found for another property of it are kept."""
    found = _last.get(model)
    if found is None or found.modules is not program.modules:
        found = _last[model] = NumbersOfProgram(program, model, constants)
    return found
