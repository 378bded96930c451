"""Whether commands can be left out without hiding a mistake: they always have a value, and stay in their ranges.

What cannot be shown to be right is kept, so that explorers meet it. A guard that bounds a variable by constants, as in
``x<9 -> (x'=x+1)``, helps.
"""

from __future__ import annotations

import math

from ..expression_graph import Graph, Op
from ..lowering import LoweredCommand, Lowering

__all__ = ["fits", "is_safe"]


def is_safe(command: LoweredCommand, lowering: Lowering) -> bool:
    """Whether a command can do nothing wrong but by its assignments."""
    graph = lowering.graph
    if graph[command.guard].partial:
        return False
    for update in command.updates:
        weight = graph[update.probability]
        if weight.partial or weight.maybe_nan or not 0 <= weight.low <= weight.high < math.inf:
            return False
    return True


def fits(variable: int, value: int, command: LoweredCommand, lowering: Lowering) -> bool:
    """Whether what a command assigns to a variable always is one of its values."""
    graph, declared = lowering.graph, lowering.program.variables[variable]
    node = graph[value]
    if node.partial or node.maybe_nan:
        return False
    if declared.type == "bool":
        return True
    low, high = node.low, node.high
    if node.op in (Op.ADD, Op.SUB) and graph[node.args[1]].op is Op.CONST and graph[node.args[0]].op is Op.VAR:
        read, change = graph[node.args[0]], graph[node.args[1]].value
        least, most = _range(graph, command.guard, int(read.value), read.low, read.high)
        low, high = (least + change, most + change) if node.op is Op.ADD else (least - change, most - change)
    return declared.low <= low and high <= declared.high


def _range(graph: Graph, guard: int, variable: int, low: float, high: float) -> tuple[float, float]:
    """What a guard leaves of the range of a variable, by its conjuncts that compare it with a constant."""
    pending = [guard]
    while pending:
        node = graph[pending.pop()]
        if node.op is Op.AND:
            pending += node.args
            continue
        negated = node.op is Op.NOT
        compared = graph[node.args[0]] if negated else node
        if compared.op not in (Op.EQ, Op.LT, Op.LE):
            continue
        left, right = (graph[operand] for operand in compared.args)
        mine = left.op is Op.VAR and int(left.value) == variable and right.op is Op.CONST
        theirs = right.op is Op.VAR and int(right.value) == variable and left.op is Op.CONST
        if not mine and not theirs:
            continue
        number = right.value if mine else left.value
        if compared.op is Op.EQ:
            if not negated:
                low, high = max(low, number), min(high, number)
            continue
        # x < c and c < x, or, negated, x >= c and c >= x; integers are whole
        strict = (compared.op is Op.LT) != negated
        if mine != negated:
            high = min(high, math.ceil(number) - 1 if strict else math.floor(number))
        else:
            low = max(low, math.floor(number) + 1 if strict else math.ceil(number))
    return low, high
