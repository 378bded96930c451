"""What an expression is worth: PRISM's arithmetic on Python values.

Integers are 32 bits wide and leaving that range is an error, never a wrap-around. Doubles follow Java, on which PRISM
runs: dividing by zero gives an infinity or NaN, ``round`` rounds halves up, ``pow`` and ``log`` give NaN outside their
domain. ``& | => ?:`` evaluate their right side only if it matters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .expressions import Binary, Call, Conditional, Expression, Literal, Name, Type, Unary, Value
from .source import GaltonError, LanguageError, Source, Span

SMALLEST_INT, LARGEST_INT = -(2**31), 2**31 - 1


class EvaluationError(GaltonError):
    """An expression without a value: an overflow, a negative exponent, a name that nothing was said about."""

    def __init__(self, message: str, span: Span):
        self.message, self.span = message, span
        super().__init__(message)

    def at(self, source: Source) -> LanguageError:
        """The same complaint, pointing into a text."""
        return LanguageError(self.message, source, self.span)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.span)


def evaluate(expression: Expression, values: Mapping[str, Value]) -> Value:
    """The value of a type-correct expression, given those of its names.

    >>> from galton.lang import Source, parse_expression
    >>> evaluate(parse_expression(Source("example", "mod(x-1, 5) / 2")), {"x": 0})
    2.0
    """
    match expression:
        case Literal(value):
            return value
        case Name(name):
            if name not in values:
                raise EvaluationError(f"'{name}' has no value", expression.span)
            return values[name]
        case Unary("!", operand):
            return not evaluate(operand, values)
        case Unary(_, operand):
            return _in_range(-evaluate(operand, values), expression)
        case Binary(operator, left, right):
            return _binary(operator, left, right, values, expression)
        case Conditional(condition, then, otherwise):
            chosen, other = (then, otherwise) if evaluate(condition, values) else (otherwise, then)
            value = evaluate(chosen, values)
            # The type of `c ? 1 : 0.5` is double whichever branch is taken.
            is_int = isinstance(value, int) and not isinstance(value, bool)
            return float(value) if is_int and _static_type(other, values) == "double" else value
        case Call(function, arguments):
            return _call(function, [evaluate(argument, values) for argument in arguments], expression)
    raise EvaluationError("this has no constant value", expression.span)


def divide(left: float, right: float) -> float:
    """Java's division of doubles."""
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def power(base: float, exponent: float) -> float:
    """Java's ``Math.pow``."""
    if math.isnan(exponent) or (abs(base) == 1 and math.isinf(exponent)):
        return math.nan
    odd = math.isfinite(exponent) and exponent % 2 == 1
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        if base == 0:
            return math.copysign(math.inf, base) if odd else math.inf
        return math.nan


def logarithm(value: float, base: float) -> float:
    """``log(value, base)``; NaN for a base without logarithms."""
    if not (0 < base < math.inf) or base == 1 or not value >= 0:
        return math.nan
    return (math.log(value) if value else -math.inf) / math.log(base)


def round_half_up(value: float) -> int:
    """Java's ``Math.round``: halves go towards positive infinity."""
    below = math.floor(value)
    return below + 1 if value - below >= 0.5 else below


def _binary(
    operator: str, left: Expression, right: Expression, values: Mapping[str, Value], whole: Expression
) -> Value:
    first = evaluate(left, values)
    match operator:
        case "&":
            return bool(first and evaluate(right, values))
        case "|":
            return bool(first or evaluate(right, values))
        case "=>":
            return bool(not first or evaluate(right, values))
    second = evaluate(right, values)
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
        case "+":
            return _in_range(first + second, whole)
        case "-":
            return _in_range(first - second, whole)
        case "*":
            return _in_range(first * second, whole)
        case "/":
            return divide(first, second)
        case "^":
            return _power(first, second, whole)
    raise EvaluationError(f"unknown operator '{operator}'", whole.span)


def _call(function: str, arguments: list[Value], call: Expression) -> Value:
    match function:
        case "min" | "max":
            if any(isinstance(argument, float) for argument in arguments):
                if any(math.isnan(argument) for argument in arguments):
                    return math.nan
                return float(min(arguments) if function == "min" else max(arguments))
            return min(arguments) if function == "min" else max(arguments)
        case "floor" | "ceil" | "round":
            if not math.isfinite(arguments[0]):
                raise EvaluationError(f"'{function}' of {arguments[0]} is no integer", call.span)
            return _in_range(_round(function, arguments[0]), call)
        case "mod":
            if arguments[1] <= 0:
                raise EvaluationError(f"'mod' needs a positive divisor, not {arguments[1]}", call.span)
            return arguments[0] % arguments[1]
        case "pow":
            return _power(arguments[0], arguments[1], call)
        case "log":
            return logarithm(arguments[0], arguments[1])
    raise EvaluationError(f"unknown function '{function}'", call.span)


def _round(function: str, value: float) -> int:
    if function == "round":
        return round_half_up(value)
    return math.floor(value) if function == "floor" else math.ceil(value)


def _power(base: Value, exponent: Value, whole: Expression) -> Value:
    if isinstance(base, float) or isinstance(exponent, float):
        return power(base, exponent)
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
