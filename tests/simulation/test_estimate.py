"""Estimates beside exact answers, of every kind of question, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from coverage_campaign import holding
from known_answers import KNOWN, MODELS, Known

import galton
from galton.lang.source import GaltonError

WALK = "dtmc module m x : int init 0; [] true -> 0.5 : (x'=x+1) + 0.5 : (x'=x-1); endmodule"


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_intervals_hold_the_exact_answer(known: Known) -> None:
    """A miss has a chance of one in 10,000 each; seeds are fixed."""
    found = known.estimate(confidence=0.9999, paths=20_000, seed=5, threads=1)
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower - 1e-6 <= known.exact <= found.upper + 1e-6
    assert found.upper - found.lower < 0.1 * max(1.0, known.exact)
    assert not found.proved


def test_intervals_hold_about_as_often_as_they_say() -> None:
    """120 runs at 0.8: fewer than 82 % - 14 % or so would have a chance of a few in ten thousand."""
    runs = 120
    for known in (KNOWN[0], KNOWN[6]):
        assert holding(known, runs, 0.8) >= 0.67 * runs


@pytest.mark.parametrize(
    ("prop", "expected"),
    [("P>=0.15 [ F d=6 ]", True), ("P>0.18 [ F d=6 ]", False), ("P<=0.15 [ F d=6 ]", False), ("P<1 [ F d=6 ]", True)],
)
def test_thresholds_are_tested_sequentially(prop: str, expected: bool) -> None:
    program = galton.load(MODELS / "die.prism")
    found = galton.estimate(program, prop, confidence=0.999)
    assert found.value is expected
    assert bool(found) is expected
    assert found.lower is None
    assert "either answer" in found.assumption
    fixed = galton.estimate(program, prop, confidence=0.999, paths=30_000)
    assert fixed.value is expected
    assert fixed.lower is not None


def test_thresholds_of_rewards_and_those_that_are_not_decided() -> None:
    program = galton.load(MODELS / "die.prism")
    assert galton.estimate(program, 'R{"tosses"}>=3 [ F "done" ]').value is True
    assert galton.estimate(program, 'R{"tosses"}<=3 [ F "done" ]').value is False
    assert galton.estimate(program, "P>=0.16666667 [ F d=6 ]", paths=1000).value is None


def test_seeds_and_threads() -> None:
    program = galton.load(MODELS / "die.prism")
    one = galton.estimate(program, "P=? [ F<=5 d=6 ]", seed=3, threads=1)
    two = galton.estimate(program, "P=? [ F<=5 d=6 ]", seed=3, threads=2)
    other = galton.estimate(program, "P=? [ F<=5 d=6 ]", seed=4)
    assert (one.value, one.steps) == (two.value, two.steps)
    assert one.value != other.value


def test_a_walk_without_an_end_is_cut_and_says_so() -> None:
    """It comes to 5 with probability 1, but in a mean time without a bound: many paths are cut."""
    program = galton.parse(WALK)
    found = galton.estimate(program, "P=? [ F x=5 ]", paths=400, path_length=500)
    assert found.cut > 50
    assert found.upper == 1.0
    assert found.lower is not None
    assert found.lower < 1 - found.cut / 500
    assert "both ends" in found.warnings[0]
    with pytest.raises(GaltonError, match="path_length"):
        galton.estimate(program, "T=? [ F x=5 ]", path_length=500)
    undecided = galton.estimate(program, "P>=0.95 [ F x=5 ]", path_length=100)
    assert undecided.value is None
    bounded = galton.estimate(program, "P=? [ F<=500 x=5 ]", paths=400)
    assert bounded.cut == 0


def test_what_the_graph_knows_is_used_where_the_model_is_small() -> None:
    """From the trap nothing comes back, and in the ring nothing ends: no path is cut, and infinity is told."""
    text = """dtmc module m s : [0..4];
        [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=3); [] s=1 -> (s'=2); [] s=2 -> (s'=1); [] s=3 -> (s'=4); endmodule
        rewards "r" true : 1; endrewards"""
    program = galton.parse(text)
    found = galton.estimate(program, "P=? [ F s=4 ]", confidence=0.9999)
    assert found.cut == 0
    assert found.lower <= 0.5 <= found.upper
    for prop in ('R{"r"}=? [ F s=4 ]', 'R{"r"}=? [ C ]'):
        assert galton.estimate(program, prop).value == math.inf
    late = galton.estimate(program, "P=? [ F>=3 s=2 ]", confidence=0.9999)
    assert late.cut == 0
    assert late.lower <= 0.5 <= late.upper
    total = galton.parse(text.replace("true : 1;", "s=3 : 2;"))
    spent = galton.estimate(total, 'R{"r"}=? [ C ]', confidence=0.9999, paths=20_000)
    assert spent.lower <= 1 <= spent.upper


def test_formulas_of_linear_time() -> None:
    text = """dtmc module m s : [0..3] init 0;
        [] s=0 -> 0.3 : (s'=1) + 0.7 : (s'=2); [] s=1 -> 0.5 : (s'=1) + 0.5 : (s'=3); [] s=3 -> (s'=1);
        [] s=2 -> (s'=2); endmodule"""
    program = galton.parse(text)
    for prop, exact in [("P=? [ G F s=3 ]", 0.3), ("P=? [ F G s!=3 ]", 0.7), ("P=? [ (X s=1) & (F s=3) ]", 0.3)]:
        for subject in (program, program.build()):
            found = galton.estimate(subject, prop, confidence=0.9999)
            assert found.lower <= exact <= found.upper
    reward = galton.parse(text + ' rewards "r" true : 1; endrewards')
    with pytest.raises(GaltonError):
        galton.estimate(reward, 'R{"r"}=? [ G F s=3 ]')


def test_large_models_and_formulas_that_no_finite_path_settles() -> None:
    program = galton.parse(WALK)
    with pytest.raises(GaltonError, match="components of its graph"):
        galton.estimate(program, "P=? [ G F x=0 ]")
    found = galton.estimate(program, "P=? [ (F x=2) & (X x=1) ]", paths=300, path_length=2000)
    assert found.lower <= 0.5 <= found.upper
    assert found.cut > 0


def test_an_mdp_needs_a_strategy() -> None:
    program = galton.load(MODELS / "consensus.prism", N=2, K=2)
    with pytest.raises(GaltonError, match="uniform"):
        galton.estimate(program, "P=? [ F walk>8 ]")
    uniform = galton.estimate(program, "P=? [ F<=20 walk>8 ]", strategy="uniform", confidence=0.9999)
    model = galton.estimate(program.build(), "P=? [ F<=20 walk>8 ]", strategy="uniform", confidence=0.9999)
    assert abs(uniform.value - model.value) < 0.02
    with pytest.raises(GaltonError, match="needs choices"):
        galton.estimate(galton.load(MODELS / "die.prism"), "P=? [ F d=6 ]", strategy="uniform")


def test_a_strategy_from_a_file(tmp_path: Path) -> None:
    from galton.checking.strategies.strategy_file import write_strategy

    program = galton.load(MODELS / "consensus.prism", N=2, K=2)
    best = galton.check(program, 'Pmax=? [ F "finished" & "all_heads" ]', strategy=True)
    write_strategy(tmp_path / "best.json", best.strategy)
    found = galton.estimate(
        program, 'P=? [ F "finished" & "all_heads" ]', strategy=tmp_path / "best.json", confidence=0.9999
    )
    assert found.lower <= 5 / 9 <= found.upper
    traces = galton.simulate(program, strategy=tmp_path / "best.json", steps=5)
    assert len(traces) == 6
    held = galton.check(program.build(), 'Pmax=? [ F "finished" & "all_heads" ]', strategy=True).strategy
    followed = program.build().simulate(strategy=held, steps=5)
    assert [followed.state(row) for row in range(6)] == [traces.state(row) for row in range(6)]


@pytest.mark.parametrize(
    ("prop", "message"),
    [
        ("S=? [ d=6 ]", "long-run"),
        ('R{"tosses"}=? [ S ]', "long-run"),
        ("filter(max, P=? [ F d=6 ], true)", "filter"),
        ("P=? [ F P>=0.5 [ X d=6 ] ]", "inside another"),
        ('P=? [ F{"tosses"}<=3 d=6 ]', "bound on rewards"),
        ("A [ F d=6 ]", "A and E"),
        ("P=? [ F d=6 || F d>3 ]", "condition"),
        ("d=6", "one P or R"),
        ("1 - P=? [ F d=6 ]", "one P or R"),
    ],
)
def test_what_is_no_question_about_paths_is_refused(prop: str, message: str) -> None:
    program = galton.load(MODELS / "die.prism")
    with pytest.raises(GaltonError, match=message):
        galton.estimate(program, prop)


def test_bad_wishes() -> None:
    program = galton.load(MODELS / "die.prism")
    for wish in ({"confidence": 1.0}, {"width": 0.0}, {"paths": 1}, {"seed": -1}, {"threads": 0}):
        with pytest.raises(GaltonError):
            galton.estimate(program, "P=? [ F d=6 ]", **wish)
    with pytest.raises(GaltonError, match="larger"):
        galton.estimate(program, 'R{"tosses"}=? [ F "done" ]', width=1e-6)
    with pytest.raises(GaltonError, match="initial states"):
        galton.estimate(galton.load(MODELS / "herman.prism", N=3), "P=? [ F<=3 x1=x2 ]")
    with pytest.raises(GaltonError, match="no time"):
        program.simulate(time=3.0)
    with pytest.raises(GaltonError, match="rows"):
        program.simulate(steps=1e9)


def test_rewards_that_are_rare_are_not_taken_for_none() -> None:
    """A path in 10,000 earns 10; most samples have none, and their spread of 0 says nothing about the mean of 0.001."""
    text = """dtmc module m s : [0..2]; [] s=0 -> 0.0001 : (s'=1) + 0.9999 : (s'=2); [] s>0 -> true; endmodule
        rewards "r" s=1 : 10; endrewards"""
    program = galton.parse(text)
    for prop in ('R{"r"}=? [ I=1 ]', 'R{"r"}=? [ C<=2 ]'):
        for seed in range(20):
            for subject in (program, program.build()):
                found = galton.estimate(subject, prop, paths=2000, seed=seed)
                assert found.lower <= 0.001 <= found.upper
                assert found.upper < 0.2
                assert "normal" not in found.assumption
    endless = galton.estimate(program, 'R{"r"}=? [ F s>0 ]', paths=100)
    assert (endless.value, endless.upper) == (0.0, math.inf)  # as far as a hundred paths can tell
    sure = galton.estimate(galton.load(MODELS / "die.prism"), 'R{"tosses"}=? [ C<=3 ]')
    assert sure.lower < 3.0 <= sure.upper
    assert sure.value == 3.0


def test_whatever_can_be_checked_can_be_estimated(tmp_path: Path) -> None:
    program = galton.load(MODELS / "die.prism")
    galton.write_model(program.build(), tmp_path / "die.umb")
    for subject in (MODELS / "die.prism", tmp_path / "die.umb", program, program.build()):
        found = galton.estimate(subject, ["P=? [ F d=6 ]", MODELS / "die.props"], k=2)
        assert len(found) == 7
        assert found[0].lower < 1 / 6 < found[0].upper
        assert found[2].name == "six"
    assert len(galton.simulate(tmp_path / "die.umb", steps=2)) == 3
    with pytest.raises(GaltonError, match="list of estimates"):
        galton.estimate(program, "P=? [ F d=6 ] \n P=? [ F d=5 ]")
    with pytest.raises(GaltonError, match=r"galton\.read_model"):
        galton.load(tmp_path / "die.umb")
    with pytest.raises(GaltonError, match="has no constant"):
        galton.simulate(program, p=0.5)


def test_an_estimate_is_a_number() -> None:
    program = galton.load(MODELS / "die.prism")
    six = galton.estimate(program, "P=? [ F d=6 ]", paths=1000)
    assert six * 6 == six.value * 6
    assert f"{six:.3f}" == f"{six.value:.3f}"
    assert six < 0.5
    assert "1,000 random paths" in six._repr_html_()
    with pytest.raises(TypeError, match="no single number"):
        float(galton.estimate(program, "P>=0.9 [ F d=6 ]"))
