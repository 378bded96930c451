"""Types of expressions: ``bool``, ``int`` and ``double``, as PRISM has them.

An ``int`` may stand wherever a ``double`` may; nothing else converts. Division always gives a ``double``; ``pow`` and
``^`` of two integers give an ``int``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from .expression_parser import FUNCTIONS
from .expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Type, Unary, Value
from .source import LanguageError, Source
from .stream import nearest

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
    _known: dict[int, tuple[Expression, Type]] = field(default_factory=dict, repr=False, compare=False)

    def type_of(self, expression: Expression) -> Type:
        """The type of an expression; a :class:`LanguageError` where it has none."""
        # Formulas share their bodies, so the same node is met again and again; keeping it alive keeps its id its own.
        known = self._known.get(id(expression))
        if known is None:
            known = self._known[id(expression)] = (expression, self._infer(expression))
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
            case Literal(value):
                return type_of_value(value)
            case Name(name):
                return self._name(name, expression)
            case Unary("!", operand):
                self.require(operand, "bool", "the operand of '!'")
                return "bool"
            case Unary(_, operand):
                return self._number(operand, "the operand of '-'")
            case Binary(operator, left, right):
                return self._binary(operator, left, right)
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
        hint = nearest(name, [*self.types, *self.variables])
        raise self._error(f"unknown name '{name}'", expression, hint)

    def _binary(self, operator: str, left: Expression, right: Expression) -> Type:
        if operator in ("&", "|", "=>", "<=>"):
            for operand in (left, right):
                self.require(operand, "bool", f"an operand of '{operator}'")
            return "bool"
        if operator in ("=", "!="):
            self._common(left, right, f"'{operator}' cannot compare different types")
            return "bool"
        types = [self._number(operand, f"an operand of '{operator}'") for operand in (left, right)]
        if operator in ("<", "<=", ">", ">="):
            return "bool"
        return "double" if operator == "/" or "double" in types else "int"

    def _call(self, function: str, arguments: tuple[Expression, ...], call: Expression) -> Type:
        if function not in FUNCTIONS:
            hint = nearest(function, FUNCTIONS)
            if function in self.types:
                hint = f"'{function}' is no function: is an operator missing before '('?"
            raise self._error(f"unknown function '{function}'", call, hint)
        count = {"pow": 2, "mod": 2, "log": 2, "min": None, "max": None}.get(function, 1)
        if count is not None and len(arguments) != count:
            plural = "argument" if count == 1 else "arguments"
            raise self._error(f"'{function}' takes {count} {plural}, not {len(arguments)}", call)
        if function == "mod":
            for argument in arguments:
                self.require(argument, "int", "an argument of 'mod'")
            return "int"
        types = [self._number(argument, f"an argument of '{function}'") for argument in arguments]
        if function in ("floor", "ceil", "round"):
            return "int"
        return "double" if function == "log" or "double" in types else "int"

    def _number(self, expression: Expression, what: str) -> Type:
        self.require(expression, "double", what)
        return self.type_of(expression)

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
