"""``galton check --strategy`` and ``--apply``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import DIE, WALK, galton, write

QUESTION = 'R{"steps"}min=? [ F "end" | lost ]'


def answer(*arguments: object) -> dict[str, Any]:
    outcome = galton("check", *arguments, "--json")
    assert outcome.code == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return found


@pytest.mark.parametrize(
    ("optimal", "plain"),
    [
        ('Pmax=? [ F "end" ]', 'P=? [ F "end" ]'),
        ("Pmax=? [ F lost ]", "P=? [ F lost ]"),
        (QUESTION, 'R{"steps"}=? [ F "end" | lost ]'),
        ("Pmax=? [ F<=3 lost ]", "P=? [ F<=3 lost ]"),
    ],
)
def test_a_strategy_is_worth_what_was_promised(optimal: str, plain: str, tmp_path: Path) -> None:
    walk, file = write(tmp_path, WALK), tmp_path / "best.json"
    best = answer(walk, "-c", "N=4", "-p", optimal, "--strategy", file)
    made = json.loads(file.read_text())
    assert (made["property"], made["constants"]) == (optimal, {"N": 4})
    applied = answer(walk, "-c", "N=4", "-p", plain, "--apply", file)
    assert applied["value"] == pytest.approx(best["value"], rel=4e-6)
    assert applied["choices"] == applied["states"]


def test_decisions_in_names(tmp_path: Path) -> None:
    file = tmp_path / "best.json"
    answer(write(tmp_path, WALK), "-c", "N=3", "-p", "Pmax=? [ F lost ]", "--strategy", file)
    decisions = json.loads(file.read_text())["decisions"]
    assert {"state": {"x": 1, "lost": False}, "action": "left", "choice": 0} in decisions


def test_another_model_is_worth_a_warning(tmp_path: Path) -> None:
    walk, file = write(tmp_path, WALK), tmp_path / "best.json"
    answer(walk, "-c", "N=3", "-p", "Pmax=? [ F lost ]", "--strategy", file)
    outcome = galton("check", walk, "-c", "N=4", "-p", "P=? [ F lost ]", "--apply", file)
    assert outcome.code == 0
    assert f"warning: {file} was made for N=3, and this is N=4\n" in outcome.err


def test_what_has_no_strategy(tmp_path: Path) -> None:
    walk, file = write(tmp_path, WALK), tmp_path / "best.json"
    for model, prop in (
        ([DIE], "P=? [ F d=6 ]"),
        ([walk, "-c", "N=3"], "1 - Pmax=? [ F lost ]"),
        ([walk, "-c", "N=3"], "A [ F lost ]"),
    ):
        outcome = galton("check", *model, "-p", prop, "--strategy", file)
        assert (outcome.code, outcome.out, file.exists()) == (2, "", False)
        assert outcome.err == f"error: {prop}: there is no strategy; only P, R, T, S and multi(…) of an MDP have one\n"


def test_a_missing_file(tmp_path: Path) -> None:
    walk = write(tmp_path, WALK)
    outcome = galton("check", walk, "-c", "N=3", "-p", "P=? [ F lost ]", "--apply", "no.json")
    assert (outcome.code, outcome.err) == (2, "error: no.json: No such file or directory\n")


# Two steps may be fast or slow; who has arrived may rest or leave.
ERRAND = """
mdp
module errand
  x : [0..3];
  [fast] x<2 -> 0.5 : (x'=x+1) + 0.5 : (x'=x);
  [slow] x<2 -> (x'=x+1);
  [rest] x=2 -> true;
  [leave] x=2 -> (x'=3);
  [] x=3 -> true;
endmodule
rewards "gone" x=3 : 1; endrewards
"""


@pytest.mark.parametrize("best", ['R{"gone"}max=? [ C<=4 ]', "Pmax=? [ F x=3 ]", "multi(Pmax=? [ F x=3 ])"])
def test_decisions_past_what_the_new_question_needs(best: str, tmp_path: Path) -> None:
    """Where a question is settled the model ends, and what the strategy does there is not looked at."""
    errand, file = write(tmp_path, ERRAND), tmp_path / "best.json"
    galton("check", errand, "-p", best, "--strategy", file)
    assert '"leave"' in file.read_text()
    applied = answer(errand, "-p", "P=? [ F x=2 ]", "--apply", file)
    assert applied["value"] == 1
    assert applied["full"] is False
    assert answer(errand, "-p", "P=? [ F x=3 ]", "--apply", file)["value"] == pytest.approx(1)
    estimate = galton("check", errand, "-p", "P=? [ F x=2 ]", "--apply", file, "--sim", "--paths", 100)
    assert (estimate.code, estimate.err) == (0, "")


@pytest.mark.parametrize("more", [[], ["--sim"]])
def test_a_number_that_a_file_of_one_strategy_does_not_have(more: list[str], tmp_path: Path) -> None:
    errand, file = write(tmp_path, ERRAND), tmp_path / "best.json"
    answer(errand, "-p", "Pmax=? [ F x=3 ]", "--strategy", file)
    outcome = galton("check", errand, "-p", "P=? [ F x=2 ]", "--apply", f"{file}:5", *more)
    assert outcome.code == 2
    assert f"there is no strategy 5: {file} has one; leave the number away" in outcome.err
    assert answer(errand, "-p", "P=? [ F x=2 ]", "--apply", f"{file}:1")["value"] == 1
