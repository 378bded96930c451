"""Strategies for several objectives as JSON, in the names of variables and actions.

A file holds the property, its objectives, and one or more strategies. Each has the bounds on its numbers, one pair for
each objective, the probability with which it is chosen before the first step (as a fraction; none for the strategies of
a Pareto set, which stand side by side), and a list of decisions::

    {"state": {"x": 3}, "memory": 0, "then": 1, "choices": [1], "actions": ["right"]}

In this state and with this memory, one of the choices is taken, each as likely as the others, and ``then`` is what is
remembered on the way to the next state. Memory is 0 in the beginning unless ``"memory"`` of the strategy says
otherwise. What is not listed keeps its memory, and takes the first choice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ...device.arrays import offsets
from ...io.fields import BadField, as_int, as_list, as_object, get, read_json, shown
from ...io.output import replacing
from ...lang.expressions import Value
from ...model.sparse import Mask, Model
from ...model.states import PackedStates
from ..strategies.strategy import StrategyError
from .mixtures import MemoryStrategy, Mixture, Worth

__all__ = ["holds_mixture", "read_mixture", "split_number", "write_mixture"]

_VERSION = 1
_MOST_MEMORIES = 2**31


def write_mixture(
    path: str | Path, mixture: Mixture, *, formula: str = "", constants: Mapping[str, Value] | None = None
) -> None:
    """Write strategies, one decision to a line."""
    head = {
        "galton": "mixture",
        "version": _VERSION,
        "property": formula,
        "constants": dict(constants or {}),
        "objectives": list(mixture.objectives),
    }
    parts = []
    for k, strategy in enumerate(mixture.strategies):
        about = {
            "probability": None if mixture.shares is None else str(mixture.shares[k]),
            "values": [[worth.lower, worth.upper] for worth in mixture.values[k]],
            "memory": int(strategy.memory[strategy.initial]),
        }
        lines = ",\n".join(json.dumps(line) for line in _decisions(strategy))
        parts.append(json.dumps(about)[:-1] + ', "decisions": [\n' + lines + "\n]}")
    with replacing(path) as file:
        file.write(json.dumps(head)[:-1] + ', "strategies": [\n' + ",\n".join(parts) + "\n]}\n")


def _decisions(strategy: MemoryStrategy) -> list[dict[str, Any]]:
    model, found = strategy.model, []
    assert model.choice_starts is not None
    several = np.diff(model.choice_starts)[strategy.states] > 1
    for place in np.flatnonzero(several | (strategy.then != strategy.memory)).tolist():
        state = int(strategy.states[place])
        rows = strategy.rows[int(strategy.starts[place]) : int(strategy.starts[place + 1])].tolist()
        found.append(
            {
                "state": _name(model, state),
                "memory": int(strategy.memory[place]),
                "then": int(strategy.then[place]),
                "choices": [row - model.choices(state).start for row in rows],
                "actions": [model.action(row) for row in rows],
            }
        )
    return found


def _name(model: Model, state: int) -> Any:
    """A state as its variables, or as its number where it has none."""
    return dict(model.states[state]) if isinstance(model.states, PackedStates) else state


def split_number(path: Path) -> tuple[Path, int | None]:
    """Return the file and the number of ``mixture.json:2``; None where there is no number."""
    name, colon, number = path.name.rpartition(":")
    if colon and number.isdigit() and not path.exists():
        return path.with_name(name), int(number)
    return path, None


def holds_mixture(path: Path) -> bool:
    """Whether a file says that it has strategies for several objectives."""
    with path.open("rb") as file:
        return b'"galton": "mixture"' in file.read(100)


def read_mixture(path: str | Path, model: Model, ended: Mask | None = None) -> tuple[Mixture, dict[str, Any]]:
    """Read strategies for a model from a file; return them, and the property and constants they were made for.

    Decisions in states that have ``ended`` are passed over: what follows them was not explored.
    """
    if not model.has_choices:
        raise StrategyError(f"a strategy needs choices, and this model is a {model.type}")
    try:
        found = as_object(read_json(path), "the file")
        if found.get("galton") != "mixture" or found.get("version", _VERSION) != _VERSION:
            raise BadField("it has no strategies for several objectives that this program reads")
        numbers = {json.dumps(_name(model, state)): state for state in range(model.n_states)}
        strategies, shares, values = [], [], []
        for place, given in enumerate(as_list(get(found, "strategies"), "strategies")):
            one = as_object(given, f"strategy {place}")
            strategies.append(_strategy(one, model, numbers, ended))
            shares.append(one.get("probability"))
            values.append(tuple(Worth(float(low), float(high)) for low, high in as_list(get(one, "values"), "values")))
        alone = None if None in shares else tuple(Fraction(str(share)) for share in shares)
        if alone is not None and sum(alone) != 1:
            raise BadField("the probabilities of its strategies do not sum to 1")
        names = tuple(str(name) for name in as_list(get(found, "objectives"), "objectives"))
    except (BadField, ValueError, TypeError, ZeroDivisionError) as error:
        raise StrategyError(f"{path} is no strategy for several objectives: {error}") from None
    return Mixture(names, tuple(strategies), alone, tuple(values)), found


def _strategy(given: dict[str, Any], model: Model, numbers: Mapping[str, int], ended: Mask | None) -> MemoryStrategy:
    """The places that the decisions of a file lead to, from the initial state on."""
    known: dict[tuple[int, int], tuple[int, list[int]]] = {}
    for line in as_list(get(given, "decisions"), "decisions"):
        decision = as_object(line, "a decision")
        state = numbers.get(json.dumps(decision.get("state")))
        if state is None and ended is None:
            raise BadField(f"there is no state {shown(decision.get('state'))}")
        if state is None or (ended is not None and ended[state]):
            continue  # not explored, so never met; or nothing follows
        memory, then = (as_int(get(decision, name), name, 0, _MOST_MEMORIES) for name in ("memory", "then"))
        rows = model.choices(state)
        choices = [
            as_int(choice, "a choice", 0, len(rows) - 1) for choice in as_list(get(decision, "choices"), "choices")
        ]
        if not choices or decision.get("actions") != [model.action(rows[choice]) for choice in choices]:
            raise BadField(f"choices and actions of state {shown(decision.get('state'))} are not those of the model")
        known[state, memory] = then, [rows[choice] for choice in choices]
    first = (int(model.initial[0]), as_int(get(given, "memory"), "memory", 0, _MOST_MEMORIES))
    places = {first: 0}
    queue, then_of, taken = [first], [], []
    for state, memory in queue:
        then, chosen = known.get((state, memory), (memory, [model.choices(state).start]))
        then_of.append(then)
        taken.append(chosen)
        for row in chosen:
            for target in model.columns[int(model.row_starts[row]) : int(model.row_starts[row + 1])].tolist():
                if (target, then) not in places:
                    places[target, then] = len(places)
                    queue.append((target, then))
    return MemoryStrategy(
        model,
        np.array([state for state, _ in queue], dtype=np.int64),
        np.array([memory for _, memory in queue], dtype=np.int64),
        np.array(then_of, dtype=np.int64),
        offsets(np.array([len(rows) for rows in taken]), np.int64),
        np.array([row for rows in taken for row in rows], dtype=np.int64),
        0,
    )
