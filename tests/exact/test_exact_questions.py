"""Exact answers: the numbers of the text, not of doubles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from libraries import each_library, using

import galton
from galton import GaltonError, Settings
from galton.checking.exact import limits, proposals
from galton.checking.gate import ImpossibleAnswerError
from galton.checking.quantity import Quantity

WALK = """
mdp
const int N = 4;
module walk
  x : [0..N] init 1;
  lost : bool;
  [left]  x>0 & x<N & !lost -> 0.9 : (x'=x-1) + 0.1 : (lost'=true);
  [right] x<N & !lost -> 1/3 : (x'=x) + 2/3 : (x'=x+1);
  [] lost -> (lost'=true);
endmodule
label "end" = x=N;
rewards "steps" [left] true : 1; [right] true : 1.5; endrewards
"""
RING = """
ctmc
const double slow = 1/3;
module ring
  s : [0..2];
  [] s=0 -> slow : (s'=1);
  [] s=1 -> 0.1 : (s'=2) + 0.2 : (s'=0);
  [] s=2 -> 7 : (s'=0);
endmodule
rewards "r" s=1 : 0.3; [] s=2 : 1; endrewards
"""


def exact(text: str, prop: str, **constants: object) -> object:
    return galton.check(galton.parse(text), prop, exact=True, **constants).exact


@each_library
@pytest.mark.parametrize(
    ("text", "prop", "expected"),
    [
        (WALK, "Pmax=? [ F lost ]", Fraction(1)),
        (WALK, "Pmin=? [ F lost ]", Fraction(0)),
        (WALK, 'Pmax=? [ F<=3 "end" ]', Fraction(8, 27)),
        (WALK, 'R{"steps"}min=? [ F "end" ]', Fraction(27, 4)),
        (WALK, 'R{"steps"}max=? [ C<=2 ]', Fraction(3)),
        (WALK, 'R{"steps"}max=? [ F "end" ]', math.inf),
        (WALK, "Tmin=? [ F x=2 ]", Fraction(3, 2)),
        (WALK, "Pmax=? [ X x=2 ]", Fraction(2, 3)),
        (WALK, 'Pmax=? [ (F x=0) & (F "end") ]', Fraction(9, 10)),
        (WALK, 'Smax=? [ "end" ]', Fraction(1)),
        (WALK, "1 - Pmax=? [ X x=2 ]", Fraction(1, 3)),
        (WALK, "filter(avg, Pmax=? [ X x=2 ], x<=1 & !lost)", Fraction(1, 3)),
        (WALK, "filter(count, Pmax>=2/3 [ X x=2 ])", Fraction(3)),
        (RING, "S=? [ s=1 ]", Fraction(35, 67)),
        (RING, "P=? [ X s=2 ]", Fraction(0)),
        (RING, "P=? [ s<2 U s=2 ]", Fraction(1)),
        (RING, "T=? [ F s=2 ]", Fraction(19)),
        (RING, 'R{"r"}=? [ F s=2 ]', Fraction(3)),
    ],
)
def test_answers(text: str, prop: str, expected: Fraction | float, library: str) -> None:
    with using(library):
        assert exact(text, prop) == expected


@pytest.mark.parametrize("relation", ["<", "<=", ">", ">="])
def test_a_bound_that_is_met_exactly_is_decided(relation: str) -> None:
    die = galton.load("models/die.prism")
    found = galton.check(die, f"P{relation}1/6 [ F d=6 ]", exact=True)
    assert found.value is (relation in ("<=", ">="))


def test_tenths_are_tenths() -> None:
    text = "dtmc module m s:[0..3]; [] s=0 -> 0.1:(s'=1) + 0.2:(s'=2) + 0.7:(s'=3); endmodule"
    assert exact(text, "P=? [ F s=1 | s=2 ]") == Fraction(3, 10)
    assert galton.check(galton.parse(text), "P<=0.3 [ F (s=1 | s=2) ]", exact=True).value is True


def test_what_depends_on_a_state_is_not_rounded() -> None:
    text = "dtmc module m x:[0..4] init 3; [] x>0 -> x*0.1:(x'=0) + 1-x*0.1:(x'=x); endmodule"
    assert exact(text, "R=? [ F x=0 ]".replace("R=?", "T=?")) == Fraction(10, 3)
    assert exact(text, "P=? [ X x=0 ]") == Fraction(3, 10)


def test_a_constant_from_outside_counts_as_written() -> None:
    text = "dtmc const double p; module m s:[0..2]; [] s=0 -> p:(s'=1) + 1-p:(s'=2); endmodule"
    for given in (0.1, "1/10", Fraction(1, 10)):
        found = galton.check(galton.parse(text, p=given), "P=? [ F s=1 ]", exact=True)
        assert found.exact == Fraction(1, 10)


def test_several_initial_states_give_a_pair() -> None:
    text = "dtmc module m s:[0..3]; [] s<2 -> 1/3:(s'=2) + 2/3:(s'=3); endmodule init s<=2 endinit"
    found = galton.check(galton.parse(text), "P=? [ F s=2 ]", exact=True)
    assert found.exact == (Fraction(1, 3), Fraction(1))
    assert found.text == "1/3 to 1"


def test_models_of_doubles_are_the_fractions_that_these_are() -> None:
    chain = galton.Model.from_matrix("ctmc", [[0, 0.1, 0.2], [0, 1, 0], [0, 0, 1]], labels={"won": [1]})
    found = galton.check(chain, 'P=? [ F "won" ]', exact=True)
    assert found.exact == Fraction(0.1) / (Fraction(0.1) + Fraction(0.2))


def test_rows_that_do_not_sum_to_1_are_divided_and_somebody_is_told() -> None:
    text = "dtmc module m s:[0..2]; [] s=0 -> 0.33333333:(s'=1) + 0.66666666:(s'=2); endmodule"
    found = galton.check(galton.parse(text), "P=? [ F s=1 ]", exact=True)
    assert found.exact == Fraction(1, 3)
    assert "divided by their exact sum" in found.warnings[0]


def test_the_doubles_of_an_answer_enclose_it() -> None:
    found = galton.check(galton.load("models/die.prism"), "P=? [ F d=6 ]", exact=True)
    assert Fraction(found.lower) < found.exact < Fraction(found.upper)
    assert math.nextafter(found.lower, 1) == found.upper
    assert found.value == 1 / 6


def test_long_fractions_are_told_by_their_length_and_kept_in_full() -> None:
    chain = galton.load("models/cluster.prism", N=2)
    found = galton.check(chain, 'S=? [ "minimum" ]', exact=True)
    assert found.text.endswith("digits")
    assert len(found.text) < 80
    assert float(found.exact) == found.value


def test_targets_that_doubles_see_too_soon_do_not_end_the_exploration() -> None:
    text = "dtmc module m x:[0..5]; [] x<5 -> 1/2:(x'=x+1) + 1/2:(x'=0); endmodule"
    program = galton.parse(text)
    cut = galton.check(program, "T=? [ F x*0.1>0.3 ]").value
    assert cut == pytest.approx(14)  # to 3, because a double is above 0.3 there
    assert galton.check(program, "T=? [ F x*0.1>0.3 ]", exact=True).exact == 30
    assert galton.check(program, "P=? [ F x*0.1>0.3 ]", exact=True).exact == 1


def test_rewards_below_zero_in_chains() -> None:
    text = "dtmc module m s:[0..1]; [] true -> 1/3:(s'=0) + 2/3:(s'=1); endmodule rewards s=0 : -1; s=1 : 1; endrewards"
    assert exact(text, "R=? [ S ]") == Fraction(1, 3)
    assert exact(text, "R=? [ I=1 ]") == Fraction(1, 3)
    assert exact(text, "R=? [ C<=2 ]") == Fraction(-2, 3)
    with pytest.raises(GaltonError, match="negative rewards"):
        exact(text, "R=? [ F s=1 ]")


def test_a_reward_that_doubles_do_not_see_is_zero() -> None:
    text = "dtmc module m x:[0..4] init 3; [] x=3 -> (x'=4); endmodule rewards x=3 : 0.1*x-0.3; endrewards"
    assert galton.check(galton.parse(text), "R=? [ F x=4 ]").value > 0
    assert exact(text, "R=? [ F x=4 ]") == 0


@pytest.mark.parametrize("kind", ["dtmc", "mdp", "ctmc"])
def test_the_loop_of_a_deadlock_is_no_unlabelled_action(kind: str) -> None:
    text = f"{kind} module m s:[0..1]; [] s=0 -> (s'=1); endmodule rewards [] true : 3; endrewards"
    assert exact(text, f"R{'max' if kind == 'mdp' else ''}=? [ C ]") == 3


def test_a_model_that_doubles_cut_off_too_soon_is_refused() -> None:
    from galton.checking.answering import check
    from galton.checking.exploration import terminal
    from galton.explore import build
    from galton.lang import Source, parse_properties
    from galton.lang.resolution import resolve

    program = galton.parse("dtmc module m x:[0..5]; [] x<5 -> 1/2:(x'=x+1) + 1/2:(x'=0); endmodule")
    context, (question,) = resolve(parse_properties(Source("p", "P=? [ F x*0.1>0.3 ]")), program, {})
    model = build(program, terminal=terminal([(context, question)]))
    with pytest.raises(GaltonError, match="other transitions in exact numbers"):
        check(context, model, question, Settings(exact=True))


# What is refused.


@pytest.mark.parametrize(
    ("text", "prop", "message"),
    [
        (RING, "P=? [ F<=1 s=2 ]", "within a time is no rational number"),
        (RING, 'R{"r"}=? [ C<=1 ]', "within a time is no rational number"),
        (RING, 'R{"r"}=? [ I=1 ]', "within a time is no rational number"),
        (RING.replace("1/3", "log(2, 10)"), "S=? [ s=1 ]", "'log' has no rational value"),
        (RING.replace("1/3", "pow(2, 0.5)"), "S=? [ s=1 ]", "exponent that is not whole"),
        (WALK, 'multi(Pmax=? [ F "end" ], R{"steps"}min=? [ C ])', "several objectives"),
        (WALK, 'Pmax=? [ F "end" || F "end" ]', "conditions have no exact answer"),
        (WALK, 'Pmax=? [ F{"steps"}<=3 "end" ]', "budgets have no exact answer"),
        (WALK, 'quantile(min b, Pmax>=0.5 [ F{"steps"}<=b "end" ])', "quantiles have no exact answer"),
    ],
)
def test_what_has_no_rational_value_is_refused(text: str, prop: str, message: str) -> None:
    with pytest.raises(GaltonError, match=message):
        exact(text, prop)


def test_a_constant_that_may_have_been_rounded_is_refused() -> None:
    text = "dtmc const double p; module m s:[0..2]; [] s=0 -> p:(s'=1) + 1-p:(s'=2); endmodule"
    with pytest.raises(GaltonError, match="may have been rounded"):
        galton.check(galton.parse(text, p="log(2, 10)"), "P=? [ F s=1 ]", exact=True)


def test_a_guard_that_doubles_decide_otherwise_is_refused() -> None:
    text = "dtmc module m x:[0..4] init 3; [] x*0.1=0.3 -> (x'=4); [] x*0.1!=0.3 -> (x'=0); endmodule"
    assert galton.check(galton.parse(text), "P=? [ F x=4 ]").value == 0  # as PRISM has it
    with pytest.raises(GaltonError, match="other transitions in exact numbers"):
        exact(text, "P=? [ F x=4 ]")


def test_a_constant_guard_that_doubles_decide_otherwise_is_refused() -> None:
    text = "dtmc const double p = 0.1; module m x:[0..2]; [] x=0 -> (x'=1); [] x=0 & p+1e-30>p -> (x'=2); endmodule"
    with pytest.raises(GaltonError, match="other transitions in exact numbers"):
        exact(text, "P=? [ F x=2 ]")


def test_large_models_are_refused_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_TRANSITIONS", 5)
    with pytest.raises(GaltonError, match=r"exact numbers are for at most 5; choose smaller constants"):
        exact(WALK, "Pmax=? [ F lost ]")


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits.Watchman.__init__, "__defaults__", (-1.0,))
    with pytest.raises(GaltonError, match="takes longer than"):
        exact(WALK, 'R{"steps"}min=? [ F "end" ]')


def test_too_many_steps_are_refused_soon() -> None:
    with pytest.raises(GaltonError, match=r"1,000,000,000 steps in exact numbers would take about"):
        galton.check("models/die.prism", "P=? [ F<=1000000000 d=6 ]", exact=True)


@pytest.mark.parametrize(
    "settings",
    [{"eps": 1e-9}, {"relative": False}, {"method": "jacobi"}, {"max_iterations": 5}, {"strategy": True}],
)
def test_settings_that_would_do_nothing_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(GaltonError, match="does nothing beside exact=True"):
        galton.check("models/die.prism", "P=? [ F d=6 ]", exact=True, settings=Settings(**settings))


@pytest.mark.parametrize("choice", [{"eps": 1e-6}, {"device": "cuda"}, {"strategy": True}, {"certificate": True}])
def test_choices_that_would_do_nothing_are_refused(choice: dict[str, object]) -> None:
    with pytest.raises(GaltonError, match="does nothing beside exact=True"):
        galton.check("models/die.prism", "P=? [ F d=6 ]", exact=True, **choice)


def test_an_answer_outside_the_bounds_of_doubles_is_an_error() -> None:
    found = Quantity(np.array([0.25]), np.array([0.5]), "made up")
    proposals.agree([Fraction(1, 3)], found, "P=?", 0.0, 1)
    with pytest.raises(ImpossibleAnswerError, match="mistake of Galton"):
        proposals.agree([Fraction(2, 3)], found, "P=?", 0.0, 1)
    with pytest.raises(ImpossibleAnswerError, match="mistake of Galton"):
        proposals.agree([math.inf], found, "R=?", 0.0, 1)
