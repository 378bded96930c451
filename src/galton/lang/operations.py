"""The operations of the language: what each of them takes, gives and means, in one table.

Everything that computes with expressions is made from these rows or tested against them
(``tests/explore/test_one_arithmetic.py``): the types of expressions, the folding of constants, the expression graph
with its ranges, arrays, the intervals of properties, the tapes of the C++ core and the text for a device.

An operation has three meanings. On integers it is exact; whoever computes says how far integers go. On doubles it
follows Java, on which PRISM runs (:mod:`.doubles`). On constants it is rational and rounded once (:mod:`.rationals`).

>>> FUNCTIONS["mod"].integers(-3, 5)
2
>>> FUNCTIONS["mod"].domain.complaint
"'mod' needs a positive divisor"
>>> BINARY[">"].apply(lambda op, *operands: f"{op.name}{operands}", "a", "b")
"LT('b', 'a')"
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, NamedTuple, Protocol, TypeVar

from . import doubles, rationals
from .expressions import Value

T = TypeVar("T")


class Op(IntEnum):
    """Operations as the expression graph and the core number them (``_core.operations()`` has the same list)."""

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


class Range(Protocol):
    """Bounds of a number, which is an integer of the language where ``integral``."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def integral(self) -> bool: ...


class Domain(NamedTuple):
    """Where an operation has a value: one operand must lie between bounds, and be a number."""

    operand: int
    low: float
    high: float
    complaint: str
    of_integers: bool = False  # whether it only matters where all operands are integers


class Derived(Protocol):
    """An operation made from others: ``apply`` is given one of them and its operands."""

    def __call__(self, apply: Callable[..., T], a: T, b: T) -> T: ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Operation:
    """A row of the table.

    Attributes
    ----------
    text
        How it is written: the sign of an operator, or the name of a function.
    about
        What it computes, in a sentence for people who write models.
    op
        Its number in the core; ``via`` says how to do without one.
    arity, chained
        How many operands it takes; a chained one takes any number, two at a time from the left.
    takes
        Their type; a ``"number"`` is an ``int`` or a ``double``, and ``"alike"`` are two numbers or two bools.
    gives
        The type of the result; ``"widest"`` is an ``int`` where all operands are, ``"branch"`` that of what is chosen.
    doubles, constants, integers
        Its meaning. Integers are taken as doubles where it has none of its own for them, and so are constants.
    domain
        Where it has a value, if not everywhere.
    range
        Bounds of the result from those of the operands, before integers become too long.
    lengthens
        Whether an integer result may be longer than the operands, and so have no value.
    may_be_nan
        Whether it may make no number out of numbers.
    has_poles
        Whether it may make an infinity out of small numbers.
    rounded_alike
        Whether every processor gives the same double. Libraries differ in the last digit of the others.
    on_words
        Whether the core has it on 32-bit integers; otherwise it computes in doubles.
    array
        The function of NumPy and CuPy that does it. Arrays do without an operation that has none.
    monotone
        Whether each operand moves the result one way only, so that bounds of operands give bounds of the result.
    settled_by
        The first operand that leaves the second without a say: it is not evaluated then, and gives what both would.
    """

    text: tuple[str, ...]
    about: str
    arity: int
    takes: Literal["bool", "int", "number", "alike", "choice"]
    gives: Literal["bool", "int", "double", "widest", "branch"]
    doubles: Callable[..., Value]
    op: Op | None = None
    via: Derived | None = None
    chained: bool = False
    constants: Callable[..., Value] | None = None
    integers: Callable[..., int] | None = None
    domain: Domain | None = None
    range: Callable[..., tuple[float, float]] | None = None
    lengthens: bool = False
    may_be_nan: bool = False
    has_poles: bool = False
    rounded_alike: bool = True
    on_words: bool = True
    array: str | None = None
    monotone: bool = False
    settled_by: bool | None = None

    def lacks_value(self, operands: Sequence[Value]) -> bool:
        """Whether it has no value for some operands, long integers apart."""
        domain = self.domain
        if domain is None or (domain.of_integers and any(isinstance(operand, float) for operand in operands)):
            return False
        return not domain.low <= operands[domain.operand] <= domain.high

    def apply(self, apply: Callable[..., T], *operands: T) -> T:
        """Itself, or what it is made from: ``apply`` computes an operation that has a number."""
        if self.via is not None:
            return self.via(apply, *operands)
        return apply(self.op, *operands)


# Ranges


def least(*values: float) -> float:
    """The least of some bounds; none where one is no number."""
    for value in values:
        if value != value:
            return -math.inf
    return min(values)


def greatest(*values: float) -> float:
    """The greatest of some bounds; none where one is no number."""
    for value in values:
        if value != value:
            return math.inf
    return max(values)


