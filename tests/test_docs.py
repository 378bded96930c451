"""The documents: lines that fit a screen, and links that lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
WRAPPED = [
    page for page in PAGES if page.name not in ("README.md", "STATE.md", "report.md")
]  # a program wrote the last
LONGEST = 105  # characters
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The lines that can be wrapped: no code, no tables, nothing without spaces."""
    code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not line.startswith(("|", "    ")) and " " in line.strip():
            yield number, line


@pytest.mark.parametrize("page", WRAPPED, ids=lambda page: page.name)
def test_lines_are_wrapped(page: Path) -> None:
    assert [number for number, line in prose(page) if len(line) > LONGEST] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
