"""How long a program would take to compile for a device, without trying.

Compilers take longer than they should on long texts. Where that is longer than a person would wait, the CPU explores,
which compiles nothing.
"""

from __future__ import annotations

from ....lower.lowering import Lowered

__all__ = ["MOST_SECONDS", "compile_seconds"]

MOST_SECONDS = 20.0
OPERATION_S, UPDATE_S = 1e-3, 4e-5  # by NVRTC 12 and 13 for texts of bench/texts.py, on one core


def compile_seconds(lowered: Lowered) -> float:
    """About how many seconds the larger part of an explorer takes on one core."""
    graph = lowered.graph
    operations = updates = 0
    for command in lowered.commands:
        seen: set[int] = set()
        pending = [command.guard]
        for update in command.updates:
            updates += 1
            pending += [update.probability, *(node for _, node in update.assignments)]
        while pending:
            node = pending.pop()
            if node not in seen and graph[node].args:
                seen.add(node)
                pending += graph[node].args
        operations += len(seen)
    return OPERATION_S * operations + UPDATE_S * updates
