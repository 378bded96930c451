"""A lowered program without some of its variables and commands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import replace

from ...lang.uncollected import uncollected
from ..lowering import LoweredCommand, Lowering, Product, lowered_command, moving_factors

__all__ = ["without"]


@uncollected()
def without(lowering: Lowering, variables: Collection[str], products: Sequence[Product]) -> Lowering:
    """The program with these products alone, in which some variables are never assigned, and have no values.

    Nothing that is left may read them.
    """
    found = copy(lowering)
    vars(found).pop("changing", None)  # it is another one
    found.is_slice = True
    found.left_out = lowering.left_out | frozenset(variables)
    found.frozen = lowering.frozen | found.left_out
    declared = lowering.program.variables
    position = {v.name: i for i, v in enumerate(declared) if v.name not in found.left_out}
    gone = {i for i, v in enumerate(declared) if v.name in found.left_out}
    commands: list[LoweredCommand] = []
    place: dict[int, int] = {}
    for number in sorted({c for product in products for factor in product.factors for c in factor}):
        command = lowering.commands[number]
        if any(v in gone for update in command.updates for v, _ in update.assignments):
            command = lowered_command(command.source, command.guard, lowering.expressions, position)
        place[number] = len(commands)
        commands.append(command)
    found.commands = tuple(commands)
    moved = [(p.action, tuple(tuple(place[c] for c in factor) for factor in p.factors)) for p in products]
    found.products = tuple(Product(action, moving_factors(f, commands, lowering.graph)) for action, f in moved)
    if lowering.initial_ranges:  # what has one initial value has it for good
        fixed = zip(declared, lowering.initial_ranges, strict=True)
        kept = (replace(v, initial=low) if v.name in found.left_out else v for v, (low, _) in fixed)
        found.program = replace(lowering.program, variables=tuple(kept))
    return found
