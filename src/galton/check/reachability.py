"""Unbounded reachability, ``P [ a U b ]`` and ``P [ F b ]``, on models small enough for a direct solver."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..explore.evaluate import evaluate_states
from ..lang import Source, UnsupportedError, evaluate
from ..lang.expressions import Binary, Conditional, Expression, Label, Unary
from ..lang.expressions import Literal as Constant
from ..lang.properties import BinaryPath, Probability, UnaryPath
from ..model.program import Program
from ..model.sparse import Model
from .resolution import BUILT_IN, Question, is_state_formula, parts

Mask = npt.NDArray[np.bool_]
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True, slots=True)
class Result:
    """The answer for the initial states: a probability, or a truth value where the property has a bound.

    ``value`` is that of the first initial state; ``lowest`` and ``highest`` are taken over all of them.
    """

    value: float | bool
    lowest: float
    highest: float
    strategies: int


def check(program: Program, model: Model, question: Question) -> Result:
    """Check a property, resolved against a program, on the model built from that program."""
    prop, source = question.prop, question.source
    expression = prop.expression
    if not isinstance(expression, Probability):
        raise UnsupportedError("only properties of the form P [ … ] are supported yet", source, prop.span)
    through, goal = _path(program, model, expression.path, source)
    optimum = expression.optimum or _strictest(expression)
    if model.type == "mdp" and optimum is None:
        raise UnsupportedError("an MDP has no single probability", source, prop.span, hint="ask for Pmin=? or Pmax=?")
    values, strategies = reachability(model, through, goal, optimum or "max")
    initial = values[model.initial]
    value: float | bool = float(initial[0])
    if expression.comparison:
        bound = float(evaluate(expression.comparison.bound, program.constants))
        value = bool(COMPARE[expression.comparison.operator](initial, bound).all())
    return Result(value, float(initial.min()), float(initial.max()), strategies)


def reachability(
    model: Model, through: Mask, goal: Mask, optimum: Literal["min", "max"]
) -> tuple[npt.NDArray[np.float64], int]:
    """The probability, in each state, to reach the goal by a path through the given states."""
    from ..graph import attractor, zero_and_one
    from ..solve import policy_iteration

    known = np.full(model.n_states, np.nan)
    zero, one = zero_and_one(model, through, goal, optimum)
    known[zero] = 0.0
    known[one] = 1.0
    probabilities = model.values.array()
    if model.type == "ctmc":  # time plays no role: the embedded chain has the same probabilities
        probabilities = probabilities / np.repeat(model.exit_rates, np.diff(model.row_starts))
    starts = np.arange(model.n_states + 1) if model.choice_starts is None else model.choice_starts
    # From the attractor on, every strategy that policy iteration tries leaves the undecided states.
    strategy = attractor(model, through, known == 1.0).astype(np.int64)
    values, strategies = policy_iteration(
        model.row_starts, model.columns, probabilities, starts, known, strategy, optimum
    )
    return np.clip(values, 0.0, 1.0), strategies


def _strictest(expression: Probability) -> Literal["min", "max"] | None:
    """A bound on an MDP is meant for all strategies."""
    if expression.comparison is None:
        return None
    return "min" if expression.comparison.operator in (">", ">=") else "max"


def _path(program: Program, model: Model, path: Expression, source: Source) -> tuple[Mask, Mask]:
    match path:
        case UnaryPath("F", goal, None):
            operands: list[Expression] = [Constant(True), goal]
        case BinaryPath("U", through, goal, None):
            operands = [through, goal]
        case _:
            raise UnsupportedError("only F and U without bounds are supported yet", source, path.span)
    masks = []
    for operand in operands:
        if not is_state_formula(operand):
            raise UnsupportedError("formulas within formulas are not supported yet", source, operand.span)
        masks.append(states_where(program, model, operand, source))
    return masks[0], masks[1]


def states_where(program: Program, model: Model, expression: Expression, source: Source) -> Mask:
    """The states in which a state formula holds. ``"init"`` and ``"deadlock"`` are known of the model only."""
    if not any(isinstance(part, Label) and part.name in BUILT_IN for part in parts(expression)):
        return evaluate_states(program, model, [expression], source)[0]

    def where(operand: Expression) -> Mask:
        return states_where(program, model, operand, source)

    match expression:
        case Label(name):
            return model.labels[name]
        case Unary("!", operand):
            return ~where(operand)
        case Binary("&", left, right):
            return where(left) & where(right)
        case Binary("|", left, right):
            return where(left) | where(right)
        case Binary("=>", left, right):
            return ~where(left) | where(right)
        case Binary("<=>" | "=", left, right):
            return ~(where(left) ^ where(right))
        case Binary("!=", left, right):
            return where(left) ^ where(right)
        case Conditional(condition, then, otherwise):
            return np.where(where(condition), where(then), where(otherwise))
    raise UnsupportedError('"init" and "deadlock" cannot be used here', source, expression.span)
