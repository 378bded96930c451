"""Powers and logarithms as tables.

A device rounds ``pow`` and ``log`` differently from the C library, and the explorers must agree to the last bit. An
expression of this kind nearly always depends on one or two variables of small range, so the host evaluates it for all
their values with the library that the CPU explorer uses, and the device looks it up.
"""

from __future__ import annotations

import itertools
import math

from ....lang.operations import BY_OP
from ....lower.expression_graph import Graph, Node, Op, computed

LARGEST_TABLE = 4096  # values


class NotPrintable(Exception):
    """Something that the device cannot do, or would round differently from the CPU."""


def tabulate(graph: Graph, root: int) -> tuple[list[int], list[float]]:
    """The variables' nodes that an expression depends on, and its values for theirs, the last variable fastest."""
    needed = _below(graph, root)
    variables = [node for node in needed if graph[node].op is Op.VAR]
    ranges = [range(int(graph[v].low), int(graph[v].high) + 1) for v in variables]
    if math.prod(map(len, ranges)) > LARGEST_TABLE or graph[root].partial:
        raise NotPrintable("a power or logarithm of variables with many values, which a device rounds differently")
    values = []
    for valuation in itertools.product(*ranges):
        known: dict[int, float] = dict(zip(variables, map(float, valuation), strict=True))
        for node in needed:
            if node not in known:
                known[node] = _evaluate(graph, graph[node], [known[a] for a in graph[node].args])
        values.append(known[root])
    return variables, values


def _below(graph: Graph, root: int) -> list[int]:
    found, pending = set(), [root]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += graph[node].args
    return sorted(found)


def _evaluate(graph: Graph, node: Node, args: list[float]) -> float:
    """A total operation; truth values are 0 and 1."""
    if node.op is Op.CONST:
        return node.value
    if node.op is Op.TO_REAL:
        return args[0]
    operation = BY_OP[node.op]
    whole = operation.integers is not None and all(graph[a].integral for a in node.args)
    return float(computed(operation, whole, args))
