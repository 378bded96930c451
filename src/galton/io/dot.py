"""Graphviz (``.dot``): a picture of a small model, with the values of variables and the labels in its states.

A choice of an MDP is a dot of its own, between the state and those it may lead to.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.sparse import Model
from .characters import exact_text

__all__ = ["dot_text"]

_MANY = 1000  # lines put together at a time


def dot_text(model: Model) -> Iterator[bytes]:
    """A ``.dot`` file, in blocks."""
    yield b'digraph model {\n  node [shape=box, style=rounded, fontname="sans-serif"];\n'
    yield b'  edge [fontname="sans-serif"];\n'
    lines: list[str] = []
    for state in range(model.n_states):
        lines += _state(model, state)
        if len(lines) > _MANY:
            yield "".join(lines).encode()
            lines = []
    yield ("".join(lines) + "}\n").encode()


def _state(model: Model, state: int) -> Iterator[str]:
    shown = [str(state)]
    if model.states is not None:
        shown.append(str(model.states[state]))
    if names := [name for name, mask in model.labels.items() if mask[state] and name != "init"]:
        shown.append(", ".join(names))
    bold = ", penwidth=2" if model.labels["init"][state] else ""
    label = _quoted("\n".join(shown))
    yield f"  {state} [label={label}{bold}];\n"
    for number, (action, pairs) in enumerate(model.transitions(state)):
        source = str(state)
        if model.has_choices:
            source = f'"{state}.{number}"'
            yield f'  {source} [shape=point, label=""];\n'
            yield f"  {state} -> {source} [arrowhead=none{f', label={_quoted(action)}' if action else ''}];\n"
            action = ""
        for value, target in pairs:
            yield f"  {source} -> {target} [label={_quoted(f'{exact_text(value)} {action}'.strip())}];\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
