"""Expressions of the PRISM language as JANI writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import reduce

from ..expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Unary, Value
from ..rationals import Exact, Irrational
from ..types import Scope
from .json_text import Number
from .json_writing import Json

__all__ = ["ExpressionWriter", "number_json"]

_SIGNS = {"|": "∨", "&": "∧", "=>": "⇒", "<=>": "=", "!=": "≠", "<=": "≤", ">=": "≥"}


class ExpressionWriter:
    """Writes expressions without formulas; ``labels`` has the variables that stand for labels."""

    def __init__(self, types: Scope, labels: Mapping[str, str]):
        self._types, self._labels = types, labels

    def json(self, expression: Expression) -> Json:
        match expression:
            case Literal(value):
                return number_json(value)
            case Name(name):
                return name
            case Label(name) if name in self._labels:
                return self._labels[name]
            case Unary("!", operand):
                return {"op": "¬", "exp": self.json(operand)}
            case Unary(_, operand):
                return _binary("-", 0, self.json(operand))
            case Binary("^", left, right):
                return self._power(left, right, expression)
            case Binary(operator, left, right):
                return _binary(_SIGNS.get(operator, operator), self.json(left), self.json(right))
            case Conditional(condition, then, otherwise):
                parts = {"if": condition, "then": then, "else": otherwise}
                return {"op": "ite", **{key: self.json(part) for key, part in parts.items()}}
            case Call(function, arguments):
                return self._call(function, arguments, expression)
        raise TypeError(f"no JANI for {type(expression).__name__}")

    def _call(self, function: str, arguments: tuple[Expression, ...], whole: Expression) -> Json:
        given = [self.json(argument) for argument in arguments]
        match function:
            case "floor" | "ceil":
                return {"op": function, "exp": given[0]}
            case "round":
                return {"op": "floor", "exp": _binary("+", given[0], Number("0.5"))}
            case "mod":  # of numbers that may be negative only the inner one, about which readers disagree
                return _binary("%", _binary("+", _binary("%", *given), given[1]), given[1])
            case "pow":
                return self._power(arguments[0], arguments[1], whole)
        return reduce(lambda left, right: _binary(function, left, right), given)

    def _power(self, base: Expression, exponent: Expression, whole: Expression) -> Json:
        power = _binary("pow", self.json(base), self.json(exponent))
        return {"op": "trc", "exp": power} if self._types.type_of(whole) == "int" else power


def _binary(op: str, left: Json, right: Json) -> Json:
    return {"op": op, "left": left, "right": right}


def number_json(value: Value) -> Json:
    """A literal; a fraction is written as a quotient, so that nothing is rounded.

    >>> number_json(Exact(Fraction(1, 3)))
    {'op': '/', 'left': '1', 'right': '3'}
    """
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, Irrational):
        return {"constant": "e" if value == math.e else "π"}
    if isinstance(value, Exact):
        return _fraction(value.origin) if isinstance(value.origin, Fraction) else _decimal(value.origin)
    if not math.isfinite(value):  # no literal, but a division makes it
        return _binary("/", (value > 0) - (value < 0), 0)
    return _decimal(repr(float(value)))


def _fraction(value: Fraction) -> Json:
    return _binary("/", _whole(value.numerator), _whole(value.denominator))


def _whole(value: int) -> Number:
    """A real that is whole, because integers end at 32 bits."""
    return Number(value if abs(value) < 2**31 else f"{value}.0")


def _decimal(text: str) -> Number:
    """PRISM allows ``.5``, JSON does not; and a real is not written as an integer."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    mantissa, exponent, power = digits.lower().partition("e")
    whole, _, rest = mantissa.partition(".")
    return Number(f"{sign}{whole.lstrip('0') or '0'}.{rest or '0'}{exponent}{power}")
