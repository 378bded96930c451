"""What went wrong, as a page is told of it."""

from __future__ import annotations

from typing import Any

from ..lang.source import GaltonError, LanguageError, Source, Span

__all__ = ["RequestError", "range_of", "trouble", "trouble_of"]


class RequestError(GaltonError):
    """A page asked for something that nobody can ask for: a mistake of the page, or an attack."""

    kind = "request"


def trouble(kind: str, message: str, hint: str | None = None) -> dict[str, Any]:
    """Trouble without a place in a text."""
    text = f"{message}\n  hint: {hint}" if hint else message
    return {"kind": kind, "message": message, "text": text, "hint": hint, "file": None, "range": None}


def trouble_of(error: GaltonError, files: frozenset[str] | set[str] = frozenset()) -> dict[str, Any]:
    """What an error says; ``files`` are the texts that it may point into."""
    if isinstance(error, LanguageError):
        known = error.source.name in files
        return {
            "kind": "language",
            "message": error.message,
            "text": str(error),
            "hint": error.hint,
            "file": error.source.name if known else None,
            "range": range_of(error.source, error.span) if known else None,
        }
    kind = {"request": "request", "limit": "limit"}.get(error.kind, "refused")
    return trouble(kind, str(error))


def range_of(source: Source, span: Span) -> dict[str, int]:
    """A range as a page counts: from 0, and in the units of UTF-16."""
    text = source.text
    start, end = max(0, min(span.start, len(text))), max(0, min(max(span.end, span.start), len(text)))
    if text.isascii():
        units, width = start, end - start
    else:
        units, width = _units(text[:start]), _units(text[start:end])
    line, _ = source.position(start)
    end_line, _ = source.position(end)
    return {
        "from": units,
        "to": units + width,
        "line": line - 1,
        "column": _units(text[text.rfind("\n", 0, start) + 1 : start]),
        "end_line": end_line - 1,
        "end_column": _units(text[text.rfind("\n", 0, end) + 1 : end]),
    }


def _units(text: str) -> int:
    """How many UTF-16 units a text has: characters beyond the first 65,536 have two."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)
