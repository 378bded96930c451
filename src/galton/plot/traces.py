"""Random paths as a picture: the value of each quantity over time, a step for each state that a path enters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .files import check_kind, is_page, new_figure, plotly, shades, write

__all__ = ["Line", "plot_traces"]

MOST_IN_LEGEND = 12


@dataclass(frozen=True)
class Line:
    """What a quantity is along one path: ``values[i]`` from ``times[i]`` on."""

    quantity: str
    path: int
    times: Sequence[float]
    values: Sequence[float]


def plot_traces(lines: Sequence[Line], path: Path, title: str, axis: str) -> None:
    """Draw a panel for each quantity, and in it a line for each path; ``axis`` is what passes from left to right."""
    check_kind(path)
    write((_page if is_page(path) else _picture)(lines, title, axis), path)


def _quantities(lines: Sequence[Line]) -> list[str]:
    return list(dict.fromkeys(line.quantity for line in lines))


def _colours(lines: Sequence[Line]) -> dict[int, str]:
    paths = sorted({line.path for line in lines})
    return dict(zip(paths, shades(len(paths)), strict=True))


def _picture(lines: Sequence[Line], title: str, axis: str) -> Any:
    quantities, colours = _quantities(lines), _colours(lines)
    figure = new_figure(8, 1.2 + 1.8 * len(quantities))
    panels = figure.subplots(len(quantities), 1, sharex=True, squeeze=False)
    for quantity, panel in zip(quantities, panels[:, 0], strict=True):
        for line in lines:
            if line.quantity == quantity:
                colour, label = colours[line.path], f"path {line.path}"
                panel.step(line.times, line.values, where="post", color=colour, linewidth=1.2, label=label)
        panel.set_ylabel(quantity)
        panel.yaxis.get_major_locator().set_params(integer=True)  # variables count
        panel.grid(alpha=0.25, linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
    panels[-1, 0].set_xlabel(axis)
    if 1 < len(colours) <= MOST_IN_LEGEND:
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", fontsize="small", ncols=6, frameon=False)
    figure.suptitle(title)
    return figure


def _page(lines: Sequence[Line], title: str, axis: str) -> Any:
    plotly()  # says what to install
    from plotly.subplots import make_subplots

    quantities, colours = _quantities(lines), _colours(lines)
    figure: Any = make_subplots(rows=len(quantities), cols=1, shared_xaxes=True, vertical_spacing=0.03)
    for line in lines:
        row = quantities.index(line.quantity) + 1
        figure.add_scatter(
            x=list(line.times),
            y=list(line.values),
            mode="lines",
            line={"shape": "hv", "color": colours[line.path]},
            name=f"path {line.path}",
            legendgroup=str(line.path),
            showlegend=row == 1,
            row=row,
            col=1,
        )
    for row, quantity in enumerate(quantities, 1):
        figure.update_yaxes(title_text=quantity, row=row, col=1)
    figure.update_xaxes(title_text=axis, row=len(quantities), col=1)
    figure.update_layout(title=title, template="plotly_white", height=160 + 220 * len(quantities))
    return figure
