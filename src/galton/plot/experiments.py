"""Experiments as pictures: curves over one constant, for each property and each value of the other constants.

Each quantity has a panel of its own: probabilities do not share an axis with rewards. A value that differs between
initial states is a band from the least to the greatest; proved bounds are a band too, where they can be seen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from ..checking.experiment_table import spread_of
from ..checking.result import Result, shown
from ..lang.source import GaltonError
from ..lang.stream import suggestion
from .axes import with_plain_numbers
from .files import check_kind, is_page, new_figure, plotly, shades, write

__all__ = ["check_kind", "plot_experiment"]

Row: TypeAlias = tuple[Mapping[str, Any], Sequence[object]]  # the constants, and an answer for each property

MOST_TICKS = 13  # values of the constant that all get a tick
MOST_KEYS = 16  # curves that a legend names
TRUTH = "true or false"
# P, S, R or T, its reward structure, and what stands in the brackets.
_ASKED = re.compile(r'\s*([PSRT])(?:\{("[^"]*"|[^}]*)\})?\s*(?:min|max)?\s*=\s*\?\s*(\[.*\])\s*', re.DOTALL)


@dataclass
class Point:
    """What is drawn above one value: the least and the greatest number, and bounds on both."""

    x: float
    low: float
    high: float
    lower: float
    upper: float


@dataclass
class Curve:
    """The points of one property, for some values of the other constants."""

    label: str
    colour: str = ""
    points: list[Point] = field(default_factory=list)

    @property
    def is_band(self) -> bool:
        """Whether initial states differ."""
        return any(point.low != point.high for point in self.points)

    def column(self, name: str) -> list[float]:
        """Numbers of all points that can be drawn, in order; others leave a gap."""
        found = [getattr(point, name) for point in self.points]
        return [number if math.isfinite(number) else math.nan for number in found]

    @property
    def infinite(self) -> list[float]:
        """Where the value is infinite."""
        return [point.x for point in self.points if math.isinf(point.high)]


def plot_experiment(
    rows: Sequence[Row],
    titles: Sequence[str],
    path: str | Path | None = None,
    *,
    x: str | None = None,
    log: bool | str = False,
    title: str = "",
) -> Any:
    """Draw the numbers of an experiment.

    Parameters
    ----------
    rows
        Values of the constants, and an answer for each property; what is no answer, such as an error, is left out.
    titles
        The properties in a few words.
    path
        Where to write the picture: ``.png``, ``.pdf``, ``.svg``, or ``.html`` for a page to explore.
    x
        The constant to draw over; the first, if not given.
    log
        Whether the values have a logarithmic scale: ``True`` or ``"y"``; ``"x"`` for the constant, ``"xy"`` for both.
    title
        What stands above; the property, if there is one only.

    Returns
    -------
    Figure
        The picture, as Matplotlib has it; for a page, as Plotly has it.
    """
    over, scales = _axis(rows, x), _scales(log)
    if path is not None:
        check_kind(path)
    panels = _panels(rows, titles, over)
    heading = title or (titles[0] if len(titles) == 1 else "")
    draw = _page if path is not None and is_page(path) else _picture
    several = len(titles) > 1 or any(len(curves) > 1 for curves in panels.values())
    figure = draw(panels, over, scales, heading, named=several)
    if path is not None:
        write(figure, path)
    return figure


def _axis(rows: Sequence[Row], x: str | None) -> str:
    constants = list(rows[0][0]) if rows else [] if x is None else [x]
    if not constants:
        raise GaltonError("a plot needs a constant that runs through several values, such as N=2:2:20")
    over = constants[0] if x is None else x
    if over not in constants:
        hint = suggestion(over, constants, "ranges")
        raise GaltonError(f"no constant '{over}' runs through several values; {hint}")
    return over


def _scales(log: bool | str) -> str:
    scales = "y" if log is True else log or ""
    if not isinstance(scales, str) or not set(scales) <= {"x", "y"}:
        raise GaltonError(f"log is True, False, 'x', 'y' or 'xy', not {log!r}")
    return scales


# What is drawn.


def _panels(rows: Sequence[Row], titles: Sequence[str], x: str) -> dict[str, list[Curve]]:
    """The curves of each quantity."""
    panels: dict[str, dict[tuple[int, str], Curve]] = {}
    for constants, answers in rows:
        others = ", ".join(f"{name}={_plain(value)}" for name, value in constants.items() if name != x)
        for place, (title, answer) in enumerate(zip(titles, answers, strict=True)):
            if not isinstance(answer, Result) or (point := _point(answer, float(constants[x]))) is None:
                continue
            label = others if others and len(titles) == 1 else f"{title}, {others}" if others else title
            curves = panels.setdefault(quantity_of(answer), {})
            curves.setdefault((place, others), Curve(label)).points.append(point)
    found = {quantity: list(curves.values()) for quantity, curves in panels.items()}
    for several in found.values():
        for curve, shade in zip(several, shades(len(several)), strict=True):
            curve.colour = shade
            curve.points.sort(key=lambda point: point.x)
    return found


def _point(answer: Result, x: float) -> Point | None:
    if isinstance(answer.value, bool):
        truth = float(answer.value)
        return Point(x, truth, truth, truth, truth)
    spread = spread_of(answer)
    if spread is None:
        return None
    low, high = map(float, spread)
    bounded = answer.proved and answer.lower is not None and answer.upper is not None
    lower, upper = (float(answer.lower or 0), float(answer.upper or 0)) if bounded else (low, high)
    return Point(x, low, high, lower, upper)


def quantity_of(answer: Result) -> str:
    """What an answer is a number of, for the axis.

    >>> quantity_of(Result(formula='R{"cost"}max=? [ F "done" ]', value=3.0))
    'expected reward "cost"'
    """
    if isinstance(answer.value, bool):
        return TRUTH
    asked = _ASKED.fullmatch(answer.formula)
    if asked is None or not _is_one_pair(asked[3]):
        return "value"
    kind = {"P": "probability", "S": "long-run probability", "R": "expected reward", "T": "expected time"}[asked[1]]
    return f"{kind} {asked[2]}" if asked[2] else kind


def _is_one_pair(text: str) -> bool:
    """Whether the bracket that opens a text closes at its end, and not before."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth == 0:
            return place == len(text) - 1
    return False


