"""Unknowns by strongly connected component, successors first, each component from its exits inwards.

So a Gauss–Seidel sweep hands values on as far as cycles allow, and equations can be solved segment by segment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .. import _core
from ..backend.cpu.matrix import matrix_of
from ..graph import strongly_connected_components
from ..model.sparse import Mask
from ..solve.equations import Segment
from ..solve.requirements import Requirement
from .reduction import Problem, Reduction

__all__ = ["ComponentOrder", "StateOrder", "segments_of"]

LARGE = 512  # unknowns from which on a component is solved alone, to be swept as often as it needs and no more
SEGMENT = 4096  # unknowns of small components that are solved together
ACYCLIC_RUN = 1024  # unknowns without a cycle from which on it pays to treat them apart


class ComponentOrder(Reduction):
    """The open states in this order. Nothing is to be lifted: equations keep the number of each state."""

    guarantees: ClassVar[frozenset[Requirement]] = frozenset({Requirement.SEGMENTS})

    def apply(self, problem: Problem) -> Problem:
        """The problem with an order, and where its components begin."""
        model, keep = problem.model, problem.keep
        components = strongly_connected_components(model, problem.open_states, keep)
        order, starts = components.order, components.starts
        _core.order_by_exit(matrix_of(model), components.component, starts, keep, order)
        return replace(problem, order=order, starts=starts)

    def describe(self) -> str:
        """In words."""
        return "order by strongly connected component, successors first, each from its exits inwards"


class StateOrder(Reduction):
    """The open states in the order that they have, all components together, for devices that share them."""

    def apply(self, problem: Problem) -> Problem:
        """The problem with an order."""
        assert problem.open_states is not None
        order = np.flatnonzero(problem.open_states).astype(np.int32)
        return replace(problem, order=order, starts=np.array([0, len(order)], dtype=np.int32))

    def describe(self) -> str:
        """In words."""
        return "order by state, all components together"


def segments_of(starts: npt.NDArray[np.integer], trivial: Mask) -> Iterator[Segment]:
    """A segment for each large component and each long run without cycles; small components share one.

    ``starts`` are the offsets of the components, ``trivial`` those that are a single unknown without a loop.
    """
    if not len(trivial):
        return
    edges = np.concatenate([[0], np.flatnonzero(trivial[1:] != trivial[:-1]) + 1, [len(trivial)]])
    begin, end = starts[edges[:-1]], starts[edges[1:]]  # runs of components that are all trivial, or all not
    run = trivial[edges[:-1]] & (end - begin >= ACYCLIC_RUN)
    large = np.flatnonzero(np.diff(starts) >= LARGE)
    runs = [(int(low), int(high), True) for low, high in zip(begin[run], end[run], strict=True)]
    alone = sorted(runs + [(int(starts[c]), int(starts[c + 1]), False) for c in large])
    first = 0
    for low, high, acyclic in [*alone, (int(starts[-1]), int(starts[-1]), False)]:
        while first < low:
            cut = int(starts[np.searchsorted(starts, min(first + SEGMENT, low))])
            yield Segment(first, cut, False)
            first = cut
        if low < high:
            yield Segment(low, high, acyclic)
        first = high
