"""The typed expression graph that every explorer runs.

Expressions become nodes of one graph: equal subexpressions are one node, constants are folded, and every number has a
range. A node has one of three machine types. ``INT`` is a 32-bit integer; an integer expression whose range leaves 32
bits (an unbounded counter plus one) is carried as ``REAL``, which is exact up to 2**53, so nothing ever wraps around.

Some operations have no value for some operands (``mod(x, 0)``, ``pow(2, -1)``, ``floor(1/0)``, integers beyond 2**53).
Where the ranges cannot rule that out the node is *partial*: it must only be evaluated where PRISM's short-circuit rules
say so, one state at a time, and not over whole blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

from ..lang import doubles


class Op(IntEnum):
    """Operations; the C++ core has the same list in the same order (``_core.operations()``)."""

    CONST = 0
    VAR = 1
    TO_REAL = 2
    ADD = 3
    SUB = 4
    MUL = 5
    DIV = 6
    NEG = 7
    MIN = 8
    MAX = 9
    MOD = 10
    POW = 11
    LOG = 12
    FLOOR = 13
    CEIL = 14
    ROUND = 15
    EQ = 16
    LT = 17
    LE = 18
    AND = 19
    OR = 20
    NOT = 21
    IFF = 22
    ITE = 23


class Kind(IntEnum):
    """Machine types of nodes."""

    BOOL = 0
    INT = 1
    REAL = 2


INT_MIN, INT_MAX = -(2**31), 2**31 - 1
EXACT = 2**53 - 1  # integers up to here are exact as REAL, and their neighbours too


@dataclass(frozen=True, slots=True)
class Node:
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
        self._known: dict[tuple[Op, Kind, tuple[int, ...], str, bool], int] = {}

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
        # NaN differs from itself and -0.0 equals 0.0: the text tells them apart.
        key = (op, kind, args, repr(value), integral)
        if key not in self._known:
            partial = partial or any(self.nodes[a].partial for a in args)
            maybe_nan = kind is Kind.REAL and (maybe_nan or any(self.nodes[a].maybe_nan for a in args))
            low, high = map(_as_float, bounds)
            self._known[key] = len(self.nodes)
            self.nodes.append(Node(op, kind, args, value, low, high, integral, partial, maybe_nan))
        return self._known[key]

    # Leaves

    def boolean(self, value: bool) -> int:
        return self._add(Op.CONST, Kind.BOOL, value=float(value))

    def integer(self, value: int) -> int:
        kind = Kind.INT if INT_MIN <= value <= INT_MAX else Kind.REAL
        return self._add(Op.CONST, kind, value=float(value), bounds=(value, value), integral=True)

    def real(self, value: float) -> int:
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
        then, otherwise, kind = self._match(then, otherwise)
        a, b = self.nodes[then], self.nodes[otherwise]
        bounds = (_least(a.low, b.low), _greatest(a.high, b.high))
        return self._add(Op.ITE, kind, (condition, then, otherwise), bounds=bounds, integral=a.integral and b.integral)

    # Comparison

    def equal(self, a: int, b: int) -> int:
        if self.nodes[a].kind is Kind.BOOL:
            return self.iff(a, b)
        return self._compare(Op.EQ, a, b)

    def less(self, a: int, b: int) -> int:
        return self._compare(Op.LT, a, b)

    def less_equal(self, a: int, b: int) -> int:
        return self._compare(Op.LE, a, b)

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

    def arithmetic(self, op: Op, a: int, b: int) -> int:
        """ADD, SUB, MUL, MIN, MAX with PRISM's types: an int only if both operands are."""
        a, b, _ = self._match(a, b)
        x, y = self.nodes[a], self.nodes[b]
        bounds = _bounds(op, x, y)
        integral = x.integral and y.integral
        if x.op is Op.CONST and y.op is Op.CONST:
            value = _fold(op, x.value, y.value)
            if not integral:
                return self.real(value)
            if abs(value) <= EXACT:
                return self.integer(int(value))
        same = self._neutral(op, a, b)
        if same is not None and self.nodes[same].integral == integral:  # (x + 0.0) is a double, x is none
            return same
        fits = integral and bounds[0] >= INT_MIN and bounds[1] <= INT_MAX
        if not fits:
            a, b = self.to_real(a), self.to_real(b)
        elif x.kind is Kind.REAL:
            fits = False
        partial = integral and not (bounds[0] >= -EXACT and bounds[1] <= EXACT)
        endless = op not in (Op.MIN, Op.MAX) and not all(map(math.isfinite, bounds))
        return self._add(
            op,
            Kind.INT if fits else Kind.REAL,
            (a, b),
            bounds=bounds,
            integral=integral,
            partial=partial,
            maybe_nan=endless and not integral,  # inf - inf, 0 * inf
        )

    def _neutral(self, op: Op, a: int, b: int) -> int | None:
        """The operand that an operation leaves as it is, if there is one."""
        if op in (Op.MIN, Op.MAX) and a == b:
            return a
        if op is Op.MUL and 1 in (self.constant(a), self.constant(b)):
            return b if self.constant(a) == 1 else a
        # -0.0 + 0.0 is 0.0: only -0.0 leaves every double as it is, and an integer has none.
        for operand, other in ((a, b), (b, a)) if op is Op.ADD else ((a, b),) if op is Op.SUB else ():
            zero = self.constant(other)
            if zero == 0 and (self.nodes[operand].integral or (math.copysign(1.0, zero) < 0) == (op is Op.ADD)):
                return operand
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

    def negate(self, a: int) -> int:
        x = self.nodes[a]
        if x.op is Op.CONST:
            return self.integer(-int(x.value)) if x.integral else self.real(-x.value)
        fits = x.kind is Kind.INT and -x.low <= INT_MAX
        if not fits:
            a = self.to_real(a)
        return self._add(Op.NEG, Kind.INT if fits else Kind.REAL, (a,), bounds=(-x.high, -x.low), integral=x.integral)

    def divide(self, a: int, b: int) -> int:
        # As doubles: an integer has no -0, which would send the quotient to the wrong infinity.
        a, b = self.as_double(a), self.as_double(b)
        x, y = self.nodes[a], self.nodes[b]
        if x.op is Op.CONST and y.op is Op.CONST:
            return self.real(doubles.divide(x.value, y.value))
        bounds = (-math.inf, math.inf)
        if y.low > 0 or y.high < 0:
            bounds = _hull([p / q for p in (x.low, x.high) for q in (y.low, y.high)])
        sure = (y.low > 0 or y.high < 0) and all(map(math.isfinite, (x.low, x.high)))
        return self._add(Op.DIV, Kind.REAL, (a, b), bounds=bounds, maybe_nan=not sure)

    def modulo(self, a: int, b: int) -> int:
        a, b, kind = self._match(a, b)
        x, y = self.nodes[a], self.nodes[b]
        partial = not y.low > 0
        if x.op is Op.CONST and y.op is Op.CONST and not partial:
            return self.integer(int(x.value) % int(y.value))
        return self._add(Op.MOD, kind, (a, b), bounds=(0, max(y.high - 1, 0)), integral=True, partial=partial)

    def power(self, a: int, b: int) -> int:
        a, b = self.to_real(a), self.to_real(b)
        x, y = self.nodes[a], self.nodes[b]
        integral = x.integral and y.integral
        partial = integral and not y.low >= 0
        if x.op is Op.CONST and y.op is Op.CONST and not partial:
            if not integral:
                return self.real(doubles.power(x.value, y.value))
            if self._power_fits(x, y):
                return self.integer(int(x.value) ** int(y.value))
        low = 0.0 if x.low >= 0 else -math.inf
        partial = integral and not (y.low >= 0 and self._power_fits(x, y))
        bounds = (low, math.inf)
        return self._add(
            Op.POW, Kind.REAL, (a, b), bounds=bounds, integral=integral, partial=partial, maybe_nan=not integral
        )

    @staticmethod
    def _power_fits(x: Node, y: Node) -> bool:
        base = max(abs(x.low), abs(x.high), 2)
        return base < math.inf and y.high * math.log2(base) <= 53

    def logarithm(self, a: int, base: int) -> int:
        a, base = self.to_real(a), self.to_real(base)
        x, y = self.nodes[a], self.nodes[base]
        if x.op is Op.CONST and y.op is Op.CONST:
            return self.real(doubles.logarithm(x.value, y.value))
        return self._add(Op.LOG, Kind.REAL, (a, base), bounds=(-math.inf, math.inf), maybe_nan=True)

    def to_integer(self, op: Op, a: int) -> int:
        """FLOOR, CEIL, ROUND."""
        x = self.nodes[a]
        if x.integral:
            return a
        finite = math.isfinite(x.low) and math.isfinite(x.high) and not x.maybe_nan
        if x.op is Op.CONST and finite:
            return self.integer(_round(op, x.value))
        bounds: tuple[float, float] = (-math.inf, math.inf)
        if finite:
            bounds = (_round(op, x.low), _round(op, x.high))
        fits = finite and bounds[0] >= INT_MIN and bounds[1] <= INT_MAX
        kind = Kind.INT if fits else Kind.REAL
        return self._add(op, kind, (a,), bounds=bounds, integral=True, partial=not finite)

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


