"""The typed expression graph that every explorer runs.

Expressions become nodes of one graph: equal subexpressions are one node, constants are folded, and every number has a
range. A node has one of three machine types. ``INT`` is a 32-bit integer; an integer expression whose range leaves 32
bits (an unbounded counter plus one) is carried as ``REAL``, which is exact up to 2**53, so nothing ever wraps around.

Some operations have no value for some operands (``mod(x, 0)``, ``pow(2, -1)``, ``floor(1/0)``, integers beyond 2**53).
Where the ranges cannot rule that out the node is *partial*: it must only be evaluated where PRISM's short-circuit rules
say so, one state at a time, and not over whole blocks.

What operations mean, and the ranges of what they give, is in :mod:`galton.lang.operations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import partial
from typing import NamedTuple

from ..lang.operations import BY_OP, Domain, Op, Operation, greatest, least

__all__ = ["Graph", "Kind", "Node", "Op", "computed"]


class Kind(IntEnum):
    """Machine types of nodes."""

    BOOL = 0
    INT = 1
    REAL = 2


INT_MIN, INT_MAX = -(2**31), 2**31 - 1
_REAL = 6 * Op.CONST + 2 * Kind.REAL  # where a graph keeps constants that are doubles
EXACT = 2**53 - 1  # integers up to here are exact as REAL, and their neighbours too


class Node(NamedTuple):
    """One operation. ``low`` and ``high`` bound its value (for BOOL they are unused); ``value`` is a CONST's."""

    op: Op
    kind: Kind
    args: tuple[int, ...]
    value: float
    low: float
    high: float
    integral: bool  # an integer in the language, even when carried as REAL
    partial: bool
    maybe_nan: bool  # may be no number at all, whatever its bounds say


