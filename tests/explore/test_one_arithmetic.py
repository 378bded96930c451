"""Every operation of the language has one value, whoever computes it.

Constants (:mod:`galton.lang.evaluation`), the folding of the expression graph, the core's tapes and its evaluation of
single states, arrays (:mod:`galton.explore.vectorised`), the CUDA text, and the intervals of properties are asked for
the same operation on the same doubles. What is expected is written here: IEEE arithmetic by NumPy, and the rules of
``java.lang.Math``. The doubles are those that hurt.
"""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import serial_kernels

import galton
from galton.check import intervals
from galton.check.intervals import Numbers
from galton.explore import vectorised
from galton.explore.lower import ExpressionLowering, lower
from galton.lang import EvaluationError, Source, Value, evaluate, parse_expression
from galton.lang.operations import FUNCTIONS, Op
from galton.model.states import PackedStates

Pair = tuple[float, float]

FINITE = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.0, -7.0, 309.0, 0.1),
    *(0.49999999999999994, 0.5000000000000001, -0.49999999999999994, -0.5000000000000001, 1.5),
    *(
        2.0**31 - 0.5,
        2.0**52 + 0.5,
        2.0**53,
        2.0**53 + 2,
        -(2.0**53) - 2,
        -10.0,
        1e200,
        1e308,
        -1e308,
        1e-200,
        2.0**-1074,
    ),
]
DOUBLES = [*FINITE, math.inf, -math.inf, math.nan]
INTEGERS = [0, 1, -1, 2, -2, 3, -7, 10, 2**31 - 1, -(2**31) + 1]
CHOSEN = 25  # pairs of each operation that a compiler is asked about
TRIED = 250  # pairs of each operation that explorers are
HARD = [(-10.0, 309.0), (1.0, math.inf), (1.0, math.nan), (0.0, -0.0), (-0.0, 0.0), (-1.0, -math.inf), (math.inf, 0.5)]


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


