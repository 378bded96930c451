"""The order of unknowns and states on a device: which of them are near each other in memory.

States are numbered by the values of their variables, which keeps most successors near. Breadth-first numbering (Wijs
and Bošnački 2012) and that of Cuthill and McKee (1969), reversed, are here to be compared with it. They are made on
the host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, reverse_cuthill_mckee

from ..backend.formats import ORDERS
from ..backend.steps import Part
from ..device.arrays import namespace, on_host
from .reduction import Problem, Reduction

__all__ = ["Renumbering", "places", "renumbered"]


@dataclass(frozen=True)
class Renumbering(Reduction):
    """The unknowns of a device in an order that was asked for. Nothing is to be lifted: equations keep the numbers."""

    order: str

    def apply(self, problem: Problem) -> Problem:
        """The problem with a numbering, which is made when its rows are."""
        return replace(problem, numbering=self.order)

    def describe(self) -> str:
        """In words."""
        return f"number the unknowns {ORDERS[self.order]}"


def renumbered(part: Part, order: str, initial: Any) -> Part:
    """The states of a part of a model on a device in another order, for steps.

    Vectors are taken from the states and given back to them by their numbers, so that nothing else is to be lifted.
    """
    from ..backend.cuda.steps import StepMatrix

    part = replace(part, order=order)
    matrix = part.matrix
    if order == "canonical" or not part.n_states:
        return part
    assert isinstance(matrix, StepMatrix)
    xp = namespace(matrix.columns)
    roots = on_host(part.positions(initial))
    new = xp.asarray(places(order, matrix.groups, matrix.starts, matrix.columns, roots))
    sequence = xp.argsort(new).astype(np.int32)
    states = sequence if part.states is None else part.states[sequence]
    # A state that is not in this part keeps its -1.
    position = new if part.position is None else xp.where(part.position >= 0, new[part.position], part.position)
    return replace(part, states=states, position=position, matrix=matrix.renumbered(sequence, new))


def places(order: str, groups: Any | None, starts: Any, columns: Any, roots: npt.NDArray[np.integer]) -> Any:
    """The new number of each unknown, given the rows of its equations; ``roots`` are where a search begins."""
    row_starts = on_host(starts)
    offsets = row_starts if groups is None else row_starts[on_host(groups)]
    size = len(offsets) - 1
    # One node more, which leads to the roots: a search from there begins at all of them.
    entries = np.concatenate([on_host(columns), roots.astype(np.int32)])
    offsets = np.append(offsets, len(entries))
    graph = csr_array((np.ones(len(entries), dtype=np.float64), entries, offsets), shape=(size + 1, size + 1))
    if order == "bfs":
        found = breadth_first_order(graph, size, return_predecessors=False)[1:]
        missed = np.ones(size, dtype=np.bool_)
        missed[found] = False
        sequence = np.concatenate([found, np.flatnonzero(missed)])
    else:
        graph.sum_duplicates()
        sequence = reverse_cuthill_mckee(graph[:size, :size], symmetric_mode=False)
    new = np.empty(size, dtype=np.int32)
    new[sequence] = np.arange(size, dtype=np.int32)
    return new
