"""Path formulas in the few shapes that are solved.

A path formula with one temporal operator is a formula about the state itself, about the next state, or an until:
``F``, ``G``, ``W`` and ``R`` are untils or negated ones. A negation in front of a temporal operator moves inside, and
``(F a) | (F b)`` is ``F (a | b)``; anything with more temporal operators is LTL, which only ``P`` takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..lang.evaluation import EvaluationError, evaluate
from ..lang.expressions import Binary, Expression, Literal, Name, Unary, Value
from ..lang.properties import (
    AutomatonPath,
    BinaryPath,
    Cumulative,
    ExpectedTime,
    Instantaneous,
    LongRun,
    Probability,
    Reward,
    SteadyState,
    TimeBound,
    UnaryPath,
)
from ..lang.resolution import has_path, parts
from ..lang.source import LanguageError, Source, UnsupportedError


@dataclass(frozen=True, slots=True)
class Now:
    """A formula about the state where the path begins."""

    states: Expression


@dataclass(frozen=True, slots=True)
class Next:
    """``X states``."""

    states: Expression


@dataclass(frozen=True, slots=True)
class Until:
    """``through U goal`` within a bound or, ``negated``, that this does not happen."""

    through: Expression
    goal: Expression
    bound: TimeBound | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Linear:
    """A formula of linear temporal logic, for which an automaton is needed."""

    formula: Expression


Path = Now | Next | Until
TRUE = Literal(True)


def normalise(path: Expression, source: Source) -> Path:
    """Return a path formula in one of the shapes with one operator; LTL is refused with its place in the text."""
    found = shape(path)
    if isinstance(found, Linear):
        message = "formulas with more than one temporal operator (LTL) are not supported here"
        hint = "one operator inside another needs its own P, as in P=? [ F P>=1 [ G … ] ]"
        raise UnsupportedError(message, source, _inner_temporal(_simplified(path)).span, hint)
    return found


def shape(path: Expression) -> Path | Linear:
    """Return a path formula in one of the shapes that ``P`` solves."""
    whole, path = path, _simplified(path)
    if isinstance(path, AutomatonPath):
        return Linear(whole)
    match path:
        case UnaryPath("X", states):
            found: Path = Next(states)
        case UnaryPath("F", goal, bound):
            found = Until(TRUE, goal, bound)
        case UnaryPath("G", states, bound):
            found = Until(TRUE, negation(states), bound, negated=True)
        case BinaryPath("U", left, right, bound):
            found = Until(left, right, bound)
        case BinaryPath("W", left, right, bound):
            neither = Binary("&", negation(left), negation(right), span=path.span)
            found = Until(Binary("&", left, negation(right), span=path.span), neither, bound, negated=True)
        case BinaryPath(_, left, right, bound):  # release
            found = Until(negation(left), negation(right), bound, negated=True)
        case _:
            found = Now(path)
    for operand in (found.through, found.goal) if isinstance(found, Until) else (found.states,):
        if has_path(operand):
            return Linear(whole)
    return found


def is_budget(path: Path | Linear) -> bool:
    """Whether a path is bounded by rewards, or by several things at once."""
    return isinstance(path, Until) and path.bound is not None and path.bound.is_budget


def _simplified(path: Expression) -> Expression:
    """Negations moved into temporal operators, and disjunctions of ``F`` or ``X`` joined, where that is the same."""
    match path:
        case Unary("!", operand) if has_path(operand):
            return _negated(_simplified(operand))
        case Binary("|" | "&" as operator, left, right) if has_path(left) and has_path(right):
            one, other = _simplified(left), _simplified(right)
            joint = ("X", "F") if operator == "|" else ("X", "G")
            match one, other:
                case UnaryPath(a, left, None), UnaryPath(b, right, None) if a == b and a in joint:
                    return UnaryPath(a, Binary(operator, left, right, span=path.span), span=path.span)
            return Binary(operator, one, other, span=path.span)
    return path


def _negated(path: Expression) -> Expression:
    span = path.span
    match path:
        case Unary("!", operand):
            return operand
        case UnaryPath(operator, operand, bound):
            dual = UnaryPath({"X": "X", "F": "G", "G": "F"}[operator], negation(operand), bound, span=span)  # type: ignore[arg-type]
            return _simplified(dual)
        case BinaryPath("U", left, right, bound):
            return BinaryPath("R", negation(left), negation(right), bound, span=span)
        case BinaryPath("R", left, right, bound):
            return BinaryPath("U", negation(left), negation(right), bound, span=span)
        case BinaryPath(_, left, right, bound):  # weak until
            neither = Binary("&", negation(left), negation(right), span=span)
            return BinaryPath("U", Binary("&", left, negation(right), span=span), neither, bound, span=span)
    return negation(path)


def negation(expression: Expression) -> Expression:
    """``!expression``, without a double negation."""
    if isinstance(expression, Unary) and expression.operator == "!":
        return expression.operand
    return Unary("!", expression, span=expression.span)


def both(left: Expression, right: Expression) -> Expression:
    """``left & right``."""
    return Binary("&", left, right, span=left.span)


def _inner_temporal(path: Expression) -> Expression:
    """The first temporal operator that is not the formula itself, or an automaton."""
    inner = (part for part in parts(path) if isinstance(part, (UnaryPath, BinaryPath)) and part is not path)
    return next(inner, path)


# Bounds.


def constant(expression: Expression, constants: Mapping[str, Value], source: Source) -> float:
    """Return the value of a bound or threshold; an error if it uses a variable."""
    if isinstance(expression, Name) and expression.name in constants:  # most are, and curves have many
        return constants[expression.name]
    for part in parts(expression):
        if isinstance(part, Name) and part.name not in constants:
            message = f"a bound may only use constants, and '{part.name}' is a variable"
            raise LanguageError(message, source, part.span)
    try:
        return evaluate(expression, constants)
    except EvaluationError as error:
        raise error.at(source) from None


def threshold(
    formula: Probability | Reward | ExpectedTime | SteadyState,
    constants: Mapping[str, Value],
    source: Source,
    *,
    below_zero: bool = True,
) -> float | None:
    """What an operator's value is compared with; None where the value itself is asked for.

    ``below_zero`` says whether rewards may be.
    """
    if formula.comparison is None:
        return None
    bound = formula.comparison.bound
    value = float(constant(bound, constants, source))
    most = 1.0 if isinstance(formula, (Probability, SteadyState)) else math.inf
    # Means at a moment, until then and in the long run may be below zero, where rewards are.
    means = isinstance(formula, Reward) and isinstance(formula.objective, (Cumulative, Instantaneous, LongRun))
    signed = below_zero and means
    if not (-math.inf if signed else 0) <= value <= most:
        what = "a probability lies between 0 and 1" if most == 1 else "expected rewards and times are not negative"
        raise LanguageError(f"{what}, and this bound is {value:g}", source, bound.span)
    return value


def is_plain(bound: TimeBound | None) -> bool:
    """Whether a bound, if there is one, is about time or steps alone."""
    return bound is None or bound == TimeBound(bound.low, bound.high, bound.low_strict, bound.high_strict)


def steps(bound: TimeBound | None, constants: Mapping[str, Value], source: Source) -> tuple[int, int | None]:
    """Return the least and the greatest number of steps that a bound allows; None for no greatest."""
    low, high = 0, None
    if bound is not None and bound.low is not None:
        low = whole(bound.low, constants, source) + bound.low_strict
    if bound is not None and bound.high is not None:
        high = whole(bound.high, constants, source) - bound.high_strict
        if high < 0:
            raise LanguageError("no number of steps is below 0", source, bound.high.span)
        if low > high:
            raise _empty(bound, low, high, source)
    return low, high


def whole(expression: Expression, constants: Mapping[str, Value], source: Source) -> int:
    """Return the value of a bound as a number of steps; an error if it is not whole."""
    value = time(expression, constants, source)
    if value != math.floor(value):
        raise LanguageError(f"steps are counted in whole numbers, and this is {value:g}", source, expression.span)
    return int(value)


def times(bound: TimeBound | None, constants: Mapping[str, Value], source: Source) -> tuple[float, float]:
    """Return the earliest and the latest time that a bound allows; infinity for no latest.

    Whether a bound is strict makes no difference: no single moment has a probability of its own.
    """
    low, high = 0.0, math.inf
    if bound is not None and bound.low is not None:
        low = time(bound.low, constants, source)
    if bound is not None and bound.high is not None:
        high = time(bound.high, constants, source)
        if high == 0 and bound.high_strict:
            raise LanguageError("no time is below 0", source, bound.high.span)
        if low > high:
            raise _empty(bound, low, high, source)
    return low, high


def time(expression: Expression, constants: Mapping[str, Value], source: Source) -> float:
    """Return the value of a bound as a time: finite, and not negative."""
    value = float(constant(expression, constants, source))
    if not 0 <= value < math.inf:
        complaint = "cannot be negative" if value < 0 else "must be finite"
        raise LanguageError(f"a bound {complaint}, and this is {value:g}", source, expression.span)
    return value


def _empty(bound: TimeBound, low: float, high: float, source: Source) -> LanguageError:
    assert bound.low is not None
    assert bound.high is not None
    span = bound.low.span.to(bound.high.span)
    return LanguageError(f"the interval is empty: {low:g} is above {high:g}", source, span)
