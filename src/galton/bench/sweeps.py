"""Document 002: Jacobi's method sequentially, on one device and on two, in CSR and by a segmented scan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .drawing import in_seconds, with_plain_numbers
from .experiment import Cell, Experiment, Found, Options, Row
from .families import by_size, members, states_and_sweeps
from .layouts import formats_of, megabytes
from .peers import peers_of
from .questions import ask, disagreement

__all__ = ["EXPERIMENTS"]

ONE_CORE: dict[str, Any] = {"device": "cpu", "threads": 1}


def _times(name: str, family: str, column: str) -> Callable[[Options], Iterator[Row]]:
    """Tables 2 to 4: seconds sequentially, on one device and on two."""

    def run(options: Options) -> Iterator[Row]:
        for instance, theirs in members(family, by_size(name, column, system="64-bit"), options):
            wanted = {
                "seq_time_s": ONE_CORE,
                "par_time_s": {"device": "cuda"},
                "par_2gpu_time_s": {"device": "cuda:0,1"},
            }
            found = {at: ask(instance, options, **choices) for at, choices in wanted.items()}
            ours: dict[str, Cell] = {at: one["seconds"] for at, one in found.items() if "error" not in one}
            skipped = [f"{wanted[at]['device']}: {one['error']}" for at, one in found.items() if "error" in one]
            peers, peers_wrong = peers_of(instance, options)
            ours |= peers
            yield Row(
                instance=instance.name,
                printed={at: theirs[at] for at in wanted if at in theirs},
                measured=ours,
                skipped="; ".join(skipped),
                wrong="; ".join(filter(None, (disagreement(*found.values()), peers_wrong))),
            )

    return run


def _segmented(options: Options) -> Iterator[Row]:
    """Table 5: seconds, how many times faster than sequentially, and memory, by a segmented scan."""
    for family in ("herman", "cluster", "tandem"):
        for instance, theirs in members(family, by_size("002-table-5", protocol=family), options):
            names = ("par_time_s", "factor", "gpu_mem_mb")
            ours: dict[str, Cell] = {}
            skipped, wrong = [], ""
            scan = ask(instance, options, device="cuda", format="segmented")
            if "error" in scan:
                skipped.append(scan["error"])
            else:
                ours["par_time_s"] = scan["seconds"]
                alone = ask(instance, options, **ONE_CORE)
                wrong = disagreement(scan, alone)
                if "error" not in alone:
                    ours["our_factor"] = alone["seconds"] / scan["seconds"]
            held = formats_of(instance, options, ["segmented"], ["canonical"], compact=True)
            if "error" in held:
                skipped.append(f"memory: {held['error']}")
            else:
                cell = held["segmented canonical"]
                ours |= {"bytes": cell["bytes"], "gpu_mem_mb": megabytes(cell)}
            yield Row(
                instance=instance.name,
                printed={name: theirs[name] for name in names if name in theirs},
                measured=ours,
                skipped="; ".join(skipped),
                wrong=wrong,
            )


PRECISIONS: dict[str, dict[str, Any]] = {
    "cpu_s": ONE_CORE,
    "double_s": {"device": "cuda"},
    "single_s": {"device": "cuda", "single": True},
}


def _precision(options: Options) -> Iterator[Row]:
    """Figure 2: seconds of a sweep over tandem, on one core, and on a device in double and single precision."""
    for instance, _ in members("tandem", by_size("002-table-1", protocol="tandem"), options):
        ours: dict[str, Cell] = {}
        skipped = []
        for name, choices in PRECISIONS.items():
            found = ask(instance, options, **choices)
            if "error" in found:
                skipped.append(f"{name.removesuffix('_s')}: {found['error']}")
            else:
                ours |= {"n": found["n"], name: found["solve_s"] / found["iterations"]}
        yield Row(instance=instance.name, measured=ours, skipped="; ".join(skipped))


def _draw_precision(found: Found, path: Path) -> None:
    from ..plot.matrix import figure, save

    drawn = figure(7, 4.5)
    axes = drawn.subplots()
    labels = {"cpu_s": "one core, double", "double_s": "device, double", "single_s": "device, single"}
    for name, marker in zip(PRECISIONS, "os^", strict=True):
        points = [(row.measured["n"], row.measured[name]) for row in found.rows if name in row.measured]
        if points:
            axes.plot(*zip(*points, strict=True), marker=marker, label=labels[name])
    axes.set(xlabel="states", ylabel="time of a sweep", xscale="log", yscale="log")
    with_plain_numbers(axes.xaxis)
    in_seconds(axes.yaxis)
    axes.set_title(found.experiment.title, fontsize="medium")
    axes.grid(alpha=0.3)
    if axes.has_data():
        axes.legend()
    save(drawn, path)


# The worked examples: the rows of a matrix as they are stored, and the sums of rows by a scan.

SIZES, COLUMNS = (2, 2, 3, 1, 1), (2, 4, 2, 3, 0, 3, 4, 0, 0)
NON_ZERO = (0.7, 0.1, 0.01, 0.99, 0.3, 0.58, 0.12, 1.0, 0.5)
PRODUCTS, BEGINNINGS = (4, 1, 6, 3, 8, 6, 1, 2, 5), (0, 3, 5)
SCANNED = (11, 7, 6, 11, 8, 14, 8, 7, 5)


def _same(name: str, theirs: tuple[float, ...], ours: Any) -> Row:
    """A list of numbers as it is printed, and as it is found here."""
    texts = [" ".join(f"{number:g}" for number in numbers) for numbers in (theirs, ours)]
    same = "yes" if texts[0] == texts[1] else "NO"
    wrong = "" if same == "yes" else "not as printed"
    return Row(instance=name, printed={"numbers": texts[0]}, measured={"numbers": texts[1], "same": same}, wrong=wrong)


def _compressed_rows(options: Options) -> Iterator[Row]:
    """Example 1: a matrix of five rows as a model stores it."""
    import numpy as np

    from ..model.sparse import Model

    matrix = np.zeros((5, 5))
    matrix[np.repeat(np.arange(5), SIZES), COLUMNS] = NON_ZERO
    model = Model.from_matrix("ctmc", matrix)
    yield _same("rsize", SIZES, np.diff(model.row_starts))
    yield _same("col", COLUMNS, model.columns)
    yield _same("non-zero", NON_ZERO, model.values[:])


def _scan(options: Options) -> Iterator[Row]:
    """Example 2: a backward inclusive scan of three segments, and their sums as a sweep makes them."""
    import numpy as np

    from ..backend.steps import row_products
    from ..model.sparse import Model
    from .storage import backward_segmented_scan

    numbers, starts = np.array(PRODUCTS), np.array(BEGINNINGS)
    yield _same("scan", SCANNED, backward_segmented_scan(numbers, starts))
    matrix = np.eye(4)  # the rows, and one more for the fourth column
    for row, products in enumerate(np.split(numbers, starts[1:])):
        matrix[row] = np.pad(products, (0, 4 - len(products)))
    sums = row_products(Model.from_matrix("ctmc", matrix), np.ones(4), threads=1)
    yield _same("sums of rows", tuple(SCANNED[start] for start in BEGINNINGS), sums[:3])


TOTAL = "Seconds are from the program that was read to the answer; building the model is in them."

EXPERIMENTS = [
    Experiment(
        name="002-table-1",
        title="States and sweeps of Jacobi's method",
        run=states_and_sweeps("002-table-1", "protocol"),
    ),
    Experiment(
        name="002-table-2",
        title="herman: one core, one device, two",
        run=_times("002-table-2", "herman", "instance"),
        notes=(TOTAL,),
    ),
    Experiment(
        name="002-table-3",
        title="cluster: one core, one device, two",
        run=_times("002-table-3", "cluster", "N"),
        notes=(TOTAL,),
    ),
    Experiment(
        name="002-table-4",
        title="tandem: one core, one device, two",
        run=_times("002-table-4", "tandem", "c"),
        notes=(TOTAL,),
    ),
    Experiment(
        name="002-table-5",
        title="By a segmented scan: seconds, how many times faster than the CPU, memory",
        run=_segmented,
        notes=(
            "The segmented format sums chunks of 1,024 entries and carries what rows have in several; it keeps the "
            "sums of rows, not all products. bytes: the matrix with compact values, numbers of rows and sums, exactly; "
            "memory: with the two vectors, in 2^20 bytes.",
        ),
    ),
    Experiment(
        name="002-figure-2",
        title="tandem: time of a sweep of Jacobi's method, in double and in single precision",
        run=_precision,
        draw=_draw_precision,
        notes=(
            "In single precision only vectors are floats: values are codes into doubles, and sums are doubles. The "
            "paper's numbers are in a picture only.",
        ),
    ),
    Experiment(
        name="002-example-1",
        title="The compressed rows of a matrix",
        run=_compressed_rows,
        notes=("The model is a CTMC: two rows of the printed matrix do not sum to 1.",),
    ),
    Experiment(
        name="002-example-2",
        title="A backward inclusive segmented scan",
        run=_scan,
        notes=("A device finds the sums of rows without the numbers between, which nobody asks for.",),
    ),
]
