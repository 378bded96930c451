"""Bounds on the answer to a question about a parametric CTMC, by where its process is: forward in time."""

from __future__ import annotations

import numpy as np

from ..graph import can_reach
from ..graph.reachability import forward_reachable
from ..lang.properties import Reward
from ..lang.source import UnsupportedError
from ..model.sparse import Mask
from .evaluator import BackwardEvaluator, Bundle
from .forward_transient import ForwardRows, Mass, moved
from .transient import Enclosure, PhaseRows
from .transitions import Int32s

__all__ = ["ForwardEvaluator"]


class ForwardEvaluator(BackwardEvaluator):
    """Bounds for a CTMC, forward from its initial state; no operator may stand inside another."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for part in self.asked.inner:
            message = "forward bounds are about the initial state alone, and an operator inside another needs all"
            raise UnsupportedError(message, self.asked.source, part.span, "ask with --direction backward")

    def _exactly(
        self, through: Mask, goal: Mask, low: float, high: float, bundle: Bundle, watched: Int32s | None
    ) -> Enclosure:
        """P [ through U[low,high] goal ]: first until ``low``, then what of that mass gets to the goal."""
        mass, steps = self._start(bundle), 0
        matter = can_reach(self.model.graph, through, goal)
        if low > 0:
            mass, steps = self._moved(matter & through, bundle, mass, low)
            mass = mass.within(through)
        mass, more = self._moved(matter & through & ~goal, bundle, mass, high - low)
        inside = goal.astype(np.float64)[:, None]
        lower, upper = mass.expected(inside, inside)
        return Enclosure(lower[None], upper[None], steps + more)

    def _reward(self, formula: Reward, bundle: Bundle, watched: Int32s | None) -> Enclosure:
        values, earning = self._rewards(formula, bundle)
        asked = self.asked.earning(formula)
        mass, steps = self._moved(earning, bundle, self._start(bundle), asked.time, over=asked.over)
        lower, upper = mass.expected(*values)
        return Enclosure(lower[None], upper[None], steps)

    def _start(self, bundle: Bundle) -> Mass:
        (initial,) = self.model.initial
        return Mass.at(int(initial), self.model.n_states, bundle.size)

    def _moved(self, active: Mask, bundle: Bundle, mass: Mass, time: float, *, over: bool = False) -> tuple[Mass, int]:
        reached = forward_reachable(self.model.graph, (mass.upper > 0).any(axis=1) & active, active)
        rows = self._phase(reached & active)
        assert isinstance(rows, ForwardRows)
        terms = bundle.lower, bundle.upper
        return moved(rows, terms, mass, time, over=over, threads=bundle.threads, tell=self._tell)

    def _rows_of(self, active: Mask) -> PhaseRows:
        return ForwardRows(self.model, active)
