"""Every operation of the language has one value, whoever computes it.

The table of operations (:mod:`galton.lang.operations`) is held against rules that are written here: IEEE arithmetic by
NumPy, and ``java.lang.Math``. Then everything that computes is held against the table, row by row: constants, the
folding of the expression graph, the core's tapes and its evaluation of single states, arrays, the text for a device,
and the intervals of properties. The operands are those that hurt. A row that something cannot compute fails.
"""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product

import numpy as np
import played_explorer
import pytest
from evaluators import (
    LARGEST,
    NO_VALUE,
    Case,
    one_by_one,
    program_of,
    wrong_in_arrays,
    wrong_in_core,
    wrong_in_cuda,
    wrong_in_graph,
)
from small_models import build

import galton
from galton import _core
from galton.backend.cuda.explorer.exploration import ProgramFault
from galton.checking import intervals
from galton.checking.intervals import Numbers, Truth
from galton.lang import EvaluationError, Source, Value, evaluate, parse_expression
from galton.lang.evaluation import evaluate_state
from galton.lang.operations import BINARY, BY_OP, FUNCTIONS, OPERATIONS, Op, Operation
from galton.lower import vectorised
from galton.lower.lowering import lower

BOOLS = [False, True]
INTEGERS = [0, 1, -1, 2, -2, 3, -7, 10, 31, LARGEST, -LARGEST]
LONG_INTEGERS = [2**31, -(2**31) - 1, 2**40 + 1, 2**53 - 1, 1 - 2**53]
FINITE = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.0, -7.0, 309.0, 0.1, 1.5, -10.0),
    *(0.49999999999999994, 0.5000000000000001, -0.49999999999999994, -0.5000000000000001),
    *(2.0**31 - 0.5, 2.0**52 + 0.5, 2.0**53, 2.0**53 + 2, -(2.0**53) - 2),
    *(1e200, 1e308, -1e308, 1e-200, 2.0**-1074),
]
DOUBLES = [*FINITE, math.inf, -math.inf, math.nan]
HARD = [(-10.0, 309.0), (1.0, math.inf), (1.0, math.nan), (0.0, -0.0), (-0.0, 0.0), (-1.0, -math.inf), (math.inf, 0.5)]
TRIED = 150  # pairs of operands of each kind
COMPILED = 12  # of them a compiler is asked about


def name_of(operation: Operation) -> str:
    return f"{operation.text[0]}/{operation.arity}"


every_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)


def operands_of(operation: Operation, most: int = TRIED) -> list[tuple[Value, ...]]:
    """Operands that an operation takes: all kinds of them, and the hardest of all."""
    number = operation.arity - (operation.takes == "choice")
    pools: list[Iterable[tuple[Value, ...]]] = []
    if operation.takes in ("bool", "alike"):
        pools.append(product(BOOLS, repeat=number))
    if operation.takes != "bool":
        whole = [*INTEGERS, *LONG_INTEGERS]
        pools.append(product(whole, repeat=number))
        if operation.takes != "int":
            pools.append(product(DOUBLES, repeat=number))
            pools.append(p for p in product([*whole, *DOUBLES], repeat=number) if len({*map(type, p)}) > 1)
            pools.append([pair for pair in HARD if number == 2])
    source = random.Random(name_of(operation))
    found = []
    for pool in map(list, pools):
        found += pool if len(pool) <= most else source.sample(pool, most)
    if operation.takes == "choice":
        return [(condition, *values) for values in found for condition in BOOLS]
    return found


def cases(operation: Operation, most: int = TRIED) -> list[Case]:
    return [Case(operation, values, name) for values in operands_of(operation, most) for name in operation.text]


def with_value(operation: Operation, most: int = TRIED) -> list[Case]:
    return [case for case in cases(operation, most) if case.expected != NO_VALUE]


def same(found: Value, expected: Value) -> bool:
    if type(found) is bool or type(expected) is bool:
        return found is expected
    if math.isnan(expected):
        return math.isnan(found)
    return found == expected and math.copysign(1, found) == math.copysign(1, expected)


# The table against rules of its own


