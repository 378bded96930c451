"""Texts as they look when they are written well.

Only blanks and line breaks change: all tokens and comments stay what they are, and in their order, so that the meaning
does too. Each declaration, command and reward has lines of its own, two blanks further in inside of a block. Line
breaks within one stay where its author made them, and what was lined up with its neighbours stays lined up.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..lang import parse_model, parse_properties
from ..lang.lexer import KEYWORDS, tokenize
from ..lang.model_types import TYPE_KEYWORDS
from ..lang.source import Source
from .documents import PropertyDocument
from .files import is_property_name
from .names import declarations
from .spacing import Spacing

__all__ = ["formatted", "same_tokens"]

INDENT = "  "
TAB = 4  # columns of a tab, where line breaks within a statement are lined up
WIDEST = 120  # characters of a line with several declarations
DEEPER = 4  # columns for a line that goes on, where it stood no deeper than its statement

_PIECE = re.compile(
    r"""
    (?P<blank>[ \t\r\f\ufeff]+) | (?P<newline>\n) | (?P<comment>//[^\n]*)
    | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
    | (?P<number>\d*\.\d+(?:[eE][-+]?\d+)? | \d+(?:[eE][-+]?\d+)?)
    | (?P<string>"[^"\n]*")
    | (?P<symbol><=> | << | => | -> | <= | >= | != | \.\. | .)
    """,
    re.VERBOSE,
)
_ENDS = frozenset(("endmodule", "endrewards", "endinit", "endsystem"))


def formatted(text: str, name: str = "model.prism") -> str:
    """A text in one style. One with a mistake of grammar is refused with a :class:`.LanguageError`.

    ``name`` says what it is: a property file by its suffix, otherwise a model. JANI stays as it is.

    >>> print(formatted("dtmc module m x:[0..3]   init 0; [] x<3->0.5:(x'=x+1)+0.5 : true ; endmodule"), end="")
    dtmc
    module m
      x : [0..3] init 0;
      [] x<3 -> 0.5:(x'=x+1) + 0.5 : true;
    endmodule
    """
    source = Source(name, text)
    from ..lang.jani.detection import is_jani

    if is_jani(source):
        return text
    if is_property_name(name):
        file = parse_properties(source)
        for prop in file.properties:
            if prop.error:
                raise prop.error
        lines = _Lines(text, _property_starts(text, name))
    else:
        parse_model(source)
        lines = _Lines(text, None)
    end = "\r\n" if "\r\n" in text else "\n"
    return "".join(f"{line.rstrip()}{end}" for line in _aligned(lines.read()))


def _property_starts(text: str, name: str) -> frozenset[int]:
    """Where the declarations and properties of a file begin."""
    document = PropertyDocument(text, name)
    file = document.reading.file
    starts = {constant.span.start for constant in file.constants}
    starts |= {definition.span.start for definition in (*file.formulas, *file.labels)}
    names = {id(d.node): d.span.start - 1 for d in declarations(document).values() if d.kind == "property"}
    return frozenset(starts | {names.get(id(prop), prop.span.start) for prop in file.properties})


class Piece(NamedTuple):
    """A token or comment: its kind as in :mod:`..lang.lexer`, and what stood before it."""

    kind: str
    text: str
    start: int
    gap: int  # blanks before it
    breaks: int  # line breaks before it


@dataclass(slots=True)
class Line:
    """A line of the new text: parts that may be lined up with those of its neighbours, and a comment behind them."""

    indent: int
    parts: list[str] = field(default_factory=list)
    kinds: tuple[str, ...] = ()  # of what begins each part but the first
    wide: list[bool] = field(default_factory=list)  # whether each of these was set off by its author
    comment: str = ""
    wide_comment: bool = False
    blank_before: bool = False
    begins: bool = True  # whether a statement begins here: neither a comment alone, nor a line that goes on


def _pieces(text: str) -> Iterator[Piece]:
    gap = breaks = 0
    for match in _PIECE.finditer(text):
        kind = match.lastgroup
        if kind == "blank":
            gap += match.end() - match.start()
        elif kind == "newline":
            breaks, gap = breaks + 1, 0
        else:
            piece = match.group()
            if kind == "symbol" or (kind == "name" and piece in KEYWORDS):
                kind = piece
            elif kind == "comment":
                piece = piece.rstrip()
            assert kind is not None
            yield Piece(kind, piece, match.start(), gap, breaks)
            gap = breaks = 0


class _Lines:
    """Reads pieces into lines."""

    def __init__(self, text: str, starts: frozenset[int] | None):
        self._text, self._starts = text, starts
        self._spacing = Spacing(properties=starts is not None)
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self._lines: list[Line] = []
        self._depth = 0
        self._statement: list[Piece] = []
        self._blocks = False  # whether a block of several lines has just ended

    def read(self) -> list[Line]:
        for piece in _pieces(self._text):
            self._add(piece)
        self._flush()
        return self._lines

    def _add(self, piece: Piece) -> None:
        statement = self._statement
        if piece.kind == "comment" and not statement:
            if piece.breaks == 0 and self._lines:
                last = self._lines[-1]
                if not last.comment:
                    last.comment, last.wide_comment = piece.text, piece.gap > 2
                    return
            self._comment(piece)
            return
        if statement and piece.kind != "comment" and self._begins(piece):
            self._flush()
        self._statement.append(piece)
        if piece.kind != "comment" and self._ends(piece):
            self._flush()

    def _begins(self, piece: Piece) -> bool:
        """Whether a piece begins a statement, whatever stands before it."""
        if self._starts is not None:
            return piece.start in self._starts
        first = self._statement[0].kind
        if first in ("init", "system"):
            return False
        return piece.kind == "endmodule" and not self._is_copy()

    def _is_copy(self) -> bool:
        tokens = [piece for piece in self._statement[:4] if piece.kind != "comment"]
        return len(tokens) > 2 and tokens[0].kind == "module" and tokens[2].kind == "="

    def _ends(self, piece: Piece) -> bool:
        if piece.kind == ";":
            return True
        if self._starts is not None:
            return False
        tokens = [part for part in self._statement[:4] if part.kind != "comment"]
        first = tokens[0].kind
        if piece.kind in _ENDS or first in TYPE_KEYWORDS:
            return True
        # A block begins with a line of its own; a copy of a module is a statement like any other.
        if first == "module":
            return len(tokens) == 2 and not self._follows(piece, "=")
        if first == "rewards":
            return piece.kind == "string" or not self._follows(piece, '"')
        return False

    def _follows(self, piece: Piece, sign: str) -> bool:
        """Whether a sign comes next after a piece, behind blanks and comments."""
        at = piece.start + len(piece.text)
        while True:
            while at < len(self._text) and self._text[at] in " \t\r\n\f\ufeff":
                at += 1
            if not self._text.startswith("//", at):
                return self._text.startswith(sign, at)
            at = self._text.find("\n", at)
            if at < 0:
                return False

    def _comment(self, piece: Piece) -> None:
        self._lines.append(Line(self._depth * len(INDENT), [piece.text], blank_before=self._blank(piece), begins=False))

    def _blank(self, piece: Piece) -> bool:
        """Whether a blank line comes before what is written next."""
        forced, self._blocks = self._blocks, False
        return bool(self._lines) and (piece.breaks > 1 or forced)

    def _flush(self) -> None:
        statement, self._statement = self._statement, []
        if not statement:
            return
        first = statement[0]
        ends = first.kind in _ENDS
        if ends:
            self._depth = 0
        lines = self._written(statement)
        if not self._beside(first, lines):
            self._lines += lines
        if ends:
            self._blocks = True
        elif statement[-1].kind in ("endinit", "endsystem"):
            self._blocks = any(piece.breaks for piece in statement[1:])
        elif first.kind in ("module", "rewards") and statement[-1].kind not in _ENDS and self._starts is None:
            self._depth = 1

    def _written(self, statement: list[Piece]) -> list[Line]:
        """The lines of a statement: broken where its author broke it."""
        spaced = self._spacing.of(statement, self._depth)
        origin = self._column(statement[0].start)
        lines = [Line(self._depth * len(INDENT), [], blank_before=self._blank(statement[0]))]
        for index, (piece, (space, column)) in enumerate(zip(statement, spaced, strict=True)):
            current = lines[-1]
            if index and piece.breaks:
                if current.comment and not current.parts:
                    current.parts, current.comment = [current.comment], ""
                indent = self._column(piece.start) - origin
                if piece.kind in _ENDS:
                    indent = 0
                elif indent <= 0:
                    indent = DEEPER
                lines.append(Line(self._depth * len(INDENT) + indent, [piece.text], begins=False))
                continue
            if piece.kind == "comment":
                current.comment, current.wide_comment = piece.text, piece.gap > 2
            elif not current.parts:
                current.parts.append(piece.text)
            elif column:
                current.kinds += (column,)
                current.parts.append(piece.text)
                current.wide.append(piece.gap > 1)
            else:
                current.parts[-1] += f" {piece.text}" if space else piece.text
        return lines

    def _beside(self, first: Piece, lines: list[Line]) -> bool:
        """Whether short declarations of constants stay in one line, where their author has put them."""
        last = self._lines[-1] if self._lines else None
        if first.kind != "const" or first.breaks or last is None or not last.parts[0].startswith("const "):
            return False
        (line, *more) = lines
        if more or last.comment or sum(map(len, (*last.parts, *line.parts))) > WIDEST:
            return False
        last.kinds += ("const", *line.kinds)
        last.wide += [first.gap > 2, *line.wide]
        last.parts += [f" {line.parts[0]}", *line.parts[1:]]
        last.comment, last.wide_comment = line.comment, line.wide_comment
        return True

    def _column(self, offset: int) -> int:
        start = self._line_starts[bisect_right(self._line_starts, offset) - 1]
        return len(self._text[start:offset].expandtabs(TAB))


def _aligned(lines: list[Line]) -> Iterator[str]:
    """The lines as text; parts are lined up in neighbours where an author has done so."""
    for chain in _chains(lines):
        _line_up(chain, 0)
    yield from _with_comments([(line, " " * line.indent + " ".join(line.parts)) for line in lines])


def _chains(lines: list[Line]) -> Iterator[list[Line]]:
    """Statements that follow each other, up to a blank line; and lines that go on, which follow each other."""
    statements: list[Line] = []
    going_on: list[Line] = []
    for line in lines:
        if line.blank_before or line.begins:
            yield going_on
            going_on = []
        commands = bool(statements) and statements[-1].kinds[:1] == ("guard",)
        ends = commands and line.parts[0].startswith("//")
        if ends or line.blank_before or (line.begins and statements and statements[-1].indent != line.indent):
            yield statements
            statements = []
        if line.begins:
            statements.append(line)
        elif line.kinds:
            going_on.append(line)
    yield going_on
    yield statements


def _line_up(chain: list[Line], column: int) -> None:
    """Pad the parts before a column, in lines that look alike up to there; then those of the next one."""
    run: list[Line] = []
    for line in [*chain, None]:
        if line is None or (run and line.kinds[: column + 1] != run[0].kinds[: column + 1]):
            if run and len(run[0].kinds) > column:
                if any(each.wide[column] for each in run):
                    first = column == 0  # which begins where the line does
                    width = max(len(each.parts[column]) + first * each.indent for each in run)
                    for each in run:
                        each.parts[column] = each.parts[column].ljust(width - first * each.indent)
                _line_up(run, column + 1)
            run = []
        if line is not None:
            run.append(line)


def _with_comments(written: list[tuple[Line, str]]) -> Iterator[str]:
    """Comments behind the lines; those of neighbours are lined up where an author has done so."""
    at = 0
    while at < len(written):
        end = at + 1
        if written[at][0].comment:
            while end < len(written) and written[end][0].comment and not written[end][0].blank_before:
                end += 1
        group = written[at:end]
        wide = max(len(text) for _, text in group) if any(line.wide_comment for line, _ in group) else 0
        for line, text in group:
            if line.blank_before:
                yield ""
            yield f"{text.ljust(wide)}  {line.comment}" if line.comment else text
        at = end


def same_tokens(one: str, other: str) -> bool:
    """Whether two texts say the same, token by token."""
    first, second = tokenize(Source("", one)), tokenize(Source("", other))
    return [(t.kind, t.text) for t in first] == [(t.kind, t.text) for t in second]
