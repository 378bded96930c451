"""Regions of parameter space as pictures: Matplotlib for files, Plotly for pages to explore.

One parameter: the bounds over it, with the threshold or the optimum as a line. Two: coloured rectangles. Three: blocks
in space, on a page. More: the first three, as far as boxes contain the middle of the space in the others.

Verdicts have colours of their own; numbers have those of viridis. Boxes of one colour are one object, so that ten
thousand of them are no burden.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..lang import GaltonError
from .files import PAGE, check_kind, is_page, new_figure, plotly, viridis, write

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Colours that people tell apart who do not see red and green alike.
COLOURS = {
    "true": "#1b9e77",
    "false": "#d95f02",
    "undecided": "#c8c8c8",
    "optimal": "#1b9e77",
    "excluded": "#c8c8c8",
}
DECIDED = ("true", "false", "undecided")  # verdicts by which boxes are coloured; others have numbers
GAP = 0.01  # of a block on each side
LEVELS = 64  # colours of a scale on a page
BEST = "#d62728"  # the optimum, and lines across a picture

__all__ = ["Box", "Point", "Regions", "check_plot", "plot_regions"]


class Box(Protocol):
    """Parameter values from ``low`` to ``high``, with bounds on the number in all of them, and what they say."""

    @property
    def low(self) -> tuple[float, ...]:
        """The lower corner."""

    @property
    def high(self) -> tuple[float, ...]:
        """The upper corner."""

    @property
    def center(self) -> tuple[float, ...]:
        """The point in the middle."""

    @property
    def lower(self) -> float:
        """The number is at least that."""

    @property
    def upper(self) -> float:
        """And at most that."""

    @property
    def verdict(self) -> str:
        """One of ``DECIDED``, ``optimal`` where the optimum may be, or any other word."""


class Point(Protocol):
    """A single point."""

    @property
    def point(self) -> tuple[float, ...]:
        """Its coordinates."""


class Regions(Protocol):
    """What is drawn, such as the regions that a synthesis finds."""

    @property
    def parameters(self) -> Mapping[str, tuple[float, float]]:
        """Names and ranges, in the order of coordinates."""

    @property
    def formula(self) -> str:
        """The title."""

    @property
    def boxes(self) -> Sequence[Box]:
        """All of the space."""

    @property
    def best(self) -> Point | None:
        """The point with a star."""

    @property
    def spread(self) -> tuple[float, float]:
        """The ends of the scale for values."""

    @property
    def threshold(self) -> float | None:
        """The number that a property compares with, where it does."""

    @property
    def optimum(self) -> tuple[float, float] | None:
        """Bounds on the greatest or least number, where that was asked for."""

    def share_of(self, verdict: str) -> float:
        """The part of the space with this verdict, from 0 to 1."""


def check_plot(path: str | Path, parameters: int) -> None:
    """Refuse a kind of picture that cannot be drawn, before anything is computed."""
    check_kind(path)
    if not is_page(path) and parameters > 2:
        raise GaltonError(
            f"{parameters} parameters can be seen on a page only; write the picture to a file ending in {PAGE}"
        )


def plot_regions(regions: Regions, path: str | Path | None = None) -> Any:
    """Draw regions.

    Parameters
    ----------
    path
        Where to write it: ``.html`` for a page to explore, ``.png``, ``.pdf`` or ``.svg`` for a picture; None to get
        Plotly's figure, which notebooks show by themselves.
    """
    if path is not None:
        check_plot(path, len(regions.parameters))
    figure = _page(regions) if path is None or is_page(path) else _picture(regions)
    if path is not None:
        write(figure, path)
    return figure


# What is drawn.


def scale(regions: Regions) -> tuple[float, float] | None:
    """The ends of the scale of numbers; None where verdicts have colours."""
    if any(box.verdict in DECIDED for box in regions.boxes):
        return None
    middles = [middle(box) for box in regions.boxes if math.isfinite(middle(box))]
    return (min(middles), max(middles)) if middles else (0.0, 1.0)


def middle(box: Box) -> float:
    """The middle of the bounds: where the number is, as nearly as is known."""
    return (box.lower + box.upper) / 2


def colour(regions: Regions, box: Box, ends: tuple[float, float] | None = None) -> str:
    """By the verdict, or on a scale by the middle of the bounds."""
    if box.verdict in DECIDED:
        return COLOURS[box.verdict]
    least, most = ends or scale(regions) or (0.0, 1.0)
    place = (middle(box) - least) / (most - least) if most > least else 0.5
    return viridis(round(place * (LEVELS - 1)) / (LEVELS - 1) if place == place else 0.5)


def _by_colour(regions: Regions, boxes: Sequence[Box]) -> dict[str, list[Box]]:
    ends = scale(regions)
    found: dict[str, list[Box]] = {}
    for box in boxes:
        found.setdefault(colour(regions, box, ends), []).append(box)
    return found


def _legend(regions: Regions) -> dict[str, str]:
    """What colours mean, with the part of the space that has them; nothing where they are a scale."""
    parts = {verdict: regions.share_of(verdict) for verdict in DECIDED}
    unseen = {"false": ", not drawn"} if len(regions.parameters) > 2 else {}
    return {COLOURS[v]: f"{v}, {part:.1%}{unseen.get(v, '')}" for v, part in parts.items() if part}


def _corners(regions: Regions, box: Box) -> tuple[float, float, float, float]:
    """A box on paper: over one parameter its height is its bounds."""
    bottom, top = (box.low[1], box.high[1]) if len(regions.parameters) == 2 else (box.lower, box.upper)
    return box.low[0], bottom, box.high[0], top


def _curve(regions: Regions) -> tuple[list[float], list[float]]:
    """Over one parameter, the middles of the bounds."""
    boxes = sorted(regions.boxes, key=lambda box: box.low)
    return [box.center[0] for box in boxes], [middle(box) for box in boxes]


def _optimal(regions: Regions) -> list[Box]:
    """The boxes that may hold the optimum; none where none was asked for."""
    return [box for box in regions.boxes if box.verdict == "optimal"]


def _best_text(regions: Regions) -> str:
    assert regions.best is not None
    point = ", ".join(f"{n}={v:.4g}" for n, v in zip(regions.parameters, regions.best.point, strict=True))
    return f"best point tried: {point}"


# Pictures.


def _picture(regions: Regions) -> Any:
    from matplotlib.collections import PolyCollection

    figure = new_figure(7, 5)
    axes = figure.subplots()
    names = list(regions.parameters)
    flat = len(names) == 2
    fine = len(regions.boxes) > 2000
    for shade, boxes in _by_colour(regions, regions.boxes).items():
        edges = {"edgecolors": shade if fine or not flat else "white", "linewidths": 0.2 if flat else 0.0}
        look: Any = {"facecolors": shade, **edges, "alpha": 1.0 if flat else 0.75}
        axes.add_collection(PolyCollection(_polygons(regions, boxes), **look))
    axes.set_xlim(*regions.parameters[names[0]])
    axes.set_xlabel(names[0])
    axes.set_title(regions.formula, fontsize="medium")
    if flat:
        axes.set_ylim(*regions.parameters[names[1]])
        axes.set_ylabel(names[1])
    else:
        _draw_bounds(axes, regions)
    _draw_optimum(axes, regions)
    if (ends := scale(regions)) is None:
        _keys(figure, regions)
    elif flat:
        _colour_bar(figure, axes, ends)
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, fontsize="small", framealpha=0.85, edgecolor="none")
    return figure


def _polygons(regions: Regions, boxes: Sequence[Box]) -> list[list[tuple[float, float]]]:
    found = []
    for x0, y0, x1, y1 in (_corners(regions, box) for box in boxes):
        found.append([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    return found


def _draw_bounds(axes: Any, regions: Regions) -> None:
    """Over one parameter: the curve, and the threshold across it."""
    numbers = [number for box in regions.boxes for number in (box.lower, box.upper)]
    numbers += [] if regions.threshold is None else [regions.threshold]
    finite = [number for number in numbers if math.isfinite(number)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    margin = 0.04 * (high - low or abs(high) or 1.0)
    axes.set_ylim(low - margin, high + margin)
    axes.set_ylabel("proved bounds")
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.plot(*_curve(regions), color="black", linewidth=0.9)
    if regions.threshold is not None:
        line = {"color": BEST, "linestyle": "--", "linewidth": 1.2}
        axes.axhline(regions.threshold, label=f"threshold {regions.threshold:g}", **line)


def _draw_optimum(axes: Any, regions: Regions) -> None:
    """Where the optimum may be, and the best point that was tried."""
    boxes = _optimal(regions)
    if not boxes:
        return
    if len(regions.parameters) == 2:
        from matplotlib.collections import PolyCollection

        outline: Any = {"facecolors": "none", "edgecolors": BEST, "linewidths": 1.0, "label": "may hold the optimum"}
        axes.add_collection(PolyCollection(_polygons(regions, boxes), **outline))
    else:
        for number, box in enumerate(boxes):
            what = "_" if number else "may hold the optimum"
            axes.axvspan(box.low[0], box.high[0], color=BEST, alpha=0.15, linewidth=0, label=what)
        if regions.optimum is not None and all(map(math.isfinite, regions.optimum)):
            low, high = regions.optimum
            axes.axhspan(low, high, color=BEST, alpha=0.3, linewidth=0, label=f"optimum, {low:.5g} to {high:.5g}")
    if regions.best is not None:
        point = regions.best.point if len(regions.parameters) == 2 else (regions.best.point[0], _height(regions))
        star = {
            "marker": "*",
            "markersize": 13,
            "color": "white",
            "markeredgecolor": BEST,
            "linestyle": "none",
            "clip_on": False,
        }
        axes.plot(*point, **star, label=_best_text(regions), zorder=5)


def _height(regions: Regions) -> float:
    """The number at the best point, where there is one parameter."""
    assert regions.best is not None
    inside = [box for box in regions.boxes if box.low[0] <= regions.best.point[0] <= box.high[0]]
    return middle(inside[0]) if inside else 0.0


def _keys(figure: Any, regions: Regions) -> None:
    from matplotlib.patches import Patch

    keys = [Patch(facecolor=shade, label=meaning) for shade, meaning in _legend(regions).items()]
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), fontsize="small", frameon=False)


def _colour_bar(figure: Any, axes: Any, ends: tuple[float, float]) -> None:
    """What the colours of values mean."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    shades = LinearSegmentedColormap.from_list("viridis", [viridis(k / 255) for k in range(256)])
    figure.colorbar(ScalarMappable(Normalize(*ends), shades), ax=axes, label="value, the middle of its bounds")


