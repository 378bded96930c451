"""One page of what was measured: every experiment of a folder, as HTML that needs nothing else, and as Markdown."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..lang.source import GaltonError
from .experiment import PAPERS, grid
from .registry import all_experiments

__all__ = ["html", "markdown", "read"]

STYLE = """
:root { color-scheme: light dark; --line: #8884; --faint: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; border-bottom: 2px solid var(--line); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid var(--line); }
td:first-child, th:first-child { text-align: left; }
th.ratio, td.ratio { font-weight: 600; }
td.printed, th.printed { opacity: .7; }
div.wide { overflow-x: auto; }
.note, .skipped { opacity: .8; font-size: .9rem; text-align: left; }
img { max-width: 100%; background: white; }
code { background: var(--faint); padding: 0 .3em; border-radius: .2em; }
"""


def read(folder: Path) -> list[dict[str, Any]]:
    """What ``galton bench --out FOLDER`` has written there, in the order of the papers."""
    found = []
    for name in all_experiments():
        path = folder / f"{name}.json"
        if not path.exists():
            continue
        try:
            record = json.loads(path.read_text())
            grid(record)
            _machines([record])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise GaltonError(f"{path} is not as galton bench writes it ({error}); run {name} again") from error
        found.append(record)
    if not found:
        raise GaltonError(f"there is nothing in {folder}; galton bench all --out {folder} puts it there")
    return found


def _machines(records: Iterable[dict[str, Any]]) -> list[str]:
    """Each machine and version once, in words."""
    said = {", ".join(f"{key} {value}" for key, value in record["machine"].items() if value) for record in records}
    return sorted(said)


def html(records: Sequence[dict[str, Any]], folder: Path) -> str:
    """A page with tables and pictures, without a link to anything outside of it."""
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>The papers' experiments</title><style>{STYLE}"]
    parts.append("</style><h1>The papers' experiments, run again</h1>")
    parts.append("<p>Seconds, unless a column says otherwise. A ratio above 1 says that the paper needed more.</p>")
    parts += [f"<p class=note>{escape(machine)}</p>" for machine in _machines(records)]
    for paper, title in PAPERS.items():
        of_paper = [record for record in records if record["name"].startswith(paper)]
        if of_paper:
            parts.append(f"<h2>{escape(title)}</h2>")
        parts += [_section(record, folder) for record in of_paper]
    return "".join(parts) + "</html>\n"


def _section(record: dict[str, Any], folder: Path) -> str:
    name = record["name"]
    parts = [f"<h3 id={name}>{name}: {escape(record['title'])}</h3><p class=note><code>galton bench {name}</code></p>"]
    picture = folder / f"{name}.png"
    if picture.exists():
        data = b64encode(picture.read_bytes()).decode()
        parts.append(f'<img alt="{escape(record["title"])}" src="data:image/png;base64,{data}">')
    head, lines = grid(record)
    parts.append("<div class=wide><table><tr>")
    parts += [f"<th class='{kind}'>{escape(cell)}</th>" for cell, kind in head]
    for cells, skipped in lines:
        parts.append("<tr>")
        parts += [f"<td class='{kind}'>{escape(cell)}</td>" for cell, (_, kind) in zip(cells, head, strict=True)]
        if skipped:
            parts.append(f"<td class=skipped>{escape(skipped)}</td>")
    parts.append("</table></div>")
    parts += [f"<p class=note>{escape(note)}</p>" for note in record["notes"]]
    return "".join(parts)


def markdown(records: Sequence[dict[str, Any]]) -> str:
    """Tables for the documentation."""
    parts = ["# The papers' experiments, run again\n"]
    parts.append("Seconds, unless a column says otherwise. A ratio above 1 says that the paper needed more.\n")
    parts += [f"- {machine}" for machine in _machines(records)]
    for record in records:
        head, lines = grid(record)
        parts.append(f"\n## {record['name']}: {record['title']}\n\n`galton bench {record['name']}`\n")
        parts.append(f"| {' | '.join(cell for cell, _ in head)} |\n|{'---|' * len(head)}")
        parts += [f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |" for cells, _ in lines]
        left_out = [f"- {cells[0]}: {skipped}" for cells, skipped in lines if skipped]
        parts += ["", *left_out, *(f"- {note}" for note in record["notes"])]
    return "\n".join(parts) + "\n"
