"""The Hanoi format: written and read again, as other tools write it, and what is wrong with a text."""

from __future__ import annotations

from random import Random

import pytest
from lasso_words import built, random_formula, random_lasso

from galton.automata import Automaton, parse_ltl, read_hoa, to_hoa, translate
from galton.automata.hoa import acceptance_name, acceptance_text
from galton.lang.source import LanguageError, Source, UnsupportedError


def read(text: str) -> Automaton:
    return read_hoa(Source("test.hoa", text))


def hoa(body: str, *, header: str = "", acceptance: str = "1 Inf(0)", propositions: str = '1 "a"') -> str:
    lines = ["HOA: v1", "Start: 0", f"AP: {propositions}", f"Acceptance: {acceptance}", header, "--BODY--", body]
    return "\n".join([*lines, "--END--"])


def test_what_is_written_is_read_back() -> None:
    for seed in range(200):
        random = Random(seed)
        automaton = translate(built(random_formula(random, 6, 3)), ["a", 'say "b"', "c\\d"])
        text = to_hoa(automaton, "a name")
        again = read(text)
        assert to_hoa(again, "a name") == text
        for _ in range(10):
            stem, loop = random_lasso(random, 3)
            assert again.accepts(stem, loop) == automaton.accepts(stem, loop)


@pytest.mark.parametrize(
    ("formula", "name"),
    [
        ("G F a", "Buchi"),
        ("F G a", "co-Buchi"),
        ("true", "all"),
        ("false", "none"),
        ("G F a & G F b", "generalized-Buchi 2"),
        ("F G a | F G b", "generalized-co-Buchi 2"),
        ("F G a & G F b", "Rabin 1"),
        ("(F G a & G F b) | (F G c & G F d)", "Rabin 2"),
        ("(G F a -> G F b) & (G F c -> G F d)", "Streett 2"),
        ("(F G a & G F b & G F c) | (F G c & G F d)", "generalized-Rabin 2 2 1"),
        ("G F a & G F b | F G c", ""),
    ],
)
def test_conditions_have_the_names_of_the_format(formula: str, name: str) -> None:
    assert acceptance_name(translate(*parse_ltl(formula)).acceptance) == name


# As other tools write it

IMPLICIT = """
HOA: v1 /* a comment /* with another inside " */ */
tool: "some tool" "1.0"
name: "G F a /* no comment */"
States: 2
Start: 0
acc-name: Buchi
Acceptance: 1 Inf(0)
AP: 2 "a" "b"
properties: implicit-labels state-acc deterministic
spot.highlight.states: 0 1
--BODY--
State: 0 "waiting"   0 1 0 1
State: 1 {0}
0
1
0
1
--END--
"""


def test_implicit_labels_and_marks_on_states() -> None:
    automaton = read(IMPLICIT)
    meant = translate(*parse_ltl("G F a"))
    random = Random(1)
    for _ in range(100):
        stem, loop = random_lasso(random, 2)
        assert automaton.accepts(stem, loop) == meant.accepts(stem, loop)


def test_implicit_labels_count_the_first_proposition_fastest() -> None:
    automaton = read(hoa("State: 0 0 0 {0} 0 {1} 0 {0 1}", acceptance="2 Inf(0)&Inf(1)", propositions='2 "a" "b"'))
    assert [automaton.step(0, letter)[1] for letter in range(4)] == [0, 1, 2, 3]


def test_aliases_labels_on_states_and_sets_that_are_negated() -> None:
    text = hoa(
        "State: [@x] 0 0 {0}\nState: [t] 1 1",
        header="Alias: @y 0 | 1\nAlias: @x !(!@y) & t",
        acceptance="1 Fin(!0)",
        propositions='2 "a" "b"',
    )
    automaton = read(text)
    assert automaton.accepts([1], [2])  # only edges of the set are taken
    assert not automaton.accepts([1], [2, 0])  # no edge: rejected


def test_a_word_without_an_edge_is_rejected_whatever_the_condition() -> None:
    for acceptance in ("0 t", "1 Fin(0)", "1 Inf(0)", "2 Fin(0) | Inf(1)", "2 Inf(0) | Fin(0)"):
        automaton = read(hoa("State: 0 [0] 0 {}", acceptance=acceptance))
        assert not automaton.accepts([1], [0, 1])
        assert automaton.accepts([1], [1]) == (acceptance != "1 Inf(0)")


