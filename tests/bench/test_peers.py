"""Other tools answer the same questions, and a row says where they do not agree."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from galton.bench import peers
from galton.bench.decisions import EXPERIMENTS, FAMILIES
from galton.bench.experiment import Options

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}
COIN = FAMILIES[0].instance("coin2_2")


def options(*against: str, prism: Path | None = None) -> Options:
    return Options(device="cpu", against=against, prism=prism, models=ROOT / "models")


def prism(folder: Path, *said: str) -> Path:
    """A program that prints lines, after the arguments that it was given."""
    path = folder / "prism"
    path.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:])\nprint({chr(10).join(said)!r})\n")
    path.chmod(0o755)
    return path


def test_no_peers_no_columns() -> None:
    assert peers.peers_of(COIN, options()) == ({}, "")


def test_storm_agrees() -> None:
    pytest.importorskip("stormpy")
    columns, wrong = peers.peers_of(COIN, options("storm"))
    assert wrong == ""
    assert columns["storm_says"] == "agrees"
    for tool in ("galton", "storm"):
        for what in ("s", "build_s", "check_s", "mb"):
            number = columns[f"{tool}_{what}"]
            assert isinstance(number, float)
            assert number > 0
        assert columns[f"{tool}_value"] == pytest.approx(49 / 128, rel=1e-5)
        total = sum(float(str(columns[f"{tool}_{part}_s"])) for part in ("build", "check"))
        assert total == pytest.approx(float(str(columns[f"{tool}_s"])))


def test_prism_is_asked_by_its_program(tmp_path: Path) -> None:
    said = (
        "Time for model construction: 0.125 seconds.",
        "Time for model checking: 0.25 seconds.",
        "Result: 0.3828125 (value in the initial state)",
    )
    columns, wrong = peers.peers_of(COIN, options("prism", prism=prism(tmp_path, *said)))
    assert wrong == ""
    assert (columns["prism_build_s"], columns["prism_check_s"], columns["prism_says"]) == (0.125, 0.25, "agrees")
    assert float(str(columns["prism_s"])) > 0
    assert float(str(columns["prism_mb"])) > 1


@pytest.mark.slow
def test_another_value_is_told(tmp_path: Path) -> None:
    program = prism(tmp_path, "Result (minimum probability): 0.38 (value in the initial state)")
    columns, wrong = peers.peers_of(COIN, options("prism", prism=program))
    assert str(columns["prism_says"]).startswith("DISAGREES: 0.38, not 0.38281")
    assert wrong == f"prism {columns['prism_says']}"
    (row, *_) = BY_NAME["004-figure-12"].run(options("prism", prism=program))
    assert row.wrong == wrong  # which ends the command with an error


@pytest.mark.slow
def test_a_peer_that_fails_says_why(tmp_path: Path) -> None:
    failing = prism(tmp_path, "Error: out of memory.")
    assert peers.peers_of(COIN, options("prism", prism=failing))[0]["prism_says"] == "Error: out of memory."
    missing, wrong = peers.peers_of(COIN, options("prism", prism=tmp_path / "nothing"))
    assert "No such file" in str(missing["prism_says"])
    assert wrong == ""
    assert "--prism PATH" in str(peers.peers_of(COIN, options("prism"))[0]["prism_says"])


@pytest.mark.slow
def test_a_peer_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "prism"
    path.write_text(f"#!/bin/sh\nsleep 60 & echo $! > {tmp_path}/id; wait\n")  # a script that starts another program
    path.chmod(0o755)
    columns, _ = peers.peers_of(COIN, replace(options("prism", prism=path), limit=4.0))
    assert columns["prism_says"] == "stopped after 4 s"
    started = int((tmp_path / "id").read_text())
    with pytest.raises(ProcessLookupError):
        _wait_until_gone(started)


def _wait_until_gone(process: int) -> None:
    for _ in range(100):
        os.kill(process, 0)
        time.sleep(0.05)


def test_prism_is_given_the_same_question(tmp_path: Path) -> None:
    program = prism(tmp_path, "Result: [0.1,0.25] (range of values over initial states)")
    given = {"path": "m.prism", "constants": {"N": 2, "K": 4}, "prop": "P=? [ F a ]"}
    found = peers.ask_prism(**given, program=str(program))
    assert found["value"] == 0.25
    arguments = ["m.prism", "-pf", "P=? [ F a ]", "-const", "N=2,K=4", "-epsilon", "1e-06", "-intervaliter"]
    assert peers.prism_command(**given, program="prism")[:9] == ["prism", *arguments]
    long_run = peers.prism_command("m.prism", {}, 'R{"customers"}=? [ S ]', "prism")
    assert "-jor" in long_run
    assert not {"-intervaliter", "-const"} & set(long_run)


def test_what_prism_prints_is_read() -> None:
    """As versions 4.3 and 4.10 end: with where the value is, or with an estimate of its error."""
    new = """
Time for model construction: 0.559 seconds.

Jacobi: 4880 iterations in 426.96 seconds (average 0.087449, setup 0.21)

Value in the initial state: 0.5386630172446204

Time for model checking: 428.638 seconds.

Result: 0.5386630172446204 (+/- 5.381007559705678E-6 estimated; rel err 9.989561910581338E-6)
"""
    assert peers.read_prism(new) == {"value": 0.5386630172446204, "build_s": 0.559, "check_s": 428.638}
    for line, value in (
        ("Result: 4.4820549554973446E-8 (value in the initial state)", 4.4820549554973446e-8),
        ("Result: [0.25,0.75] (range of values over initial states)", 0.75),
        ("Result: Infinity", float("inf")),
        ("Result (maximum expected reward): 33.3 (maximum value over states satisfying filter)", 33.3),
    ):
        assert float(peers.read_prism(line)["value"]) == value
    assert peers.read_prism("Error: Iterative method did not converge within 10000 iterations.\n") == {
        "error": "Error: Iterative method did not converge within 10000 iterations."
    }


@pytest.mark.parametrize(
    ("text", "storms"),
    [
        ('S=? [ "premium" ]', 'LRA=? [ "premium" ]'),
        ('R{"customers"}=? [ S ]', 'R{"customers"}=? [ LRA ]'),
        ('filter(max, R{"steps"}=? [ F "stable" ], "init")', 'R{"steps"}=? [ F "stable" ]'),
    ],
)
def test_in_the_words_of_storm(text: str, storms: str) -> None:
    assert peers.in_storm(text) == storms


def test_infinite_answers_agree() -> None:
    ours = {"lower": "inf", "upper": "inf"}
    assert peers.agreement(ours, {"value": "inf", "sound": True}) == "agrees"
    assert peers.agreement(ours, {"value": 3.0, "sound": False}).startswith("DISAGREES")
    zero = {"lower": 0.0, "upper": 0.0}
    assert peers.agreement(zero, {"value": 0.0, "sound": True}) == "agrees"
    assert peers.agreement(zero, {"value": 1e-9, "sound": True}).startswith("DISAGREES")


def test_only_a_method_without_a_promise_may_be_off() -> None:
    ours, value = {"lower": 0.5, "upper": 0.5}, 0.5002
    assert peers.agreement(ours, {"value": value, "sound": False}) == "off by 4.0e-04, without a promise"
    assert peers.agreement(ours, {"value": value, "sound": True}).startswith("DISAGREES")
    assert peers.agreement(ours, {"value": 0.51, "sound": False}).startswith("DISAGREES")
