"""Document 000's four programs side by side: Jacobi's method and BiCGStab, on one thread of the CPU and on a device."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .child import measured
from .drawing import in_seconds
from .experiment import Cell, Found, Options, Row
from .questions import why_not

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "FEW_TRIALS",
    "IMPLEMENTATIONS",
    "SECOND_LOOK",
    "compared",
    "draw_curves",
    "draw_over_size",
    "order_note",
    "with_order",
]

# As the paper's legends call them: the method, and where.
IMPLEMENTATIONS = {
    "BiC-CUDA": ("bicgstab", "cuda"),
    "Jacobi-CUDA": ("jacobi", "cuda"),
    "BiC-Sequential": ("bicgstab", "cpu"),
    "Jacobi-Sequential": ("jacobi", "cpu"),
}
PRODUCTS = {"jacobi": "Jacobi sweeps", "bicgstab": "BiC products"}
FEW_TRIALS = 5  # where sizes are small
BUDGET = 0.8  # of the limit of a process is for trials

SECOND_LOOK = (
    "On a device Jacobi's method looks every 32 sweeps how far it is, and makes the last ones again, one by one, to "
    "count them: systems that need few sweeps take about twice as many."
)


def compared(
    instance: str,
    cells: dict[str, Cell],
    options: Options,
    function: str,
    *,
    names: Collection[str] = tuple(IMPLEMENTATIONS),
    **arguments: Any,
) -> Row:
    """A row with the mean times of some implementations, all if nothing is said.

    ``cells`` come first in the row. ``function`` is called in processes of their own with ``arguments``, ``methods``,
    ``device`` and ``budget``; it returns what :func:`.linear.series` does. Where all four implementations were
    measured, the row says which was the fastest and which the slowest.
    """
    cells = dict(cells)
    means: dict[str, float] = {}
    skipped: list[str] = []
    if missing := why_not(options):
        skipped.append(f"CUDA: {missing}")
    for name, (method, place) in IMPLEMENTATIONS.items():
        if name not in names or (place == "cuda" and missing):
            continue
        found = _found(method, place, options, function, arguments)
        if "error" in found:
            skipped.append(f"{name}: {found['error']}")
            continue
        means[name] = found["mean"]
        cells |= {name: found["mean"], f"{name} sd": found["deviation"]}
        cells |= {PRODUCTS[method]: found["products"], f"{name} trials": found["trials"]}
    if len(means) == len(IMPLEMENTATIONS):
        cells |= {"fastest": min(means, key=means.__getitem__), "slowest": max(means, key=means.__getitem__)}
    return Row(instance=instance, measured=cells, skipped="; ".join(skipped))


def _found(method: str, place: str, options: Options, function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a method gives at a place. Small systems take less time than a process, so that both methods share one."""
    given = {
        **arguments,
        "methods": list(PRODUCTS) if options.sizes == "small" else [method],
        "device": options.device if place == "cuda" and options.device.startswith("cuda") else place,
        "budget": BUDGET * options.limit,
    }
    found = measured(function, options, **given)
    of_method: dict[str, Any] = found if "error" in found else found[method]
    return of_method


SLOWEST = "BiC-CUDA"  # in all figures of which the paper says it


def with_order(row: Row, fastest: str) -> Row:
    """A row with what the paper says is the fastest and the slowest, where all four were measured."""
    if "fastest" not in row.measured:
        return row
    return replace(row, printed={**row.printed, "fastest": fastest, "slowest": SLOWEST})


def order_note(fastest: str) -> str:
    """How the paper orders them, in words."""
    return f"The paper finds {fastest} the fastest and {SLOWEST} the slowest."


COLOURS = {"jacobi": "tab:blue", "bicgstab": "tab:red"}
MARKERS = {"jacobi": "o", "bicgstab": "s"}


def draw_curves(axes: Axes, rows: list[Row], across: str, names: list[str]) -> None:
    """A curve for each implementation that was measured, with standard deviations: dashed on the CPU, full on CUDA."""
    for name in names:
        method, place = IMPLEMENTATIONS[name]
        points = [row.measured for row in rows if isinstance(row.measured.get(name), float)]
        if not points:
            continue
        deviations = [float(point[f"{name} sd"] or 0) for point in points]
        axes.errorbar(
            [float(point[across] or 0) for point in points],
            [float(point[name] or 0) for point in points],
            yerr=deviations,
            label=name,
            color=COLOURS[method],
            marker=MARKERS[method],
            markersize=4,
            capsize=2,
            linestyle="--" if place == "cpu" else "-",
            markerfacecolor="white" if place == "cpu" else None,
        )


def draw_over_size(found: Found, path: Path) -> None:
    """Seconds over the size of the matrix, both linear, as in figures 2 to 7."""
    from ..plot.matrix import figure, save

    drawn = figure(7, 4.5)
    axes = drawn.add_subplot()
    only = [name for name in IMPLEMENTATIONS if any(name in row.measured for row in found.rows)]
    draw_curves(axes, list(found.rows), "n", only)
    axes.set_title(found.experiment.title)
    axes.set_xlabel("size of matrix (rows)")
    axes.set_ylabel("average time")
    axes.set_ylim(bottom=0)
    in_seconds(axes.yaxis)
    axes.grid(alpha=0.3)
    if only:
        axes.legend()
    save(drawn, path)
