"""From numbers to a certificate of them: the rows, ranks and layers that the verifier asks for.

What each is needed for is in :mod:`galton.verifier.conditions`. Nothing here has to be right: where there are no such
rows or ranks, or those found are wrong, the verifier refuses.
"""

from __future__ import annotations

import numpy as np

from ..graph import maximal_end_components
from ..verifier.certificate import Bound, Side
from ..verifier.numbers import Ints, Mask, Vector
from ..verifier.question import Question
from .ranks import Falling, Graph

__all__ = ["completed"]


def completed(question: Question, graph: Graph, side: Side, values: Vector) -> Bound | None:
    """A certificate that the values are bounds; None where they do not seem to be."""
    return _Completion(question, graph, side, values).bound()


class _Completion:
    def __init__(self, question: Question, graph: Graph, side: Side, values: Vector) -> None:
        self.question, self.graph, self.side, self.values = question, graph, side, values
        self.rows, self.owner = graph.rows, graph.rows.owner
        self.open = ~question.goal & ~question.fail
        self.every = question.optimum is None or (question.optimum == "min") == (side == "lower")
        self.ranks, self.layers = (np.zeros(graph.states, dtype=np.int64) for _ in range(2))
        self.chosen = np.full(graph.states, -1, dtype=np.int64)  # rows

    def bound(self) -> Bound | None:
        question, lower = self.question, self.side == "lower"
        reward = question.kind in ("reward", "total")
        above_zero = self.values.sign_from(0)
        if not reward:
            if not self.values.finite.all():
                return None
            inner = self.open & (above_zero > 0 if lower else self.values.sign_from(1) < 0)
            ranked = (question.kind == "reach") == lower
        elif lower:
            inner = self.values.finite & (above_zero > 0) & self.open
            ranked = question.kind == "total"
        else:
            inner = self.values.finite & ~question.goal
            ranked = question.kind == "reward"
        allowed = self._allowed(inner, closed=reward and not lower)
        besides = self._earning() if reward and lower else None
        if self.every and not allowed[inner[self.owner]].all():
            return None
        if ranked:
            found = self.graph.fall(~inner, inner, every=self.every, allowed=allowed, besides=besides)
            self._take(found, inner)
            if not found.ranked.all():
                return None
        elif not self._choose(allowed, inner):
            return None
        infinite = ~self.values.finite & self.open if reward and lower else np.zeros_like(inner)
        if infinite.any() and not self._infinite(infinite):
            return None
        return Bound(
            self.values,
            ranks=self.ranks if ranked or (infinite.any() and question.kind == "total") else None,
            layers=self.layers if infinite.any() else None,
            choices=None if self.every else self._choices(),
        )

    def _allowed(self, inner: Mask, closed: bool) -> Mask:
        """Rows of the inner states with the drift that is needed and, if asked, without a way to infinite numbers."""
        allowed = inner[self.owner].copy()
        if closed:
            allowed &= self.graph.only_into(self.values.finite)
        reward = self.question.kind in ("reward", "total")
        gains = self.question.gains if reward else ()
        allowed[self.rows.wrong(np.flatnonzero(allowed), self.values, gains, 1 if self.side == "lower" else -1)] = False
        return allowed

    def _earning(self) -> Mask:
        found = np.zeros(self.rows.count, dtype=np.bool_)
        for gain in self.question.gains:
            found |= gain > 0
        return found

    def _take(self, found: Falling, states: Mask) -> None:
        self.ranks[states] = found.ranks[states]
        if not self.every:
            self.chosen[states] = found.rows[states]

    def _choose(self, allowed: Mask, states: Mask) -> bool:
        """The first allowed row of each of the states, where every row is not meant; False if there is none."""
        if self.every:
            return True
        rows = np.flatnonzero(allowed & states[self.owner])
        owners, first = np.unique(self.owner[rows], return_index=True)
        self.chosen[owners] = rows[first]
        return len(owners) == np.count_nonzero(states)

    def _choices(self) -> Ints:
        starts = self.question.model.choice_starts
        assert starts is not None
        return np.where(self.chosen < 0, 0, self.chosen - starts[:-1])

    # Infinite rewards.

    def _infinite(self, infinite: Mask) -> bool:
        all_strategies = self.every and self.question.optimum is not None
        total = self.question.kind == "total"
        if all_strategies:
            return self._never_finite(infinite)
        source = self._earns_for_ever() if total else self._avoids_for_ever()
        found = self.graph.fall(source | self.question.fail, infinite & ~source, every=False)
        away = infinite & ~source
        self.layers[source], self.layers[away] = 1, 1 + found.ranks[away]
        if not self.every:
            self.chosen[away] = found.rows[away]
        return bool(found.ranked[infinite].all())

    def _avoids_for_ever(self) -> Mask:
        """Open states with a row that never leads to the goal, taken for ever."""
        goal, fail = self.question.goal, self.question.fail
        caught = self.graph.fall(goal, self.open, every=True).ranked
        source: Mask = ~caught & ~fail
        self._choose(self.graph.only_into(~caught), source)
        return source

    def _earns_for_ever(self) -> Mask:
        """States of end components that have a row that earns something."""
        ends = maximal_end_components(self.question.model)
        earning = self._earning() & ends.staying
        paying = np.unique(ends.component[self.owner[earning]])
        source: Mask = np.isin(ends.component, paying) & (ends.component >= 0)
        nowhere = np.zeros_like(source)
        found = self.graph.fall(nowhere, source, every=False, allowed=ends.staying, besides=earning)
        self.ranks[source] = found.ranks[source]
        if not self.every:
            self.chosen[source] = found.rows[source]
        return source

    def _never_finite(self, infinite: Mask) -> bool:
        """Layers of states from where no strategy surely comes to the goal, or to where it need not pay any more."""
        graph, nowhere = self.graph, np.zeros(self.graph.states, dtype=np.bool_)
        earning, goal = self._earning(), self.question.goal
        total = self.question.kind == "total"
        if total:
            goal = ~graph.fall(nowhere, ~nowhere, every=True, besides=earning).ranked
        left: Mask = ~self.question.fail
        layer = 0
        while True:
            staying = graph.only_into(left)
            comes = graph.fall(goal & left, left & ~goal, every=False, allowed=staying).ranked
            gone = left & ~comes
            if not gone.any():
                return not bool((infinite & left).any())
            layer += 1
            self.layers[gone] = layer
            if total:
                self.ranks[gone] = graph.fall(nowhere, gone, every=True, besides=earning | ~staying).ranks[gone]
            left &= ~gone
