"""From a checked program to guarded updates over packed bits.

The lowering is done once; the CPU explorer interprets its result over blocks of states and the CUDA explorer prints
it as source. Everything that constants decide is decided here: guards that can never hold lose their command,
a synchronisation without a partner disappears, ranges drop the checks that cannot fail.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import NamedTuple

from ..lang.evaluation import Folding, fold
from ..lang.expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Unary, Value
from ..lang.operations import BINARY, FUNCTIONS, UNARY
from ..lang.program import Command, Program, RewardItem
from ..lang.source import Span
from ..lang.systems import vectors_of
from ..lang.uncollected import uncollected
from ..model.orbits import Orbits
from ..model.states import Field
from .expression_graph import Graph, Kind, Op
from .initial import initial_ranges
from .layout import layout
from .reader import Reader
from .support import support


class LoweredUpdate(NamedTuple):
    """``probability`` is a node; each assignment is (index of the variable, node of its new value).

    ``places`` are those it comes from, among the updates of the command as it was written.
    """

    probability: int
    assignments: tuple[tuple[int, int], ...]
    places: tuple[int, ...]


class LoweredCommand(NamedTuple):
    """A command with its guard's node; ``source`` is what was written, for messages."""

    guard: int
    updates: tuple[LoweredUpdate, ...]
    source: Command


Factors = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Commands that move together: one from each factor. ``action`` indexes ``Lowered.actions`` (0: unlabelled)."""

    action: int
    factors: Factors


@dataclass(frozen=True, slots=True)
class LoweredReward:
    """A reward item: ``action`` is -1 for states; guard and value are nodes."""

    structure: int
    action: int
    guard: int
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class LoweredReader:
    """An automaton beside the program: its variable, the nodes of its propositions, and its tables."""

    variable: int
    propositions: tuple[int, ...]
    automaton: Reader


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program as explorers take it: an expression graph, commands and rewards as nodes of it, and packed fields."""

    program: Program
    graph: Graph
    fields: tuple[Field, ...]
    words: int
    commands: tuple[LoweredCommand, ...] = ()
    products: tuple[Product, ...] = ()
    actions: tuple[str, ...] = ("",)  # the first is the unlabelled action
    initial: int | None = None  # node of init … endinit
    initial_ranges: tuple[tuple[int, int], ...] = ()  # of each variable, all that it leaves possible
    terminal: int | None = None  # node that holds where nobody asks what follows
    labels: Mapping[str, int] = field(default_factory=dict)
    rewards: tuple[LoweredReward, ...] = ()
    reader: LoweredReader | None = None
    orbits: Orbits | None = None  # of symmetries: one state of each is explored
    spans: Mapping[int, Span] = field(default_factory=dict)  # where a node was written first


