"""States whose probability to reach a goal is 0 or 1, on the device: what :mod:`galton.graph.reachability` asks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import cupy as cp

from ....device.arrays import how_many
from ....device.cuda.positions import positions
from ....model.sparse import Model
from .end_components import end_component_heads
from .pattern import SEARCH, check_lengths, edges_of, graph_kernels
from .search import Step, search_backward, search_forward

__all__ = ["attractor", "can_avoid", "can_reach", "forward_reachable", "surely_reaches", "zero_and_one"]

# Rounds of the nested fixed point. Many models need one; one with a timer may need one for each tick.
ROUNDS = 2


def can_reach(model: Model, through: Any, goal: Any) -> Any:
    """States with some strategy that reaches the goal with positive probability."""
    return search_backward(model, Step.SOME_ENTRY, through, goal)


def can_avoid(model: Model, through: Any, goal: Any) -> Any:
    """States with some strategy that never reaches the goal."""
    if model.choice_starts is None:
        return ~can_reach(model, through, goal)
    return ~search_backward(model, Step.EVERY_ROW, through, goal)


def surely_reaches(model: Model, through: Any, goal: Any, *, some_strategy: bool) -> Any:
    """States that reach the goal with probability 1."""
    return zero_and_one(model, through, goal, "max" if some_strategy else "min")[1]


def zero_and_one(model: Model, through: Any, goal: Any, optimum: Literal["min", "max"] | None) -> tuple[Any, Any]:
    """States whose least or greatest probability to reach the goal is 0, and those where it is 1."""
    if optimum == "max" and model.choice_starts is not None:
        candidates = can_reach(model, through, goal)
        return ~candidates, _reach_surely(model, through, goal, candidates)
    zero = can_avoid(model, through, goal)
    return zero, ~can_reach(model, through & ~goal, zero)


def attractor(model: Model, through: Any, goal: Any, *, staying: Any | None = None) -> Any:
    """A choice for each state that gets closer to the goal with positive probability; the first where none does."""
    first = cp.arange(model.n_states, dtype=cp.int32) if model.choice_starts is None else model.choice_starts[:-1]
    check_lengths(model.n_states, staying)
    strategy = first.copy()
    search_backward(model, Step.SOME_ROW, through, goal, rows=staying, strategy=strategy)
    return strategy


def forward_reachable(model: Model, start: Any, within: Any | None = None) -> Any:
    """The states on paths from ``start`` (included) that never leave ``within``."""
    return search_forward(model, start, within)


def _reach_surely(model: Model, through: Any, goal: Any, candidates: Any) -> Any:
    """The states from which some strategy surely reaches the goal: the largest set of candidates in which each can
    reach it by rows that never leave the set."""
    kept, left = candidates, how_many(candidates)
    for _ in range(ROUNDS):
        kept = search_backward(model, Step.SOME_ROW, through & kept, goal, rows=kept)
        before, left = left, how_many(kept)
        if left == before:
            return kept
    return _leave_end_components(model, kept, goal)


def _leave_end_components(model: Model, kept: Any, goal: Any) -> Any:
    """The same, when the set shrinks slowly: each end component as one state that may use all rows that leave it.

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
