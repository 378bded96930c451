"""What an expression is worth: PRISM's arithmetic on Python values.

Integers are 32 bits wide and leaving that range is an error, never a wrap-around. Constants are rational numbers that
are rounded once (:mod:`.rationals`); what depends on a state is computed in doubles, as Java does (:mod:`.doubles`).
Comparisons are those of doubles. ``& | => ?:`` evaluate their right side only if it matters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from typing import Protocol

from . import doubles, rationals
from .expressions import (
    Binary,
    Call,
    Conditional,
    Expression,
    Label,
    Literal,
    Name,
    Type,
    Unary,
    Value,
    children,
    map_children,
)
from .source import GaltonError, LanguageError, Source, Span

SMALLEST_INT, LARGEST_INT = -(2**31), 2**31 - 1


class EvaluationError(GaltonError):
    """An expression without a value: an overflow, a negative exponent, a name that nothing was said about."""

    def __init__(self, message: str, span: Span):
        self.message, self.span = message, span
        super().__init__(message)

    def at(self, source: Source) -> LanguageError:
        """Return the error as one that points into a text."""
        return LanguageError(self.message, source, self.span)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.span)


class Arithmetic(Protocol):
    """Numbers that are no integers, computed one way or the other: :mod:`.rationals` or :mod:`.doubles`."""

    def negate(self, value: float) -> float: ...
    def add(self, left: float, right: float) -> float: ...
    def subtract(self, left: float, right: float) -> float: ...
    def multiply(self, left: float, right: float) -> float: ...
    def divide(self, left: float, right: float) -> float: ...
    def power(self, base: float, exponent: float) -> float: ...
    def logarithm(self, value: float, base: float) -> float: ...
    def minimum(self, left: float, right: float) -> float: ...
    def maximum(self, left: float, right: float) -> float: ...
    def floor(self, value: float) -> int: ...
    def ceil(self, value: float) -> int: ...
    def round_half_up(self, value: float) -> int: ...


def evaluate(expression: Expression, values: Mapping[str, Value]) -> Value:
    """The value of a type-correct constant expression, given those of its names: rational, and rounded once.

    >>> from galton.lang import Source, parse_expression
    >>> evaluate(parse_expression(Source("example", "mod(x-1, 5) / 2")), {"x": 0})
    2.0
    >>> evaluate(parse_expression(Source("example", "0.1 + 0.2")), {})
    0.3
    """
    return _Evaluator(values, rationals).value(expression)


def evaluate_state(expression: Expression, values: Mapping[str, Value]) -> Value:
    """Return the value of an expression in a state: constants are folded exactly, the rest is done in doubles."""
    return _Evaluator(values, doubles).value(expression)


def fold(expression: Expression, constants: Mapping[str, Value]) -> Expression:
    """Return an expression of the modelling language with a literal in place of each part that is constant.

    What has no value stays as it is: it may never be needed.
    """
    kind = type(expression)
    if kind is Literal or kind is Label:
        return expression
    if isinstance(expression, Name):
        return Literal(constants[expression.name], span=expression.span) if expression.name in constants else expression
    if isinstance(expression, Binary):  # most are
        left, right = fold(expression.left, constants), fold(expression.right, constants)
        if left is not expression.left or right is not expression.right:
            expression = Binary(expression.operator, left, right, span=expression.span)
        known = type(left) is Literal and type(right) is Literal
    else:
        after = [fold(child, constants) for child in children(expression)]
        parts = iter(after)
        expression = map_children(expression, lambda _: next(parts))
        known = all(type(part) is Literal for part in after)
    if not known:
        return expression
    try:
        return Literal(evaluate(expression, {}), span=expression.span)
    except EvaluationError:
        return expression


class _Evaluator:
    def __init__(self, values: Mapping[str, Value], arithmetic: Arithmetic):
        self._values = values
        self._arithmetic = arithmetic

    def value(self, expression: Expression) -> Value:
        values = self._values
        match expression:
            case Literal(value):
                return value
            case Name(name):
                if name not in values:
                    raise EvaluationError(f"'{name}' has no value", expression.span)
                return values[name]
            case Unary("!", operand):
                return not self.value(operand)
            case Unary(_, operand):
                value = self.value(operand)
                return self._arithmetic.negate(value) if isinstance(value, float) else _in_range(-value, expression)
            case Binary(operator, left, right):
                return self._binary(operator, left, right, expression)
            case Conditional(condition, then, otherwise):
                chosen, other = (then, otherwise) if self.value(condition) else (otherwise, then)
                value = self.value(chosen)
                # The type of `c ? 1 : 0.5` is double whichever branch is taken.
                is_int = isinstance(value, int) and not isinstance(value, bool)
                return float(value) if is_int and _static_type(other, values) == "double" else value
            case Call(function, arguments):
                return self._call(function, [self.value(argument) for argument in arguments], expression)
        raise EvaluationError("this has no constant value", expression.span)

    def _binary(self, operator: str, left: Expression, right: Expression, whole: Expression) -> Value:
        first = self.value(left)
        match operator:
            case "&":
                return bool(first and self.value(right))
            case "|":
                return bool(first or self.value(right))
            case "=>":
                return bool(not first or self.value(right))
        second = self.value(right)
        match operator:
            case "=" | "<=>":
                return first == second
            case "!=":
                return first != second
            case "<":
                return first < second
            case "<=":
                return first <= second
            case ">":
                return first > second
            case ">=":
                return first >= second
            case "/":
                return self._arithmetic.divide(first, second)
            case "^":
                return self._power(first, second, whole)
        if isinstance(first, float) or isinstance(second, float):
            return self._combined(operator, first, second)
        match operator:
            case "+":
                return _in_range(first + second, whole)
            case "-":
                return _in_range(first - second, whole)
            case "*":
                return _in_range(first * second, whole)
        raise EvaluationError(f"unknown operator '{operator}'", whole.span)

    def _combined(self, operator: str, first: float, second: float) -> float:
        match operator:
            case "+":
                return self._arithmetic.add(first, second)
            case "-":
                return self._arithmetic.subtract(first, second)
        return self._arithmetic.multiply(first, second)

    def _call(self, function: str, arguments: list[Value], call: Expression) -> Value:
        match function:
            case "min" | "max":
                if any(isinstance(argument, float) for argument in arguments):
                    pick = self._arithmetic.minimum if function == "min" else self._arithmetic.maximum
                    numbers = [argument if isinstance(argument, float) else float(argument) for argument in arguments]
                    return reduce(pick, numbers)
                return min(arguments) if function == "min" else max(arguments)
            case "floor" | "ceil" | "round":
                if not math.isfinite(arguments[0]):
                    raise EvaluationError(f"'{function}' of {arguments[0]} is no integer", call.span)
                return _in_range(self._round(function, arguments[0]), call)
            case "mod":
                if arguments[1] <= 0:
                    raise EvaluationError(f"'mod' needs a positive divisor, not {arguments[1]}", call.span)
                return arguments[0] % arguments[1]
            case "pow":
                return self._power(arguments[0], arguments[1], call)
            case "log":
                return self._arithmetic.logarithm(arguments[0], arguments[1])
        raise EvaluationError(f"unknown function '{function}'", call.span)

    def _round(self, function: str, value: float) -> int:
        if function == "round":
            return self._arithmetic.round_half_up(value)
        return self._arithmetic.floor(value) if function == "floor" else self._arithmetic.ceil(value)

    def _power(self, base: Value, exponent: Value, whole: Expression) -> Value:
        if isinstance(base, float) or isinstance(exponent, float):
            return self._arithmetic.power(base, exponent)
        if exponent < 0:
            raise EvaluationError(f"an integer cannot be raised to the negative exponent {exponent}", whole.span)
        if abs(base) > 1 and exponent > 32:  # would leave the range anyway, after a long computation
            exponent = 32
        return _in_range(base**exponent, whole)


def _in_range(value: Value, whole: Expression) -> Value:
    if isinstance(value, int) and not SMALLEST_INT <= value <= LARGEST_INT:
        raise EvaluationError("the value leaves the range of 32-bit integers", whole.span)
    return value


def _static_type(expression: Expression, values: Mapping[str, Value]) -> Type:
    """Is a type-correct expression a bool, an int or a double, without evaluating it?"""
    from .types import Scope, type_of_value

    return Scope(Source("", ""), {name: type_of_value(value) for name, value in values.items()}).type_of(expression)
