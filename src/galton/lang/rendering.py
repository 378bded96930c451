"""Expressions and properties as text again, with no more parentheses than PRISM needs.

One exception is for people: ``!(x = 1)`` keeps its parentheses, because ``!x = 1`` means the same but does not look it.

Reading the text back gives the same tree; ``tests/lang/test_rendering.py`` holds it to that.
"""

from __future__ import annotations

import math

from .expression_parser import MINUS, NOT, POWER, PRECEDENCE
from .expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Unary, Value
from .operations import FUNCTIONS
from .properties import (
    AutomatonPath,
    BinaryPath,
    Comparison,
    Cumulative,
    CumulativeBudget,
    ExpectedTime,
    Filter,
    Given,
    Instantaneous,
    LongRun,
    Multi,
    PathQuantifier,
    Probability,
    Quantile,
    Reward,
    SteadyState,
    TimeBound,
    UnaryPath,
)
from .rationals import Exact

# How tightly a piece of text holds together, continuing the parser's numbers on both sides.
_BINARY_PATH, _UNARY_PATH, _CONDITIONAL, _IMPLICATION, _ATOM = -2, -1, 0, 1, 12


def render(expression: Expression) -> str:
    """The text of an expression or property.

    >>> from galton.lang import Source, parse_expression
    >>> render(parse_expression(Source("example", "((a & b) | (c)) & d")))
    '(a & b | c) & d'
    """
    return _text(expression, _CONDITIONAL)


def _text(expression: Expression, tightness: int) -> str:
    """The text of an expression where something of at least this tightness is needed."""
    text, own = _render(expression)
    return text if own >= tightness else f"({text})"


def _render(expression: Expression) -> tuple[str, int]:
    match expression:
        case Literal(value):
            return _literal(value)
        case Name(name):
            return name, _ATOM
        case Label(name):
            return f'"{name}"', _ATOM
        case Unary("!", operand):
            negated = isinstance(operand, Unary) and operand.operator == "!"
            return f"!{_text(operand, NOT if negated else _ATOM)}", NOT
        case Unary(_, operand):
            return f"-{_text(operand, MINUS)}", MINUS
        case Binary("^", base, exponent):
            return f"{_text(base, _ATOM)}^{_text(exponent, MINUS)}", POWER
        case Binary(operator, left, right):
            own = PRECEDENCE[operator]
            return f"{_text(left, own)} {operator} {_text(right, own + 1)}", own
        case Conditional(condition, then, otherwise):
            parts = _text(condition, _IMPLICATION), _text(then, _IMPLICATION), _text(otherwise, _CONDITIONAL)
            return "{} ? {} : {}".format(*parts), _CONDITIONAL
        case Call(function, arguments):
            return f"{function}({_list(arguments)})", _ATOM
        case UnaryPath(operator, operand, bound):
            return f"{operator}{_bound(bound)} {_bounded_operand(operand, bound)}", _UNARY_PATH
        case BinaryPath(operator, left, right, bound):
            middle = f"{operator}{_bound(bound)}"
            return f"{_text(left, _UNARY_PATH)} {middle} {_bounded_operand(right, bound)}", _BINARY_PATH
        case AutomatonPath(file, propositions):
            given = [f'"{file}"', *(f'"{name}" <- {render(states)}' for name, states in propositions)]
            return f"HOA: {{{', '.join(given)}}}", _UNARY_PATH
    return _operator(expression), _ATOM


def _operator(expression: Expression) -> str:
    match expression:
        case Probability(path, optimum, comparison):
            return f"P{_question(optimum, comparison)} [ {_text(path, _BINARY_PATH)} ]"
        case Reward(objective, structure, optimum, comparison):
            which = f'"{structure}"' if isinstance(structure, str) else structure and render(structure)
            which = f"{{{which}}}" if which else ""
            return f"R{which}{_question(optimum, comparison)} [ {_text(objective, _BINARY_PATH)} ]"
        case ExpectedTime(path, optimum, comparison):
            return f"T{_question(optimum, comparison)} [ {_text(path, _BINARY_PATH)} ]"
        case SteadyState(states, optimum, comparison):
            return f"S{_question(optimum, comparison)} [ {render(states)} ]"
        case PathQuantifier(quantifier, path):
            return f"{quantifier} [ {_text(path, _BINARY_PATH)} ]"
        case Filter(operator, operand, states):
            parts = [operator, render(operand), *([render(states)] if states else [])]
            return f"filter({', '.join(parts)})"
        case Multi(objectives):
            return f"multi({_list(objectives)})"
        case Cumulative(None):
            return "C"
        case Cumulative(limit, strict):
            return f"C{'<' if strict else '<='}{_limit(limit)}"
        case CumulativeBudget(bound):
            return f"C{_bound(bound)}"
        case Quantile(optimum, name, formula):
            return f"quantile({optimum} {name}, {render(formula)})"
        case Given(path, condition):
            return f"{_text(path, _BINARY_PATH)} || {_text(condition, _BINARY_PATH)}"
        case Instantaneous(time):
            return f"I={_limit(time)}"
        case LongRun():
            return "S"
    raise TypeError(f"no text for {type(expression).__name__}")


def _literal(value: Value) -> tuple[str, int]:
    if isinstance(value, bool):
        return str(value).lower(), _ATOM
    if isinstance(value, float) and not math.isfinite(value):  # no literal, but a division makes it
        return {math.inf: "1/0", -math.inf: "-1/0"}.get(value, "0/0"), PRECEDENCE["/"]
    if isinstance(value, Exact) and isinstance(value.origin, str):  # may have more digits than a double
        return value.origin, _ATOM
    return repr(value), MINUS if math.copysign(1, value) < 0 else _ATOM


def _list(expressions: tuple[Expression, ...]) -> str:
    return ", ".join(_text(expression, _BINARY_PATH) for expression in expressions)


def _question(optimum: str | None, comparison: Comparison | None) -> str:
    asked = f"{comparison.operator}{_limit(comparison.bound)}" if comparison else "=?"
    return f"{optimum or ''}{asked}"


def _limit(expression: Expression | None) -> str:
    """A bound. What follows it has no separator, so anything but a number or a plain name gets parentheses."""
    assert expression is not None
    text, own = _render(expression)
    plain = own == _ATOM and isinstance(expression, (Literal, Name)) and text not in (*FUNCTIONS, "multi")
    return text if plain else f"({text})"


def _bound(bound: TimeBound | None) -> str:
    if bound is None:
        return ""
    if not bound.is_budget:
        return _interval(bound)
    return f"^{{{', '.join(_measured(part) for part in bound.all)}}}"


def _measured(bound: TimeBound) -> str:
    """One of the bounds between ``^{`` and ``}``."""
    if bound.reward is None:
        return f"{'steps' if bound.counts_steps else 'time'}{_interval(bound)}"
    structure = f'{{"{bound.reward}"}}' if bound.reward else ""
    return f"rew{structure}{_interval(bound)}"


def _interval(bound: TimeBound) -> str:
    if bound.low is not None and bound.high is not None:
        same = bound.low == bound.high
        return f"={_limit(bound.low)}" if same else f"[{render(bound.low)},{render(bound.high)}]"
    if bound.high is not None:
        return f"{'<' if bound.high_strict else '<='}{_limit(bound.high)}"
    return f"{'>' if bound.low_strict else '>='}{_limit(bound.low)}"


def _bounded_operand(operand: Expression, bound: TimeBound | None) -> str:
    """What a temporal operator applies to; after a bound, a leading minus would be read as part of it."""
    text = _text(operand, _UNARY_PATH)
    return f"({text})" if bound and text.startswith("-") else text
