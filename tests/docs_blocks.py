"""What the documents show: commands, Python, and what these print.

A fenced block says what it is by its language. ``python`` is run. A block without a language (or ``sh``) holds
commands; where lines begin with ``$``, those are the commands and the lines after one are what it prints. A block
without a language right after one that is run, with nothing between, is what the last command, or the Python, prints.
All else names a language: ``text`` for tables and drawings, ``json``, ``prism``. A name after the language is that of
a file, which holds the block from there on: commands below may read it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPORTS = ROOT / "docs/papers"  # a program writes them
PAGES = [page for page in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]) if REPORTS not in page.parents]
SHOWN_ONLY = ("text", "json", "prism", "csv", "xml", "toml", "lua", "elisp")
DIRECTIVE = "{"  # of the site: a list of pages, a note
PROGRAMS = ("galton", "make", "pip", "python", ".venv/bin/galton", "storm", "prism")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its lines, the number of the first, and whether it stands right below another."""

    page: Path
    language: str
    lines: tuple[str, ...]
    number: int
    below: bool

    @property
    def is_prompted(self) -> bool:
        """Whether commands stand behind a ``$``."""
        return any(line.startswith("$ ") for line in self.lines)

    @property
    def is_commands(self) -> bool:
        """Whether commands are in it."""
        first = next((line for line in self.lines if line and not line.startswith("#")), "")
        return self.language in ("", "sh") and (self.is_prompted or first.partition(" ")[0] in PROGRAMS)


@dataclass(frozen=True)
class Example:
    """Something to run, where it stands, and what it prints if the page says so."""

    page: Path
    number: int
    text: str
    is_python: bool
    prints: tuple[str, ...] | None
    file: str | None = None  # what the text is written to, where it is a file and nothing to run

    @property
    def words(self) -> list[str]:
        """A command's words."""
        return shlex.split(self.text, comments=True)

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.number}: {self.text}"


def blocks(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page."""
    language, lines, start, below = "", [], 0, False
    inside = between = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```") and not inside:
            language, lines, start, below, inside = line[3:].strip(), [], number + 1, between, True
        elif line.startswith("```"):
            yield Block(page, language, tuple(lines), start, below)
            inside, between = False, True
        elif inside:
            lines.append(line)
        elif line.strip():
            between = False


def examples(page: Path) -> list[Example]:
    """What a page shows, in its order; ValueError for a block that is neither run nor says what it is."""
    found: list[Example] = []
    for block in blocks(page):
        language, _, file = block.language.partition(" ")
        if file and language in SHOWN_ONLY:
            found.append(Example(page, block.number, "\n".join(block.lines) + "\n", False, None, file))
            continue
        if block.language in SHOWN_ONLY or block.language.startswith(DIRECTIVE):
            continue
        if block.language == "python":
            found.append(Example(page, block.number, "\n".join(block.lines), True, None))
        elif block.is_commands:
            found += _commands(block)
        elif block.language == "" and block.below and found and found[-1].prints is None and not found[-1].file:
            last = found.pop()
            found.append(Example(last.page, last.number, last.text, last.is_python, block.lines))
        else:
            place = f"{page.relative_to(ROOT)}:{block.number}"
            raise ValueError(f"{place}: nobody runs this block of {block.language!r}; say ```text if nobody should")
    return found


def _commands(block: Block) -> Iterator[Example]:
    for first, last in _whole_commands(block):
        text = " ".join(line.removesuffix("\\").strip() for line in block.lines[first:last]).removeprefix("$ ")
        prints = None
        if block.is_prompted:
            printed = []
            for line in block.lines[last:]:
                if line.startswith("$ "):
                    break
                printed.append(line)
            prints = tuple(printed) if printed else None
        yield Example(block.page, block.number + first, text, False, prints)


def _whole_commands(block: Block) -> Iterator[tuple[int, int]]:
    """Ranges of lines, each a command with the lines it goes on in."""
    place = 0
    while place < len(block.lines):
        line, first = block.lines[place], place
        place += 1
        if not line.strip() or line.startswith("#") or (block.is_prompted and not line.startswith("$ ")):
            continue
        while block.lines[place - 1].endswith("\\"):
            place += 1
        yield first, place


# What is printed, and what a page says.

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w/])")
MACHINE = re.compile(r"\b[\d.,]+ (?:s|ms|MB|GB|M states/s)(?!\w)")  # what depends on the machine
COLOUR = re.compile(r"\x1b\[[\d;]*m")
CLOSE = 1e-5  # relative: bounds are proved, and their last digits differ from machine to machine


def difference(said: Sequence[str], printed: Sequence[str]) -> str | None:
    """How what was printed differs from what a page says, or None.

    Words must be the same and numbers close; seconds and megabytes are left alone, and so are blanks. ``…`` stands for
    anything in a line, and in a line of its own for any lines.
    """
    left, right = [_plain(line) for line in said], [_plain(line) for line in printed]
    while left and not left[-1]:
        left.pop()
    while right and not right[-1]:
        right.pop()
    if _matches(left, right):
        return None
    return "the page says\n" + "\n".join(said) + "\nand this was printed\n" + "\n".join(printed)


def _plain(line: str) -> str:
    return " ".join(MACHINE.sub("<machine>", COLOUR.sub("", line)).split())


def _matches(said: list[str], printed: list[str]) -> bool:
    if not said:
        return not printed
    if said[0] == "…":
        return any(_matches(said[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and alike(said[0], printed[0]) and _matches(said[1:], printed[1:])


def alike(said: str, printed: str) -> bool:
    """Whether one line says what the other does."""
    if "…" in said:
        return re.fullmatch(".*".join(re.escape(part) for part in said.split("…")), printed) is not None
    if NUMBER.sub("#", said) != NUMBER.sub("#", printed):
        return False
    pairs = zip(NUMBER.findall(said), NUMBER.findall(printed), strict=True)
    return all(a == b or _close(_number(a), _number(b)) for a, b in pairs)


def _number(text: str) -> float:
    return float(text.rstrip(",").replace(",", ""))


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= CLOSE * max(abs(a), abs(b))
