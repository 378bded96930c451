from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from galton.lang import EvaluationError, Source, Value, evaluate, parse_expression
from galton.lang.types import type_of_value

INT = st.integers(-(2**31), 2**31 - 1)


def value(text: str, **names: Value) -> Value:
    return evaluate(parse_expression(Source("test", text)), names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7/2", 3.5),
        ("4/2", 2.0),
        ("1/0", math.inf),
        ("-1/0", -math.inf),
        ("1/-0.0", -math.inf),
        ("pow(2,3)", 8),
        ("2^3", 8),
        ("-2^2", -4),
        ("2^3^2", 512),
        ("2^-1.0", 0.5),
        ("pow(0.5,2)", 0.25),
        ("(1/4)^(1/2)", 0.5),
        ("pow(-2,31)", -(2**31)),
        ("pow(1,2000000000)", 1),
        ("pow(0.0,-1)", math.inf),
        ("pow(-0.0,-1.0)", -math.inf),
        ("pow(10.0,400)", math.inf),
        ("pow(-10.0,401)", -math.inf),
        ("mod(7,5)", 2),
        ("mod(-3,5)", 2),
        ("mod(-5,5)", 0),
        ("floor(-1.5)", -2),
        ("ceil(-1.5)", -1),
        ("round(1.5)", 2),
        ("round(2.5)", 3),
        ("round(-1.5)", -1),
        ("round(-2.5)", -2),
        ("round(0.49999999999999994)", 0),
        ("floor(3)", 3),
        ("log(8,2)", 3.0),
        ("log(0,2)", -math.inf),
        ("min(3,1,2)", 1),
        ("max(3,1.0)", 3.0),
        ("max(7)", 7),
        ("true ? 1 : 0.5", 1.0),
        ("1 = 1.0", True),
        ("true <=> false", False),
        ("false => true", True),
        ("1 - 2 - 3", -4),
    ],
)
def test_values(text: str, expected: Value) -> None:
    found = value(text)
    assert found == expected
    assert type_of_value(found) == type_of_value(expected)


@pytest.mark.parametrize(
    "text", ["0/0", "pow(-8.0,1/3)", "log(-1,2)", "log(2,1)", "log(2,-1)", "min(1,0/0)", "1.0^(1/0)"]
)
def test_not_a_number(text: str) -> None:
    found = value(text)
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pow(2,-1)", "negative exponent"),
        ("2^-1", "negative exponent"),
        ("mod(1,0)", "positive divisor"),
        ("mod(1,-2)", "positive divisor"),
        ("2147483647 + 1", "32-bit"),
        ("-2147483647 - 2", "32-bit"),
        ("65536 * 65536", "32-bit"),
        ("2^31", "32-bit"),
        ("3^1000000000", "32-bit"),
        ("floor(3000000000.0)", "32-bit"),
        ("round(1/0)", "inf"),
        ("ceil(0/0)", "nan"),
        ("x", "no value"),
    ],
)
def test_no_value(text: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x=0 | pow(2,x-1)>0", True),
        ("x!=0 & pow(2,x-1)>0", False),
        ("x!=0 => pow(2,x-1)>0", True),
        ("x>0 ? pow(2,x-1) : 0", 0),
    ],
)
def test_the_right_side_waits_until_it_matters(text: str, expected: Value) -> None:
    assert value(text, x=0) == expected
    assert value(text.replace("x", "(x+1)"), x=0) is not None  # and is looked at when it does


@given(INT, st.integers(1, 2**31 - 1))
def test_mod_is_the_mathematical_one(a: int, n: int) -> None:
    found = value("mod(a,n)", a=a, n=n)
    assert 0 <= found < n
    assert (a - found) % n == 0


@given(st.floats(-1e9, 1e9))
def test_rounding_is_exact(x: float) -> None:
    exact = Fraction(x)
    assert value("floor(x)", x=x) == exact.__floor__()
    assert value("ceil(x)", x=x) == exact.__ceil__()
    assert value("round(x)", x=x) == (exact + Fraction(1, 2)).__floor__()


@given(INT, INT)
def test_integers_are_exact_or_refused(a: int, b: int) -> None:
    for operator, exact in (("+", a + b), ("-", a - b), ("*", a * b)):
        if -(2**31) <= exact < 2**31:
            assert value(f"a{operator}b", a=a, b=b) == exact
        else:
            with pytest.raises(EvaluationError):
                value(f"a{operator}b", a=a, b=b)