# Pages.


def _page(regions: Regions) -> Any:
    objects = plotly()
    names = list(regions.parameters)
    figure = objects.Figure()
    if len(names) <= 2:
        _add_rectangles(objects, figure, regions)
        figure.update_xaxes(title=names[0], range=regions.parameters[names[0]])
        if len(names) == 2:
            figure.update_yaxes(title=names[1], range=regions.parameters[names[1]])
        else:
            figure.update_yaxes(title="proved bounds")
    else:
        _add_blocks(objects, figure, regions)
        figure.update_scenes(xaxis_title=names[0], yaxis_title=names[1], zaxis_title=names[2])
    kind = objects.Scatter if len(names) <= 2 else objects.Scatter3d
    empty: dict[str, list[None]] = {axis: [None] for axis in ("xy" if len(names) <= 2 else "xyz")}
    for shade, meaning in _legend(regions).items():
        key = {"color": shade, "symbol": "square", "size": 10}
        figure.add_trace(kind(**empty, mode="markers", marker=key, name=meaning, showlegend=True))
    if (ends := scale(regions)) is not None:
        bar = {"colorscale": [[k / 8, viridis(k / 8)] for k in range(9)], "cmin": ends[0], "cmax": ends[1]}
        bar |= {"color": [ends[0]], "showscale": True, "colorbar": {"title": "value"}}
        figure.add_trace(kind(**empty, mode="markers", marker=bar, showlegend=False, hoverinfo="skip"))
    figure.update_layout(title=regions.formula, template="simple_white", legend={"orientation": "h"}, height=700)
    return figure


