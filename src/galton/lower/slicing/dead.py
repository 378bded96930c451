"""Values that are overwritten before anybody reads them: one of them will do.

A *place* is a value of a variable that says where a module is, such as ``s`` in ``s=3 & … -> (s'=4)``. A variable v is
live at a place if what is asked, a guard, a weight, a reward or what is assigned to another variable may depend on v
there, or if some command may go from there to a place where v is live without overwriting it, or by giving it a value
that depends on its own. Elsewhere it is dead.

**Theorem.** Two states that agree but for v, and on v as well unless it is dead at their place, are strongly bisimilar
for all that the question can see. *Proof.* Where v is dead, the same commands are enabled, with the same weights, the
same is earned and the same holds. Commands lead both to the same place and give other variables the same values. If v
is live there, it was not live before only because the command gives it a value, and one that does not depend on v. ∎
So a successor may be replaced by any state that it is bisimilar with, and where an update leads to a place at which v
is dead, v gets its initial value there. Where it is not known which place that is, all is left as it is, which is
right, too. Several variables may die in one step: one replacement after the other leads to bisimilar states.

This needs that one command decides about both in a step: all commands that assign v or the place, and move together,
are of one module. Expressions that may have no value must not depend on v.

A. V. Aho, M. S. Lam, R. Sethi and J. D. Ullman, "Compilers" (2006), section 9.2.5; M. Bozga, J.-C. Fernandez and
L. Ghirvu, "State space reduction based on live variables analysis", SAS 1999.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from copy import copy
from dataclasses import dataclass

from ..expression_graph import Op
from ..lowering import LoweredCommand, LoweredUpdate, Lowering
from .places import Dependence, Places
from .safety import fits

__all__ = ["Dead", "dead_values", "with_dead_values"]

MOST_PLACES = 256
MOST_TRIED = 2  # variables that may be the place of a module
MOST_WORK = 20_000  # nodes and updates of a program that is searched


@dataclass(frozen=True)
class Dead:
    """A variable that is dead at some places: bits of ``where`` count values of ``place`` from its least one."""

    variable: int
    place: int
    where: int


def dead_values(lowering: Lowering, roots: Iterable[int], structures: Collection[int]) -> list[Dead]:
    """Where variables are dead for nodes and reward structures that somebody asks about."""
    if len(lowering.graph.nodes) + sum(len(command.updates) for command in lowering.commands) > MOST_WORK:
        return []
    return list(_Search(lowering, list(roots), structures).found())


class _Search:
    def __init__(self, lowering: Lowering, roots: list[int], structures: Collection[int]):
        self._lowering, self._roots = lowering, roots
        self._rewards = [item for item in lowering.rewards if item.structure in structures]
        self._writers: dict[int, set[int]] = {}
        for number, command in enumerate(lowering.commands):
            for update in command.updates:
                for variable, _ in update.assignments:
                    self._writers.setdefault(variable, set()).add(number)
        self._supports = _supports(lowering)
        self._failing = 0  # a bit for each variable that an expression depends on which may have no value
        for number, node in enumerate(lowering.graph.nodes):
            if node.partial:
                self._failing |= self._supports[number]
        self._known: dict[int, Places] = {}

    def found(self) -> Iterator[Dead]:
        variables, changing = self._lowering.program.variables, sorted(self._lowering.changing)
        compared = self._compared()
        for v in changing:
            if self._failing >> v & 1 or variables[v].module is None:
                continue
            mine = [p for p in compared if p != v and variables[p].module == variables[v].module]
            for place in mine[:MOST_TRIED]:
                if not self._decided_together(v, place):
                    continue
                where = self._dead(v, self._places(place))
                if where:
                    yield Dead(v, place, where)
                    break

    def _compared(self) -> list[int]:
        """Variables that say where a module is: they are compared with constants, and assigned constants."""
        graph, variables, changing = self._lowering.graph, self._lowering.program.variables, self._lowering.changing
        compared: dict[int, int] = {}
        for node in graph.nodes:
            if node.op is Op.EQ and graph[node.args[0]].op is Op.VAR and graph[node.args[1]].op is Op.CONST:
                number = int(graph[node.args[0]].value)
                compared[number] = compared.get(number, 0) + 1
        few = (v for v in compared if v in changing and variables[v].high - variables[v].low < MOST_PLACES)
        return sorted((v for v in few if compared[v] > 1), key=lambda v: -compared[v])

    def _places(self, place: int) -> Places:
        if place not in self._known:
            variable = self._lowering.program.variables[place]
            self._known[place] = Places(self._lowering.graph, place, variable.low, variable.high)
        return self._known[place]

    def _decided_together(self, v: int, place: int) -> bool:
        """Whether of the commands that move together only those of one factor assign either."""
        both = self._writers.get(v, set()) | self._writers.get(place, set())
        together = (product.factors for product in self._lowering.products if len(product.factors) > 1)
        return all(sum(not both.isdisjoint(factor) for factor in factors) <= 1 for factors in together)

    def _dead(self, v: int, places: Places) -> int:
        depends = Dependence(places, v, self._supports)
        live = 0
        for node in self._roots:
            live |= depends.on(node)
        for item in self._rewards:
            live |= depends.on(item.guard) | (depends.on(item.value) & places.may(item.guard))
        flows: list[tuple[int, int]] = []  # to which places commands go, and from where they take v along
        for command in self._lowering.commands:
            here = places.may(command.guard)
            live |= depends.on(command.guard)
            if live == places.all:
                return 0
            for update in command.updates:
                live |= depends.on(update.probability) & here
                assigned = dict(update.assignments)
                for variable, value in update.assignments:
                    if variable != v:
                        live |= depends.on(value) & here
                to = None if places.variable not in assigned else places.values(assigned[places.variable])
                reading = here if v not in assigned else here & depends.on(assigned[v])
                if reading and to is not None:  # who stays where v is live was there before
                    flows.append((to, reading))
        grown = True
        while grown and live != places.all:
            before = live
            for to, reading in flows:
                live |= reading if to & live else 0
            grown = live != before
        return places.all & ~live


def _supports(lowering: Lowering) -> list[int]:
    """For each node a bit for each variable that it depends on."""
    found: list[int] = []
    for node in lowering.graph.nodes:
        if node.op is Op.VAR:
            found.append(1 << int(node.value))
        else:
            bits = 0
            for operand in node.args:
                bits |= found[operand]
            found.append(bits)
    return found


def with_dead_values(lowering: Lowering, dead: Collection[Dead]) -> Lowering:
    """The program in which variables get their initial values where they die."""
    found = copy(lowering)
    found.is_slice = True
    found.uncertain = lowering.uncertain | {one.variable for one in dead}
    commands = list(lowering.commands)
    for one in dead:
        variable = lowering.program.variables[one.place]
        places = Places(lowering.graph, one.place, variable.low, variable.high)
        commands = [_buried(lowering, command, one, places) for command in commands]
    found.commands = tuple(commands)
    return found


def _buried(lowering: Lowering, command: LoweredCommand, dead: Dead, places: Places) -> LoweredCommand:
    """A command that gives a variable its initial value where it goes to a place at which that is dead."""
    declared = lowering.program.variables[dead.variable]
    graph, value = lowering.graph, declared.initial
    grave = graph.boolean(bool(value)) if declared.type == "bool" else graph.integer(value)
    here = places.may(command.guard)
    updates: list[LoweredUpdate] = []
    for update in command.updates:
        assigned = dict(update.assignments)
        to = places.values(assigned[dead.place]) if dead.place in assigned else here
        touched = dead.variable in assigned or dead.place in assigned
        given = assigned.get(dead.variable)
        if given is not None and not fits(dead.variable, given, command, lowering):
            touched = False  # a mistake is told
        if touched and not to & ~dead.where and given != grave:
            assigned[dead.variable] = grave
            update = update._replace(assignments=tuple(assigned.items()))
        updates.append(update)
    return command._replace(updates=tuple(updates))
