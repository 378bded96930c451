"""Path formulas of properties as formulas of linear temporal logic."""

from __future__ import annotations

import pytest

from galton.automata.from_property import path_formula
from galton.automata.text import render
from galton.lang import LanguageError, Source, parse_properties
from galton.lang.expressions import Literal
from galton.lang.properties import Probability, TimeBound
from galton.lang.rendering import render as render_expression


def steps(bound: TimeBound) -> tuple[int, int | None]:
    def number(limit: object) -> int:
        assert isinstance(limit, Literal)
        return int(limit.value)

    low = number(bound.low) + bound.low_strict if bound.low else 0
    return low, number(bound.high) - bound.high_strict if bound.high else None


def read(text: str) -> str:
    source = Source("test", f"P=? [ {text} ]")
    (found,) = parse_properties(source).properties
    assert isinstance(found.expression, Probability)
    formula, states = path_formula(found.expression.path, source, steps)
    return render(formula, [f"<{render_expression(part)}>" for part in states])


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("G F a & (b U c)", "G (F (<a> & (<b> U <c>)))"),
        ("(G F a) & (b U c)", "(G (F <a>)) & (<b> U <c>)"),
        ("G F x=1|x=2", "G (F <x = 1 | x = 2>)"),
        ("(G x=1|x=2) & (F x=2)", "(G (<x = 1> | <x = 2>)) & (F <x = 2>)"),
        ("(G !(a|b)) & (F a|b)", "false"),
        ('G ("b" => (F (!"b" & "a")))', 'G (!<"b"> | (F (!<"b"> & <"a">)))'),
        ("(X a) => (G b)", "(X !<a>) | (G <b>)"),
        ("X X X x=0", "X (X (X <x = 0>))"),
        ("F<=2 (G a)", "(G <a>) | (X ((G <a>) | (X (G <a>))))"),
        ("(F=1 a) & (F a)", "(X <a>) & (F <a>)"),
        ("(F[1,2] a) & (F a)", "(F <a>) & (X (<a> | (X <a>)))"),
        ("(F a) <=> (F a)", "true"),
        ("x=0 ? (X x=1) : (G a)", "(!<x = 0> | (X <x = 1>)) & (<x = 0> | (G <a>))"),
        ("true U (G P>=1 [ F a ])", "F (G <P>=1 [ F a ]>)"),
        ("a R (X b)", "(X <b>) W (<a> & (X <b>))"),
        ("F a", "F <a>"),
    ],
)
def test_formulas(text: str, meant: str) -> None:
    assert read(text) == meant


def test_bounds_of_more_steps_than_an_automaton_can_count_are_refused() -> None:
    with pytest.raises(LanguageError, match="a bound may be 1,000 steps at most"):
        read("G (a => (F<=1001 b))")


def test_a_path_formula_is_no_number() -> None:
    with pytest.raises(LanguageError, match="a temporal operator may only be combined with"):
        read("(F a) = (F b)")
