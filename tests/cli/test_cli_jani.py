"""JANI on the command line: wherever a model is taken, and its properties with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from galton.cli import app
from galton.io.jani import write_jani
from galton.lang import Source, check_program, parse_model, parse_properties

MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture
def die(tmp_path: Path) -> Path:
    program = check_program(parse_model(Source("die.prism", (MODELS / "die.prism").read_text())))
    path = tmp_path / "die.jani"
    properties = parse_properties(Source("die.props", (MODELS / "die.props").read_text()))
    assert write_jani(program, path, [properties]) == []
    return path


def run(*arguments: object) -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_all_properties_of_the_file_are_checked_if_none_is_given(die: Path) -> None:
    answers = run("check", die, "--const", "k=2")
    assert [answer["name"] for answer in answers] == ["face", "six", "upper_half", "rests", "tosses", "three_tosses"]
    assert answers[4]["value"] == pytest.approx(11 / 3)


def test_properties_by_name_and_typed(die: Path) -> None:
    (six,) = run("check", die, "--const", "k=2", "--name", "six")
    assert six["value"] == pytest.approx(1 / 6)
    (typed,) = run("check", die, "--const", "k=2", "--prop", "P=? [ F d=k ]")
    assert (typed["name"], typed["value"]) == (None, pytest.approx(1 / 6))
    both = run("check", die, "--const", "k=2", "--name", "six", "--prop", "P=? [ F d=k ]")
    assert [answer["name"] for answer in both] == ["six", None]


def test_experiments_exact_numbers_and_certificates(die: Path, tmp_path: Path) -> None:
    values = run("check", die, "--const", "k=1:6", "--name", "face", "--exact")
    assert [answer["value"] for answer in values] == [pytest.approx(1 / 6)] * 6
    certificate = tmp_path / "six.cert"
    run("check", die, "--const", "k=1", "--name", "six", "--certificate", certificate)
    result = CliRunner().invoke(app, ["verify", str(die), "P=? [ F d = 6 ]", str(certificate), "--const", "k=1"])
    assert result.exit_code == 0, result.output


def test_info_and_build(die: Path, tmp_path: Path) -> None:
    (info,) = run("info", die, "--const", "k=1")
    assert (info["states"], info["transitions"]) == (13, 20)
    result = CliRunner().invoke(app, ["build", str(die), "--const", "k=1", "--export", str(tmp_path / "die.tra")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "die.tra").read_text().splitlines()[1] == "13 20"


def test_a_model_without_properties_says_so(tmp_path: Path) -> None:
    program = check_program(parse_model(Source("text", "dtmc module m x : bool; [] true -> (x'=!x); endmodule")))
    path = tmp_path / "flip.jani"
    write_jani(program, path)
    result = CliRunner().invoke(app, ["check", str(path)])
    assert "nothing to check" in str(result.exception)


def test_properties_that_jani_has_no_words_for_are_named(tmp_path: Path) -> None:
    program = check_program(parse_model(Source("text", "dtmc module m x : bool; [] true -> (x'=!x); endmodule")))
    properties = parse_properties(Source("text", '"next": P=? [ X x ]; "later": P=? [ F x ];'))
    left_out = write_jani(program, tmp_path / "flip.jani", [properties])
    assert [(prop.name, error.message) for prop, error in left_out] == [("next", "JANI has no words for this")]