def test_an_edge_that_is_there_twice_is_one() -> None:
    assert read(hoa("State: 0 [0] 0 {0} [t] 0 {0}")).accepts([], [0])


def test_a_number_of_states_that_nothing_uses_costs_nothing() -> None:
    assert read(hoa("State: 0 [t] 0 {0}", header="States: 2000000000")).n_states == 1


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "expected a header such as 'HOA:', found the end of the text", (1, 1)),
        ("States: 1", "a text in the Hanoi format begins with 'HOA: v1'", (1, 1)),
        ("HOA: v2\n", "version v2 of the format is not supported", (1, 6)),
        ("HOA: v1 States: 1 --BODY--", "the header has no 'Acceptance:'", (1, 19)),
        ("HOA: v1 Acceptance: 0 t --BODY--", "the header has no 'Start:'", (1, 25)),
        ("HOA: v1 Start: 0 Start: 1", "several initial states", (1, 18)),
        ("HOA: v1 Start: 0&1", "alternating automata", (1, 17)),
        ("HOA: v1 Fancy: 1", "the header 'Fancy:' is not known, and its capital says that it matters", (1, 9)),
        ('HOA: v1 AP: 2 "a" "a"', "two atomic propositions have the same name", (1, 9)),
        ('HOA: v1 AP: 2 "a" b', "expected a text in double quotes, found 'b'", (1, 19)),
        ("HOA: v1 Acceptance: 1 Inf(1)", "there is no acceptance set 1: 'Acceptance:' announces 1", (1, 27)),
        ("HOA: v1 Acceptance: 1 Foo(1)", "expected Inf(…), Fin(…), t or f", (1, 23)),
        ("HOA: v1 Acceptance: 2000 t", "more than 1,000 acceptance sets", (1, 9)),
        ("HOA: v1 /* never closed", "a comment is not closed", (1, 9)),
        (hoa("State: 0 [0] 0 [0] 1"), "not deterministic: state 0 has another edge for a", (7, 16)),
        (hoa("State: 0 [0] 0 [1] 1"), "there is no atomic proposition 1: 'AP:' announces 1", (7, 17)),
        (hoa("State: 0 [@x] 0"), "no alias is called @x", (7, 11)),
        (hoa("State: 0 [0] 0 1"), "either all edges have labels or none", (7, 16)),
        (hoa("State: [0] 0 [0] 1"), "labels may be on a state or on its edges, not on both", (7, 14)),
        (hoa("State: 0 0 0 0"), "without labels each state has 2 edges, one for each letter, and this has 3", (7, 8)),
        (hoa("State: 0 [0] 0&1"), "alternating automata", (7, 15)),
        (hoa("State: 0 [0] 0 {1}"), "there is no acceptance set 1", (7, 17)),
        (hoa("State: 0 [t] 0 State: 0"), "state 0 is there already", (7, 23)),
        (hoa("State: 0 [t] 7", header="States: 2"), "there is no state 7: 'States:' announces 2", (7, 14)),
        (hoa("State: 0 [0"), "expected ']', found '--END--'", (8, 1)),
        (hoa("State: 0 [&] 0"), "expected a label", (7, 11)),
        (hoa("State: 0 [t] 99999999999999999999"), "this number is too large", (7, 14)),
        (hoa("nonsense"), "expected '--END--', found 'nonsense'", (7, 1)),
        (hoa("--ABORT--"), "gave up", (7, 1)),
    ],
)
def test_mistakes_are_told_with_their_place(text: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(LanguageError) as caught:
        read(text)
    assert message in caught.value.message
    assert caught.value.source.position(caught.value.span.start) == place


def test_what_is_not_deterministic_is_unsupported_and_not_wrong() -> None:
    with pytest.raises(UnsupportedError) as caught:
        read(hoa("State: 0 [t] 0 [0] 1"))
    assert caught.value.hint is not None
    assert "ltl2tgba -D" in caught.value.hint


def test_conditions_are_written_as_the_format_has_them() -> None:
    automaton = translate(*parse_ltl("(G F a & F G b) | G F c"))
    assert acceptance_text(automaton.acceptance) == "(Inf(0) & Fin(1)) | Inf(2)"
