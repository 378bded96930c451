"""Distributions as pictures: bars for one moment, curves over time for several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..io.output import replacing
from ..lang import GaltonError

__all__ = ["Drawn", "check_distribution_picture", "plot_distributions"]

SUFFIXES = (".png", ".pdf", ".svg", ".html")
MOST = 40  # bars; curves are fewer
MOST_CURVES = 12


@dataclass(frozen=True)
class Drawn:
    """The probability of each value at a moment; ``time`` is None for the long run."""

    time: float | None
    shares: Sequence[tuple[str, float]]


def check_distribution_picture(path: Path) -> None:
    """Raise an error where a picture of this name cannot be made."""
    if path.suffix.lower() not in SUFFIXES:
        raise GaltonError(f"'{path.suffix}' is no kind of picture; {', '.join(SUFFIXES[:-1])} and {SUFFIXES[-1]} are")
    try:
        if path.suffix.lower() == ".html":
            import plotly.graph_objects  # noqa: F401
        else:
            import matplotlib  # noqa: F401
    except ImportError:
        raise GaltonError("plots need Matplotlib and Plotly: pip install 'galton[plot]'") from None


def plot_distributions(found: Sequence[Drawn], path: Path, title: str, axis: str) -> None:
    """Draw the likeliest values: bars for one moment, a curve for each value over several.

    ``axis`` says what the values are values of.
    """
    check_distribution_picture(path)
    (_html if path.suffix.lower() == ".html" else _picture)(found, path, title, axis)


def _likeliest(found: Sequence[Drawn], most: int) -> list[str]:
    """The values that are likeliest at some moment, in the order in which they were met."""
    best: dict[str, float] = {}
    for drawn in found:
        for value, probability in drawn.shares:
            best[value] = max(best.get(value, 0.0), probability)
    kept = set(sorted(best, key=best.__getitem__, reverse=True)[:most])
    return [value for value in best if value in kept]


def _curves(found: Sequence[Drawn]) -> dict[str, tuple[list[float], list[float]]]:
    """Times and probabilities of each value."""
    times = [drawn.time or 0.0 for drawn in found]
    tables = [dict(drawn.shares) for drawn in found]
    return {value: (times, [t.get(value, 0.0) for t in tables]) for value in _likeliest(found, MOST_CURVES)}


def _bars(found: Sequence[Drawn]) -> tuple[list[str], list[float]]:
    shares = dict(found[0].shares)
    values = _likeliest(found, MOST)
    return values, [shares[value] for value in values]


def _picture(found: Sequence[Drawn], path: Path, title: str, axis: str) -> None:
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    if len(found) == 1:
        values, shares = _bars(found)
        axes.bar(values, shares)
        axes.tick_params(axis="x", rotation=90 if max(map(len, values), default=0) * len(values) > 60 else 0)
        axes.set_xlabel(axis)
    else:
        for value, (times, shares) in _curves(found).items():
            axes.plot(times, shares, label=value)
        axes.set_xlabel("time")
        axes.legend(title=axis, fontsize="small")
    axes.set_ylabel("probability")
    axes.set_title(title)
    axes.grid(alpha=0.3)
    with replacing(path, "binary") as file:
        figure.savefig(file, dpi=150, format=path.suffix.lower().lstrip("."))


def _html(found: Sequence[Drawn], path: Path, title: str, axis: str) -> None:
    import plotly.graph_objects as objects

    figure = objects.Figure()
    if len(found) == 1:
        values, shares = _bars(found)
        figure.add_trace(objects.Bar(x=values, y=shares))
        figure.update_xaxes(title=axis, type="category")
    else:
        for value, (times, shares) in _curves(found).items():
            figure.add_trace(objects.Scatter(x=times, y=shares, mode="lines", name=value))
        figure.update_xaxes(title="time")
        figure.update_layout(legend_title=axis)
    figure.update_yaxes(title="probability")
    figure.update_layout(title=title, template="simple_white")
    with replacing(path) as file:
        file.write(figure.to_html(include_plotlyjs=True))
