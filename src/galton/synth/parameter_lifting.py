"""A property of a parametric DTMC or MDP over boxes of parameters, by parameter lifting.

Over a box a chain is an MDP (:mod:`.parametric_mdp`), and the least and greatest values of that, which are proved as in
``galton check``, bound those of the chain. In an MDP there is a strategy besides the parameters. Where both pull in
the same direction, one larger MDP has the answer. Where they do not, any strategy bounds the best one from its side:
the one that is best in the middle of the box is fixed, and a chain is left. For a number of steps that is a game
(:mod:`.stochastic_game`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..checking.evaluation import Evaluation
from ..lang.program import Program
from ..lang.properties import (
    BinaryPath,
    Cumulative,
    ExpectedTime,
    Instantaneous,
    Optimum,
    Probability,
    Reward,
    SteadyState,
    UnaryPath,
)
from ..lang.resolution import parts
from ..lang.source import LanguageError, Source, UnsupportedError
from ..model.sparse import Model
from ..solve.settings import Settings
from .parametric_mdp import ParametricChoices
from .placement import Place
from .polynomials import Floats
from .question import Operator
from .stochastic_game import OPPOSITE, Game
from .transitions import Int32s

__all__ = ["LiftedEvaluator"]


@dataclass(eq=False)
class LiftedEvaluator:
    """Bounds for a DTMC or MDP in its initial state; see :class:`.evaluator.Evaluator`."""

    model: ParametricChoices
    program: Program
    source: Source
    operator: Operator
    place: Place
    threads: int = 1
    watch: Callable[[], None] | None = None
    boxes: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        inner = [
            part for part in parts(self.operator) if isinstance(part, (Probability, Reward, SteadyState, ExpectedTime))
        ]
        if len(inner) > 1:
            message = "operators inside operators are not supported in a synthesis in discrete time"
            raise UnsupportedError(message, self.source, inner[1].span)
        self._strategies = self._direction()
        self._bounded = self._counts_steps()
        low, high = self.model.space
        middle = low + (high - low) / 2
        self.bounds(middle[None, :], middle[None, :])  # what is wrong with the property shows now
        self.boxes = self.steps = 0

    @property
    def space(self) -> tuple[Floats, Floats]:
        """The corners of the ranges of the parameters."""
        return self.model.space

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """``(boxes,)`` bounds that hold at all points of each box, whose corners are ``(boxes, parameters)``."""
        found = np.array([self._box(bottom, top) for bottom, top in zip(low, high, strict=True)]).reshape(len(low), 2)
        return found[:, 0], found[:, 1]

    def _box(self, low: Floats, high: Floats) -> tuple[float, float]:
        if self.watch is not None:
            self.watch()
        self.boxes += 1
        whole = self.model.lifted.at(low, high)
        most = 1.0 if isinstance(self.operator, Probability) else np.inf
        if whole is None:
            return 0.0, most
        if self._strategies is None:
            lower = self._solved(whole, "min")[0]
            upper = self._solved(whole, "max")[1]
            return lower, upper
        if (low == high).all():
            return self._solved(whole, self._strategies)
        own, other = self._strategies, OPPOSITE[self._strategies]
        together, against = self._solved(whole, own), self._against(whole, low, high, other)
        return (against[0], together[1]) if own == "max" else (together[0], against[1])

    def _against(self, whole: Model, low: Floats, high: Floats, parameters: Optimum) -> tuple[float, float]:
        """Bounds on what strategies can do where parameters pull in the other direction."""
        if self._bounded:
            self.steps += 1
            game = Game(whole, self.model.lifted.starts, self.model.choice_starts, OPPOSITE[parameters], parameters)
            evaluation = Evaluation(whole, self.program, self.source, Settings(threads=self.threads))
            return game.value(self.operator, evaluation)
        fixed = self.model.under(self._best(low + (high - low) / 2)).at(low, high)
        assert fixed is not None, "some of the rows of a model without a negative number"
        return self._solved(fixed, parameters)

    def _solved(self, model: Model, direction: Optimum) -> tuple[float, float]:
        """Bounds on the least or greatest value."""
        self.steps += 1
        formula = replace(self.operator, optimum=direction if model.has_choices else None, comparison=None)
        evaluation = Evaluation(model, self.program, self.source, Settings(threads=self.threads))
        found = evaluation.numbers(formula)
        initial = int(model.initial[0])
        lower, upper = (np.broadcast_to(bound, model.n_states)[initial] for bound in (found.lower, found.upper))
        return float(lower), float(upper)

    def _best(self, point: Floats) -> Int32s:
        """A strategy that is best at a point: the number of a choice for each state."""
        first: Int32s = self.model.choice_starts[:-1].astype(np.int32)
        model = self.model.lifted.at(point, point)
        if model is None or not model.has_choices:
            return first
        self.steps += 1
        formula = replace(self.operator, optimum=self._strategies, comparison=None)
        settings = Settings(threads=self.threads)
        evaluation = Evaluation(model, self.program, self.source, settings, strategy_of=formula)
        evaluation.numbers(formula)
        choices = evaluation.steps[-1].quantity.choices
        return first if choices is None else np.where(choices >= 0, choices, first).astype(np.int32)

    def _direction(self) -> Optimum | None:
        """What strategies do: a threshold has to be met by all of them, here and in ``galton check``."""
        operator = self.operator
        if not self.program.nature.has_choices:
            return None
        if operator.optimum is not None:
            return operator.optimum
        if operator.comparison is not None:
            return "min" if operator.comparison.operator in (">", ">=") else "max"
        letter = "P" if isinstance(operator, Probability) else "R"
        message = f"an MDP has no single value for {letter}=?: it depends on the strategy"
        raise LanguageError(message, self.source, operator.span, f"ask for {letter}min=? or {letter}max=?")

    def _counts_steps(self) -> bool:
        counting = (
            isinstance(part, (Cumulative, Instantaneous))
            or (isinstance(part, UnaryPath) and (part.operator == "X" or part.bound is not None))
            or (isinstance(part, BinaryPath) and part.bound is not None)
            for part in parts(self.operator)
        )
        return any(counting)
