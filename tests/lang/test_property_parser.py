from __future__ import annotations

import pytest

from galton.lang import Expression, LanguageError, Source, UnsupportedError, parse_properties
from galton.lang.expressions import Binary, Call, Label, Literal, Name, Unary
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
    children,
    substitute,
)

A, B, C = Name("a"), Name("b"), Name("c")
ONE, TWO = Literal(1), Literal(2)
T = Name("t")


def parse(text: str) -> Expression:
    (found,) = parse_properties(Source("test", text)).properties
    assert found.text == text
    return found.expression


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P=? [ a ]", Probability(A)),
        ("Pmin=? [ X a ]", Probability(UnaryPath("X", A), "min")),
        ("P max=? [ X a ]", Probability(UnaryPath("X", A), "max")),
        ("P>=0.5 [ G a ]", Probability(UnaryPath("G", A), None, Comparison(">=", Literal(0.5)))),
        ("Pmax<t [ G a ]", Probability(UnaryPath("G", A), "max", Comparison("<", T))),
        ("P>1-t*2 [ a ]", Probability(A, None, Comparison(">", Binary("-", ONE, Binary("*", T, TWO))))),
        ("R=? [ C ]", Reward(Cumulative())),
        ("R=? [ C<=t ]", Reward(Cumulative(T))),
        ('R{"r"}max=? [ I=2 ]', Reward(Instantaneous(TWO), "r", "max")),
        ("R{2}<=1 [ S ]", Reward(LongRun(), TWO, None, Comparison("<=", ONE))),
        ("Rmin=? [ F a ]", Reward(UnaryPath("F", A), None, "min")),
        ("R=? [ S=? [ a ] > 1 ]", Reward(Binary(">", SteadyState(A), ONE))),
        ("S=? [ a & b ]", SteadyState(Binary("&", A, B))),
        ("S<0.1 [ a ]", SteadyState(A, comparison=Comparison("<", Literal(0.1)))),
        ("Smin=? [ a ]", SteadyState(A, "min")),
        ("LRAmax=? [ a ]", SteadyState(A, "max")),
        ("LRA>=0.1 [ a ]", SteadyState(A, comparison=Comparison(">=", Literal(0.1)))),
        ("R=? [ LRA ]", Reward(LongRun())),
        ("T=? [ F a ]", ExpectedTime(UnaryPath("F", A))),
        ("Tmax=? [ F a ]", ExpectedTime(UnaryPath("F", A), "max")),
        ("T<=5 [ F a ]", ExpectedTime(UnaryPath("F", A), None, Comparison("<=", Literal(5)))),
        ("A [ a ]", PathQuantifier("A", A)),
        ("E[F a]", PathQuantifier("E", UnaryPath("F", A))),
        ("multi(Pmax=? [ a ], Rmin=? [ C ])", Multi((Probability(A, "max"), Reward(Cumulative(), None, "min")))),
        ('"init" => "up"', Binary("=>", Label("init"), Label("up"))),
        ("filter(min, a)", Filter("min", A)),
        ("filter(+, a, b)", Filter("sum", A, B)),
        ("filter(&, a, b)", Filter("forall", A, B)),
        ("filter(|, a, b)", Filter("exists", A, B)),
        ("P=? [ a {b} ]", Filter("state", Probability(A), B)),
        ("P=? [ a {b}{max} ]", Filter("max", Probability(A), B)),
        ("R=? [ C {b}{min}{max} ]", Filter("range", Reward(Cumulative()), B)),
        ("S>1 [ a {b} ]", Filter("forall", SteadyState(A, comparison=Comparison(">", ONE)), B)),
        ("round(1 + P=? [ a ])", Call("round", (Binary("+", ONE, Probability(A)),))),
        (
            "P=? [ F P>=1 [ X a ] ]",
            Probability(UnaryPath("F", Probability(UnaryPath("X", A), None, Comparison(">=", ONE)))),
        ),
        ("T < 5", Binary("<", Name("T"), Literal(5))),
        ("T = 5", Binary("=", Name("T"), Literal(5))),
    ],
)
def test_operators(text: str, expected: Expression) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("F a & b", UnaryPath("F", Binary("&", A, B))),
        ("a U b & c", BinaryPath("U", A, Binary("&", B, C))),
        ("a | b U c", BinaryPath("U", Binary("|", A, B), C)),
        ("a W b", BinaryPath("W", A, B)),
        ("a R b", BinaryPath("R", A, B)),
        ("F G a", UnaryPath("F", UnaryPath("G", A))),
        ("F a U G b", BinaryPath("U", UnaryPath("F", A), UnaryPath("G", B))),
        ("(F a) & (G b)", Binary("&", UnaryPath("F", A), UnaryPath("G", B))),
        ("!(a U b)", Unary("!", BinaryPath("U", A, B))),
        ("F (a & (X b))", UnaryPath("F", Binary("&", A, UnaryPath("X", B)))),
        ("F<=t a", UnaryPath("F", A, TimeBound(high=T))),
        ("F<=t (a)", UnaryPath("F", A, TimeBound(high=T))),
        ("F<=2*t (a)", UnaryPath("F", A, TimeBound(high=Binary("*", TWO, T)))),
        ("F<=floor(t) (a)", UnaryPath("F", A, TimeBound(high=Call("floor", (T,))))),
        ("F<=(-1) a", UnaryPath("F", A, TimeBound(high=Unary("-", ONE)))),
        ("G<t a", UnaryPath("G", A, TimeBound(high=T, high_strict=True))),
        ("a U>=1 b", BinaryPath("U", A, B, TimeBound(low=ONE))),
        ("a R>1 b", BinaryPath("R", A, B, TimeBound(low=ONE, low_strict=True))),
        ("F[1,2] a", UnaryPath("F", A, TimeBound(ONE, TWO))),
        ("F=t a", UnaryPath("F", A, TimeBound(T, T))),
        ('F^{rew{"r"}<=t} a', UnaryPath("F", A, TimeBound(high=T, reward="r"))),
        ("F^{rew[1,2]} a", UnaryPath("F", A, TimeBound(ONE, TWO, reward=""))),
    ],
)
def test_paths(text: str, expected: Expression) -> None:
    assert parse(f"P=? [ {text} ]") == Probability(expected)
    assert parse(f"P=? [ ({text}) ]") == Probability(expected)


