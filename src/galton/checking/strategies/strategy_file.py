"""Strategies as JSON, in the names of variables and actions.

A file holds the property and the constants it was made for and a list of decisions, one for each state that the
strategy can meet and that has more than one choice::

    {"state": {"x": 3, "lost": false}, "action": "right", "choice": 1}

``choice`` counts the choices of the state from 0; ``step`` is there where the decision depends on the number of steps
taken. Where several choices of a state have the same action, ``updates`` tells what the one that is meant does. A state
that is not listed takes its first choice.

A strategy that remembers more has ``memory``: a number, from ``initial`` on, that changes in every step. Bit i of the
letter of a state says whether proposition i holds in it; ``moves[m][letter]`` is the memory after memory m and the
state that is left. Each decision then is for a state and a ``memory``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...io.fields import BadField, as_int, as_list, as_object, get, read_json, shown
from ...io.output import replacing
from ...lang.expression_parser import parse_expression
from ...lang.expressions import Expression, Value
from ...lang.program import Program
from ...lang.rendering import render
from ...lang.source import LanguageError, Source
from ...lang.types import Scope
from ...lower.lowering import ExpressionLowering
from ...lower.reader import READER, Reader
from ...model.sparse import Int32s, Mask, Model
from ...model.states import PackedStates
from ...solve.finite_horizon import LARGEST_STRATEGY
from .strategy import Strategy, StrategyError

_VERSION = 1
_MOST_STEPS = 10**15
_MOST_PROPOSITIONS = 22


def write_strategy(
    path: str | Path, strategy: Strategy, *, formula: str = "", constants: Mapping[str, Value] | None = None
) -> None:
    """Write a strategy, one decision to a line."""
    head: dict[str, Any] = {
        "galton": "strategy",
        "version": _VERSION,
        "property": formula,
        "constants": dict(constants or {}),
        "steps": strategy.steps,
    }
    if strategy.memory is not None:
        head["memory"] = _memory(strategy.memory)
    lines = []
    for step, states in strategy.decisions():
        for state in states.tolist():
            lines.append(json.dumps(_decision(strategy, step, state)))
    text = json.dumps(head)[:-1] + ', "decisions": [\n' + ",\n".join(lines) + "\n]}\n"
    with replacing(path) as file:
        file.write(text)


def _decision(strategy: Strategy, step: int, state: int) -> dict[str, Any]:
    model = strategy.model
    choice = strategy.choice(state, step)
    assert choice is not None
    rows = model.choices(state)
    row = rows.start + choice
    action = model.action(row)
    found: dict[str, Any] = {} if strategy.steps is None else {"step": step}
    found["state"] = _name(model, state)
    if strategy.memory is not None:
        assert isinstance(model.states, PackedStates)
        found["memory"] = model.states[state][READER]
    found |= {"action": action, "choice": choice}
    if sum(model.action(other) == action for other in rows) > 1:
        found["updates"] = _updates(model, row)
    return found


def _memory(memory: Reader) -> dict[str, Any]:
    propositions = [render(states) for states in memory.propositions]
    return {"initial": memory.initial, "propositions": propositions, "moves": memory.successor.tolist()}


def _name(model: Model, state: int) -> Any:
    """A state as its variables, or as its number where it has none."""
    if not isinstance(model.states, PackedStates):
        return state
    return {name: value for name, value in model.states[state].items() if name != READER}


def _updates(model: Model, row: int) -> list[dict[str, Any]]:
    entries = slice(int(model.row_starts[row]), int(model.row_starts[row + 1]))
    pairs = zip(model.values[entries].tolist(), model.columns[entries].tolist(), strict=True)
    return [{"probability": probability, "state": _name(model, target)} for probability, target in pairs]


def read_memory(path: str | Path, program: Program) -> Reader | None:
    """Read what a strategy remembers from a file; the model that it is for is the product of the program with that."""
    found = _read(path)
    if found.get("memory") is None:
        return None
    try:
        memory = as_object(found["memory"], "memory")
        given = as_list(get(memory, "propositions"), "propositions")
        moves = [as_list(row, "moves") for row in as_list(get(memory, "moves"), "moves")]
        if not moves or len(given) > _MOST_PROPOSITIONS or any(len(row) != 1 << len(given) for row in moves):
            raise BadField("moves should have a row for each memory, and in it a number for each letter")
        last = len(moves) - 1
        table = np.array([[as_int(to, "moves", 0, last) for to in row] for row in moves], dtype=np.int32)
        propositions = tuple(_proposition(text, program) for text in given)
        initial = as_int(get(memory, "initial"), "initial", 0, last)
    except BadField as error:
        raise StrategyError(f"{path}: {error}") from None
    return Reader(propositions, table, initial, np.zeros(len(moves), dtype=np.bool_))


def _proposition(text: Any, program: Program) -> Expression:
    """What a text says about the variables of a program."""
    if not isinstance(text, str):
        raise BadField(f"propositions should be texts, not {shown(text)}")
    source = Source("proposition", text)
    try:
        expression = parse_expression(source)
        Scope(source, {variable.name: variable.type for variable in program.variables}).require(
            expression, "bool", "a proposition"
        )
    except LanguageError as error:
        raise BadField(f"the proposition {shown(text)} does not fit the model: {error.message}") from None
    lowering = ExpressionLowering(program)
    if lowering.graph[lowering.node(expression)].partial:
        raise BadField(f"the proposition {shown(text)} has no value in some states")
    return expression


def read_strategy(
    path: str | Path, model: Model, memory: Reader | None = None, ended: Mask | None = None
) -> tuple[Strategy, dict[str, Any]]:
    """Read a strategy for a model from a file; return it, and the property and constants it was made for.

    ``memory`` is what it remembers (:func:`read_memory`), which the model is a product with. Decisions in states that
    have ``ended`` are passed over: what follows them was not explored.
    """
    if not model.has_choices:
        raise StrategyError(f"a strategy needs choices, and this model is a {model.type}")
    model = model.to_host()  # a state at a time is looked at
    found = _read(path)
    if (found.get("memory") is None) != (memory is None):
        raise StrategyError(f"{path}: a strategy with a memory is for the product of the model with that memory")
    try:
        as_object(found.get("constants", {}), "constants")
        return Strategy(model, _choices(found, model, str(path), ended), memory), found
    except BadField as error:
        raise StrategyError(f"{path}: {error}") from None


def _read(path: str | Path) -> dict[str, Any]:
    try:
        found = read_json(path)
    except BadField as error:
        raise StrategyError(f"{path} is no strategy: {error}") from None
    if not isinstance(found, dict) or found.get("galton") != "strategy":
        raise StrategyError(f"{path} is no strategy that Galton wrote")
    if found.get("version", _VERSION) != _VERSION:
        version = shown(found["version"])
        raise StrategyError(f"{path}: it has version {version}, and this program reads {_VERSION}")
    return found


def _choices(found: dict[str, Any], model: Model, path: str, ended: Mask | None) -> Int32s:
    """The row that each state takes, ``(states,)`` or ``(steps, states)``.

    Of the steps that a file claims, only those up to the last decision are kept, and one for all after: there any
    choice will do.
    """
    steps = get(found, "steps")
    steps = None if steps is None else as_int(steps, "steps", 1, _MOST_STEPS)
    numbers = _Numbers(model)
    taken: dict[tuple[int, int], int] = {}
    for place, given in enumerate(as_list(get(found, "decisions"), "decisions")):
        try:
            decision = as_object(given, "it")
            step = 0 if steps is None else as_int(get(decision, "step"), "step", 0, steps - 1)
            if steps is None and "step" in decision:
                raise BadField("it has a step, and the strategy counts none")
            state = numbers[_place(decision)]
        except BadField as error:
            raise BadField(f"decision {place}: {error}") from None
        if state is None or (ended is not None and ended[state]):
            continue  # not explored, so never met; or nothing follows
        row = _row(model, state, decision, path)
        if taken.setdefault((step, state), row) != row:
            raise BadField(f"decision {place}: there is another one for {_shown(model, state)}")
    if steps is None:
        choices = np.full(model.n_states, -1, dtype=np.int32)
    else:
        kept = min(steps, max((step for step, _ in taken), default=0) + 2)
        if 4 * kept * model.n_states > LARGEST_STRATEGY:
            raise BadField(f"decisions for {kept:,} steps in {model.n_states:,} states are too many to keep")
        choices = np.full((kept, model.n_states), -1, dtype=np.int32)
    for (step, state), row in taken.items():
        choices[state if steps is None else (step, state)] = row
    return choices


def _row(model: Model, state: int, decision: Mapping[str, Any], path: str) -> int:
    """The row that a decision means: by its number, if the action there is the same, or by its action or updates."""
    rows = model.choices(state)
    action, choice, updates = decision.get("action"), decision.get("choice"), decision.get("updates")
    if isinstance(choice, int) and 0 <= choice < len(rows) and action in (None, model.action(rows[choice])):
        row = rows[choice]
        if updates is None or _updates(model, row) == updates:
            return row
    fitting = [row for row in rows if action is not None and model.action(row) == action]
    if updates is not None:
        fitting = [row for row in fitting if _updates(model, row) == updates]
    if len(fitting) == 1:
        return fitting[0]
    have = ", ".join(dict.fromkeys(model.action(row) or "(unnamed)" for row in rows))
    what = f"{len(fitting)} choices" if fitting else "no choice"
    raise StrategyError(f"{path}: in {_shown(model, state)}, {what} fit action {shown(action)}; there are {have}")


def _shown(model: Model, state: int) -> str:
    return f"state {state if model.states is None else model.states[state]}"


def _place(decision: dict[str, Any]) -> Any:
    """The state of a decision, with the memory as a variable of its own."""
    state = get(decision, "state")
    if "memory" not in decision:
        return state
    return {**as_object(state, "the state"), READER: decision["memory"]}


class _Numbers:
    """The numbers of states by their variables."""

    def __init__(self, model: Model):
        self._model = model
        self._states = model.states if isinstance(model.states, PackedStates) else None
        self._known: dict[bytes, int] = {}
        if self._states is not None:
            self._known = {row.tobytes(): number for number, row in enumerate(self._states.words)}

    def __getitem__(self, state: Any) -> int | None:
        if self._states is None:
            return as_int(state, "the state", 0, self._model.n_states - 1)
        if not isinstance(state, dict) or state.keys() != set(self._states.variables):
            raise BadField(f"a state is given by {', '.join(self._states.variables)}, not by {shown(state)}")
        words = np.zeros(self._states.words.shape[1], dtype=np.uint64)
        for field in self._states.fields:
            value = state[field.name]
            if not isinstance(value, int) or isinstance(value, bool) != (field.type == "bool"):
                kind = "true or false" if field.type == "bool" else "a whole number"
                raise BadField(f"{field.name} should be {kind}, not {shown(value)}")
            code = int(value) - field.low
            if not 0 <= code < 1 << field.bits:
                return None
            words[field.word] |= np.uint64(code << field.shift)
        return self._known.get(words.tobytes())
