"""The models of documents 002 and 003: what is asked about them, and which of their members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from .experiment import Cell, Options, Row, printed
from .questions import Instance, Question, ask

__all__ = ["FAMILIES", "by_size", "members", "states_and_sweeps"]

# Both documents solve by Jacobi's method. Kanban swings for ever with it; the 663 sweeps that are printed for five
# tokens are those of JOR with 0.9.
FAMILIES = {
    "herman": Question("herman", "N", 'filter(max, R{"steps"}=? [ F "stable" ], "init")', "jacobi"),
    "cluster": Question("cluster", "N", 'S=? [ "premium" ]', "jacobi"),
    "tandem": Question("tandem", "c", 'R{"customers"}=? [ S ]', "jacobi"),
    "kanban": Question("kanban", "t", 'R{"throughput"}=? [ S ]', "jor"),
    "fms": Question("fms", "n", 'R{"productivity"}=? [ S ]', "jacobi"),
    "polling": Question("polling", "N", 'P=? [ !"served2" U "served1" ]', "jacobi"),
}
SMALL = {"herman": (9, 11), "cluster": (32,), "tandem": (31, 63), "kanban": (2,), "fms": (3,), "polling": (8,)}
BEYOND = {
    "herman": (17, 19, 21),
    "cluster": (1000,),
    "tandem": (4095, 8191),
    "kanban": (6,),
    "fms": (9,),
    "polling": (19,),
}


def by_size(table: str, column: str = "instance", **chosen: Cell) -> dict[int, dict[str, Cell]]:
    """The rows of a printed table that have the chosen cells, by the sizes in a column; ``15/5`` has the size 15."""
    rows = (row for row in printed(table) if all(row[name] == cell for name, cell in chosen.items()))
    return {int(str(row[column]).partition("/")[0]): row for row in rows}


def members(
    family: str, rows: Mapping[int, dict[str, Cell]], options: Options
) -> Iterator[tuple[Instance, dict[str, Cell]]]:
    """The instances to measure, each with what is printed for it: small ones, those that are printed, larger ones too.

    ``rows`` are those of the paper, by size.
    """
    sizes = SMALL[family] if options.sizes == "small" else tuple(rows)
    if options.sizes == "beyond":
        sizes += tuple(size for size in BEYOND[family] if size > max(rows))
    for size in sizes:
        yield Instance(FAMILIES[family], size), dict(rows.get(size, {}))


def states_and_sweeps(table: str, column: str) -> Callable[[Options], Iterator[Row]]:
    """Table 1 of both documents; ``column`` is the one with the names of the models."""
    return partial(_states_and_sweeps, table, column)


def _states_and_sweeps(table: str, column: str, options: Options) -> Iterator[Row]:
    names = ("n", "iterations")
    for family in dict.fromkeys(str(row[column]) for row in printed(table)):
        for instance, theirs in members(family, by_size(table, **{column: family}), options):
            found = ask(instance, options)
            yield Row(
                instance=instance.name,
                printed={name: theirs[name] for name in names if name in theirs},
                measured={} if "error" in found else {name: found[name] for name in names},
                skipped=found.get("error", ""),
            )
