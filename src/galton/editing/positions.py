"""Places in a text, as editors count them: lines and columns from 0, columns in characters (code points)."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from ..lang.source import Span

__all__ = ["Edit", "Lines", "Position", "Range", "applied"]


class Position(NamedTuple):
    """A place between two characters."""

    line: int
    column: int


class Range(NamedTuple):
    """The text from one place up to another."""

    start: Position
    end: Position


class Edit(NamedTuple):
    """A text that takes the place of another."""

    range: Range
    text: str


class Lines:
    """Where the lines of a text begin.

    >>> lines = Lines("dtmc\\nmodule m")
    >>> lines.position(7), lines.offset(Position(1, 2)), lines.offset(Position(0, 99))
    (Position(line=1, column=2), 7, 4)
    """

    def __init__(self, text: str):
        self.text = text
        self.starts = [0]
        while (found := text.find("\n", self.starts[-1])) >= 0:
            self.starts.append(found + 1)

    def position(self, offset: int) -> Position:
        """The line and column of a character."""
        line = bisect_right(self.starts, max(offset, 0)) - 1
        return Position(line, offset - self.starts[line])

    def range(self, span: Span) -> Range:
        """The lines and columns of a span of characters."""
        return Range(self.position(span.start), self.position(span.end))

    def offset(self, position: Position) -> int:
        """The character at a place; a place beyond the end of a line is that end."""
        if position.line >= len(self.starts):
            return len(self.text)
        start = self.starts[position.line]
        return min(start + max(position.column, 0), self.end(position.line))

    def end(self, line: int) -> int:
        """The offset of the end of a line, before its line break."""
        if line + 1 >= len(self.starts):
            return len(self.text)
        return self.starts[line + 1] - 1

    def line(self, number: int) -> str:
        """The text of a line, without its line break."""
        return self.text[self.starts[number] : self.end(number)]


def applied(text: str, edits: list[Edit]) -> str:
    """A text after edits that do not overlap.

    >>> applied("a=b", [Edit(Range(Position(0, 0), Position(0, 1)), "x")])
    'x=b'
    """
    lines, pieces, at = Lines(text), [], 0
    for (start, end), new in sorted(edits):
        pieces += [text[at : lines.offset(start)], new]
        at = lines.offset(end)
    return "".join([*pieces, text[at:]])
