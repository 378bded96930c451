"""A new name for something, in all texts that speak of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..lang.lexer import KEYWORDS
from ..lang.operations import FUNCTIONS
from ..lang.resolution import BUILT_IN
from ..lang.source import GaltonError, Span
from ..lang.syntax import RenamedModule
from .diagnostics import diagnostics
from .documents import Document, ModelDocument, PropertyDocument
from .names import QUOTED, SOFT_KEYWORDS, Space, Word, find, mentions, word_at
from .navigation import family, places
from .positions import Edit, Position, Range, applied

__all__ = ["RenameRefused", "renamable", "rename"]

_NAME = re.compile("[A-Za-z_][A-Za-z_0-9]*")


class RenameRefused(GaltonError):
    """Why something cannot have a new name, or not this one."""


def renamable(document: Document, position: Position) -> Range | None:
    """The range of the name at a place, if that can be given another; None otherwise."""
    word = word_at(document, document.lines.offset(position))
    if word is None or _why_not(document, word):
        return None
    return document.lines.range(word.span)


def rename(document: Document, position: Position, name: str, others: Sequence[Document] = ()) -> dict[str, list[Edit]]:
    """The edits that give that which stands at a place another name, by the names of documents.

    ``others`` are further documents about the same model. :class:`RenameRefused` says in a sentence why it cannot be.

    >>> from galton.editing import ModelDocument, Position
    >>> model = ModelDocument("dtmc module m x : bool; [] x -> (x'=!x); endmodule", "m.prism")
    >>> [edit.range.start.column for edit in rename(model, Position(0, 14), "up")["m.prism"]]
    [14, 27, 33, 37]
    """
    word = word_at(document, document.lines.offset(position))
    if word is None:
        raise RenameRefused("there is no name here")
    if reason := _why_not(document, word):
        raise RenameRefused(reason)
    found = find(document, word)
    space = found[1].space if found else word.space
    texts = family(document, others)
    _check_name(name, space)
    _check_readable(texts)
    if name == word.text:
        return {}
    _check_free(texts, space, word.text, name)
    edits: dict[str, list[Edit]] = {}
    for home, span in places(document, word, others):
        edits.setdefault(home.name, []).append(Edit(home.lines.range(span), name))
    _check_edited(texts, edits, {word.text: name} if space == "value" else {}, name)
    return edits


def _why_not(document: Document, word: Word) -> str | None:
    if word.space in ("token", "function"):
        return f"'{word.text}' is a word of the language" if _NAME.fullmatch(word.text) else "there is no name here"
    if word.space == "label" and word.text in BUILT_IN:
        return f'the label "{word.text}" is built in'
    if word.space != "action" and find(document, word) is None:
        return f"nothing declares '{word.text}'"
    return None


def _check_name(name: str, space: Space) -> None:
    if not _NAME.fullmatch(name):
        raise RenameRefused(f"'{name}' is no name: a name has letters, digits and '_', and begins with no digit")
    if space in QUOTED:
        if space == "label" and name in BUILT_IN:
            raise RenameRefused(f'the label "{name}" is built in')
        return
    if name in KEYWORDS or name in FUNCTIONS or name in SOFT_KEYWORDS:
        raise RenameRefused(f"'{name}' is a word of the language and cannot be a name")


def _check_readable(texts: list[Document]) -> None:
    for text in texts:
        assert isinstance(text, (ModelDocument, PropertyDocument))
        broken: list[Span] = [error.span for error in text.reading.errors]
        if isinstance(text, PropertyDocument):
            broken += [prop.error.span for prop in text.reading.file.properties if prop.error]
        if broken:
            line = text.lines.position(broken[0].start).line + 1
            raise RenameRefused(f"{text.name} cannot be read at line {line}: mend that first")


def _check_free(texts: list[Document], space: Space, old: str, new: str) -> None:
    spaces: set[Space] = {space}
    if space in ("label", "property"):
        spaces = {"label", "property"}
    if space in ("value", "action") and any(_renames(text) for text in texts):
        spaces = {"value", "action"}  # a renaming is about both
        if all(any(mentions(text, each, old) for text in texts) for each in spaces):
            raise RenameRefused(f"'{old}' is the name of an action and of something else, and modules rename both")
    for text in texts:
        for each in sorted(spaces):
            if taken := mentions(text, each, new):
                line = text.lines.position(taken[0].start).line + 1
                raise RenameRefused(f"there is a '{new}' already, in {text.name} at line {line}")


def _renames(text: Document) -> bool:
    return isinstance(text, ModelDocument) and any(isinstance(m, RenamedModule) for m in text.reading.file.modules)


def _check_edited(texts: list[Document], edits: dict[str, list[Edit]], renamed: dict[str, str], name: str) -> None:
    """Whether all texts are as right as before, with the values of constants under their new names."""
    model: ModelDocument | None = None
    for text in texts:
        constants = {renamed.get(known, known): value for known, value in text.constants.items()}
        changed = applied(text.text, edits.get(text.name, []))
        after: Document
        if isinstance(text, ModelDocument):
            after = model = ModelDocument(changed, text.name, constants)
        else:
            after = PropertyDocument(changed, text.name, model, constants)
        if _errors(after) > _errors(text):
            raise RenameRefused(f"with the name '{name}', {text.name} would have a mistake that it has not now")


def _errors(document: Document) -> int:
    return sum(found.severity == "error" for found in diagnostics(document))
