"""Document 002: Jacobi's method sequentially, on one device and on two, in CSR and by a segmented scan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .experiment import Cell, Experiment, Options, Row, printed
from .peers import peers_of
from .questions import FAMILIES, Instance, ask

__all__ = ["EXPERIMENTS"]

SMALL = {"herman": (9, 11), "cluster": (32,), "tandem": (31, 63)}
BEYOND = {"herman": (19, 21), "cluster": (1000,), "tandem": (8191,)}


def instances(family: str, sizes: list[int], options: Options) -> Iterator[tuple[Instance, bool]]:
    """The members to measure, and whether each is printed."""
    question = FAMILIES[family]
    chosen = list(SMALL[family]) if options.sizes == "small" else sizes
    if options.sizes == "beyond":
        chosen = [*chosen, *BEYOND[family]]
    for size in chosen:
        yield Instance(question, size), size in sizes


def _properties(options: Options) -> Iterator[Row]:
    """Table 1: rows, sweeps and memory."""
    table = printed("002-table-1")
    for family in ("herman", "cluster", "tandem"):
        cells = {row["instance"]: row for row in table if row["protocol"] == family}
        for instance, is_printed in instances(family, [int(str(size)) for size in cells], options):
            theirs = cells[instance.size] if is_printed else {}
            found = ask(instance, options)
            names = ("n", "iterations")
            yield _row(instance, {name: theirs[name] for name in names if name in theirs}, found, names)


def _times(name: str, family: str, column: str) -> Callable[[Options], Iterator[Row]]:
    """Tables 2 to 4: seconds sequentially, on one device and on two."""

    def run(options: Options) -> Iterator[Row]:
        cells = {row[column]: row for row in printed(name) if row["system"] == "64-bit"}
        for instance, is_printed in instances(family, [int(str(size)) for size in cells], options):
            theirs = cells[instance.size] if is_printed else {}
            wanted = {"seq_time_s": "cpu", "par_time_s": "cuda", "par_2gpu_time_s": "cuda:0,1"}
            found = {at: ask(instance, options, device=device) for at, device in wanted.items()}
            ours: dict[str, Cell] = {}
            skipped = []
            for at, run_of in found.items():
                if "error" in run_of:
                    skipped.append(f"{wanted[at]}: {run_of['error']}")
                elif run_of["placement"]["backend"] != wanted[at].partition(":")[0]:
                    skipped.append(f"{wanted[at]}: {run_of['placement']['reason']}")
                else:
                    ours[at] = run_of["seconds"]
            ours |= peers_of(instance, options)
            yield Row(
                instance=instance.name,
                printed={at: theirs[at] for at in wanted if at in theirs},
                measured=ours,
                skipped="; ".join(skipped),
            )

    return run


def _row(instance: Instance, theirs: dict[str, Cell], found: dict[str, Any], names: tuple[str, ...]) -> Row:
    if "error" in found:
        return Row(instance=instance.name, printed=theirs, skipped=found["error"])
    return Row(instance=instance.name, printed=theirs, measured={name: found[name] for name in names})


EXPERIMENTS = [
    Experiment(name="002-table-1", title="States and sweeps of Jacobi's method", run=_properties),
    Experiment(
        name="002-table-2",
        title="herman: one core, one device, two",
        run=_times("002-table-2", "herman", "instance"),
    ),
    Experiment(
        name="002-table-3", title="cluster: one core, one device, two", run=_times("002-table-3", "cluster", "N")
    ),
    Experiment(name="002-table-4", title="tandem: one core, one device, two", run=_times("002-table-4", "tandem", "c")),
]
