"""Small programs, built and looked at: what the tests of the semantics share."""

from __future__ import annotations

import subprocess
import sys

import pytest

import galton
from galton.lang import GaltonError
from galton.model.sparse import Model

Targets = dict[tuple[int | bool, ...], float]
THREADS = 2


def build(text: str, **options: object) -> Model:
    return galton.parse(text).build(threads=THREADS, **options)


def table(text: str, **options: object) -> dict[tuple[int | bool, ...], list[tuple[str, Targets]]]:
    """All choices by state; the states in the order of their numbers."""
    model = build(text, **options)
    assert model.states is not None
    states = [tuple(state.values()) for state in model.states]
    return {
        state: [(action, {states[target]: value for value, target in pairs}) for action, pairs in model.transitions(s)]
        for s, state in enumerate(states)
    }


def holds(condition: str, declarations: str = "x : [0..1];", before: str = "") -> bool:
    """Is a condition true in the initial state?"""
    text = f'dtmc {before} module m {declarations} [] true -> true; endmodule label "l" = {condition};'
    return bool(build(text).labels["l"][0])


def refused(text: str, **options: object) -> str:
    """The complaint about a program that goes wrong; it must be the same for any number of threads."""
    messages = []
    for threads in (1, 3):
        with pytest.raises(GaltonError) as caught:
            galton.parse(text).build(threads=threads, **options)
        assert caught.value.kind == "model"
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    return messages[0]


def exit_code(text: str, options: str) -> int:
    """What becomes of a process of its own that builds a model: 1 if Python complains, negative if it crashes."""
    script = f"import galton; galton.parse({text!r}).build({options}).validate()"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60).returncode