# Files


def test_a_file() -> None:
    file = parse_properties(
        Source(
            "test",
            """
            const int k; // a comment
            "first": P=? [ F a ];;
            P=? [ F<=k
                  "done" ]
            late; const double late = 0.5; label "done" = x=3;
            formula f = a|b;
            2^3
            "first"
            """,
        )
    )
    assert [(p.name, p.text) for p in file.properties] == [
        ("first", "P=? [ F a ]"),
        (None, 'P=? [ F<=k\n                  "done" ]'),
        (None, "late"),
        (None, "2^3"),
        (None, '"first"'),
    ]
    assert [c.name.name for c in file.constants] == ["k", "late"]
    assert [label.name.name for label in file.labels] == ["done"]
    assert [formula.name.name for formula in file.formulas] == ["f"]
    assert file.properties[4].expression == Label("first")


@pytest.mark.parametrize(
    "broken",
    [
        "P=? [ F",
        "P=? [ F a",
        "P=? [ F a & ]",
        "P=? F a ]",
        '"broken": P [ F a ]',
        "P=? [ a U b U c ]",
        "filter(maxi, P=? [ F a ])",
        "P=? [ F @ ]",
        'P=? [ F "a ]',
        "P=? [ (F a ]",
        "<<1>> P=? [ F a ]",
        "P=? [ F a ]]",
    ],
)
@pytest.mark.parametrize("end", [";", ""])
def test_a_broken_property_leaves_the_others_alone(broken: str, end: str) -> None:
    file = parse_properties(Source("test", f'S=? [ a ]{end}\n{broken}{end}\n"after": P=? [ G a ]{end}\nS=? [ b ]'))
    assert [p.text for p in file.properties if p.error is None] == ["S=? [ a ]", "P=? [ G a ]", "S=? [ b ]"]
    (bad,) = [p for p in file.properties if p.error]
    assert bad.text in broken
    with pytest.raises(LanguageError):
        _ = bad.expression


@pytest.mark.parametrize(
    "text", ["<<1,2>> P=? [ F a ]", "[[1]] P=? [ F a ]", 'R{"a"}/{"b"}=? [ S ]', "P(exact)=? [ F a ]"]
)
def test_unsupported(text: str) -> None:
    (found,) = parse_properties(Source("test", text)).properties
    assert isinstance(found.error, UnsupportedError)


def test_broken_declarations_stop_the_file() -> None:
    with pytest.raises(LanguageError, match="expected ';' after the constant 'k'"):
        parse_properties(Source("test", "const int k\nP=? [ F a ]"))


def test_substitution_reaches_bounds_and_places_everything_at_the_name() -> None:
    text = 'P>=b [ a U<=t "a" ] & R{a}=? [ C<=t ] > filter(max, a, b)'
    found = substitute(parse(text), {"a": Binary("+", ONE, B), "t": TWO, "b": C})
    inner = Binary("+", ONE, B)
    assert found == Binary(
        "&",
        Probability(BinaryPath("U", inner, Label("a"), TimeBound(high=TWO)), None, Comparison(">=", C)),
        Binary(">", Reward(Cumulative(TWO), inner), Filter("max", inner, C)),
    )
    until = children(children(found)[0])[0]
    assert {text[part.span.start : part.span.end] for part in children(children(until)[0])} == {"a"}
