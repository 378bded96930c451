"""Pictures as files: which kinds there are, what draws them, and how they are written.

Matplotlib draws pictures to print (``.png``, ``.pdf``, ``.svg``), Plotly pages to explore (``.html``), which need no
network. Neither is loaded before something is drawn.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..io.output import replacing
from ..lang import GaltonError

__all__ = ["PAGE", "PICTURES", "check_kind", "is_page", "new_figure", "plotly", "shades", "write"]

PICTURES = (".png", ".pdf", ".svg")
PAGE = ".html"
DPI = 150


def is_page(path: str | Path) -> bool:
    """Whether a file of this name is a page."""
    return Path(path).suffix.lower() == PAGE


def check_kind(path: str | Path) -> None:
    """Refuse a file that is no kind of picture, or that cannot be drawn here, before anything is computed."""
    suffix = Path(path).suffix.lower()
    if suffix not in (*PICTURES, PAGE):
        raise GaltonError(f"'{suffix}' is no kind of picture; {', '.join(PICTURES)} and {PAGE} are")
    if suffix == PAGE:
        plotly()
    else:
        new_figure(1, 1)


def new_figure(width: float, height: float) -> Any:
    """Matplotlib's empty figure, of so many inches, which notebooks show."""
    try:
        import matplotlib.figure  # noqa: F401  # ours is one of these

        from .figure import NotebookFigure
    except ImportError:
        raise GaltonError("pictures need Matplotlib: pip install 'galton[plot]'") from None
    return NotebookFigure(figsize=(width, height), layout="constrained")


def plotly() -> Any:
    """Plotly's objects."""
    try:
        import plotly.graph_objects
    except ImportError:
        raise GaltonError(
            "pages need Plotly: pip install 'galton[plot]'; a file ending in .png needs Matplotlib only"
        ) from None
    return plotly.graph_objects


def write(figure: Any, path: str | Path, dpi: int = DPI) -> None:
    """Write a figure of Matplotlib's, or one of Plotly's as a page that needs nothing else."""
    if is_page(path):
        with replacing(path) as file:
            file.write(figure.to_html(include_plotlyjs=True))
    else:
        with replacing(path, "binary") as file:
            figure.savefig(file, dpi=dpi, format=Path(path).suffix.lower().lstrip("."))


def shades(count: int) -> list[str]:
    """So many colours of viridis, dark first; not its brightest, which is hard to see on white."""
    return [viridis(0.05 + 0.8 * k / max(count - 1, 1) if count > 1 else 0.3) for k in range(count)]


def viridis(place: float) -> str:
    """A colour of viridis, from 0, dark violet, to 1, yellow.

    The map of Smith and van der Walt (2015), whose lightness grows evenly, by 17 of its colours and straight lines
    between, so that pages and pictures agree.

    >>> viridis(0), viridis(0.5), viridis(1)
    ('#440154', '#21918c', '#fde725')
    """
    at = min(max(place, 0.0), 1.0) * (len(_VIRIDIS) - 1)
    low = min(int(at), len(_VIRIDIS) - 2)
    pair = zip(*(bytes.fromhex(_VIRIDIS[k]) for k in (low, low + 1)), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (at - low)):02x}" for a, b in pair)


_VIRIDIS = (
    *("440154", "48186a", "472d7b", "424086", "3b528b", "33638d", "2c728e", "26828e", "21918c"),
    *("1f9f88", "27ad81", "3dbc74", "5cc863", "81d34d", "aadc32", "d5e21a", "fde725"),
)