def _corners(function: Callable[[float, float], float]) -> Callable[[Range, Range], tuple[float, float]]:
    def bounds(x: Range, y: Range) -> tuple[float, float]:
        values = [function(p, q) for p in (x.low, x.high) for q in (y.low, y.high)]
        return least(*values), greatest(*values)

    return bounds


def _quotient_range(x: Range, y: Range) -> tuple[float, float]:
    return _corners(operator.truediv)(x, y) if y.low > 0 or y.high < 0 else (-math.inf, math.inf)


def _power_range(x: Range, y: Range) -> tuple[float, float]:
    low, high = -math.inf if x.low < 0 else 0.0, math.inf
    if not (x.integral and y.integral) or y.low < 0:
        return low, high
    base = greatest(abs(x.low), abs(x.high))
    if base > 1 and not y.high * math.log2(base) < 64:  # longer than any integer that has a value
        return low, high
    most = float(int(base) ** int(y.high)) if base > 1 else 1.0
    return (-most if x.low < 0 else 0.0), most


def _rounded_range(rounded: Callable[[float], int]) -> Callable[[Range], tuple[float, float]]:
    def bounds(x: Range) -> tuple[float, float]:
        finite = math.isfinite(x.low) and math.isfinite(x.high)
        return (rounded(x.low), rounded(x.high)) if finite else (-math.inf, math.inf)

    return bounds


def _whole_power(base: int, exponent: int) -> int:
    # A longer one has no value anyway, and would take long to compute.
    return int(base ** (min(exponent, 64) if abs(base) > 1 else exponent))


def _rounding(
    name: str, about: str, op: Op, double: Callable[[float], int], constant: Callable[[float], int]
) -> Operation:
    largest = sys.float_info.max
    return Operation(
        text=(name,),
        about=about,
        op=op,
        arity=1,
        takes="number",
        gives="int",
        doubles=double,
        constants=constant,
        integers=operator.pos,
        domain=Domain(0, -largest, largest, f"'{name}' needs a finite number"),
        range=_rounded_range(double),
        array=None if name == "round" else name,  # theirs goes to the even neighbour
        monotone=True,
    )


