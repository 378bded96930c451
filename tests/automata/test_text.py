"""Formulas as text: how operators bind, and that what is written means the same when it is read again."""

from __future__ import annotations

from random import Random

import pytest
from lasso_words import built, random_formula, random_lasso, satisfied

from galton.automata import parse_ltl, render, translate


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("F a & b", "(F a) & b"),
        ("G F a -> G F b", "(F (G !a)) | (G (F b))"),
        ("GFa -> b", "GFa -> b"),
        ("GF a", "G (F a)"),
        ("a U b U c", "a U (b U c)"),
        ("a U b & c", "(a U b) & c"),
        ("!a U b", "(!a) U b"),
        ("a -> b -> c", "!a | !b | c"),
        ("a <-> b", "(!a | b) & (!b | a)"),
        ("a || b && c", "a | (b & c)"),
        ("a => b | c & d", "!a | b | (c & d)"),
        ("(a & b) M a", "a U (a & b)"),
        ("(a & b) R a", "a W (a & b)"),
        ('"a" & "b c"', '"a" & "b c"'),
        ("1 U a", "F a"),
        ("0 R a", "G a"),
        ("F[1,2] a", "X (a | X a)"),
        ("F=1 a", "X a"),
        ("G<2 a", "a & X a"),
        ("F>1 a", "X X F a"),
    ],
)
def test_how_operators_bind(text: str, meant: str) -> None:
    assert set(parse_ltl(text)[1]) == set(parse_ltl(meant)[1])
    assert render(*parse_ltl(text)) == render(*parse_ltl(meant))


def test_what_is_written_means_the_same_when_it_is_read() -> None:
    for seed in range(150):
        random = Random(seed)
        syntax = random_formula(random, 6, 3)
        text = render(built(syntax), ["a", "b", "c"])
        again, names = parse_ltl(f"(a & b & c & false) | ({text})")
        assert names == ("a", "b", "c")
        automaton = translate(again)
        for _ in range(10):
            stem, loop = random_lasso(random, 3)
            assert automaton.accepts(stem, loop) == satisfied(syntax, stem, loop)


@pytest.mark.parametrize(
    ("text", "simplified"),
    [
        ("F F a", "F a"),
        ("G F G a", "F (G a)"),
        ("F G F a", "G (F a)"),
        ("X G F a", "G (F a)"),
        ("F (a U b)", "F b"),
        ("G (a U b)", "(G (a | b)) & (G (F b))"),
        ("G F (a & F b)", "(G (F a)) & (G (F b))"),
        ("G F (a | X b)", "G (F (a | b))"),
        ("F a | F b", "F (a | b)"),
        ("G a & G b", "G (a & b)"),
        ("a U (b & G F c)", "(a U b) & (G (F c))"),
        ("(a | b) U b", "a U b"),
        ("a & F a", "a"),
        ("G a | F G a", "F (G a)"),
        ("F a & G !a", "false"),
        ("F a | G !a", "true"),
        ("X a U X b", "X (a U b)"),
    ],
)
def test_simplifications(text: str, simplified: str) -> None:
    assert render(*parse_ltl(text)) == simplified
