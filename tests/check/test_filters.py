"""Filters."""

from __future__ import annotations

import pytest
from asking import COIN, GAMBLE, MACHINE, ask, assert_number

from galton.lang import LanguageError


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("filter(state, P=? [ X heads ], x=2 & !heads)", 1 / 2),
        ("filter(min, P=? [ X heads ])", 1 / 2),
        ("filter(max, P=? [ X heads ], !heads)", 1 / 2),
        ("filter(avg, P=? [ X heads ])", 3 / 4),
        ("filter(+, P=? [ X heads ])", 6),
        ("filter(sum, P=? [ X heads ], x=0)", 3 / 2),
        ("filter(first, P=? [ X heads ], x=1)", 1 / 2),
        ("filter(max, P=? [ F x=3 & !heads ], x=0) - filter(min, P=? [ F x=3 & !heads ], x=0)", 1 / 8),
        ("P=? [ X heads {x=2 & !heads} ]", 1 / 2),
        ("P=? [ X heads {x=2}{max} ]", 1),
        ("filter(state, filter(avg, P=? [ X heads ]), x=2 & heads)", 3 / 4),
        ("filter(max, x + 0.5)", 3.5),
    ],
)
def test_numbers(prop: str, expected: float) -> None:
    assert_number(ask(COIN, prop), expected)


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("filter(count, P>0.9 [ X heads ])", 4),
        ("filter(count, heads, x<2)", 2),
        ("filter(sum, x)", 12),
        ("filter(max, x, heads)", 3),
        ("filter(sum, x>0 ? pow(2, x-1) : 0)", 14),
    ],
)
def test_whole_numbers(prop: str, expected: int) -> None:
    found = ask(COIN, prop)
    assert found.value == expected
    assert isinstance(found.value, int)


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("filter(forall, P>=1 [ F heads ])", True),
        ("filter(&, P>0.9 [ X heads ])", False),
        ("filter(exists, P>0.9 [ X heads ])", True),
        ("filter(|, P>0.9 [ X heads ], !heads)", False),
        ("filter(state, heads, x=1 & heads)", True),
        ("filter(first, heads, x=1)", False),
        ("P>0.9 [ X heads {heads} ]", True),
        ("filter(forall, x=0 | mod(6, x) < 6)", True),
        ("filter(argmin, x)", True),
        ("filter(argmax, P=? [ X heads ])", False),
    ],
)
def test_truth(prop: str, expected: bool) -> None:
    assert ask(COIN, prop).value is expected


def test_a_range() -> None:
    found = ask(MACHINE, "filter(range, T=? [ F state=2 ])")
    assert found.value == (0, pytest.approx(5))
    assert ask(COIN, "P=? [ X heads {x=2}{min}{max} ]").value == (pytest.approx(0.5), 1)


def test_printing() -> None:
    found = ask(MACHINE, "filter(print, T=? [ F state=2 ])")
    assert_number(found, 5)
    states, numbers = zip(*(line.split("  ") for line in found.listing), strict=True)
    assert states == ("state (state=0)", "state (state=1)")
    assert [float(number) for number in numbers] == pytest.approx([5, 4], rel=1e-5)
    found = ask(MACHINE, "filter(printall, state=1, state>0)")
    assert found.listing == ("state (state=1)  true", "state (state=2)  false")


def test_the_best_states() -> None:
    found = ask(GAMBLE, 'filter(argmax, Pmin=? [ F "good" ], s<3)')
    assert found.listing == ("state (s=2)  1",)
    assert found.value is False
    assert ask(GAMBLE, 'filter(count, filter(argmax, Pmax=? [ F "good" ]))').value == 4


def test_a_filter_about_no_state() -> None:
    with pytest.raises(LanguageError) as caught:
        ask(COIN, "filter(max, P=? [ X heads ], x>7)")
    assert caught.value.message == "the filter is about no state: none satisfies x > 7"


def test_a_filter_about_too_many_states() -> None:
    with pytest.raises(LanguageError) as caught:
        ask(COIN, "filter(state, P=? [ X heads ], x=2)")
    assert caught.value.message == "the filter 'state' needs one state, and 2 satisfy it"
    assert caught.value.hint == "min, max, avg, range or first are for several"


def test_what_the_answer_is_about() -> None:
    assert ask(COIN, "P=? [ X heads ]").about == "the initial state (heads=false)"
    assert ask(COIN, "filter(max, P=? [ X heads ])").about == "the states of the filter"
    assert ask(COIN, "filter(print, P=? [ X heads ])").about == "the initial state (x=0, heads=false)"