def _plain(value: Any) -> str:
    return shown(value, 6) if isinstance(value, (bool, float)) else str(value)


def _ticks(curves: Sequence[Curve], log: bool) -> list[float] | None:
    """The values of the constant, where they are few; None for a scale of its own."""
    values = sorted({point.x for curve in curves for point in curve.points})
    if len(values) <= MOST_TICKS:
        return values
    even = len(values) > 2 and not log and max(values) - min(values) < 1e9
    return values[:: math.ceil(len(values) / MOST_TICKS)] if even and all(v == int(v) for v in values) else None


def _kept(curves: Sequence[Curve]) -> set[int]:
    """Which curves a legend names: all, or some of many."""
    step = max(1, math.ceil(len(curves) / MOST_KEYS))
    return set(range(0, len(curves), step))


def _flat(curves: Sequence[Curve]) -> tuple[float, float] | None:
    """Limits for values that are all the same, which would be drawn as noise otherwise."""
    numbers = [n for curve in curves for name in ("low", "high") for n in curve.column(name) if n == n]
    if not numbers or max(numbers) - min(numbers) > 1e-5 * max(map(abs, numbers)):
        return None
    middle = numbers[0]
    return (0.0, 2 * middle) if middle > 0 else (2 * middle, 0.0) if middle < 0 else (-0.05, 1.0)


# Pictures.


def _picture(panels: Mapping[str, list[Curve]], x: str, scales: str, title: str, *, named: bool) -> Any:
    figure = new_figure(7, 4.5 if len(panels) < 2 else 3.1 * len(panels) + 0.6)
    if not panels:
        figure.subplots().set_title("no value to draw")
        return figure
    every = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (quantity, curves) in zip(every, panels.items(), strict=True):
        for place, curve in enumerate(curves):
            key = named and place in _kept(curves)
            _draw(axes, curve, key=key, scales=scales if quantity != TRUTH else "", truth=quantity == TRUTH)
        _dress(axes, quantity, curves, scales)
        _legend(axes, curves)
    everything = [curve for curves in panels.values() for curve in curves]
    if (ticks := _ticks(everything, "x" in scales)) is not None:
        every[-1].set_xticks(ticks, [_plain(tick) for tick in ticks], minor=False)
        every[-1].minorticks_off()
    every[-1].set_xlabel(x)
    if title:
        figure.suptitle(title, fontsize="medium")
    return figure


def _draw(axes: Any, curve: Curve, *, key: bool, scales: str, truth: bool) -> None:
    places, drawn = curve.column("x"), {name: curve.column(name) for name in ("low", "high", "lower", "upper")}
    if "y" in scales:  # which has no place for zero
        drawn = {name: [n if n > 0 else math.nan for n in column] for name, column in drawn.items()}
    line = {"marker": "o", "markersize": 3.5, "color": curve.colour, "linestyle": "none" if truth else "-"}
    band = {"color": curve.colour, "alpha": 0.18, "linewidth": 0}
    axes.fill_between(places, drawn["lower"], drawn["upper"], **band)
    axes.plot(places, drawn["high"], label=curve.label if key else "_", **line)
    if curve.is_band:
        axes.plot(places, drawn["low"], label="_", **line)
        axes.fill_between(places, drawn["low"], drawn["high"], **band)
    if curve.infinite:
        above = {"transform": axes.get_xaxis_transform(), "clip_on": False, "linestyle": "none", "label": "_"}
        axes.plot(curve.infinite, [1.0] * len(curve.infinite), marker="^", color=curve.colour, **above)
        axes.annotate("∞", (curve.infinite[0], 1.0), xycoords=axes.get_xaxis_transform(), ha="center", va="bottom")


