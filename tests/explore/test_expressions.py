"""PRISM's expressions in corners that random programs seldom reach, each with its value beside it."""

from __future__ import annotations

import pytest
from small_models import build, holds, refused, table

# Expressions


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("mod(x, 3)", "2"),  # x is -7
        ("mod(x, 7)", "0"),
        ("mod(-x, 3)", "1"),
        ("mod(x, 1)", "0"),
        ("floor(x/2)", "-4"),
        ("ceil(x/2)", "-3"),
        ("round(x/2)", "-3"),  # -3.5: halves go up
        ("round(-x/2)", "4"),
        ("round((x+2)/2)", "-2"),  # -2.5
        ("round(x+6.5)", "0"),  # -0.5
        ("floor(x+6.5)", "-1"),
        ("ceil(x+6.5)", "0"),
        ("floor(x)", "-7"),
        ("round(x/x*0.49999999999999994)", "0"),  # adding a half would round up to 1
        ("pow(x, 3)", "-343"),
        ("x^2", "49"),
        ("-x^2", "-49"),
        ("pow(x, 0)", "1"),
        ("pow(x+7, 0)", "1"),
        ("pow(2, x+7)", "1"),
        ("pow(2.0, x+6)", "0.5"),
        ("pow(4, 0.5)", "2"),
        ("pow(-x, 1.0)", "7"),
        ("log(8, 2)", "3"),
        ("log(x+8, 10)", "0"),
        ("min(x, 2, -8)", "-8"),
        ("max(x, -7.5)", "-7"),
        ("min(x, 0.5)*2", "-14"),
        ("x/2", "-3.5"),
        ("7/x", "-1"),
        ("(x+10)/4*4", "3"),
        ("10-4-x", "13"),
        ("2^3^2", "512"),
        ("(x<0 ? 1 : 0.5)/2", "0.5"),
        ("(x>0 ? 1 : 0.5)/2", "0.25"),
        ("(x<0 ? x : x/2)", "-7"),
    ],
)
def test_arithmetic(expression: str, expected: str) -> None:
    assert holds(f"{expression} = {expected}", "x : [-10..10] init -7;")
    assert holds(f"{expression} = {expected}", "y : [0..1];", before="const int x = -7;")


@pytest.mark.parametrize(
    "condition",
    [
        "x/(x+7) < 0",  # -7/0 is minus infinity
        "!(0/(x+7) < 1) & !(0/(x+7) >= 1)",  # not a number
        "0/(x+7) != 0/(x+7)",
        "pow(x, 0.5) != pow(x, 0.5)",
        "log(x, 2) != log(x, 2)",
        "log(x+7, 2) < -1e300",
        "max(1, log(x, 2)) != 1",  # not a number either
        "max(log(x, 2), 1) != 1",
        "min(1, log(x, 2)) != 1",
        "min(log(x, 2), 1) != 1",
        "1/(x+7) > 1e300",
        "1/(x+7) != 1e300",
        "1/(x+7) > 1.7e308",
        "x*1e300 < -1e300",  # large, and nothing else
        "x*1e300 != -1e300",
        "x*1e300*1e300 < -1.7e308",
        "pow(x+7.0, x) < -1e300 | pow(x+7.0, x) > 1e300",
    ],
)
def test_doubles_that_are_huge_infinite_or_no_numbers(condition: str) -> None:
    assert holds(condition, "x : [-10..10] init -7;")


@pytest.mark.parametrize(
    ("exponent", "why"),
    [
        ("x-1.0", "a double literal"),
        ("(x-1)*1.0", "times one"),
        ("1.0*(x-1)", "times one"),
        ("(x-1)+0.0", "plus zero"),
        ("0.0+(x-1)", "plus zero"),
        ("(x-1)-0.0", "minus zero"),
        ("(x-1)/1", "a quotient"),
        ("-1/1", "a quotient of literals"),
        ("-2/2.0", "a quotient of literals"),
        ("(true ? x-1 : 0.5)", "the other branch is a double"),
        ("(x=0 ? x-1 : 0.5)", "the other branch is a double"),
        ("(x=9 ? 0.5 : x-1)", "the other branch is a double, and never taken"),
        ("min(x-1, 2.0)", "the other argument is a double"),
    ],
)
def test_a_double_stays_a_double(exponent: str, why: str) -> None:
    """2 to the power of minus 1 is one half for a double and an error for an integer."""
    assert holds(f"pow(2, {exponent}) = 0.5"), why


def test_the_type_of_a_literal_does_not_depend_on_others() -> None:
    """Minus one is an integer that becomes a double in the first label, and a double in the second."""
    text = 'dtmc module m x : [0..2]; [] true -> true; endmodule label "a" = -1/2<=x; label "b" = pow(2, -1.0)=0.5;'
    assert build(text).labels["b"].tolist() == [True]


def test_literals_of_different_types_are_different() -> None:
    text = 'dtmc module m x : [0..1]; [] true -> true; endmodule label "a" = pow(x+2, {})=0.5; label "b" = {};'
    assert build(text.format("-1.0", "x-1=-1")).labels["a"].tolist() == [True]
    assert "(x=0)" in refused(text.format("-1.0", "pow(x+2, -1)=0.5"))
    assert "(x=0)" in refused(text.format("-1", "pow(x+2, -1.0)=0.5"))


@pytest.mark.parametrize(
    "guard", ["y!=0 & mod(x,y)=1", "!(y=0 | mod(x,y)!=1)", "!(y!=0 => mod(x,y)!=1)", "(y=0 ? 0 : mod(x,y))=1"]
)
def test_the_right_side_is_not_looked_at_when_the_left_decides(guard: str) -> None:
    text = f"""mdp module m x : [0..5] init 5; y : [0..4] init 4;
      [a] {guard} -> true;
      [] y>0 -> (y'=y-1);
    endmodule"""
    enabled = [y for (_, y), choices in table(text).items() if any(action == "a" for action, _ in choices)]
    assert enabled == [2, 4]


@pytest.mark.parametrize("guard", ["mod(x,y)=1 & y!=0", "mod(x,y)=1 | y=0", "mod(x,y)=1 => y=0", "mod(x,y)=1 <=> y=0"])
def test_the_left_side_is_always_looked_at(guard: str) -> None:
    text = f"mdp module m x : [0..5] init 5; y : [0..1] init 1; [a] {guard} -> true; [] y>0 -> (y'=y-1); endmodule"
    assert "(x=5, y=0)" in refused(text)


def test_guards_protect_probabilities_and_updates() -> None:
    text = """dtmc module m x : [0..3] init 3; y : [0..3] init 3;
      [] x>0 -> 1/x : (x'=x-1) & (y'=mod(y, x)) + 1-1/x : (x'=x-1);
      [] x=0 -> true;
    endmodule"""
    assert table(text)[(3, 3)] == [("", {(2, 0): pytest.approx(1 / 3), (2, 3): pytest.approx(2 / 3)})]


def test_assignments_read_the_old_values() -> None:
    text = "dtmc module m x : [0..2] init 1; y : [0..2] init 2; [] true -> (x'=y) & (y'=x); endmodule"
    assert table(text) == {(1, 2): [("", {(2, 1): 1.0})], (2, 1): [("", {(1, 2): 1.0})]}
