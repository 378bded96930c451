"""Automata accept exactly the words that satisfy their formulas, on random formulas and ultimately periodic words."""

from __future__ import annotations

from random import Random

import pytest
from lasso_words import built, random_formula, random_lasso, satisfied

from galton.automata.normal_form import delta2, is_delta2
from galton.automata.simplification import negation
from galton.automata.text import parse_ltl
from galton.automata.translation import TooLargeError, translate

WORDS = 20


@pytest.mark.parametrize(
    ("n_formulas", "size", "n_propositions", "bounded"),
    [(500, 5, 2, 0.0), (300, 8, 3, 0.0), (200, 6, 2, 0.4), (60, 12, 3, 0.1)],
)
def test_an_automaton_accepts_what_satisfies_its_formula(
    n_formulas: int, size: int, n_propositions: int, bounded: float
) -> None:
    for seed in range(n_formulas):
        random = Random(seed)
        syntax = random_formula(random, random.randrange(1, size + 1), n_propositions, bounded)
        formula = built(syntax)
        try:
            automaton = translate(formula, most_states=2_000)
        except TooLargeError:
            continue
        for _ in range(WORDS):
            stem, loop = random_lasso(random, n_propositions)
            assert automaton.accepts(stem, loop) == satisfied(syntax, stem, loop), (syntax, stem, loop)


def test_every_formula_has_a_normal_form() -> None:
    for seed in range(400):
        assert is_delta2(delta2(built(random_formula(Random(seed), 9, 3, 0.0))))


@pytest.mark.parametrize(
    "text", ["G F (!a & (X (G a)) & !b)", "(F G (!a & !b)) | (G F (!a & (X (G a)) & !b))", "F (G (a U (b | (G b))))"]
)
def test_limits_that_simplify_to_something_else_once_had_no_normal_form(text: str) -> None:
    assert is_delta2(delta2(parse_ltl(text)[0]))


def test_negated_twice_a_formula_is_itself() -> None:
    for seed in range(400):
        formula = built(random_formula(Random(seed), 8, 3))
        negated = negation(formula)
        assert negation(negated).negated is negated


def test_an_automaton_of_too_many_states_is_refused() -> None:
    formula = built(("F", 0, 20, ("p", 0)))
    with pytest.raises(TooLargeError, match="more than 10 states"):
        translate(formula, most_states=10)
