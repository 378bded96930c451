"""``galton simulate`` and ``galton check --sim``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from unittest.mock import patch

import pytest
from command_line import DIE, MODELS, galton

CONSENSUS = (MODELS / "consensus.prism", "--const", "N=2,K=2")
HEADS = 'P=? [ F "finished" & "all_heads" ]'


def test_a_path_as_a_table() -> None:
    outcome = galton("simulate", DIE, "--steps", "3", "--seed", "1")
    assert outcome.code == 0
    head, *rows = [line.split() for line in outcome.out.splitlines()]
    assert head[:3] == ["step", "node", "d"]
    assert [row[0] for row in rows] == ["0", "1", "2", "3"]
    assert outcome.out == galton("simulate", DIE, "--steps", "3", "--seed", "1").out
    assert outcome.out != galton("simulate", DIE, "--steps", "3", "--seed", "2").out


def test_csv_and_json_have_all_rows(tmp_path: Path) -> None:
    path = tmp_path / "sir.csv"
    given = (MODELS / "sir.prism", "--const", "S0=20,I0=2,R0=0,ki=0.01,kr=0.1", "--time", "5", "--paths", "3")
    assert galton("simulate", *given, "--csv", path).code == 0
    rows = list(csv.DictReader(path.open()))
    assert {row["path"] for row in rows} == {"0", "1", "2"}
    assert all(int(row["healthy"]) + int(row["ill"]) + int(row["immune"]) == 22 for row in rows)
    assert all(float(row["time"]) <= 5 for row in rows)
    lines = galton("simulate", *given, "--json").out.splitlines()
    assert len(lines) == len(rows)
    assert json.loads(lines[0])["healthy"] == 20


@pytest.mark.parametrize("suffix", ["png", "html"])
def test_pictures(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib" if suffix == "png" else "plotly")
    path = tmp_path / f"tandem.{suffix}"
    model = (MODELS / "tandem.prism", "--const", "c=5", "--time", "2", "--paths", "2")
    outcome = galton("simulate", *model, "--plot", path, "--only", "first,second")
    assert outcome.code == 0
    assert outcome.out.startswith(f"{path}  ")  # and no table
    found = path.read_bytes()
    assert found.startswith(b"\x89PNG") if suffix == "png" else b"first" in found
    wrong = galton("simulate", *model, "--plot", path, "--only", "third")
    assert wrong.code == 2
    assert "third" in wrong.err


def test_who_chooses_is_said() -> None:
    assert "each as likely" in galton("simulate", *CONSENSUS, "--steps", "3").err


def test_step_by_step() -> None:
    answers = iter(["2", "", "b", "what", "r 2", "q"])
    with patch("builtins.input", lambda prompt: next(answers)):
        outcome = galton("simulate", DIE, "--interactive")
    assert outcome.code == 0
    assert "step 1: (node=2, d=0)" in outcome.out
    assert outcome.out.count("drawn:") == 3
    assert outcome.out.count("b goes back") == 2  # at the beginning, and after what was no answer
    assert galton("simulate", DIE, "--interactive", "--csv", "x.csv").code == 2


def test_an_estimate_is_told_as_one() -> None:
    outcome = galton("check", DIE, "--prop", "P=? [ F d=6 ]", "--sim", "--confidence", "0.99", "--width", "0.02")
    assert outcome.code == 0
    assert "with confidence 0.99" in outcome.out
    assert "not proved" in outcome.out
    assert "≈" in outcome.out


def test_json_of_estimates_and_the_exit_code() -> None:
    outcome = galton("check", DIE, "-p", "P>=0.3 [ F d=6 ]", "-p", "P=? [ F d=6 ]", "--sim", "--json")
    assert outcome.code == 1
    test, number = (json.loads(line) for line in outcome.out.splitlines())
    assert (test["value"], test["proved"]) == (False, False)
    assert number["lower"] < 1 / 6 < number["upper"]
    assert number["confidence"] == 0.95


def test_a_range_of_constants_and_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "steps.csv"
    prop = "const int k; P=? [ F<=k d=6 ]"
    outcome = galton("check", DIE, "-p", prop, "-c", "k=3:5", "--sim", "--paths", "500", "--csv", path)
    assert outcome.code == 0
    rows = list(csv.DictReader(path.open()))
    assert [row["k"] for row in rows] == ["3", "4", "5"]
    assert all(float(row["lower"]) < float(row["value"]) < float(row["upper"]) for row in rows)


def test_strategies_from_files_and_uniform_ones(tmp_path: Path) -> None:
    path = tmp_path / "best.json"
    best = 'Pmax=? [ F "finished" & "all_heads" ]'
    assert galton("check", *CONSENSUS, "-p", best, "--strategy", path).code == 0
    found = json.loads(galton("check", *CONSENSUS, "-p", HEADS, "--sim", "--apply", path, "--json").out)
    assert found["lower"] < 5 / 9 < found["upper"]
    uniform = json.loads(galton("check", *CONSENSUS, "-p", HEADS, "--sim", "--apply", "uniform", "--json").out)
    assert uniform["upper"] < found["lower"]
    assert galton("simulate", *CONSENSUS, "--strategy", path, "--steps", "3").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sim", "--eps", "0.1"], "--width"),
        (["--sim", "--strategy", "best.json"], "--apply"),
        (["--sim", "--exact"], "--exact"),
        (["--seed", "3"], "for --sim"),
        (["--width", "0.1"], "for --sim"),
        (["--sim", "--apply", "uniform"], "needs choices"),
        (["--sim", "--confidence", "2"], "confidence"),
        (["--sim", "--width", "0.1", "--paths", "100"], "not both"),
        (["--sim", "--width", "2"], "the width of an interval for a probability is below 1, and this is 2"),
    ],
)
def test_options_that_would_do_nothing_are_refused(options: list[str], message: str) -> None:
    outcome = galton("check", DIE, "-p", "P=? [ F d=6 ]", *options)
    assert outcome.code != 0
    assert message in outcome.err


def test_an_mdp_without_a_strategy_is_told_what_to_do() -> None:
    outcome = galton("check", *CONSENSUS, "-p", HEADS, "--sim")
    assert outcome.code == 2
    assert "--apply FILE" in outcome.err
    assert "--apply uniform" in outcome.err


def test_questions_that_simulation_does_not_answer_point_at_the_text() -> None:
    outcome = galton("check", DIE, "-p", "S=? [ d=6 ]", "--sim")
    assert outcome.code != 0
    assert "long-run average" in outcome.err
    assert "^" in outcome.err


@pytest.mark.parametrize("suffix", ["tra", "umb", "drn", "npz", "mtx", "mat"])
def test_explicit_files_are_simulated_and_estimated(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"die.{suffix}"
    assert galton("convert", DIE, tmp_path / "die.all", file).code == 0
    path = galton("simulate", file, "--steps", "9", "--seed", "1")
    assert path.code == 0
    assert path.out.splitlines()[-1].split()[1] == "7"  # a die has fallen
    found = json.loads(galton("check", file, "-p", "P=? [ F d=6 ]", "--sim", "--json").out)
    assert found["lower"] < 1 / 6 < found["upper"]
    answers = iter(["2", "r 2", "q"])
    with patch("builtins.input", lambda prompt: next(answers)):
        outcome = galton("simulate", file, "--interactive")
    assert "step 1: (node=2, d=0)" in outcome.out


def test_choices_of_an_explicit_file_need_a_strategy(tmp_path: Path) -> None:
    file, path = tmp_path / "coin.umb", tmp_path / "best.json"
    assert galton("convert", *CONSENSUS, file).code == 0
    assert "--apply uniform" in galton("check", file, "-p", HEADS, "--sim").err
    assert galton("check", file, "-p", HEADS.replace("P=", "Pmax="), "--strategy", path).code == 0
    best = json.loads(galton("check", file, "-p", HEADS, "--sim", "--apply", path, "--json").out)
    assert best["lower"] < 5 / 9 < best["upper"]
    uniform = json.loads(galton("check", file, "-p", HEADS, "--sim", "--apply", "uniform", "--json").out)
    assert uniform["upper"] < best["lower"]
    assert "for --sim" in galton("check", file, "-p", HEADS, "--apply", "uniform").err
    assert galton("simulate", file, "--apply", path, "--steps", "3").code == 0


def test_names_of_properties_are_printed() -> None:
    outcome = galton("check", DIE, MODELS / "die.props", "--name", "six", "--sim")
    assert outcome.out.startswith("six: P=? [ F d=6 ]  ≈  0.1")
