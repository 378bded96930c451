"""Pictures of regions, of matrices and of distributions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_experiment_pictures import colourful, page, pixels

from galton.plot.distributions import Drawn, plot_distributions
from galton.plot.files import viridis
from galton.plot.matrix import Pattern, plot_matrix
from galton.plot.regions import BEST, COLOURS, colour, plot_regions
from galton.synth.regions import Box, Problem, Regions, Sample, Verdict

pytest.importorskip("matplotlib")


def curve(problem: Problem, count: int = 8, **more: Any) -> Regions:
    """One parameter; the number is its square."""
    boxes = []
    for k in range(count):
        low, high = k / count, (k + 1) / count
        verdict: Verdict = "values"
        if problem == "threshold":
            verdict = "true" if low**2 >= 0.5 else "false" if high**2 < 0.5 else "undecided"
        elif problem == "maximise":
            verdict = "optimal" if k == count - 1 else "excluded"
        boxes.append(Box((low,), (high,), low**2, high**2, verdict))
    formula = "P>=0.5 [ F x ]" if problem == "threshold" else "P=? [ F x ]"
    return Regions({"p": (0.0, 1.0)}, problem, formula, 0.1, tuple(boxes), **more)


def square(problem: Problem, side: int = 6, parameters: int = 2, **more: Any) -> Regions:
    """Two or three parameters; the number is their mean."""
    boxes = []
    for place in np.ndindex(*[side] * parameters):
        low, high = tuple(k / side for k in place), tuple((k + 1) / side for k in place)
        lower, upper = sum(low) / parameters, sum(high) / parameters
        verdict: Verdict = "values"
        if problem == "threshold":
            verdict = "true" if lower >= 0.5 else "false" if upper < 0.5 else "undecided"
        elif problem == "maximise":
            verdict = "optimal" if place == (side - 1,) * parameters else "excluded"
        boxes.append(Box(low, high, lower, upper, verdict))
    names = dict.fromkeys(("p", "q", "r")[:parameters], (0.0, 1.0))
    formula = "P>=0.5 [ F x ]" if problem == "threshold" else "P=? [ F x ]"
    return Regions(names, problem, formula, 0.1, tuple(boxes), **more)


def drawn(regions: Regions, tmp_path: Path) -> Any:
    return plot_regions(regions, tmp_path / "out.png")


def test_viridis_is_matplotlibs() -> None:
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    for place in np.linspace(0, 1, 50):
        assert to_rgb(viridis(float(place))) == pytest.approx(colormaps["viridis"](float(place))[:3], abs=0.03)


def test_a_threshold_is_a_line_over_one_parameter(tmp_path: Path) -> None:
    figure = drawn(curve("threshold"), tmp_path)
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["threshold 0.5"]
    across = [line for line in axes.get_lines() if line.get_color() == BEST]
    assert [list(line.get_ydata()) for line in across] == [[0.5, 0.5]]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("p", "proved bounds", "P>=0.5 [ F x ]")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "true, 25.0%",
        "false, 62.5%",
        "undecided, 12.5%",
    ]
    assert colourful(figure) > 0.02


def test_a_threshold_that_is_a_constant() -> None:
    regions = curve("threshold")
    named = Regions(regions.parameters, "threshold", "P>=c/2 [ F x ]", 0.1, regions.boxes, constants={"c": 0.5})
    unknown = Regions(regions.parameters, "threshold", "P>=c/2 [ F x ]", 0.1, regions.boxes)
    assert (named.threshold, unknown.threshold, curve("values").threshold) == (0.25, None, None)


def test_an_optimum_over_one_parameter(tmp_path: Path) -> None:
    figure = drawn(curve("maximise", best=Sample((1.0,), 1.0, 1.0)), tmp_path)
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == ["may hold the optimum", "optimum, 1 to 1", "best point tried: p=1"]
    assert colourful(figure) > 0.05


def test_an_optimum_over_two_parameters_shows_all_numbers(tmp_path: Path) -> None:
    """Green and grey told nothing about the rest of the space."""
    regions = square("maximise", best=Sample((1.0, 1.0), 1.0, 1.0))
    figure = drawn(regions, tmp_path)
    axes, bar = figure.axes
    assert bar.get_ylabel() == "value, the middle of its bounds"
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["may hold the optimum", "best point tried: p=1, q=1"]
    assert len({colour(regions, box) for box in regions.boxes}) >= 11  # numbers on a scale
    assert colourful(figure) > 0.4


def test_values_over_two_parameters_are_a_scale(tmp_path: Path) -> None:
    figure = drawn(square("values"), tmp_path)
    assert len(figure.axes) == 2
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("p", "q")
    picture = pixels(figure)
    yellow, violet = (
        np.abs(picture - np.array(rgb)).max(axis=2) < 0.06 for rgb in ((0.99, 0.91, 0.14), (0.27, 0, 0.33))
    )
    assert yellow.mean() > 0.003
    assert violet.mean() > 0.003


def test_verdicts_over_two_parameters(tmp_path: Path) -> None:
    figure = drawn(square("threshold"), tmp_path)
    picture = pixels(figure)
    for verdict in ("true", "false", "undecided"):
        rgb = np.array([int(COLOURS[verdict][k : k + 2], 16) for k in (1, 3, 5)]) / 255
        assert (np.abs(picture - rgb).max(axis=2) < 0.02).mean() > 0.02, verdict


def test_ten_thousand_boxes_are_few_objects(tmp_path: Path) -> None:
    assert len(drawn(square("values", side=100), tmp_path).axes[0].collections) <= 64


@pytest.mark.parametrize("problem", ["threshold", "maximise", "values"])
@pytest.mark.parametrize("parameters", [1, 2, 3])
def test_pages(problem: Problem, parameters: int, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    best = Sample((1.0,) * parameters, 1.0, 1.0) if problem == "maximise" else None
    regions = curve(problem, best=best) if parameters == 1 else square(problem, 4, parameters, best=best)
    figure = plot_regions(regions, tmp_path / "out.html")
    traces = page(tmp_path / "out.html")
    names = [trace["name"] for trace in traces if trace.get("name")]
    assert any(name.startswith("true, ") for name in names) == (problem == "threshold")
    assert ("threshold 0.5" in names) == (problem == "threshold" and parameters == 1)
    captions = [trace for trace in figure.data if trace.text]
    assert len(captions) == 1
    assert captions[0].text[0].startswith("p: 0")
    assert figure.layout.title.text == regions.formula


def test_ten_thousand_blocks_are_light(tmp_path: Path) -> None:
    """Each block used to be an object of its own: a page of ten thousand did not open."""
    pytest.importorskip("plotly")
    figure = plot_regions(square("threshold", side=22, parameters=3), tmp_path / "out.html")
    meshes = [trace for trace in figure.data if trace.type == "mesh3d"]
    assert len(figure.data) < 10
    assert sum(len(mesh.i) for mesh in meshes) == 12 * sum(box.verdict != "false" for box in _all(22))
    library = plot_regions(square("threshold", side=1, parameters=3), tmp_path / "empty.html")
    assert library is not None
    assert (tmp_path / "out.html").stat().st_size - (tmp_path / "empty.html").stat().st_size < 6_000_000


def _all(side: int) -> tuple[Box, ...]:
    return square("threshold", side, 3).boxes


def test_blocks_are_where_their_boxes_are(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    figure = plot_regions(square("threshold", side=2, parameters=3))
    for mesh in (trace for trace in figure.data if trace.type == "mesh3d"):
        corners = np.stack([mesh.x, mesh.y, mesh.z], axis=1).reshape(-1, 8, 3)
        assert np.ptp(corners, axis=1) == pytest.approx(np.full((len(corners), 3), 0.49), abs=1e-6)
        triangles = np.stack([mesh.i, mesh.j, mesh.k], axis=1)
        assert sorted(set(triangles.ravel().tolist())) == list(range(len(corners) * 8))
        # Two triangles a face: none runs through the inside of its block.
        spans = np.ptp(np.stack([mesh.x, mesh.y, mesh.z], axis=1)[triangles], axis=1)
        assert (spans.min(axis=1) == 0).all()


def test_a_matrix_as_a_page(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    small = Pattern("in order", np.array([0, 1, 2]), np.array([1, 2, 0]), 3)
    large = Pattern("of many", np.arange(5000), (np.arange(5000) * 7) % 5000, 5000)
    figure = plot_matrix([small, large], tmp_path / "matrix.html", "two")
    assert [trace["type"] for trace in page(tmp_path / "matrix.html")] == ["heatmap", "heatmap"]
    cells = np.array(figure.data[0].z)
    assert np.argwhere(~np.isnan(cells)).tolist() == [[0, 1], [1, 2], [2, 0]]
    assert np.array(figure.data[1].customdata).sum() == 5000
    assert [note.text for note in figure.layout.annotations] == ["in order", "of many"]


@pytest.mark.parametrize("suffix", [".png", ".html"])
def test_distributions(suffix: str, tmp_path: Path) -> None:
    if suffix == ".html":
        pytest.importorskip("plotly")
    path = tmp_path / f"out{suffix}"
    plot_distributions([Drawn(float(t), [("a", 1 - t / 4), ("b", t / 4)]) for t in range(4)], path, "over time", "s")
    if suffix == ".html":
        assert {trace["name"] for trace in page(path)} == {"a", "b"}
    else:
        from matplotlib.image import imread

        picture = imread(path)[..., :3]
        assert (picture.max(axis=2) - picture.min(axis=2) > 0.05).mean() > 0.002
