"""``galton check`` of several objectives: Pareto sets as pictures, pages and tables; strategies in files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from command_line import galton

from galton.checking.result import ParetoSet
from galton.plot.pareto import INSIDE, OUTSIDE, inside_polygon, outside_polygon

FORK = """
mdp
const double p = 0.5;
module fork
  s : [0..3];
  [a] s=0 -> 0.75 : (s'=1) + 0.25 : (s'=3);
  [b] s=0 -> p : (s'=1) + 1-p : (s'=2);
  [c] s=0 -> 0.75 : (s'=2) + 0.25 : (s'=3);
  [] s>0 -> true;
endmodule
rewards "fee" [a] true : 1; [b] true : 4; [c] true : 1; endrewards
"""
TWO = "multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ])"
THREE = 'multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ], R{"fee"}min=? [ C ])'


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    path = tmp_path / "fork.prism"
    path.write_text(FORK)
    return path


def share_of(picture: np.ndarray, colour: str) -> float:
    """The part of a picture that has a colour."""
    wanted = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    return float((np.abs(picture - wanted).max(axis=2) < 0.02).mean())


def test_a_pareto_curve_is_drawn_between_what_is_attained_and_what_is_not(fork: Path, tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    path = tmp_path / "front.png"
    outcome = galton("check", fork, "-p", TWO, "--plot", path)
    assert outcome.code == 0, outcome.err
    picture = image.imread(path)[..., :3]
    assert share_of(picture, INSIDE) > 0.25
    assert share_of(picture, OUTSIDE) > 0.1


def test_a_surface_of_three_objectives_is_drawn(fork: Path, tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    path = tmp_path / "front.png"
    outcome = galton("check", fork, "-p", THREE, "--plot", path)
    assert outcome.code == 0, outcome.err
    picture = image.imread(path)[..., :3]
    green = (picture[..., 1] > picture[..., 0] + 0.1) & (picture[..., 1] > picture[..., 2] + 0.02)
    assert green.mean() > 0.1


@pytest.mark.parametrize(("suffix", "prop"), [(".pdf", TWO), (".svg", THREE), (".html", TWO), (".html", THREE)])
def test_other_kinds_of_pictures(fork: Path, tmp_path: Path, suffix: str, prop: str) -> None:
    pytest.importorskip("plotly" if suffix == ".html" else "matplotlib")
    path = tmp_path / f"front{suffix}"
    outcome = galton("check", fork, "-p", prop, "--plot", path)
    assert outcome.code == 0, outcome.err
    assert path.stat().st_size > 1000
    if suffix == ".html":
        assert "F s=1" in path.read_text()


def test_the_polygons_of_a_curve_fit_each_other() -> None:
    points = ((0.0, 0.75), (0.5, 0.5), (0.75, 0.0))
    spaces = (((1.0, 0.0), 0.75), ((0.0, 1.0), 0.75), ((0.5, 1.0), 0.75), ((1.0, 0.5), 0.75))
    front = ParetoSet(points, 0.0, (), spaces, ("x", "y"), (True, True))
    inside, outside = inside_polygon(front), outside_polygon(front)
    assert _area(inside) == pytest.approx(_area(outside))
    for corner in points:
        assert np.abs(outside - corner).max(axis=1).min() < 1e-12


def test_a_curve_of_what_is_to_be_small_is_turned() -> None:
    front = ParetoSet(((1.0, 3.0), (2.0, 1.0)), 0.0, (), (((-2.0, -1.0), -5.0),), ("x", "y"), (False, False))
    inside, outside = inside_polygon(front), outside_polygon(front)
    assert inside.max(axis=0).tolist() > [2.0, 3.0]
    assert (outside @ np.array([2.0, 1.0]) >= 5 - 1e-12).all()
    assert (inside @ np.array([2.0, 1.0]) >= 5 - 1e-12).all()


def _area(polygon: np.ndarray) -> float:
    x, y = polygon.T
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2


def test_the_corners_of_a_pareto_set_are_a_table(fork: Path, tmp_path: Path) -> None:
    path = tmp_path / "front.csv"
    assert galton("check", fork, "-p", THREE, "--csv", path).code == 0
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = ["Pmax=? [ F s=1 ]", "Pmax=? [ F s=2 ]", 'R{"fee"}min=? [ C ]']
    assert list(rows[0])[:3] == [names[0], f"{names[0]} lower", f"{names[0]} upper"]
    found = [[float(row[name]) for name in names] for row in rows]
    assert np.allclose(found, [(0, 0.75, 1), (0.5, 0.5, 4), (0.75, 0, 1)])
    for row in rows:
        for name in names:
            assert float(row[f"{name} lower"]) <= float(row[name]) <= float(row[f"{name} upper"])


def test_a_table_has_the_corners_for_all_values_of_a_constant(fork: Path, tmp_path: Path) -> None:
    path = tmp_path / "front.csv"
    fork.write_text(FORK.replace("p = 0.5", "p"))
    outcome = galton("check", fork, "-c", "p=0.4:0.1:0.6", "-p", TWO, "--csv", path)
    assert outcome.code == 0, outcome.err
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["p"] for row in rows] == ["0.4"] * 3 + ["0.5"] * 3 + ["0.6"] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", TWO, "--plot", "front.txt"], "'.txt' is no kind of picture; .png, .pdf, .svg and .html are"),
        (
            ["-p", f"multi({', '.join(['Pmax=? [ F s=1 ]'] * 4)})", "--plot", "front.png"],
            "a Pareto set of 4 objectives cannot be drawn, only those of two or three; --csv FILE writes its points",
        ),
        (["-c", "p=0.4:0.1:0.6", "-p", TWO, "--plot", "front.png"], "a picture shows one Pareto set: give no range"),
        (["-p", "multi(P>=0.5 [ F s=1 ])", "--plot", "front.png"], "a plot needs a constant with a range"),
    ],
)
def test_pictures_that_cannot_be_drawn(
    fork: Path, tmp_path: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = galton("check", fork, *arguments)
    assert outcome.code != 0
    assert message in outcome.err


def test_strategies_are_written_with_their_probabilities(fork: Path, tmp_path: Path) -> None:
    path = tmp_path / "mixture.json"
    prop = "multi(Pmax=? [ F s=1 ], P>=0.3 [ F s=2 ])"
    outcome = galton("check", fork, "-p", prop, "--strategy", path)
    assert outcome.code == 0, outcome.err
    found = json.loads(path.read_text())
    assert (found["galton"], found["property"], found["constants"]) == ("mixture", prop, {"p": 0.5})
    actions = {one["decisions"][0]["actions"][0]: float(eval(one["probability"])) for one in found["strategies"]}
    assert actions == pytest.approx({"a": 0.4, "b": 0.6})


def test_no_strategy_is_written_where_none_meets_the_bounds(fork: Path, tmp_path: Path) -> None:
    path = tmp_path / "mixture.json"
    outcome = galton("check", fork, "-p", "multi(P>=0.8 [ F s=1 ])", "--strategy", path)
    assert (outcome.code, path.exists()) == (1, False)
    assert "no strategy does what is asked for, so none is written" in outcome.err


def test_json_has_the_bounds_of_a_pareto_set(fork: Path) -> None:
    found = json.loads(galton("check", fork, "-p", TWO, "--json").out)
    assert np.allclose(found["value"], [(0, 0.75), (0.5, 0.5), (0.75, 0)])
    assert found["gap"] <= 1e-6
    assert len(found["half_spaces"]) >= 4


def test_one_strategy_of_a_file_can_be_applied(fork: Path, tmp_path: Path) -> None:
    path = tmp_path / "mixture.json"
    assert galton("check", fork, "-p", TWO, "--strategy", path).code == 0
    for number, value in (1, 0.0), (2, 0.5), (3, 0.75):
        outcome = galton("check", fork, "-p", "P=? [ F s=1 ]", "--apply", f"{path}:{number}", "--json")
        assert json.loads(outcome.out)["value"] == pytest.approx(value), outcome.err
    for name, message in (
        (path, "there are 3 strategies, and a chain has one; choose by its number: --apply FILE:1 up to FILE:3"),
        (f"{path}:7", "there is no strategy 7: they are counted from 1 to 3"),
        (f"{path}x:1", "No such file"),
    ):
        outcome = galton("check", fork, "-p", "P=? [ F s=1 ]", "--apply", name)
        assert outcome.code != 0
        assert message in outcome.err


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("word", ["Pmax=? [ F s=1 ]", "Pmin=? [ F s=1 ]", "Pmax=? [ false ]"])
def test_a_set_of_a_single_point_is_drawn(fork: Path, tmp_path: Path, word: str, count: int) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "front.png"
    outcome = galton("check", fork, "-p", f"multi({', '.join([word] * count)})", "--plot", path)
    assert (outcome.code, outcome.err) == (0, "")
    assert path.stat().st_size > 1000
