"""At which places conditions may hold, and where expressions depend on a variable.

A place is a value of one variable with few of them; sets of places are the bits of a number, from its least value on.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..expression_graph import Graph, Node, Op

__all__ = ["Dependence", "Places"]


class Places:
    """The values of one variable, and what conditions say about it: more than can be, never less."""

    def __init__(self, graph: Graph, variable: int, low: int, high: int):
        self.graph, self.variable = graph, variable
        self._low, self._high = low, high
        self.all = (1 << high - low + 1) - 1
        self._known: dict[int, tuple[int, int]] = {}

    def may(self, node: int) -> int:
        """Where a condition may hold."""
        return self._both(node)[0]

    def may_not(self, node: int) -> int:
        """Where a condition may fail."""
        return self._both(node)[1]

    def values(self, node: int) -> int:
        """The places that a number may be."""
        found = self.graph[node]
        if found.op is Op.CONST:
            return self._at(found.value)
        if found.op is Op.ITE:
            return self.values(found.args[1]) | self.values(found.args[2])
        return self.all

    def _at(self, value: float) -> int:
        return 1 << int(value) - self._low if self._low <= value <= self._high else 0

    def _both(self, node: int) -> tuple[int, int]:
        if node not in self._known:
            self._known[node] = self._found(self.graph[node])
        return self._known[node]

    def _found(self, node: Node) -> tuple[int, int]:
        match node.op:
            case Op.CONST:
                return (self.all, 0) if node.value else (0, self.all)
            case Op.NOT:
                may, may_not = self._both(node.args[0])
                return may_not, may
            case Op.AND:
                (a, not_a), (b, not_b) = (self._both(operand) for operand in node.args)
                return a & b, not_a | not_b
            case Op.OR:
                (a, not_a), (b, not_b) = (self._both(operand) for operand in node.args)
                return a | b, not_a & not_b
            case Op.EQ | Op.LT | Op.LE:
                return self._compared(node)
        return self.all, self.all

    def _compared(self, node: Node) -> tuple[int, int]:
        left, right = (self.graph[operand] for operand in node.args)
        mine = [side.op is Op.VAR and int(side.value) == self.variable for side in (left, right)]
        number = right if mine[0] else left
        if mine[0] == mine[1] or number.op is not Op.CONST:
            return self.all, self.all
        holds = 0
        for value in range(self._low, self._high + 1):
            a, b = (value, number.value) if mine[0] else (number.value, value)
            holds |= self._at(value) if (a == b if node.op is Op.EQ else a < b if node.op is Op.LT else a <= b) else 0
        return holds, self.all & ~holds


class Dependence:
    """At which places expressions may depend on a variable; ``supports`` has a bit for each that they read at all."""

    def __init__(self, places: Places, variable: int, supports: Sequence[int]):
        self._places, self._variable, self._supports = places, variable, supports
        self._known: dict[int, int] = {}

    def on(self, node: int) -> int:
        """Where the value of a node may depend on the variable."""
        if not self._supports[node] >> self._variable & 1:
            return 0
        if node not in self._known:
            self._known[node] = self._found(self._places.graph[node])
        return self._known[node]

    def _found(self, node: Node) -> int:
        places = self._places
        if node.op is Op.VAR:
            return places.all
        found = [self.on(operand) for operand in node.args]
        if node.op is Op.AND:  # where one of them fails, the other does not matter
            return (found[0] | found[1]) & places.may(node.args[0]) & places.may(node.args[1])
        if node.op is Op.OR:
            return (found[0] | found[1]) & places.may_not(node.args[0]) & places.may_not(node.args[1])
        if node.op is Op.ITE:
            condition = node.args[0]
            return found[0] | (found[1] & places.may(condition)) | (found[2] & places.may_not(condition))
        joint = 0
        for part in found:
            joint |= part
        return joint
