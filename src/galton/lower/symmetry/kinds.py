"""Whether it is worth to look for symmetries at all: most programs are done with here, before anything is loaded."""

from __future__ import annotations

from collections import Counter

from ..lowering import Lowering

__all__ = ["alike", "is_long"]

LONG_PROGRAM = 50_000  # nodes and updates


def alike(lowering: Lowering) -> list[int] | None:
    """For each variable a number that those of the same kind share; None where no two that change do.

    Beside what they can hold, they are told apart by how often they are written: a cheap look at first.
    """
    written = Counter(v for command in lowering.commands for u in command.updates for v, _ in u.assignments)
    numbers: dict[object, int] = {}
    found, changing = [], []
    for number, variable in enumerate(lowering.program.variables):
        initial = variable.initial if lowering.initial is None else None
        frozen = variable.name in lowering.frozen or variable.low == variable.high
        kind = variable.type, variable.low, variable.high, initial, frozen, written[number]
        found.append(numbers.setdefault(kind, len(numbers)))
        changing += [found[-1]] * (not frozen)
    return found if len(set(changing)) < len(changing) else None


def is_long(lowering: Lowering) -> bool:
    """Whether a search would be noticed; such texts are written by programs, and seldom alike."""
    return len(lowering.graph.nodes) + sum(len(command.updates) for command in lowering.commands) > LONG_PROGRAM
