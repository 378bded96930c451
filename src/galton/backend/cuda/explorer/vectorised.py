"""Expressions over arrays of states, a node of the graph at a time: for a device, where every operation is a launch.

Only what has a value everywhere, and what every processor rounds alike; see :func:`possible`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....device.arrays import namespace
from ....lower.expression_graph import Graph, Kind, Node, Op
from ....model.states import Field

__all__ = ["evaluate", "possible"]

TYPES = {Kind.BOOL: np.bool_, Kind.INT: np.int32, Kind.REAL: np.float64}


def _needed(graph: Graph, root: int) -> list[int]:
    found, pending = set(), [root]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += graph[node].args
    return sorted(found)  # arguments have smaller numbers


def possible(graph: Graph, root: int) -> bool:
    """Whether an expression can be evaluated here."""
    nodes = [graph[index] for index in _needed(graph, root)]
    return not any(node.partial or node.maybe_nan or node.op in (Op.POW, Op.LOG) for node in nodes)


def evaluate(graph: Graph, root: int, fields: Sequence[Field], words: Any) -> Any:
    """``(states,)`` the value of a node in every state."""
    xp = namespace(words)
    values: dict[int, Any] = {}
    for index in _needed(graph, root):
        node = graph[index]
        if node.op is Op.VAR:
            values[index] = _variable(fields[int(node.value)], words)
        else:
            values[index] = _operation(xp, node, [values[argument] for argument in node.args])
    found = values[root]
    return xp.full(len(words), found) if np.ndim(found) == 0 else found


def _variable(field: Field, words: Any) -> Any:
    ones = np.uint64((1 << field.bits) - 1)
    return ((words[:, field.word] >> np.uint64(field.shift)) & ones).astype(np.int32) + np.int32(field.low)


def _operation(xp: Any, node: Node, arguments: list[Any]) -> Any:
    kind = TYPES[node.kind]
    match node.op:
        case Op.CONST:
            return kind(node.value)
        case Op.TO_REAL:
            return arguments[0].astype(np.float64)
        case Op.ADD:
            return arguments[0] + arguments[1]
        case Op.SUB:
            return arguments[0] - arguments[1]
        case Op.MUL:
            return arguments[0] * arguments[1]
        case Op.DIV:
            return arguments[0] / arguments[1]
        case Op.NEG:
            return -arguments[0]
        case Op.MIN:
            return _minimum(xp, *arguments)
        case Op.MAX:
            return _maximum(xp, *arguments)
        case Op.MOD:
            return xp.mod(*arguments)
        case Op.FLOOR:
            return xp.floor(arguments[0]).astype(kind)
        case Op.CEIL:
            return xp.ceil(arguments[0]).astype(kind)
        case Op.ROUND:
            below = xp.floor(arguments[0])  # adding a half would round the largest double below one half up
            return (below + (arguments[0] - below >= 0.5)).astype(kind)
        case Op.EQ | Op.IFF:
            return arguments[0] == arguments[1]
        case Op.LT:
            return arguments[0] < arguments[1]
        case Op.LE:
            return arguments[0] <= arguments[1]
        case Op.AND:
            return arguments[0] & arguments[1]
        case Op.OR:
            return arguments[0] | arguments[1]
        case Op.NOT:
            return ~arguments[0]
        case Op.ITE:
            return xp.where(*arguments)
    raise ValueError(f"no operation on arrays: {node.op!r}")


def _minimum(xp: Any, left: Any, right: Any) -> Any:
    """The smaller numbers; -0.0 is less than 0.0."""
    return xp.where((left == right) & xp.signbit(left), left, xp.minimum(left, right))


def _maximum(xp: Any, left: Any, right: Any) -> Any:
    return xp.where((left == right) & ~xp.signbit(left), left, xp.maximum(left, right))
