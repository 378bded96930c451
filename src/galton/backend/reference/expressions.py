"""Expressions of a lowered program in one state, in Python's own integers and floats.

What an operation means is in :mod:`galton.lang.operations`; here is only the order in which operands are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.expressions import Value
from ...lang.operations import BY_OP, Op, Operation
from ...lower.expression_graph import EXACT, Graph, Kind

__all__ = ["Undefined", "Valuation"]


class Undefined(Exception):
    """A node that has no value in a state."""

    def __init__(self, node: int) -> None:
        super().__init__(node)
        self.node = node


class Valuation:
    """The values of nodes in one state. Each is computed when it is asked for first, and no sooner."""

    def __init__(self, graph: Graph, state: Sequence[int]) -> None:
        self._graph, self._state = graph, state
        self._known: dict[int, Value] = {}

    def __getitem__(self, index: int) -> Value:
        if index not in self._known:
            self._known[index] = self._value(index)
        return self._known[index]

    def _value(self, index: int) -> Value:
        node = self._graph[index]
        value: Value
        match node.op:
            case Op.CONST:
                value = node.value
            case Op.VAR:
                value = self._state[int(node.value)]
            case Op.TO_REAL:
                value = self[node.args[0]]
            case Op.AND | Op.OR:
                left, right = node.args
                value = self[left] if self[left] == BY_OP[node.op].settled_by else self[right]
            case Op.ITE:
                condition, then, otherwise = node.args
                value = self[then] if self[condition] else self[otherwise]
            case _:
                value = self._applied(index, BY_OP[node.op], [self[operand] for operand in node.args])
        if node.kind is Kind.BOOL:
            return bool(value)
        return int(value) if node.integral else float(value)

    def _applied(self, index: int, operation: Operation, operands: list[Value]) -> Value:
        if operation.lacks_value(operands):
            raise Undefined(index)
        if operation.integers is None or any(isinstance(operand, float) for operand in operands):
            return operation.doubles(*operands)
        value = operation.integers(*operands)
        if operation.lengthens and abs(value) > EXACT:
            raise Undefined(index)
        return value