class ExpressionLowering:
    """Expressions of one program into nodes of one graph; ``frozen`` variables are their initial values."""

    def __init__(self, program: Program, frozen: Collection[str] = (), folding: Folding | None = None):
        self.graph = Graph()
        self._folding = folding or Folding(program.constants)
        # What long texts and formulas share is lowered once. Expressions are kept, so that an id stays one's own.
        self._known: dict[int, tuple[Expression, int]] = {}
        self._integers: dict[int, int] = {}
        self._unary, self._binary, self._functions = (
            {text: self.graph.builder(operation) for text, operation in rows.items()}
            for rows in (UNARY, BINARY, FUNCTIONS)
        )
        self._labels = program.labels
        self._nodes: dict[str, int] = {}
        self.spans: dict[int, Span] = {}
        for index, variable in enumerate(program.variables):
            if variable.name in frozen:
                node = self.graph.integer(variable.initial)
            else:
                node = self.graph.variable(index, variable.low, variable.high)
            if variable.type == "bool":
                node = self.graph.equal(node, self.graph.integer(1))
            self._nodes[variable.name] = node

    def folded(self, expression: Expression) -> Expression:
        """An expression with its constant parts computed, exactly; formulas must be expanded and constants known."""
        return self._folding.fold(expression)

    def node(self, expression: Expression) -> int:
        """The node of an expression: a constant part is rounded where it meets one that is none."""
        if type(expression) is not Literal:
            return self._located(self._folding.fold(expression))
        if type(expression.value) is int and (known := self._integers.get(expression.value)) is not None:
            return known  # as most new values are, and it has been met before
        return self._located(expression)

    def _located(self, expression: Expression) -> int:
        if type(expression) is Literal:
            node = self._literal(expression.value)
            self.spans.setdefault(node, expression.span)
            return node
        known = self._known.get(id(expression))
        if known is None:
            node = self._node(expression)
            self.spans.setdefault(node, expression.span)
            known = self._known[id(expression)] = expression, node
        return known[1]

    def _node(self, expression: Expression) -> int:
        match expression:
            case Literal(value):
                return self._literal(value)
            case Name(name):
                return self._nodes[name]
            case Label(name):
                return self.node(self._labels[name])
            case Unary(operator, operand):
                return self._unary[operator](self._located(operand))
            case Conditional(condition, then, otherwise):
                return self._conditional(condition, then, otherwise)
            case Binary(operator, left, right):
                return self._binary[operator](self._located(left), self._located(right))
            case Call(function, arguments):
                operands = [self._located(a) for a in arguments]
                build = self._functions[function]
                return reduce(build, operands) if FUNCTIONS[function].chained else build(*operands)
        raise TypeError(f"not an expression of the modelling language: {expression!r}")

    def _literal(self, value: Value) -> int:
        if isinstance(value, bool):
            return self.graph.boolean(value)
        if isinstance(value, int):
            known = self._integers.get(value)
            if known is None:
                known = self._integers[value] = self.graph.integer(value)
            return known
        return self.graph.real(float(value))

    def _conditional(self, condition: Expression, then: Expression, otherwise: Expression) -> int:
        test = self._located(condition)
        chosen = self.graph.constant(test)
        if chosen is None:
            return self.graph.ite(test, self._located(then), self._located(otherwise))
        # A double branch makes the whole a double, whichever is taken: (true ? 1 : 0.5) / … stays real division.
        taken, other = (then, otherwise) if chosen else (otherwise, then)
        node = self._located(taken)
        other_node = self.graph[self._located(other)]
        return node if other_node.integral or other_node.kind is Kind.BOOL else self.graph.as_double(node)


def lower(program: Program, terminal: Expression | None = None, reader: Reader | None = None) -> Lowered:
    """Lower a program whose constants all have values; what follows ``terminal`` states need not be explored.

    An expression that has no value in some states says nothing about them, so it ends nothing. With a ``reader``, the
    labels are its propositions, by their numbers.
    """
    return Lowering(program).lowered(terminal, reader)


