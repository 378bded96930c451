"""All that is wrong with a property file, beside a program, in the words of :mod:`.resolution`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from .constants import Constants
from .depth import DeepRecursion
from .expressions import Value
from .program import Program
from .properties import PropertyFile, substitute
from .property_types import PropertyScope
from .resolution import BUILT_IN, Question, Resolution
from .source import LanguageError
from .syntax import ConstantDeclaration, Definition

__all__ = ["PropertyComplaints", "complaints_about_properties"]


@dataclass(frozen=True)
class PropertyComplaints:
    """What is wrong with a property file, and what it asks: the program with all that the file declares, and questions.

    The errors of single properties are theirs: ``question.prop.error``. Properties are left out of which it is not
    clear whether they are wrong.
    """

    context: Program
    constants: Constants
    questions: tuple[Question, ...]
    errors: tuple[LanguageError, ...] = ()


def complaints_about_properties(
    file: PropertyFile, program: Program, given: Mapping[str, Value | str], doubtful: Collection[str] = ()
) -> PropertyComplaints:
    """Settle a property file against a program, and go on after mistakes.

    ``given`` are values for constants of the file and the program; ``doubtful`` names that may be declared in a part of
    the model that could not be read, so that it is no mistake to use them.
    """
    errors: list[LanguageError] = []
    given = dict(given)
    with DeepRecursion(file.source):
        while True:
            try:
                resolution = Resolution(file, program)
                constants = resolution.constants(resolution.own(given))
                break
            except LanguageError as error:
                errors.append(error)
                if error.source is not file.source:  # a value that was given
                    given.pop(error.source.name.removeprefix("constant "))
                    continue
                file = _without(file, error, given)
        questions = tuple(resolution.questions(constants))
        errors += _wrong_definitions(file, resolution.context(constants), constants)
    return PropertyComplaints(
        resolution.context(constants),
        constants,
        tuple(q for q in questions if q.prop.error is None or not _is_doubtful(q.prop.error, doubtful)),
        tuple(error for error in errors if not _is_doubtful(error, doubtful)),
    )


def _without(file: PropertyFile, error: LanguageError, given: dict[str, Value | str]) -> PropertyFile:
    """The file without the declaration that an error is in; a constant only loses its value, if that is wrong."""

    def at(declaration: ConstantDeclaration | Definition) -> bool:
        return declaration.span.start <= error.span.start < declaration.span.end

    wrong = next((constant for constant in file.constants if at(constant)), None)
    if wrong is not None and wrong.value is not None and wrong.name.span != error.span:
        kept = tuple(c._replace(value=None) if c is wrong else c for c in file.constants)
        return replace(file, constants=kept)
    if wrong is not None and wrong.name.name in given:
        del given[wrong.name.name]
        return file
    return replace(
        file,
        constants=tuple(c for c in file.constants if not at(c)),
        formulas=tuple(f for f in file.formulas if not at(f)),
        labels=tuple(label for label in file.labels if not at(label)),
    )


def _wrong_definitions(file: PropertyFile, context: Program, constants: Constants) -> list[LanguageError]:
    """Mistakes in labels and formulas, whether properties use them or not."""
    types = {**constants.types, **{variable.name: variable.type for variable in context.variables}}
    labels = dict.fromkeys([*BUILT_IN, *context.labels], "bool")
    scope = PropertyScope(file.source, types, labels=labels)  # type: ignore[arg-type]
    found = []
    for what, definitions in (("formula", file.formulas), ("label", file.labels)):
        for definition in definitions:
            body = substitute(definition.body, context.formulas)
            try:
                if what == "label":
                    scope.require(body, "bool", f'the label "{definition.name.name}"')
                else:
                    scope.type_of(body)
            except LanguageError as error:
                found.append(error)
    return found


def _is_doubtful(error: LanguageError, doubtful: Collection[str]) -> bool:
    named = error.source.text[error.span.start : error.span.end].strip('"')
    return error.message.startswith("unknown ") and named in doubtful
