"""Texts that are being edited: models, and property files that belong to them.

A document never changes: after an edit there is a new one, which is given the one ``before``, so that it can help with
names while the text does not make sense. What is found out about a text is found out when it is asked for, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, wraps
from typing import TypeVar

from ..lang.complaints import Complaints, complaints_about
from ..lang.expressions import Value
from ..lang.jani.detection import is_jani
from ..lang.lexer import tokenize
from ..lang.program import Program
from ..lang.properties import PropertyFile
from ..lang.property_complaints import PropertyComplaints, complaints_about_properties
from ..lang.recovery import Reading, read_model, read_properties
from ..lang.source import Source
from ..lang.syntax import ModelFile
from .positions import Lines

__all__ = ["Document", "ModelDocument", "PropertyDocument", "remembered"]


D = TypeVar("D", bound="Document")
R = TypeVar("R")


def remembered(function: Callable[[D], R]) -> Callable[[D], R]:
    """Let a function about documents find out the same only once."""

    @wraps(function)
    def known(document: D) -> R:
        if function not in document.known:
            document.known[function] = function(document)
        return document.known[function]  # type: ignore[return-value]

    return known


class Document:
    """A text with its name, and the values that constants are to have."""

    def __init__(self, text: str, name: str, constants: Mapping[str, Value | str] | None = None):
        self.text = text
        self.name = name
        self.constants = dict(constants or {})
        self.source = Source(name, text)
        self.known: dict[object, object] = {}  # what was found out about it (:func:`remembered`)

    @cached_property
    def lines(self) -> Lines:
        """Where its lines begin."""
        return Lines(self.text)


class ModelDocument(Document):
    """The text of a model in the PRISM language.

    Parameters
    ----------
    text
        The text, right or wrong.
    name
        What it is called in messages and edits: a path, or an address.
    constants
        Values of constants that the model declares without one, as ``--const`` gives them: names to texts or numbers.
        Values of others are for property files.
    before
        The document before the last edit, if any.
    """

    def __init__(
        self,
        text: str,
        name: str = "model.prism",
        constants: Mapping[str, Value | str] | None = None,
        before: ModelDocument | None = None,
    ):
        super().__init__(text, name, constants)
        self.last_program = before.good_program if before else None

    @cached_property
    def is_jani(self) -> bool:
        """Whether the text is JANI, of which only mistakes are told."""
        return is_jani(self.source)

    @cached_property
    def reading(self) -> Reading[ModelFile]:
        """What the text says, as far as it can be read."""
        return read_model(self.source)

    @cached_property
    def doubtful(self) -> frozenset[str]:
        """Names and labels in parts of the text that could not be read, where they may be declared."""
        spans = self.reading.left_out
        tokens = (token for span in spans for token in tokenize(self.source, span.start, span.end))
        return frozenset(token.text for token in tokens if token.kind in ("name", "string"))

    @cached_property
    def complaints(self) -> Complaints:
        """The program, as far as it makes sense, and what is wrong with it beyond its grammar."""
        own = {constant.name.name for constant in self.reading.file.constants}
        given = {name: value for name, value in self.constants.items() if name in own}
        return complaints_about(self.reading.file, given, self.doubtful)

    @property
    def known_program(self) -> Program | None:
        """The program of this text or, where it makes no sense, of one before."""
        if self.is_jani:
            return None
        return self.complaints.program or self.last_program

    @property
    def good_program(self) -> Program | None:
        """The last program that could be read as a whole, as far as that is known: nothing is read for this."""
        if "complaints" in self.__dict__ and not self.reading.errors:
            return self.complaints.program or self.last_program
        return self.last_program


class PropertyDocument(Document):
    """The text of a property file.

    Parameters
    ----------
    text, name, constants
        As for models; values may be for constants of the model too.
    model
        The model that the properties are about, if it is known: without it, only the grammar is checked.
    """

    def __init__(
        self,
        text: str,
        name: str = "model.props",
        model: ModelDocument | None = None,
        constants: Mapping[str, Value | str] | None = None,
    ):
        super().__init__(text, name, constants)
        self.model = model

    @cached_property
    def reading(self) -> Reading[PropertyFile]:
        """What the text says, as far as it can be read."""
        return read_properties(self.source)

    @cached_property
    def complaints(self) -> PropertyComplaints | None:
        """What the text asks about its model, and what is wrong with that; None where the model is not known."""
        program = self.model.known_program if self.model else None
        if self.model is None or program is None:
            return None
        return complaints_about_properties(self.reading.file, program, self.constants, self.model.doubtful)
