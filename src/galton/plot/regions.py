"""Regions of parameter space as pictures: Matplotlib for files, Plotly for pages to explore.

One parameter: the bounds over it. Two: coloured rectangles. Three: blocks in space. More: the first three, as far as
boxes contain the middle of the space in the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ..io.output import replacing
from ..lang import GaltonError

# Colours that people tell apart who do not see red and green alike.
COLOURS = {
    "true": "#1b9e77",
    "false": "#d95f02",
    "undecided": "#c8c8c8",
    "optimal": "#1b9e77",
    "excluded": "#c8c8c8",
}
LOW, HIGH = (68, 1, 84), (253, 231, 37)  # the ends of the scale for values
PAGE = ".html"

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
        """One of the keys of ``COLOURS``, or any other word where colours are a scale."""


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

    def share_of(self, verdict: str) -> float:
        """The part of the space with this verdict, from 0 to 1."""


def check_plot(path: str | Path, parameters: int) -> None:
    """Refuse a kind of picture that cannot be drawn, before anything is computed."""
    suffix = Path(path).suffix.lower()
    if suffix == PAGE:
        _plotly()
    elif suffix in (".png", ".pdf", ".svg"):
        _figure()
        if parameters > 2:
            raise GaltonError(
                f"{parameters} parameters can be seen on a page only; write the picture to a file ending in {PAGE}"
            )
    else:
        raise GaltonError(f"'{suffix}' is no kind of picture; {PAGE}, .png, .pdf and .svg are")


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
        if Path(path).suffix.lower() != PAGE:
            return _picture(regions, Path(path))
    figure = _page(regions)
    if path is not None:
        with replacing(path) as file:
            figure.write_html(file, include_plotlyjs=True)
    return figure


def colour(regions: Regions, box: Box) -> str:
    """By the verdict, or on a scale by the middle of the bounds."""
    if box.verdict in COLOURS:
        return COLOURS[box.verdict]
    least, most = regions.spread
    where = ((box.lower + box.upper) / 2 - least) / (most - least) if most > least else 0.5
    mixed = (round(a + (b - a) * where) for a, b in zip(LOW, HIGH, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _legend(regions: Regions) -> dict[str, str]:
    """What colours mean, with the part of the space that has them; nothing where they are a scale."""
    parts = {verdict: regions.share_of(verdict) for verdict in COLOURS}
    return {COLOURS[verdict]: f"{verdict}, {part:.1%}" for verdict, part in parts.items() if part}


def _curve(regions: Regions) -> tuple[list[float], list[float]]:
    """Over one parameter, the middles of the bounds: where the number is, as nearly as is known."""
    boxes = sorted(regions.boxes, key=lambda box: box.low)
    return [box.center[0] for box in boxes], [(box.lower + box.upper) / 2 for box in boxes]


def _plotly() -> Any:
    try:
        import plotly.graph_objects
    except ImportError:
        raise GaltonError(
            "pages need Plotly: pip install 'galton[plot]'; a file ending in .png needs Matplotlib only"
        ) from None
    return plotly.graph_objects


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise GaltonError("pictures need Matplotlib: pip install 'galton[plot]'") from None
    return Figure(figsize=(7, 5), layout="constrained")


# Pictures.


def _picture(regions: Regions, path: Path) -> Any:
    from matplotlib.patches import Rectangle

    figure = _figure()
    axes = figure.subplots()
    names = list(regions.parameters)
    for box in regions.boxes:
        # Over one parameter the height of a box is its bounds.
        bottom, top = (box.low[1], box.high[1]) if len(names) == 2 else (box.lower, box.upper)
        patch = Rectangle((box.low[0], bottom), box.high[0] - box.low[0], top - bottom)
        patch.set(facecolor=colour(regions, box), edgecolor="white", linewidth=0.3)
        axes.add_patch(patch)
    axes.set_xlim(*regions.parameters[names[0]])
    if len(names) == 2:
        axes.set_ylim(*regions.parameters[names[1]])
    else:
        axes.set_ylim(min(b.lower for b in regions.boxes), max(b.upper for b in regions.boxes))
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1] if len(names) == 2 else "bounds")
    axes.set_title(regions.formula, fontsize="small")
    if len(names) == 1:
        axes.plot(*_curve(regions), color="black", linewidth=0.8)
    keys = [Rectangle((0, 0), 1, 1, facecolor=shade, label=meaning) for shade, meaning in _legend(regions).items()]
    if keys:
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), fontsize="small", frameon=False)
    else:
        _scale(figure, axes, regions)
    if regions.best is not None and len(names) == 2:
        axes.plot(*regions.best.point, marker="*", color="black")
    with replacing(path, "binary") as file:
        figure.savefig(file, dpi=150, format=path.suffix.lower().lstrip("."))
    return figure


def _scale(figure: Any, axes: Any, regions: Regions) -> None:
    """What the colours of values mean."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    ends = [tuple(part / 255 for part in end) for end in (LOW, HIGH)]
    figure.colorbar(
        ScalarMappable(Normalize(*regions.spread), LinearSegmentedColormap.from_list("values", ends)), ax=axes
    )