def once_rounded(a: float, b: float) -> float:
    """A power of constants: whole powers are exact before they are rounded, which libraries do not promise."""
    if not (math.isfinite(a) and a and abs(b) < 10 and b == int(b)):
        return java_power(a, b)
    exact = Fraction(a) ** int(b)
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def java_extreme(a: float, b: float, sign: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return min((a, b), key=lambda x: (sign * x, sign * math.copysign(1, x)))


def java_log(a: float, base: float) -> float:
    """PRISM's: a quotient of ``Math.log``, and no number for strange bases."""
    if not base > 0 or base == 1 or math.isinf(base):
        return math.nan
    with np.errstate(all="ignore"):
        return float(np.float64(_log(a)) / np.float64(math.log(base)))


def _log(a: float) -> float:
    return math.nan if math.isnan(a) or a < 0 else -math.inf if a == 0 else math.log(a)


def ieee(operation: np.ufunc) -> Callable[[float, float], float]:
    def apply(a: float, b: float) -> float:
        with np.errstate(all="ignore"):
            return float(operation(np.float64(a), np.float64(b)))

    return apply


ARITHMETIC: dict[str, tuple[Callable[[float, float], float], Callable[[Numbers, Numbers], Numbers]]] = {
    "({}) + ({})": (ieee(np.add), lambda a, b: a + b),
    "({}) - ({})": (ieee(np.subtract), lambda a, b: a - b),
    "({}) * ({})": (ieee(np.multiply), lambda a, b: a * b),
    "({}) / ({})": (ieee(np.divide), lambda a, b: a / b),
    "({}) ^ ({})": (java_power, intervals.power),
    "pow({}, {})": (java_power, intervals.power),
    "log({}, {})": (java_log, intervals.logarithm),
    "min({}, {})": (lambda a, b: java_extreme(a, b, 1), lambda a, b: intervals.apply(Op.MIN, a, b)),
    "max({}, {})": (lambda a, b: java_extreme(a, b, -1), lambda a, b: intervals.apply(Op.MAX, a, b)),
    "true ? ({}) : ({})": (lambda a, b: a, lambda a, b: intervals.choose(intervals.Truth.exactly(True), a, b)),
}
COMPARISONS: dict[str, np.ufunc] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
LOGIC: dict[str, Callable[[bool, bool], bool]] = {
    "&": lambda a, b: a and b,
    "|": lambda a, b: a or b,
    "=>": lambda a, b: not a or b,
    "<=>": lambda a, b: a == b,
}


def text_of(value: float) -> str:
    """An expression whose value is exactly this double."""
    if math.isnan(value):
        return "0/0"
    if math.isinf(value):
        return "1/0" if value > 0 else "-1/0"
    digits = format(Decimal(abs(value)), "f")
    if len(digits) > 900:  # longer literals are rounded as they are read
        exponent = max(math.frexp(value)[1] - 53, -1074)
        digits = f"({math.ldexp(abs(value), -exponent):.1f} * pow(2.0, {exponent}))"
    digits = digits if "." in digits else f"{digits}.0"
    return f"-{digits}" if math.copysign(1, value) < 0 else digits


def in_state(text: str) -> str:
    """The same value, where x is 0, of an expression that depends on the state."""
    return f"(x=0 ? {text} : 0.25)"


def says(expression: str, expected: float) -> str:
    """A condition that an expression has a value, the sign of a zero included."""
    if math.isnan(expected):
        return f"({expression}) != ({expression})"
    same = f"({expression}) = ({text_of(expected)})"
    return f"{same} & 1/({expression}) = 1/({text_of(expected)})" if expected == 0 else same


def one_by_one(condition: str) -> str:
    """The same condition as part of one that may have no value, so that the core looks at single states."""
    return f"(x=1 ? mod(1, x)=0 : {condition})"


def same(found: Value, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(found)
    return found == expected and math.copysign(1, found) == math.copysign(1, expected)


def contains(found: Numbers, expected: float) -> bool:
    if math.isnan(expected):
        return bool(np.isnan(found.lower) or np.isnan(found.upper) or (found.lower, found.upper) == (-np.inf, np.inf))
    return bool(found.lower <= expected <= found.upper)


def program_of(conditions: list[str]) -> galton.Program:
    labels = " ".join(f'label "l{k}" = {condition};' for k, condition in enumerate(conditions))
    return galton.parse(f"dtmc module m x : [0..1] init 0; [] x=0 -> (x'=1); [] x=1 -> true; endmodule {labels}")


def wrong_in_core(conditions: list[str]) -> list[str]:
    """The conditions that do not hold where x is 0."""
    labels = program_of(conditions).build(threads=1).labels
    return [condition for k, condition in enumerate(conditions) if not labels[f"l{k}"][0]]


def wrong_in_arrays(conditions: list[str]) -> list[str]:
    program = program_of(conditions)
    model = program.build(threads=1)
    assert isinstance(model.states, PackedStates)
    lowering = ExpressionLowering(program)
    wrong = []
    for condition, expression in zip(conditions, program.labels.values(), strict=True):
        node = lowering.node(expression)
        if not vectorised.possible(lowering.graph, node):
            continue
        if not vectorised.evaluate(lowering.graph, node, model.states.fields, model.states.words)[0]:
            wrong.append(condition)
    return wrong


def wrong_in_cuda(conditions: list[str]) -> list[str]:
    labels = serial_kernels.explore(lower(program_of(conditions))).labels
    return [condition for k, condition in enumerate(conditions) if not labels[f"l{k}"][0]]


def constant(text: str) -> Value:
    return evaluate(parse_expression(Source("test", text)), {})


def arithmetic_conditions(operation: str, pairs: list[Pair]) -> list[str]:
    expected = ARITHMETIC[operation][0]
    return [says(operation.format(*(in_state(text_of(v)) for v in pair)), expected(*pair)) for pair in pairs]


def all_pairs(values: list[float]) -> list[Pair]:
    return [(a, b) for a in values for b in values]


@pytest.mark.parametrize("operation", ARITHMETIC)
def test_arithmetic_has_one_value(operation: str) -> None:
    expected, enclosed = ARITHMETIC[operation]
    pairs = all_pairs(DOUBLES)
    texts = [operation.format(*map(text_of, pair)) for pair in pairs]
    rounded = once_rounded if expected is java_power else expected
    assert [text for text, pair in zip(texts, pairs, strict=True) if not same(constant(text), rounded(*pair))] == []
    with np.errstate(all="ignore"):
        bounds = [enclosed(Numbers.exactly(a), Numbers.exactly(b)) for a, b in pairs]
    assert [p for p, found in zip(pairs, bounds, strict=True) if not contains(found, expected(*p))] == []
    pairs = [*HARD, *random.Random(operation).sample(pairs, TRIED)]
    conditions = arithmetic_conditions(operation, pairs)
    assert wrong_in_core(conditions) == []
    assert wrong_in_core([one_by_one(condition) for condition in conditions]) == []
    assert wrong_in_arrays(conditions) == []
    frozen = [condition.replace("x=0", "z=0") for condition in conditions]  # z never changes: the graph folds it
    text = " ".join(f'label "l{k}" = {condition};' for k, condition in enumerate(frozen))
    labels = galton.parse(f"dtmc module m z : [0..1]; [] true -> true; endmodule {text}").build(threads=1).labels
    assert [c for k, c in enumerate(frozen) if not labels[f"l{k}"][0]] == []


@pytest.mark.parametrize("operator", COMPARISONS)
def test_comparisons_have_one_value(operator: str) -> None:
    pairs = [*HARD, *random.Random(operator).sample(all_pairs(DOUBLES), TRIED)]
    truths = [bool(COMPARISONS[operator](a, b)) for a, b in pairs]
    found = [constant(f"({text_of(a)}) {operator} ({text_of(b)})") for a, b in pairs]
    assert found == truths
    for pair, truth in zip(pairs, truths, strict=True):
        answer = intervals.compare(operator, *map(Numbers.exactly, pair))
        assert (bool(answer.must), bool(answer.may)) == (truth, truth)
    conditions = [
        f"({in_state(text_of(a))} {operator} {in_state(text_of(b))}) = {str(truth).lower()}"
        for (a, b), truth in zip(pairs, truths, strict=True)
    ]
    assert wrong_in_core(conditions) == []
    assert wrong_in_core([one_by_one(condition) for condition in conditions]) == []
    assert wrong_in_arrays(conditions) == []


def rounding_conditions() -> list[str]:
    """Integers of the language end at 2^53 in states."""
    wanted = {"floor": math.floor, "ceil": math.ceil, "round": lambda v: math.floor(v + Decimal("0.5"))}
    return [
        says(f"{name}({in_state(text_of(v))})", float(wanted[name](Decimal(v))) + 0.0)
        for name in wanted
        for v in FINITE
        if abs(v) < 2.0**53
    ]


def test_rounding_has_one_value() -> None:
    """Adding a half would round the largest double below one half up."""
    for value in FINITE:
        exact = Decimal(value)
        for name, expected in (
            ("floor", math.floor(exact)),
            ("ceil", math.ceil(exact)),
            ("round", math.floor(exact + Decimal("0.5"))),
        ):
            bounds = intervals.apply(FUNCTIONS[name].op, Numbers.exactly(value))
            if abs(value) < 2.0**52:  # beyond, every double is an integer
                assert bounds.lower == bounds.upper == expected
            if abs(expected) < 2**31:
                assert constant(f"{name}({text_of(value)})") == expected
            else:
                with pytest.raises(EvaluationError):
                    constant(f"{name}({text_of(value)})")
    conditions = rounding_conditions()
    assert wrong_in_core(conditions) == []
    assert wrong_in_core([one_by_one(condition) for condition in conditions]) == []
    assert wrong_in_arrays(conditions) == []


def integer_conditions() -> list[str]:
    found = []
    for a in INTEGERS:
        for b in INTEGERS:
            one, other = f"(x=0 ? {a} : 1)", f"(x=0 ? {b} : 1)"
            found += [f"{one} {o} {other} = {v}" for o, v in (("+", a + b), ("-", a - b)) if abs(v) < 2**31]
            if abs(a * b) < 2**31:
                found.append(f"{one} * {other} = {a * b}")
            if b > 0:
                found.append(f"mod({one}, {other}) = {a % b}")
            if 0 <= b < 32 and abs(a) ** b < 2**31:
                found.append(f"pow({one}, {other}) = {a**b}")
            if b:
                found.append(f"1/(0*{one}/{other}) != -1/0")  # an integer has no -0, whoever multiplies
            found += [f"min({one}, {other}) = {min(a, b)}", f"max({one}, {other}) = {max(a, b)}", f"-{one} = {-a}"]
    return found


def test_integers_have_one_value() -> None:
    conditions = [c for c in integer_conditions() if "1/0" not in c]
    for condition in conditions:
        assert constant(condition.replace("x=0", "true")) is True
    assert wrong_in_core(conditions) == []
    assert wrong_in_core([one_by_one(condition) for condition in conditions]) == []
    assert wrong_in_arrays(conditions) == []


def test_logic_has_one_value() -> None:
    for operator, expected in LOGIC.items():
        for a in (False, True):
            for b in (False, True):
                condition = f"((x=0) = {str(a).lower()}) {operator} ((x=0) = {str(b).lower()})"
                meant = f"({condition}) = {str(expected(a, b)).lower()}"
                assert constant(meant.replace("x=0", "true")) is True
                assert wrong_in_core([meant, one_by_one(meant), f"!(!({meant}))"]) == []
                assert wrong_in_arrays([meant]) == []


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_the_cuda_text_means_the_same() -> None:
    source = random.Random(1)
    conditions = rounding_conditions() + source.sample([c for c in integer_conditions() if "1/0" not in c], 60)
    for operation in ARITHMETIC:
        conditions += arithmetic_conditions(operation, source.sample(all_pairs(DOUBLES), CHOSEN))
        conditions += arithmetic_conditions(operation, HARD)
    assert wrong_in_cuda(conditions) == []


@pytest.mark.parametrize(
    ("text", "expected"), [("pow(-10.0, 309) < 0", True), ("pow(1.0, 1/0) = 1", False), ("pow(1.0, 0/0) = 1", False)]
)
def test_powers_were_different_as_constants_folded_and_in_the_core(text: str, expected: bool) -> None:
    assert constant(text) is expected
    in_a_state = text.replace("-10.0", "(x=0 ? -10.0 : 1.0)").replace("1.0,", "(x=0 ? 1.0 : 2.0),")
    assert (wrong_in_core([in_a_state]) == []) is expected
    assert (wrong_in_core([one_by_one(in_a_state)]) == []) is expected


def test_a_device_rounded_the_largest_double_below_a_half_up() -> None:
    assert wrong_in_arrays(["round((1-x)*0.49999999999999994) = 0"]) == []
