"""``galton check`` of formulas that need an automaton: products, ``--automaton``, strategies with memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import WALK, galton, write

from galton.automata import parse_ltl, to_hoa, translate

PATH = '(F x=1) & (F "end")'


def answers(*arguments: object) -> list[dict[str, Any]]:
    outcome = galton("check", *arguments, "--json")
    assert outcome.code == 0, outcome.err
    return [json.loads(line) for line in outcome.out.splitlines()]


def test_the_product_is_what_is_built(tmp_path: Path) -> None:
    walk = write(tmp_path, WALK)
    outcome = galton("check", walk, "-c", "N=3", "-p", f"Pmax=? [ {PATH} ]", "--explain")
    assert outcome.code == 0
    assert "mdp, product:" in outcome.out
    assert "not explored past the targets" in outcome.out
    assert "explored with the model" in outcome.out
    whole = galton("check", walk, "-c", "N=3", "-p", f"Pmax=? [ {PATH} ]", "--explain", "--full")
    assert "mdp, product:" not in whole.out
    assert "of the model" in whole.out


def test_each_formula_has_a_product_of_its_own(tmp_path: Path) -> None:
    walk = write(tmp_path, WALK)
    props = [f"Pmax=? [ {PATH} ]", "Pmax=? [ F lost ]", "Pmin=? [ G F lost ]"]
    found = answers(walk, "-c", "N=3", *(word for prop in props for word in ("-p", prop)))
    alone = [answers(walk, "-c", "N=3", "-p", prop)[0] for prop in props]
    assert [each["value"] for each in found] == [each["value"] for each in alone]
    assert [each["states"] for each in found] == [each["states"] for each in alone]


def test_a_range_of_a_bound_inside_a_formula(tmp_path: Path) -> None:
    walk = write(tmp_path, WALK)
    outcome = galton("check", walk, "-c", "N=3,k=1:3", "-p", "const int k; Pmax=? [ (F<=k x=2) & (F x=3) ]")
    assert outcome.code == 0, outcome.err
    assert len([line for line in outcome.out.splitlines() if line.strip().startswith(("1", "2", "3"))]) == 3


def test_a_product_that_grows_too_large_is_an_error(tmp_path: Path) -> None:
    walk = write(tmp_path, WALK)
    outcome = galton("check", walk, "-c", "N=300", "-p", f"Pmax=? [ {PATH} ]", "--max-states", "10")
    assert outcome.code == 2
    assert "10" in outcome.err
    assert outcome.err.count("error") == 1


def test_an_automaton_of_a_file_is_asked_about(tmp_path: Path) -> None:
    walk = write(tmp_path, WALK)
    automaton = tmp_path / "end.hoa"
    automaton.write_text(to_hoa(translate(*parse_ltl('(F "x=1") & (F end)'))))
    least, most = answers(walk, "-c", "N=3", "--automaton", automaton)
    assert (least["property"][:4], most["property"][:4]) == ("Pmin", "Pmax")
    asked = answers(walk, "-c", "N=3", "-p", f"Pmin=? [ {PATH} ]", "-p", f"Pmax=? [ {PATH} ]")
    assert [least["value"], most["value"]] == [each["value"] for each in asked]


def test_files_are_looked_for_beside_the_properties(tmp_path: Path) -> None:
    walk = write(tmp_path, WALK)
    folder = tmp_path / "asked"
    folder.mkdir()
    (folder / "end.hoa").write_text(to_hoa(translate(*parse_ltl("F end"))))
    (folder / "all.props").write_text('"ends": Pmax=? [ HOA:{"end.hoa"} ];')
    (found,) = answers(walk, "-c", "N=3", "--props", folder / "all.props")
    assert found["value"] == answers(walk, "-c", "N=3", "-p", 'Pmax=? [ F "end" ]')[0]["value"]


@pytest.mark.parametrize("asked", ["min", "max"])
@pytest.mark.parametrize("path", [PATH, "(G F x=1) & (G F x=0)", '(F x=2) & (F G "end")'])
def test_a_strategy_with_memory_is_applied(path: str, asked: str, tmp_path: Path) -> None:
    walk, file = write(tmp_path, WALK), tmp_path / "best.json"
    (best,) = answers(walk, "-c", "N=4", "-p", f"P{asked}=? [ {path} ]", "--strategy", file)
    (applied,) = answers(walk, "-c", "N=4", "-p", f"P=? [ {path} ]", "--apply", file)
    assert applied["value"] == pytest.approx(best["value"], rel=4e-6)
    (other,) = answers(walk, "-c", "N=4", "-p", 'P=? [ F "end" ]', "--apply", file)
    assert 0 <= other["value"] <= 1


def test_an_unknown_label_in_a_formula_is_told(tmp_path: Path) -> None:
    walk = write(tmp_path, WALK)
    outcome = galton("check", walk, "-c", "N=4", "-p", 'Pmax=? [ (G F "ends") & (F x=1) ]')
    assert outcome.code != 0
    assert 'unknown label "ends"' in outcome.err
    assert "did you mean 'end'?" in outcome.err


def test_a_bound_of_time_inside_a_formula_of_a_ctmc_is_told(tmp_path: Path) -> None:
    model = write(tmp_path, "ctmc module m x:[0..1]; [] x=0 -> 2 : (x'=1); [] x=1 -> 1 : (x'=0); endmodule")
    outcome = galton("check", model, "-p", "P=? [ G F<=2 x=1 ]")
    assert outcome.code != 0
    assert "a bound on time beside other temporal operators (LTL) is not supported" in outcome.err
