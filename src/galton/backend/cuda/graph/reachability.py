"""What can be reached, on the device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cupy as cp

from ....device.arrays import how_many
from ....device.cuda.positions import positions
from ....model.sparse import Model
from .end_components import end_component_heads
from .pattern import SEARCH, check_lengths, edges_of, graph_kernels
from .search import Step, search_backward, search_forward

__all__ = ["reach_by", "reach_every", "reach_forward", "reach_some", "reach_surely"]

# Rounds of the nested fixed point. Many models need one; one with a timer may need one for each tick.
ROUNDS = 2


def reach_some(model: Model, through: Any, goal: Any) -> Any:
    """States with a path to the goal."""
    return search_backward(model, Step.SOME_ENTRY, through, goal)


def reach_every(model: Model, through: Any, goal: Any) -> Any:
    """States with a path to the goal whatever is chosen."""
    return search_backward(model, Step.EVERY_ROW, through, goal)


def reach_by(model: Model, through: Any, goal: Any, staying: Any | None, strategy: Any) -> None:
    """Write choices that get closer to the goal."""
    check_lengths(model.n_states, staying)
    search_backward(model, Step.SOME_ROW, through, goal, rows=staying, strategy=strategy)


def reach_forward(model: Model, start: Any, within: Any | None) -> Any:
    """The states on paths from the start."""
    return search_forward(model, start, within)


def reach_surely(model: Model, through: Any, goal: Any, candidates: Any) -> Any:
    """Candidates with a strategy that reaches the goal with probability 1: the largest set of candidates in which each
    can reach it by rows that never leave the set."""
    kept, left = candidates, how_many(candidates)
    for _ in range(ROUNDS):
        kept = search_backward(model, Step.SOME_ROW, through & kept, goal, rows=kept)
        before, left = left, how_many(kept)
        if left == before:
            return kept
    return _leave_end_components(model, kept, goal)


def _leave_end_components(model: Model, kept: Any, goal: Any) -> Any:
    """Of the states kept, those that reach the goal with probability 1; for sets that shrink slowly.

    Each end component becomes one state that may use all rows that leave it.

    Without end components no strategy stays outside the goal for ever, unless it falls out of the set: whoever can
    avoid that reaches the goal. So one search, for the states all of whose rows risk to fall out, stands for many.
    """
    active = kept & ~goal
    head, staying = end_component_heads(model, active)
    # A member of an end component is represented by its first state; a state in none by itself.
    alone = cp.arange(model.n_states, dtype=cp.int32)
    unit = cp.where(head >= 0, head, alone)
    quotient = _grouped(model, unit, active, staying)
    lost = search_backward(quotient, Step.EVERY_ROW, active & (unit == alone), ~kept)
    return kept & ~lost[unit]


def _grouped(model: Model, unit: Any, active: Any, dropped: Any) -> Model:
    """The rows of the active states, but for those dropped, as rows of their units; other states keep none."""
    assert model.choice_starts is not None
    n = model.n_states
    kernels = graph_kernels(SEARCH, model.row_starts)
    owner = cp.empty(model.n_choices, dtype=cp.int32)
    kernels.launch("own_rows", n, *edges_of(model), owner, n)
    rows = positions(active[owner] & ~dropped).astype(cp.int64)
    units = unit[owner[rows]]
    order = cp.argsort(units, kind="stable")
    rows, units = rows[order], units[order]
    starts = cp.zeros(len(rows) + 1, dtype=model.row_starts.dtype)
    cp.cumsum(model.row_starts[rows + 1] - model.row_starts[rows], out=starts[1:])
    columns = cp.empty(int(starts[-1]), dtype=cp.int32)
    kernels.launch("copy_rows", len(rows), *edges_of(model), rows, unit, starts, columns, len(rows))
    groups = cp.searchsorted(units, cp.arange(n + 1, dtype=cp.int32)).astype(cp.int32)
    return replace(model, choice_starts=groups, row_starts=starts, columns=columns)