def java_power(a: float, b: float) -> float:
    """``Math.pow``: as C has it, but for a base of 1 or -1, and overflow is no error."""
    if math.isnan(b) or (abs(a) == 1 and math.isinf(b)):
        return math.nan
    with np.errstate(all="ignore"):
        special = float(np.power(np.float64(a), np.float64(b)))
    try:
        return math.pow(a, b)
    except (OverflowError, ValueError):
        return special


def java_extreme(sign: float) -> Callable[[float, float], float]:
    def extreme(a: float, b: float) -> float:
        if math.isnan(a) or math.isnan(b):
            return math.nan
        return min((a, b), key=lambda x: (sign * x, sign * math.copysign(1, x)))

    return extreme


def java_log(a: float, base: float) -> float:
    """PRISM's: a quotient of ``Math.log``, and no number for strange bases."""
    if not base > 0 or base == 1 or math.isinf(base):
        return math.nan
    log = math.nan if math.isnan(a) or a < 0 else -math.inf if a == 0 else math.log(a)
    with np.errstate(all="ignore"):
        return float(np.float64(log) / np.float64(math.log(base)))


def ieee(operation: np.ufunc) -> Callable[..., float]:
    def apply(*values: float) -> float:
        with np.errstate(all="ignore"):
            return operation(*map(np.float64, values)).item()

    return apply


RULES: dict[str, Callable[..., Value]] = {
    "-/1": ieee(np.negative),
    "+/2": ieee(np.add),
    "-/2": ieee(np.subtract),
    "*/2": ieee(np.multiply),
    "//2": ieee(np.divide),
    "^/2": java_power,
    "log/2": java_log,
    "min/2": java_extreme(1),
    "max/2": java_extreme(-1),
    "floor/1": lambda a: math.floor(Fraction(a)),
    "ceil/1": lambda a: math.ceil(Fraction(a)),
    "round/1": lambda a: math.floor(Fraction(a) + Fraction(1, 2)),
    "=/2": ieee(np.equal),
    "!=/2": ieee(np.not_equal),
    "</2": ieee(np.less),
    "<=/2": ieee(np.less_equal),
    ">/2": ieee(np.greater),
    ">=/2": ieee(np.greater_equal),
    "?:/3": lambda condition, a, b: (b, a)[condition],
}
LOGIC: dict[str, list[bool]] = {  # of false false, false true, true false, true true
    "&/2": [False, False, False, True],
    "|/2": [False, True, True, True],
    "=>/2": [True, True, False, True],
    "<=>/2": [True, False, False, True],
    "!/1": [True, False],
}


@pytest.mark.parametrize("operation", [row for row in OPERATIONS if name_of(row) in RULES], ids=name_of)
def test_doubles_follow_ieee_and_java(operation: Operation) -> None:
    rule = RULES[name_of(operation)]
    pools = [BOOLS if operation.takes == "choice" and k == 0 else DOUBLES for k in range(operation.arity)]
    found = [values for values in product(*pools) if not operation.lacks_value(values)]
    assert [values for values in found if not same(operation.doubles(*values), rule(*values))] == []


@pytest.mark.parametrize("operation", [row for row in OPERATIONS if name_of(row) in LOGIC], ids=name_of)
def test_truth_tables(operation: Operation) -> None:
    rows = product(BOOLS, repeat=operation.arity)
    assert [operation.doubles(*row) for row in rows] == LOGIC[name_of(operation)]


def test_integers_follow_arithmetic() -> None:
    for a, b in product([*INTEGERS, *LONG_INTEGERS], repeat=2):
        assert BINARY["+"].integers(a, b) == a + b
        assert BINARY["-"].integers(a, b) == a - b
        assert BINARY["*"].integers(a, b) == a * b
        assert FUNCTIONS["min"].integers(a, b) == sorted([a, b])[0]
        assert FUNCTIONS["max"].integers(a, b) == sorted([a, b])[1]
        assert FUNCTIONS["mod"].lacks_value((a, b)) is (b <= 0)
        if b > 0:
            remainder = FUNCTIONS["mod"].integers(a, b)
            assert 0 <= remainder < b
            assert (a - remainder) % b == 0
        assert FUNCTIONS["pow"].lacks_value((a, b)) is (b < 0)
        if 0 <= b <= 31:
            assert FUNCTIONS["pow"].integers(a, b) == math.prod([a] * b)


