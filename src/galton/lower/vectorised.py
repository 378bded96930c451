"""Expressions over arrays of states, a node of the graph at a time: for a device, where every operation is a launch.

Only what has a value everywhere, and what every processor rounds alike; see :func:`possible`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..device.arrays import namespace
from ..lang.operations import BY_OP, Operation
from ..model.states import Field
from .expression_graph import Graph, Kind, Node, Op

__all__ = ["evaluate", "function", "possible"]

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
    return not any(node.partial or node.maybe_nan or not _has_arrays(node.op) for node in nodes)


def _has_arrays(op: Op) -> bool:
    if op in (Op.CONST, Op.VAR, Op.TO_REAL):
        return True
    operation = BY_OP[op]
    return operation.rounded_alike and (operation.array is not None or op in _OWN)


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
    if node.op is Op.CONST:
        return kind(node.value)
    if node.op is Op.TO_REAL:
        return arguments[0].astype(kind)
    return function(xp, BY_OP[node.op])(*arguments).astype(kind, copy=False)


def function(xp: Any, operation: Operation) -> Callable[..., Any]:
    """What an operation does to arrays of numbers, where ``xp`` is NumPy or CuPy."""
    assert operation.op is not None
    if operation.op in _OWN:
        return partial(_OWN[operation.op], xp)
    if operation.array is None:
        raise ValueError(f"no operation on arrays: {operation.op!r}")
    found: Callable[..., Any] = getattr(xp, operation.array)
    return found


def _minimum(xp: Any, left: Any, right: Any) -> Any:
    """The smaller numbers; -0.0 is less than 0.0. One of the two may be a number of NumPy's, wherever the other is."""
    return xp.where(xp.equal(left, right) & namespace(left).signbit(left), left, xp.minimum(left, right))


def _maximum(xp: Any, left: Any, right: Any) -> Any:
    """The larger numbers; 0.0 is more than -0.0."""
    return xp.where(xp.equal(left, right) & ~namespace(left).signbit(left), left, xp.maximum(left, right))


def _round_half_up(xp: Any, values: Any) -> Any:
    below = xp.floor(values)  # adding a half would round the largest double below one half up
    return below + (values - below >= 0.5)


_OWN: dict[Op, Callable[..., Any]] = {Op.MIN: _minimum, Op.MAX: _maximum, Op.ROUND: _round_half_up}