class Lowering:
    """A program that has been lowered but for what a question adds to it.

    ``rewards`` are those that may be earned, with the numbers of their structures in the program. ``left_out`` are
    variables that a slice is without (:mod:`.slicing`), ``uncertain`` those that may have another value in it.
    """

    @uncollected()
    def __init__(self, program: Program):
        self.program = program
        self.initial_ranges = initial_ranges(program)
        folding = Folding(program.constants)
        self.frozen = _frozen(program, folding)
        self.left_out: frozenset[str] = frozenset()
        self.is_slice = False
        self.uncertain: frozenset[int] = frozenset()
        self.expressions = ExpressionLowering(program, self.frozen, folding)
        self.graph = self.expressions.graph
        position = {v.name: i for i, v in enumerate(program.variables)}

        commands: list[LoweredCommand] = []
        factors: dict[str, dict[str | None, tuple[int, ...]]] = {}
        for module in program.modules:
            by_action: dict[str | None, list[int]] = {}
            for command in module.commands:
                mine = by_action.setdefault(command.action, [])
                guard = self.expressions.node(command.guard)
                if self.graph.constant(guard) != 0.0:
                    mine.append(len(commands))
                    commands.append(lowered_command(command, guard, self.expressions, position))
            factors[module.name] = {action: tuple(mine) for action, mine in by_action.items()}
        self.commands = tuple(commands)

        vectors = vectors_of(program.system, factors)
        self.actions = tuple(dict.fromkeys(["", *program.actions, *(v.action for v in vectors if v.action)]))
        number = {name: i for i, name in enumerate(self.actions)}  # renaming may have brought new ones
        products = []
        for vector in vectors:
            moving = tuple(factors[module].get(action, ()) for module, action in vector.parts)
            if all(moving):
                kept = moving_factors(moving, commands, self.graph)
                products.append(Product(number[vector.action] if vector.action else 0, kept))
        products.sort(key=lambda p: p.action)  # stable: unlabelled first, then actions in PRISM's order
        self.products = tuple(products)

        node = self.expressions.node
        rewards = [
            LoweredReward(i, _reward_action(item, number), node(item.guard), node(item.value))
            for i, structure in enumerate(program.rewards)
            for item in structure.items
        ]
        self.rewards = tuple(r for r in rewards if not _worthless(r, self.graph))
        self.initial = None if program.initial is None else node(program.initial)

    @cached_property
    def changing(self) -> frozenset[int]:
        """The numbers of the variables that take bits."""
        return frozenset(
            i for i, v in enumerate(self.program.variables) if v.low < v.high and v.name not in self.frozen
        )

    @property
    def open_at_start(self) -> frozenset[int]:
        """The numbers of the variables that may have several initial values."""
        return frozenset(i for i, (low, high) in enumerate(self.initial_ranges) if low < high)

    def knows(self, node: int) -> bool:
        """Whether an expression depends on nothing that a slice is without, or has another value for."""
        if not self.is_slice:
            return True
        return not self.reads_left_out(node) and self.uncertain.isdisjoint(support(self.graph, [node]))

    def reads_left_out(self, node: int) -> bool:
        """Whether an expression depends on a variable that was left out."""
        if not self.left_out:
            return False
        return any(self.program.variables[v].name in self.left_out for v in support(self.graph, [node]))

    @uncollected()
    def lowered(
        self,
        terminal: Expression | None = None,
        reader: Reader | None = None,
        orbits: Orbits | None = None,
        structures: Collection[int] | None = None,
        labels: Collection[str] | None = None,
    ) -> Lowered:
        """The whole, as :func:`lower` gives it.

        With ``orbits`` only one state of each is explored. ``structures`` and ``labels`` are what is kept of the
        program's reward structures, by their numbers, and of its labels: all of them by default.
        """
        program, graph, node = self.program, self.graph, self.expressions.node
        ranges, rewards = self.initial_ranges, self.rewards
        if structures is not None:
            place = {number: kept for kept, number in enumerate(sorted(structures))}
            program = replace(program, rewards=tuple(program.rewards[number] for number in place))
            rewards = tuple(replace(r, structure=place[r.structure]) for r in rewards if r.structure in place)
        found: dict[str, int]
        reading: LoweredReader | None = None
        if reader is not None:
            program = reader.beside(program)
            ranges = () if program.initial is None else (*ranges, (reader.initial, reader.initial))
            propositions = tuple(map(node, reader.propositions))
            assert not any(graph[proposition].partial for proposition in propositions)
            found = {str(number): proposition for number, proposition in enumerate(propositions)}
            reading = LoweredReader(len(program.variables) - 1, propositions, reader)
        else:
            found = {name: node(e) for name, e in program.labels.items() if labels is None or name in labels}
            found = {name: e for name, e in found.items() if self.knows(e)}
        fields, words = layout(program.variables, self.frozen, self.left_out)
        end = None if terminal is None else node(terminal)
        assert not any(map(self.reads_left_out, found.values()))
        assert end is None or not self.reads_left_out(end)
        return Lowered(
            program,
            graph,
            tuple(fields),
            words,
            terminal=None if end is None or graph[end].partial or graph.constant(end) == 0.0 else end,
            commands=self.commands,
            products=self.products,
            actions=self.actions,
            initial=self.initial,
            initial_ranges=ranges,
            labels=found,
            rewards=rewards,
            reader=reading,
            orbits=orbits,
            spans=self.expressions.spans,
        )