def _add_rectangles(objects: Any, figure: Any, regions: Regions) -> None:
    """One trace for each colour, with gaps between its boxes; captions appear over the middles of boxes."""
    line = {"color": "white", "width": 0.3 if len(regions.boxes) > 2000 else 0.6}
    for shade, boxes in _by_colour(regions, regions.boxes).items():
        x, y = _outlines(regions, boxes)
        filled = {"mode": "lines", "line": line, "fill": "toself", "fillcolor": shade, "hoverinfo": "skip"}
        figure.add_trace(objects.Scatter(x=x, y=y, **filled, showlegend=False))
    if optimal := _optimal(regions):
        x, y = _outlines(regions, optimal)
        edge = {"mode": "lines", "line": {"color": BEST, "width": 1.5}, "hoverinfo": "skip"}
        figure.add_trace(objects.Scatter(x=x, y=y, **edge, name="may hold the optimum"))
    if len(regions.parameters) == 1:
        curve = dict(zip("xy", _curve(regions), strict=True))
        drawn = {"mode": "lines", "line": {"color": "black"}, "hoverinfo": "skip", "showlegend": False}
        figure.add_trace(objects.Scatter(**curve, **drawn))
        if regions.threshold is not None:
            across = {"x": list(next(iter(regions.parameters.values()))), "y": [regions.threshold] * 2}
            dashed = {"mode": "lines", "line": {"color": BEST, "dash": "dash"}, "hoverinfo": "name"}
            figure.add_trace(objects.Scatter(**across, **dashed, name=f"threshold {regions.threshold:g}"))
    middles = {
        "x": [box.center[0] for box in regions.boxes],
        "y": [box.center[1] if len(regions.parameters) == 2 else middle(box) for box in regions.boxes],
        "text": [_caption(regions, box) for box in regions.boxes],
    }
    unseen = {"mode": "markers", "marker": {"size": 10, "opacity": 0.0}, "hoverinfo": "text", "showlegend": False}
    figure.add_trace(objects.Scatter(**middles, **unseen))
    if regions.best is not None:
        point = regions.best.point if len(regions.parameters) == 2 else (regions.best.point[0], _height(regions))
        star = {"symbol": "star", "size": 14, "color": "white", "line": {"color": BEST, "width": 1.5}}
        best = {"mode": "markers", "marker": star, "name": _best_text(regions), "hoverinfo": "name"}
        figure.add_trace(objects.Scatter(x=[point[0]], y=[point[1]], **best))


