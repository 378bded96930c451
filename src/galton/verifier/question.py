"""What a property asks, in the few shapes that can be verified, with state formulas as sets of states.

This is the verifier's own reading of properties: it shares the parser and the types with the checker, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..explore.evaluate import evaluate_states
from ..lang.evaluation import evaluate
from ..lang.expressions import Binary, Call, Conditional, Expression, Label, Name, Unary
from ..lang.expressions import Literal as Value
from ..lang.program import Program
from ..lang.properties import (
    BinaryPath,
    Comparison,
    Cumulative,
    ExpectedTime,
    Instantaneous,
    LongRun,
    Probability,
    Reward,
    SteadyState,
    TimeBound,
    UnaryPath,
    children,
)
from ..lang.rendering import render
from ..lang.reward_structures import structure_name
from ..lang.source import GaltonError, Source
from ..model.sparse import Model, Rewards
from ..model.states import PackedStates
from .numbers import Floats, Mask, Rows

__all__ = ["Question", "UncertifiableError", "read_question", "rows_of"]

Kind = Literal["reach", "avoid", "reward", "total", "average", "steps"]
Operator = Probability | Reward | ExpectedTime | SteadyState


class UncertifiableError(GaltonError):
    """A property that certificates do not cover."""

    kind = "unsupported"


@dataclass(frozen=True, eq=False)
class Question:
    """A number for each state, and perhaps what it is compared with.

    Attributes
    ----------
    kind
        ``reach``: the probability to get to ``goal`` and not into ``fail`` before; ``avoid``: that this does not
        happen; ``reward``: what is earned until ``goal`` is reached, infinite where it is not; ``total``: what is
        earned for ever; ``average``: per step or unit of time, in the long run; ``steps``: see :mod:`.steps`.
    optimum
        Over all strategies of an MDP; None for a chain.
    gains
        What each row earns: numbers that are to be added, exactly.
    repeat
        For ``steps``: how many steps to make first, each from a state in ``through``.
    within
        For ``steps``: how many further steps there are to get to the goal; None where the question is about a reward.
    collects
        For ``steps``: whether each step earns the reward, or only the state at the end.
    negated
        For ``steps``: one minus the value is meant.
    """

    kind: Kind
    model: Model
    rows: Rows
    optimum: Literal["min", "max"] | None
    goal: Mask
    fail: Mask
    gains: tuple[Floats, ...] = ()
    comparison: tuple[str, float] | None = None
    through: Mask | None = None
    repeat: int = 0
    within: int | None = None
    collects: bool = False
    negated: bool = False


def rows_of(model: Model) -> Rows:
    """The rows of a model on the host."""
    starts = model.row_starts.astype(np.int64)
    owner = np.repeat(np.arange(model.n_states), np.diff(model.row_groups))
    return Rows(starts, model.columns.astype(np.int64), model.values.array(), owner, model.has_rates)


def read_question(expression: Expression, program: Program, model: Model, source: Source) -> Question:
    """The question of a property that was resolved against the program of the model."""
    return _Reading(program, model, source).question(expression)


class _Reading:
    def __init__(self, program: Program, model: Model, source: Source) -> None:
        self.program, self.model, self.source = program, model, source
        self.nowhere: Mask = np.zeros(model.n_states, dtype=np.bool_)

    def question(self, expression: Expression) -> Question:
        if not isinstance(expression, Operator):
            raise UncertifiableError(
                f"a certificate is about one operator P, R, T or S, not about {render(expression)}"
            )
        match expression:
            case Probability(path):
                asked = self._path(path)
            case Reward(objective):
                asked = self._objective(objective, self._gains(expression))
            case ExpectedTime(path):
                asked = self._until_goal(path, (np.ones(self.model.n_choices),))
            case SteadyState(states):
                held = self._mask(states).astype(np.float64)[rows_of(self.model).owner]
                asked = self._average((held,))
        comparison = expression.comparison
        optimum = None
        if self.model.has_choices:
            if asked.kind == "average":
                raise UncertifiableError("long-run averages of an MDP are not certified")
            optimum = getattr(expression, "optimum", None)
            if optimum is None:
                if comparison is None:
                    raise GaltonError("an MDP has no single value: ask for the minimum or the maximum")
                optimum = "min" if comparison.operator in (">", ">=") else "max"
        return replace(asked, optimum=optimum, comparison=None if comparison is None else self._threshold(comparison))

    def _asked(self, kind: Kind, goal: Mask, fail: Mask, gains: tuple[Floats, ...] = ()) -> Question:
        return Question(kind, self.model, rows_of(self.model), None, goal, fail, gains)

    def _threshold(self, comparison: Comparison) -> tuple[str, float]:
        return comparison.operator, self._constant(comparison.bound)

    # Paths.

    def _path(self, path: Expression) -> Question:
        negated, through, goal, bound = self._until(path)
        fail = ~through & ~goal
        asked = self._asked("avoid" if negated else "reach", goal, fail)
        if isinstance(path, UnaryPath) and path.operator == "X":
            return replace(asked, kind="steps", fail=self.nowhere, through=through, repeat=1, within=0)
        if bound is None:
            return asked
        if self.model.is_continuous or bound.is_budget:
            raise UncertifiableError("bounds on time or rewards are not certified, only those on steps")
        low = self._whole(bound.low) + bound.low_strict if bound.low is not None else 0
        high = None if bound.high is None else self._whole(bound.high) - bound.high_strict
        if high is not None and low > high:
            raise GaltonError("the interval of the bound is empty")
        if high is None and low == 0:
            return asked
        if high is None:
            raise UncertifiableError("a lower bound on steps without an upper one is not certified")
        return replace(asked, kind="steps", through=through, repeat=low, within=high - low, negated=negated)

    def _until(self, path: Expression) -> tuple[bool, Mask, Mask, TimeBound | None]:
        """A path as ``through U goal``, perhaps negated: G a is !(true U !a), a W b is !((a&!b) U (!a&!b)), and a R b
        is !(!a U !b)."""
        everywhere = ~self.nowhere
        match path:
            case UnaryPath("X" | "F", states, bound):
                return False, everywhere, self._mask(states), bound
            case UnaryPath(_, states, bound):
                return True, everywhere, ~self._mask(states), bound
            case BinaryPath(operator, left, right, bound):
                a, b = self._mask(left), self._mask(right)
                if operator == "U":
                    return False, a, b, bound
                return (True, a & ~b, ~a & ~b, bound) if operator == "W" else (True, ~a, ~b, bound)
        raise UncertifiableError(f"the path formula {render(path)} is not certified; one of X F G U W R is")

    # Rewards.

    def _objective(self, objective: Expression, gains: tuple[Floats, ...]) -> Question:
        timed = self.model.is_continuous
        match objective:
            case LongRun():
                return self._average(gains)
            case Cumulative(None):
                return self._asked("total", self.nowhere, self.nowhere, gains)
            case Cumulative(limit, strict) if limit is not None and not timed:
                asked = self._asked("steps", self.nowhere, self.nowhere, gains)
                return replace(asked, repeat=self._whole(limit) - strict, collects=True)
            case Instantaneous(moment) if not timed:
                asked = self._asked("steps", self.nowhere, self.nowhere, gains[:1])
                return replace(asked, repeat=self._whole(moment))
            case Cumulative() | Instantaneous():
                raise UncertifiableError("bounds on time are not certified, only those on steps")
        return self._until_goal(objective, gains)

    def _average(self, gains: tuple[Floats, ...]) -> Question:
        return self._asked("average", self.nowhere, self.nowhere, gains)

    def _until_goal(self, path: Expression, gains: tuple[Floats, ...]) -> Question:
        match path:
            case UnaryPath("F", _, None) | BinaryPath("U", _, _, None):
                _, through, goal, _ = self._until(path)
                return self._asked("reward", goal, ~through & ~goal, gains)
        raise UncertifiableError(
            f"rewards until {render(path)} are not certified; until F or U without a bound they are"
        )

    def _gains(self, formula: Reward) -> tuple[Floats, ...]:
        """The rewards of states and of choices, as numbers per row."""
        name = structure_name(formula, self.program.reward_names, self._constant, self.source)
        found: Rewards = self.model.rewards[name]
        owner = rows_of(self.model).owner
        state = np.zeros(len(owner)) if found.state is None or not found.state.size else found.state[owner]
        choice = np.zeros(len(owner)) if found.choice is None or not found.choice.size else found.choice
        for part in (state, choice):
            if not ((part >= 0) & (part < np.inf)).all():
                raise GaltonError("rewards that are negative or not finite are not certified")
        return (state, choice) if choice.any() else (state,)

    # State formulas and constants.

    def _mask(self, formula: Expression) -> Mask:
        """Where a formula about single states holds."""
        match formula:
            case Value(bool() as value):
                return ~self.nowhere if value else self.nowhere
            case Name(name) if name in self.program.constants:
                return self._mask(Value(bool(self.program.constants[name])))
            case Name(name) if self.model.states is not None:
                return self.model.states.column(name).astype(np.bool_)
            case Label(name) if name in self.model.labels:
                return self.model.labels[name]
            case Label(name):
                return self._mask(self.program.labels[name])
            case Unary("!", operand):
                return ~self._mask(operand)
            case Binary("&" | "|" | "=>" as operator, left, right) if _has_label(formula):
                a, b = self._mask(left), self._mask(right)
                return a & b if operator == "&" else a | b if operator == "|" else ~a | b
        for part in _parts(formula):
            if not isinstance(part, (Value, Name, Label, Unary, Binary, Conditional, Call)):
                raise UncertifiableError(f"operators inside others are not certified: {render(part)}")
        if isinstance(self.model.states, PackedStates):
            bare = replace(self.program, labels={})
            if _has_label(formula):
                raise UncertifiableError(f"labels in {render(formula)} must stand under !, &, | and => to be certified")
            return evaluate_states(bare, self.model, [formula], self.source)[0]
        return np.array([bool(evaluate(formula, values)) for values in self._valuations()], dtype=np.bool_)

    def _valuations(self) -> Iterator[dict[str, bool | int | float]]:
        states = self.model.states
        names = [] if states is None else list(states.variables or ())
        columns = [] if states is None else [states.column(name).tolist() for name in names]
        rows = zip(*columns, strict=True) if columns else iter([()] * self.model.n_states)
        for row in rows:
            yield {**self.program.constants, **dict(zip(names, row, strict=True))}

    def _constant(self, expression: Expression) -> float:
        return float(evaluate(expression, self.program.constants))

    def _whole(self, expression: Expression) -> int:
        value = self._constant(expression)
        if value >= 2**62:
            raise UncertifiableError(f"{value:g} steps are too many to repeat")
        if not value >= 0 or value != int(value):
            raise GaltonError(f"steps are counted in whole numbers, and this is {value:g}")
        return int(value)


def _parts(expression: Expression) -> Iterator[Expression]:
    yield expression
    for child in children(expression):
        yield from _parts(child)


def _has_label(expression: Expression) -> bool:
    return any(isinstance(part, Label) for part in _parts(expression))
