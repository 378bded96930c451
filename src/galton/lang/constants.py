"""The values of constants: from their declarations, and from outside (``--const N=15,p=0.5``)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .evaluation import LARGEST_INT, SMALLEST_INT, EvaluationError, evaluate
from .expression_parser import parse_expression
from .expressions import Expression, Name, Type, Value, children
from .rationals import Exact, literal, negate, rounded
from .source import GaltonError, LanguageError, OpenConstantError, Source, Span
from .stream import listed, nearest
from .syntax import ConstantDeclaration
from .types import Scope, type_of_value


@dataclass(frozen=True)
class Constants:
    """Constants after evaluation.

    ``open`` are those that still need a value; ``blocked`` are those that depend on open ones, with their names.
    """

    types: Mapping[str, Type]
    values: Mapping[str, Value]
    open: Mapping[str, Type]
    blocked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def missing(self, expression: Expression) -> tuple[str, ...]:
        """The open constants that an expression needs."""
        found: dict[str, None] = {}
        stack = [expression]
        while stack:
            node = stack.pop()
            if isinstance(node, Name):
                found.update(dict.fromkeys(self.blocked.get(node.name, ())))
                if node.name in self.open:
                    found[node.name] = None
            stack.extend(children(node))
        return tuple(name for name in self.open if name in found)

    def evaluate(self, expression: Expression, source: Source, what: str) -> Value:
        """The value of a constant expression; an error that says which constants are missing, if any are."""
        if missing := self.missing(expression):
            names = " and ".join(f"'{name}'" for name in missing)
            plural = "constants" if len(missing) > 1 else "constant"
            given = ",".join(f"{name}=…" for name in self.open)
            message = f"{what} needs a value for the {plural} {names}"
            raise OpenConstantError(message, source, expression.span, f"give it with --const {given}")
        try:
            value = evaluate(expression, self.values)
        except EvaluationError as error:
            raise error.at(source) from None
        if value != value:
            raise LanguageError(f"{what} is no number", source, expression.span)
        return value


def resolve_constants(
    declarations: Iterable[ConstantDeclaration],
    given: Mapping[str, Value | str],
    scope: Scope,
    outer: Constants | None = None,
) -> Constants:
    """Evaluate constants, whatever their order.

    Parameters
    ----------
    declarations
        Their values with formulas expanded.
    given
        Values from outside, for constants declared without one.
    scope
        What their expressions may use: the constants themselves.
    outer
        Constants these may refer to: those of the model, for a property file.
    """
    return _Resolver(declarations, given, scope, outer).resolve_all()


class _Resolver:
    def __init__(
        self,
        declarations: Iterable[ConstantDeclaration],
        given: Mapping[str, Value | str],
        scope: Scope,
        outer: Constants | None,
    ):
        self._scope = scope
        self._given = given
        self._values = dict(outer.values) if outer else {}
        self._open = dict(outer.open) if outer else {}
        self._blocked = dict(outer.blocked) if outer else {}
        types = dict(outer.types) if outer else {}
        self._declared: dict[str, ConstantDeclaration] = {}
        for declaration in declarations:
            name = declaration.name
            if name.name in types:
                raise self._error(f"there is a constant '{name.name}' already", declaration)
            types[name.name] = declaration.type
            self._declared[name.name] = declaration
        self._constants = Constants(types, self._values, self._open, self._blocked)
        self._visiting: list[str] = []

    def resolve_all(self) -> Constants:
        for name in self._given:
            self._check_given(name)
        for name in self._declared:
            self._resolve(name)
        return self._constants

    def _resolve(self, name: str) -> None:
        if name in self._values or name in self._open or name in self._blocked:
            return
        declaration = self._declared[name]
        if name in self._visiting:
            cycle = " → ".join([*self._visiting[self._visiting.index(name) :], name])
            raise self._error(f"the constant '{name}' depends on itself: {cycle}", declaration)
        if declaration.value is not None:
            self._evaluate(name, declaration.type, declaration.value)
        elif name in self._given:
            self._values[name] = convert(self._given[name], declaration.type, name)
        else:
            self._open[name] = declaration.type

    def _evaluate(self, name: str, kind: Type, expression: Expression) -> None:
        self._scope.require(expression, kind, f"the value of '{name}'")
        self._visiting.append(name)
        for used in _names(expression):
            if used in self._declared:
                self._resolve(used)
        self._visiting.pop()
        if missing := self._constants.missing(expression):
            self._blocked[name] = missing
        else:
            value = self._constants.evaluate(expression, self._scope.source, f"the constant '{name}'")
            self._values[name] = _as(kind, value)

    def _check_given(self, name: str) -> None:
        if name not in self._declared:
            hint = nearest(name, self._declared) or to_give(self._declared.values(), self._given)
            message = f"{self._scope.source.name} has no constant '{name}'"
            raise GaltonError(f"{message}; {hint}")
        declaration = self._declared[name]
        if declaration.value is not None:
            raise self._error(
                f"the constant '{name}' has a value already, so it cannot be given another",
                declaration,
                f"to choose it from outside, declare it without one: const {declaration.type} {name};",
            )

    def _error(self, message: str, declaration: ConstantDeclaration, hint: str | None = None) -> LanguageError:
        return LanguageError(message, self._scope.source, declaration.name.span, hint)


def to_give(declared: Iterable[ConstantDeclaration], given: Collection[str] = ()) -> str:
    """The constants that wait for a value from outside, in a sentence; ``given`` are those that have got one."""
    open = [constant.name.name for constant in declared if constant.value is None]
    names = [name for name in open if name not in given]
    if names:
        return listed(names, "constants without a value")
    return "all of its constants have a value" if open else "none of its constants needs a value"


def convert(value: Value | str, kind: Type, name: str) -> Value:
    """A value from outside as the type of its constant; text is read as an expression, so ``1/3`` is fine.

    A float counts as the decimal that Python prints for it, as if it had been written; other numbers as they are.

    >>> convert("1/4", "double", "p")
    0.25
    """

    def wrong(message: str) -> LanguageError:
        source = Source(f"constant {name}", given if isinstance(given, str) else repr(given))
        return LanguageError(message, source, Span(0, len(source.text)))

    given = value
    if isinstance(value, str):
        if ":" in value and "?" not in value:
            raise wrong(f"the constant '{name}' needs one value here, not a range")
        source = Source(f"constant {name}", value)
        expression = parse_expression(source)
        Scope(source, {}).type_of(expression)
        try:
            value = evaluate(expression, {})
        except EvaluationError as error:
            raise error.at(source) from None
    else:
        value = _from_python(value)
    found = type_of_value(value)
    if found != kind and not (kind == "double" and found == "int"):
        raise wrong(f"the constant '{name}' is of type {kind}, and this is of type {found}")
    if found == "int" and not SMALLEST_INT <= value <= LARGEST_INT:
        raise wrong(f"integers end at {LARGEST_INT}")
    return _as(kind, value)


def _from_python(value: Any) -> Value:
    """A number as if it had been written in a text: a float is the decimal that Python prints for it."""
    if isinstance(value, (bool, int, Exact)):
        return value
    if hasattr(value, "__index__"):  # an integer of another library
        return int(value)
    number = float(value)
    if not math.isfinite(number) or number == 0:
        return number
    if not isinstance(value, float) and hasattr(value, "as_integer_ratio"):  # Fraction, Decimal, other floats
        from fractions import Fraction

        return rounded(Fraction(*map(int, value.as_integer_ratio())))
    size = literal(repr(abs(number)))
    return size if number > 0 else negate(size)


def _as(kind: Type, value: Value) -> Value:
    return float(value) if kind == "double" and isinstance(value, int) else value


def parse_constants(text: str) -> dict[str, str]:
    """The constants of ``--const``, name to text; a range such as ``2:2:20`` stays text for whoever wants to run it.

    >>> parse_constants("N=15, p=0.5, k=2:2:20")
    {'N': '15', 'p': '0.5', 'k': '2:2:20'}
    """
    source = Source("--const", text)
    constants: dict[str, str] = {}
    start = 0
    for piece in _split(text):
        span = Span(start, start + len(piece))
        start = span.end + 1
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not piece.strip() and not text.strip():
            break
        if not equals or not value or not name.isidentifier():
            raise LanguageError(f"expected name=value, found '{piece.strip()}'", source, span)
        if name in constants:
            raise LanguageError(f"the constant '{name}' is given twice", source, span)
        constants[name] = value
    return constants


def _split(text: str) -> list[str]:
    """Split at commas outside parentheses: ``p=min(1,2),q=3`` has two pieces."""
    pieces, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            pieces.append(text[start:position])
            start = position + 1
    return [*pieces, text[start:]]


def _names(expression: Expression) -> Iterable[str]:
    if isinstance(expression, Name):
        yield expression.name
    for child in children(expression):
        yield from _names(child)
