"""Strongly connected components on the device, all at once (ECL-SCC: Alabandi, Sands, Biros and Burtscher 2023).

Each state has a label. The greatest label that can be reached from a state, and the greatest from which it can be
reached, spread along the edges. Where the two are the same, that state's component is found. States with different
pairs are in different components: they are parted, edges between parts are forgotten, and the rest is done again.

Along an edge the greatest label ahead never grows and the greatest behind never shrinks. So the pairs, sorted by the
first upwards and by the second downwards, have successors first, and so have the components when all parts are sorted
within each other: their topological order costs nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as cp

from ....device.arrays import how_many
from ....device.cuda.positions import positions
from ....model.sparse import Model
from ...components import Components
from .pattern import COMPONENTS, check_lengths, edges_of, graph_kernels
from .search import OPEN, Step, search_backward, search_entered, turned_round

# Passes over all states, and the part of them that still change in one, after which labels are spread from those alone.
PATIENCE, FEW_PART = 8, 64

__all__ = ["Parts", "runs", "strong_components"]


def strong_components(model: Model, within: Any | None, choices: Any | None) -> Components:
    """The strongly connected components of the states in ``within`` and the edges of the ``choices``.

    Inside a component states are in ascending order.
    """
    check_lengths(model.n_choices, choices)
    parts = Parts.of(model, within)
    inside = parts.states
    _trim(parts, choices)
    while len(parts.states):
        parts.refine(choices)
        parts.states = parts.states[~parts.settled]
    return _numbered(model, inside, parts.part, choices)


def _trim(parts: Parts, choices: Any | None) -> None:
    """Take out the states that are components by themselves because all their successors, or predecessors, are.

    They come before all others, or after them: where a model ends, or begins.
    """
    model, count = parts.model, len(parts.states)
    left = parts.part >= 0
    order = cp.empty(count, dtype=cp.int32)
    ends = search_backward(model, Step.EVERY_ENTRY, left, ~left, rows=choices, order=order)
    left &= ~ends
    remaining = how_many(left)
    first = count - remaining
    parts.part[left] = first
    parts.part[order[:first]] = cp.arange(first, dtype=cp.int32)
    if remaining:
        listed = search_entered(model, left, choices, order[:remaining])
        entered = order[:listed]
        parts.part[entered] = cp.arange(count - 1, count - 1 - listed, -1, dtype=cp.int32)
        left[entered] = False
    parts.states = parts.states[left[parts.states]]


@dataclass(eq=False)
class Parts:
    """States parted more and more finely.

    Attributes
    ----------
    part
        ``(states,)`` int32: the part of each state, -1 outside. Its number is that of the states in parts before it, so
        that a part can be divided without a change to the others.
    states
        Those to be parted further, part by part, ascending in each.
    settled
        Of each of them, after refining, whether its part is one component.
    """

    model: Model
    part: Any
    states: Any
    ahead: Any
    behind: Any
    settled: Any = None

    @classmethod
    def of(cls, model: Model, within: Any | None) -> Parts:
        """One part of all states inside."""
        n = model.n_states
        check_lengths(n, within)
        part = cp.zeros(n, dtype=cp.int32)
        states = cp.arange(n, dtype=cp.int32)
        if within is not None:
            part[~within] = -1
            states = states[within]
        return cls(model, part, states, cp.empty((n, 2), dtype=cp.int32), cp.empty((n, 2), dtype=cp.int32))

    def refine(self, choices: Any | None) -> None:
        """Divide the parts, so that those that hold several components become at least two."""
        count = len(self.states)
        self._spread(choices)
        # Labels are positions, and states come part by part: sorting by labels keeps parts together.
        key = self.ahead[self.states, 0].astype(cp.int64)
        key <<= 32
        key += count - 1 - self.behind[self.states, 0]
        order = cp.argsort(key, kind="stable")
        key = key[order]
        states = self.states = self.states[order]
        del order
        heads, run = runs(key)
        old = self.part[states]
        old_heads, old_run = runs(old)
        self.part[states] = old + heads[run] - old_heads[old_run]
        alone = cp.diff(heads, append=count) == 1
        self.settled = alone[run] | (key >> 32 == count - 1 - (key & 0xFFFFFFFF))

    def _spread(self, choices: Any | None) -> None:
        states, count = self.states, len(self.states)
        labels = cp.arange(count, dtype=cp.int32)[:, None]
        self.ahead[states] = labels
        self.behind[states] = labels
        kernels = graph_kernels(COMPONENTS, self.model.row_starts)
        vectors = (choices, self.part, self.ahead, self.behind)
        raised = cp.empty(self.model.n_states, dtype=cp.bool_)
        changed, passes = count, 0
        while changed and (passes < PATIENCE or changed >= count // FEW_PART):
            for down in (1, 0):
                raised.fill(False)
                kernels.launch("spread", count, *edges_of(self.model), *vectors, states, raised, count, down)
            changed, passes = how_many(raised), passes + 2
        if changed:
            self._spread_on(vectors, positions(raised))

    def _spread_on(self, vectors: tuple[Any, ...], changed: Any) -> None:
        """Spread the labels of some states, and what changes because of them, along edges turned round too."""
        model, choices = self.model, vectors[0]
        status = cp.zeros(model.n_states, dtype=cp.uint8)
        status[self.states] = OPEN
        before, sources, _ = turned_round(model, Step.EVERY_ENTRY, status, choices)
        kernels = graph_kernels(COMPONENTS, model.row_starts)
        bits = cp.zeros(model.n_states // 32 + 1, dtype=cp.uint32)
        tail = cp.empty(1, dtype=cp.uint64)
        queue, following = cp.empty_like(self.states), cp.empty_like(self.states)
        count = len(changed)
        queue[:count] = changed
        while count:
            tail.fill(0)
            arguments = (*vectors, before, sources, queue, following, tail, bits, count)
            kernels.launch("spread_on", count, *edges_of(model), *arguments)
            queue, following, count = following, queue, int(tail[0])


def runs(keys: Any) -> tuple[Any, Any]:
    """Where runs of equal numbers begin, and the run of each."""
    fresh = cp.ones(len(keys), dtype=cp.bool_)
    cp.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return positions(fresh), cp.cumsum(fresh, dtype=cp.int32) - 1


def _numbered(model: Model, inside: Any, part: Any, choices: Any | None) -> Components:
    """Components numbered as their parts are sorted."""
    order = inside[cp.argsort(part[inside], kind="stable")]
    starts, run = runs(part[order])
    count = len(starts)
    component = part  # the parts are not needed any more
    component[order] = run
    stays, loops = cp.ones(count, dtype=cp.bool_), cp.zeros(count, dtype=cp.bool_)
    kernels = graph_kernels(COMPONENTS, model.row_starts)
    n = model.n_states
    kernels.launch("look_out", n, *edges_of(model), choices, component, stays, loops, n)
    starts = cp.append(starts, cp.int32(len(order))).astype(cp.int32)
    return Components(component, order, starts, (cp.diff(starts) == 1) & ~loops, stays)
