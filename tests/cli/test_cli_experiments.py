"""``galton check`` over ranges of constants: tables, CSV files and plots."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from command_line import DIE, MODELS, WALK, galton, write

from galton.experiments import experiment
from galton.explore import build
from galton.plot.experiments import plot_experiment

PROPERTIES = MODELS / "die.props"
FACE = "const int k; P=? [ F d=k ]"
HERMAN = [MODELS / "herman.prism", "-c", "N=3:2:5", "-p", 'R=? [ F "stable" ]']  # begins in any state


def answers(*arguments: object) -> tuple[int, list[dict[str, Any]]]:
    outcome = galton("check", *arguments, "--json")
    return outcome.code, [json.loads(line) for line in outcome.out.splitlines()]


def test_a_line_for_each_property_and_valuation(tmp_path: Path) -> None:
    walk = write(tmp_path, WALK)
    props = ["-p", "const int k; Pmax=? [ F x=k ]", "-p", "Pmin=? [ F lost ]"]
    code, found = answers(walk, "-c", "N=2:2:4,k=1:2", *props)
    assert code == 0
    assert [(a["constants"]["N"], a["constants"].get("k"), a["index"]) for a in found] == [
        (n, k if i == 0 else None, i) for n in (2, 4) for k in (1, 2) for i in (0, 1)
    ]
    assert {a["states"] for a in found if a["constants"]["N"] == 4} == {8}


def test_only_what_changes_is_built_again(tmp_path: Path) -> None:
    walk = write(tmp_path, WALK)
    builds = []

    def counted(*arguments: Any, **options: Any) -> Any:
        builds.append(arguments)
        return build(*arguments, **options)

    with patch("galton.explore.build", counted):
        code, found = answers(walk, "-c", "N=2:4,k=0:1", "-p", "const int k; Pmax=? [ F x=k & lost ]")
    assert (code, len(found), len(builds)) == (0, 6, 3)


def test_a_table() -> None:
    outcome = galton("check", DIE, "-c", "k=5:7", "--prop", FACE, "--prop", "P=? [ F d=6 ]")
    assert outcome.code == 0
    head, *rows = (line.split() for line in outcome.out.splitlines())
    assert head[0] == "k"
    assert [row[0] for row in rows] == ["5", "6", "7"]
    assert [float(cell) for row in rows for cell in row[1:]] == pytest.approx(
        [1 / 6, 1 / 6, 1 / 6, 1 / 6, 0, 1 / 6], rel=1e-5
    )
    assert outcome.err == "warning: no state satisfies d = k, so it is never reached\n"


def test_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "dice.csv"
    outcome = galton("check", DIE, "--props", PROPERTIES, "--name", "face", "-c", "k=5:6", "--csv", path)
    assert outcome.code == 0
    head, *rows = csv.reader(path.open())
    assert head == ["k", "face", "face min", "face max", "face lower", "face upper"]
    assert [row[0] for row in rows] == ["5", "6"]
    assert all(row[1] == row[2] == row[3] for row in rows)
    assert all(float(row[4]) <= 1 / 6 <= float(row[5]) for row in rows)


def test_a_csv_file_without_ranges(tmp_path: Path) -> None:
    path = tmp_path / "dice.csv"
    galton("check", DIE, "-p", "P>=1 [ F node=7 ]", "-p", "filter(count, d>0)", "--csv", path)
    assert path.read_text().splitlines()[1:] == ["true,,,,,6,6,6,6,6"]


def test_values_over_several_initial_states_have_a_cell_each(tmp_path: Path) -> None:
    """Two numbers in one cell used to make a column that is no column of numbers."""
    path = tmp_path / "steps.csv"
    assert galton("check", *HERMAN, "--csv", path).code == 0
    rows = list(csv.DictReader(path.open()))
    assert [[float(cell) for name, cell in row.items() if name.endswith(("min", "max"))] for row in rows] == [
        [0, pytest.approx(4 / 3)],
        [0, pytest.approx(3.2)],
    ]
    for cell in (cell for row in rows for cell in row.values()):
        assert cell == "" or math.isfinite(float(cell))


def test_errors_stay_in_their_cell(tmp_path: Path) -> None:
    text = "dtmc const int N; module m x : [0..3]; [] x<3 -> (x'=x+N); [] x=3 -> true; endmodule"
    path = tmp_path / "out.csv"
    outcome = galton("check", write(tmp_path, text), "-c", "N=1:3", "-p", "P=? [ F x=3 ]", "--csv", path)
    assert outcome.code == 1
    assert "the update gives x the value 4" in outcome.err
    assert [row[1] for row in csv.reader(path.open())][1:] == ["1.0", "error: model", "1.0"]
    code, found = answers(tmp_path / "model.prism", "-c", "N=1:3", "-p", "P=? [ F x=3 ]")
    assert code == 1
    assert [a.get("value", a.get("error", {}).get("kind")) for a in found] == [1.0, "model", 1.0]


@pytest.mark.parametrize("workers", [[], ["--workers", "processes:2"]])
def test_what_is_wrong_with_every_row_is_told_once(workers: list[str], tmp_path: Path) -> None:
    text = "dtmc const int N; const int M = 2; module m x : [0..N+M]; [] x<N -> (x'=x+1); [] x>=N -> true; endmodule"
    path = write(tmp_path, text)
    outcome = galton("check", path, "-c", "N=1:4,M=1:2", "-p", "P=? [ F x=1 ]", *workers)
    assert outcome.code == 2
    assert outcome.err.count("the constant 'M' has a value already") == 1
    assert outcome.out.count("error: input") == 8


def test_values_that_a_model_has_no_use_for(tmp_path: Path) -> None:
    text = "dtmc const int N; module m x : [1..3] init N; [] true -> (x'=x); endmodule"
    path = write(tmp_path, text)
    code, found = answers(path, "-c", "N=2:4", "-p", "P=? [ F x=3 ]")
    assert code == 1
    assert [a.get("value", a.get("error", {}).get("kind")) for a in found] == [0.0, 1.0, "input"]
    assert [a["constants"] for a in found] == [{"N": 2}, {"N": 3}, {"N": 4}]
    outcome = galton("check", path, "-c", "N=2:4", "-p", "P=? [ F x=3 ]")
    assert outcome.out.splitlines()[-1].split() == ["4", "error:", "input"]


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_a_plot(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"out{suffix}"
    outcome = galton("check", DIE, "-c", "k=1:6,j=2:3", "-p", f"const int j; {FACE} / j", "--plot", path)
    assert outcome.code == 0, outcome.err
    assert path.stat().st_size > 1000


def test_values_over_several_initial_states_are_drawn(tmp_path: Path) -> None:
    """The picture of the README used to be blank: axes and nothing else."""
    image = pytest.importorskip("matplotlib.image")
    path = tmp_path / "steps.png"
    assert galton("check", *HERMAN, "--plot", path).code == 0
    picture = image.imread(path)[..., :3]
    colourful = picture.max(axis=2) - picture.min(axis=2) > 0.05
    assert colourful.mean() > 0.2  # a band between two lines


def test_a_value_of_one_initial_state_is_drawn_as_a_line(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    path = tmp_path / "face.png"
    assert galton("check", DIE, "-c", "k=4:8", "-p", FACE, "--plot", path).code == 0
    picture = image.imread(path)[..., :3]
    assert 0.001 < (picture.max(axis=2) - picture.min(axis=2) > 0.05).mean() < 0.02


def test_a_plot_without_a_value_says_so() -> None:
    pytest.importorskip("matplotlib")
    for rows in ([({"k": 1}, ["error: model"])], []):
        assert plot_experiment(rows, ["face"], x="k").axes[0].get_title() == "no value to draw"


def test_a_plot_of_no_kind(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    outcome = galton("check", DIE, "-c", "k=1:6", "-p", FACE, "--plot", tmp_path / "out.txt")
    assert (outcome.code, outcome.err) == (2, "error: '.txt' is no kind of picture; .png, .pdf, .svg and .html are\n")


def test_a_plot_without_matplotlib(tmp_path: Path) -> None:
    with patch.dict(sys.modules, {"matplotlib.figure": None}):
        outcome = galton("check", DIE, "-c", "k=1:6", "-p", FACE, "--plot", tmp_path / "out.png")
    assert (outcome.code, outcome.err) == (2, "error: pictures need Matplotlib: pip install 'galton[plot]'\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("k=3:1", "constant k:1:1: error: the range is empty: 3 is above 1"),
        ("k=1:0:3", "constant k:1:1: error: the step of a range must be positive, and this is 0"),
        ("k=1:", "constant k:1:1: error: a range is low:high or low:step:high"),
        ("k=0.5:1.5", "constant k:1:1: error: the constant 'k' is of type int, and this is of type double"),
    ],
)
def test_bad_ranges(text: str, said: str) -> None:
    outcome = galton("check", DIE, "-c", text, "-p", FACE)
    assert outcome.code == 2
    assert outcome.err.splitlines()[0] == said


def test_a_disk_that_is_full_at_the_titles_of_a_table_does_not_keep_the_answer(tmp_path: Path) -> None:
    """The first line of a CSV file was written before anything was answered, and nothing was."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1)); from galton.cli import main; main()"
    )
    table = tmp_path / "out.csv"
    words = ["check", str(DIE), "-p", "P=? [ F d=6 ]", "--csv", str(table)]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "0.166666" in done.stdout
    assert "could not be written" in done.stderr
    assert not table.exists()


def test_python_gives_the_same_numbers(tmp_path: Path) -> None:
    """One implementation: what is asked, in which order, and which cells there are."""
    pandas = pytest.importorskip("pandas")
    path, herman = tmp_path / "out.csv", MODELS / "herman.prism"
    props = ['R=? [ F "stable" ]', 'const int T; P=? [ F<=T "stable" ]']
    outcome = galton("check", herman, "-c", "N=3:2:5,T=1:3", "-p", props[0], "-p", props[1], "--csv", path)
    assert outcome.code == 0
    with path.open() as file:
        written = list(csv.DictReader(file))
    found = experiment(herman, props, N="3:2:5", T="1:3").to_pandas()
    assert len(written) == len(found) == 6
    for name in found.columns:
        cells = [None if row[name] == "" else float(row[name]) for row in written]
        assert [None if pandas.isna(cell) else float(cell) for cell in found[name].tolist()] == cells, name
