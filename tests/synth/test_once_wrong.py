"""Questions of synthesis that were once answered wrongly, refused for no reason, or never."""

from __future__ import annotations

import math
from typing import Any

import pytest
from played import played_device

import galton
from galton.lang import GaltonError
from galton.synth import api, evaluator, truncation
from galton.synth.goals import Threshold, Values
from galton.synth.refinement import Partition, refine
from galton.synth.regions import Box

CHAIN = """ctmc const double a; const double b; const double mu = a*2;
module m s : [0..3]; [] s=0 -> a : (s'=1); [] s=1 -> b : (s'=2); [] s=2 -> 1 : (s'=0); endmodule
rewards "here" true : s; endrewards"""
SPACE: dict[str, Any] = {"a": (0.1, 4.0), "b": (0.1, 4.0)}


def synthesize(prop: str, text: str = CHAIN, space: dict[str, Any] = SPACE, **how: Any) -> galton.Regions:
    return galton.synthesize(galton.parse(text), prop, **space, **how)


@pytest.mark.parametrize(
    "prop",
    [
        'label "big" = a > 1; P>=0.5 [ F<=1 "big" ]',
        "const double T = a; P>=0.5 [ F<=T s=2 ]",
        "const double T = mu; const double half = T/2; P>=0.5 [ F<=half s=2 ]",
    ],
)
def test_parameters_in_what_a_property_declares_are_refused(prop: str) -> None:
    with pytest.raises(GaltonError, match="depends on a parameter, so it cannot stand in the property"):
        synthesize(prop)


def test_resuming_with_parameters_in_another_order_is_refused() -> None:
    first = synthesize("P>=0.3 [ F<=1 s=2 ]", volume=0.3)
    with pytest.raises(GaltonError, match="parameters in another order: a, b"):
        synthesize("P>=0.3 [ F<=1 s=2 ]", space={"b": SPACE["b"], "a": SPACE["a"]}, volume=0.1, resume=first)


def test_resuming_with_another_model_or_label_is_refused() -> None:
    prop = 'label "there" = s=2; P>=0.3 [ F<=1 "there" ]'
    first = synthesize(prop, volume=0.3)
    for text, other in ((CHAIN.replace("-> a :", "-> 5*a :"), prop), (CHAIN, prop.replace("s=2;", "s=1;"))):
        with pytest.raises(GaltonError, match="the text of the model or the property has changed"):
            synthesize(other, text, volume=0.1, resume=first)
    assert synthesize(prop, volume=0.1, resume=first).complete


def test_small_probabilities_keep_their_digits_when_lifted() -> None:
    text = """dtmc const double p; const double q; const double r; module m s : [0..2];
    [] s=0 -> (1-p)*(1-q)*(1-r) : (s'=1) + 2e-13 : (s'=2) + 1-2e-13-(1-p)*(1-q)*(1-r) : (s'=0); endmodule"""
    ends = (1 - 6e-5, 1 - 5e-5)
    regions = synthesize("P=? [ F s=1 ]", text, {"p": ends, "q": ends, "r": ends}, accuracy=0.2)
    for point in ((0.99994125, 0.9999475, 0.99995), (0.99994, 0.99995, 0.999945)):
        box = regions.at(p=point[0], q=point[1], r=point[2])
        product = math.prod(1 - x for x in point)
        value = product / (product + 2e-13)
        assert box.lower <= value * (1 + 1e-6)
        assert box.upper >= value * (1 - 1e-6)


@pytest.mark.parametrize(
    ("text", "prop", "what"),
    [
        (CHAIN.replace("true : s", "true : a-2; [] true : 5"), "R=? [ I=1 ]", "reward"),
        (CHAIN.replace("[] s=0 -> a :", "[] s=0 -> a-1 : (s'=1); [] s=0 -> 5 :"), "P=? [ F<=1 s=2 ]", "rate"),
    ],
)
def test_what_is_negative_by_itself_is_refused(text: str, prop: str, what: str) -> None:
    with pytest.raises(GaltonError, match=f"the {what} .* may be negative within the ranges"):
        synthesize(prop, text, accuracy=0.5)


