"""The matrix of a model as a picture: a dot for each transition, or how many there are in each pixel.

As in Figures 2 and 3 of Wijs and Bošnački (2013), one picture for each numbering of the states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .files import check_kind, is_page, new_figure, plotly, write

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..model.sparse import Model

__all__ = ["PIXELS", "Pattern", "check_kind", "draw_pattern", "figure", "pattern", "plot_matrix", "save"]

PIXELS = 1000  # the most in each direction that transitions are counted in
PANEL, DPI = 6.5, 200  # inches of a picture and its dots, which are more than PIXELS
FEW = 60  # states up to which the axes have room for squares with edges
PAGE_PIXELS = 400
SHADES = ("#8fb3e0", "#2f5fa8", "#0a1430")


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where a matrix has entries.

    Attributes
    ----------
    rows, columns
        ``(entries,)`` of each entry, from 0 to ``size - 1``.
    """

    title: str
    rows: npt.NDArray[Any]
    columns: npt.NDArray[Any]
    size: int

    @property
    def mean_distance(self) -> float:
        """How far entries are from the diagonal, in the mean."""
        return float(abs(self.rows - self.columns).mean()) if len(self.rows) else 0.0

    @property
    def bandwidth(self) -> int:
        """How far the farthest entry is from the diagonal."""
        return int(abs(self.rows - self.columns).max(initial=0))

    def counts(self, pixels: int = PIXELS) -> npt.NDArray[Any]:
        """How many entries there are in each of at most so many pixels a side."""
        import numpy as np

        side = max(min(self.size, pixels), 1)
        at = [(part.astype(np.int64) * side // max(self.size, 1)) for part in (self.rows, self.columns)]
        return np.bincount(at[0] * side + at[1], minlength=side * side).reshape(side, side)


def pattern(model: Model, order: str, title: str = "") -> Pattern:
    """The transitions of a model, its states numbered in an order of :data:`galton.backend.formats.ORDERS`."""
    import numpy as np

    from ..backend.formats import ORDERS
    from ..device.arrays import on_host
    from ..reduce.renumbering import places

    starts, columns = on_host(model.row_starts), on_host(model.columns)
    groups = on_host(model.row_groups)
    rows = np.repeat(np.arange(model.n_states, dtype=np.int32), np.diff(starts[groups]))
    if order != "canonical":
        new = places(order, groups, starts, columns, on_host(model.initial))
        rows, columns = new[rows], new[columns]
    return Pattern(title or ORDERS[order], rows, columns, model.n_states)


def plot_matrix(patterns: Sequence[Pattern], path: str | Path, title: str = "") -> Any:
    """Draw patterns side by side into a file; return Matplotlib's figure, or for a page Plotly's."""
    check_kind(path)
    drawn = _page(patterns, title) if is_page(path) else _picture(patterns, title)
    write(drawn, path, DPI)
    return drawn


def _picture(patterns: Sequence[Pattern], title: str) -> Any:
    drawn = figure(PANEL * len(patterns), PANEL + 1)
    for axes, one in zip(drawn.subplots(1, len(patterns), squeeze=False)[0], patterns, strict=True):
        shown = draw_pattern(axes, one)
        axes.set_xlabel("to state")
        axes.set_ylabel("from state")
        axes.set_title(one.title)
        if shown is not None:
            _colour_bar(drawn, axes, shown)
    if title:
        drawn.suptitle(title)
    return drawn


def _page(patterns: Sequence[Pattern], title: str) -> Any:
    """As a picture, with fewer pixels: a page holds a number for each."""
    import numpy as np

    objects = plotly()
    from plotly.subplots import make_subplots

    drawn = make_subplots(rows=1, cols=len(patterns), subplot_titles=[one.title for one in patterns])
    for column, one in enumerate(patterns, 1):
        counts = one.counts(PAGE_PIXELS)
        at = (np.arange(len(counts)) + 0.5) * max(one.size, 1) / len(counts) - 0.5  # the middles of pixels
        z = np.where(counts > 0, np.log10(np.maximum(counts, 1)), np.nan).astype(np.float32)
        few = {"hovertemplate": "from %{y:.0f} to %{x:.0f}: %{customdata}<extra></extra>", "customdata": counts}
        look = {"colorscale": [[0, SHADES[0]], [0.5, SHADES[1]], [1, SHADES[2]]], "showscale": False, **few}
        most = float(np.log10(max(int(counts.max(initial=1)), 1)))
        ends = {"zmin": 0.0, "zmax": most} if most else {"zmin": -1.0, "zmax": 0.0}  # one colour, the darkest
        drawn.add_trace(objects.Heatmap(x=at, y=at, z=z, **look, **ends), row=1, col=column)
        drawn.update_xaxes(title="to state", constrain="domain", row=1, col=column)
        anchor = {"scaleanchor": f"x{column if column > 1 else ''}", "constrain": "domain"}
        drawn.update_yaxes(title="from state", autorange="reversed", **anchor, row=1, col=column)
    drawn.update_layout(title=title, template="simple_white", height=700)
    return drawn


def draw_pattern(axes: Any, given: Pattern, pixels: int = PIXELS) -> Any | None:
    """Draw a pattern; what a colour bar needs where pixels have more than one entry, else None."""
    import numpy as np
    from matplotlib.colors import ListedColormap, LogNorm

    counts = given.counts(pixels)
    side = len(counts)
    masked = np.ma.masked_equal(counts, 0)
    extent = (-0.5, given.size - 0.5, given.size - 0.5, -0.5)
    most = int(counts.max(initial=1))
    if side == given.size or most == 1:
        axes.imshow(masked > 0, extent=extent, interpolation="nearest", cmap=ListedColormap(["#1f2f4f"]))
        if given.size <= FEW:
            axes.set_xticks(np.arange(-0.5, given.size), minor=True)
            axes.set_yticks(np.arange(-0.5, given.size), minor=True)
            axes.grid(which="minor", color="#dddddd", linewidth=0.4)
            axes.tick_params(which="minor", length=0)
        return None
    return axes.imshow(masked, extent=extent, interpolation="nearest", cmap=_shades(), norm=LogNorm(1, most))


def _colour_bar(drawn: Any, axes: Any, shown: Any) -> None:
    """Below a picture, which keeps its breadth: it has no pixel to spare."""
    most = int(shown.norm.vmax)
    ticks = [1, *(10**k for k in range(1, len(str(most))) if 10**k < most / 2), most]
    where = {"location": "bottom", "shrink": 0.6, "aspect": 40, "pad": 0.02}
    bar = drawn.colorbar(shown, ax=axes, label="transitions in a pixel", **where)
    bar.set_ticks(ticks, labels=[f"{tick:,}" for tick in ticks])
    bar.minorticks_off()


def _shades() -> Any:
    """From a blue that is seen on white to nearly black."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("transitions", SHADES)


def figure(width: float, height: float) -> Any:
    """An empty figure of so many inches."""
    return new_figure(width, height)


def save(drawn: Any, path: Path) -> None:
    """Write a figure."""
    write(drawn, path, DPI)
