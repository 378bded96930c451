"""Answers as files: tables as CSV and JSON, pictures as PNG, SVG, PDF and pages, graphs for Graphviz."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ...lang.source import GaltonError
from ..project import Project
from . import function_of
from .reading import Given

if TYPE_CHECKING:
    from .desk import Desk

__all__ = ["export"]

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
    "dot": "text/vnd.graphviz",
}
PICTURES = ("png", "svg", "pdf", "html")
MOST_ROWS = 1_000_000
Maker = Callable[[Path], object]


def export(desk: Desk, given: Given) -> dict[str, Any]:
    """An earlier answer as a file."""
    given.only("of", "format", "save", "asked")
    kind = given.one_of("format", *TYPES)
    asked = given.inner("asked")
    ask, earlier = asked.text("ask"), asked.inner("given")
    kept = desk.kept(asked.whole("id", 1, 2**53), lambda: function_of(ask)(desk, earlier))
    data = _made(desk, ask, kept, kind)
    stem = (earlier.text("model") if "model" in earlier else ask).rpartition("/")[2].partition(".")[0] or ask
    name = f"{stem}-{ask.partition('_')[0]}.{kind}"
    if "save" in given:
        project = Project(desk.root, int(desk.limits["text_bytes"]), 1)
        project.write(given.text("save"), data)
        return {"saved": given.text("save")}
    if len(data) > int(desk.limits["message_bytes"]):
        raise GaltonError(f"the file has {len(data):,} bytes, too many to send; save it into the project")
    return {"name": name, "type": TYPES[kind], "base64": base64.b64encode(data).decode()}


def _made(desk: Desk, ask: str, kept: dict[str, Any], kind: str) -> bytes:
    if kind == "json" and "regions" not in kept:
        return json.dumps(_json(desk, kept), indent=1).encode()
    if kind == "csv" and "regions" not in kept:
        head, rows = _table(desk, kept)
        return _csv(head, rows)
    makers = _makers(kept)
    if kind not in makers:
        known = ", ".join(dict.fromkeys((*makers, "csv", "json")))
        raise GaltonError(f"this can be written as {known}, not as {kind}")
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"file.{kind}"
        makers[kind](path)
        return path.read_bytes()


def _makers(kept: dict[str, Any]) -> dict[str, Maker]:
    """What writes files of an answer, by their kind."""
    if "regions" in kept:
        regions = kept["regions"]
        return {**dict.fromkeys(PICTURES, regions.plot), "json": regions.to_json, "csv": regions.to_csv}
    if "experiment" in kept:
        return dict.fromkeys(PICTURES, kept["experiment"].plot)
    if "front" in kept:
        from ...plot.pareto import plot_front

        return dict.fromkeys(PICTURES, lambda path: plot_front(kept["front"], path, kept["title"]))
    if "pattern" in kept:
        from ...plot.matrix import plot_matrix

        return dict.fromkeys(PICTURES, lambda path: plot_matrix([kept["pattern"]], path, kept["title"]))
    if "walked" in kept:
        return dict.fromkeys(PICTURES, lambda path: _plot_path(kept["walked"], path))
    if "model" in kept:
        from ...io import write_model

        return {"dot": lambda path: write_model(kept["model"], path)}
    return {}


def _plot_path(walked: Any, path: Path) -> None:
    from ...plot.traces import Line, plot_traces

    timed = walked.program.nature.is_continuous
    times = [float(row["time"] if timed else row["step"]) for row in walked.rows]
    lines = [
        Line(name, 0, times, [float(row["values"][place]) for row in walked.rows])
        for place, name in enumerate(walked.variables)
    ]
    plot_traces(lines, path, f"{walked.model}: a path", "time" if timed else "step")


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_safe(cell) for cell in head])
    for row in rows:
        writer.writerow(["" if cell is None else _safe(cell) for cell in row])
    return text.getvalue().encode()


def _safe(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: names come from models."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "@", "\t") else cell


def _json(desk: Desk, kept: dict[str, Any]) -> Any:
    if "answers" in kept:
        return kept["answers"]
    if "record" in kept:
        return kept["record"]
    if "front" in kept:
        front = kept["front"]
        return {
            "objectives": list(front.objectives),
            "points": [list(point) for point in front.points],
            "half_spaces": [{"weights": list(weights), "limit": limit} for weights, limit in front.half_spaces],
        }
    head, rows = _table(desk, kept)
    return [dict(zip(head, row, strict=True)) for row in rows]


def _table(desk: Desk, kept: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """An answer as a table."""
    if "answers" in kept:
        head = ["property", "name", "value", "lower", "upper", "proved", "method", "seconds"]
        return head, [[answer[column] for column in head] for answer in kept["answers"]]
    if "experiment" in kept:
        from .experiments import table_of

        table = table_of(kept["experiment"])
        return table["columns"], table["rows"]
    if "front" in kept:
        front = kept["front"]
        head = [f"{name}{part}" for name in front.objectives for part in ("", " lower", " upper")]
        rows = [
            [cell for number, (low, high) in zip(point, bounds, strict=True) for cell in (number, low, high)]
            for point, bounds in zip(front.points, front.bounds, strict=True)
        ]
        return head, rows
    if "pattern" in kept:
        found = kept["pattern"]
        _few(len(found.rows))
        return ["from", "to"], [list(pair) for pair in zip(found.rows.tolist(), found.columns.tolist(), strict=True)]
    if "walked" in kept:
        return _path_table(kept["walked"])
    if "record" in kept:
        return ["what", "is"], [[name, value] for name, value in kept["record"].items() if not isinstance(value, list)]
    if "model" in kept:
        model = kept["model"]
        rows = [
            [state, choice, action, weight, target]
            for state in range(model.n_states)
            for choice, (action, pairs) in enumerate(model.transitions(state))
            for weight, target in pairs
        ]
        return ["from", "choice", "action", "rate" if model.has_rates else "probability", "to"], rows
    return _states_table(kept)


def _few(rows: int) -> None:
    if rows > MOST_ROWS:
        raise GaltonError(f"these are {rows:,} rows; at most {MOST_ROWS:,} are written")


def _states_table(kept: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    looked = kept["looked"]
    if "values" in kept:
        numbers, of = range(looked.model.n_states), kept["values"].array
    else:
        numbers, of = kept["numbers"], kept["of"]
    _few(len(numbers))
    rows = looked.rows(numbers, of)
    head = ["state", *looked.variables, "labels", *([] if of is None else ["value"])]
    found = []
    for row in rows:
        cells = [row["state"], *row["values"], " ".join(row["labels"])]
        found.append(cells if of is None else [*cells, row["value"]])
    return head, found


def _path_table(walked: Any) -> tuple[list[str], list[list[Any]]]:
    timed = walked.program.nature.is_continuous
    rewards = [f"reward {name}".strip() for name in walked.program.reward_names]
    head = ["step", *(["time"] if timed else []), "action", *walked.variables, *rewards]
    rows = [
        [row["step"], *([row["time"]] if timed else []), row["action"], *row["values"], *row["rewards"]]
        for row in walked.rows
    ]
    return head, rows
