"""Where something is declared, and where it is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..lang.source import Span
from .documents import Document, ModelDocument, PropertyDocument
from .names import Word, find, mentions, with_model, word_at
from .positions import Position, Range

__all__ = ["Location", "definition", "family", "references"]


class Location(NamedTuple):
    """A part of a document, which is known by its name."""

    document: str
    range: Range


def definition(document: Document, position: Position) -> list[Location]:
    """Where that which stands at a place is declared: in the document, or in the model it is about.

    Nothing declares an action: for one, these are the commands that have it.
    """
    word = word_at(document, document.lines.offset(position))
    if word is None:
        return []
    found = find(document, word)
    if found is not None:
        home, declaration = found
        return [Location(home.name, home.lines.range(declaration.span))]
    if word.space == "action" and isinstance(document, ModelDocument):
        from ..lang.syntax import ModuleSyntax

        modules = [m for m in document.reading.file.modules if isinstance(m, ModuleSyntax)]
        actions = (c.action for m in modules for c in m.commands if c.action and c.action.name == word.text)
        return [Location(document.name, document.lines.range(action.span)) for action in actions]
    return []


def references(
    document: Document, position: Position, others: Sequence[Document] = (), *, declaration: bool = True
) -> list[Location]:
    """All places of that which stands at a place: in the document, its model, and ``others`` that share the model."""
    word = word_at(document, document.lines.offset(position))
    if word is None:
        return []
    found = find(document, word)
    declared = None if declaration or found is None else (found[0].name, found[1].span)
    return [
        Location(home.name, home.lines.range(span))
        for home, span in places(document, word, others)
        if (home.name, span) != declared
    ]


def places(document: Document, word: Word, others: Sequence[Document] = ()) -> Iterator[tuple[Document, Span]]:
    """All places of a word, in the documents that may mean the same by it."""
    if word.space in ("token", "function"):
        return
    found = find(document, word)
    home, space = (document, word.space) if found is None else (found[0], found[1].space)
    texts = family(document, others) if isinstance(home, ModelDocument) else [home]
    for text in texts:
        for span in mentions(text, space, word.text):
            yield text, span


def family(document: Document, others: Sequence[Document] = ()) -> list[Document]:
    """The model, and all documents about it, each once."""
    found: dict[str, Document] = {}
    for each in [*reversed(list(with_model(document))), document, *others]:
        if isinstance(each, (ModelDocument, PropertyDocument)):
            found.setdefault(each.name, each)
    return list(found.values())
