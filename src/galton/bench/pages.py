"""HTML of what was measured, which needs nothing outside of its file: the page of an experiment, and its parts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from .experiment import PAPERS
from .tables import Column, Line, Table, shown, table_of

__all__ = ["LEGEND", "document", "machines", "page", "section"]

STYLE = """
:root { --line: #d0d7de; --faint: #f4f6f8; --quiet: #57606a; --better: #dafbe1; --worse: #ffe3e0; --unlike: #fff3c4; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2328; background: white; max-width: 96rem; margin: 2rem auto;
  padding: 0 1.5rem; }
p, ul, dl { max-width: 48rem; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { margin-top: 3rem; font-size: 1.3rem; border-bottom: 2px solid var(--line); padding-bottom: .3rem; }
h3 { margin: 2.5rem 0 .3rem; font-size: 1.1rem; }
h4 { margin: 1rem 0 .2rem; font-size: .9rem; }
a { color: #0550ae; }
code { background: var(--faint); padding: .1em .35em; border-radius: .25em; font-size: .875em; }
.run, .notes, .skipped, .legend, dl { font-size: .875rem; color: var(--quiet); }
.run { margin: .2rem 0 .8rem; }
.notes { margin: .2rem 0; padding-left: 1.2rem; }
.wide { overflow-x: auto; max-width: 100%; border: 1px solid var(--line); border-radius: .4rem; width: fit-content; }
table { border-collapse: collapse; font-size: .8125rem; font-variant-numeric: tabular-nums lining-nums; }
td, th { padding: .25rem .6rem; text-align: right; white-space: nowrap; }
tbody td, tbody th { border-top: 1px solid var(--line); }
th { font-weight: 600; vertical-align: bottom; }
thead { background: var(--faint); }
thead tr:nth-child(2) th { font-weight: 400; color: var(--quiet); padding-top: 0; }
th.group { text-align: center; }
.first { border-left: 1px solid var(--line); }
td.words, th.words { text-align: left; }
tbody th { position: sticky; left: 0; background: white; font-weight: 500; }
td.printed { color: var(--quiet); }
td.skipped { text-align: left; white-space: normal; min-width: 16rem; }
td.wrong, .wrong { color: #b42318; font-weight: 600; }
.better { background: var(--better); } .worse { background: var(--worse); } .unlike { background: var(--unlike); }
.legend span { white-space: nowrap; padding: .1rem .5rem; border-radius: .25rem; margin-right: .4rem; color: #1f2328; }
figure { margin: .8rem 0; }
img { max-width: min(100%, 62rem); height: auto; }
nav ul { list-style: none; padding-left: 0; max-width: none; }
nav li { break-inside: avoid; }
nav.contents ul { columns: 2 24rem; font-size: .9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: .5rem 0; }
dt { font-weight: 600; } dd { margin: 0; }
@media print {
  @page { size: A4 landscape; margin: 12mm; }
  body { font-size: 10pt; margin: 0; padding: 0; max-width: none; }
  .wide { overflow: visible; border: 0; }
  table { font-size: 7pt; } td, th { padding: 1pt 3pt; white-space: normal; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  thead { display: table-header-group; } tr, figure { break-inside: avoid; } h2, h3 { break-after: avoid; }
  img { max-height: 150mm; } nav.contents, .back { display: none; }
}
"""

SOON = 0.05  # seconds in which nothing can be measured

LEGEND = (
    "<p class=legend>A ratio is what is printed, divided by what was measured here: "
    "<span class=better>less was needed here</span><span class=worse>more was needed here</span>"
    "<span class=unlike>a size or a count that is not as printed</span>uncoloured within 5 %. "
    "(s), (ms) and (MB) are seconds, milliseconds and megabytes.</p>"
)


def document(title: str, *parts: str) -> str:
    """A whole page."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def page(record: Mapping[str, Any], folder: Path) -> str:
    """The page of one experiment; its picture is in the folder."""
    name = record["name"]
    return document(
        f"{name}: {record['title']}",
        "<p class=back><a href='index.html'>All experiments</a></p>",
        f"<h1>{name}: {escape(record['title'])}</h1><p>{escape(PAPERS[name.partition('-')[0]])}</p>",
        _body(record, folder),
        LEGEND,
        "<h4>Where it was measured</h4>",
        machines([record]),
    )


def section(record: Mapping[str, Any], folder: Path) -> str:
    """An experiment as a part of a page."""
    return f"<h3 id='{record['name']}'>{record['name']}: {escape(record['title'])}</h3>{_body(record, folder)}"


def machines(records: Iterable[Mapping[str, Any]]) -> str:
    """Each machine with its versions once, and, where there are several, which experiments ran there."""
    by_machine: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for record in records:
        facts = tuple((name, shown(value)) for name, value in record["machine"].items() if value)
        by_machine.setdefault(facts, []).append(record["name"])
    parts = []
    for facts, names in by_machine.items():
        told = facts if len(by_machine) == 1 else (("experiments", ", ".join(names)), *facts)
        parts.append("<dl>" + "".join(f"<dt>{escape(name)}<dd>{escape(value)}" for name, value in told) + "</dl>")
    return "".join(parts)


def _body(record: Mapping[str, Any], folder: Path) -> str:
    table = table_of(record)
    seconds = record["seconds"]
    took = f"took {seconds:.1f} s" if seconds >= SOON else "shares what other experiments measured"
    command, date = escape(record["command"]), escape(record["date"])
    parts = [f"<p class=run><code>{command}</code> {took}, {date}</p>"]
    picture = folder / f"{record['name']}.png"
    if picture.exists():
        data = b64encode(picture.read_bytes()).decode()
        parts.append(f'<figure><img alt="{escape(record["title"])}" src="data:image/png;base64,{data}"></figure>')
    parts.append(_table(table))
    if table.skipped:
        parts.append(f"<p class=skipped>In all rows: {escape(table.skipped)}.</p>")
    if record["notes"]:
        parts.append("<h4>What is unlike the paper, and how it was measured</h4>")
        parts.append("<ul class=notes>" + "".join(f"<li>{escape(note)}" for note in record["notes"]) + "</ul>")
    return "".join(parts)


def _table(table: Table) -> str:
    remarks = any(line.why for line in table.lines)
    classes = _classes(table.columns)
    upper, lower = [], []
    for _, members in groupby(zip(table.columns, classes, strict=True), key=lambda pair: pair[0].name):
        group = list(members)
        column, names = group[0]
        if len(group) == 1 and column.kind != "printed":
            upper.append(f"<th rowspan=2 class='{names}'>{escape(column.group)}")
        else:
            upper.append(f"<th colspan={len(group)} class='first group'>{escape(column.group)}")
            lower += [f"<th class='{names}'>{column.kind}" for column, names in group]
    if remarks:
        upper.append("<th rowspan=2 class='first words'>remarks")
    head = ["<div class=wide><table><thead><tr>", *upper, "<tr>", *lower, "</thead><tbody>"]
    lines = [_line(line, classes, remarks=remarks) for line in table.lines]
    return "".join([*head, *lines, "</tbody></table></div>"])


def _classes(columns: tuple[Column, ...]) -> list[str]:
    """What each column looks like: whose numbers, words or numbers, and whether it begins a group."""
    names = [None, *(column.name for column in columns)]
    firsts = [name != before for before, name in pairwise(names)]
    return [
        " ".join([column.kind, *["words"] * column.words, *["first"] * first])
        for column, first in zip(columns, firsts, strict=True)
    ]


def _line(line: Line, classes: list[str], *, remarks: bool) -> str:
    parts = [f"<tr><th class=words>{escape(line.cells[0])}</th>"]
    for names, cell, verdict in zip(classes[1:], line.cells[1:], line.verdicts[1:], strict=True):
        parts.append(f"<td class='{names} {verdict}'>{escape(cell)}")
    if remarks:
        wrong = f"<span class=wrong>{escape(line.wrong)}</span> " if line.wrong else ""
        parts.append(f"<td class='skipped first'>{wrong}{escape(line.skipped)}")
    return "".join(parts)
