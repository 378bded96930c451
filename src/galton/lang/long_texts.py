"""Long texts, with the help of the core.

Programs write models of megabytes: thousands of commands, all alike. The core reads such runs of commands and rewards,
and the bodies of formulas and labels, into the same objects that the parsers make (``src/core/lang``). Equal parts of
expressions are one object there, so that who goes through them can remember what it found. The parsers of this package
read the rest, and everything that the core does not know.

A text with a mistake is read again without the core: messages are those of the parsers, for texts of any length.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from . import expressions, syntax
from .expressions import Expression
from .lexer import KEYWORDS, Token
from .model_parser import ModelParser
from .rationals import literal
from .source import LanguageError, Source, Span
from .syntax import CommandSyntax, ModelFile, RewardItemSyntax

__all__ = ["LongTextParser", "read_long"]

_EXPRESSIONS = ("Literal", "Name", "Unary", "Binary", "Conditional", "Call")
_SYNTAX = ("Identifier", "AssignmentSyntax", "UpdateSyntax", "CommandSyntax", "RewardItemSyntax")
_CLASSES: dict[str, type] = {
    "Token": Token,
    "Span": Span,
    **{name: getattr(expressions, name) for name in _EXPRESSIONS},
    **{name: getattr(syntax, name) for name in _SYNTAX},
}


def read_long(source: Source) -> ModelFile | None:
    """What :func:`parse_model` gives for a text; None where something is wrong with it, for the parsers to say."""
    try:
        return LongTextParser(source).model()
    except LanguageError:
        return None


class LongTextParser(ModelParser):
    """Meets the core's runs among the tokens, and takes what they hold."""

    def __init__(self, source: Source):
        tokens: list[Token]
        self._contents: dict[int, Any]
        tokens, self._contents = _core.read_runs(source.text, KEYWORDS, literal, _CLASSES)
        super().__init__(source, tokens)

    def collected(self) -> ModelFile:
        return super().collected()._replace(shares_expressions=True)

    def _content(self) -> Any:
        self.index += 1
        return self._contents[self.index - 1]

    def commands(self) -> list[CommandSyntax]:
        commands = super().commands()
        while self.kind == "commands":
            commands += self._content()
            commands += super().commands()
        return commands

    def reward_items(self) -> list[RewardItemSyntax]:
        items: list[RewardItemSyntax] = []
        while self.kind not in ("endrewards", "end", "rewards", "module"):
            if self.kind == "items":
                items += self._content()
            else:
                self.into(items, self._reward_item)
        return items

    def body(self) -> Expression:
        found: Expression = self._content() if self.kind == "expression" else super().body()
        return found
