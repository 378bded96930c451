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

from ..lang.expressions import Value
from ..model.sparse import Model
from ..model.states import PackedStates
from ..output import replacing
from .strategy import Strategy, StrategyError

_VERSION = 1


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
    """A strategy for a model, and what its file tells about its making."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise StrategyError(f"{path} is no strategy: {error}") from None
    if not isinstance(found, dict) or found.get("galton") != "strategy":
        raise StrategyError(f"{path} is no strategy that Galton wrote")
    if model.type != "mdp":
        raise StrategyError(f"a strategy needs choices, and this model is a {model.type}")
    model = model.to_host()  # a state at a time is looked at
    steps = found.get("steps")
    shape = (model.n_states,) if steps is None else (int(steps), model.n_states)
    choices = np.full(shape, -1, dtype=np.int32)
    numbers = _Numbers(model)
    for decision in found.get("decisions", []):
        state = numbers[decision["state"]]
        if state is None:
            continue  # not explored, so never met
        row = _row(model, state, decision, str(path))
        if steps is None:
            choices[state] = row
        elif 0 <= decision.get("step", 0) < int(steps):
            choices[decision.get("step", 0), state] = row
    return Strategy(model, choices), found


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
    raise StrategyError(f"{path}: in {_shown(model, state)}, {what} fit action {action!r}; there are {have}")


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
            if isinstance(state, int) and 0 <= state < self._model.n_states:
                return state
            raise StrategyError(f"the model has no state {state}")
        if not isinstance(state, dict) or state.keys() != set(self._states.variables):
            raise StrategyError(f"a state is given by {', '.join(self._states.variables)}, not by {json.dumps(state)}")
        words = np.zeros(self._states.words.shape[1], dtype=np.uint64)
        for field in self._states.fields:
            code = int(state[field.name]) - field.low
            if not 0 <= code < 1 << field.bits:
                return None
            words[field.word] |= np.uint64(code << field.shift)
        return self._known.get(words.tobytes())
