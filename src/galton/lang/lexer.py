"""Text to tokens.

One regular expression recognises every token of models and properties. A token's kind is its own text for keywords
and punctuation, so that parsers compare with what a person would type: ``kind == "module"``, ``kind == "->"``.
The lexer never fails: a character that fits nothing becomes a ``bad`` token, and the parser that meets it explains
it. That way one stray character spoils one property, not the whole file.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .model_types import TYPE_KEYWORDS
from .source import Source, Span

KEYWORDS = frozenset(
    (
        *("bool", "clock", "const", "double", "endinit", "endinvariant", "endmodule", "endobservables"),
        *("endrewards", "endsystem", "false", "filter", "formula", "func", "global", "init", "int", "invariant"),
        *("label", "max", "min", "module", "observable", "observables", "pomdp", "popta"),
        *TYPE_KEYWORDS,
        *("prob", "pta", "rate", "rewards", "system", "true"),
        *("A", "C", "E", "F", "G", "I", "P", "Pmax", "Pmin", "R", "Rmax", "Rmin", "S", "U", "W", "X"),
    )
)

# The symbols of `<-`, `||`, `[[` and `]]` stay apart: they are rare, and `x<-1` and `P=? [X P>0 [X a]]` just work.
_TOKEN = re.compile(
    r"""
    [ \t\r\n\f\ufeff]+ | //[^\n]*
    | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
    | (?P<decimal>\d*\.\d+(?:[eE][-+]?\d+)? | \d+[eE][-+]?\d+)
    | (?P<integer>\d+)
    | (?P<string>"[^"\n]*")
    | (?P<symbol><=> | << | => | -> | <= | >= | != | \.\. | /(?!\*) | [][(){}<>=!&|+\-*^:;,?'])
    | (?P<bad>/\* | .)
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """One token; ``text`` is what stood in the source (a string without its quotes)."""

    kind: str  # a keyword, a symbol, or one of: name, integer, decimal, string, bad, end
    text: str
    span: Span


def tokenize(source: Source, start: int = 0, end: int | None = None) -> list[Token]:
    """All tokens of a text, or of a part of it, closed by one of kind ``end``.

    >>> [token.kind for token in tokenize(Source("example", "[go] x=0 -> true; // comment"))]
    ['[', 'name', ']', 'name', '=', 'integer', '->', 'true', ';', 'end']
    """
    tokens: list[Token] = []
    end = len(source.text) if end is None else end
    for match in _TOKEN.finditer(source.text, start, end):
        kind = match.lastgroup
        if kind is None:
            continue
        text = match.group()
        if kind == "symbol" or (kind == "name" and text in KEYWORDS):
            kind = text
        elif kind == "string":
            text = text[1:-1].strip()
        tokens.append(Token(kind, text, Span(match.start(), match.end())))
    tokens.append(Token("end", "", Span(end, end)))
    return tokens
