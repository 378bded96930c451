"""Document 000, figures 1 to 3, 6 and 7: Jacobi's method and BiCGStab on random matrices, by size and density."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import in_seconds
from .experiment import Cell, Experiment, Found, Options, Row, Sizes, printed
from .implementations import (
    FEW_TRIALS,
    IMPLEMENTATIONS,
    SECOND_LOOK,
    compared,
    draw_curves,
    draw_over_size,
    order_note,
    with_order,
)

if TYPE_CHECKING:
    from .linear import LinearSystem

__all__ = ["EXPERIMENTS", "measure", "random_system"]

LARGEST = 10  # of the random integers

# Figure 1: sizes, each with densities in percent.
PERCENT = (0.1, 0.25, 0.5, 1.0, 2.5)
DENSITIES: dict[Sizes, dict[int, tuple[float, ...]]] = {
    "small": dict.fromkeys((250, 500, 1000), (0.5, 1.0, 2.5)),
    "paper": dict.fromkeys((2000, 4000, 8000), PERCENT),
    "beyond": dict.fromkeys((2000, 4000, 8000, 16_000), PERCENT),
}
# Figures 2 and 3.
SIZES: dict[Sizes, tuple[int, ...]] = {
    "small": (100, 200, 400),
    "paper": (1000, 2000, 3000, 4000, 6000, 8000),
    "beyond": (1000, 2000, 3000, 4000, 6000, 8000, 12_000, 16_000),
}
TEN_PERCENT = 10.0
FEW = 3  # rows of the table where sizes are small


def random_system(n: int, entries: int, seed: int) -> LinearSystem:
    """Mx = c with so many entries in M, all of the diagonal among them, the others anywhere; all are positive integers.

    To each number on the diagonal the others of its row are added, which makes M strictly diagonally dominant.
    """
    from scipy.sparse import csr_array, diags_array

    from .linear import LinearSystem

    random = np.random.default_rng((n, entries, seed))
    places = np.empty(0, dtype=np.int64)
    while missing := entries - n - len(places):  # as many as are missing: any set of places is as likely as any other
        drawn = np.sort(np.concatenate((places, random.integers(0, n * (n - 1), missing))))
        places = drawn[np.append(True, drawn[1:] != drawn[:-1])]
    rows, columns = places // (n - 1), places % (n - 1)
    columns += columns >= rows
    values = random.integers(1, LARGEST + 1, len(places)).astype(np.float64)
    rest = csr_array((values, (rows, columns)), shape=(n, n))
    diagonal = random.integers(1, LARGEST + 1, n) + rest.sum(axis=1)
    right = random.integers(-LARGEST, LARGEST + 1, n).astype(np.float64)
    return LinearSystem(csr_array(rest + diags_array(diagonal)), right)


def measure(n: int, entries: int, trials: int, methods: list[str], device: str, budget: float) -> dict[str, Any]:
    """Solve random systems of a size, a new one for each trial; the same ones by every method and on every device."""
    from .linear import series

    return series(lambda: (random_system(n, entries, seed) for seed in range(trials)), methods, device, budget)


MEASURE = f"{__name__}:measure"


def _of_density(n: int, percent: float, options: Options, names: Collection[str] = tuple(IMPLEMENTATIONS)) -> Row:
    entries = round(percent / 100 * n * n)
    trials = FEW_TRIALS if options.sizes == "small" else 20
    instance = f"n = {n:,}, {percent:g} %"
    cells: dict[str, Cell] = {"n": n, "m": entries, "density %": percent}
    return compared(instance, cells, options, MEASURE, names=names, n=n, entries=entries, trials=trials)


def _by_density(options: Options) -> Iterator[Row]:
    for n, densities in DENSITIES[options.sizes].items():
        for percent in densities:
            yield _of_density(n, percent, options)


def _by_size(*names: str) -> Callable[[Options], Iterator[Row]]:
    """Figures 2 and 3, which share what is measured."""

    def run(options: Options) -> Iterator[Row]:
        for n in SIZES[options.sizes]:
            yield _of_density(n, TEN_PERCENT, options, names)

    return run


def _like(algorithm: str, fastest: str) -> Callable[[Options], Iterator[Row]]:
    """Matrices with the sizes and the numbers of entries that table 1 prints for an algorithm."""

    def run(options: Options) -> Iterator[Row]:
        table = [row for row in printed("000-table-1") if row["algorithm"] == algorithm]
        small = options.sizes == "small"
        for cells in table[:FEW] if small else table:
            n, m = int(str(cells["n"])), int(str(cells["m"]))
            instance, trials = f"like {algorithm}, n = {n:,}", FEW_TRIALS if small else 40
            row = compared(instance, {"n": n, "m": m}, options, MEASURE, n=n, entries=m, trials=trials)
            yield with_order(row, fastest)

    return run


def _draw_by_density(found: Found, path: Path) -> None:
    """A graph for each size: seconds, on a logarithmic scale, over density."""
    from ..plot.matrix import figure, save

    sizes = list(dict.fromkeys(row.measured["n"] for row in found.rows))
    drawn = figure(4 * len(sizes), 4.2)
    drawn.suptitle(found.experiment.title)
    all_axes = drawn.subplots(1, len(sizes), squeeze=False, sharey=True)[0]
    for axes, n in zip(all_axes, sizes, strict=True):
        draw_curves(axes, [row for row in found.rows if row.measured["n"] == n], "density %", list(IMPLEMENTATIONS))
        axes.set_yscale("log")
        in_seconds(axes.yaxis)
        axes.set_title(f"n = {n:,}")
        axes.set_xlabel("density (percent non-zero entries)")
        axes.grid(alpha=0.3)
    all_axes[0].set_ylabel("average time")
    curves, names = all_axes[0].get_legend_handles_labels()
    if curves:
        drawn.legend(curves, names, loc="outside lower center", ncols=len(names))
    save(drawn, path)


NOTES = (
    "Times are those of the method alone, on a matrix that is in place: one thread of the CPU, and one device.",
    "The paper prints no times, but curves that cannot be read as numbers; so there is nothing to divide by.",
    f"The paper does not say how large its integers are, nor how dominant its diagonals: here they are 1 to {LARGEST}, "
    "and the diagonal is such a number more than the rest of its row, so that sweeps of Jacobi's method grow with "
    "density.",
    "Both methods stop when no equation is off by more than 1e-6, and each solution is checked for that; the paper's "
    "bound is not printed. It starts from random vectors, and Galton from 0.",
    "Equations are divided by their diagonal for both methods, and equal numbers of a matrix are stored once.",
    SECOND_LOOK,
    "Peers are not asked: Storm and PRISM solve no equations that are not those of a model.",
)
TRIALS = "Trials end early where they would not fit into --limit; the columns say how many there were."

EXPERIMENTS = [
    Experiment(
        name="000-figure-1",
        title="Random matrices: time by density, for several sizes",
        run=_by_density,
        draw=_draw_by_density,
        notes=(*NOTES, TRIALS, "The paper's densities are not printed: here 0.1 to 2.5 %, about those of its table."),
    ),
    Experiment(
        name="000-figure-2",
        title="Random matrices with 10 % density: time by size",
        run=_by_size(*IMPLEMENTATIONS),
        draw=draw_over_size,
        notes=(*NOTES, TRIALS, "The paper's sizes and trials are not printed: here up to 8,000, and 20."),
    ),
    Experiment(
        name="000-figure-3",
        title="Random matrices with 10 % density: time of BiCGStab by size",
        run=_by_size("BiC-CUDA", "BiC-Sequential"),
        draw=draw_over_size,
        notes=(*NOTES, TRIALS, "These are the times of figure 2, on a scale of their own."),
    ),
    Experiment(
        name="000-figure-6",
        title="Random matrices with the sizes and densities of random quick sort",
        run=_like("random quick sort", "Jacobi-Sequential"),
        draw=draw_over_size,
        notes=(*NOTES, order_note("Jacobi-Sequential")),
    ),
    Experiment(
        name="000-figure-7",
        title="Random matrices with the sizes and densities of the biased die",
        run=_like("biased die", "Jacobi-CUDA"),
        draw=draw_over_size,
        notes=(*NOTES, order_note("Jacobi-CUDA")),
    ),
]
