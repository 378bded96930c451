"""What an experiment of a paper is: rows, each with what is printed and what came out here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

__all__ = ["PAPERS", "Cell", "Experiment", "Found", "Options", "Row", "Sizes", "grid", "printed", "shown"]

Cell = float | int | str | None
Sizes = Literal["small", "paper", "beyond"]

GAINS = ("factor", "speedup")  # columns in which more is better

PAPERS = {
    "000": "Cormie-Bowins, A comparison of sequential and GPU implementations of iterative methods to compute "
    "reachability probabilities (2012)",
    "001": "Češka et al., PRISM-PSY: precise GPU-accelerated parameter synthesis (TACAS 2016)",
    "002": "Bošnački, Edelkamp, Sulewski and Wijs, Parallel probabilistic model checking on graphics processors (2011)",
    "003": "Wijs and Bošnački, Improving GPU sparse matrix-vector multiplication for probabilistic model checking "
    "(2013)",
    "004": "Berger, GPU-aided model checking of Markov decision processes (2014)",
    "open": "Questions that the papers leave open",
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """How experiments are run.

    Attributes
    ----------
    device
        Where Galton computes: ``cpu``, ``cuda``, ``cuda:0,1``; ``auto`` for a device where there is one.
    sizes
        ``small``: what takes seconds on a CPU; ``paper``: the instances that are printed; ``beyond``: larger ones too.
    against
        Peers that answer the same questions: ``storm``, ``prism``.
    prism
        Where PRISM's program is.
    repeat
        The fastest of so many runs counts.
    limit
        Seconds for a single run.
    models
        The folder of the gallery.
    """

    device: str = "auto"
    sizes: Sizes = "small"
    against: tuple[str, ...] = ()
    prism: Path | None = None
    repeat: int = 1
    limit: float = 300.0
    models: Path = Path("models")


@dataclass(frozen=True, kw_only=True)
class Row:
    """An instance: what is printed for it, and what came out here.

    Attributes
    ----------
    printed, measured
        Numbers by the names of their columns. A name that both have is one to compare.
    skipped
        Why nothing was measured.
    wrong
        What contradicts itself, such as two devices with two answers: the times of these are worth nothing.
    data
        What a picture needs and a table has no room for.
    """

    instance: str
    printed: Mapping[str, Cell] = field(default_factory=dict)
    measured: Mapping[str, Cell] = field(default_factory=dict)
    skipped: str = ""
    wrong: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ratios(self) -> dict[str, float]:
        """Printed numbers beside those measured, where both are: above 1 where less was needed here.

        Gains are nothing that is needed, and have no ratio.
        """
        found = {}
        for name, theirs in self.printed.items():
            ours = self.measured.get(name)
            if name not in GAINS and isinstance(theirs, int | float) and isinstance(ours, int | float) and ours:
                found[name] = theirs / ours
        return found


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table or a figure of a paper that can be run again.

    Attributes
    ----------
    name
        The number of the paper, and what the paper calls it: ``003-table-2``.
    title
        What is measured.
    run
        Makes the rows, one by one.
    draw
        Draws rows as the paper does into a file; None where it is a table.
    notes
        What is unlike the paper, and why.
    """

    name: str
    title: str
    run: Callable[[Options], Iterable[Row]]
    draw: Callable[[Found, Path], None] | None = None
    notes: tuple[str, ...] = ()

    @property
    def paper(self) -> str:
        """The paper it is from."""
        return PAPERS[self.name.partition("-")[0]]


@dataclass(frozen=True, kw_only=True)
class Found:
    """The rows of an experiment that was run."""

    experiment: Experiment
    rows: tuple[Row, ...]
    seconds: float
    machine: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """All that was found."""
        experiment = self.experiment
        return {
            "name": experiment.name,
            "paper": experiment.paper,
            "title": experiment.title,
            "notes": list(experiment.notes),
            "seconds": self.seconds,
            "machine": dict(self.machine),
            "rows": [
                {
                    "instance": row.instance,
                    "printed": dict(row.printed),
                    "measured": dict(row.measured),
                    "ratios": row.ratios,
                    **({"skipped": row.skipped} if row.skipped else {}),
                    **({"wrong": row.wrong} if row.wrong else {}),
                    **({"data": dict(row.data)} if row.data else {}),
                }
                for row in self.rows
            ],
        }

    def table(self) -> str:
        """Lines with columns of the same width: ours, what is printed, and the ratio of the two."""
        head, rows = grid(self.to_json())
        lines = [[name for name, _ in head], *(cells for cells, _ in rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        written = []
        for line, skipped in zip(lines, ["", *(why for _, why in rows)], strict=True):
            cells = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
            written.append("  ".join([line[0].ljust(widths[0]), *cells, skipped]).rstrip())
        return "\n".join(written)


def grid(record: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[list[str], str]]]:
    """What :meth:`Found.to_json` holds as a table: the head, and the rows, each with what is wrong or was skipped.

    Where an amount is printed and was measured there are three columns; the head says which is which.
    """
    rows = record["rows"]
    names = list(dict.fromkeys(name for row in rows for part in ("printed", "measured") for name in row[part]))
    measured = {name for row in rows for name in row["measured"]}
    compared = {name for row in rows for name in row["printed"] if name in measured}
    head = [("instance", "")]
    for name in names:
        title = name.replace("_", " ")
        head.append((title, "") if name in measured else (f"{title}, printed", "printed"))
        if name in compared:
            head += [("printed", "printed"), *([] if name in GAINS else [("ratio", "ratio")])]
    lines = []
    for row in rows:
        cells = [row["instance"]]
        for name in names:
            ours, theirs = row["measured"].get(name), row["printed"].get(name)
            if name in compared:
                ratio = row["ratios"].get(name)
                cells += [shown(ours), shown(theirs)]
                cells += [] if name in GAINS else ["" if ratio is None else f"{ratio:.3g}"]
            else:
                cells.append(shown(theirs if ours is None else ours))
        lines.append((cells, "; ".join(why for why in (row.get("wrong"), row.get("skipped")) if why)))
    return head, lines


def shown(cell: Cell) -> str:
    """A number or a word in a table."""
    if cell is None:
        return ""
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.4g}" if isinstance(cell, float) else cell


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath("printed.json").read_text())
    return found


def printed(name: str) -> list[dict[str, Cell]]:
    """The rows that a paper prints in a table."""
    table = _data()[name]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