@pytest.mark.parametrize("probability", ["p*(1-p)", "0.5*(1-p)^2", "q^2*(1-p)", "p*(1-p)*(1-q)"])
def test_probabilities_that_are_never_negative_are_taken(probability: str) -> None:
    text = f"""dtmc const double p; const double q; module m s : [0..2];
    [] s=0 -> {probability} : (s'=1) + 0.1*q : (s'=2) + 1-0.1*q-({probability}) : (s'=0); endmodule"""
    regions = synthesize("P=? [ F<=3 s=1 ]", text, {"p": (0.0, 1.0), "q": (0.1, 0.9)}, accuracy=0.9)
    assert regions.complete


def test_a_sign_that_cannot_be_proved_is_told_as_that() -> None:
    text = CHAIN.replace("-> a :", "-> (a-b)^2 :")
    with pytest.raises(GaltonError, match="cannot be proved never to be negative within the ranges"):
        synthesize("P=? [ F<=1 s=1 ]", text, accuracy=0.5)


def test_infinite_rewards() -> None:
    text = """dtmc const double p; const double q; module m s : [0..2];
    [] s=0 -> p : (s'=1) + q : (s'=2) + 1-p-q : (s'=0); endmodule rewards [] true : 1; endrewards"""
    regions = synthesize("R<=2 [ F s=1 ]", text, {"p": (0.1, 0.4), "q": (0.1, 0.4)}, volume=0.1)
    assert regions.volume(regions.false) == pytest.approx(1)


@pytest.mark.parametrize("prop", ["P>=0.5 [ F<=0 s=2 ]", "P>=0.5 [ F<=2 s=3 ]", 'R{"here"}<=1 [ I=0 ]'])
def test_trivial_questions_on_a_device(prop: str) -> None:
    with played_device():
        there = synthesize(prop, device="cuda", volume=0.1)
    here = synthesize(prop, device="cpu", volume=0.1)
    assert [(box.low, box.verdict) for box in there.boxes] == [(box.low, box.verdict) for box in here.boxes]
    assert there.warnings == ()


