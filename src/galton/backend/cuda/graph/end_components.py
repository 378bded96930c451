"""Maximal end components on the device.

States are parted by the labels of :mod:`.components`; rows that leave a part can be used no more. Between the rounds,
what can be decided without labels is: a state that has no row left is in no end component, one that can only wait is
one by itself, and rows that lead to such a state are of no use to the others, and so on. A part that is one component
and loses no row is an end component.
"""

from __future__ import annotations

from typing import Any

import cupy as cp

from ....device.cuda.positions import positions
from ....model.sparse import Model
from ...components import EndComponents
from .components import Parts, runs
from .pattern import COMPONENTS, check_lengths, edges_of, graph_kernels
from .search import Step, search_backward

__all__ = ["end_component_heads", "end_components"]


def end_components(model: Model, within: Any | None, choices: Any | None) -> EndComponents:
    """The maximal end components of the states in ``within`` and the ``choices``."""
    head, alive = end_component_heads(model, within, choices)
    inside = head >= 0
    first = head == cp.arange(model.n_states, dtype=cp.int32)
    number = cp.cumsum(first, dtype=cp.int32)
    component = cp.full(model.n_states, -1, dtype=cp.int32)
    component[inside] = number[head[inside]] - 1
    return EndComponents(component, alive, int(number[-1]) if len(number) else 0)


def end_component_heads(model: Model, within: Any | None = None, choices: Any | None = None) -> tuple[Any, Any]:
    """The first state of each state's end component, -1 where it is in none; and the mask of rows that stay in one."""
    check_lengths(model.n_choices, choices)
    n = model.n_states
    alive = cp.ones(model.n_choices, dtype=cp.bool_) if choices is None else choices.copy()
    head = cp.full(n, -1, dtype=cp.int32)
    parts = Parts.of(model, within)
    while _decide(parts, alive, head):
        parts.refine(alive)
        broken = _drop_rows(parts, alive)
        part = parts.part[parts.states]
        done = parts.settled & ~broken[part]
        _name(head, parts.states[done], part[done])
        parts.part[parts.states[done]] = -1
        parts.states = parts.states[~done]
    _launch(model, "drop_others", n, alive, head, n)
    return head, alive


def _launch(model: Model, kernel: str, threads: int, *arguments: Any) -> None:
    graph_kernels(COMPONENTS, model.row_starts).launch(kernel, threads, *edges_of(model), *arguments)


def _decide(parts: Parts, alive: Any, head: Any) -> bool:
    """Take out the states that can go nowhere but to themselves, and the rows that lead there; whether any are left."""
    if not len(parts.states):
        return False
    active = parts.part >= 0
    decided = search_backward(parts.model, Step.EVERY_ROW, active, ~active, rows=alive) & active
    states = positions(decided)
    if len(states):
        _launch(parts.model, "keep_waiting", len(states), alive, head, states, len(states))
        parts.part[states] = -1
        parts.states = parts.states[~decided[parts.states]]
    _drop_rows(parts, alive)
    return bool(len(parts.states))


def _drop_rows(parts: Parts, alive: Any) -> Any:
    """Take away the rows that leave the part of their state; a mask of the parts that lose one."""
    broken = cp.zeros(parts.model.n_states, dtype=cp.bool_)
    count = len(parts.states)
    _launch(parts.model, "drop_rows", count, alive, parts.part, broken, parts.states, count)
    return broken


def _name(head: Any, states: Any, part: Any) -> None:
    """Write the first state of each part to its states, which come part by part in ascending order."""
    if len(states):
        heads, run = runs(part)
        head[states] = states[heads[run]]
