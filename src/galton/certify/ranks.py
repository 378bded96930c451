"""Ranks: how many steps, at least, from each state to somewhere, in rows of a choice of ours or in all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..verifier.numbers import Ints, Mask, Rows

__all__ = ["Falling", "Graph"]


@dataclass(frozen=True, eq=False)
class Falling:
    """``(states,)`` ranks, the states that have one, and the row that falls (-1 where none was looked for)."""

    ranks: Ints
    ranked: Mask
    rows: Ints


@dataclass(frozen=True, eq=False)
class Graph:
    """The rows of a model, and who leads where."""

    rows: Rows
    states: int

    @cached_property
    def _by_column(self) -> tuple[Ints, Ints]:
        """Rows sorted by the states they lead to, and where those of each state begin."""
        row_of = np.repeat(np.arange(self.rows.count), np.diff(self.rows.starts))
        order = np.argsort(self.rows.columns, kind="stable")
        counts = np.bincount(self.rows.columns, minlength=self.states)
        return row_of[order], np.concatenate([[0], np.cumsum(counts)])

    def into(self, states: Ints) -> Ints:
        """The rows that lead to some of the states; a row may come twice."""
        rows, starts = self._by_column
        lengths = starts[states + 1] - starts[states]
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        return rows[np.repeat(starts[states] - (ends - lengths), lengths) + np.arange(total)]

    def only_into(self, states: Mask) -> Mask:
        """The rows all of whose successors are among the states."""
        found: Mask = self.rows.least(states.astype(np.int64)) == 1
        return found

    def fall(
        self, base: Mask, inner: Mask, *, every: bool, allowed: Mask | None = None, besides: Mask | None = None
    ) -> Falling:
        """Rank 0 in ``base``; in ``inner``, a rank such that a row has a successor of smaller rank, or is ``besides``.

        With ``every``, all rows of the state; else one of the ``allowed``. States that have no such rank stay unranked.
        """
        owner = self.rows.owner
        usable = inner[owner] if allowed is None else inner[owner] & allowed
        ranks, chosen = np.zeros(self.states, dtype=np.int64), np.full(self.states, -1, dtype=np.int64)
        ranked = base.copy()
        left = np.bincount(owner, minlength=self.states)
        hit = np.zeros(self.rows.count, dtype=np.bool_)
        touched = np.zeros(self.rows.count, dtype=np.bool_) if besides is None else besides.copy()
        touched[self.into(np.flatnonzero(base))] = True
        fresh, level = np.flatnonzero(touched & usable), 0
        while len(fresh):
            level += 1
            hit[fresh] = True
            states, first, counts = np.unique(owner[fresh], return_index=True, return_counts=True)
            if every:
                left[states] -= counts
                new = (left[states] == 0) & ~ranked[states]
            else:
                new = ~ranked[states]
                chosen[states[new]] = fresh[first[new]]
            found = states[new]
            ranks[found], ranked[found] = level, True
            rows = self.into(found)
            fresh = np.unique(rows[usable[rows] & ~hit[rows]])
        return Falling(ranks, ranked, chosen)
