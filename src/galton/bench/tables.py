"""What an experiment found as a table: ours, what is printed, and the ratio of the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .experiment import Cell

__all__ = ["Column", "Line", "Table", "shown", "table_of"]

Kind = Literal["instance", "ours", "printed", "ratio"]
Verdict = Literal["", "better", "worse", "unlike"]

COSTS = ("_s", "_ms", "_mb")  # what names of columns end with in which less is better
UNITS = {**{cost: f" ({cost.removeprefix('_').replace('mb', 'MB')})" for cost in COSTS}, "_%": " (%)"}
NEAR = 0.05  # a ratio that is no farther from 1 says that two numbers are alike
NAMES = {
    "m": "entries",
    "iterations": "sweeps",
    "seq_time_s": "one core (s)",
    "par_time_s": "device (s)",
    "par_2gpu_time_s": "two devices (s)",
    "gpu_mem_mb": "memory (MB)",
    "mem_mb": "memory (MB)",
    "cpu_time_ms": "processor (ms)",
    "cuda_time_ms": "device (ms)",
    "cpu_time_s": "processor (s)",
    "our_factor": "our factor",
    "our_cpu_factor": "our factor, processor",
}


@dataclass(frozen=True)
class Column:
    """A column: whose numbers it has, of what, and whether they are words."""

    name: str
    kind: Kind
    words: bool = False

    @property
    def group(self) -> str:
        """What is measured, with its unit."""
        if self.name in NAMES:
            return NAMES[self.name]
        unit = next((unit for unit in UNITS if self.name.endswith(unit)), "")
        return self.name.removesuffix(unit).replace("_", " ") + UNITS.get(unit, "")

    def verdict(self, ratio: float | None) -> Verdict:
        """What the ratio of a printed number to ours says; sizes and counts are alike or not."""
        if ratio is None or abs(ratio - 1) <= NEAR:
            return ""
        if not self.name.endswith(COSTS):
            return "unlike"
        return "better" if ratio > 1 else "worse"


@dataclass(frozen=True)
class Line:
    """The cells of a row, what their ratios say, and what is wrong with it or was left out."""

    cells: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    wrong: str = ""
    skipped: str = ""

    @property
    def why(self) -> str:
        """All that has to be said about it."""
        return "; ".join(text for text in (self.wrong, self.skipped) if text)


@dataclass(frozen=True)
class Table:
    """Columns and lines; ``skipped`` is what all lines would say."""

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    skipped: str = ""

    @property
    def titles(self) -> tuple[str, ...]:
        """One for each column: what is measured, and behind it whose or which number."""
        measured = {column.name for column in self.columns if column.kind == "ours"}
        return tuple(
            column.group
            if column.kind in ("instance", "ours")
            else column.kind
            if column.name in measured
            else f"{column.group}, {column.kind}"
            for column in self.columns
        )

    def __str__(self) -> str:
        """Lines with columns of the same width."""
        rows = [self.titles, *(line.cells for line in self.lines)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.columns))]
        written = []
        for row, why in zip(rows, ["", *(line.why for line in self.lines)], strict=True):
            padded = [
                cell.ljust(width) if column.words else cell.rjust(width)
                for cell, width, column in zip(row, widths, self.columns, strict=True)
            ]
            written.append("  ".join([*padded, why]).rstrip())
        return "\n".join([*written, *([f"All rows: {self.skipped}"] if self.skipped else [])])


def table_of(record: Mapping[str, Any]) -> Table:
    """What :meth:`.experiment.Found.to_json` holds as a table.

    Where an amount is printed and was measured there are three columns of it; gains have no ratio.
    """
    rows = record["rows"]
    columns = [Column("instance", "instance", words=True)]
    for name in dict.fromkeys(name for row in rows for part in ("printed", "measured") for name in row[part]):
        kinds: list[tuple[Kind, str]] = [("ours", "measured"), ("printed", "printed"), ("ratio", "ratios")]
        for kind, part in kinds:
            found = [row[part][name] for row in rows if name in row[part]]
            if found:
                columns.append(Column(name, kind, words=not any(isinstance(cell, int | float) for cell in found)))
    reasons = [[reason for reason in row.get("skipped", "").split("; ") if reason] for row in rows]
    common = [reason for reason in reasons[0] if all(reason in others for others in reasons)] if len(rows) > 1 else []
    lines = [
        Line(
            tuple(_cell(row, column) for column in columns),
            tuple(column.verdict(_ratio(row, column)) for column in columns),
            row.get("wrong", ""),
            "; ".join(reason for reason in own if reason not in common),
        )
        for row, own in zip(rows, reasons, strict=True)
    ]
    return Table(tuple(columns), tuple(lines), "; ".join(common))


def _ratio(row: Mapping[str, Any], column: Column) -> float | None:
    found: float | None = row["ratios"].get(column.name) if column.kind == "ratio" else None
    return found


def _cell(row: Mapping[str, Any], column: Column) -> str:
    if column.kind == "instance":
        return str(row["instance"])
    if column.kind == "ratio":
        ratio = _ratio(row, column)
        return "" if ratio is None else f"{ratio:.3g}"
    return shown(row["measured" if column.kind == "ours" else "printed"].get(column.name))


def shown(cell: Cell) -> str:
    """A number or a word in a table."""
    if cell is None:
        return ""
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1e4 else f"{cell:.4g}"
    return cell
