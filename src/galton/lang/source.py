"""Where text came from, and errors that point into it.

Every syntax tree node carries a :class:`Span`; every complaint about input is a :class:`LanguageError`
that can show the line, a caret under the column, and what to do about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .wording import worded

WIDEST = 160  # characters of a line that are shown


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of character offsets in a source text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of the other."""
        return Span(self.start, other.end)


@dataclass(frozen=True)
class Source:
    """A named text: a file, or what was typed on the command line."""

    name: str
    text: str

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        while (found := self.text.find("\n", starts[-1])) >= 0:
            starts.append(found + 1)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        from bisect import bisect_right

        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line break."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] - 1 if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


class GaltonError(Exception):
    """Anything Galton refuses, in words meant for the person who asked: see :mod:`.wording`."""

    kind = "input"

    def __str__(self) -> str:
        return worded(super().__str__())


class LanguageError(GaltonError):
    """Something wrong in a model or property text, shown with its place."""

    def __init__(self, message: str, source: Source, span: Span, hint: str | None = None):
        self.message, self.source, self.span, self.hint = message, source, span, hint
        super().__init__(message)

    def __str__(self) -> str:
        line, column = self.source.position(self.span.start)
        place = f"{line}:{column}"
        text, column = _window(self.source.line(line), column)
        width = max(1, min(self.span.end, self.span.start + len(text) - column + 1) - self.span.start)
        pad = "".join("\t" if c == "\t" else " " for c in text[: column - 1])
        gutter = f"{line:>5} | "
        shown = [
            f"{self.source.name}:{place}: error: {worded(self.message)}",
            f"{gutter}{text}",
            f"{' ' * (len(gutter) - 2)}| {pad}{'^' * width}",
        ]
        if self.hint:
            shown.append(f"  hint: {worded(self.hint)}")
        return "\n".join(shown)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.source, self.span, self.hint)


def _window(text: str, column: int) -> tuple[str, int]:
    """As much of a long line as a person can look at, with the column there: programs write lines without end."""
    start = max(0, min(column - 1 - WIDEST // 2, len(text) - WIDEST))
    if start:
        text, column = f"…{text[start + 1 :]}", column - start
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…", column


class OpenConstantError(LanguageError):
    """Something that needs the value of a constant, which nobody gave."""


class UnsupportedError(LanguageError):
    """A construct that PRISM knows and Galton does not (yet)."""

    kind = "unsupported"


def read_source(path: str | Path) -> Source:
    """The text of a file, or the program that a reaction network in SBML comes to.

    Old files have comments in old encodings: what is not UTF-8 is shown as such, not refused.
    """
    from .sbml import SUFFIXES, prism_text

    if Path(path).suffix in SUFFIXES:
        return Source(str(path), prism_text(path))
    return Source(str(path), Path(path).read_text(encoding="utf-8", errors="replace"))