# Everything that computes against the table


def test_the_core_has_the_same_list() -> None:
    found = [(name.lower(), lengthens, has_poles) for name, lengthens, has_poles in _core.operations()]
    rows = [BY_OP.get(op) for op in Op]
    names = [op.name.replace("_", "").lower() for op in Op]
    assert found == [
        (name, row is not None and row.lengthens, row is not None and row.has_poles)
        for name, row in zip(names, rows, strict=True)
    ]


@every_operation
def test_constants(operation: Operation) -> None:
    for case in cases(operation):
        if any(type(value) is int and abs(value) > LARGEST for value in case.operands):
            continue  # no constant is so long
        tree, expected = parse_expression(Source("test", case.constant)), case.expected
        if operation.gives in ("widest", "int") and type(expected) is int and not -(2**31) <= expected < 2**31:
            expected = NO_VALUE
        for compute in (evaluate, evaluate_state):
            if expected == NO_VALUE:
                with pytest.raises(EvaluationError):
                    compute(tree, {})
                continue
            found = compute(tree, {})
            assert type(found) is not int or type(expected) is int
            # A power of constants is rounded once, which libraries do not promise.
            near = operation.rounded_alike is False and math.isclose(found, expected, rel_tol=1e-15)
            assert same(found, expected) or near, case.constant


@every_operation
def test_the_graph_folds(operation: Operation) -> None:
    assert wrong_in_graph([case.condition for case in with_value(operation)]) == []


@every_operation
def test_the_core(operation: Operation) -> None:
    assert wrong_in_core([case.condition for case in with_value(operation)]) == []


@every_operation
def test_arrays(operation: Operation) -> None:
    if operation.op is not None and operation.rounded_alike:
        assert vectorised.function(np, operation) is not None
    assert wrong_in_arrays([case.condition for case in with_value(operation)]) == []


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_the_text_for_a_device() -> None:
    conditions = [case.condition for operation in OPERATIONS for case in with_value(operation, COMPILED)]
    alone = [c for row in OPERATIONS if row.rounded_alike for c in (x.condition for x in with_value(row, COMPILED))]
    assert wrong_in_cuda([*conditions, *map(one_by_one, alone)]) == []


@pytest.mark.parametrize("operation", [row for row in OPERATIONS if row.domain], ids=name_of)
def test_no_value_is_an_error_in_a_state(operation: Operation) -> None:
    without = [case for case in cases(operation) if operation.lacks_value(case.operands)]
    assert without
    assert operation.domain is not None
    for case in random.Random(1).sample(without, min(12, len(without))):
        with pytest.raises(galton.GaltonError, match=operation.domain.complaint):
            program_of([f"{case.in_state} > 0"]).build(threads=1)
    if shutil.which("g++"):
        with pytest.raises(ProgramFault):
            played_explorer.explore(lower(program_of([f"{without[0].in_state} > 0"])))


def test_integers_that_are_too_long_are_an_error_in_a_state() -> None:
    long = [case for row in OPERATIONS for case in cases(row) if row.lengthens and case.expected == NO_VALUE]
    for case in random.Random(2).sample(long, 30):
        with pytest.raises(galton.GaltonError, match=r"overflow|too large"):
            program_of([f"{case.in_state} > 0"]).build(threads=1)


# Intervals


def bounded(value: Value) -> Truth | Numbers:
    return Truth.exactly(value) if isinstance(value, bool) else Numbers.exactly(value, integral=isinstance(value, int))


def contains(found: Truth | Numbers, expected: Value) -> bool:
    if isinstance(found, Truth):
        return bool((not found.must) | expected) and bool(found.may | (not expected))
    if math.isnan(expected):
        return bool(np.isnan(found.lower) or np.isnan(found.upper) or (found.lower, found.upper) == (-np.inf, np.inf))
    return bool(found.lower <= expected <= found.upper)


@every_operation
def test_intervals_of_known_operands(operation: Operation) -> None:
    for case in cases(operation):
        operands = [bounded(value) for value in case.operands]
        fine = intervals.has_value(operation, operands)
        assert (fine is None or bool(fine)) is not operation.lacks_value(case.operands), case
        if case.expected != NO_VALUE:
            found = operation.apply(intervals.apply, *operands)
            assert contains(found, case.expected), (case.operands, found)
            if isinstance(found, Truth):
                assert bool(found.must) is bool(found.may)