def _outlines(regions: Regions, boxes: Sequence[Box]) -> tuple[list[float | None], list[float | None]]:
    x: list[float | None] = []
    y: list[float | None] = []
    for x0, y0, x1, y1 in (_corners(regions, box) for box in boxes):
        x += [x0, x1, x1, x0, x0, None]
        y += [y0, y0, y1, y1, y0, None]
    return x, y


def _add_blocks(objects: Any, figure: Any, regions: Regions) -> None:
    """One mesh for each verdict: eight corners and twelve triangles a box, as arrays, which pages hold in few bytes."""
    inside = _slice(regions)
    by_verdict: dict[str, list[Box]] = {}
    for box in inside:
        if box.verdict not in ("excluded", "false"):
            by_verdict.setdefault(box.verdict, []).append(box)
    ends = scale(regions)
    for verdict, boxes in by_verdict.items():
        corners, triangles = _mesh(boxes)
        # What is seen through has to be drawn in order, which cards do not do: only what is undecided is.
        look: dict[str, Any] = {"opacity": 0.2 if verdict == "undecided" else 1.0, "flatshading": True}
        if ends is None:
            look["color"] = COLOURS[verdict]
        else:
            values = [value for box in boxes for value in [middle(box)] * len(_CORNERS)]
            scale_of = {"colorscale": [[k / 8, viridis(k / 8)] for k in range(9)], "showscale": False}
            look |= {"intensity": _array(values), "cmin": ends[0], "cmax": ends[1], **scale_of}
        where = dict(zip("xyz", corners.T, strict=True)) | dict(zip("ijk", triangles.T, strict=True))
        figure.add_trace(objects.Mesh3d(**where, **look, hoverinfo="skip", showlegend=False))
    kept = [box for boxes in by_verdict.values() for box in boxes]
    middles = _array([box.center[:3] for box in kept]).reshape(-1, 3)
    captions = {"text": [_caption(regions, box) for box in kept], "hoverinfo": "text", "showlegend": False}
    unseen = {"mode": "markers", "marker": {"size": 4, "opacity": 0.0}}
    figure.add_trace(objects.Scatter3d(**dict(zip("xyz", middles.T, strict=True)), **captions, **unseen))


# The corners of a block, by which of its two ends in each direction, and triangles between them.
_CORNERS = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
_TRIANGLES = (
    *((0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4)),
    *((1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7)),
)


def _mesh(boxes: Sequence[Box]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """The corners of all blocks, and the triangles between them: ``(8 * boxes, 3)`` and ``(12 * boxes, 3)``."""
    import numpy as np

    ends = np.array([[box.low[:3], box.high[:3]] for box in boxes], dtype=np.float32)
    inwards = GAP * (ends[:, 1] - ends[:, 0])  # faces of neighbours in one place would flicker
    ends += np.stack([inwards, -inwards], axis=1)
    which = np.array(_CORNERS)
    corners = np.where(which[None, :, :] == 0, ends[:, None, 0, :], ends[:, None, 1, :]).reshape(-1, 3)
    first = (len(_CORNERS) * np.arange(len(boxes), dtype=np.int32))[:, None, None]
    return corners, (first + np.array(_TRIANGLES, dtype=np.int32)[None]).reshape(-1, 3)


def _array(values: Sequence[Any]) -> npt.NDArray[np.float32]:
    import numpy as np

    return np.array(values, dtype=np.float32)


def _slice(regions: Regions) -> list[Box]:
    middles = [low + (high - low) / 2 for low, high in regions.parameters.values()]
    return [b for b in regions.boxes if all(b.low[p] <= middles[p] <= b.high[p] for p in range(3, len(middles)))]


def _caption(regions: Regions, box: Box) -> str:
    ranges = zip(regions.parameters, box.low, box.high, strict=True)
    lines = [f"{name}: {low:.6g} to {high:.6g}" for name, low, high in ranges]
    return "<br>".join([*lines, f"value: {box.lower:.6g} to {box.upper:.6g}", box.verdict])
