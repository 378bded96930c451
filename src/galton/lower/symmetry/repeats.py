"""Choices of an MDP that symmetries make the same are left out where they are.

Where two neighbouring blocks hold the same, their exchange σ leaves the state as it is, and maps every choice c that is
open there to another open one, σ(c), with images of the same successors: the same states after each is replaced by the
one that stands for it. So c may go if σ(c) comes before it in the program. What is left always has one of the same
kind, since no choice comes before itself. The guard of c says so: ``… & !(blocks hold the same)``.

Chains count how many commands are enabled, and keep them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

from ..lowering import Lowered
from .proof import swapping
from .terms import Terms

__all__ = ["without_repeats"]


def without_repeats(lowered: Lowered, terms: Terms, structures: Collection[int]) -> Lowered:
    """The program with a guard for each choice that another one makes needless.

    ``structures`` are the reward structures that somebody asks about; symmetries leave them as they are.
    """
    if lowered.orbits is None or not lowered.program.nature.has_choices:
        return lowered
    uses = Counter(command for product in lowered.products for factor in product.factors for command in factor)
    choices = terms.listed(structures)
    first: dict[int, int] = {}
    for place, (term, _) in enumerate(choices):
        first.setdefault(term, place)
    guards = {number: command.guard for number, command in enumerate(lowered.commands)}
    graph = lowered.graph
    for part in lowered.orbits.parts:
        for before, after in () if part.rotates else pairwise(part.members):
            differ: int | None = None
            swap = swapping(before, after)
            for place, (term, factors) in enumerate(choices):
                if first[terms.moved(term, swap)] >= place:
                    continue
                # Commands that have no part in another choice, one of which always has a part in this one.
                own = next((f for f in factors if all(uses[command] == 1 for command in f)), ())
                if differ is None:
                    differ = _differ(lowered, before, after)
                for command in own:
                    guards[command] = graph.and_(guards[command], differ)
    commands = tuple(command._replace(guard=guards[number]) for number, command in enumerate(lowered.commands))
    return replace(lowered, commands=commands)


def _differ(lowered: Lowered, before: tuple[int, ...], after: tuple[int, ...]) -> int:
    """The node that says whether two blocks hold something else."""
    graph, same = lowered.graph, lowered.graph.boolean(True)
    for v, w in zip(before, after, strict=True):
        if lowered.fields[v].bits:
            variables = (lowered.program.variables[number] for number in (v, w))
            a, b = (graph.variable(n, x.low, x.high) for n, x in zip((v, w), variables, strict=True))
            same = graph.and_(same, graph.equal(a, b))
    return graph.not_(same)
