"""Nodes of the expression graph as CUDA C++.

Each generated function gets the nodes it needs. What is used twice, or nested too deeply for a compiler, becomes a
local constant; the rest is written where it is used. A partial node becomes a lambda instead, so that it is only
evaluated where short-circuit rules say so; all its arithmetic is in doubles and sets ``fault`` where there is no value,
as the core's evaluation of one state does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ....lower.expression_graph import Graph, Kind, Node, Op
from ....model.states import Field
from .tables import NotPrintable, tabulate

DEEPEST = 24  # nested parentheses before a local is made
TYPES = {Kind.BOOL: "bool", Kind.INT: "i32", Kind.REAL: "double"}
_INFIX = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*", Op.DIV: "/", Op.EQ: "==", Op.LT: "<", Op.LE: "<=", Op.IFF: "=="}


class Body:
    """The statements of one function, or of one ``case`` in it: locals for the nodes under some roots."""

    def __init__(self, graph: Graph, fields: Sequence[Field], tables: dict[str, list[float]], roots: Iterable[int]):
        """``tables`` collects those that the text refers to, by name."""
        self._graph = graph
        self._fields = fields
        self._tables = tables
        self._text: dict[int, str] = {}
        self._depth: dict[int, int] = {}
        self.lines: list[str] = []
        uses: dict[int, int] = {}
        pending = list(roots)
        while pending:
            node = pending.pop()
            uses[node] = uses.get(node, 0) + 1
            if uses[node] == 1:
                pending += graph[node].args
        for node in sorted(uses):  # arguments have smaller numbers
            self._add(node, uses[node])

    def __getitem__(self, node: int) -> str:
        """The expression for a root."""
        return self._text[node]

    def truth(self, node: int) -> str:
        """A root that holds or not."""
        return f"({self._text[node]})"

    def number(self, node: int) -> str:
        """A root as a double."""
        return self._text[node] if self._graph[node].kind is Kind.REAL else f"(double)({self._text[node]})"

    def _add(self, index: int, uses: int) -> None:
        node = self._graph[index]
        if node.op is Op.CONST:
            self._text[index], self._depth[index] = constant(node), 0
            return
        depth = 1 + max((self._depth[a] for a in node.args), default=0)
        text = self._variable(index) if node.op is Op.VAR else self._operation(index)
        if node.op is Op.VAR or uses > 1 or depth > DEEPEST:
            name = f"n{index}"
            if node.partial:
                result = "bool" if node.kind is Kind.BOOL else "double"
                self.lines.append(f"const auto {name} = [&]() -> {result} {{ return {text}; }};")
                text = f"{name}()"
            else:
                self.lines.append(f"const {TYPES[node.kind]} {name} = {text};")
                text = name
            depth = 0
        self._text[index], self._depth[index] = text, depth

    def _variable(self, index: int) -> str:
        field = self._fields[int(self._graph[index].value)]
        ones = (1 << field.bits) - 1
        # Unsigned: the sum may pass through the sign bit.
        return f"(i32)((u32)(state.word[{field.word}] >> {field.shift} & 0x{ones:X}u) + 0x{field.low & 0xFFFFFFFF:X}u)"

    def _operation(self, index: int) -> str:
        node = self._graph[index]
        if node.partial:
            return self._partial(node)
        args = [self._text[a] for a in node.args]
        match node.op:
            case Op.TO_REAL:
                return f"(double)({args[0]})"
            case Op.NEG:
                return f"(-{args[0]})"
            case Op.MIN:
                return f"smaller<{TYPES[node.kind]}>({args[0]}, {args[1]})"
            case Op.MAX:
                return f"larger<{TYPES[node.kind]}>({args[0]}, {args[1]})"
            case Op.MOD:
                return f"modulo({args[0]}, {args[1]})"
            case Op.POW if node.integral:
                return f"whole_power({args[0]}, {args[1]})"
            case Op.POW | Op.LOG:
                return self._look_up(index)
            case Op.FLOOR | Op.CEIL | Op.ROUND:
                return f"({TYPES[node.kind]}){_rounding(node.op)}({args[0]})"
            case Op.NOT:
                return f"(!{args[0]})"
            case Op.AND:
                return f"({args[0]} & {args[1]})"  # both can be evaluated: no branch
            case Op.OR:
                return f"({args[0]} | {args[1]})"
            case Op.ITE:
                return f"({args[0]} ? {args[1]} : {args[2]})"
        return f"({args[0]} {_INFIX[node.op]} {args[1]})"

    def _look_up(self, index: int) -> str:
        variables, values = tabulate(self._graph, index)
        place = "0"
        for variable in variables:
            node = self._graph[variable]
            place = f"({place} * {int(node.high - node.low) + 1} + n{variable} - {integer(int(node.low))})"
        self._tables[f"TABLE_{index}"] = values
        return f"double_of(TABLE_{index}[{place}])"

    def _partial(self, node: Node) -> str:
        logical = {Op.NOT, Op.AND, Op.OR, Op.IFF}
        args = [self._text[a] if self._graph[a].kind is Kind.BOOL else self.number_of(a) for a in node.args]
        match node.op:
            case Op.AND:
                return f"({args[0]} && {args[1]})"
            case Op.OR:
                return f"({args[0]} || {args[1]})"
            case Op.NOT:
                return f"(!{args[0]})"
            case Op.ITE:
                return f"({args[0]} ? {args[1]} : {args[2]})"
            case Op.TO_REAL:
                return args[0]
            case Op.MIN:
                return f"smaller<double>({args[0]}, {args[1]})"
            case Op.MAX:
                return f"larger<double>({args[0]}, {args[1]})"
            case Op.MOD:
                return f"partial_modulo({args[0]}, {args[1]}, fault)"
            case Op.POW if node.integral:
                return f"partial_power({args[0]}, {args[1]}, fault)"
            case Op.POW | Op.LOG:
                raise NotPrintable(
                    "a logarithm, or a power that is no integer, inside an expression that may have no value"
                )
            case Op.FLOOR | Op.CEIL | Op.ROUND:
                return f"({_rounding(node.op)}(finite({args[0]}, fault)) + 0.0)"  # an integer has no -0
        text = f"(-{args[0]})" if node.op is Op.NEG else f"({args[0]} {_INFIX[node.op]} {args[1]})"
        checked = node.integral and node.op not in logical and node.kind is not Kind.BOOL
        return f"exact({text}, fault)" if checked else text

    def number_of(self, node: int) -> str:
        """An argument of a partial operation, as a double."""
        found = self._graph[node]
        is_double = found.kind is Kind.REAL or found.partial
        return self._text[node] if is_double else f"(double)({self._text[node]})"


def _rounding(op: Op) -> str:
    return {Op.FLOOR: "floor", Op.CEIL: "ceil", Op.ROUND: "round_half_up"}[op]


def constant(node: Node) -> str:
    """A constant of the node's kind."""
    if node.kind is Kind.BOOL:
        return "true" if node.value else "false"
    return integer(int(node.value)) if node.kind is Kind.INT else real(node.value)


def integer(value: int) -> str:
    """A 32-bit literal; the least integer has none."""
    if value == -(2**31):
        return "(-2147483647 - 1)"
    return str(value) if value >= 0 else f"({value})"


def real(value: float) -> str:
    """A double that loses no bit."""
    if math.isnan(value):
        return "double_of(0x7FF8000000000000ull)"
    if math.isinf(value):
        return "double_of(0x7FF0000000000000ull)" if value > 0 else "double_of(0xFFF0000000000000ull)"
    return value.hex() if math.copysign(1.0, value) > 0 else f"({value.hex()})"
