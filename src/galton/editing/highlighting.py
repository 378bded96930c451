"""What kind of thing each token of a text is, for colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

from ..lang.lexer import KEYWORDS, Token, tokenize
from ..lang.model_types import TYPE_KEYWORDS
from ..lang.source import Span
from .documents import Document, ModelDocument
from .names import declarations, with_model, word_of

__all__ = ["TOKEN_KINDS", "HighlightedToken", "highlights"]

TokenKind = Literal[
    "keyword",
    "type",
    "comment",
    "number",
    "string",
    "operator",
    "function",
    "variable",
    "constant",
    "formula",
    "label",
    "rewards",
    "module",
    "action",
    "property",
]
TOKEN_KINDS: tuple[TokenKind, ...] = get_args(TokenKind)

CONTEXT = 3  # lines before those asked for, which tell what a name at the beginning is
_COMMENT = re.compile(r'"[^"\n]*"|(//[^\n]*)')


class HighlightedToken(NamedTuple):
    """A token on one line; ``declares`` where it is the place of a declaration."""

    line: int
    column: int
    length: int
    kind: TokenKind
    declares: bool = False


def highlights(document: Document, first_line: int = 0, last_line: int | None = None) -> list[HighlightedToken]:
    """The tokens of some lines, in order; of long texts an editor asks for the lines that it shows.

    >>> from galton.editing import ModelDocument
    >>> [(t.column, t.kind) for t in highlights(ModelDocument("dtmc // a chain"))]
    [(0, 'type'), (5, 'comment')]
    """
    if isinstance(document, ModelDocument) and document.is_jani:
        return []
    lines = document.lines
    last_line = len(lines.starts) - 1 if last_line is None else min(last_line, len(lines.starts) - 1)
    if first_line > last_line:
        return []
    start, end = lines.starts[first_line], lines.end(last_line)
    declared = {declaration.span for declaration in declarations(document).values()}
    tokens = tokenize(document.source, lines.starts[max(first_line - CONTEXT, 0)], end)[:-1]
    found = []
    for index, token in enumerate(tokens):
        if token.span.start >= start and (kind := _kind(document, tokens, index)) is not None:
            span = token.span
            name = Span(span.start + 1, span.end - 1) if token.kind == "string" else span
            found.append(_placed(document, span, kind, name in declared))
    found += [_placed(document, span, "comment", False) for span in _comments(document.text, start, end)]
    return sorted(found)


def _placed(document: Document, span: Span, kind: TokenKind, declares: bool) -> HighlightedToken:
    line, column = document.lines.position(span.start)
    return HighlightedToken(line, column, span.end - span.start, kind, declares)


def _comments(text: str, start: int, end: int) -> Iterator[Span]:
    if "//" in text:
        for match in _COMMENT.finditer(text, start, end):
            if match.group(1) is not None:
                yield Span(match.start(1), match.end(1))


def _kind(document: Document, tokens: list[Token], index: int) -> TokenKind | None:
    token = tokens[index]
    if token.kind in ("integer", "decimal"):
        return "number"
    if token.kind in ("int", "double", "bool", *TYPE_KEYWORDS):
        return "type"
    if token.kind in ("name", "string", "min", "max"):
        return _kind_of_name(document, tokens, index)
    if token.kind in KEYWORDS:
        return "keyword"
    return None if token.kind == "bad" else "operator"


def _kind_of_name(document: Document, tokens: list[Token], index: int) -> TokenKind | None:
    word = word_of(document, tokens, index)
    match word.space:
        case "module" | "action" | "function" | "label" | "rewards" | "property":
            return word.space
        case "system":
            return "string"
        case "token":
            return "string" if tokens[index].kind == "string" else "keyword"
    for home in with_model(document):
        found = declarations(home).get(("value", word.text))
        if found is not None and found.kind in ("constant", "formula", "variable"):
            return found.kind
    return None
