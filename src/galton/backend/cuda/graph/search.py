"""Backward and forward reachability on the device.

A backward search first sweeps: every state that is not found yet looks whether it can be added. States are numbered by
the values of their variables, so that sweeps in both directions find most of what there is in a few passes. When they
do not any more, and one edge is enough to be added, states also look far ahead, to where they are known to lead. What
is left then is searched along its edges, turned round: work for each edge once, however long the paths are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import cupy as cp

from ....device.arrays import how_many
from ....device.cuda.kernels import multiprocessors
from ....device.cuda.positions import positions
from ....model.sparse import Model
from ...lumping import LumpRows
from .pattern import SEARCH, TOGETHER, check_lengths, edges_of, graph_kernels

__all__ = ["OPEN", "Step", "search_backward", "search_entered", "search_forward", "turned_round"]

OPEN, FOUND = 1, 2

# Two sweeps that find less than this part of the states left are the last: to turn edges round costs about as much as
# so many sweeps.
FAIR_PART = 16
LEAPS = 10  # passes, each of which makes ways about five times as long
CHASE = 4  # steps a thread goes on by itself: about as long as it takes all threads to wait for each other
WIDE = 1024  # edges from which on a state gets a thread for each
MANY_ENTRIES = 24  # of a state, on average, from where on threads share it


class Step(IntEnum):
    """What a state needs to be added to a set that is searched backwards."""

    SOME_ENTRY = 0  # an edge into the set
    SOME_ROW = 1  # a row with an edge into the set and none out of another
    EVERY_ROW = 2  # an edge into the set in each of its rows
    EVERY_ENTRY = 3  # no edge but to itself and into the set


def search_backward(
    model: Model,
    step: Step,
    through: Any,
    goal: Any,
    *,
    rows: Any = None,
    strategy: Any = None,
    order: Any = None,
) -> Any:
    """The least set that contains the goal and is closed under the step, as a mask.

    Parameters
    ----------
    through
        States that may be added.
    rows
        For SOME_ROW, the mask of states that the edges of a row must stay in. For EVERY_ROW, the mask of rows that are
        alive: others, and rows that only lead back to their state, count as if they met the set. For EVERY_ENTRY, the
        mask of rows that count.
    strategy
        For SOME_ROW, where the row by which a state was added is written.
    order
        ``(through,)`` int32: where the states added are listed, each after those because of which it was added.
    """
    return _Backward(model, step, _status(model, through, goal), rows, strategy, order).run()


def search_forward(model: Model, start: Any, within: Any | None) -> Any:
    """The states that a path from ``start`` visits, all its states being in ``within``."""
    check_lengths(model.n_states, start, within)
    inside = cp.ones(model.n_states, dtype=cp.bool_) if within is None else within
    status = _status(model, inside, start & inside)
    queue = cp.empty(how_many(inside), dtype=cp.int32)
    first = positions(status == OPEN | FOUND)
    queue[: len(first)] = first
    _Pushes(edges_of(model), status, queue, len(first)).run()
    return _found(status)


def search_entered(model: Model, open_states: Any, rows: Any | None, order: Any) -> int:
    """List the open states that no edge enters but from themselves and states listed before; how many they are."""
    status = _status(model, open_states, ~open_states)
    n = model.n_states
    missing = cp.zeros(n, dtype=cp.int32)
    kernels = graph_kernels(SEARCH, model.row_starts)
    kernels.launch("count_entering", n, *edges_of(model), status, rows, missing, n)
    pushes = _Pushes(edges_of(model), status, cp.empty_like(order), missing=missing, order=order, rows=rows)
    pushes.begin()
    pushes.run()
    return int(pushes.tails[2])


def turned_round(model: Model | LumpRows, step: Step, status: Any, rows: Any | None) -> tuple[Any, Any, None]:
    """For each open state the sources of the edges from open states to it: states or, where rows count, rows."""
    n = model.n_states
    kernels = graph_kernels(SEARCH, model.row_starts)
    before = cp.zeros(n + 1, dtype=model.row_starts.dtype)
    kernels.launch("turn_round", n, *edges_of(model), status, rows, before, None, n, int(step))
    cp.cumsum(before, out=before)
    sources = cp.empty(int(before[-1]), dtype=cp.int32)
    kernels.launch("turn_round", n, *edges_of(model), status, rows, before, sources, n, int(step))
    return before, sources, None


def _status(model: Model, through: Any, goal: Any) -> Any:
    """A byte per state, with room to the next word."""
    n = model.n_states
    check_lengths(n, through, goal)
    status = cp.zeros(n + 3, dtype=cp.uint8)[:n]
    cp.multiply(goal.view(cp.uint8), FOUND, out=status)
    status |= through.view(cp.uint8)
    return status


def _found(status: Any) -> Any:
    status >>= 1
    return status.view(cp.bool_)


@dataclass(frozen=True, eq=False)
class _Backward:
    model: Model
    step: Step
    status: Any
    rows: Any
    strategy: Any
    order: Any
    listed: Any = field(default_factory=lambda: cp.zeros(1, dtype=cp.uint64))

    def run(self) -> Any:
        one_is_enough = self.step in (Step.SOME_ENTRY, Step.SOME_ROW) and self.strategy is None
        if self._repeat(self._sweeps) and not (one_is_enough and not self._repeat(self._leaps)):
            self._push()
        return _found(self.status)

    def _repeat(self, passes: Callable[[], bool]) -> bool:
        """Passes as long as they find a fair part of what is left; whether more may be found."""
        before = self._open()
        while before:
            if not passes():
                return False
            left = self._open()
            if before - left < before // FAIR_PART:
                return True
            before = left
        return False

    def _sweeps(self) -> bool:
        """Downwards and upwards; whether the second one changed anything."""
        changed = cp.zeros(2, dtype=cp.int32)
        for down in (1, 0):
            self._sweep(changed[down:], down)
        return bool(changed[0])

    def _leaps(self) -> bool:
        """Passes along ever longer ways, all of them through states that are open now; whether the last changed any."""
        n = self.model.n_states
        ahead = cp.empty((n, 2), dtype=cp.int32)
        ahead[:, 0], ahead[:, 1] = -1, 0x7FFFFFFF
        changed = cp.empty(1, dtype=cp.int32)
        for number in range(LEAPS):
            changed.fill(0)
            self._launch("leap", n, self.status, self.rows, ahead, changed, n, 1 - number % 2)
        return bool(changed[0])

    def _open(self) -> int:
        return how_many(self.status == OPEN)

    def _launch(self, kernel: str, threads: int, *arguments: Any) -> None:
        graph_kernels(SEARCH, self.model.row_starts).launch(kernel, threads, *edges_of(self.model), *arguments)

    def _sweep(self, changed: Any, down: int, queue: Any = None, tail: Any = None) -> None:
        n = self.model.n_states
        lanes = self.model.n_transitions // n
        if self.step == Step.SOME_ENTRY and lanes >= MANY_ENTRIES and queue is None:
            lanes = 8 if lanes < 4 * MANY_ENTRIES else 32
            self._launch("sweep_shared", n * lanes, self.status, changed, n, lanes, down)
            return
        vectors = (self.status, self.rows, self.strategy, self.order, self.listed, changed, queue, tail)
        self._launch("sweep", n, *vectors, n, int(self.step), down)

    def _push(self) -> None:
        """The rest of the search, along predecessors."""
        n, n_rows = self.model.n_states, self.model.n_choices
        edges = turned_round(self.model, self.step, self.status, self.rows)
        queue = cp.empty(self._open(), dtype=cp.int32)
        pushes = _Pushes(edges, self.status, queue, strategy=self.strategy, order=self.order)
        pushes.tails[2:] = self.listed
        if self.step in (Step.SOME_ROW, Step.EVERY_ROW) and self.model.choice_starts is not None:
            pushes.owner = cp.empty(n_rows, dtype=cp.int32)
            self._launch("own_rows", n, pushes.owner, n)
        if self.step in (Step.EVERY_ROW, Step.EVERY_ENTRY):
            pushes.met = cp.zeros(n_rows // 32 + 1, dtype=cp.uint32) if self.step == Step.EVERY_ROW else None
            pushes.missing = cp.empty(n, dtype=cp.int32)
            vectors = (self.status, self.rows, pushes.met, pushes.missing)
            self._launch("count_missing", n, *vectors, n, int(self.step))
            pushes.begin()
        else:
            self._sweep(cp.empty(1, dtype=cp.int32), 0, queue, pushes.tails)
        pushes.run()


@dataclass(eq=False)
class _Pushes:
    """A search along edges: the first ``queued`` states of the queue, and what is found from them."""

    edges: tuple[Any, Any, Any]
    status: Any
    queue: Any
    queued: int = 0
    owner: Any = None
    met: Any = None
    missing: Any = None
    strategy: Any = None
    order: Any = None
    rows: Any = None
    tails: Any = field(init=False)  # how many states are in the queue, are wide, are listed in `order`

    def __post_init__(self) -> None:
        self.tails = cp.array([self.queued, 0, 0], dtype=cp.uint64)

    def begin(self) -> None:
        """Queue the states that miss nothing."""
        n = len(self.status)
        vectors = (self.status, self.missing, self.order, self.tails[2:], self.queue, self.tails)
        self._launch("begin_pushes", n, *vectors, n)

    def run(self) -> None:
        """Push until the queue has been worked off."""
        head = wide_head = 0
        blocks = 2 * multiprocessors()
        gate, limit = cp.zeros(2, dtype=cp.uint32), cp.empty(1, dtype=cp.uint64)
        wide_states = cp.empty(len(self.edges[1]) // WIDE + 1, dtype=cp.int32)
        step = (self.status, self.owner, self.met, self.missing, self.strategy)
        vectors = (*step, self.order, self.tails[2:], self.queue, self.tails)
        while True:
            tail, wide_tail, _ = self.tails.tolist()
            if head == tail and wide_head == wide_tail:
                return
            if wide_head < wide_tail:
                states = wide_states[wide_head:wide_tail]
                for state, degree in zip(states.tolist(), self._degrees(states), strict=True):
                    self._launch("push_wide", degree, *self.edges, *vectors, state)
            wide = (wide_states, self.tails[1:])
            arguments = (*self.edges, *vectors, self.rows, *wide)
            if blocks:
                kernels = graph_kernels(TOGETHER, self.edges[0])
                scalars = (head, CHASE, WIDE)
                kernels.launch("push_together", 512 * blocks, *arguments, gate, limit, *scalars, block=512)
                head = int(limit[0])
            elif head < tail:
                self._launch("push", tail - head, *arguments, head, tail - head, CHASE, WIDE)
                head = tail
            wide_head = wide_tail

    def _launch(self, kernel: str, threads: int, *arguments: Any) -> None:
        graph_kernels(SEARCH, self.edges[0]).launch(kernel, threads, *arguments)

    def _degrees(self, states: Any) -> list[int]:
        starts, _, groups = self.edges
        first, last = (states, states + 1) if groups is None else (groups[states], groups[states + 1])
        degrees: list[int] = (starts[last] - starts[first]).tolist()
        return degrees
