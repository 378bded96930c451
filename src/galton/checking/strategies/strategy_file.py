"""Strategies as JSON, in the names of variables and actions.

A file holds the property and the constants it was made for and a list of decisions, one for each state that the
strategy can meet and that has more than one choice::

    {"state": {"x": 3, "lost": false}, "action": "right", "choice": 1}

``choice`` counts the choices of the state from 0; ``step`` is there where the decision depends on the number of steps
taken. Where several choices of a state have the same action, ``updates`` tells what the one that is meant does. A state
that is not listed takes its first choice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...io.fields import BadField, as_int, as_list, as_object, get, read_json, shown
from ...io.output import replacing
from ...lang.expressions import Value
from ...model.sparse import Int32s, Model
from ...model.states import PackedStates
from ...solve.finite_horizon import LARGEST_STRATEGY
from .strategy import Strategy, StrategyError

_VERSION = 1
_MOST_STEPS = 10**15


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
    found |= {"state": _name(model, state), "action": action, "choice": choice}
    if sum(model.action(other) == action for other in rows) > 1:
        found["updates"] = _updates(model, row)
    return found


def _name(model: Model, state: int) -> Any:
    """A state as its variables, or as its number where it has none."""
    return dict(model.states[state]) if isinstance(model.states, PackedStates) else state


def _updates(model: Model, row: int) -> list[dict[str, Any]]:
    entries = slice(int(model.row_starts[row]), int(model.row_starts[row + 1]))
    pairs = zip(model.values[entries].tolist(), model.columns[entries].tolist(), strict=True)
    return [{"probability": probability, "state": _name(model, target)} for probability, target in pairs]


def read_strategy(path: str | Path, model: Model) -> tuple[Strategy, dict[str, Any]]:
    """Read a strategy for a model from a file; return it, and the property and constants it was made for."""
    if not model.has_choices:
        raise StrategyError(f"a strategy needs choices, and this model is a {model.type}")
    model = model.to_host()  # a state at a time is looked at
    try:
        found = read_json(path)
    except BadField as error:
        raise StrategyError(f"{path} is no strategy: {error}") from None
    if not isinstance(found, dict) or found.get("galton") != "strategy":
        raise StrategyError(f"{path} is no strategy that Galton wrote")
    try:
        if found.get("version", _VERSION) != _VERSION:
            raise BadField(f"it has version {shown(found['version'])}, and this program reads {_VERSION}")
        as_object(found.get("constants", {}), "constants")
        return Strategy(model, _choices(found, model, str(path))), found
    except BadField as error:
        raise StrategyError(f"{path}: {error}") from None


def _choices(found: dict[str, Any], model: Model, path: str) -> Int32s:
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
            state = numbers[get(decision, "state")]
        except BadField as error:
            raise BadField(f"decision {place}: {error}") from None
        if state is None:
            continue  # not explored, so never met
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
