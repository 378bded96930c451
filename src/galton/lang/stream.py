"""A position in a list of tokens, and the words for what was expected there.

The parsers of expressions, models and properties all derive from :class:`TokenStream`. What reads as grammar lives
in them; how to complain lives here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from .lexer import KEYWORDS, Token, tokenize
from .source import LanguageError, Source, Span, UnsupportedError

T = TypeVar("T")

MOST_LISTED = 12  # names in a message

_SLIPS = {
    "==": "PRISM compares with a single '='",
    "&&": "PRISM writes 'and' as a single '&'",
    "||": "PRISM writes 'or' as a single '|'",
    "=?": "only the operators P, R, S and T ask for a value",
}
_STRAY = {
    '"': ("unclosed quotation mark", None),
    "/*": ("'/*' does not start a comment in the PRISM language", "start every line of a comment with '//'"),
    "%": ("unexpected '%'", "the remainder is written mod(a, b)"),
    ".": ("unexpected '.'", "write digits on both sides of the decimal point, as in 1.0"),
}


class TokenStream:
    """Tokens read one by one, with the errors that follow from a token being the wrong one."""

    def __init__(self, source: Source, tokens: list[Token] | None = None):
        self.source = source
        self.tokens = tokenize(source) if tokens is None else tokens
        self.index = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    @property
    def kind(self) -> str:
        return self.tokens[self.index].kind

    def next_kind(self, ahead: int = 1) -> str:
        """The kind of a token further on, ``end`` past the last one."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)].kind

    def advance(self) -> Token:
        token = self.tokens[self.index]
        if token.kind != "end":
            self.index += 1
        return token

    def accept(self, kind: str) -> Token | None:
        return self.advance() if self.tokens[self.index].kind == kind else None

    def expect(self, kind: str, after: str = "") -> Token:
        """The token of the given kind that must stand here; ``after`` says what it follows, for the message."""
        if self.tokens[self.index].kind == kind:
            return self.advance()
        raise self.missing(kind, after)

    def expect_name(self, what: str) -> Token:
        """A name that may be chosen freely, so not a keyword."""
        if self.kind == "name":
            return self.advance()
        if self.kind in KEYWORDS:
            raise self.error(f"'{self.token.text}' is a keyword and cannot be {what}", self.token.span)
        raise self.unexpected(what)

    def expect_label(self, what: str) -> Token:
        """A quoted identifier, as labels and reward structures have."""
        if self.kind != "string":
            if self.kind == "name":
                hint = f'did you mean "{self.token.text}"?'
                raise self.error(f"{what} must stand in double quotes", self.token.span, hint)
            raise self.unexpected(f"{what} in double quotes")
        if not self.token.text.isidentifier() or not self.token.text.isascii():
            raise self.error(f"{what} must be an identifier: letters, digits and '_'", self.token.span)
        return self.advance()

    def into(self, found: list[T], rule: Callable[[], T]) -> None:
        """Read one more of a list; where a reader may go on that has met a mistake (:mod:`.recovery`)."""
        found.append(rule())

    # Errors

    def error(self, message: str, span: Span, hint: str | None = None) -> LanguageError:
        return LanguageError(message, self.source, span, hint)

    def unexpected(self, expected: str, hint: str | None = None) -> LanguageError:
        """The error for a token that does not fit, with the hint for the usual slip if it looks like one."""
        token = self.token
        if token.kind == "bad":
            return self._stray(token)
        span = self._after_previous() if token.kind == "end" else token.span
        return self.error(f"expected {expected}, found {describe(token)}", span, hint or self._slip())

    def missing(self, kind: str, after: str) -> LanguageError:
        """The error for an absent piece of punctuation: it points right after the previous token."""
        if self.kind == "bad":
            return self._stray(self.token)
        expected = f"'{kind}'" + (f" after {after}" if after else "")
        if kind != ";":
            return self.unexpected(expected)
        return self.error(f"expected {expected}, found {describe(self.token)}", self._after_previous(), self._slip())

    def _after_previous(self) -> Span:
        end = self.tokens[self.index - 1].span.end if self.index else 0
        return Span(end, end + 1)

    def _slip(self) -> str | None:
        """The hint for two symbols that other languages put side by side."""
        previous = self.tokens[self.index - 1].text if self.index else ""
        return _SLIPS.get(previous + self.token.text)

    def _stray(self, token: Token) -> LanguageError:
        if token.text == "#":
            return UnsupportedError("the preprocessor ('#…#') is not supported", self.source, token.span)
        message, hint = _STRAY.get(token.text, (f"unexpected character {token.text!r}", None))
        return self.error(message, token.span, hint)


def describe(token: Token) -> str:
    """A token as a message names it."""
    if token.kind == "end":
        return "the end of the text"
    if token.kind == "string":
        return f'"{token.text}"'
    return f"'{token.text}'"


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """A hint naming the candidate most like a misspelt name, if one is near."""
    from difflib import get_close_matches  # slow to import, and only errors need it

    known = list(candidates)
    same_but_case = [other for other in known if other.lower() == name.lower()]
    matches = same_but_case or get_close_matches(name, known, 1)
    return f"did you mean '{matches[0]}'?" if matches else None


def suggestion(name: str, candidates: Iterable[str], what: str, quote: str = "") -> str | None:
    """A hint for a name that is not there: the one most like it, or all that there are; None where there is none.

    >>> suggestion("dnoe", ["done", "high"], "labels"), suggestion("end", ["done", "high"], "labels", '"')
    ("did you mean 'done'?", 'known labels: "done", "high"')
    """
    known = [other for other in candidates if other]
    return nearest(name, known) or (listed(known, f"known {what}", quote) if known else None)


def listed(names: Sequence[str], what: str, quote: str = "") -> str:
    """Names that there are; of many, the first."""
    shown = [f"{quote}{name}{quote}" for name in names[:MOST_LISTED]]
    if len(names) > MOST_LISTED:
        shown.append(f"and {len(names) - MOST_LISTED:,} more")
    return f"{what}: {', '.join(shown)}"
