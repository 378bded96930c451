"""Properties in the context of a program: names, labels and constants settled, types checked.

A property file may declare constants, formulas and labels of its own; they join the program's. What comes out is a
program that knows them all and properties that use nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..lang.constants import Constants, resolve_constants
from ..lang.expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Type, Unary, Value
from ..lang.properties import Property, PropertyFile, children, substitute
from ..lang.property_types import PropertyScope
from ..lang.source import LanguageError, Source
from ..lang.types import Scope, type_of_value
from ..model.program import Program

BUILT_IN = ("init", "deadlock")


@dataclass(frozen=True, slots=True)
class Question:
    """A property ready to be checked; ``prop.parsed`` is an error where it makes no sense for this program."""

    prop: Property
    source: Source


def resolve(file: PropertyFile, program: Program, given: Mapping[str, Value | str]) -> tuple[Program, list[Question]]:
    """Settle a property file against a program; ``given`` are values for the constants it leaves open."""
    _refuse_clashes(file, program)
    outer = Constants({n: type_of_value(v) for n, v in program.constants.items()}, program.constants, {})
    declared: dict[str, Type] = {c.name.name: c.type for c in file.constants}
    constants = resolve_constants(file.constants, given, Scope(file.source, {**outer.types, **declared}), outer)
    formulas = dict(program.formulas)
    for formula in file.formulas:
        formulas[formula.name.name] = substitute(formula.body, formulas)
    labels = {label.name.name: substitute(label.body, formulas) for label in file.labels}
    richer = replace(
        program,
        constants={**program.constants, **constants.values},
        labels={**program.labels, **labels},
        formulas=formulas,
    )
    variables: dict[str, Type] = {v.name: v.type for v in program.variables}
    known: dict[str, Type] = dict.fromkeys([*BUILT_IN, *richer.labels], "bool")
    scope = PropertyScope(file.source, {**outer.types, **declared, **variables}, labels=known)
    return richer, [Question(_checked(p, formulas, scope, constants), file.source) for p in file.properties]


def _refuse_clashes(file: PropertyFile, program: Program) -> None:
    """A name means one thing: what the model declares, its property files may not declare again."""
    names = {*program.constants, *program.open_constants, *program.formulas, *(v.name for v in program.variables)}
    labels = {*BUILT_IN, *program.labels}
    for what, declared, taken in (
        ("constant", [c.name for c in file.constants], names),
        ("formula", [f.name for f in file.formulas], names),
        ("label", [d.name for d in file.labels], labels),
    ):
        for name in declared:
            if name.name in taken:
                raise LanguageError(
                    f"the {what} '{name.name}' has the name of something in the model", file.source, name.span
                )


def _checked(
    prop: Property, formulas: Mapping[str, Expression], scope: PropertyScope, constants: Constants
) -> Property:
    if prop.error:
        return prop
    try:
        expression = substitute(prop.expression, formulas)
        scope.type_of(expression)
        for part in parts(expression):
            if isinstance(part, Name) and part.name not in constants.values and part.name in constants.types:
                names = constants.blocked.get(part.name, (part.name,))
                hint = f"give it with --const {','.join(f'{name}=…' for name in names)}"
                message = f"this property needs a value for the constant '{names[0]}'"
                raise LanguageError(message, scope.source, part.span, hint)
    except LanguageError as error:
        return replace(prop, parsed=error)
    return replace(prop, parsed=expression)


def is_state_formula(expression: Expression) -> bool:
    """Whether an expression asks about single states only: no operators, no paths."""
    plain = (Binary, Call, Conditional, Label, Literal, Name, Unary)
    return all(isinstance(part, plain) for part in parts(expression))


def parts(expression: Expression) -> Iterator[Expression]:
    """An expression and everything in it."""
    yield expression
    for child in children(expression):
        yield from parts(child)