def _truth(
    sign: str,
    about: str,
    takes: Literal["bool", "number", "alike"],
    op: Op | None,
    meaning: Callable[[Value, Value], bool],
    *,
    array: str | None = None,
    via: Derived | None = None,
    settled_by: bool | None = None,
) -> Operation:
    return Operation(
        text=(sign,),
        about=about,
        op=op,
        arity=2,
        takes=takes,
        gives="bool",
        doubles=meaning,
        array=array,
        via=via,
        settled_by=settled_by,
    )


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        text=("-",),
        about="The negative of a number.",
        op=Op.NEG,
        arity=1,
        takes="number",
        gives="widest",
        doubles=doubles.negate,
        constants=rationals.negate,
        integers=operator.neg,
        range=lambda x: (-x.high, -x.low),
        lengthens=True,
        array="negative",
    ),
    Operation(
        text=("+",),
        about="The sum of two numbers.",
        op=Op.ADD,
        arity=2,
        takes="number",
        gives="widest",
        doubles=doubles.add,
        constants=rationals.add,
        integers=operator.add,
        range=lambda x, y: (least(x.low + y.low), greatest(x.high + y.high)),
        lengthens=True,
        may_be_nan=True,
        array="add",
    ),
    Operation(
        text=("-",),
        about="The difference of two numbers.",
        op=Op.SUB,
        arity=2,
        takes="number",
        gives="widest",
        doubles=doubles.subtract,
        constants=rationals.subtract,
        integers=operator.sub,
        range=lambda x, y: (least(x.low - y.high), greatest(x.high - y.low)),
        lengthens=True,
        may_be_nan=True,
        array="subtract",
    ),
    Operation(
        text=("*",),
        about="The product of two numbers.",
        op=Op.MUL,
        arity=2,
        takes="number",
        gives="widest",
        doubles=doubles.multiply,
        constants=rationals.multiply,
        integers=operator.mul,
        range=_corners(operator.mul),
        lengthens=True,
        may_be_nan=True,
        array="multiply",
    ),
    Operation(
        text=("/",),
        about="The quotient of two numbers, always a double. Dividing by zero gives an infinity, or no number.",
        op=Op.DIV,
        arity=2,
        takes="number",
        gives="double",
        doubles=doubles.divide,
        constants=rationals.divide,
        range=_quotient_range,
        may_be_nan=True,
        has_poles=True,
        array="divide",
    ),
    Operation(
        text=("^", "pow"),
        about="A power. The exponent of integers must not be negative: write 2.0 for a double.",
        op=Op.POW,
        arity=2,
        takes="number",
        gives="widest",
        doubles=doubles.power,
        constants=rationals.power,
        integers=_whole_power,
        domain=Domain(1, 0, math.inf, "a power of integers needs a nonnegative exponent", of_integers=True),
        range=_power_range,
        lengthens=True,
        may_be_nan=True,
        has_poles=True,
        rounded_alike=False,
        on_words=False,
    ),
    Operation(
        text=("log",),
        about="The logarithm of the first number to the base that the second is.",
        op=Op.LOG,
        arity=2,
        takes="number",
        gives="double",
        doubles=doubles.logarithm,
        range=lambda x, base: (-math.inf, math.inf),
        may_be_nan=True,
        has_poles=True,
        rounded_alike=False,
    ),
    Operation(
        text=("min",),
        about="The least of some numbers.",
        op=Op.MIN,
        arity=2,
        chained=True,
        takes="number",
        gives="widest",
        doubles=doubles.minimum,
        constants=rationals.minimum,
        integers=min,
        range=lambda x, y: (least(x.low, y.low), greatest(min(x.high, y.high))),
        monotone=True,
    ),
    Operation(
        text=("max",),
        about="The greatest of some numbers.",
        op=Op.MAX,
        arity=2,
        chained=True,
        takes="number",
        gives="widest",
        doubles=doubles.maximum,
        constants=rationals.maximum,
        integers=max,
        range=lambda x, y: (least(max(x.low, y.low)), greatest(x.high, y.high)),
        monotone=True,
    ),
    Operation(
        text=("mod",),
        about="The remainder of a division by a positive integer, from 0 on, also of negative ones: mod(-3, 5) is 2.",
        op=Op.MOD,
        arity=2,
        takes="int",
        gives="int",
        doubles=operator.mod,
        integers=operator.mod,
        domain=Domain(1, 1, math.inf, "'mod' needs a positive divisor"),
        range=lambda x, y: (0, max(y.high - 1, 0)),
        array="mod",
    ),
    _rounding("floor", "The greatest integer that is not above a number.", Op.FLOOR, doubles.floor, rationals.floor),
    _rounding("ceil", "The least integer that is not below a number.", Op.CEIL, doubles.ceil, rationals.ceil),
    _rounding(
        "round",
        "The integer next to a number; halves go up: round(-2.5) is -2.",
        Op.ROUND,
        doubles.round_half_up,
        rationals.round_half_up,
    ),
    _truth("=", "Whether two numbers, or two bools, are the same.", "alike", Op.EQ, operator.eq, array="equal"),
    _truth(
        "!=",
        "Whether two numbers, or two bools, differ.",
        "alike",
        None,
        operator.ne,
        via=lambda apply, a, b: apply(Op.NOT, apply(Op.EQ, a, b)),
    ),
    _truth("<", "Whether a number is below another.", "number", Op.LT, operator.lt, array="less"),
    _truth("<=", "Whether a number is not above another.", "number", Op.LE, operator.le, array="less_equal"),
    _truth(
        ">",
        "Whether a number is above another.",
        "number",
        None,
        operator.gt,
        via=lambda apply, a, b: apply(Op.LT, b, a),
    ),
    _truth(
        ">=",
        "Whether a number is not below another.",
        "number",
        None,
        operator.ge,
        via=lambda apply, a, b: apply(Op.LE, b, a),
    ),
    _truth(
        "&",
        "Whether both hold. The second is not evaluated where the first is false.",
        "bool",
        Op.AND,
        lambda a, b: bool(a and b),
        array="logical_and",
        settled_by=False,
    ),
    _truth(
        "|",
        "Whether one of two holds. The second is not evaluated where the first is true.",
        "bool",
        Op.OR,
        lambda a, b: bool(a or b),
        array="logical_or",
        settled_by=True,
    ),
    _truth(
        "=>",
        "Whether the second holds if the first does. The second is not evaluated where the first is false.",
        "bool",
        None,
        lambda a, b: bool(not a or b),
        via=lambda apply, a, b: apply(Op.OR, apply(Op.NOT, a), b),
        settled_by=False,
    ),
    _truth("<=>", "Whether both hold, or none.", "bool", Op.IFF, operator.eq, array="equal"),
    Operation(
        text=("!",),
        about="Whether something does not hold.",
        op=Op.NOT,
        arity=1,
        takes="bool",
        gives="bool",
        doubles=operator.not_,
        array="logical_not",
    ),
    Operation(
        text=("?:",),
        about="The first of two values where the condition holds, otherwise the second. Only that one is evaluated.",
        op=Op.ITE,
        arity=3,
        takes="choice",
        gives="branch",
        doubles=lambda condition, then, otherwise: then if condition else otherwise,
        array="where",
    ),
)

UNARY = {row.text[0]: row for row in OPERATIONS if row.arity == 1 and not row.text[0].isidentifier()}
BINARY = {row.text[0]: row for row in OPERATIONS if row.arity == 2 and not row.text[0].isidentifier()}
FUNCTIONS = {name: row for row in OPERATIONS for name in row.text if name.isidentifier()}
BY_OP = {row.op: row for row in OPERATIONS if row.op is not None}
