"""Explore breadth first, a state at a time, with a dictionary of states and exact fractions.

Probabilities, rates and rewards are doubles where an expression of the program gives them; they are multiplied and
added as fractions, and each number of the model is rounded once. For small models: nothing is shared out to threads,
and memory is not watched.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...lang.source import GaltonError
from ...lower.lowering import Lowered, Product
from ...model.rounding import UNIT
from ...model.sparse import Model, Rewards
from ...model.states import PackedStates
from ...model.validation import SUM_TOLERANCE, off_warning
from ...model.values import Floats, Values
from ..failures import Fault, explain
from ..limits import Limits
from ..protocol import Watch
from .expressions import Undefined, Valuation

__all__ = ["explore"]

LARGEST = sys.float_info.max
OFF_BY_MORE_THAN_ROUNDING = 1e-12  # from here on somebody is told that probabilities do not sum to 1

State = tuple[int, ...]  # the values of the variables, 0 and 1 for truth values
Distribution = dict[State, Fraction]


@dataclass(frozen=True)
class Branch:
    """An update that may happen: how likely it is, and the new values of the variables that it assigns."""

    probability: Fraction
    values: Mapping[int, int]


@dataclass(frozen=True)
class Choice:
    """What can happen in a state: an action, where it leads to, and what it earns in each reward structure.

    ``by_target`` has the rewards of single transitions. ``command`` is the one to blame where numbers are too large.
    """

    action: int
    command: int
    targets: Distribution
    earned: tuple[Fraction, ...]
    by_target: tuple[Distribution, ...]


@dataclass(frozen=True)
class Row:
    """All about a state."""

    choices: tuple[Choice, ...]
    deadlock: bool
    labels: tuple[bool, ...]
    earned: tuple[Fraction, ...]  # by being there, in each reward structure


def explore(
    lowered: Lowered,
    *,
    threads: int,
    limits: Limits,
    transition_rewards: bool = False,
    watch: Watch | None = None,
) -> Model:
    """All reachable states of a lowered program, in canonical order, and their rows."""
    start = time.perf_counter()
    meaning = Meaning(lowered, limits)
    initial = list(dict.fromkeys(map(meaning.represented, meaning.initial_states())))
    rows: dict[State, Row] = {}
    found, pending, transitions = set(initial), deque(initial), 0
    while pending:
        state = pending.popleft()
        rows[state] = meaning.row(state)
        for choice in rows[state].choices:
            new = choice.targets.keys() - found
            found |= new
            pending += sorted(new)
            transitions += len(choice.targets)
        if len(found) > limits.max_states:
            raise meaning.failure(Fault.TOO_MANY_STATES)
        if watch is not None:
            watch(len(found), transitions, len(rows))
    keeps_transitions = transition_rewards and not lowered.program.nature.has_choices
    return _model(lowered, dict(sorted(rows.items())), sorted(initial), keeps_transitions, start)


class Meaning:
    """What a lowered program says about a state."""

    def __init__(self, lowered: Lowered, limits: Limits) -> None:
        self.lowered, self.limits = lowered, limits
        self.nature = lowered.program.nature

    def failure(self, fault: Fault, state: State | None = None, **where: float) -> GaltonError:
        """The error to raise; ``where`` are the numbers of the command, update, assignment or node, and a value."""
        words = [] if state is None else packed(self.lowered, state)
        found = {"command": -1, "update": -1, "assignment": -1, "node": -1, "value": 0.0, **where}
        return explain({"fault": fault, "state": words, **found}, self.lowered, self.limits)

    def represented(self, state: State) -> State:
        """The state that stands for this one."""
        return state if self.lowered.orbits is None else self.lowered.orbits.representative(state)

    def initial_states(self) -> list[State]:
        """The state that the declarations give, or all that ``init … endinit`` allows."""
        if self.lowered.initial is None:
            return [tuple(int(variable.initial) for variable in self.lowered.program.variables)]
        ranges = (range(low, high + 1) for low, high in self.lowered.initial_ranges)
        found = [state for state in itertools.product(*ranges) if self._is_initial(state)]
        if not found:
            raise self.failure(Fault.NO_INITIAL_STATE)
        return found

    def _is_initial(self, state: State) -> bool:
        assert self.lowered.initial is not None
        try:
            return bool(Valuation(self.lowered.graph, state)[self.lowered.initial])
        except Undefined as undefined:
            raise self.failure(Fault.UNDEFINED, state, node=undefined.node) from None

    def row(self, state: State) -> Row:
        """Everything about a state."""
        lowered, at = self.lowered, Valuation(self.lowered.graph, state)
        try:
            base, final = self._read(state, at)
            ends = final or (lowered.terminal is not None and bool(at[lowered.terminal]))
            choices = (
                []
                if ends
                else [choice for product in lowered.products for choice in self._moves(product, state, base, at)]
            )
            labels = tuple(bool(at[node]) for node in lowered.labels.values())
            earned = self._earned(-1, state, at)
        except Undefined as undefined:
            raise self.failure(Fault.UNDEFINED, state, node=undefined.node) from None
        deadlock = not choices and not ends
        if not choices:
            rests = base if deadlock else state
            nothing, nowhere = Fraction(0), {rests: Fraction(0)}
            choices = [
                Choice(0, -1, {rests: Fraction(1)}, tuple(nothing for _ in earned), tuple(nowhere for _ in earned))
            ]
        elif not self.nature.has_choices:
            choices = [self._merged(choices, state)]
        return Row(tuple(choices), deadlock, labels, earned)

    def _read(self, state: State, at: Valuation) -> tuple[State, bool]:
        """The state when the automaton beside it has read it, and whether nobody asks what follows."""
        reader = self.lowered.reader
        if reader is None:
            return state, False
        letter = sum(1 << bit for bit, node in enumerate(reader.propositions) if at[node])
        after = int(reader.automaton.successor[state[reader.variable], letter])
        read = *state[: reader.variable], after, *state[reader.variable + 1 :]
        return read, bool(reader.automaton.final[after])

    def _moves(self, product: Product, state: State, base: State, at: Valuation) -> Iterator[Choice]:
        """The choices of a product: one enabled command of each factor, that of the first factor varying fastest.

        Successors are ``base`` but for what commands assign.
        """
        enabled: list[list[int]] = []
        for factor in product.factors:
            enabled.append([command for command in factor if at[self.lowered.commands[command].guard]])
            if not enabled[-1]:
                return
        branches = {command: self._branches(command, state, at) for factor in enabled for command in factor}
        for backwards in itertools.product(*reversed(enabled)):
            commands = backwards[::-1]
            targets: Distribution = {}
            for together in itertools.product(*(branches[command] for command in commands)):
                probability = math.prod((branch.probability for branch in together), start=Fraction(1))
                if probability > LARGEST or not float(probability):
                    value = math.inf if probability > LARGEST else 0.0
                    raise self.failure(Fault.BAD_PRODUCT, state, command=commands[0], value=value)
                values = {variable: value for branch in together for variable, value in branch.values.items()}
                target = self.represented(tuple(values.get(variable, old) for variable, old in enumerate(base)))
                targets[target] = targets.get(target, Fraction(0)) + probability
            if targets:  # or all rates are 0
                earned = self._earned(product.action, state, at)
                by_target = tuple(dict.fromkeys(targets, each) for each in earned)
                yield Choice(product.action, commands[0], targets, earned, by_target)

    def _branches(self, number: int, state: State, at: Valuation) -> list[Branch]:
        """The updates of a command that may happen. What cannot happen cannot go wrong either."""
        command = self.lowered.commands[number]
        probabilities = [float(at[update.probability]) for update in command.updates]
        for k, probability in enumerate(probabilities):
            if not 0 <= probability < math.inf:
                raise self.failure(Fault.BAD_PROBABILITY, state, command=number, update=k, value=probability)
        if not self.nature.has_rates and not abs(math.fsum(probabilities) - 1) <= SUM_TOLERANCE:
            raise self.failure(Fault.BAD_SUM, state, command=number, value=math.fsum(probabilities))
        found = []
        for k, (probability, update) in enumerate(zip(probabilities, command.updates, strict=True)):
            if not probability:
                continue
            values = {variable: int(at[node]) for variable, node in update.assignments}
            for place, (variable, value) in enumerate(values.items()):
                declared = self.lowered.program.variables[variable]
                if not declared.low <= value <= declared.high:
                    where = {"command": number, "update": k, "assignment": place, "value": value}
                    raise self.failure(Fault.OUT_OF_RANGE, state, **where)
            found.append(Branch(Fraction(probability), values))
        return found

    def _earned(self, action: int, state: State, at: Valuation) -> tuple[Fraction, ...]:
        """What an action earns in each reward structure, or being in the state where ``action`` is -1."""
        earned = [Fraction(0)] * len(self.lowered.program.rewards)
        for item in self.lowered.rewards:
            if item.action == action and at[item.guard]:
                value = float(at[item.value])
                if not math.isfinite(value):
                    raise self.failure(Fault.BAD_REWARD, state, node=item.value, value=value)
                earned[item.structure] += Fraction(value)
                if abs(earned[item.structure]) > LARGEST:
                    raise self.failure(Fault.BAD_REWARD, state, node=item.value, value=math.copysign(math.inf, value))
        return tuple(earned)

    def _merged(self, choices: list[Choice], state: State) -> Choice:
        """All choices of a chain as one: rates are added up, and of probabilities each choice gets the same share."""
        share = Fraction(1) if self.nature.has_rates else Fraction(1, len(choices))
        total: Distribution = {}
        earned = [Fraction(0)] * len(choices[0].earned)
        by_target: list[Distribution] = [{} for _ in earned]
        for choice in choices:
            rate = sum(choice.targets.values()) if self.nature.has_rates else Fraction(1)
            for target, probability in choice.targets.items():
                total[target] = total.get(target, Fraction(0)) + share * probability
            if sum(total.values()) > LARGEST:
                raise self.failure(Fault.BAD_TOTAL, state, command=choice.command, value=math.inf)
            for k, each in enumerate(choice.earned):
                earned[k] += share * rate * each
                if abs(earned[k]) > LARGEST:
                    *_, node = (r.value for r in self.lowered.rewards if (r.structure, r.action) == (k, choice.action))
                    raise self.failure(Fault.BAD_REWARD, state, node=node, value=math.copysign(math.inf, each))
                for target, probability in choice.targets.items():
                    by_target[k][target] = by_target[k].get(target, Fraction(0)) + share * probability * each
        means = tuple({target: each[target] / total[target] for target in total} for each in by_target)
        return Choice(0, -1, total, tuple(earned), means)


def packed(lowered: Lowered, state: State) -> list[int]:
    """The words of a state."""
    words = [0] * lowered.words
    for field, value in zip(lowered.fields, state, strict=True):
        words[field.word] |= (value - field.low) << field.shift
    return words


def _finished(targets: Distribution) -> tuple[Distribution, Fraction]:
    """Probabilities, divided by their sum where that is further from 1 than rounding explains; and the sum."""
    total = sum(targets.values(), Fraction(0))
    if abs(total - 1) <= (len(targets) + 4) * UNIT:
        return targets, Fraction(1)
    return {target: probability / total for target, probability in targets.items()}, total


def _model(
    lowered: Lowered, rows: Mapping[State, Row], initial: list[State], keeps_transitions: bool, start: float
) -> Model:
    """The model of these rows, which are in canonical order."""
    program, nature = lowered.program, lowered.program.nature
    number = {state: place for place, state in enumerate(rows)}
    states = PackedStates(lowered.fields, np.array([packed(lowered, state) for state in rows], dtype=np.uint64))
    choices = [choice for row in rows.values() for choice in row.choices]
    owners = [state for state, row in rows.items() for _ in row.choices]
    lengths, columns, values, warnings = [0], [], [], []
    for state, choice in zip(owners, choices, strict=True):
        targets, total = (choice.targets, Fraction(1)) if nature.has_rates else _finished(choice.targets)
        if abs(total - 1) > OFF_BY_MORE_THAN_ROUNDING:
            warnings.append(off_warning(states, number[state], float(total)))
        lengths.append(len(targets))
        columns += [number[target] for target in sorted(targets)]
        values += [float(targets[target]) for target in sorted(targets)]
    groups = np.cumsum([0, *(len(row.choices) for row in rows.values())], dtype=np.int32)
    actions = np.array([choice.action for choice in choices], dtype=np.uint16)

    rewards = {}
    for k, name in enumerate(program.reward_names):
        by_target = [choice.by_target[k][target] for choice in choices for target in sorted(choice.targets)]
        rewards[name] = Rewards(
            state=_rounded([row.earned[k] for row in rows.values()]),
            choice=_rounded([choice.earned[k] for choice in choices]),
            transition=_rounded(by_target) if keeps_transitions else None,
        )
    first = set(initial)
    return Model(
        type=program.type,
        choice_starts=groups if nature.has_choices else None,
        row_starts=np.cumsum(lengths, dtype=np.int32),
        columns=np.array(columns, dtype=np.int32),
        values=Values.compress(np.array(values)),
        initial=np.array([number[state] for state in initial], dtype=np.int32),
        labels={
            "init": np.array([state in first for state in rows]),
            "deadlock": np.array([row.deadlock for row in rows.values()]),
            **{name: np.array([row.labels[k] for row in rows.values()]) for k, name in enumerate(lowered.labels)},
        },
        rewards=rewards,
        actions=lowered.actions,
        choice_actions=actions if nature.has_choices else None,
        states=states,
        orbits=lowered.orbits,
        warnings=tuple(warnings[:1]),
        build_seconds=time.perf_counter() - start,
    )


def _rounded(numbers: list[Fraction]) -> Floats:
    return np.array([float(number) for number in numbers])
