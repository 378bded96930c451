"""Experiments as pictures: curves over one constant, for each property and each value of the other constants.

A value that differs between initial states is drawn as a band from the smallest to the largest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..checking.experiment_table import spread_of
from ..checking.result import Result
from ..io.output import replacing
from ..lang.source import GaltonError
from ..lang.stream import nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_experiment"]

Row: TypeAlias = tuple[Mapping[str, Any], Sequence[object]]  # the constants, and an answer for each property


def plot_experiment(
    rows: Sequence[Row],
    titles: Sequence[str],
    path: str | Path | None = None,
    *,
    x: str | None = None,
    log: bool | str = False,
) -> Figure:
    """Draw the numbers of an experiment.

    Parameters
    ----------
    rows
        Values of the constants, and an answer for each property; what is no answer, such as an error, is left out.
    titles
        The properties in a few words.
    path
        Where to write the picture: ``.png``, ``.pdf``, ``.svg``.
    x
        The constant to draw over; the first, if not given.
    log
        Whether the values have a logarithmic scale: ``True`` or ``"y"``; ``"x"`` for the constant, ``"xy"`` for both.

    Returns
    -------
    Figure
        The picture, as Matplotlib has it.
    """
    constants = list(rows[0][0]) if rows else [] if x is None else [x]
    if not constants:
        raise GaltonError("a plot needs a constant that runs through several values, such as N=2:2:20")
    over = constants[0] if x is None else x
    if over not in constants:
        hint = nearest(over, constants) or f"there are {', '.join(constants)}"
        raise GaltonError(f"no constant '{over}' runs through several values; {hint}")
    scales = "y" if log is True else log or ""
    if not isinstance(scales, str) or not set(scales) <= {"x", "y"}:
        raise GaltonError(f"log is True, False, 'x', 'y' or 'xy', not {log!r}")
    try:
        from .figure import NotebookFigure
    except ImportError:
        raise GaltonError("plots need Matplotlib: pip install 'galton[plot]'") from None
    figure = NotebookFigure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    curves = _curves(rows, titles, over)
    for label, points in curves.items():
        places, low, high = zip(*sorted(points), strict=True)
        (line,) = axes.plot(places, high, marker="o", markersize=4, label=label)
        if low != high:
            axes.plot(places, low, marker="o", markersize=4, color=line.get_color())
            axes.fill_between(places, low, high, alpha=0.2, color=line.get_color())
    if "x" in scales:
        axes.set_xscale("log")
    if "y" in scales:
        axes.set_yscale("log")
    axes.set_xlabel(over)
    axes.grid(alpha=0.3)
    if not curves:
        axes.set_title("no value to draw")
    elif len(curves) == 1:
        axes.set_ylabel(next(iter(curves)))
    else:
        axes.legend(fontsize="small")
    if path is not None:
        check_kind(path)
        with replacing(path, "binary") as file:
            figure.savefig(file, dpi=150, format=Path(path).suffix.lower().lstrip("."))
    return figure


def check_kind(path: str | Path) -> None:
    """Refuse a file that is no kind of picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise GaltonError("plots need Matplotlib: pip install 'galton[plot]'") from None
    suffix = Path(path).suffix
    if suffix.lower().lstrip(".") not in Figure().canvas.get_supported_filetypes():
        raise GaltonError(f"'{suffix}' is no kind of picture; .png, .pdf and .svg are")


def _curves(rows: Sequence[Row], titles: Sequence[str], x: str) -> dict[str, list[tuple[float, float, float]]]:
    """For each curve its points: the constant, the smallest and the largest value."""
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for constants, answers in rows:
        fixed = ", ".join(f"{name}={value}" for name, value in constants.items() if name != x)
        for title, answer in zip(titles, answers, strict=True):
            spread = spread_of(answer) if isinstance(answer, Result) else None
            if spread is None and isinstance(answer, Result) and isinstance(answer.value, bool):
                spread = answer.value, answer.value
            if spread is not None:
                label = f"{title}, {fixed}" if fixed else title
                curves.setdefault(label, []).append((float(constants[x]), float(spread[0]), float(spread[1])))
    return curves
