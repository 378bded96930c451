"""Texts with mistakes: all that can be read of them, and all that is wrong.

The parsers stop at the first mistake. Who edits a text wants to hear of all of them, and to be helped with the rest
meanwhile. The readers here are those parsers: they note a mistake and go on behind the declaration, command or reward
that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .depth import DeepRecursion
from .lexer import Token, tokenize
from .long_texts import LongTextParser
from .model_parser import ModelParser, is_long
from .model_types import TYPE_KEYWORDS
from .properties import PropertyFile
from .property_parser import PropertyParser
from .source import LanguageError, Source, Span
from .stream import T, TokenStream
from .syntax import CommandSyntax, Identifier, ModelFile
from .uncollected import uncollected

__all__ = ["Reading", "read_model", "read_parts", "read_properties"]

F = TypeVar("F", ModelFile, PropertyFile)

MOST = 100  # mistakes of one text that are looked for

_BLOCKS = ("module", "rewards", "init", "system")
_STARTS = frozenset(("const", "rate", "prob", "formula", "label", "global", *_BLOCKS, *TYPE_KEYWORDS))
_ENDS = frozenset(("endmodule", "endrewards", "endinit", "endsystem"))
_RUNS = frozenset(("commands", "items"))


@dataclass(frozen=True)
class Reading(Generic[F]):
    """What could be read of a text, what is wrong with it, and which parts were left out therefore."""

    file: F
    errors: tuple[LanguageError, ...] = ()
    left_out: tuple[Span, ...] = ()


class _TooMany(Exception):
    """More mistakes than anybody reads: it is another language."""


class _Noting(TokenStream):
    """Notes mistakes, and which parts of the text they spoil."""

    def __init__(self, source: Source, *given: list[Token]):
        super().__init__(source, *given)
        self.errors: list[LanguageError] = []
        self.left_out: list[Span] = []

    def note(self, error: LanguageError, first: int) -> None:
        """A mistake in what began at a token; the current token is where reading goes on."""
        if not self.errors or self.errors[-1].span != error.span:
            self.errors.append(error)
        self.left_out.append(Span(self.tokens[first].span.start, self.tokens[max(first, self.index - 1)].span.end))
        if len(self.errors) >= MOST:
            raise _TooMany


class _RecoveringModel(_Noting, ModelParser):
    """A reader of models that goes on."""

    def into(self, found: list[T], rule: Callable[[], T]) -> None:
        first, sets, calls = self.index, self.sets, self.call_any_name
        try:
            super().into(found, rule)
        except LanguageError as error:
            self.sets, self.call_any_name = sets, calls
            block = self.tokens[first].kind in _BLOCKS
            self._skip(first, block)
            if self.index == first:  # nothing that could be left out here: it is for the one who asked for it
                raise
            self.note(error, first)

    def _declaration(self) -> None:
        first = self.index
        try:
            super()._declaration()
        except LanguageError as error:
            self._skip(first, block=True)
            self.index = max(self.index, first + 1)
            while self.kind not in _STARTS and self.kind != "end":
                self.index += 1
            self.note(error, first)

    def unfinished_module(self, name: Identifier) -> list[CommandSyntax]:
        commands: list[CommandSyntax] = []
        while not self.accept("endmodule"):
            first, error = self.index, self.stray_in_module(name)
            if self.kind == "end" or (self.kind in _STARTS and self._begins_line(self.index)):
                self.errors.append(error)
                break
            self._skip(first)
            self.index = max(self.index, first + 1)
            self.note(error, first)
            commands += self.commands()
        return commands

    def _skip(self, first: int, block: bool = False) -> None:
        """Go on behind the next ``;``, or where a line begins with something new; of a block, behind its end."""
        self.index = max(self.index, first)
        while self.kind != "end":
            kind = self.kind
            if self.index > first or not block:
                if kind in _RUNS or (kind in _STARTS and self._begins_line(self.index)):
                    return
                if kind in _ENDS:
                    self.index += block
                    return
                if not block and kind == ";":
                    self.index += 1
                    return
                if not block and kind == "[" and self.index > first and self._begins_line(self.index):
                    return
            self.index += 1

    def _begins_line(self, index: int) -> bool:
        start = self.tokens[index - 1].span.end if index else 0
        return index == 0 or "\n" in self.source.text[start : self.tokens[index].span.start]


class _RecoveringLongText(_RecoveringModel, LongTextParser):
    """A reader of long texts that goes on. The core reads what is right, and leaves what is not."""


class _RecoveringProperties(_Noting, PropertyParser):
    """A reader of property files that goes on after a wrong declaration as after a wrong property."""

    def into(self, found: list[T], rule: Callable[[], T]) -> None:
        first = self.index
        try:
            super().into(found, rule)
        except LanguageError as error:
            self._recover(first)
            self.note(error, first)


def read_model(source: Source) -> Reading[ModelFile]:
    """What could be read of a model in the PRISM language.

    >>> reading = read_model(Source("example", "dtmc\\nconst int N = ;\\nmodule m\\n  x : [0..3)\\nendmodule"))
    >>> [error.message for error in reading.errors], reading.file.modules[0].name.name
    (["expected an expression, found ';'", "expected ']', found ')'"], 'm')
    """
    return _read(_RecoveringLongText(source) if is_long(source) else _RecoveringModel(source))


def read_parts(source: Source, parts: Iterable[Span]) -> ModelFile:
    """What some parts of a model say, as if there were no others; without the core."""
    tokens: list[Token] = []
    for part in parts:
        tokens[-1:] = tokenize(source, part.start, part.end)
    return _read(_RecoveringModel(source, tokens)).file


def _read(parser: _RecoveringModel) -> Reading[ModelFile]:
    source = parser.source
    with uncollected():
        try:
            with DeepRecursion(source):
                file = parser.model()
        except _TooMany:
            file = parser.collected()
        except LanguageError as error:  # too deep
            return Reading(parser.collected(), (*parser.errors, error))
    return Reading(file, tuple(parser.errors), tuple(parser.left_out))


def read_properties(source: Source) -> Reading[PropertyFile]:
    """What could be read of a property file; properties keep their errors themselves."""
    parser = _RecoveringProperties(source)
    try:
        with DeepRecursion(source):
            file = parser.file()
    except _TooMany:
        file = PropertyFile(source, (), (), (), ())
    except LanguageError as error:  # too deep
        return Reading(PropertyFile(source, (), (), (), ()), (*parser.errors, error))
    return Reading(file, tuple(parser.errors), tuple(parser.left_out))
