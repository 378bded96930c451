"""``galton plot-matrix``: the matrix of any model as a picture."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from command_line import DIE, MODELS, galton

from galton import load
from galton.plot.matrix import Pattern, draw_pattern, figure, pattern

KANBAN = [MODELS / "kanban.prism", "-c", "t=1"]


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_a_picture(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"matrix{suffix}"
    outcome = galton("plot-matrix", *KANBAN, "--out", path)
    assert (outcome.code, outcome.err) == (0, "")
    assert path.stat().st_size > 5000
    titles = [line.partition(":")[0] for line in outcome.out.splitlines()[:2]]
    assert titles == ["by the values of the variables", "breadth first"]


def test_orders_that_are_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    asked = ["--order", "rcm", "--order", "bfs", "--order", "rcm"]
    outcome = galton("plot-matrix", *KANBAN, *asked, "--out", tmp_path / "matrix.png")
    assert outcome.code == 0
    titles = [line.partition(":")[0] for line in outcome.out.splitlines()[:-1]]
    assert titles == ["reverse Cuthill–McKee", "breadth first"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--order", "dfs", "--out", "m.png"], "there is no order 'dfs'"),
        (["--out", "m.txt"], "'.txt' is no kind of picture; .png, .pdf, .svg and .html are"),
        (["--out", "nowhere/m.png"], "nowhere"),
    ],
)
def test_mistakes_are_told_before_anything_is_built(given: list[str], said: str) -> None:
    with patch("galton.explore.build", side_effect=AssertionError("a model was built")):
        outcome = galton("plot-matrix", DIE, *given)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_without_matplotlib(tmp_path: Path) -> None:
    with patch.dict(sys.modules, {"matplotlib.figure": None}):
        outcome = galton("plot-matrix", DIE, "--out", tmp_path / "die.png")
    assert (outcome.code, outcome.err) == (2, "error: pictures need Matplotlib: pip install 'galton[plot]'\n")


def test_entries_are_counted_in_pixels() -> None:
    corners = Pattern("", np.array([0, 0, 9, 9, 5]), np.array([0, 9, 0, 9, 4]), 10)
    assert corners.counts(2).tolist() == [[1, 1], [2, 1]]
    assert corners.counts(100).shape == (10, 10)
    assert corners.counts(100).sum() == 5
    assert (corners.bandwidth, corners.mean_distance) == (9, 19 / 5)


def test_no_state_is_left_out_of_a_large_matrix() -> None:
    states = np.arange(2**21 + 1)
    assert (np.diag(Pattern("", states, states, len(states)).counts(1000)) >= 2097).all()


@pytest.mark.parametrize("order", ["bfs", "rcm"])
@pytest.mark.parametrize(("name", "constants"), [("brp", {"N": 4, "MAX": 1}), ("consensus", {"N": 2, "K": 2})])
def test_a_renumbered_matrix_has_the_same_transitions(name: str, constants: dict[str, int], order: str) -> None:
    model = load(MODELS / f"{name}.prism", **constants).build(device="cpu")
    original, renumbered = pattern(model, "canonical"), pattern(model, order)
    assert len(original.rows) == len(renumbered.rows) == model.n_transitions
    # A permutation of states: as many transitions leave and enter each of them as before.
    for one in ("rows", "columns"):
        degrees = [np.sort(np.bincount(getattr(p, one), minlength=model.n_states)) for p in (original, renumbered)]
        assert (degrees[0] == degrees[1]).all()
    assert renumbered.bandwidth < original.bandwidth or name == "consensus"


def test_a_dot_for_each_transition_and_shades_where_there_are_too_many() -> None:
    pytest.importorskip("matplotlib")
    model = load(DIE).build(device="cpu")
    axes = figure(3, 3).subplots()
    assert draw_pattern(axes, pattern(model, "canonical")) is None
    (image,) = axes.get_images()
    assert int(np.ma.filled(image.get_array(), 0).sum()) == 20
    shown = draw_pattern(figure(3, 3).subplots(), pattern(model, "canonical"), pixels=3)
    assert shown is not None
    assert shown.get_array().sum() == 20
