"""What an expression is worth in a state, exactly: integers, truth values and rational numbers.

An expression becomes a function of the values of the variables, once; then it is called for each state. Numbers that
no fraction is (logarithms, roots, a quotient by zero) are errors with their place in the text.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, NoReturn

from ...lang.expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Type, Unary, Value
from ...lang.rationals import MOST_DIGITS, Exact, Irrational
from ...lang.source import GaltonError, LanguageError, Source
from .numbers import Rational, from_float, rational

__all__ = ["Compiler", "NoRationalValueError", "State", "is_whole"]

State = Sequence[int]  # the values of the variables, 0 and 1 for truth values
Exactly = bool | int | Rational
Function = Callable[[State], Any]  # an Exactly, whose kind the type of the expression tells

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "<=>": operator.eq,
}
_MOST_BITS = 1 << 20  # of a power


class NoRationalValueError(LanguageError):
    """A number of the text that is no fraction, so that nothing exact can be said about it."""

    kind = "unsupported"


class Compiler:
    """Functions of the expressions of one text.

    Parameters
    ----------
    source
        The text that expressions are from, for errors.
    variables
        The names of the variables, in the order of a state, with their types.
    constants
        The exact values of constants.
    labels
        Labels that are expressions.
    """

    def __init__(
        self,
        source: Source,
        variables: Mapping[str, Type],
        constants: Mapping[str, Exactly],
        labels: Mapping[str, Expression] | None = None,
    ) -> None:
        self._source, self._variables, self._constants = source, variables, constants
        self._places = {name: place for place, name in enumerate(variables)}
        self._labels = labels or {}

    def function(self, expression: Expression) -> Function:
        """The value of an expression as a function of the state."""
        return self._compiled(expression)[1]

    def typed(self, expression: Expression) -> tuple[Type, Function]:
        """The type of an expression, and its value as a function of the state."""
        return self._compiled(expression)

    def constant(self, expression: Expression) -> Exactly | None:
        """The value of an expression that depends on no variable; None for one that does."""
        if self._depends(expression):
            return None
        return self.function(expression)(())  # type: ignore[no-any-return]

    def literal(self, expression: Literal) -> Exactly:
        """A literal as it stands in the text."""
        value = expression.value
        if isinstance(value, (bool, int)):
            return value
        if isinstance(value, Exact):
            return rational(value.fraction)
        if not math.isfinite(value):
            raise self._refused("a number that is not finite", expression)
        if isinstance(value, Irrational):
            raise self._refused("a number that no fraction is", expression)
        written = self._source.text[expression.span.start : expression.span.end]
        try:
            number = Fraction(written) if len(written) > MOST_DIGITS else None
        except ValueError:
            number = None
        return from_float(value) if number is None else rational(number)

    def _depends(self, expression: Expression) -> bool:
        match expression:
            case Name(name):
                return name not in self._constants
            case Label(name):
                return self._depends(self._labels[name])
        from ...lang.expressions import children

        return any(map(self._depends, children(expression)))

    def _compiled(self, expression: Expression) -> tuple[Type, Function]:
        match expression:
            case Literal():
                return _fixed(self.literal(expression))
            case Name(name) if name in self._constants:
                return self._constant(name)
            case Name(name):
                place, kind = self._places[name], self._variables[name]
                return kind, (lambda s: s[place] != 0) if kind == "bool" else (lambda s: s[place])
            case Label(name):
                return self._compiled(self._labels[name])
            case Unary("!", operand):
                inner = self.function(operand)
                return "bool", lambda s: not inner(s)
            case Unary("-", operand):
                kind, inner = self._compiled(operand)
                return kind, lambda s: -inner(s)
            case Conditional(condition, then, otherwise):
                test, (one, yes), (other, no) = (
                    self.function(condition),
                    self._compiled(then),
                    self._compiled(otherwise),
                )
                return one if one == other else "double", lambda s: yes(s) if test(s) else no(s)
            case Binary("&" | "|" | "=>" as sign, left, right):
                return "bool", self._connective(sign, self.function(left), self.function(right))
            case Binary(sign, left, right) if sign in _COMPARISONS:
                return "bool", self._comparison(_COMPARISONS[sign], left, right)
            case Binary(sign, left, right):
                return self._arithmetic(sign, left, right, expression)
            case Call(function, arguments):
                return self._called(function, arguments, expression)
        raise TypeError(f"not an expression of the modelling language: {expression!r}")

    def _constant(self, name: str) -> tuple[Type, Function]:
        """A constant; one without a rational value is an error where it is needed."""
        try:
            return _fixed(self._constants[name])
        except GaltonError as error:
            failure = error
        return "double", lambda s: _raise(failure)

    @staticmethod
    def _connective(sign: str, first: Function, second: Function) -> Function:
        if sign == "&":
            return lambda s: first(s) and second(s)
        if sign == "|":
            return lambda s: first(s) or second(s)
        return lambda s: not first(s) or second(s)

    def _comparison(self, compare: Callable[[Any, Any], bool], left: Expression, right: Expression) -> Function:
        first, second = self.function(left), self.function(right)
        if isinstance(left, Name) and left.name in self._places and self._variables[left.name] == "int":
            place = self._places[left.name]
            if isinstance(right, Literal) and isinstance(right.value, int):  # most guards are made of these
                bound = right.value
                return lambda s: compare(s[place], bound)
        return lambda s: compare(first(s), second(s))

    def _arithmetic(self, sign: str, left: Expression, right: Expression, whole: Expression) -> tuple[Type, Function]:
        (one, first), (other, second) = self._compiled(left), self._compiled(right)
        kind: Type = "int" if one == other == "int" else "double"
        if sign == "/":
            return "double", self._kept(whole, lambda s: self._quotient(first(s), second(s), whole))
        if sign == "^":
            return kind, self._kept(whole, lambda s: self._power(first(s), second(s), kind, whole))
        apply = _ARITHMETIC[sign]
        return kind, self._kept(whole, lambda s: apply(first(s), second(s)))

    def _called(self, name: str, arguments: Sequence[Expression], whole: Expression) -> tuple[Type, Function]:
        compiled = [self._compiled(argument) for argument in arguments]
        functions = [function for _, function in compiled]
        kind: Type = "int" if all(one == "int" for one, _ in compiled) else "double"
        first, *others = functions
        match name:
            case "min" | "max":
                choose = min if name == "min" else max
                return kind, lambda s: reduce(choose, [function(s) for function in functions])
            case "floor":
                return "int", lambda s: math.floor(_plain(first(s)))
            case "ceil":
                return "int", lambda s: math.ceil(_plain(first(s)))
            case "round":
                return "int", lambda s: math.floor(2 * _plain(first(s)) + 1) // 2
            case "mod":
                return "int", lambda s: self._remainder(first(s), others[0](s), whole)
            case "pow":
                return kind, self._kept(whole, lambda s: self._power(first(s), others[0](s), kind, whole))
        error = self._refused(f"'{name}' has no rational value in general", whole)
        return "double", lambda s: _raise(error)

    def _kept(self, expression: Expression, function: Function) -> Function:
        """A function that computes what is the same in all states only once, and only where it is needed."""
        if self._depends(expression):
            return function
        known: list[Any] = []

        def value(state: State) -> Any:
            if not known:
                known.append(function(state))
            return known[0]

        return value

    def _quotient(self, above: Exactly, below: Exactly, whole: Expression) -> Rational:
        if not below:
            raise self._refused("a quotient by zero", whole)
        return (rational(above) if isinstance(above, int) else above) / below

    def _remainder(self, value: int, divisor: int, whole: Expression) -> int:
        if divisor <= 0:
            raise LanguageError(f"'mod' needs a positive divisor, not {divisor}", self._source, whole.span)
        return value % divisor

    def _power(self, base: Exactly, exponent: Exactly, kind: Type, whole: Expression) -> Exactly:
        times = exponent if isinstance(exponent, int) else _plain(exponent)
        if times != math.floor(times):
            raise self._refused("a power with an exponent that is not whole", whole)
        times = int(times)
        if times < 0 and (kind == "int" or not base):
            raise self._refused("a power that has no value", whole)
        size = base if isinstance(base, int) else _plain(base)
        length = int(size.numerator).bit_length() + int(size.denominator).bit_length()
        if length * abs(times) > _MOST_BITS:
            raise self._refused("a power that is too long", whole)
        return base**times if kind == "int" else (rational(base) if isinstance(base, int) else base) ** times

    def _refused(self, what: str, expression: Expression) -> NoRationalValueError:
        hint = "answers without --exact have bounds that hold them for certain"
        return NoRationalValueError(f"{what}, so there is no exact answer", self._source, expression.span, hint)


def is_whole(expression: Expression, constants: Mapping[str, Value], labels: Mapping[str, Expression]) -> bool:
    """Whether an expression is made of integers and truth values alone, so that doubles evaluate it exactly."""
    match expression:
        case Literal(value):
            return not isinstance(value, float)
        case Name(name):
            return not isinstance(constants.get(name), float)
        case Label(name):
            return name not in labels or is_whole(labels[name], constants, labels)
        case Binary("/", _, _) | Call("log", _):
            return False
    from ...lang.expressions import children

    return all(is_whole(part, constants, labels) for part in children(expression))


def _raise(error: GaltonError) -> NoReturn:
    raise error


def _fixed(value: Exactly) -> tuple[Type, Function]:
    kind: Type = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "double"
    return kind, lambda s: value


def _plain(value: Exactly) -> Fraction | int:
    """A number that the standard library rounds."""
    if isinstance(value, (int, Fraction)):
        return value
    return Fraction(int(value.numerator), int(value.denominator))
