"""JANI models as Python writes them shortly."""

from __future__ import annotations

import json
from typing import Any


def binary(op: str, left: Any, right: Any) -> dict[str, Any]:
    return {"op": op, "left": left, "right": right}


def bounded(name: str, high: int, low: int = 0, **more: Any) -> dict[str, Any]:
    kind = {"kind": "bounded", "base": "int", "lower-bound": low, "upper-bound": high}
    return {"name": name, "type": kind, "initial-value": low, **more}


def edge(guard: Any = True, *destinations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"location": "l", "guard": {"exp": guard}, "destinations": list(destinations), **more}


def to(probability: Any = None, location: str = "l", **values: Any) -> dict[str, Any]:
    """A destination; ``x=1`` assigns at index 0, ``x=(1, "y")`` at index 1."""
    assignments: list[dict[str, Any]] = []
    for name, value in values.items():
        index, meant = value if isinstance(value, tuple) else (0, value)
        assignments.append({"ref": name, "index": index, "value": meant})
    found: dict[str, Any] = {"location": location, "assignments": assignments}
    return found if probability is None else {**found, "probability": {"exp": probability}}


def automaton(name: str, *edges: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": list(edges), **more}


def jani(*automata: dict[str, Any], type: str = "dtmc", syncs: Any = (), **more: Any) -> str:
    actions = {name for sync in syncs for name in (*sync["synchronise"], sync.get("result")) if name}
    system: dict[str, Any] = {"elements": [{"automaton": a["name"]} for a in automata], "syncs": list(syncs)}
    model = {"jani-version": 1, "name": "test", "type": type, "actions": [{"name": a} for a in sorted(actions)]}
    return json.dumps({**model, "automata": list(automata), "system": system, **more})


def sync(*actions: str | None, result: str | None = "go") -> dict[str, Any]:
    return {"synchronise": list(actions), **({} if result is None else {"result": result})}