def _frozen(program: Program, folding: Folding) -> frozenset[str]:
    """Variables that no command can ever change; they need no bits, and what they disable need not be looked at.

    A command that is disabled because of them cannot change others, so the search goes on until nothing is added.
    """
    if program.initial is not None:
        return frozenset()
    frozen: frozenset[str] = frozenset()
    writing = [
        (command.guard, {name for _, assigned, _ in command.updates for (name, _), _ in assigned})
        for module in program.modules
        for command in module.commands
    ]
    while True:
        lowering = ExpressionLowering(program, frozen, folding)
        written: set[str] = set()
        for guard, variables in writing:  # most write what others write, too
            if not variables <= written and lowering.graph.constant(lowering.node(guard)) != 0.0:
                written |= variables
        more = frozenset(v.name for v in program.variables if v.name not in written)
        if more == frozen:
            return frozen
        frozen = more


def lowered_command(
    command: Command, guard: int, lowering: ExpressionLowering, position: Mapping[str, int]
) -> LoweredCommand:
    """Updates that do the same become one, if their probabilities are constants: these are added before rounding.

    Variables without a position are not assigned.
    """
    found: list[tuple[Expression, tuple[tuple[int, int], ...], tuple[int, ...]]] = []
    node, folded, real = lowering.node, lowering.folded, lowering.graph.to_real
    known: dict[tuple[tuple[int, int], ...], int] = {}  # which of them has a constant probability, by what it does
    for place, (written, assigned, _) in enumerate(command.updates):
        probability = _ONE if written is None else folded(written)
        assignments = tuple([(position[name], node(value)) for (name, _), value in assigned if name in position])
        if _is_probability(probability):
            first = known.setdefault(assignments, len(found))
            if first < len(found):
                earlier, _, places = found[first]
                both = fold(Binary("+", earlier, probability, span=earlier.span), {})
                found[first] = both, assignments, (*places, place)
                continue
        found.append((probability, assignments, (place,)))
    updates = tuple([LoweredUpdate(real(node(p)), assignments, places) for p, assignments, places in found])
    return LoweredCommand(guard, updates, command)


def _is_probability(expression: Expression) -> bool:
    """Whether this is a constant that may stand there; others are errors, each at its own place."""
    return type(expression) is Literal and 0 <= expression.value < math.inf


def moving_factors(factors: Factors, commands: Sequence[LoweredCommand], graph: Graph) -> Factors:
    """The factors that make a difference to the others; the first if there are none."""
    return tuple(factor for factor in factors if not _idle(factor, commands, graph)) or factors[:1]


def _idle(factor: tuple[int, ...], commands: Sequence[LoweredCommand], graph: Graph) -> bool:
    """Whether a factor always agrees and changes nothing, so that the product is the same without it."""
    if len(factor) != 1:
        return False
    command = commands[factor[0]]
    return (
        graph.constant(command.guard) == 1.0
        and len(command.updates) == 1
        and graph.constant(command.updates[0].probability) == 1.0
        and not command.updates[0].assignments
    )


_ONE = Literal(1.0)


def _reward_action(item: RewardItem, number: Mapping[str, int]) -> int:
    if not item.transition:
        return -1
    # An action that no module has can never earn anything; a number past the last one says so.
    return number.get(item.action, len(number)) if item.action else 0


def _worthless(item: LoweredReward, graph: Graph) -> bool:
    """Whether a reward item never earns anything and can never go wrong either."""
    return graph.constant(item.guard) == 0.0 or (graph.constant(item.value) == 0.0 and not graph[item.guard].partial)


def constant_sum(command: LoweredCommand, graph: Graph) -> float | None:
    """The sum of the command's probabilities when all are finite constants."""
    nodes = graph.nodes
    chances = [nodes[probability] for probability, _, _ in command.updates]
    known = [n.value for n in chances if n.op is Op.CONST and math.isfinite(n.value)]  # the others are wrong themselves
    return sum(known) if len(known) == len(chances) else None
