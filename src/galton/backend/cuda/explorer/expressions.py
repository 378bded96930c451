"""Nodes of the expression graph as CUDA C++.

Each generated function gets the nodes it needs. What is used twice, or nested too deeply for a compiler, becomes a
local constant; the rest is written where it is used. A partial node becomes a lambda instead, so that it is only
evaluated where short-circuit rules say so; all its arithmetic is in doubles and sets ``fault`` where there is no value,
as the core's evaluation of one state does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ....lang.operations import BY_OP
from ....lower.expression_graph import Graph, Kind, Node, Op
from ....model.states import Field
from .tables import NotPrintable, tabulate

DEEPEST = 24  # nested parentheses before a local is made
TYPES = {Kind.BOOL: "bool", Kind.INT: "i32", Kind.REAL: "double"}
# Operators of C++. What is not here is a function of arithmetic.cuh: Op.MIN is min_of, and so on.
OPERATORS = {
    Op.NEG: "(-{})",
    Op.ADD: "({} + {})",
    Op.SUB: "({} - {})",
    Op.MUL: "({} * {})",
    Op.DIV: "({} / {})",
    Op.EQ: "({} == {})",
    Op.LT: "({} < {})",
    Op.LE: "({} <= {})",
    Op.AND: "({} & {})",  # both can be evaluated: no branch
    Op.OR: "({} | {})",
    Op.NOT: "(!{})",
    Op.IFF: "({} == {})",
    Op.ITE: "({} ? {} : {})",
}
IN_ORDER = {Op.AND: "({} && {})", Op.OR: "({} || {})"}  # where the right side may have no value


class Body:
    """The statements of one function, or of one ``case`` in it: locals for the nodes under some roots."""

    def __init__(
        self,
        graph: Graph,
        fields: Sequence[Field],
        tables: dict[str, list[float]],
        numbers: list[float],
        roots: Iterable[int],
    ):
        """``tables`` collects those that the text refers to, by name, and ``numbers`` the constants, by place."""
        self._graph = graph
        self._fields = fields
        self._tables = tables
        self._numbers = numbers
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
            self._text[index], self._depth[index] = self._constant(node), 0
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

    def _constant(self, node: Node) -> str:
        """Doubles are no part of the text, which is then the same for other values of the program's constants."""
        if node.kind is Kind.BOOL:
            return "true" if node.value else "false"
        if node.kind is Kind.INT:
            return integer(int(node.value))
        self._numbers.append(node.value)
        return f"given_number({len(self._numbers) - 1})"

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
        if node.op is Op.TO_REAL:
            return f"(double)({args[0]})"
        if node.op in OPERATORS:
            return OPERATORS[node.op].format(*args)
        if not (BY_OP[node.op].rounded_alike or node.integral):
            return self._look_up(index)
        return f"({TYPES[node.kind]}){_function(node.op)}({', '.join(args)})"

    def _look_up(self, index: int) -> str:
        variables, values = tabulate(self._graph, index)
        place = "0"
        for variable in variables:
            node = self._graph[variable]
            place = f"({place} * {int(node.high - node.low) + 1} + n{variable} - {integer(int(node.low))})"
        self._tables[f"TABLE_{index}"] = values
        return f"double_of(TABLE_{index}[{place}])"

    def _partial(self, node: Node) -> str:
        args = [self._text[a] if self._graph[a].kind is Kind.BOOL else self.number_of(a) for a in node.args]
        if node.op is Op.TO_REAL:
            return args[0]
        operation = BY_OP[node.op]
        if node.op in OPERATORS:
            text = IN_ORDER.get(node.op, OPERATORS[node.op]).format(*args)
        elif operation.rounded_alike or node.integral:
            text = f"{_function(node.op)}({', '.join([*args, *(['fault'] if operation.domain else [])])})"
        else:
            raise NotPrintable(
                "a logarithm, or a power that is no integer, inside an expression that may have no value"
            )
        return f"exact({text}, fault)" if node.integral and operation.lengthens else text

    def number_of(self, node: int) -> str:
        """An argument of a partial operation, as a double."""
        found = self._graph[node]
        is_double = found.kind is Kind.REAL or found.partial
        return self._text[node] if is_double else f"(double)({self._text[node]})"


def _function(op: Op) -> str:
    return f"{op.name.lower()}_of"


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
