"""Expressions of JANI as those of the PRISM language.

What PRISM lacks is made from what it has: the derived operators, powers of integers that are reals, and functions,
whose calls are replaced by their bodies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..evaluation import LARGEST_INT, SMALLEST_INT
from ..expressions import Binary, Call, Conditional, Expression, Literal, Name, Type, Unary, map_children
from ..rationals import Irrational, literal, negate
from ..source import Span
from ..stream import nearest
from .json_text import Node, Number

__all__ = ["Scope", "Translation", "expression", "guarded", "joined", "substitute", "type_of"]

_BINARY = {"∨": "|", "∧": "&", "⇒": "=>", "=": "=", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}
_BINARY |= {"+": "+", "-": "-", "*": "*", "/": "/"}
_CALLED = {"min": "min", "max": "max", "log": "log", "%": "mod"}
_UNARY = ("¬", "floor", "ceil", "abs", "sgn", "trc")
_KNOWN = (*_BINARY, *_CALLED, *_UNARY, "pow", "ite", "call")
_FOREIGN = {
    "der": "derivatives belong to hybrid models",
    **dict.fromkeys(("aa", "av", "ac"), "arrays are not supported"),
    **dict.fromkeys(("da", "dv"), "datatypes are not supported"),
    "nondet": "nondeterministic selection is not supported",
}
_CONSTANTS = {"e": math.e, "π": math.pi}


class Function:
    """``body`` over its ``parameters`` and what is known where it is declared."""

    def __init__(self, parameters: tuple[str, ...], body: Node, scope: Scope):
        self.parameters, self._body, self._scope = parameters, body, scope
        self._translated: Expression | None = None

    def called(self, arguments: list[Expression], open: tuple[Function, ...]) -> Expression:
        """The body with arguments in place of parameters; it is translated once, because formulas stand in formulas."""
        if self._translated is None:
            stand_ins = {name: Name(_stand_in(name)) for name in self.parameters}
            self._translated = Translation(self._scope.inside(stand_ins), (*open, self)).expression(self._body)
        return substitute(self._translated, dict(zip(map(_stand_in, self.parameters), arguments, strict=True)))


def _stand_in(parameter: str) -> str:
    return f"parameter {parameter}"  # no variable has such a name


@dataclass(frozen=True, eq=False)
class Scope:
    """What names stand for, and which functions there are."""

    names: Mapping[str, Expression]
    functions: dict[str, Function] = field(default_factory=dict)

    def inside(self, names: Mapping[str, Expression]) -> Scope:
        """The scope with more names, which hide others of the same name; functions added to it are its own."""
        return Scope({**self.names, **names}, dict(self.functions))

    def add_functions(self, nodes: list[Node]) -> None:
        """Declare functions, whose bodies may use everything in this scope."""
        for node in nodes:
            node.only(("name", "type", "parameters", "body"), "a function")
            type_of(node.need("type", "a function"))
            name = node.need("name", "a function").text("the name of a function")
            parameters = []
            for parameter in node.list_of("parameters", "the parameters of a function"):
                type_of(parameter.only(("name", "type"), "a parameter").need("type", "a parameter"))
                parameters.append(parameter.need("name", "a parameter").text("the name of a parameter"))
            self.functions[name] = Function(tuple(parameters), node.need("body", "a function"), self)


class Translation:
    """One expression; ``open`` are the functions whose bodies it is in."""

    def __init__(self, scope: Scope, open: tuple[Function, ...] = ()):
        self._scope, self._open = scope, open

    def expression(self, node: Node) -> Expression:
        value = node.value
        if isinstance(value, bool):
            return Literal(value, span=node.span)
        if isinstance(value, Number):
            return _number(node)
        if isinstance(value, str):
            return self._name(value, node)
        if not isinstance(value, dict):
            raise node.error(f"expected an expression, found {node.kind}")
        if "op" in value:
            return self._operation(node, node["op"].text("'op'"))
        if "constant" in value:
            name = node["constant"].text("a constant")
            if name not in _CONSTANTS:
                raise node["constant"].error(f"JANI has no constant '{name}'", "it has 'e' and 'π'")
            return Literal(Irrational(_CONSTANTS[name]), span=node.span)
        if "exp" in value:
            raise node.error("expected an expression, found an object with 'exp'", "give what stands under 'exp'")
        raise node.error("expected an expression, found an object without 'op'")

    def _name(self, name: str, node: Node) -> Expression:
        meant = self._scope.names.get(name)
        if meant is None:
            raise node.error(f"unknown name '{name}'", nearest(name, self._scope.names))
        return replace(meant, span=node.span)

    def _operation(self, node: Node, op: str) -> Expression:
        if op in ("∧", "∨"):
            return joined(_BINARY[op], [self.expression(part) for part in self._chain(node, op)], node.span)
        if op in _BINARY:
            return Binary(_BINARY[op], *self._operands(node, op, "left", "right"), span=node.span)
        if op in _CALLED:
            return Call(_CALLED[op], self._operands(node, op, "left", "right"), span=node.span)
        if op == "pow":
            base, exponent = self._operands(node, op, "left", "right")
            return Binary("^", _real(base), exponent, span=node.span)
        if op == "ite":
            return Conditional(*self._operands(node, op, "if", "then", "else"), span=node.span)
        if op in _UNARY:
            (operand,) = self._operands(node, op, "exp")
            return _unary(op, operand, node.span)
        if op == "call":
            return self._call(node)
        if op in _FOREIGN:
            raise node["op"].unsupported(f"'{op}' is not supported: {_FOREIGN[op]}")
        raise node["op"].error(f"no operator '{op}' can stand here", nearest(op, _KNOWN))

    def _chain(self, node: Node, op: str) -> list[Node]:
        """The operands of ``a ∧ b ∧ …``, however it is nested: generators write chains hundreds long."""
        found: list[Node] = []
        waiting = [node]
        while waiting:
            part = waiting.pop()
            if isinstance(part.value, dict) and "op" in part and part["op"].value == op:
                part.only(("op", "left", "right"), f"'{op}'")
                waiting += [part.need("right", f"'{op}'"), part.need("left", f"'{op}'")]
            else:
                found.append(part)
        return found

    def _operands(self, node: Node, op: str, *keys: str) -> tuple[Expression, ...]:
        node.only(("op", *keys), f"'{op}'")
        return tuple(self.expression(node.need(key, f"'{op}'")) for key in keys)

    def _call(self, node: Node) -> Expression:
        node.only(("op", "function", "args"), "'call'")
        name = node.need("function", "'call'").text("the name of a function")
        function = self._scope.functions.get(name)
        if function is None:
            raise node["function"].error(f"unknown function '{name}'", nearest(name, self._scope.functions))
        if function in self._open:
            raise node.error(f"the function '{name}' calls itself, which is not supported")
        arguments = [self.expression(argument) for argument in node.list_of("args", "the arguments")]
        if len(arguments) != len(function.parameters):
            raise node.error(f"'{name}' takes {len(function.parameters)} arguments, not {len(arguments)}")
        return replace(function.called(arguments, self._open), span=node.span)


def expression(node: Node, scope: Scope) -> Expression:
    """The expression that a JSON value stands for."""
    return Translation(scope).expression(node)


def guarded(node: Node | None, scope: Scope, what: str) -> Expression | None:
    """What stands under ``exp`` of an object such as a guard; None where there is none."""
    if node is None:
        return None
    return expression(node.only(("exp",), what).need("exp", what), scope)


def _number(node: Node) -> Literal:
    """A number as it was written."""
    text = str(node.value)
    if not any(sign in text for sign in ".eE"):
        whole = int(text) if len(text) < 20 else LARGEST_INT + 1
        if not SMALLEST_INT <= whole <= LARGEST_INT:
            raise node.error(f"integers lie between {SMALLEST_INT} and {LARGEST_INT}", "as a real: add '.0'")
        return Literal(whole, span=node.span)
    value = literal(text.removeprefix("-"))
    if not math.isfinite(value):
        raise node.error("this number is too large")
    return Literal(negate(value) if text.startswith("-") else value, span=node.span)


def joined(operator: str, operands: list[Expression], span: Span) -> Expression:
    """Operands joined by ``&`` or ``|``, evaluated from the left; a balanced tree, so that its depth stays small."""
    if len(operands) == 1:
        return operands[0]
    half = (len(operands) + 1) // 2
    left, right = joined(operator, operands[:half], span), joined(operator, operands[half:], span)
    return Binary(operator, left, right, span=span)


def substitute(value: Expression, meanings: Mapping[str, Expression]) -> Expression:
    """An expression with names replaced by what they stand for; parts without them stay the same objects."""
    if isinstance(value, Name):
        return meanings.get(value.name, value)
    changed = False

    def part(child: Expression) -> Expression:
        nonlocal changed
        after = substitute(child, meanings)
        changed |= after is not child
        return after

    after = map_children(value, part)
    return after if changed else value


def _unary(op: str, operand: Expression, span: Span) -> Expression:
    zero, one = Literal(0, span=span), Literal(1, span=span)
    match op:
        case "¬":
            return Unary("!", operand, span=span)
        case "abs":
            return Call("max", (operand, Unary("-", operand, span=span)), span=span)
        case "sgn":
            negative = Conditional(Binary("<", operand, zero, span=span), Literal(-1, span=span), zero, span=span)
            return Conditional(Binary(">", operand, zero, span=span), one, negative, span=span)
        case "trc":
            down, up = Call("floor", (operand,), span=span), Call("ceil", (operand,), span=span)
            return Conditional(Binary(">=", operand, zero, span=span), down, up, span=span)
    return Call(op, (operand,), span=span)


def _real(value: Expression) -> Expression:
    """A number as a real: a power in JANI is one, whatever its operands are."""
    if isinstance(value, Literal) and type(value.value) is int:
        return Literal(float(value.value), span=value.span)
    return Binary("*", value, Literal(1.0, span=value.span), span=value.span)


def type_of(node: Node) -> Type:
    """The type of a constant, a parameter or a function; that of a bounded one is the type it bounds."""
    if isinstance(node.value, dict):
        kind = node.need("kind", "a type")
        node = node.need("base", "a bounded type") if kind.value == "bounded" else kind
    name = node.text("a type")
    types: dict[str, Type] = {"bool": "bool", "int": "int", "real": "double"}
    if name in types:
        return types[name]
    if name in ("clock", "continuous", "array", "datatype"):
        raise node.unsupported(f"the type '{name}' is not supported")
    raise node.error(f"there is no type '{name}'", nearest(name, types))