def _dress(axes: Any, quantity: str, curves: Sequence[Curve], scales: str) -> None:
    axes.set_ylabel(quantity)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    if "x" in scales:
        axes.set_xscale("log")
    if quantity == TRUTH:
        axes.set_yticks([0, 1], ["false", "true"])
        axes.set_ylim(-0.15, 1.15)
    elif "y" in scales:
        axes.set_yscale("log")
        with_plain_numbers(axes.yaxis)
    else:
        axes.ticklabel_format(axis="y", useOffset=False)
        if (limits := _flat(curves)) is not None:
            axes.set_ylim(*limits)


def _legend(axes: Any, curves: Sequence[Curve]) -> None:
    from matplotlib.patches import Patch

    handles, labels = axes.get_legend_handles_labels()
    if any(curve.is_band for curve in curves):
        handles.append(Patch(facecolor="#999999", alpha=0.4))
        labels.append("least to greatest over the initial states")
    if not handles:
        return
    if len(curves) > MOST_KEYS:
        handles.append(Patch(alpha=0.0))
        labels.append(f"and {len(curves) - len(_kept(curves)):,} between")
    beside = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} if len(handles) > 6 else {"loc": "best"}
    axes.legend(handles, labels, fontsize="small", framealpha=0.85, edgecolor="none", **beside)


# Pages.


def _page(panels: Mapping[str, list[Curve]], x: str, scales: str, title: str, *, named: bool) -> Any:
    objects = plotly()
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=max(len(panels), 1), cols=1, shared_xaxes=True, vertical_spacing=0.06)
    for row, (quantity, curves) in enumerate(panels.items(), 1):
        for curve in curves:
            for trace in _traces(objects, curve, x):
                figure.add_trace(trace, row=row, col=1)
        axis: dict[str, Any] = {"title": quantity}
        if quantity == TRUTH:
            axis |= {"tickvals": [0, 1], "ticktext": ["false", "true"], "range": [-0.15, 1.15]}
        elif "y" in scales:
            axis |= {"type": "log", "exponentformat": "power"}
        elif (limits := _flat(curves)) is not None:
            axis |= {"range": limits}
        figure.update_yaxes(**axis, row=row, col=1)
    everything = [curve for curves in panels.values() for curve in curves]
    horizontal: dict[str, Any] = {"type": "log"} if "x" in scales else {}
    if (ticks := _ticks(everything, "x" in scales)) is not None and ticks:
        horizontal |= {"tickvals": ticks, "ticktext": [_plain(tick) for tick in ticks]}
    figure.update_xaxes(**horizontal)
    figure.update_xaxes(title=x, row=max(len(panels), 1), col=1)
    look = {"template": "simple_white", "showlegend": named, "height": 160 + 320 * max(len(panels), 1)}
    figure.update_layout(title=title if panels else "no value to draw", **look)
    return figure


def _traces(objects: Any, curve: Curve, x: str) -> list[Any]:
    """A line, and the bands around it."""
    places, group = curve.column("x"), {"legendgroup": curve.label, "showlegend": False}
    found = []
    for below, above in (("lower", "upper"), *([("low", "high")] if curve.is_band else [])):
        edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", **group}
        fill = {"fill": "tonexty", "fillcolor": _faint(curve.colour)}
        found.append(objects.Scatter(x=places, y=curve.column(below), **edge))
        found.append(objects.Scatter(x=places, y=curve.column(above), **edge, **fill))
    line = {"mode": "lines+markers", "line": {"color": curve.colour}, "marker": {"size": 6}}
    told = [f"{x}={_plain(p.x)}: {_told(p)}<br>in [{p.lower!r}, {p.upper!r}]" for p in curve.points]
    if curve.is_band:
        found.append(objects.Scatter(x=places, y=curve.column("low"), hoverinfo="skip", **line, **group))
    hover = {"hovertext": told, "hoverinfo": "text+name", "name": curve.label, "legendgroup": curve.label}
    found.append(objects.Scatter(x=places, y=curve.column("high"), **line, **hover))
    return found


def _told(point: Point) -> str:
    low, high = shown(point.low, 9), shown(point.high, 9)
    return low if low == high else f"{low} to {high}"


def _faint(colour: str) -> str:
    red, green, blue = bytes.fromhex(colour[1:])
    return f"rgba({red},{green},{blue},0.18)"
