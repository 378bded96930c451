"""The cone of influence: the variables that can matter to what is asked, and the commands that can.

Let R be the least set of variables with these in it:

1. those that the question reads in states: its conditions, and the rewards that it collects, guards and values;
2. those that guards, probabilities and rates of commands read;
3. those that are read by what is assigned to a variable of R;
4. those with more than one initial value;
5. those that an assignment might give a value out of their range (:mod:`.safety`): a mistake is told.

**Theorem.** Two states that agree on R are strongly bisimilar for all that the question can see. *Proof.* By 2, the
same commands are enabled in both, move with the same weights, and synchronise alike; so there are the same choices
with the same actions, and as many of them, and a deadlock in one is one in the other. By 3, corresponding branches
lead to states that agree on R again. By 1, conditions hold in both or in neither, and the same is earned, in states
and in choices. By 4, the initial states project to initial states, and each initial state of the projection is one of
these. ∎ The projection to R has one state for each class that is reachable. It takes steps where the program does: a
command whose assignments were all left out is still a command, with a step, a self-loop, a choice and a reward of its
own. Nothing is assumed about the question, but that it reads no other variable.

**Commands** are another matter. One that assigns nothing of R is a self-loop of the projection, and to leave it out
frees R from what its guard reads. In a CTMC a self-loop changes nothing that happens in time: the generator is the
same without it. It may go, unless a reward is earned by it, where only the time, the long run and probabilities of
untils are asked for (``timed``). Steps (``X``, automata), quantifiers over paths and ``"deadlock"`` do see
self-loops, and then all commands count. So they do in a DTMC, where each enabled command takes its share of the
probability, and in an MDP, where a choice to stay for ever may be the best or the worst. Commands of one product
belong together: they move as one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ..lowering import Lowering, Product
from ..support import Support
from .safety import fits, is_safe

__all__ = ["Cone", "cone"]


@dataclass(frozen=True)
class Cone:
    """Numbers of variables that matter, and the products that do."""

    variables: frozenset[int]
    products: tuple[Product, ...]


def cone(lowering: Lowering, roots: Collection[int], structures: Collection[int], *, timed: bool) -> Cone:
    """What matters to nodes and reward structures that somebody asks about.

    ``timed`` says that self-loops of a CTMC do not. Where a mistake might be left out, it is kept, too.
    """
    kept: set[int] = set()
    while True:
        found = _Growing(lowering, structures, kept).grown(roots, timed)
        left = lowering.changing - found.variables
        risky = _risky(lowering, left) if left else set()
        kept |= risky
        if not risky and timed and len(found.products) < len(lowering.products):
            timed = all(is_safe(command, lowering) for command in lowering.commands)
            if timed:
                return found
        elif not risky:
            return found


def _risky(lowering: Lowering, variables: Collection[int]) -> set[int]:
    """The variables that some assignment might give a value out of their range, or none."""
    return {
        variable
        for command in lowering.commands
        for update in command.updates
        for variable, value in update.assignments
        if variable in variables and not fits(variable, value, command, lowering)
    }


class _Growing:
    def __init__(self, lowering: Lowering, structures: Collection[int], kept: Collection[int]):
        self._lowering = lowering
        self._support = Support(lowering.graph)
        self._support.variables.update(kept)
        self._rewards = [item for item in lowering.rewards if item.structure in structures]
        self._changing = lowering.changing
        self._products: set[int] = set()
        self._commands: set[int] = set()
        self._assigned: dict[int, list[int]] = {}  # what commands that count assign to each variable
        self._followed: set[int] = set()  # variables of which all that is assigned was looked at

    def grown(self, roots: Iterable[int], timed: bool) -> Cone:
        lowering, add = self._lowering, self._support.add
        for node in roots:
            add(node)
        for item in self._rewards:
            add(item.guard)
            add(item.value)
        self._support.variables.update(lowering.open_at_start)
        everything = range(len(lowering.products))
        if timed:
            self._grow_by_writers()
        elif self._take(everything):
            self._follow()
        variables = self._support.variables & self._changing
        products = lowering.products
        if len(self._products) < len(products):
            products = tuple(products[p] for p in everything if p in self._products)
        return Cone(frozenset(variables), products)

    def _take(self, products: Iterable[int]) -> bool:
        """Let products count; False as soon as all variables do, and so all that is left."""
        support, commands = self._support, self._lowering.commands
        for number in products:
            self._products.add(number)
            for command in (c for factor in self._lowering.products[number].factors for c in factor):
                if command in self._commands:
                    continue
                self._commands.add(command)
                support.add(commands[command].guard)
                for update in commands[command].updates:
                    support.add(update.probability)
                    for variable, value in update.assignments:
                        self._assigned.setdefault(variable, []).append(value)
                        if variable in self._followed:
                            support.add(value)
            if support.variables >= self._changing:
                self._products.update(range(len(self._lowering.products)))
                return False
        return True

    def _follow(self) -> None:
        """Look at what is assigned to variables that count."""
        while left := self._support.variables - self._followed:
            for variable in left:
                self._followed.add(variable)
                for value in self._assigned.get(variable, ()):
                    self._support.add(value)

    def _grow_by_writers(self) -> None:
        """Let those products count alone that assign to variables that do, or that earn something."""
        lowering = self._lowering
        writers: dict[int, list[int]] = {}
        for number, product in enumerate(lowering.products):
            for variable in {
                v
                for factor in product.factors
                for c in factor
                for update in lowering.commands[c].updates
                for v, _ in update.assignments
            }:
                writers.setdefault(variable, []).append(number)
        earning = {item.action for item in self._rewards if item.action >= 0}
        going = self._take(n for n, product in enumerate(lowering.products) if product.action in earning)
        looked: set[int] = set()
        while going and (left := self._support.variables - looked):
            looked |= left
            going = self._take(sorted({n for v in left for n in writers.get(v, ())} - self._products))
            self._follow()
