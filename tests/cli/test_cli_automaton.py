"""``galton automaton``: what people see of a formula's automaton, and what they are told."""

from __future__ import annotations

import pytest
from command_line import galton

from galton.automata import read_hoa
from galton.lang import Source


def test_a_summary() -> None:
    outcome = galton("automaton", "G (request -> F grant)")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "formula     G (!request | (F grant))",
        "automaton   2 states, deterministic and complete; runs begin in state 0",
        "acceptance  Inf(0) (Buchi)",
        "state 0",
        "  !request | grant  ->  0  {0}",
        "  request&!grant  ->  1  {0}",
        "state 1",
        "  !grant  ->  1",
        "  grant  ->  0  {0}",
    ]


def test_hoa_is_read_back() -> None:
    outcome = galton("automaton", "G F a -> G F b", "--hoa")
    assert (outcome.code, outcome.err) == (0, "")
    automaton = read_hoa(Source("test", outcome.out))
    assert automaton.n_states == 1
    assert automaton.accepts([], [0b01, 0b10])
    assert not automaton.accepts([], [0b01])


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("G F", "expected a formula, found the end of the text"),
        ("a b", "expected an operator or the end of the formula, found 'b'"),
        ("(a U b", "expected ')', found the end of the text"),
        ("X<=3 a", "'X' takes no bound"),
        ("a M<=3 b", "'M' takes no bound"),
        ("F<=3000 a", "bounds end at 1,000 steps"),
        ("F<0 a", "no number of steps is below 0"),
        ("G[4,2] a", "the interval is empty: 4 is above 2"),
        ("a & P", "expected a formula, found 'P'"),
        ("F<=t a", "expected a number of steps, found 't'"),
    ],
)
def test_mistakes(formula: str, said: str) -> None:
    outcome = galton("automaton", formula)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert "formula:1:" in outcome.err
