"""Other tools answer the same questions, and a row says where they do not agree."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from galton.bench import peers
from galton.bench.decisions import FAMILIES
from galton.bench.experiment import Options

ROOT = Path(__file__).resolve().parents[2]
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
    assert peers.peers_of(COIN, options()) == {}


def test_storm_agrees() -> None:
    pytest.importorskip("stormpy")
    columns = peers.peers_of(COIN, options("storm"))
    assert columns["storm_says"] == "agrees"
    for tool in ("galton", "storm"):
        for what in ("s", "build_s", "check_s", "mb"):
            number = columns[f"{tool}_{what}"]
            assert isinstance(number, float)
            assert number > 0
        total = sum(float(str(columns[f"{tool}_{part}_s"])) for part in ("build", "check"))
        assert total == pytest.approx(float(str(columns[f"{tool}_s"])))


def test_prism_is_asked_by_its_program(tmp_path: Path) -> None:
    said = (
        "Time for model construction: 0.125 seconds.",
        "Time for model checking: 0.25 seconds.",
        "Result: 0.3828125 (value in the initial state)",
    )
    columns = peers.peers_of(COIN, options("prism", prism=prism(tmp_path, *said)))
    assert (columns["prism_build_s"], columns["prism_check_s"], columns["prism_says"]) == (0.125, 0.25, "agrees")
    assert float(str(columns["prism_s"])) > 0
    assert float(str(columns["prism_mb"])) > 1


def test_another_value_is_told(tmp_path: Path) -> None:
    program = prism(tmp_path, "Result (minimum probability): 0.38 (value in the initial state)")
    says = str(peers.peers_of(COIN, options("prism", prism=program))["prism_says"])
    assert says.startswith("DISAGREES: 0.38, not 0.38281")


def test_a_peer_that_fails_says_why(tmp_path: Path) -> None:
    failing = prism(tmp_path, "Error: out of memory.")
    assert peers.peers_of(COIN, options("prism", prism=failing))["prism_says"] == "Error: out of memory."
    missing = peers.peers_of(COIN, options("prism", prism=tmp_path / "nothing"))
    assert "No such file" in str(missing["prism_says"])
    assert "--prism PATH" in str(peers.peers_of(COIN, options("prism"))["prism_says"])


def test_a_peer_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "prism"
    path.write_text("#!/bin/sh\nsleep 60\n")
    path.chmod(0o755)
    found = peers.ask_prism("m.prism", {}, "P=? [ F a ]", program=str(path), within=0.2)
    assert found == {"error": "no answer in 0.2 s"}


def test_prism_is_given_the_same_question(tmp_path: Path) -> None:
    program = prism(tmp_path, "Result: [0.1,0.25] (range of values over initial states)")
    given = {"path": "m.prism", "constants": {"N": 2, "K": 4}, "prop": "P=? [ F a ]"}
    found = peers.ask_prism(**given, program=str(program), within=10)
    assert found["value"] == "0.25"
    arguments = ["m.prism", "-pf", "P=? [ F a ]", "-const", "N=2,K=4", "-epsilon", "1e-06"]
    assert peers.prism_command(**given, program="prism") == ["prism", *arguments]


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
    assert peers.agreement(ours, {"value": "inf"}) == "agrees"
    assert peers.agreement(ours, {"value": 3.0}).startswith("DISAGREES")
    assert peers.agreement({"lower": 0.0, "upper": 0.0}, {"value": 0.0}) == "agrees"
