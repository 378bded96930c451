"""A normal form of expressions, commands and choices, in which equal means the same number.

Operands whose order does not matter are sorted, and nested ones are one list: ``a & (b & c)`` is ``c & a & b``. That
holds for truth values, and for integers, which are exact. Doubles are rounded, so of their sums and products only the
two operands of each operation may change places: a permutation must not change a single bit. Expressions that may have
no value stay as they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from ..expression_graph import Kind, Op
from ..lowering import Lowering

__all__ = ["Terms"]

_LISTS_OF_TRUTHS, _LISTS_OF_INTEGERS = (Op.AND, Op.OR), (Op.ADD, Op.MUL, Op.MIN, Op.MAX)
_PAIRS = (Op.EQ, Op.IFF, Op.ADD, Op.MUL)
_VARIABLE, _CONSTANT, _ASSIGNMENT, _UPDATE, _COMMAND, _FACTOR, _EARNED, _ITEM, _CHOICE, _ALL = range(100, 110)

Tag = tuple[object, ...]
Factors = tuple[tuple[int, ...], ...]


class Terms:
    """Terms of one program by their numbers; operands have smaller numbers than what is made of them.

    ``tags`` say what is done, ``operands`` to what; they are sorted where ``unordered``. ``support`` has a bit for each
    variable that a term depends on.
    """

    def __init__(self, lowering: Lowering):
        self.lowering = lowering
        self.tags: list[Tag] = []
        self.operands: list[tuple[int, ...]] = []
        self.unordered: list[bool] = []
        self.support: list[int] = []
        self._known: dict[tuple[Tag, tuple[int, ...]], int] = {}
        self._nodes: list[int] = []  # the term of each node of the graph
        self._commands: dict[int, int] = {}

    # Making terms

    def variable(self, number: int) -> int:
        """The term of a variable."""
        return self._made((_VARIABLE, number), (), support=1 << number)

    def variable_of(self, term: int) -> int | None:
        """The number of the variable that a term is; None for others."""
        tag = self.tags[term]
        return tag[1] if tag[0] == _VARIABLE else None  # type: ignore[return-value]

    def expression(self, node: int) -> int:
        """The term of a node of the expression graph."""
        for number in range(len(self._nodes), node + 1):
            self._nodes.append(self._of_node(number))
        return self._nodes[node]

    def choices(self, structures: Collection[int] = ()) -> int:
        """Everything that can happen in a state, with what it earns in some of the reward structures.

        Actions have done their work when modules are put together: what is left of them is what they earn.
        """
        return self._set(_ALL, [term for term, _ in self.listed(structures)])

    def listed(self, structures: Collection[int]) -> list[tuple[int, Factors]]:
        """What can happen in a state one by one, in the order of the program, with the commands of each.

        A command that moves alone is a choice. Commands that move together, one of each factor, are one for now.
        """
        found: list[tuple[int, Factors]] = []
        for product in self.lowering.products:
            earned = self._earned(product.action, structures)
            alone = len(product.factors) == 1
            for factors in [((command,),) for command in product.factors[0]] if alone else [product.factors]:
                moves = self._set(_FACTOR, [self._set(_FACTOR, map(self._command, factor)) for factor in factors])
                found.append((self._made((_CHOICE,), (earned, moves)), factors))
        return found

    def state_rewards(self, structures: Collection[int]) -> int:
        """What states earn in some of the reward structures."""
        return self._earned(-1, structures)

    def _earned(self, action: int, structures: Collection[int]) -> int:
        items = [
            self._made((_ITEM, r.structure), (self.expression(r.guard), self.expression(r.value)))
            for r in self.lowering.rewards
            if r.action == action and r.structure in structures
        ]
        return self._set(_EARNED, items)

    def _command(self, number: int) -> int:
        if number not in self._commands:
            command = self.lowering.commands[number]
            updates = [
                self._made((_UPDATE,), (self.expression(u.probability), self._assignments(u.assignments)))
                for u in command.updates
            ]
            self._commands[number] = self._made(
                (_COMMAND,), (self.expression(command.guard), self._set(_UPDATE, updates))
            )
        return self._commands[number]

    def _assignments(self, assignments: tuple[tuple[int, int], ...]) -> int:
        made = (self._made((_ASSIGNMENT,), (self.variable(v), self.expression(node))) for v, node in assignments)
        return self._set(_ASSIGNMENT, made)

    def _of_node(self, number: int) -> int:
        node = self.lowering.graph[number]
        if node.op is Op.VAR:
            return self.variable(int(node.value))
        if node.op is Op.CONST:
            kind = "bool" if node.kind is Kind.BOOL else "int" if node.integral else "double"
            return self._made((_CONSTANT, kind, repr(float(node.value))), ())
        operands = tuple(self._nodes[a] for a in node.args)
        if node.op is Op.TO_REAL and node.integral:  # the same integer, carried in another way
            return operands[0]
        tag: Tag = (int(node.op), node.integral, node.partial)
        if node.partial:
            return self._made(tag, operands)
        if node.op in _LISTS_OF_TRUTHS or (node.integral and node.op in _LISTS_OF_INTEGERS):
            inner = (self.operands[a] if self.tags[a] == tag else (a,) for a in operands)
            return self._made(tag, tuple(sorted(term for terms in inner for term in terms)), unordered=True)
        if node.op in _PAIRS:
            return self._made(tag, tuple(sorted(operands)), unordered=True)
        return self._made(tag, operands)

    def _set(self, tag: int, members: Iterable[int]) -> int:
        return self._made((tag, "set"), tuple(sorted(members)), unordered=True)

    def _made(self, tag: Tag, operands: tuple[int, ...], unordered: bool = False, support: int = 0) -> int:
        key = tag, operands
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self.tags)
            for operand in operands:
                support |= self.support[operand]
            self.tags.append(tag)
            self.operands.append(operands)
            self.unordered.append(unordered)
            self.support.append(support)
        return number

    # Moving variables

    def keeps(self, term: int, permutation: Mapping[int, int]) -> bool:
        """Whether a term is the same when each variable is replaced by the one it is mapped to."""
        mask = _mask(permutation)
        if not self.support[term] & mask:
            return True
        known: dict[int, int] = {}
        if not self.unordered[term]:
            return self._moved(term, permutation, mask, known) == term
        left = Counter(operand for operand in self.operands[term] if self.support[operand] & mask)
        for operand in tuple(left.elements()):  # one that is not there ends the search
            image = self._moved(operand, permutation, mask, known)
            if not left[image]:
                return False
            left[image] -= 1
        return True

    def moved(self, term: int, permutation: Mapping[int, int]) -> int:
        """The term in which each variable is replaced by the one it is mapped to."""
        return self._moved(term, permutation, _mask(permutation), {})

    def _moved(self, term: int, permutation: Mapping[int, int], mask: int, known: dict[int, int]) -> int:
        if not self.support[term] & mask:
            return term
        if term not in known:
            variable = self.variable_of(term)
            if variable is not None:
                known[term] = self.variable(permutation.get(variable, variable))
            else:
                images = [self._moved(operand, permutation, mask, known) for operand in self.operands[term]]
                unordered = self.unordered[term]
                known[term] = self._made(self.tags[term], tuple(sorted(images) if unordered else images), unordered)
        return known[term]


def _mask(variables: Iterable[int]) -> int:
    return sum(1 << variable for variable in variables)
