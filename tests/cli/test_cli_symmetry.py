"""Symmetries on the command line: what was done is told, and can be left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from command_line import MODELS, galton

COIN = (MODELS / "consensus.prism", "--const", "N=3,K=2")


def answers(*arguments: object) -> list[dict[str, Any]]:
    outcome = galton("check", *COIN, *arguments, "--json")
    return [json.loads(line) for line in outcome.out.splitlines()]


def test_states_stand_for_others() -> None:
    outcome = galton("check", *COIN, "--props", MODELS / "consensus.props")
    first, *_ = outcome.out.splitlines()
    assert first.startswith("mdp: 684 states standing for 2,720, "), first
    assert outcome.out.count("standing for") == 1, "all five share a model"


def test_all_states_on_request() -> None:
    for option in ("--no-symmetry", "--full"):
        outcome = galton("check", *COIN, "-p", 'Pmin=? [ F "finished" ]', option, "--no-slice")
        assert outcome.out.startswith("mdp: 2,720 states, ")
        assert "standing" not in outcome.out


def test_json_tells_both_numbers() -> None:
    (mine,), (theirs,) = answers("-p", "Pmax=? [ F heads=N ]"), answers("-p", "Pmax=? [ F heads=N ]", "--no-symmetry")
    assert mine["standing_for"] == theirs["states"] > mine["states"]
    assert not mine["full"]
    assert "standing_for" not in theirs
    assert abs(mine["value"] - theirs["value"]) <= 1e-6


def test_each_question_gets_the_states_it_needs() -> None:
    """One that is symmetric, one that names a process, one that counts states."""
    asked = ("-p", "Pmax=? [ F heads=N ]", "-p", "Pmax=? [ F coin1=1 & heads=1 ]", "-p", "filter(count, heads=1)")
    whole, named, counted = answers(*asked)
    assert whole["states"] < named["states"] < counted["states"]
    assert "standing_for" in named
    assert "standing_for" not in counted
    for mine, theirs in zip((whole, named, counted), answers(*asked, "--no-symmetry"), strict=True):
        assert abs(mine["value"] - theirs["value"]) <= 1e-6


def test_explain_says_what_and_why_not() -> None:
    asked = galton("check", *COIN, "-p", "Pmax=? [ F heads=N ]", "-p", "filter(count, heads=1)", "--explain")
    assert "symmetry" in asked.out
    assert "exchanges of 3: (do1, coin1), (do2, coin2), (do3, coin3)" in asked.out
    assert "not used: a filter 'count' is about all states" in asked.out
    named = galton("check", *COIN, "-p", "Pmax=? [ F do1=1 & do2=2 & do3=3 ]", "--explain")
    assert "not used: do1 = 1 & do2 = 2 & do3 = 3 is not the same when they move" in named.out


def test_a_strategy_is_one_for_all_states(tmp_path: Path) -> None:
    best = tmp_path / "best.json"
    outcome = galton("check", *COIN, "-p", 'Pmax=? [ F "finished" & "all_heads" ]', "--strategy", best, "--explain")
    assert "not used: a strategy is one for all states" in outcome.out
    applied = galton("check", *COIN, "-p", 'P=? [ F "finished" & "all_heads" ]', "--apply", best)
    assert (applied.code, "standing" in applied.out) == (0, False)


def test_info_counts_orbits_on_request() -> None:
    outcome = galton("info", *COIN, "--symmetry")
    states = next(line for line in outcome.out.splitlines() if "standing for" in line)
    assert states.split("  ", 1)[1].strip() == "684 standing for 2,720"
    plain, reduced = (json.loads(galton("info", *COIN, "--json", *more).out) for more in ((), ("--symmetry",)))
    assert reduced["standing_for"] == plain["states"]


def test_a_range_of_bounds_shares_one_model() -> None:
    outcome = galton("check", *COIN, "-p", "const int k; Pmax=? [ F<=k heads=1 ]", "--const", "k=1:4", "--json")
    found = [json.loads(line) for line in outcome.out.splitlines()]
    assert [answer["value"] for answer in found] == [0.5, 0.75, 0.875, 0.875]
    assert len({answer["standing_for"] for answer in found}) == 1
