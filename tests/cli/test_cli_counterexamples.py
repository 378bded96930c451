"""``galton check --counterexample``: what is printed, what is written, what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from command_line import DIE, WALK, galton, write

SIX = "P<=0.15 [ F d=6 ]"


def test_paths_are_printed_below_the_answer() -> None:
    outcome = galton("check", DIE, "-p", SIX, "--counterexample")
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert lines[1] == f"{SIX}  =  false"
    assert lines[2].startswith("  because the probability is 0.16666667, in [0.1666666")
    assert lines[4:12] == [
        f"  counterexample to {SIX}:",
        "    2 paths on which F d = 6 holds, with probability 0.15625 or more together; > 0.15 is needed",
        "    path 1, probability 0.125",
        "      step  probability  state",
        "         0               (node=0, d=0)",
        "         1          0.5  node=2",
        "         2          0.5  node=6",
        "         3          0.5  node=7, d=6",
    ]


def test_actions_of_an_mdp_and_its_strategy(tmp_path: Path) -> None:
    path, best = write(tmp_path, WALK), tmp_path / "best.json"
    outcome = galton("check", path, "-c", "N=2", "-p", "P<=0.01 [ F lost ]", "--counterexample", "--strategy", best)
    assert outcome.code == 1
    assert [line.split()[:3] for line in outcome.out.splitlines() if " left " in line] == [["2", "left", "0.1"]]
    assert "lost=true" in outcome.out
    assert json.loads(best.read_text())["decisions"]


def test_files(tmp_path: Path) -> None:
    json_file, csv_file = tmp_path / "why.json", tmp_path / "why.csv"
    assert galton("check", DIE, "-p", SIX, "--counterexample-file", json_file).code == 1
    record = json.loads(json_file.read_text())
    assert (record["property"], len(record["paths"]), record["needed"]) == (SIX, 2, "> 0.15")
    assert galton("check", DIE, "-p", "A [ G d<6 ]", "--counterexample-file", csv_file).code == 1
    rows = list(csv.DictReader(csv_file.read_text().splitlines()))
    assert (rows[0]["node"], rows[-1]["d"], rows[-1]["path"]) == ("0", "6", "1")


def test_json_has_the_paths() -> None:
    outcome = galton("check", DIE, "-p", SIX, "--counterexample", "--json")
    record = json.loads(outcome.out)
    assert record["value"] is False
    assert [path["probability"] for path in record["counterexample"]["paths"]] == [0.125, 0.03125]


def test_a_property_that_is_true_has_none() -> None:
    outcome = galton("check", DIE, "-p", "P<=0.2 [ F d=6 ]", "--counterexample")
    assert outcome.code == 0
    assert outcome.err == "note: P<=0.2 [ F d=6 ] is true: no paths show that\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-p", "P=? [ F d=6 ]", "--counterexample"], "there are counterexamples to bounds on probabilities"),
        (["-p", 'R{"tosses"}<=1 [ F d=6 ]', "--counterexample"], "not to averages"),
        (["-p", SIX, "-p", SIX, "--counterexample"], "a counterexample belongs to one property"),
        (["-p", SIX, "--counterexample-file", "why.txt"], "ends in .json or .csv"),
        (["-p", SIX, "--counterexample-file", "no/such/folder/why.csv"], "there is no folder"),
    ],
)
def test_mistakes_show_before_anything_is_built(options: list[str], said: str) -> None:
    outcome = galton("check", DIE, *options)
    assert outcome.code == 2
    assert said in outcome.err
    assert not outcome.out


def test_fair_strategies_have_none(tmp_path: Path) -> None:
    path = write(tmp_path, WALK)
    outcome = galton("check", path, "-c", "N=2", "-p", "P<=0.01 [ F lost ]", "--counterexample", "--fair")
    assert outcome.code == 2
    assert outcome.err.startswith("error: --fair and --counterexample do not go together")