@pytest.mark.parametrize("how", [{"maximize": True}, {"accuracy": 0.1}])
def test_an_interrupt_before_the_first_boxes(how: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("galton.synth.evaluator.BackwardEvaluator.bounds", interrupted)
    regions = synthesize("P=? [ F<=1 s=2 ]", **how)
    assert regions.interrupted
    assert regions.spread == (-math.inf, math.inf)
    assert repr(regions)
    assert galton.Regions.from_json(regions.to_json()).boxes == ()


def test_boxes_without_a_number_inside_are_not_split() -> None:
    partition = Partition((1.0,), (1.0 + 2**-50,))
    assert not refine(partition, Values(0.1), lambda low, high: (low[:, 0] * 0, low[:, 0] * 0 + 1), "best")
    assert len(partition.boxes) <= 8


# Two queues that are hardly ever long.
QUEUES = """ctmc const double k; const int N = 40;
module a x : [0..N] init 0; [] x<N -> k : (x'=x+1); [] x>0 -> 3*x : (x'=x-1); endmodule
module b y : [0..N] init 0; [] y<N -> 1.1*k : (y'=y+1); [] y>0 -> 3.2*y : (y'=y-1); endmodule"""


def test_a_threshold_close_to_one_is_not_blurred_by_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was left out was more than the threshold is from 1, and all boxes stayed undecided."""
    monkeypatch.setattr(evaluator, "WORTH_TRUNCATING", 0.0)
    found = synthesize("P>=0.999999999 [ G<=20 x+y<20 ]", QUEUES, {"k": (0.5, 0.6)})
    assert [box.verdict for box in found.boxes] == ["true"] * len(found.boxes)


def test_a_window_is_left_when_it_begins_to_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator, "WORTH_TRUNCATING", 0.0)
    monkeypatch.setattr(api, "_negligible", lambda *_: 0.01)
    monkeypatch.setattr(truncation, "ENOUGH", 1e-4)
    synthesis = api.Synthesis.prepare(
        galton.parse(QUEUES), "P>=0.12 [ F<=2 x=2 ]", {"k": (0.5, 0.6)}, {}, tolerance=1e-5
    )
    assert isinstance(synthesis.evaluator, evaluator.BackwardEvaluator)
    assert synthesis.evaluator.model.n_states < 200
    found = synthesis.run()
    assert found.complete
    assert found.true
    assert found.false
    assert synthesis.evaluator.model.n_states == 41  # of one queue, which is all that the question sees


def test_the_guess_of_a_window_ends_when_nothing_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """It went through all of a long time, which the bounds do not."""
    monkeypatch.setattr(evaluator, "WORTH_TRUNCATING", 0.0)
    monkeypatch.setattr(truncation, "MOST_WORK", 1e8)
    line = """ctmc const double k; module m x : [0..2000]; [] x<2000 -> k : (x'=x+1); [] x>0 -> 3 : (x'=x-1); endmodule
    rewards true : x; endrewards"""
    asked = api.Synthesis.prepare(galton.parse(line), "R<=0.5 [ I=200000 ]", {"k": (0.9, 1.1)}, {}).evaluator
    assert isinstance(asked, evaluator.BackwardEvaluator)
    assert asked.model.n_states < 100


def test_never_leaving_is_certain() -> None:
    """1 - 0 was a little less than 1."""
    text = "ctmc const double k; module m x : [0..3] init 0; [] x<2 -> k : (x'=x+1); endmodule"
    found = synthesize("P>=1 [ G<=1 x<3 ]", text, {"k": (0.9, 1.0)})
    assert {box.verdict for box in found.boxes} == {"true"}


def test_what_cannot_be_is_impossible() -> None:
    """A state that never changes got the rounding of the others."""
    text = "ctmc const double k; module m x : [0..3] init 0; [] x<3 -> k : (x'=x+1); endmodule"
    found = synthesize("P>0 [ x>0 U<=1 x=2 ]", text, {"k": (0.9, 1.0)})
    assert {box.verdict for box in found.boxes} == {"false"}


# Searches that did not end: splitting a box does not help where the number jumps, or is where it is compared.

JUMP = """
dtmc
const double a;
module jump
  s : [0..1];
  [] s=0 -> a : (s'=1) + 1-a : true;
  [] s=1 -> true;
endmodule
"""
HALF = """
dtmc
const double a;
module half
  s : [0..2];
  [] s=0 -> a : (s'=1) + a : (s'=2) + 1-2*a : true;
  [] s>0 -> true;
endmodule
"""


def test_the_least_number_of_a_jump_at_the_edge_is_found() -> None:
    """It is 0 for a=0 and 1 for all others; this split boxes for ever."""
    found = synthesize("P=? [ F s=1 ]", JUMP, minimize=True, space={"a": (0, 1)})
    assert found.optimum == (0, 0)
    assert found.best is not None
    assert found.best.point == (0,)
    assert not found.complete
    assert found.volume(found.optimal) < 1e-3
    assert found.statistics["boxes"] < 1000


def test_all_values_of_a_jump_end() -> None:
    found = synthesize("P=? [ F s=1 ]", JUMP, accuracy=0.1, space={"a": (0, 1)})
    assert not found.complete
    wide = [box for box in found.boxes if box.upper - box.lower > 0.1]
    assert [box.low for box in wide] == [(0,)]


@pytest.mark.parametrize("relation", [">=", ">", "<=", "<"])
def test_a_threshold_that_is_the_number_itself_ends_undecided(relation: str) -> None:
    found = synthesize(f"P{relation}0.5 [ F s=1 ]", HALF, space={"a": (0.1, 0.4)})
    assert not found.complete
    assert found.volume(found.undecided) == pytest.approx(1)
    assert found.statistics["boxes"] < 1000
    again = galton.Regions.from_json(found.to_json())
    assert again.boxes == found.boxes


def test_boxes_that_do_not_help_keep_nobody_from_splitting_others() -> None:
    stuck = Box((0.0,), (0.5,), 0.5 - 1e-8, 0.5 + 1e-8, "undecided", stuck=5)
    other = Box((0.5,), (0.6,), 0.2, 0.7, "undecided")
    partition = Partition((0.0,), (1.0,), {box.low: box for box in (stuck, other)})
    assert Threshold(">=", 0.5, 0.01).wanting(partition)[0] == other


def test_more_steps_than_the_synthesis_of_an_mdp_makes_are_refused() -> None:
    text = JUMP.replace("dtmc", "mdp").replace("[] s=1", "[] s=0 -> true;\n  [] s=1")
    with pytest.raises(GaltonError, match=r"1e\+30 steps are too many for the synthesis of an MDP"):
        synthesize("Pmax=? [ F<=1e30 s=1 ]", text, minimize=True, space={"a": (0.1, 0.9)})
