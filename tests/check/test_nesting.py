"""Formulas in formulas, arithmetic on top of operators, references; and bounds that do not decide."""

from __future__ import annotations

from typing import Any

import pytest
from asking import COIN, GAMBLE, MACHINE, ask, assert_number

import galton
from galton.checking.evaluation import UndecidedError
from galton.checking.quantity import Quantity, Work
from galton.device.arrays import namespace
from galton.lang import LanguageError
from galton.model.sparse import Model


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("P=? [ F P<0.3 [ F x=3 & !heads ] ]", 1),
        ("P=? [ F !heads & P>0.4 [ X x=3 ] ]", 1 / 4),
        ("P=? [ P<0.2 [ F x=3 ] U x=2 ]", 0),
        ("P=? [ P<0.4 [ F x=3 ] U x=2 ]", 1 / 4),
        ("P=? [ F<=2 P>0.9 [ F<=1 P>=1 [ F heads ] ] ]", 1),
        ('P=? [ F R{"tosses"}<1.5 [ F heads ] ]', 1),
        ("S=? [ P>=1 [ X heads ] ]", 1),
        ('R{"tosses"}=? [ F P>0.9 [ X heads ] ]', 2),
        ("P=? [ X filter(exists, x=2) ]", 1),
    ],
)
def test_formulas_in_formulas(prop: str, expected: float) -> None:
    assert_number(ask(COIN, prop), expected)


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("1 - P=? [ X heads ]", 1 / 2),
        ("2 * P=? [ X heads ] + x", 1),
        ("P=? [ X heads ] / P=? [ F<=2 heads ]", 2 / 3),
        ("max(P=? [ X heads ], P=? [ F<=3 heads ], 0.1)", 7 / 8),
        ("pow(P=? [ F<=2 heads ], 2)", 9 / 16),
        ("P=? [ F<=2 heads ] ^ 2", 9 / 16),
        ("log(4 * P=? [ F heads ], 2)", 2),
        ("-P=? [ X heads ]", -1 / 2),
        ("P>0.3 [ X heads ] ? P=? [ X heads ] : 7", 1 / 2),
        ("x > 0 ? 1/0 : 3", 3),
    ],
)
def test_arithmetic_on_top(prop: str, expected: float) -> None:
    assert_number(ask(COIN, prop), expected)


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("ceil(P=? [ X heads ]) + 1", 2),
        ("floor(10 * P=? [ F<=3 heads ])", 8),
        ("round(P=? [ F true ])", 1),
        ("x + 1", 1),
        ("mod(7, 4)", 3),
        ("pow(2, 3)", 8),
        ("P>0.3 [ X heads ] ? 4 : 7", 4),
    ],
)
def test_whole_numbers(prop: str, expected: int) -> None:
    found = ask(COIN, prop)
    assert found.value == expected
    assert isinstance(found.value, int)
    assert found.lower == found.upper == expected


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("P=? [ X heads ] > 0.4", True),
        ("P=? [ X heads ] > 0.4 & P>=1 [ F heads ]", True),
        ("P>0.9 [ X heads ] | x>0", False),
        ("P>0.9 [ X heads ] => x>0", True),
        ("!(P>0.9 [ X heads ])", True),
        ("P>0.9 [ X heads ] <=> x=3", True),
        ("P>0.9 [ X heads ] != (x=3)", False),
        ("P=? [ F heads ] = 1", True),
        ('"heads"', False),
        ("true", True),
    ],
)
def test_truth_on_top(prop: str, expected: bool) -> None:
    assert ask(COIN, prop).value is expected


def file_answers(text: str, props: str) -> list[Any]:
    from galton.checking.answering import check
    from galton.lang import Source, parse_properties
    from galton.lang.resolution import resolve

    program = galton.parse(text)
    context, questions = resolve(parse_properties(Source("p", props)), program, {})
    return [check(context, program.build(), question).value for question in questions if question.prop.name != "bad"]


def test_references() -> None:
    props = '"a": P=? [ X heads ]; "b": 2 * "a"; "c": "b" + "a" >= 1.4; "d": P=? [ F "e" ]; "e": P>=1 [ F heads ]; "d"'
    found = file_answers(COIN, props)
    assert found == [pytest.approx(0.5), pytest.approx(1), True, 1.0, True, 1.0]


def test_a_label_comes_before_a_property_of_its_name() -> None:
    assert file_answers(COIN, '"heads": P>=1 [ F "heads" ]; "heads"') == [True, False]


def test_constants_formulas_and_labels_of_the_text() -> None:
    text = 'const int k = 2; formula late = x>=k; label "late" = late & !heads; P=? [ F "late" ]'
    assert_number(ask(COIN, text), 1 / 4)
    assert_number(ask(COIN, "const int k; P=? [ F<=k heads ]", k=2), 3 / 4)
    assert_number(ask(COIN, "const double p; P=? [ X heads ] * p", constants={"p": "1/2"}), 1 / 4)


