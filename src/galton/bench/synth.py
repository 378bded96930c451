"""The synthesis problems of PRISM-PSY's paper, run and put beside its figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..device.placement import AUTO
from ..lang import parse_constants
from ..synth.api import Synthesis
from ..synth.evaluator import BackwardEvaluator
from ..synth.regions import Regions
from .synth_cases import CASES, Case

__all__ = ["Measured", "chosen", "run", "table"]

COLUMNS = (
    "table",
    "problem",
    "states",
    "lumped",
    "boxes",
    "looked at",
    "steps",
    "device",
    "s",
    "boxes",
    "best s",
    "Java s",
)
OURS = 9  # columns before the paper's


@dataclass(frozen=True)
class Measured:
    """What one case took, from the file to the regions."""

    case: Case
    regions: Regions
    device: str
    seconds: float
    lumped: int  # states that are left when those that behave alike are one

    @property
    def looked_at(self) -> int:
        """Boxes and points."""
        return int(self.regions.statistics["boxes"] + self.regions.statistics["points"])

    def to_json(self) -> dict[str, Any]:
        """The figures."""
        regions = self.regions
        volumes = {name: regions.volume(regions.of(name)) for name in ("true", "false", "undecided", "optimal")}
        return {
            "table": self.case.table,
            "name": self.case.name,
            "states": self.case.states,
            "lumped": self.lumped,
            "boxes": len(regions.boxes),
            "looked at": self.looked_at,
            "steps": int(regions.statistics["steps"]),
            "device": self.device,
            "seconds": self.seconds,
            "complete": regions.complete,
            "optimum": regions.optimum,
            "volumes": {name: volume for name, volume in volumes.items() if volume},
            "warnings": list(regions.warnings),
            "printed": {"regions": self.case.regions, "seconds": dict(self.case.times)},
        }


def chosen(parts: Sequence[str], tables: Sequence[int] = ()) -> list[Case]:
    """The cases whose names have one of the parts in them, of some tables or of all."""
    return [
        case
        for case in CASES
        if any(part.lower() in case.name.lower() for part in parts) and (not tables or case.table in tables)
    ]


def run(
    case: Case,
    models: Path,
    *,
    device: str = AUTO,
    format: str | None = None,
    together: int | None = None,
    threads: int | None = None,
    watch: Callable[[Mapping[str, Any]], None] | None = None,
) -> Measured:
    """Run one case, from the file to the regions.

    ``format`` and ``together`` are the layout of the matrix on a device and the number of boxes in one go.
    """
    start = time.perf_counter()
    synthesis = Synthesis.prepare(
        models / f"{case.model}.prism",
        case.prop,
        case.ranges,
        parse_constants(case.constants),
        maximize=case.kind == "max",
        minimize=case.kind == "min",
        tolerance=case.tolerance,
        device=device,
        format=format,
        together=together,
        threads=threads,
    )
    regions = synthesis.run(watch=watch)
    seconds = time.perf_counter() - start
    evaluator = synthesis.evaluator
    assert isinstance(evaluator, BackwardEvaluator)
    return Measured(case, regions, evaluator.place.backend.name, seconds, evaluator.model.n_states)


def cells(found: Measured) -> list[str]:
    """A row of the table."""
    case, statistics = found.case, found.regions.statistics
    return [
        str(case.table),
        case.name,
        f"{case.states:,}",
        "" if found.lumped == case.states else f"{found.lumped:,}",
        f"{len(found.regions.boxes):,}",
        f"{found.looked_at:,}",
        f"{int(statistics['steps']):,}",
        found.device,
        f"{found.seconds:.2f}" + ("" if found.regions.complete else " (stopped)"),
        f"{case.regions:,}",
        f"{case.best:,.0f}",
        f"{case.sequential:,.0f}",
    ]


def table(rows: list[list[str]]) -> str:
    """Lines with columns of the same width; the last three columns are the paper's."""
    all_rows = [list(COLUMNS), *rows]
    widths = [max(len(row[i]) for row in all_rows) for i in range(len(COLUMNS))]
    lines = []
    for row in all_rows:
        parts = [
            cell.ljust(w) if i == 1 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(parts[:OURS]) + "  |  " + "  ".join(parts[OURS:]))
    return "\n".join(lines)
