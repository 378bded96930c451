"""Expressions of the PRISM language, as trees.

Nodes are frozen and compare by structure; the span is where the text stood and never takes part in a comparison.
Properties extend these trees (:mod:`galton.lang.properties`), because PRISM lets a property appear inside an
expression: ``2 * P=? [ F done ]``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import is_
from typing import Literal as OneOf

from .source import Span

Value = bool | int | float
Type = OneOf["bool", "int", "double"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """Any expression; ``span`` is where it was written."""

    span: Span = field(default=Span(0, 0), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """``true``, ``3``, ``0.5``. A ``bool`` is never an ``int`` here; an integer literal is never a ``double``."""

    value: Value


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A variable, constant or formula by name (formulas are gone from a checked program)."""

    name: str


@dataclass(frozen=True, slots=True)
class Label(Expression):
    """A quoted name in a property: a label, ``"init"``, ``"deadlock"``, or another property."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """``!a`` or ``-a``."""

    operator: OneOf["!", "-"]
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """Two operands: ``* / + -``, ``^`` (power), ``< <= > >= = !=``, ``& | => <=>``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional(Expression):
    """``condition ? then : otherwise``."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function of :mod:`.operations` by name; ``func(min, a, b)`` is the same node as ``min(a, b)``."""

    function: str
    arguments: tuple[Expression, ...]


def same_operands(expression: Binary) -> tuple[str, int, int]:
    """What two expressions have in common whose operands are the same objects; they may stand at different places."""
    return expression.operator, id(expression.left), id(expression.right)


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands of an expression of the modelling language."""
    match expression:
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Conditional(condition, then, otherwise):
            return (condition, then, otherwise)
        case Call(_, arguments):
            return arguments
    return ()


def map_children(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return an expression of the modelling language with every direct operand changed: itself, where none is."""
    before = children(expression)
    after = tuple(map(change, before))
    if all(map(is_, before, after)):
        return expression
    match expression:
        case Unary(operator, _):
            return Unary(operator, *after, span=expression.span)
        case Binary(operator, _, _):
            return Binary(operator, *after, span=expression.span)
        case Conditional():
            return Conditional(*after, span=expression.span)
        case Call(function, _):
            return Call(function, after, span=expression.span)
    return expression