@pytest.mark.parametrize(
    "operation", [row for row in OPERATIONS if row.takes in ("int", "number", "alike")], ids=name_of
)
def test_intervals_hold_what_is_inside(operation: Operation) -> None:
    source = random.Random(name_of(operation))
    pool: list[float] = [float(n) for n in INTEGERS] if operation.takes == "int" else FINITE
    for _ in range(400):
        boxes = [sorted(source.choices(pool, k=2)) for _ in range(operation.arity)]
        operands = [Numbers(np.float64(low), np.float64(high), operation.takes == "int") for low, high in boxes]
        fine = intervals.has_value(operation, operands)
        if fine is not None and not fine:
            continue
        found = operation.apply(intervals.apply, *operands)
        inside = [[low, high, *(v for v in pool if low < v < high)] for low, high in boxes]
        for values in product(*(source.sample(points, min(5, len(points))) for points in inside)):
            expected = operation.doubles(*values)
            assert math.isnan(expected) or contains(found, expected), (boxes, values, expected, found)


def test_a_function_that_is_only_in_the_table_gets_its_bounds() -> None:
    cube_root = Operation(
        text=("cbrt",),
        about="the cube root",
        arity=1,
        takes="number",
        gives="double",
        doubles=math.cbrt,
        array="cbrt",
        monotone=True,
        op=Op.LOG,
    )
    found = intervals.monotone(cube_root, Numbers(np.float64(-8.0), np.float64(3.0)))
    assert found.lower < -2
    assert Fraction(found.lower) ** 3 <= -8
    assert Fraction(found.upper) ** 3 >= 3
    assert found.upper - found.lower < 3.45
    assert intervals.monotone(cube_root, Numbers.exactly(math.inf)).lower == math.inf
    assert not intervals.monotone(cube_root, Numbers.exactly(8, integral=True)).integral


# What was wrong once


@pytest.mark.parametrize(
    ("text", "expected"), [("pow(-10.0, 309) < 0", True), ("pow(1.0, 1/0) = 1", False), ("pow(1.0, 0/0) = 1", False)]
)
def test_powers_were_different_as_constants_folded_and_in_the_core(text: str, expected: bool) -> None:
    assert evaluate(parse_expression(Source("test", text)), {}) is expected
    in_a_state = text.replace("-10.0", "(x=0 ? -10.0 : 1.0)").replace("1.0,", "(x=0 ? 1.0 : 2.0),")
    assert (wrong_in_core([in_a_state]) == []) is expected


def test_a_device_rounded_the_largest_double_below_a_half_up() -> None:
    assert wrong_in_arrays(["round((1-x)*0.49999999999999994) = 0"]) == []


def test_zero_was_negative_as_an_integer_that_may_be_long_became_a_double() -> None:
    text = 'dtmc module m x : [0..2147483647]; [] x<1 -> (x\'=x+1); endmodule label "l" = 1/((x * -3) * 1.0) > 0;'
    assert build(text).labels["l"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("base", "exponent", "inside"),
    [((-3.0, 1.0), (1.0, 3.0), 9.0), ((-2.0, 3.0), (-1.0, -1.0), 1e9)],
)
def test_bounds_of_powers_left_out_whole_exponents_of_negative_numbers_and_poles(
    base: tuple[float, float], exponent: tuple[float, float], inside: float
) -> None:
    a, b = (Numbers(np.float64(low), np.float64(high)) for low, high in (base, exponent))
    found = intervals.power(a, b)
    assert found.lower <= inside <= found.upper


@pytest.mark.parametrize(("op", "infinite"), [(Op.MIN, -math.inf), (Op.MAX, math.inf)])
@pytest.mark.parametrize("zeros", [(0.0, -0.0), (-0.0, 0.0)])
def test_bounds_of_an_extreme_lost_the_sign_of_a_zero(op: Op, infinite: float, zeros: tuple[float, float]) -> None:
    zero = intervals.apply(op, *map(Numbers.exactly, zeros))
    found = Numbers.exactly(1.0) / zero
    assert (float(found.lower), float(found.upper)) == (infinite, infinite)