def _least(*values: float) -> float:
    return -math.inf if any(math.isnan(v) for v in values) else min(values)


def _greatest(*values: float) -> float:
    return math.inf if any(math.isnan(v) for v in values) else max(values)


def _hull(values: list[float]) -> tuple[float, float]:
    return _least(*values), _greatest(*values)


def _bounds(op: Op, x: Node, y: Node) -> tuple[float, float]:
    match op:
        case Op.ADD:
            return _least(x.low + y.low), _greatest(x.high + y.high)
        case Op.SUB:
            return _least(x.low - y.high), _greatest(x.high - y.low)
        case Op.MUL:
            return _hull([p * q for p in (x.low, x.high) for q in (y.low, y.high)])
        case Op.MIN:
            return _least(x.low, y.low), _greatest(min(x.high, y.high))
        case Op.MAX:
            return _least(max(x.low, y.low)), _greatest(x.high, y.high)
    raise AssertionError(op)


def _fold(op: Op, x: float, y: float) -> float:
    return _FOLDED[op](x, y)


_FOLDED = {
    Op.ADD: doubles.add,
    Op.SUB: doubles.subtract,
    Op.MUL: doubles.multiply,
    Op.MIN: doubles.minimum,
    Op.MAX: doubles.maximum,
}


def _round(op: Op, x: float) -> int:
    return {Op.FLOOR: doubles.floor, Op.CEIL: doubles.ceil, Op.ROUND: doubles.round_half_up}[op](x)
