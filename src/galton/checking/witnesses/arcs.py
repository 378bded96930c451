"""The graph that paths run in: its arcs are transitions, each with what it costs to take it.

The cost of a transition is -log of its probability, so that the likeliest path is the shortest one (Han, Katoen and
Damman, "Counterexample generation in probabilistic model checking", 2009); or it is 1, where steps are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ...device.arrays import members
from ...model.sparse import Mask, Model, row_sums
from ...reduce.submodels import Rows, entries_of
from .downward import Downward

__all__ = ["Arcs", "Floats", "Ints", "Steps", "among", "every_arc", "near", "only", "strategy_arcs"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Arcs:
    """Some transitions of a model, ordered by the states that they leave.

    Attributes
    ----------
    starts
        ``(states + 1,)`` where the arcs of each state begin.
    targets, costs
        ``(arcs,)`` where each leads, and what it costs.
    entries, rows
        ``(arcs,)`` which entry of the matrix, and of which row, each is.
    """

    starts: Ints
    targets: Ints
    costs: Floats
    entries: Ints
    rows: Ints

    @property
    def sources(self) -> Ints:
        """``(arcs,)`` the state that each leaves."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def every_arc(model: Model) -> Arcs:
    """All transitions of a model, with all choices; each costs a step."""
    starts = model.row_starts[model.row_groups].astype(np.int64)
    rows = np.repeat(np.arange(model.n_choices), np.diff(model.row_starts))
    count = model.n_transitions
    return Arcs(starts, model.columns.astype(np.int64), np.ones(count), np.arange(count), rows)


def strategy_arcs(model: Model, rows: Rows) -> Arcs:
    """The transitions of one row for each state, by their probabilities; in a CTMC those of the jumps."""
    entries, lengths = entries_of(model, rows)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    sums = row_sums(model.row_starts, model.values)[rows]
    # A transition that never happens costs infinitely much, and no path takes it.
    with np.errstate(divide="ignore"):
        costs = np.log(np.repeat(sums, lengths)) - np.log(model.values[:][entries])
    targets = model.columns[entries].astype(np.int64)
    return Arcs(starts, targets, np.maximum(costs, 0.0), entries.astype(np.int64), np.repeat(rows, lengths))


class Steps:
    """The probabilities of transitions as the model has them: their doubles, over the exact sum of the row.

    With ``as_they_stand`` the doubles are not divided, as in comparisons of a single step.
    """

    def __init__(self, model: Model, *, as_they_stand: bool = False) -> None:
        self.model, self.as_they_stand = model, as_they_stand
        self._known: dict[int, Downward] = {}
        self._sums: dict[int, Fraction] = {}

    def probability(self, row: int, entry: int) -> Downward:
        """A bound from below on the probability of an entry of a row; itself where few bits hold it."""
        if entry not in self._known:
            number = Fraction(float(self.model.values[entry : entry + 1][0]))
            self._known[entry] = Downward.of(number if self.as_they_stand else number / self._sum(row))
        return self._known[entry]

    def _sum(self, row: int) -> Fraction:
        if row not in self._sums:
            entries = slice(int(self.model.row_starts[row]), int(self.model.row_starts[row + 1]))
            self._sums[row] = sum(map(Fraction, self.model.values[entries].tolist()), Fraction(0))
        return self._sums[row]


def near(arcs: Arcs, start: int, steps: int) -> Ints:
    """The states within so many steps of one, in their order."""
    found = np.zeros(len(arcs.starts) - 1, dtype=np.bool_)
    found[start] = True
    newest = np.array([start])
    while len(newest) and steps:
        entries, _ = members(arcs.starts, newest)
        targets = np.unique(arcs.targets[entries])
        newest, steps = targets[~found[targets]], steps - 1
        found[newest] = True
    return np.flatnonzero(found)


def among(arcs: Arcs, states: Ints) -> Arcs:
    """The arcs that leave some states and lead to some, with these numbered from 0."""
    place = np.full(len(arcs.starts) - 1, -1)
    place[states] = np.arange(len(states))
    kept, counts = members(arcs.starts, states)
    inside = place[arcs.targets[kept]] >= 0
    starts = np.concatenate([[0], np.cumsum(inside)])[np.concatenate([[0], np.cumsum(counts)])]
    kept = kept[inside]
    return Arcs(starts, place[arcs.targets[kept]], arcs.costs[kept], arcs.entries[kept], arcs.rows[kept])


def only(arcs: Arcs, kept: Mask) -> Arcs:
    """Some of the arcs, ``(arcs,)``."""
    starts = np.concatenate([[0], np.cumsum(kept)])[arcs.starts]
    return Arcs(starts, arcs.targets[kept], arcs.costs[kept], arcs.entries[kept], arcs.rows[kept])
