"""What the package for editing says, in the words of the protocol.

The protocol counts columns in the units that a client asks for: of UTF-16, if it says nothing. Here they are counted in
characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from ..editing import (
    TOKEN_KINDS,
    Completion,
    Diagnostic,
    Document,
    Edit,
    HighlightedToken,
    Position,
    Range,
    Symbol,
)

__all__ = ["LEGEND", "Columns"]

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_SYMBOLS = {
    "constant": types.SymbolKind.Constant,
    "formula": types.SymbolKind.Function,
    "label": types.SymbolKind.EnumMember,
    "variable": types.SymbolKind.Variable,
    "module": types.SymbolKind.Module,
    "rewards": types.SymbolKind.Struct,
    "system": types.SymbolKind.Namespace,
    "initial states": types.SymbolKind.Object,
    "property": types.SymbolKind.Property,
}
_COMPLETIONS = {
    "keyword": types.CompletionItemKind.Keyword,
    "constant": types.CompletionItemKind.Constant,
    "variable": types.CompletionItemKind.Variable,
    "formula": types.CompletionItemKind.Reference,
    "label": types.CompletionItemKind.EnumMember,
    "rewards": types.CompletionItemKind.Struct,
    "module": types.CompletionItemKind.Module,
    "action": types.CompletionItemKind.Event,
    "function": types.CompletionItemKind.Function,
    "property": types.CompletionItemKind.Property,
}
# The protocol has names for colours that editors know; what is ours takes the nearest.
_COLOURS = {
    "constant": "variable",
    "formula": "macro",
    "label": "enumMember",
    "rewards": "struct",
    "module": "namespace",
    "action": "event",
}
_TYPES = sorted({_COLOURS.get(kind, kind) for kind in TOKEN_KINDS})
_DECLARATION, _READONLY = 1, 2

LEGEND = types.SemanticTokensLegend(token_types=_TYPES, token_modifiers=["declaration", "readonly"])


class Columns:
    """Columns as a client counts them, and everything that has some."""

    def __init__(self, encoding: str | None):
        units: dict[str, Callable[[str], int]] = {
            "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
            "utf-16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
            "utf-32": len,
        }
        self._units = units[encoding or "utf-16"]

    def position(self, document: Document, place: Position) -> types.Position:
        """A place for the client."""
        start = document.lines.starts[place.line]
        return types.Position(place.line, self._units(document.text[start : start + place.column]))

    def range(self, document: Document, place: Range) -> types.Range:
        """A range for the client."""
        return types.Range(self.position(document, place.start), self.position(document, place.end))

    def place(self, document: Document, position: types.Position) -> Position:
        """A place that the client has given."""
        if position.line >= len(document.lines.starts):
            return Position(len(document.lines.starts) - 1, len(document.text))
        line = document.lines.line(position.line)
        if line.isascii():
            return Position(position.line, position.character)
        column = units = 0
        while column < len(line) and units < position.character:
            units += self._units(line[column])
            column += 1
        return Position(position.line, column)

    def diagnostic(self, document: Document, found: Diagnostic) -> types.Diagnostic:
        """A mistake, with its advice."""
        message = f"{found.message}\n{found.hint}" if found.hint else found.message
        place = self.range(document, found.range)
        return types.Diagnostic(place, message, severity=_SEVERITIES[found.severity], source="galton")

    def symbol(self, document: Document, found: Symbol) -> types.DocumentSymbol:
        """An entry of the outline."""
        return types.DocumentSymbol(
            name=found.name,
            kind=_SYMBOLS[found.kind],
            range=self.range(document, found.range),
            selection_range=self.range(document, found.name_range),
            detail=found.detail[:80],
            children=[self.symbol(document, child) for child in found.children],
        )

    def completion(self, document: Document, found: Completion, number: int) -> types.CompletionItem:
        """Something that could be written; the number keeps the order."""
        return types.CompletionItem(
            label=found.label,
            kind=_COMPLETIONS[found.kind],
            detail=found.detail or None,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, found.documentation),
            text_edit=types.TextEdit(self.range(document, found.range), found.text),
            sort_text=f"{number:05}",
            filter_text=found.label,
        )

    def edits(self, document: Document, edits: Iterable[Edit]) -> list[types.TextEdit]:
        """Changes of a text."""
        return [types.TextEdit(self.range(document, edit.range), edit.text) for edit in edits]

    def tokens(self, document: Document, tokens: Iterable[HighlightedToken]) -> types.SemanticTokens:
        """Colours, each relative to the one before it, as the protocol has it."""
        data: list[int] = []
        line = column = 0
        for token in tokens:
            start = self.position(document, Position(token.line, token.column)).character
            end = self.position(document, Position(token.line, token.column + token.length)).character
            kind = _COLOURS.get(token.kind, token.kind)
            modifiers = _DECLARATION * token.declares + _READONLY * (token.kind == "constant")
            data += [token.line - line, start - column if token.line == line else start]
            data += [end - start, _TYPES.index(kind), modifiers]
            line, column = token.line, start
        return types.SemanticTokens(data)