# Pages.


def _page(regions: Regions) -> Any:
    objects = _plotly()
    names = list(regions.parameters)
    figure = objects.Figure()
    if len(names) <= 2:
        for box in regions.boxes:
            figure.add_trace(_rectangle(objects, regions, box))
        figure.update_xaxes(title=names[0], range=regions.parameters[names[0]])
        if len(names) == 2:
            figure.update_yaxes(title=names[1], range=regions.parameters[names[1]])
    else:
        for box in _slice(regions):
            if box.verdict not in ("excluded", "false"):
                figure.add_trace(_block(objects, regions, box))
        figure.update_scenes(xaxis_title=names[0], yaxis_title=names[1], zaxis_title=names[2])
    if len(names) == 1:
        x, y = _curve(regions)
        figure.add_trace(objects.Scatter(x=x, y=y, mode="lines", line={"color": "black", "width": 1}, hoverinfo="skip"))
    kind = objects.Scatter if len(names) <= 2 else objects.Scatter3d
    for shade, meaning in _legend(regions).items():
        empty = {"x": [None], "y": [None], **({} if len(names) <= 2 else {"z": [None]})}
        key = {"color": shade, "symbol": "square", "size": 10}
        figure.add_trace(kind(**empty, mode="markers", marker=key, name=meaning, showlegend=True))
    figure.update_traces(showlegend=False, selector=lambda trace: not trace.name)
    figure.update_layout(title=regions.formula, template="simple_white")
    return figure


def _slice(regions: Regions) -> list[Box]:
    middle = [low + (high - low) / 2 for low, high in regions.parameters.values()]
    return [box for box in regions.boxes if all(box.low[p] <= middle[p] <= box.high[p] for p in range(3, len(middle)))]


def _caption(regions: Regions, box: Box) -> str:
    ranges = zip(regions.parameters, box.low, box.high, strict=True)
    lines = [f"{name}: {low:.6g} to {high:.6g}" for name, low, high in ranges]
    return "<br>".join([*lines, f"value: {box.lower:.6g} to {box.upper:.6g}", box.verdict])


def _rectangle(objects: Any, regions: Regions, box: Box) -> Any:
    x0, x1 = box.low[0], box.high[0]
    y0, y1 = (box.low[1], box.high[1]) if len(regions.parameters) == 2 else (box.lower, box.upper)
    return objects.Scatter(
        x=[x0, x1, x1, x0, x0],
        y=[y0, y0, y1, y1, y0],
        mode="lines",
        line={"color": "white", "width": 0.5},
        fill="toself",
        fillcolor=colour(regions, box),
        text=_caption(regions, box),
        hoverinfo="text",
        hoveron="fills",
    )


def _block(objects: Any, regions: Regions, box: Box) -> Any:
    (x0, y0, z0), (x1, y1, z1) = box.low[:3], box.high[:3]
    return objects.Mesh3d(
        x=[x0, x1, x1, x0, x0, x1, x1, x0],
        y=[y0, y0, y1, y1, y0, y0, y1, y1],
        z=[z0, z0, z0, z0, z1, z1, z1, z1],
        alphahull=0,
        color=colour(regions, box),
        opacity=0.25 if box.verdict == "undecided" else 0.6,
        hovertext=_caption(regions, box),
        hoverinfo="text",
        flatshading=True,
    )
