"""What is rendered and read back must be the same tree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galton.lang import Expression, Source, parse_expression, parse_properties, render
from galton.lang.expressions import Binary, Call, Conditional, Label, Literal, Name, Unary
from galton.lang.properties import (
    BinaryPath,
    Comparison,
    Cumulative,
    ExpectedTime,
    Filter,
    Instantaneous,
    LongRun,
    Multi,
    PathQuantifier,
    Probability,
    Reward,
    SteadyState,
    TimeBound,
    UnaryPath,
)

Strategy = st.SearchStrategy[Any]
NAMES = st.sampled_from(["x", "y", "floor", "T", "multi", "_a1"])
LITERALS = st.booleans() | st.integers(0, 2**31 - 1) | st.floats(0, allow_nan=False, allow_infinity=False)
LEAVES = st.builds(Literal, LITERALS) | st.builds(Name, NAMES)
OPERATORS = ["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "=", "!=", "&", "|", "=>", "<=>"]


def compound(parts: Strategy) -> Strategy:
    """Expressions of the modelling language over given parts."""
    return st.one_of(
        st.builds(Unary, st.sampled_from(["!", "-"]), parts),
        st.builds(Binary, st.sampled_from(OPERATORS), parts, parts),
        st.builds(Conditional, parts, parts, parts),
        st.builds(Call, st.just("min"), st.lists(parts, min_size=1, max_size=3).map(tuple)),
        st.builds(Call, st.sampled_from(["floor", "log"]), parts.map(lambda part: (part,))),
    )


EXPRESSIONS = st.recursive(LEAVES, compound, max_leaves=12)
BOUNDS = st.one_of(
    st.builds(lambda limit, strict: TimeBound(high=limit, high_strict=strict), EXPRESSIONS, st.booleans()),
    st.builds(lambda limit, strict: TimeBound(low=limit, low_strict=strict), EXPRESSIONS, st.booleans()),
    st.builds(TimeBound, EXPRESSIONS, EXPRESSIONS, reward=st.none() | st.sampled_from(["", "r"])),
    st.builds(lambda limit: TimeBound(limit, limit), EXPRESSIONS),
)
COMPARISONS = st.none() | st.builds(Comparison, st.sampled_from(["<", "<=", ">", ">="]), EXPRESSIONS)
OPTIMA = st.sampled_from([None, "min", "max"])


def paths(states: Strategy) -> Strategy:
    def temporal(parts: Strategy) -> Strategy:
        return st.one_of(
            st.builds(UnaryPath, st.sampled_from(["F", "G"]), parts, st.none() | BOUNDS),
            st.builds(UnaryPath, st.just("X"), parts),
            st.builds(BinaryPath, st.sampled_from(["U", "W", "R"]), parts, parts, st.none() | BOUNDS),
            compound(parts),
        )

    return st.recursive(states, temporal, max_leaves=5)


def operators(states: Strategy) -> Strategy:
    rewards = (
        st.builds(Cumulative, st.none() | EXPRESSIONS) | st.builds(Instantaneous, EXPRESSIONS) | st.builds(LongRun)
    )
    structures = st.sampled_from([None, "r"]) | EXPRESSIONS
    return st.one_of(
        st.builds(Probability, paths(states), OPTIMA, COMPARISONS),
        st.builds(Reward, rewards | paths(states), structures, OPTIMA, COMPARISONS),
        st.builds(ExpectedTime, paths(states), OPTIMA, COMPARISONS),
        st.builds(SteadyState, states, OPTIMA, COMPARISONS),
        st.builds(PathQuantifier, st.sampled_from(["A", "E"]), paths(states)),
        st.builds(Filter, st.sampled_from(["max", "forall", "state"]), states, st.none() | states),
        st.builds(Multi, st.lists(states, min_size=1, max_size=2).map(tuple)),
        compound(states),
    )


PROPERTIES = st.recursive(LEAVES | st.builds(Label, st.sampled_from(["init", "up"])), operators, max_leaves=4)


@given(EXPRESSIONS)
@settings(max_examples=400)
def test_expressions(expression: Expression) -> None:
    assert parse_expression(Source("test", render(expression))) == expression


@pytest.mark.slow
@given(PROPERTIES)
@settings(max_examples=300, deadline=None)
def test_properties(expression: Expression) -> None:
    text = render(expression)
    (found,) = parse_properties(Source("test", text)).properties
    assert found.expression == expression
    assert found.text == text


@pytest.mark.parametrize(
    "text",
    [
        "a & b | c => d",
        "(a | b) & c",
        "!(a & b) & !c & !(x = 1)",
        "x - (y - z)",
        "-(x + y) * 2^-z",
        "(-x)^2",
        "a ? b : c ? d : e",
        "(a ? b : c) ? d : e",
        "min(x + 1, floor(y / 2)) < 1e-05",
        'P>=0.5 [ F<=t "up" & x = 3 ]',
        "P=? [ (F a) & (G F b) ]",
        "P=? [ a U[1,2 * t] b ]",
        "P=? [ F=(t + 1) (a U b) ]",
        'R{"steps"}max=? [ C<=10 ]',
        "filter(max, S=? [ a ], x = 1)",
    ],
)
def test_no_more_parentheses_than_needed(text: str) -> None:
    (found,) = parse_properties(Source("test", text)).properties
    assert render(found.expression) == text


def test_numbers_without_literals() -> None:
    for number, text in (
        (float("inf"), "1/0"),
        (float("-inf"), "-1/0"),
        (float("nan"), "0/0"),
        (-3, "-3"),
        (-0.5, "-0.5"),
    ):
        assert render(Literal(number)) == text
    assert render(Binary("^", Literal(-3), Literal(2))) == "(-3)^2"
