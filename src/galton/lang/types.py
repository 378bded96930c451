"""Types of expressions: ``bool``, ``int`` and ``double``, as PRISM has them.

An ``int`` may stand wherever a ``double`` may; nothing else converts. Division always gives a ``double``; ``pow`` and
``^`` of two integers give an ``int``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

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
    same_operands,
)
from .operations import BINARY, FUNCTIONS, UNARY, Operation
from .source import LanguageError, Source
from .stream import listed, nearest, suggestion

_ARTICLE: dict[Type, str] = {"bool": "a bool", "int": "an int", "double": "a double"}
_NUMBER: tuple[Type, ...] = ("int", "double")


@dataclass(frozen=True)
class Scope:
    """The names an expression may use, with their types.

    ``variables`` are names that exist but may not be used in this place, which ``place`` describes.
    """

    source: Source
    types: Mapping[str, Type]
    variables: Collection[str] = ()
    place: str = "here"
    _known: dict[object, tuple[Expression, Type]] = field(default_factory=dict, repr=False, compare=False)

    def type_of(self, expression: Expression) -> Type:
        """The type of an expression; a :class:`LanguageError` where it has none."""
        kind = type(expression)
        if kind is Literal:
            return type_of_value(expression.value)  # type: ignore[attr-defined]
        # Formulas and long texts share what is equal in them, so the same node is met again and again; keeping it alive
        # keeps its id its own.
        key = same_operands(expression) if kind is Binary else id(expression)  # type: ignore[arg-type]
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (expression, self._infer(expression))
        return known[1]

    def require(self, expression: Expression, expected: Type, what: str) -> None:
        """Insist on a type, an ``int`` being welcome as a ``double``; ``what`` begins the message."""
        found = self.type_of(expression)
        if found != expected and not (expected == "double" and found == "int"):
            wanted = "a number" if expected == "double" else _ARTICLE[expected]
            hint = None
            if (found, expected) == ("double", "int"):
                quotient = isinstance(expression, Binary) and expression.operator == "/"
                hint = "floor, ceil or round would make it one" + (": '/' always gives a double" if quotient else "")
            raise self._error(f"{what} must be {wanted}, but this is {_ARTICLE[found]}", expression, hint)

    def _infer(self, expression: Expression) -> Type:
        match expression:
            case Binary(operator, left, right):
                return self._applied(BINARY[operator], (left, right), f"an operand of '{operator}'")
            case Literal(value):
                return type_of_value(value)
            case Name(name):
                return self._name(name, expression)
            case Unary(operator, operand):
                return self._applied(UNARY[operator], (operand,), f"the operand of '{operator}'")
            case Conditional(condition, then, otherwise):
                self.require(condition, "bool", "the condition before '?'")
                return self._common(then, otherwise, "the branches of '?:' must have one type")
            case Call(function, arguments):
                return self._call(function, arguments, expression)
            case Label():
                return "bool"
        raise TypeError(f"no type for {type(expression).__name__}")

    def _name(self, name: str, expression: Expression) -> Type:
        if found := self.types.get(name):
            return found
        if name in self.variables:
            raise self._error(f"the variable '{name}' cannot be used {self.place}", expression)
        raise self._error(f"unknown name '{name}'", expression, self._meant(name))

    def _meant(self, name: str) -> str | None:
        """What somebody may have meant by a name that nothing has: another name, or a constant of their own."""
        known = [*self.types, *self.variables]
        if not known or (hint := nearest(name, known)):
            return hint if known else None
        return f"{listed(known, 'known names')}; for a constant of this name, write const double {name};"

    def _call(self, function: str, arguments: tuple[Expression, ...], call: Expression) -> Type:
        if function not in FUNCTIONS:
            hint = suggestion(function, FUNCTIONS, "functions")
            if function in self.types:
                hint = f"'{function}' is no function: is an operator missing before '('?"
            raise self._error(f"unknown function '{function}'", call, hint)
        operation = FUNCTIONS[function]
        if len(arguments) != operation.arity and not operation.chained:
            plural = "argument" if operation.arity == 1 else "arguments"
            raise self._error(f"'{function}' takes {operation.arity} {plural}, not {len(arguments)}", call)
        return self._applied(operation, arguments, f"an argument of '{function}'")

    def _applied(self, operation: Operation, operands: tuple[Expression, ...], what: str) -> Type:
        """The type of an operation; ``what`` begins a complaint about an operand."""
        match operation.takes:
            case "alike":
                self._common(operands[0], operands[1], f"'{operation.text[0]}' cannot compare different types")
            case "number":
                for operand in operands:
                    if self.type_of(operand) == "bool":
                        self.require(operand, "double", what)
            case "bool" | "int" as wanted:
                for operand in operands:
                    self.require(operand, wanted, what)
        match operation.gives:
            case "bool" | "int" | "double" as given:
                return given
        return "double" if any(self.type_of(operand) == "double" for operand in operands) else "int"

    def _common(self, first: Expression, second: Expression, message: str) -> Type:
        one, other = self.type_of(first), self.type_of(second)
        if one == other:
            return one
        if one in _NUMBER and other in _NUMBER:
            return "double"
        hint = None if message.startswith("the branches") else "a bool is true or false, never a number"
        raise self._error(f"{message}: {_ARTICLE[one]} and {_ARTICLE[other]}", second, hint)

    def _error(self, message: str, expression: Expression, hint: str | None = None) -> LanguageError:
        return LanguageError(message, self.source, expression.span, hint)


def type_of_value(value: Value) -> Type:
    """The type of a Python value."""
    return "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "double"
