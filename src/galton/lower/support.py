"""The variables that expressions depend on."""

from __future__ import annotations

from collections.abc import Iterable

from .expression_graph import Graph, Op

__all__ = ["Support", "support"]


class Support:
    """The numbers of the variables that some nodes depend on; each node is looked at once, however many are added."""

    def __init__(self, graph: Graph):
        self._graph = graph
        self._seen: set[int] = set()
        self.variables: set[int] = set()

    def add(self, node: int) -> None:
        """Depend on one node more."""
        pending, nodes, seen = [node], self._graph.nodes, self._seen
        while pending:
            number = pending.pop()
            if number not in seen:
                seen.add(number)
                found = nodes[number]
                if found.op is Op.VAR:
                    self.variables.add(int(found.value))
                else:
                    pending += found.args


def support(graph: Graph, nodes: Iterable[int]) -> set[int]:
    """The numbers of the variables that nodes depend on."""
    found = Support(graph)
    for node in nodes:
        found.add(node)
    return found.variables
