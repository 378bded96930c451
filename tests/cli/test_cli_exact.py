"""``galton check --exact``."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import DIE, MODELS, galton
from typer.main import get_command

from galton.cli import app

SIX = ("-p", "P=? [ F d=6 ]")


def test_a_six_is_a_sixth() -> None:
    outcome = galton("check", DIE, *SIX, "--exact")
    assert (outcome.code, outcome.err) == (0, "")
    _, answer, about = outcome.out.splitlines()
    assert answer == "P=? [ F d=6 ]  =  1/6"
    assert about.startswith("  about 0.1666666667, for the initial state (node=0, d=0); exact arithmetic, ")


def test_json_has_the_fraction_in_full() -> None:
    outcome = galton("check", MODELS / "cluster.prism", "-c", "N=2", "-p", 'S=? [ "minimum" ]', "--exact", "--json")
    answer = json.loads(outcome.out)
    assert len(answer["exact"]) > 800
    above, below = answer["exact"].split("/")
    assert float(Fraction(int(above), int(below))) == answer["value"]
    assert answer["lower"] <= answer["value"] <= answer["upper"]


def test_truth_values_and_exit_codes() -> None:
    assert galton("check", DIE, "-p", "P>=1/6 [ F d=6 ]", "--exact").code == 0
    assert galton("check", DIE, "-p", "P>1/6 [ F d=6 ]", "--exact").code == 1


def test_experiments(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    outcome = galton("check", DIE, "-p", "const int k; P=? [ F<=k d=6 ]", "-c", "k=1:6", "--exact", "--csv", table)
    assert outcome.code == 0
    assert [line.split()[-1] for line in outcome.out.splitlines()[1:]] == ["0", "0", "1/8", "1/8", "5/32", "5/32"]
    rows = list(csv.reader(table.open()))
    assert rows[0][-1].endswith(" exact")
    assert [row[-1] for row in rows[1:]] == ["0", "0", "1/8", "1/8", "5/32", "5/32"]


def test_states_are_listed_with_fractions() -> None:
    outcome = galton("check", DIE, "-p", "filter(print, P=? [ F d=6 ], node>=5 & node<7)", "--exact")
    assert [line.strip() for line in outcome.out.splitlines()[3:]] == ["state (node=6, d=0)  2/3"]


# Options: each does something beside --exact, or is refused.

USED = {
    *(
        "model",
        "const",
        "prop",
        "props",
        "name",
        "csv",
        "plot",
        "plot_x",
        "plot_log",
        "explain",
        "full",
        "device",
        "exact",
        "automaton",
    ),
    *("threads", "max_states", "memory", "fix_deadlocks", "as_json", "properties", "workers"),
    "lump",  # --lump is refused in tests/check/test_lumped_answers.py; --no-lump asks for what is done anyway
    *("slice", "symmetry"),  # --no-slice and --no-symmetry ask for all states, which exact numbers are about anyway
    "prism_results",
}
OF_PATHS = {"sim", "confidence", "width", "paths", "seed", "path_length"}  # tests/cli/test_cli_simulate.py
REFUSED = {
    "eps": ["--eps", "1e-6"],
    "relative": ["--relative"],
    "method": ["--method", "jacobi"],
    "omega": ["--omega", "0.5"],
    "max_iterations": ["--max-iterations", "7"],
    "strategy": ["--strategy", "best.json"],
    "apply": ["--apply", "best.json"],
    "certificate": ["--certificate", "proof.json"],
    "format": ["--format", "ell"],
    "order": ["--order", "bfs"],
    "single": ["--single"],
    "fair": ["--fair"],
    "counterexample": ["--counterexample"],
    "counterexample_file": ["--counterexample-file", "paths.json"],
}


ELSEWHERE = {  # refused in words of their own: these are for a device, or for ranks
    "matrix_free": ["--matrix-free"],
    "checkpoint": ["--checkpoint", "folder"],
    "resume": ["--resume", "folder"],
    "petsc_options": ["--petsc-options", "-ksp_type gmres"],
}


def test_every_option_is_used_or_refused() -> None:
    command = get_command(app).commands["check"]  # type: ignore[attr-defined]
    assert {
        parameter.name for parameter in command.params if parameter.name != "help"
    } == USED | REFUSED.keys() | ELSEWHERE.keys() | OF_PATHS
    assert "--sim has no use for --exact" in galton("check", DIE, *SIX, "--exact", "--sim").err


@pytest.mark.parametrize("option", [*REFUSED.values(), ["--absolute"], ["--device", "cuda"]], ids=" ".join)
def test_options_that_would_do_nothing_are_refused(option: list[str]) -> None:
    outcome = galton("check", DIE, *SIX, "--exact", *option)
    assert outcome.code == 2
    assert "beside --exact" in outcome.err


@pytest.mark.parametrize("option", ELSEWHERE.values(), ids=" ".join)
def test_options_of_other_places_are_refused(option: list[str]) -> None:
    outcome = galton("check", DIE, *SIX, "--exact", *option)
    assert outcome.code == 2
    assert option[0] in outcome.err


def test_time_bounds_of_ctmcs_are_refused() -> None:
    outcome = galton("check", MODELS / "tandem.prism", "-c", "c=2", "-p", "P=? [ F<=1 second=2 ]", "--exact")
    assert outcome.code != 0
    assert "within a time is no rational number" in outcome.err


def test_help_tells_of_it() -> None:
    assert "--exact" in galton("check", "--help").out
