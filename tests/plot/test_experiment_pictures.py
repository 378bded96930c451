"""Pictures of experiments: what is on them is looked at, as numbers of the figure and as pixels."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import galton
from galton.checking.result import Result
from galton.plot.experiments import plot_experiment, quantity_of

pytest.importorskip("matplotlib")
MODELS = Path(__file__).parents[2] / "models"


def answer(value: Any, formula: str = "P=? [ F x ]", **more: Any) -> Result:
    return Result(formula=formula, value=value, **more)


def rows(*values: Any, name: str = "N", **more: Any) -> list[tuple[dict[str, Any], list[object]]]:
    return [({name: 2 * k + 1}, [answer(value, **more)]) for k, value in enumerate(values)]


def pixels(figure: Any) -> np.ndarray:
    """The rendered picture, red, green and blue from 0 to 1."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3] / 255


def colourful(figure: Any) -> float:
    picture = pixels(figure)
    return float((picture.max(axis=2) - picture.min(axis=2) > 0.05).mean())


def lines(axes: Any) -> list[Any]:
    return [line for line in axes.get_lines() if len(line.get_xdata()) > 1]


def test_title_labels_and_ticks_at_the_values() -> None:
    figure = plot_experiment(rows(0.25, 0.5, 0.75), ["six"], title="die: six")
    (axes,) = figure.axes
    pixels(figure)
    assert figure.get_suptitle() == "die: six"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("N", "probability")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "3", "5"]
    assert list(axes.get_xticks()) == [1, 3, 5]
    assert axes.get_legend() is None  # one curve, named by the title
    assert list(lines(axes)[0].get_ydata()) == [0.25, 0.5, 0.75]


def test_one_panel_for_each_quantity() -> None:
    asked = ["P=? [ F x ]", "Pmax=? [ G y ]", 'R{"cost"}=? [ F x ]', "S=? [ x ]", "P>=0.5 [ F x ]"]
    values = [0.25, 0.5, 70.0, 0.1, True]
    table = [({"N": n}, [answer(v, formula=f) for v, f in zip(values, asked, strict=True)]) for n in (1, 2)]
    figure = plot_experiment(table, asked)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "probability",
        'expected reward "cost"',
        "long-run probability",
        "true or false",
    ]
    assert [len(lines(axes)) for axes in figure.axes] == [2, 1, 1, 1]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == asked[:2]
    assert [tick.get_text() for tick in figure.axes[3].get_yticklabels()] == ["false", "true"]
    assert colourful(figure) > 0.001


@pytest.mark.parametrize(
    ("formula", "quantity"),
    [
        ("P=? [ F x=1 ]", "probability"),
        ("Pmin=?[ F (P>0.5 [ X y ]) ]", "probability"),
        ("P=? [ F x ] + P=? [ F y ]", "value"),
        ("P=? [ F x ] / 2", "value"),
        ('R{"a"}min=? [ C<=3 ]', 'expected reward "a"'),
        ("R=? [ F x ]", "expected reward"),
        ("T=? [ F x ]", "expected time"),
        ("filter(max, P=? [ F x ])", "value"),
    ],
)
def test_quantities(formula: str, quantity: str) -> None:
    assert quantity_of(answer(0.5, formula=formula)) == quantity


def test_values_of_other_constants_are_curves_in_viridis() -> None:
    table = [({"N": n, "T": t}, [answer(n / (n + t))]) for n in (1, 2, 3) for t in (1.0, 2.5, 4.0)]
    over_n, over_t = plot_experiment(table, ["p"]), plot_experiment(table, ["p"], x="T")
    assert [text.get_text() for text in over_n.axes[0].get_legend().get_texts()] == ["T=1", "T=2.5", "T=4"]
    assert [text.get_text() for text in over_t.axes[0].get_legend().get_texts()] == ["N=1", "N=2", "N=3"]
    assert over_t.axes[0].get_xlabel() == "T"
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    for line in lines(over_n.axes[0]):
        distances = np.abs(colormaps["viridis"](np.linspace(0, 1, 256))[:, :3] - to_rgb(line.get_color()))
        assert distances.max(axis=1).min() < 0.02


def test_bounds_are_bands() -> None:
    wide = [({"N": n}, [answer(0.5, lower=0.3, upper=0.7)]) for n in (1, 2, 3)]
    narrow = [({"N": n}, [answer(0.5, lower=0.5, upper=0.5)]) for n in (1, 2, 3)]
    assert colourful(plot_experiment(wide, ["p"])) > 0.15 > colourful(plot_experiment(narrow, ["p"]))
    (band,) = plot_experiment(wide, ["p"]).axes[0].collections
    assert band.get_paths()[0].vertices[:, 1].min() == pytest.approx(0.3)
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(0.7)


