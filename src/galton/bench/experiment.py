"""What an experiment of a paper is: rows, each with what is printed and what came out here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from .child import Measurements

__all__ = ["PAPERS", "Cell", "Experiment", "Found", "Options", "Row", "Sizes", "printed"]

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
    jobs
        How many processes may measure beside each other, of which one uses a device.
    models
        The folder of the gallery.
    measurements
        What was measured so far.
    """

    device: str = "auto"
    sizes: Sizes = "small"
    against: tuple[str, ...] = ()
    prism: Path | None = None
    repeat: int = 1
    limit: float = 300.0
    jobs: int = 1
    models: Path = Path("models")
    measurements: Measurements = field(default_factory=Measurements, compare=False, repr=False)

    def to_json(self) -> dict[str, Cell]:
        """What decides which numbers come out."""
        return {
            "device": self.device,
            "sizes": self.sizes,
            "against": ",".join(self.against),
            "prism": str(self.prism or ""),
            "repeat": self.repeat,
            "limit": self.limit,
            "jobs": self.jobs,
        }

    def command(self, name: str) -> str:
        """The command that runs an experiment so; options that say what holds by itself are left out."""
        usual = Options().to_json()
        said = [
            f"--{option} {f'{given:g}' if isinstance(given, float) else given}"
            for option, given in self.to_json().items()
            if given != usual[option]
        ]
        return " ".join([f"galton bench {name}", *said])


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
    """The rows of an experiment that was run.

    Attributes
    ----------
    seconds
        For all of it.
    options, machine
        How and where it was run.
    date
        When it was done.
    """

    experiment: Experiment
    rows: tuple[Row, ...]
    seconds: float
    options: Options = field(default_factory=Options)
    machine: Mapping[str, Cell] = field(default_factory=dict)
    date: str = ""

    def to_json(self) -> dict[str, Any]:
        """All that was found."""
        experiment = self.experiment
        return {
            "name": experiment.name,
            "paper": experiment.paper,
            "title": experiment.title,
            "notes": list(experiment.notes),
            "command": self.options.command(experiment.name),
            "options": self.options.to_json(),
            "seconds": self.seconds,
            "date": self.date,
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


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath("printed.json").read_text())
    return found


def printed(name: str) -> list[dict[str, Cell]]:
    """The rows that a paper prints in a table."""
    table = _data()[name]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
