"""Which states of an automaton decide, and automata whose pairs ask for one mark each."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from lasso_words import built, random_formula, random_lasso, satisfied

from galton.automata import read_hoa
from galton.automata.acceptance import complement, generalised_rabin
from galton.automata.rabin import rabin
from galton.automata.text import parse_ltl
from galton.automata.translation import TooLargeError, translate
from galton.automata.verdicts import verdicts
from galton.lang.source import Source

WORDS = 12


def automata(count: int) -> list:
    found = []
    for seed in range(count):
        random = Random(seed)
        syntax = random_formula(random, random.randrange(1, 8), 2, 0.2)
        try:
            found.append((random, syntax, translate(built(syntax), most_states=500)))
        except TooLargeError:
            continue
    return found


def test_decided_states_accept_all_words_or_none() -> None:
    for random, syntax, automaton in automata(300):
        decided = verdicts(automaton)
        assert not (decided.accepting & decided.rejecting).any()
        for state in range(automaton.n_states):
            there = replace(automaton, initial=state)
            answers = {there.accepts(*random_lasso(random, 2)) for _ in range(WORDS)}
            assert not (decided.accepting[state] and False in answers), (syntax, state)
            assert not (decided.rejecting[state] and True in answers), (syntax, state)


def test_a_cosafe_automaton_accepts_what_comes_to_a_state_that_decides() -> None:
    kinds = set()
    for random, syntax, automaton in automata(400):
        found = verdicts(automaton)
        kinds.add((found.cosafe, found.safe))
        for _ in range(WORDS):
            stem, loop = random_lasso(random, 2)
            state, met = automaton.initial, set()
            for letter in stem + loop * (automaton.n_states + 1):
                met.add(state)
                state, _ = automaton.step(state, letter)
            met.add(state)
            accepted = satisfied(syntax, stem, loop)
            if found.cosafe:
                assert accepted == any(found.accepting[q] for q in met), syntax
            if found.safe:
                assert accepted != any(found.rejecting[q] for q in met), syntax
    assert kinds == {(True, True), (True, False), (False, True), (False, False)}


@pytest.mark.parametrize(
    ("text", "cosafe", "safe"),
    [
        ("a U b", True, False),
        ("G (a -> X b)", False, True),
        ("F<=3 a", True, True),
        ("G F a", False, False),
        ("F (a & (X b))", True, False),
        ("(F a) & (G b)", False, False),
        ("a W b", False, True),
    ],
)
def test_safe_and_cosafe_formulas_are_known(text: str, cosafe: bool, safe: bool) -> None:
    found = verdicts(translate(*parse_ltl(text)))
    assert (found.cosafe, found.safe) == (cosafe, safe)


@pytest.mark.parametrize("negated", [False, True])
def test_pairs_of_one_mark_accept_the_same_words(negated: bool) -> None:
    several = 0
    for random, syntax, automaton in automata(300):
        found = rabin(automaton, negated=negated)
        condition = complement(found.acceptance) if negated else found.acceptance
        assert all(pair.inf.bit_count() <= 1 for pair in generalised_rabin(condition))
        several += found.n_states > automaton.n_states
        for _ in range(WORDS):
            stem, loop = random_lasso(random, 2)
            assert found.accepts(stem, loop) == satisfied(syntax, stem, loop), syntax
    assert several


def test_several_marks_are_met_in_turn() -> None:
    formula, names = parse_ltl("G F a & G F b & G F c")
    automaton = rabin(translate(formula, names))
    assert automaton.n_states <= 3
    assert automaton.accepts([], [0b001, 0b010, 0b100])
    assert automaton.accepts([], [0b111])
    assert not automaton.accepts([0b111], [0b001, 0b010])


def test_a_state_whose_letters_are_accepted_one_by_one_may_reject_them_in_turn() -> None:
    text = """HOA: v1 States: 1 Start: 0 AP: 1 "a" Acceptance: 2 Fin(0) | Fin(1)
    --BODY-- State: 0 [0] 0 {0} [!0] 0 {1} --END--"""
    automaton = read_hoa(Source("one.hoa", text))
    assert automaton.accepts([], [0b0])
    assert automaton.accepts([], [0b1])
    assert not automaton.accepts([], [0b0, 0b1])
    assert not automaton.accepts_everything(0)
    assert not verdicts(automaton).decided.any()


def test_the_whole_table_has_every_step() -> None:
    for _, syntax, automaton in automata(100):
        if not automaton.propositions:
            automaton = replace(automaton, propositions=("a", "b"))
        successor, marks = automaton.whole_table()
        letters = range(1 << len(automaton.propositions))
        expected = automaton.table(list(letters))
        assert np.array_equal(successor, expected[0]), syntax
        assert np.array_equal(marks, expected[1]), syntax
