"""Numbers of steps that nobody can make one by one: an answer where the rest is known, a refusal where it is not."""

from __future__ import annotations

import time

import pytest
from asking import ask, assert_number
from patience import allowed

from galton.lang import GaltonError

TURNS = """
TYPE
module m
  s : [0..1];
  [go] s=0 -> 0.5 : (s'=1) + 0.5 : true;
  [wait] s=0 -> true;
  [] s=1 -> BACK;
endmodule
rewards s=1 : 1; endrewards
"""


def turns(kind: str, back: str) -> str:
    text = TURNS.replace("TYPE", kind).replace("BACK", back)
    return text if kind == "mdp" else text.replace("[wait] s=0 -> true;", "")


@pytest.mark.parametrize(
    ("kind", "back", "prop", "value"),
    [
        ("mdp", "true", "Pmax=? [ F=1e30 s=1 ]", 1),
        ("mdp", "(s'=0)", "Pmax=? [ F=1e30 s=1 ]", 0.5),
        ("mdp", "(s'=0)", "Pmax=? [ F<=1e30 s=1 ]", 1),
        ("mdp", "true", "Pmin=? [ F=1e30 s=1 ]", 0),
        ("dtmc", "(s'=0)", "P=? [ F=1e30 s=1 ]", 1 / 3),
        ("dtmc", "(s'=0)", "R=? [ I=1e30 ]", 1 / 3),
        ("dtmc", "true", "P=? [ F<=1e30 s=1 ]", 1),
        ("dtmc", "true", "P=? [ F>=1e30 s=1 ]", 1),
    ],
)
def test_answers_after_more_steps_than_can_be_made(kind: str, back: str, prop: str, value: float) -> None:
    found = ask(turns(kind, back), prop)
    if value:
        assert_number(found, value)
    else:
        assert found.lower == 0
        assert found.upper is not None
        assert found.upper <= 1e-290


@pytest.mark.parametrize(("steps", "value"), [("1000000000000000.0", 1.0), ("1000000000000001.0", 0.0)])
def test_numbers_that_come_back_every_other_step(steps: str, value: float) -> None:
    text = turns("dtmc", "(s'=0)").replace("0.5 : (s'=1) + 0.5 : true", "(s'=1)")
    assert_number(ask(text, f"P=? [ F={steps} s=0 ]"), value)


def test_what_is_not_settled_is_refused_within_seconds() -> None:
    text = turns("dtmc", "(s'=0)")
    start = time.perf_counter()
    with pytest.raises(GaltonError, match=r"1e\+30 steps are too many to be made one by one.*ask for fewer") as error:
        ask(text, "R=? [ C<=1e30 ]")
    assert error.value.kind == "limit"
    assert time.perf_counter() - start < allowed(60)


@pytest.mark.parametrize(("prop", "value"), [("P>=1 [ F=1e30 s=1 ]", False), ("P>0 [ G<=1e30 s=0 ]", True)])
def test_graph_analysis_of_as_many(prop: str, value: bool) -> None:
    assert ask(turns("dtmc", "(s'=0)"), prop).value is value


def test_sets_that_come_back_are_a_matter_of_the_remainder() -> None:
    text = turns("dtmc", "(s'=0)").replace("0.5 : (s'=1) + 0.5 : true", "(s'=1)")
    assert ask(text, "P>=1 [ F=1000000000000.0 s=0 ]").value is True
    assert ask(text, "P>=1 [ F=1000000000001.0 s=0 ]").value is False
