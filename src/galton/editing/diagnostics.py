"""What is wrong with a text, in the words of the command line, and where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from ..lang.program import Program
from ..lang.resolution import Question
from ..lang.source import GaltonError, LanguageError, OpenConstantError, Span
from .documents import Document, ModelDocument, PropertyDocument
from .positions import Lines, Range

__all__ = ["Diagnostic", "diagnostics"]

Severity = Literal["error", "warning", "information", "hint"]


class Diagnostic(NamedTuple):
    """Something to say about a part of a text.

    ``severity`` is ``"error"`` for what the command line refuses; ``"hint"`` for what is only open, such as a range
    that needs the value of a constant. ``hint`` is the command line's advice, if it has any.
    """

    range: Range
    severity: Severity
    message: str
    hint: str | None = None


def diagnostics(document: Document) -> list[Diagnostic]:
    """All that is to be said about a text, in its order.

    >>> from galton.editing import ModelDocument
    >>> text = "dtmc module m x : [0..1]; [] x=2 & y -> (x'=true); endmodule"
    >>> [(d.range.start.column, d.severity, d.message) for d in diagnostics(ModelDocument(text))]
    [(35, 'error', "unknown name 'y'")]
    """
    match document:
        case ModelDocument():
            found = _of_model(document)
        case PropertyDocument():
            found = _of_properties(document)
        case _:
            raise TypeError(f"no diagnostics for {type(document).__name__}")
    return sorted(dict.fromkeys(found), key=lambda one: (one.range, one.message))


def _of_model(document: ModelDocument) -> Iterable[Diagnostic]:
    if document.is_jani:
        return _plainly(document)
    reading = document.reading
    found = [_told(error, document) for error in (*reading.errors, *document.complaints.errors)]
    if reading.file.type is None and not found:
        message = "the model does not say what it is, and is read as an MDP; begin it with dtmc, ctmc or mdp"
        found.append(Diagnostic(document.lines.range(Span(0, 0)), "information", message))
    return found


def _plainly(document: ModelDocument) -> Iterable[Diagnostic]:
    """The first mistake of a text that no reader goes on in."""
    from ..lang import check_program, parse_model

    try:
        check_program(parse_model(document.source), document.constants)
    except GaltonError as error:
        return [_told(error, document)]
    return []


def _of_properties(document: PropertyDocument) -> Iterable[Diagnostic]:
    reading = document.reading
    errors: list[GaltonError] = [*reading.errors]
    if document.complaints is None:
        errors += [prop.error for prop in reading.file.properties if prop.error]
    else:
        errors += document.complaints.errors
        errors += filter(
            None, (_wrong(question, document.complaints.context) for question in document.complaints.questions)
        )
    return [_told(error, document) for error in errors]


def _wrong(question: Question, context: Program) -> GaltonError | None:
    """What is wrong with a property, or with asking it of such a model."""
    if question.prop.error:
        return question.prop.error
    from ..checking.inspection import kinds_of

    try:
        kinds_of(question, context)
    except GaltonError as error:
        return error
    return None


def _told(error: GaltonError, document: Document) -> Diagnostic:
    severity: Severity = "hint" if isinstance(error, OpenConstantError) else "error"
    if isinstance(error, LanguageError) and error.source.text == document.text:
        return Diagnostic(_visible(error.span, document.lines), severity, error.message, error.hint)
    message = error.message if isinstance(error, LanguageError) else Exception.__str__(error)
    return Diagnostic(document.lines.range(Span(0, 0)), severity, message, getattr(error, "hint", None))


def _visible(span: Span, lines: Lines) -> Range:
    """The range of an error, within its first line, which is where the command line points."""
    start = lines.position(span.start)
    end = max(
        start.column + 1, min(span.end - lines.starts[start.line], lines.end(start.line) - lines.starts[start.line])
    )
    return Range(start, start._replace(column=end))
