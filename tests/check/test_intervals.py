"""Numbers with bounds: whatever is computed from them must contain the exact result, and exact stays exact."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from played import played_device

from galton.checking import intervals
from galton.checking.intervals import Numbers, Truth
from galton.device.arrays import on_host
from galton.lang.operations import FUNCTIONS, Op

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6)


def interval(a: float, b: float) -> Numbers:
    return Numbers(np.asarray(min(a, b)), np.asarray(max(a, b)))


def inside(value: Fraction, numbers: Numbers) -> bool:
    return Fraction(float(numbers.lower)) <= value <= Fraction(float(numbers.upper))


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_sums_differences_products_and_quotients_hold_the_exact_ones(a: float, b: float, c: float, d: float) -> None:
    one, other = interval(a, b), interval(c, d)
    for x in (a, b):
        for y in (c, d):
            p, q = Fraction(x), Fraction(y)
            assert inside(p + q, one + other)
            assert inside(p - q, one - other)
            assert inside(p * q, one * other)
            if min(c, d) > 0 or max(c, d) < 0:
                assert inside(p / q, one / other)


@given(st.integers(-1000, 1000), st.integers(-1000, 1000), st.integers(1, 1000))
def test_what_is_exact_stays_exact(a: int, b: int, c: int) -> None:
    x, y, z = (Numbers.exactly(float(n)) for n in (a, b, c))
    for found, expected in ((x + y, a + b), (x - y, a - b), (x * y, a * b), ((x * z) / z, a)):
        assert (float(found.lower), float(found.upper)) == (expected, expected)


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.integers(0, 6))
def test_powers(a: float, b: float, n: int) -> None:
    found = intervals.power(interval(a, b), Numbers.exactly(float(n)))
    assert inside(Fraction(a) ** n, found)
    assert inside(Fraction(b) ** n, found)


def test_powers_of_negative_numbers() -> None:
    square = intervals.power(interval(-2.0, 3.0), Numbers.exactly(2.0))
    assert (float(square.lower), float(square.upper)) == (0, 9)
    cube = intervals.power(interval(-2.0, 3.0), Numbers.exactly(3.0))
    assert (float(cube.lower), float(cube.upper)) == (-8, 27)


def test_powers_without_end() -> None:
    """Bounds were no numbers, and NumPy said so to people: the slack of an infinite power was 0 · ∞."""
    found = intervals.power(interval(0.0, 1.0), Numbers.exactly(-1.0))
    assert (found.lower, found.upper) == (pytest.approx(1.0), math.inf)


def test_logarithms() -> None:
    found = intervals.logarithm(interval(8.0, 16.0), Numbers.exactly(2.0))
    assert float(found.lower) <= 3
    assert float(found.upper) >= 4
    assert float(found.upper - found.lower) == pytest.approx(1)


@pytest.mark.parametrize(
    ("how", "low", "high", "expected"),
    [
        ("floor", 1.2, 1.9, (1, 1)),
        ("ceil", 1.2, 2.1, (2, 3)),
        ("round", 0.5, 1.4, (1, 1)),
        ("round", -0.5, -0.5, (0, 0)),
    ],
)
def test_rounding(how: str, low: float, high: float, expected: tuple[int, int]) -> None:
    found = intervals.apply(FUNCTIONS[how].op, interval(low, high))
    assert (float(found.lower), float(found.upper)) == expected


@pytest.mark.parametrize(
    ("operator", "a", "b", "must", "may"),
    [
        ("<", (0, 1), (2, 3), True, True),
        ("<", (0, 1), (1, 2), False, True),
        ("<=", (0, 1), (1, 2), True, True),
        (">", (0, 1), (1, 2), False, False),
        (">=", (0, 1), (1, 2), False, True),
        ("=", (1, 1), (1, 1), True, True),
        ("=", (0, 1), (1, 1), False, True),
        ("!=", (0, 1), (2, 2), True, True),
        ("!=", (1, 1), (1, 1), False, False),
    ],
)
def test_comparisons(operator: str, a: tuple[float, float], b: tuple[float, float], must: bool, may: bool) -> None:
    found = intervals.compare(operator, interval(*a), interval(*b))
    assert (bool(found.must), bool(found.may)) == (must, may)


def test_infinity_is_exact() -> None:
    infinite = Numbers.exactly(math.inf)
    assert float((infinite + Numbers.exactly(1.0)).lower) == math.inf
    assert float((infinite * Numbers.exactly(2.0)).lower) == math.inf
    assert float((Numbers.exactly(1.0) / infinite).upper) == 0


def test_division_around_zero_can_give_anything() -> None:
    found = Numbers.exactly(1.0) / interval(-1.0, 1.0)
    assert (float(found.lower), float(found.upper)) == (-math.inf, math.inf)


def test_truth_with_three_values() -> None:
    yes, no = Truth.exactly(True), Truth.exactly(False)
    perhaps = Truth(np.asarray(False), np.asarray(True))
    assert not (yes & no).may
    assert (yes | perhaps).must
    assert (yes & perhaps).undecided
    assert (~perhaps).undecided
    assert not (no & perhaps).undecided
    assert perhaps.iff(yes).undecided


def test_a_choice_by_a_condition_that_is_not_decided() -> None:
    condition = Truth(np.array([True, False, False]), np.array([True, True, False]))
    found = intervals.choose(condition, Numbers.exactly(1.0), Numbers.exactly(2.0))
    assert found.lower.tolist() == [1, 1, 2]
    assert found.upper.tolist() == [1, 2, 2]


def test_a_difference_of_infinities_that_need_not_be_met_was_no_number() -> None:
    found = interval(-4.0, math.inf) - Numbers.exactly(math.inf)
    assert (float(found.lower), float(found.upper)) == (-math.inf, math.inf)


NUMERIC = [Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MIN, Op.MAX, Op.MOD, Op.POW, Op.LOG, Op.EQ, Op.LT, Op.LE]
LOGICAL = [Op.AND, Op.OR, Op.IFF]


@pytest.mark.parametrize("op", [*NUMERIC, *LOGICAL, Op.ITE], ids=lambda op: op.name)
def test_a_number_beside_an_array_on_a_device(op: Op) -> None:
    """On either side of it, and NumPy has no part in that."""
    one, many = interval(2.0, 3.0), np.array([1.0, 2.0, 3.0, 4.0])
    truth, truths = Truth(np.bool_(False), np.bool_(True)), np.array([True, False, True, False])

    def found(place: Any) -> list[Any]:
        numbers, mask = Numbers.exactly(place.asarray(many)), Truth.exactly(place.asarray(truths))
        ways: list[tuple[Truth | Numbers, ...]] = [(one, numbers), (numbers, one)]
        if op is Op.ITE:
            ways = [(truth, numbers, one), (truth, one, numbers), (mask, one, one)]
        elif op in LOGICAL:
            ways = [(truth, mask), (mask, truth)]
        return [[on_host(bound).tolist() for bound in intervals.apply(op, *way).bounds] for way in ways]

    with played_device() as cupy:
        np.testing.assert_array_equal(found(cupy), found(np))
