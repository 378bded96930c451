"""What an expression is worth: PRISM's arithmetic on Python values, as :mod:`.operations` has it.

Integers are 32 bits wide and leaving that range is an error, never a wrap-around. Constants are rational numbers that
are rounded once (:mod:`.rationals`); what depends on a state is computed in doubles, as Java does (:mod:`.doubles`).
Comparisons are those of doubles. ``& | => ?:`` evaluate their right side only if it matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    same_operands,
)
from .operations import BINARY, FUNCTIONS, UNARY, Operation
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


def evaluate(expression: Expression, values: Mapping[str, Value]) -> Value:
    """The value of a type-correct constant expression, given those of its names: rational, and rounded once.

    >>> from galton.lang import Source, parse_expression
    >>> evaluate(parse_expression(Source("example", "mod(x-1, 5) / 2")), {"x": 0})
    2.0
    >>> evaluate(parse_expression(Source("example", "0.1 + 0.2")), {})
    0.3
    """
    return _Evaluator(values, exact=True).value(expression)


def evaluate_state(expression: Expression, values: Mapping[str, Value]) -> Value:
    """Return the value of an expression in a state: constants are folded exactly, the rest is done in doubles."""
    return _Evaluator(values, exact=False).value(expression)


def fold(expression: Expression, constants: Mapping[str, Value]) -> Expression:
    """Return an expression of the modelling language with a literal in place of each part that is constant.

    What has no value stays as it is: it may never be needed.
    """
    return Folding(constants).fold(expression)


def no_number(expression: Expression, constants: Mapping[str, Value]) -> Expression | None:
    """A constant part of an expression that is no number, such as 0/0; None where there is none that is ever needed.

    What stands right of ``&``, ``|`` and ``=>`` or in a branch is not needed where a constant on their left says so.
    """
    return _no_number(expression, Folding(constants))


def _no_number(expression: Expression, folding: Folding) -> Expression | None:
    if (value := _literal(expression, folding)) is not None:
        return expression if isinstance(value, float) and value != value else None
    needed: tuple[Expression, ...] = children(expression)
    match expression:
        case Binary(operator, left, _):
            settled = BINARY[operator].settled_by
            if settled is not None and _literal(left, folding) is settled:
                needed = (left,)
        case Conditional(condition, then, otherwise):
            chosen = _literal(condition, folding)
            if chosen is not None:
                needed = (then if chosen else otherwise,)
    return next((found for part in needed if (found := _no_number(part, folding)) is not None), None)


def _literal(expression: Expression, folding: Folding) -> Value | None:
    folded = folding.fold(expression)
    return folded.value if isinstance(folded, Literal) else None


class Folding:
    """What :func:`fold` does, for many expressions: parts that they share are folded once."""

    def __init__(self, constants: Mapping[str, Value]):
        self._constants = constants
        self._known: dict[object, tuple[Expression, Expression]] = {}  # by ids, which are kept their own
        self._evaluator = _Evaluator({}, exact=True)

    def fold(self, expression: Expression) -> Expression:
        kind = type(expression)
        if kind is Literal or kind is Label:
            return expression
        key = same_operands(expression) if kind is Binary else id(expression)  # type: ignore[arg-type]
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = expression, self._folded(expression)
        return known[1]

    def _folded(self, expression: Expression) -> Expression:
        if isinstance(expression, Binary):  # most are
            left, right = self.fold(expression.left), self.fold(expression.right)
            if left is not expression.left or right is not expression.right:
                expression = Binary(expression.operator, left, right, span=expression.span)
            constant = type(left) is Literal and type(right) is Literal
        elif isinstance(expression, Name):
            value = self._constants.get(expression.name)
            return expression if value is None else Literal(value, span=expression.span)
        else:
            expression = map_children(expression, self.fold)
            constant = all(type(part) is Literal for part in children(expression))
        if not constant:
            return expression
        try:
            return Literal(self._evaluator.value(expression), span=expression.span)
        except EvaluationError:
            return expression


class _Evaluator:
    def __init__(self, values: Mapping[str, Value], exact: bool):
        self._values = values
        self._exact = exact

    def value(self, expression: Expression) -> Value:
        if isinstance(expression, Literal):  # these two are most of all there is
            return expression.value
        if isinstance(expression, Binary):
            return self._binary(expression)
        values = self._values
        match expression:
            case Name(name):
                if name not in values:
                    raise EvaluationError(f"'{name}' has no value", expression.span)
                return values[name]
            case Unary(operator, operand):
                return self._applied(UNARY[operator], (self.value(operand),), expression)
            case Conditional(condition, then, otherwise):
                chosen, other = (then, otherwise) if self.value(condition) else (otherwise, then)
                value = self.value(chosen)
                # The type of `c ? 1 : 0.5` is double whichever branch is taken.
                is_int = isinstance(value, int) and not isinstance(value, bool)
                return float(value) if is_int and _static_type(other, values) == "double" else value
            case Call(function, arguments):
                if function not in FUNCTIONS:
                    raise EvaluationError(f"unknown function '{function}'", expression.span)
                return self._called(FUNCTIONS[function], [self.value(argument) for argument in arguments], expression)
        raise EvaluationError("this has no constant value", expression.span)

    def _binary(self, expression: Binary) -> Value:
        operation = BINARY[expression.operator]
        first = self.value(expression.left)
        if operation.settled_by is first:
            return operation.doubles(first, first)
        return self._applied(operation, (first, self.value(expression.right)), expression)

    def _called(self, operation: Operation, arguments: Sequence[Value], call: Expression) -> Value:
        if not operation.chained:
            return self._applied(operation, arguments, call)
        if any(isinstance(argument, float) for argument in arguments):  # one double makes all of them doubles
            arguments = [argument if isinstance(argument, float) else float(argument) for argument in arguments]
        value = arguments[0]
        for argument in arguments[1:]:
            value = self._applied(operation, (value, argument), call)
        return value

    def _applied(self, operation: Operation, operands: Sequence[Value], whole: Expression) -> Value:
        if operation.domain is not None and operation.lacks_value(operands):
            found = operands[operation.domain.operand]
            raise EvaluationError(f"{operation.domain.complaint}, not {found}", whole.span)
        if operation.integers is not None:
            for operand in operands:
                if isinstance(operand, float):
                    break
            else:
                return _in_range(operation.integers(*operands), whole)
        exact = operation.constants if self._exact else None
        value = (exact or operation.doubles)(*operands)
        return _in_range(value, whole) if operation.gives == "int" else value


def _in_range(value: Value, whole: Expression) -> Value:
    if isinstance(value, int) and not SMALLEST_INT <= value <= LARGEST_INT:
        raise EvaluationError("the value leaves the range of 32-bit integers", whole.span)
    return value


def _static_type(expression: Expression, values: Mapping[str, Value]) -> Type:
    """Is a type-correct expression a bool, an int or a double, without evaluating it?"""
    from .types import Scope, type_of_value

    return Scope(Source("", ""), {name: type_of_value(value) for name, value in values.items()}).type_of(expression)