def test_unproved_numbers_have_no_band() -> None:
    table = [({"N": n}, [answer(0.5, lower=0.1, upper=0.9, proved=False)]) for n in (1, 2)]
    assert colourful(plot_experiment(table, ["p"])) < 0.05


def test_initial_states_that_differ_are_a_band_with_a_key() -> None:
    figure = plot_experiment(rows((0.0, 4.0), (1.0, 8.0), formula="R=? [ F x ]"), ["steps"])
    (axes,) = figure.axes
    assert [list(line.get_ydata()) for line in lines(axes)] == [[4.0, 8.0], [0.0, 1.0]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["least to greatest over the initial states"]
    assert colourful(figure) > 0.2


def test_logarithmic_scales_leave_zero_out() -> None:
    figure = plot_experiment(rows(0.0, 1e-6, 1e-2), ["p"], log="xy")
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [math.isnan(y) for y in lines(axes)[0].get_ydata()] == [True, False, False]
    assert colourful(figure) > 0.0005
    assert plot_experiment(rows(1.0, 2.0), ["p"], log=True).axes[0].get_xscale() == "linear"


def test_equal_values_are_no_noise() -> None:
    """A die's six faces used to be drawn as a zigzag on a scale of 1e-9."""
    figure = plot_experiment(rows(1 / 6 + 1e-9, 1 / 6 - 1e-9, 1 / 6), ["face"])
    low, high = figure.axes[0].get_ylim()
    assert low == 0
    assert high == pytest.approx(1 / 3)


def test_infinite_values_are_marked() -> None:
    figure = plot_experiment(rows(3.0, math.inf, 5.0, formula="R=? [ F x ]"), ["steps"])
    (axes,) = figure.axes
    pixels(figure)
    assert [text.get_text() for text in axes.texts] == ["∞"]
    assert math.isnan(lines(axes)[0].get_ydata()[1])
    assert axes.get_ylim()[1] < 6


def test_errors_and_undecided_answers_are_left_out() -> None:
    table = [({"N": 1}, ["error: model"]), ({"N": 2}, [answer(0.5)]), ({"N": 3}, [answer(None)])]
    assert [list(line.get_xdata()) for line in plot_experiment(table, ["p"]).axes[0].get_lines()] == [[2]]
    assert plot_experiment(table[:1], ["p"]).axes[0].get_title() == "no value to draw"


def test_many_curves_have_few_keys() -> None:
    table = [({"N": n, "T": t}, [answer(n * t / 4000)]) for n in (1, 2, 3) for t in range(40)]
    figure = plot_experiment(table, ["p"])
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert len(texts) <= 17
    assert texts[-1].startswith("and ")
    assert len(lines(figure.axes[0])) == 40


def test_many_values_have_few_ticks() -> None:
    figure = plot_experiment([({"N": n}, [answer(n / 300)]) for n in range(300)], ["p"])
    pixels(figure)
    assert len(figure.axes[0].get_xticks()) <= 14


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"x": "M"}, "no constant 'M' runs through several values"),
        ({"log": "z"}, "log is True, False, 'x', 'y' or 'xy'"),
    ],
)
def test_what_cannot_be_drawn(choice: dict[str, str], said: str) -> None:
    with pytest.raises(galton.GaltonError, match=said):
        plot_experiment(rows(0.5), ["p"], **choice)  # type: ignore[arg-type]


def page(path: Path) -> list[dict[str, Any]]:
    """The traces of a page."""
    text = path.read_text()
    assert 'src="https' not in text  # it needs no network
    found = re.search(r'Plotly\.newPlot\(\s*"[^"]+",\s*(\[.*?\]),\s*\{"', text, re.DOTALL)
    assert found
    traces = json.loads(found[1])
    assert isinstance(traces, list)
    return traces


def test_a_page(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    table = [({"N": n}, [answer((0.25, n / 4)), answer(7.0 * n, formula="R=? [ F x ]")]) for n in (1, 2, 3)]
    path = tmp_path / "out.html"
    figure = plot_experiment(table, ["p", "r"], path, title="two", log="x")
    traces = page(path)
    assert {trace["name"] for trace in traces if trace.get("name")} == {"p", "r"}
    assert len([trace for trace in traces if trace.get("fill")]) == 3  # bounds of both, and initial states
    assert figure.layout.title.text == "two"
    assert figure.layout.yaxis.title.text == "probability"
    assert figure.layout.yaxis2.title.text == "expected reward"
    assert figure.layout.xaxis2.title.text == "N"
    assert figure.layout.xaxis2.type == "log"
    assert list(figure.layout.xaxis2.tickvals) == [1, 2, 3]


def test_an_experiment_of_python(tmp_path: Path) -> None:
    found = galton.experiment(MODELS / "die.prism", "const int k; P=? [ F d=k ]", k=range(1, 7))
    figure = found.plot(tmp_path / "die.png")
    assert figure.axes[0].get_xlabel() == "k"
    assert (tmp_path / "die.png").stat().st_size > 5000