class Graph:
    """Nodes in topological order, hash-consed."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        # By operation, kind and whether they are integral: hashing an Op takes long, and so does printing a number.
        self._known: list[dict[object, int]] = [{} for _ in range(6 * len(Op))]
        builders: dict[Op, Callable[..., int]] = {
            **{op: partial(self._number, operation) for op, operation in BY_OP.items()},
            Op.TO_REAL: self.to_real,
            Op.NOT: self.not_,
            Op.AND: self.and_,
            Op.OR: self.or_,
            Op.IFF: self.iff,
            Op.ITE: self.ite,
            Op.EQ: self.equal,
            Op.LT: partial(self._compare, Op.LT),
            Op.LE: partial(self._compare, Op.LE),
        }
        self._builders = [builders.get(op, self._leaf) for op in Op]

    def __getitem__(self, node: int) -> Node:
        return self.nodes[node]

    def _add(
        self,
        op: Op,
        kind: Kind,
        args: tuple[int, ...] = (),
        value: float = 0.0,
        bounds: tuple[float, float] = (0, 1),
        integral: bool = False,
        partial: bool = False,
        maybe_nan: bool = False,
    ) -> int:
        known = self._known[6 * op + 2 * kind + integral]
        # NaN differs from itself and -0.0 equals 0.0: the text tells them apart.
        key: object = args or (value if value and value == value else repr(value))
        found = known.get(key)
        if found is None:
            if args:
                partial = partial or any(self.nodes[a].partial for a in args)
                maybe_nan = kind is Kind.REAL and (maybe_nan or any(self.nodes[a].maybe_nan for a in args))
            low, high = bounds if op is Op.CONST else map(_as_float, bounds)
            found = known[key] = len(self.nodes)
            self.nodes.append(Node(op, kind, args, value, low, high, integral, partial, maybe_nan))
        return found

    @staticmethod
    def _leaf(*args: int) -> int:
        raise TypeError("constants and variables are no operations")

    # Leaves

    def boolean(self, value: bool) -> int:
        return self._add(Op.CONST, Kind.BOOL, value=float(value))

    def integer(self, value: int) -> int:
        kind = Kind.INT if INT_MIN <= value <= INT_MAX else Kind.REAL
        number = float(value)
        return self._add(Op.CONST, kind, value=number, bounds=(number, number), integral=True)

    def real(self, value: float) -> int:
        known = self._known[_REAL].get(value) if value else None  # as most probabilities are: see _add
        if known is not None:
            return known
        return self._add(Op.CONST, Kind.REAL, value=value, bounds=(value, value), maybe_nan=math.isnan(value))

    def variable(self, index: int, low: int, high: int) -> int:
        """The integer value of a variable (0 or 1 for a boolean)."""
        if low == high:
            return self.integer(low)
        return self._add(Op.VAR, Kind.INT, value=float(index), bounds=(low, high), integral=True)

    def constant(self, node: int) -> float | None:
        """The value of a constant node, else None."""
        found = self.nodes[node]
        return found.value if found.op is Op.CONST else None

    def apply(self, op: Op, *args: int) -> int:
        """The node of an operation on nodes."""
        return self._builders[op](*args)

    def builder(self, operation: Operation) -> Callable[..., int]:
        """What makes the node of an operation, in the core or not, from those of its operands."""
        if operation.via is not None:
            return partial(operation.via, self.apply)
        assert operation.op is not None
        return self._builders[operation.op]

    # Logic

    def not_(self, a: int) -> int:
        node = self.nodes[a]
        if node.op is Op.CONST:
            return self.boolean(not node.value)
        if node.op is Op.NOT:
            return node.args[0]
        return self._add(Op.NOT, Kind.BOOL, (a,))

    def and_(self, a: int, b: int) -> int:
        if self.constant(a) is not None:
            return b if self.constant(a) else a
        if self.constant(b) == 1.0 or a == b:
            return a
        if self.constant(b) == 0.0 and not self.nodes[a].partial:
            return b
        return self._add(Op.AND, Kind.BOOL, (a, b))

    def or_(self, a: int, b: int) -> int:
        if self.constant(a) is not None:
            return a if self.constant(a) else b
        if self.constant(b) == 0.0 or a == b:
            return a
        if self.constant(b) == 1.0 and not self.nodes[a].partial:
            return b
        return self._add(Op.OR, Kind.BOOL, (a, b))

    def iff(self, a: int, b: int) -> int:
        if self.constant(a) is not None:
            return b if self.constant(a) else self.not_(b)
        if self.constant(b) is not None:
            return a if self.constant(b) else self.not_(a)
        return self._add(Op.IFF, Kind.BOOL, (a, b))

    def ite(self, condition: int, then: int, otherwise: int) -> int:
        chosen = self.constant(condition)
        if chosen is not None:
            return then if chosen else otherwise
        if then == otherwise and not self.nodes[condition].partial:
            return then
        if self.nodes[then].kind is Kind.BOOL:
            return self._add(Op.ITE, Kind.BOOL, (condition, then, otherwise))
        integral = self.nodes[then].integral and self.nodes[otherwise].integral
        if not integral:
            then, otherwise = self.as_double(then), self.as_double(otherwise)
        then, otherwise, kind = self._match(then, otherwise)
        a, b = self.nodes[then], self.nodes[otherwise]
        bounds = least(a.low, b.low), greatest(a.high, b.high)
        return self._add(Op.ITE, kind, (condition, then, otherwise), bounds=bounds, integral=integral)

    # Comparison

    def equal(self, a: int, b: int) -> int:
        if self.nodes[a].kind is Kind.BOOL:
            return self.iff(a, b)
        return self._compare(Op.EQ, a, b)

    def _compare(self, op: Op, a: int, b: int) -> int:
        a, b, _ = self._match(a, b)
        x, y = self.nodes[a], self.nodes[b]
        if not (x.partial or y.partial or x.maybe_nan or y.maybe_nan):
            # Ranges decide many comparisons, such as a bound that a constant puts out of reach.
            if op is Op.EQ and (x.high < y.low or y.high < x.low):
                return self.boolean(False)
            if op is Op.EQ and x.low == x.high == y.low == y.high:
                return self.boolean(True)
            if op is Op.LT and (x.high < y.low or x.low >= y.high):
                return self.boolean(x.high < y.low)
            if op is Op.LE and (x.high <= y.low or x.low > y.high):
                return self.boolean(x.high <= y.low)
        if x.op is Op.CONST and y.op is Op.CONST:  # NaN is left: every comparison with it is false
            return self.boolean(False)
        return self._add(op, Kind.BOOL, (a, b))

    # Arithmetic

    def _number(self, operation: Operation, *args: int) -> int:
        """A number from numbers."""
        op = operation.op
        assert op is not None
        nodes = [self.nodes[a] for a in args]
        whole, constant, words = operation.integers is not None, True, operation.on_words
        for node in nodes:
            whole = whole and node.integral
            constant = constant and node.op is Op.CONST
            words = words and node.kind is Kind.INT
        integral = whole or operation.gives == "int"
        if not integral:
            # As doubles: an integer has no -0, which would send a quotient to the wrong infinity.
            args = tuple(map(self.as_double, args))
            nodes = [self.nodes[a] for a in args]
        outside = operation.domain is not None and self._may_lack_value(operation.domain, nodes, whole)
        if constant and not outside:
            value = computed(operation, whole, [node.value for node in nodes])
            if not integral:
                return self.real(value)
            if abs(value) <= EXACT or not operation.lengthens:
                return self.integer(int(value))
        same = self._neutral(op, args)
        if same is not None:
            return same
        assert operation.range is not None
        low, high = operation.range(*nodes)
        fits = integral and low >= INT_MIN and high <= INT_MAX and (words or not whole)
        if whole and not fits:
            args = tuple(map(self.to_real, args))
        return self._add(
            op,
            Kind.INT if fits else Kind.REAL,
            args,
            bounds=(low, high),
            integral=integral,
            partial=outside or (whole and operation.lengthens and not (low >= -EXACT and high <= EXACT)),
            maybe_nan=operation.may_be_nan and not integral and not (math.isfinite(low) and math.isfinite(high)),
        )

    @staticmethod
    def _may_lack_value(domain: Domain, nodes: list[Node], whole: bool) -> bool:
        if domain.of_integers and not whole:
            return False
        node = nodes[domain.operand]
        return node.maybe_nan or not (domain.low <= node.low and node.high <= domain.high)

    def _neutral(self, op: Op, args: tuple[int, ...]) -> int | None:
        """The operand that an operation leaves as it is, if there is one."""
        match op:
            case Op.MIN | Op.MAX:
                return args[0] if args[0] == args[1] else None
            case Op.FLOOR | Op.CEIL | Op.ROUND:
                return args[0] if self.nodes[args[0]].integral else None
            case Op.MUL:
                return next((a for a, other in (args, args[::-1]) if self.constant(other) == 1), None)
            case Op.ADD | Op.SUB:
                # -0.0 + 0.0 is 0.0: only -0.0 leaves every double as it is, and an integer has none.
                for a, other in (args, args[::-1]) if op is Op.ADD else (args,):
                    zero = self.constant(other)
                    if zero == 0 and (self.nodes[a].integral or (math.copysign(1.0, zero) < 0) == (op is Op.ADD)):
                        return a
        return None

    def as_double(self, a: int) -> int:
        """Return the node of a number as a double of the language, whatever it was."""
        x = self.nodes[a]
        if not x.integral:
            return a
        if x.op is Op.CONST:
            return self.real(x.value)
        if x.kind is Kind.INT:
            return self._add(Op.TO_REAL, Kind.REAL, (a,), bounds=(x.low, x.high))
        return self._add(Op.ADD, Kind.REAL, (a, self.real(0.0)), bounds=(x.low, x.high))

    def to_real(self, a: int) -> int:
        """Return the node of a number carried as REAL; it stays an integer of the language if it was one."""
        x = self.nodes[a]
        if x.kind is Kind.REAL:
            return a
        if x.op is Op.CONST:
            return self._add(Op.CONST, Kind.REAL, value=x.value, bounds=(x.low, x.high), integral=True)
        return self._add(Op.TO_REAL, Kind.REAL, (a,), bounds=(x.low, x.high), integral=x.integral)

    def _match(self, a: int, b: int) -> tuple[int, int, Kind]:
        if self.nodes[a].kind is Kind.INT and self.nodes[b].kind is Kind.INT:
            return a, b, Kind.INT
        return self.to_real(a), self.to_real(b), Kind.REAL


def _as_float(bound: float) -> float:
    """A bound as a float; an integer that is too large for one is no bound."""
    try:
        return float(bound)
    except OverflowError:
        return math.inf if bound > 0 else -math.inf


def computed(operation: Operation, whole: bool, values: Sequence[float]) -> float:
    """What an operation makes of numbers that are carried as doubles, and are integers where ``whole``."""
    if whole:
        assert operation.integers is not None
        return operation.integers(*map(int, values))
    return operation.doubles(*values)