@pytest.mark.parametrize(
    ("props", "message"),
    [
        ('"a": "b"; "b": "a";', 'the property "a" refers to itself: a → b → a'),
        ('"a": P=? [ F "a" > 0 ];', 'the property "a" refers to itself: a → a'),
        ('"bad": P=? [ F (; "b": 1 + "bad";', 'the property "bad" cannot be used: '),
        ('"first": P=? [ X heads ]; 1 - "frist";', 'unknown label "frist"'),
    ],
)
def test_references_that_lead_nowhere(props: str, message: str) -> None:
    with pytest.raises(LanguageError, match=message):
        file_answers(COIN, props)


def test_a_misspelt_reference_gets_a_hint() -> None:
    with pytest.raises(LanguageError) as caught:
        file_answers(COIN, '"first": P=? [ X heads ]; 1 - "frist";')
    assert caught.value.hint == "did you mean 'first'?"


# Bounds that do not decide.


class Vague:
    """An until whose bounds are as wide as eps says, or as wide as they can be, around one half."""

    def __init__(self, narrowest: float):
        self.narrowest, self.asked = narrowest, []  # type: ignore[var-annotated]

    def __call__(
        self, model: Model, through: object, goal: object, optimum: object, settings: Any, **options: Any
    ) -> Quantity:
        self.asked.append(settings.eps)
        width = max(settings.eps, self.narrowest)
        middle = namespace(model.columns).full(model.n_states, 0.5)
        return Quantity(middle - width, middle + width, "vague", (Work("guess"),))


@pytest.fixture
def vague(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Vague:
    fake = Vague(getattr(request, "param", 0.0))
    monkeypatch.setattr("galton.checking.unbounded.until.until", fake)
    return fake


def test_close_calls_are_asked_again(vague: Vague) -> None:
    assert ask(COIN, "P>0.49999999 [ F heads ]").value is True
    assert vague.asked == pytest.approx([1e-6, 1e-9])


def test_what_cannot_be_decided_is_left_open(vague: Vague) -> None:
    found = ask(COIN, "P>0.5 [ F heads ]")
    assert found.value is None
    assert "undecided" in repr(found)
    assert len(vague.asked) < 5
    with pytest.raises(TypeError):
        bool(found)


def test_a_whole_number_that_cannot_be_decided(vague: Vague) -> None:
    found = ask(COIN, "floor(2 * P=? [ F heads ])")
    assert (found.value, found.lower, found.upper) == (None, 0, 1)


def test_nothing_is_built_on_what_cannot_be_decided(vague: Vague) -> None:
    with pytest.raises(UndecidedError) as caught:
        ask(COIN, "P=? [ X P>0.5 [ F heads ] ]")
    assert caught.value.kind == "numeric"
    said = str(caught.value)
    assert said.startswith("whether P>0.5 [ F heads ] holds in state (heads=false) cannot be decided: ")
    assert "is between 0.4999" in said


def test_a_formula_around_may_not_care(vague: Vague) -> None:
    assert ask(COIN, "P>0.5 [ F heads ] | true").value is True
    assert ask(COIN, "x=0 & (x=0 | P>0.5 [ F heads ])").value is True


@pytest.mark.parametrize("vague", [0.1], indirect=True)
def test_bounds_that_stay_wide_are_told_as_they_are(vague: Vague) -> None:
    found = ask(COIN, "P=? [ F heads ]")
    assert (found.lower, found.upper) == (pytest.approx(0.4), pytest.approx(0.6))


def test_small_differences_are_asked_more_precisely(vague: Vague) -> None:
    """One minus something near one needs more digits of it."""
    found = ask(COIN, "P=? [ F heads ] - 0.499999")
    assert found.lower is not None
    assert found.upper is not None
    assert found.upper - found.lower <= 2e-6 * found.upper


def test_bounds_that_are_wide_in_some_states_may_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that is not precise in all states is asked to be so in the initial ones only."""

    def picky(model: Model, through: object, goal: object, optimum: object, settings: Any, **options: Any) -> Quantity:
        if len(model.initial) > 1:
            raise _Imprecise("too wide")
        middle = namespace(model.columns).full(model.n_states, 0.5)
        return Quantity(middle - 0.1, middle + 0.1, "picky", (Work("guess"),))

    monkeypatch.setattr("galton.checking.unbounded.until.until", picky)
    assert ask(COIN, "filter(count, P>0.3 [ F heads ])").value == 8
    with pytest.raises(UndecidedError):
        ask(COIN, "P=? [ X P>0.45 [ F heads ] ]")


class _Imprecise(galton.GaltonError):
    kind = "numeric"


def test_on_ctmcs_and_mdps_too() -> None:
    assert_number(ask(MACHINE, "P=? [ F P>0.7 [ X state=0 ] & state=1 ]"), 1)
    assert_number(ask(GAMBLE, "Pmax=? [ F P>=1 [ F s=3 ] & s<3 ]"), 0.5)
