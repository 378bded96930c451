"""Pages of all that was measured: one that leads to those of the experiments, and one with everything in it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

from ..lang.source import GaltonError
from .experiment import PAPERS
from .pages import LEGEND, document, machines, section
from .registry import all_experiments
from .tables import shown, table_of

__all__ = ["html", "index", "markdown", "read", "readable"]

Record = dict[str, Any]

TITLE = "The papers' experiments, run again"
ABOUT = (
    "Every table and figure of five papers about probabilistic model checking on graphics cards, with what is printed "
    "there beside what came out here."
)


def read(folder: Path) -> list[Record]:
    """What ``galton bench --out FOLDER`` has written there, in the order of the papers.

    Raises
    ------
    GaltonError
        Where there is nothing, or something that cannot be read.
    """
    found = [_record(path) for path in _paths(folder)]
    if not found:
        raise GaltonError(f"there is nothing in {folder}; galton bench all --out {folder} puts it there")
    return found


def readable(folder: Path) -> list[Record]:
    """What is there and can be read: files of other versions are left out."""
    found = []
    for path in _paths(folder):
        with suppress(GaltonError):
            found.append(_record(path))
    return found


def _paths(folder: Path) -> list[Path]:
    return [path for name in all_experiments() if (path := folder / f"{name}.json").exists()]


def _record(path: Path) -> Record:
    try:
        record: Record = json.loads(path.read_text())
        table_of(record)
        _ = [record[key] for key in ("title", "notes", "command", "seconds", "date")], record["machine"].items()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise GaltonError(f"{path} is not as galton bench writes it ({error}); run {path.stem} again") from error
    return record


def _by_paper(found: Sequence[Record]) -> Iterator[tuple[str, list[Record]]]:
    """The titles of the papers, each with its experiments."""
    for paper, title in PAPERS.items():
        chosen = [record for record in found if record["name"].startswith(paper)]
        if chosen:
            yield title, chosen


def _contents(found: Sequence[Record], link: str) -> str:
    """A list of experiments by paper; ``link`` has the place of a name."""
    parts = ["<nav class=contents>"]
    for title, chosen in _by_paper(found):
        parts.append(f"<h4>{escape(title)}</h4><ul>")
        for record in chosen:
            address, said = link.format(record["name"]), f"{record['name']}: {record['title']}"
            wrong = sum(bool(row.get("wrong")) for row in record["rows"])
            mark = f" <span class=wrong>{wrong} wrong</span>" if wrong else ""
            parts.append(f"<li><a href='{address}'>{escape(said)}</a>{mark}")
        parts.append("</ul>")
    return "".join(parts) + "</nav>"


def index(found: Sequence[Record]) -> str:
    """The page that leads to those of the experiments."""
    head = f"<h1>{TITLE}</h1><p>{ABOUT}</p>"
    return document(TITLE, head, _contents(found, "{}.html"), "<h2>Where</h2>", machines(found))


def html(found: Sequence[Record], folder: Path) -> str:
    """A page with tables and pictures, without a link to anything outside of it."""
    parts = [f"<h1>{TITLE}</h1><p>{ABOUT}</p>", machines(found), LEGEND, "<h2>Contents</h2>", _contents(found, "#{}")]
    for title, chosen in _by_paper(found):
        parts += [f"<h2>{escape(title)}</h2>", *(section(record, folder) for record in chosen)]
    return document(TITLE, *parts)


def markdown(found: Sequence[Record], folder: Path, beside: Path) -> str:
    """Tables for the documentation, and links to the pictures as they are seen from the folder ``beside``."""
    parts = [f"# {TITLE}\n", ABOUT, ""]
    parts.append("A ratio is what is printed, divided by what was measured: above 1 the paper needed more.\n")
    parts += [f"- {machine}" for machine in _machines(found)]
    parts.append("")
    for title, chosen in _by_paper(found):
        parts.append(f"- {title}")
        parts += [f"  - [{one['name']}](#{one['name']}): {one['title']}" for one in chosen]
    for title, chosen in _by_paper(found):
        parts.append(f"\n## {title}")
        for record in chosen:
            parts += _markdown_of(record, folder, beside)
    return "\n".join(parts) + "\n"


def _machines(found: Sequence[Record]) -> list[str]:
    """Each machine and version once, in words."""
    said = (", ".join(f"{key} {shown(cell)}" for key, cell in one["machine"].items() if cell) for one in found)
    return sorted(set(said))


def _markdown_of(record: Record, folder: Path, beside: Path) -> list[str]:
    name, table = record["name"], table_of(record)
    parts = [f"\n### {name}\n", f"{record['title']}: `{record['command']}`, {record['date']}\n"]
    picture = folder / f"{name}.png"
    if picture.exists():
        parts.append(f"![{record['title']}]({Path(os.path.relpath(picture, beside)).as_posix()})\n")
    parts.append(f"| {' | '.join(table.titles)} |")
    parts.append(f"|{'|'.join('---' if column.words else '---:' for column in table.columns)}|")
    parts += [f"| {' | '.join(cell.replace('|', '/') for cell in line.cells)} |" for line in table.lines]
    remarks = [f"- {line.cells[0]}: {line.why}" for line in table.lines if line.why]
    remarks += [f"- All rows: {table.skipped}"] if table.skipped else []
    return [*parts, "", *remarks, *(f"- {note}" for note in record["notes"])]
