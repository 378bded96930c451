"""The proof that a permutation of variables is a symmetry.

It is one if variables are mapped to variables with the same values, initial states to initial states, and all choices
of the program to choices of the program: then ``s → s'`` with probability p is possible exactly where it is for the
images of both, and earns the same. Truths about states are the same in all states of an orbit if their terms are mapped
to themselves. Nothing is assumed; what cannot be shown is no symmetry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from ...model.orbits import Blocks
from .terms import Terms

__all__ = ["generators", "is_symmetry", "swapping"]

Permutation = Mapping[int, int]


def is_symmetry(terms: Terms, permutation: Permutation, choices: int) -> bool:
    """Whether a permutation maps the program to itself; ``choices`` is everything that can happen."""
    lowering = terms.lowering
    program = lowering.program
    if sorted(permutation) != sorted(permutation.values()):
        return False
    for number, image in permutation.items():
        v, w = program.variables[number], program.variables[image]
        if (v.type, v.low, v.high) != (w.type, w.low, w.high) or (v.name in lowering.frozen) != (
            w.name in lowering.frozen
        ):
            return False
        if v.initial != w.initial and (lowering.initial is None or v.name in lowering.frozen):
            return False
    if lowering.initial is not None and not terms.keeps(terms.expression(lowering.initial), permutation):
        return False
    return terms.keeps(choices, permutation)


def generators(blocks: Blocks) -> Iterable[Permutation]:
    """Permutations that make all others: exchanges of neighbours, or the step in a ring."""
    if not blocks.rotates:
        return [swapping(a, b) for a, b in pairwise(blocks.members)]
    ring = [*blocks.members, blocks.members[0]]
    return [{v: w for a, b in pairwise(ring) for v, w in zip(a, b, strict=True)}]


def swapping(a: tuple[int, ...], b: tuple[int, ...]) -> dict[int, int]:
    """The permutation that exchanges two blocks."""
    return {**dict(zip(a, b, strict=True)), **dict(zip(b, a, strict=True))}
