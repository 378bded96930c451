"""The value of a property in every state of a rank's part of a model.

Arrays are about the rank's own states, so whatever is done state by state is done as on one machine. Whatever looks at
all states at once, or may fail in one of them, is done by all ranks together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...backend.petsc.graph import RankGraph
from ...backend.petsc.model import RankModel
from ...backend.petsc.world import World
from ...lang.expressions import Expression
from ...lang.properties import ExpectedTime, Filter, Probability, Reward, SteadyState
from ...lang.rendering import render
from ...lang.source import Span, UnsupportedError
from ..evaluation import Evaluation, UndecidedError
from ..intervals import Mask, Numbers, Truth
from ..quantity import Quantity

__all__ = ["RankEvaluation"]


@dataclass(eq=False)
class RankEvaluation(Evaluation):
    """Formulas of one text over the states of one rank; all ranks evaluate the same."""

    @property
    def part(self) -> RankModel:
        """The model, as what it is."""
        assert isinstance(self.model, RankModel)
        return self.model

    @property
    def world(self) -> World:
        """All ranks."""
        return self.part.world

    @cached_property
    def graph(self) -> RankGraph:
        """The graph of the model, whose edges are turned round once."""
        return RankGraph(self.part)

    def mask(self, expression: Expression) -> Mask:
        """The states in which a formula holds, for a formula around it that needs to know."""
        with self.focused(self._everywhere):
            truth = self.truth(expression)
        undecided = np.flatnonzero(np.broadcast_to(truth.undecided, self.model.n_states))
        mine = None
        if len(undecided):
            state = int(undecided[0])
            mine = (
                f"whether {render(expression)} holds in {self.state_name(state)} cannot be decided{self._bounds(state)}"
            )
        if found := next(filter(None, self.world.gathered(mine)), None):
            raise UndecidedError(found)
        return np.array(np.broadcast_to(truth.must, self.model.n_states))

    def at(self, values: Any, states: Any) -> np.ndarray:
        """What values are in some states of each rank, of all ranks together."""
        if np.ndim(values) == 0:
            return np.array([values])
        return self.world.joined(values[states])

    def first_state_name(self) -> str:
        """The first initial state as people know it."""
        initial = self.model.initial
        return str(next(filter(None, self.world.gathered(self.state_name(int(initial[0])) if len(initial) else None))))

    def solved(self, expression: Expression, quantity: Quantity, *, signed: bool = False) -> Quantity:
        """Note what an operator came to, if it can be right on every rank."""
        with self.world.agreeing():
            found = super().solved(expression, quantity, signed=signed)
        return found

    def _in_core(self, expression: Expression) -> Mask:
        found: Mask = np.zeros(0, dtype=bool)
        with self.world.agreeing():
            if self.model.n_states:
                found = super()._in_core(expression)
        return found

    def _insist(self, fine: Mask, where: Mask | None, span: Span, complaint: str) -> None:
        with self.world.agreeing():
            super()._insist(fine, where, span, complaint)

    def refuse(self, what: str, span: Span) -> UnsupportedError:
        """The error for what is not answered across ranks."""
        return UnsupportedError(f"{what} are not answered across ranks", self.source, span, "ask on one machine")

    def _solved(self, expression: Expression) -> Truth | Numbers:
        from . import filters, operators

        match expression:
            case Probability():
                return operators.probability(self, expression)
            case Reward():
                return operators.reward(self, expression)
            case ExpectedTime():
                return operators.expected_time(self, expression)
            case SteadyState():
                return operators.steady_state(self, expression)
            case Filter():
                return filters.filtered(self, expression)
        raise self.refuse("properties of this kind", expression.span)
