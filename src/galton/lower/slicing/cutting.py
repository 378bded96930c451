"""A lowered program without some of its variables and commands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import replace

from ...lang.expressions import Literal
from ...lang.properties import substitute
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
    if lowering.program.initial is not None:  # what has one initial value has it for good
        ranges = zip(declared, lowering.initial_ranges, strict=True)
        fixed = {v.name: replace(v, initial=low) for v, (low, _) in ranges if v.name in found.left_out}
        found.program = replace(lowering.program, variables=tuple(fixed.get(v.name, v) for v in declared))
        values = {n: Literal(bool(v.initial) if v.type == "bool" else v.initial) for n, v in fixed.items()}
        found.initial = lowering.expressions.node(substitute(lowering.program.initial, values))
    return found
