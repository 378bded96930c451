"""``galton transient`` and ``galton steady-state``, and curves on the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from unittest.mock import patch

import pytest
from command_line import DIE, MODELS, galton


def test_a_table_and_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "die.csv"
    outcome = galton("transient", DIE, "--time", "0:3", "--expression", "d", "--csv", path)
    assert outcome.code == 0
    assert "no set of states is off by more than 0" in outcome.out
    rows = list(csv.DictReader(path.open()))
    assert [(row["time"], row["d"], float(row["probability"])) for row in rows[:2]] == [
        ("0.0", "0", 1.0),
        ("1.0", "0", 1.0),
    ]
    last = {row["d"]: float(row["probability"]) for row in rows if row["time"] == "3.0"}
    assert last == {"0": 0.25, **{str(k): 0.125 for k in range(1, 7)}}


def test_the_long_run_with_a_picture(tmp_path: Path) -> None:
    for suffix in ("png", "html"):
        path = tmp_path / f"die.{suffix}"
        outcome = galton("steady-state", DIE, "-e", "d", "--plot", path)
        assert outcome.code == 0
        assert path.stat().st_size > 1000
    assert sum(line.split()[0] in "123456" for line in outcome.out.splitlines()) == 6


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["transient", MODELS / "csma.prism", "-c", "N=2,K=2", "--time", "1"], "an MDP has no distribution"),
        (
            ["transient", MODELS / "csma.prism", "-c", "N=2,K=2", "--time", "1"],
            "galton.transient(strategy.induced(), …)",
        ),
        (["transient", DIE, "--time", "1.5"], "whole numbers"),
        (["transient", DIE, "--time", "x"], "--time:1:1: error: unknown name 'x'"),
        (["transient", DIE, "--time", "3:1"], "the range is empty"),
        (["steady-state", DIE, "--plot", "die.txt"], "no kind of picture"),
        (["steady-state", DIE, "-e", "P=? [ F d=1 ]"], "an expression over variables"),
    ],
)
def test_mistakes(arguments: list[object], told: str) -> None:
    outcome = galton(*arguments)
    assert outcome.code == 2
    assert told in outcome.err


def test_an_experiment_over_a_bound_makes_its_steps_once() -> None:
    asked = ["check", DIE, "-c", "T=0:20", "-p", "const int T; P=? [ F<=T d=6 ]", "--json"]
    with patch("galton.checking.answering.check", side_effect=AssertionError("asked alone")):
        outcome = galton(*asked)
    assert outcome.code == 0
    answers = [json.loads(line) for line in outcome.out.splitlines()]
    assert [answer["constants"]["T"] for answer in answers] == list(range(21))
    assert [answer["value"] for answer in answers[:6]] == [0, 0, 0, 0.125, 0.125, 0.15625]
