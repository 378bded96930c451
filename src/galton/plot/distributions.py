"""Distributions as pictures: bars for one moment, curves over time or steps for several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .files import check_kind, is_page, new_figure, plotly, shades, write

__all__ = ["Drawn", "check_kind", "plot_distributions"]

MOST = 40  # bars; curves are fewer
MOST_CURVES = 12
MOST_DOTS = 60  # on a curve


@dataclass(frozen=True)
class Drawn:
    """The probability of each value at a moment; ``time`` is None for the long run."""

    time: float | None
    shares: Sequence[tuple[str, float]]


def plot_distributions(found: Sequence[Drawn], path: Path, title: str, axis: str, passing: str = "time") -> None:
    """Draw the likeliest values: bars for one moment, a curve for each value over several.

    ``axis`` says what the values are values of, ``passing`` what passes from one moment to the next: time, or steps.
    """
    check_kind(path)
    write((_html if is_page(path) else _picture)(found, title, axis, passing), path)


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


def _marker(found: Sequence[Drawn], passing: str) -> str:
    """Dots where there is nothing between the moments: few numbers of steps."""
    return "o" if passing == "steps" and len(found) <= MOST_DOTS else ""


def _bars(found: Sequence[Drawn]) -> tuple[list[str], list[float]]:
    shares = dict(found[0].shares)
    values = _likeliest(found, MOST)
    return values, [shares[value] for value in values]


def _picture(found: Sequence[Drawn], title: str, axis: str, passing: str) -> Any:
    figure = new_figure(7, 4.5)
    axes = figure.subplots()
    if len(found) == 1:
        values, shares = _bars(found)
        axes.bar(values, shares, color=shades(1)[0])
        axes.tick_params(axis="x", rotation=90 if max(map(len, values), default=0) * len(values) > 60 else 0)
        axes.set_xlabel(axis)
    else:
        curves = _curves(found)
        for (value, (times, part)), colour in zip(curves.items(), shades(len(curves)), strict=True):
            axes.plot(times, part, label=value, color=colour, marker=_marker(found, passing), markersize=3)
        axes.set_xlabel(passing)
        axes.legend(title=axis, fontsize="small", framealpha=0.85, edgecolor="none")
    axes.set_ylabel("probability")
    axes.set_title(title)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _html(found: Sequence[Drawn], title: str, axis: str, passing: str) -> Any:
    objects = plotly()
    figure = objects.Figure()
    if len(found) == 1:
        values, shares = _bars(found)
        figure.add_trace(objects.Bar(x=values, y=shares, marker={"color": shades(1)[0]}))
        figure.update_xaxes(title=axis, type="category")
    else:
        curves = _curves(found)
        for (value, (times, part)), colour in zip(curves.items(), shades(len(curves)), strict=True):
            mode = "lines+markers" if _marker(found, passing) else "lines"
            figure.add_trace(objects.Scatter(x=times, y=part, mode=mode, name=value, line={"color": colour}))
        figure.update_xaxes(title=passing)
        figure.update_layout(legend_title=axis, hovermode="x unified")  # curves that lie on each other show so
    figure.update_yaxes(title="probability")
    figure.update_layout(title=title, template="simple_white")
    return figure
