"""``galton lump``, and lumping in ``galton check``."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import MODELS, galton

HERMAN = (MODELS / "herman.prism", "-c", "N=7")
STABLE = 'R=? [ F "stable" ]'


def test_it_says_how_many_blocks_are_left() -> None:
    outcome = galton("lump", *HERMAN)
    assert outcome.out.startswith("dtmc: 9 blocks standing for 128 states\n  49 of 2,188 transitions; 3 rounds, ")
    told = json.loads(galton("lump", *HERMAN, "--json").out)
    assert (told["states"], told["standing_for"], told["states_before"]) == (9, 128, 128)


def test_the_quotient_is_written_and_has_the_same_answer(tmp_path: Path) -> None:
    for name in ("small.drn", "small.umb", "small.npz", "small.tra"):
        outcome = galton("lump", *HERMAN, "-p", STABLE, "-o", tmp_path / name)
        assert f"{name}  " in outcome.out
    asked = (f"filter(max, {STABLE})", "--json")
    expected = json.loads(galton("check", *HERMAN, "-p", *asked, "--no-symmetry").out)
    found = json.loads(galton("check", tmp_path / "small.umb", "-p", *asked).out)
    assert abs(found["value"] - expected["value"]) < 1e-5
    assert found["states"] == 9


def test_questions_about_single_states_are_refused() -> None:
    outcome = galton("lump", *HERMAN, "-p", f"filter(avg, {STABLE})")
    assert outcome.code == 2
    assert "no states can be lumped: a filter 'avg' is about all states" in outcome.err


def test_a_mistake_in_a_property_is_placed_as_check_does_it() -> None:
    said = galton("lump", *HERMAN, "-p", "P=? [ F stabel=1 ]").err
    assert said.startswith("--prop:1:9: error: unknown name 'stabel'")
    assert galton("check", *HERMAN, "-p", "P=? [ F stabel=1 ]").err == said


def test_a_suffix_that_nobody_writes_is_refused_before_the_work() -> None:
    outcome = galton("lump", *HERMAN, "-o", "small.xyz")
    assert outcome.code == 2
    assert not outcome.out


def test_check_tells_what_was_lumped_and_why_not() -> None:
    forced = galton("check", *HERMAN, "-p", STABLE, "--lump", "--no-symmetry", "--explain").out
    assert "dtmc: 9 blocks standing for 128 states" in forced
    assert "9 blocks standing for 128 states, 3 rounds" in forced
    assert "not used: the model is small" in galton("check", *HERMAN, "-p", STABLE, "--explain").out
    assert "lumping" not in galton("check", *HERMAN, "-p", STABLE, "--explain", "--no-lump").out
    assert json.loads(galton("check", *HERMAN, "-p", STABLE, "--lump", "--json").out)["full"] is False
