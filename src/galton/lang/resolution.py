"""Properties in the context of a program: names, labels, constants and references settled, types checked.

A property file may declare constants, formulas and labels of its own; they join the program's. One property may stand
in another by its name. What comes out is a program that knows them all and properties that use nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from .constants import Constants, resolve_constants
from .depth import DeepRecursion
from .expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Type, Unary, Value
from .program import Program
from .properties import (
    AutomatonPath,
    BinaryPath,
    Given,
    Property,
    PropertyFile,
    Quantile,
    UnaryPath,
    children,
    map_children,
    substitute,
)
from .property_types import PropertyScope
from .source import LanguageError, OpenConstantError, Source, Span
from .types import Scope, type_of_value

BUILT_IN = ("init", "deadlock")


@dataclass(frozen=True, slots=True)
class Question:
    """A property ready to be checked; ``prop.parsed`` is an error where it makes no sense for this program."""

    prop: Property
    source: Source


def resolve(
    file: PropertyFile,
    program: Program,
    given: Mapping[str, Value | str],
    labels: Collection[str] = (),
    earlier: Collection[Property] = (),
) -> tuple[Program, list[Question]]:
    """Settle a property file against a program.

    Parameters
    ----------
    given
        Values for the constants it leaves open.
    labels
        Labels that the model has though no program declares them.
    earlier
        Properties of other files, resolved, that may be referred to.
    """
    resolution = Resolution(file, program, labels, earlier)
    constants = resolution.constants(given)
    return resolution.context(constants), resolution.questions(constants)


class Resolution:
    """A property file settled against a program, for any values of the constants of both.

    What a property asks does not depend on values, but on which constants have one: it is settled once for all values.
    """

    def __init__(
        self, file: PropertyFile, program: Program, labels: Collection[str] = (), earlier: Collection[Property] = ()
    ):
        _refuse_clashes(file, program)
        self._file, self._earlier = file, earlier
        self._types: dict[str, Type] = {
            **program.open_constants,
            **{n: type_of_value(v) for n, v in program.constants.items()},
        }
        self._declared = declared = {c.name.name: c.type for c in file.constants}
        self._constant_scope = Scope(file.source, {**self._types, **declared})
        self._formulas = dict(program.formulas)
        for formula in file.formulas:
            self._formulas[formula.name.name] = substitute(formula.body, self._formulas)
        own = {label.name.name: substitute(label.body, self._formulas) for label in file.labels}
        self._context = replace(program, labels={**program.labels, **own}, formulas=self._formulas)
        variables: dict[str, Type] = {v.name: v.type for v in program.variables}
        known: dict[str, Type] = dict.fromkeys([*BUILT_IN, *labels, *self._context.labels], "bool")
        self._scope = PropertyScope(file.source, {**self._types, **declared, **variables}, labels=known)
        self._settled: dict[tuple[str, ...], list[Question]] = {}

    def own(self, given: Mapping[str, Value | str]) -> dict[str, Value | str]:
        """Those of given values that are for constants of the file."""
        return {name: given[name] for name in self._declared if name in given}

    def constants(self, given: Mapping[str, Value | str], outer: Mapping[str, Value] | None = None) -> Constants:
        """The constants of the program and of the file; ``outer`` are other values for those of the program."""
        values = self._context.constants if outer is None else outer
        return resolve_constants(self._file.constants, given, self._constant_scope, Constants(self._types, values, {}))

    def context(self, constants: Constants) -> Program:
        """The program with all that the file declares."""
        return replace(self._context, constants=constants.values)

    def questions(self, constants: Constants) -> list[Question]:
        """The properties of the file."""
        valued = tuple(constants.values)
        if valued not in self._settled:
            resolver = _Resolver(self._file, self._formulas, self._scope, constants, self._earlier)
            with DeepRecursion(self._file.source):
                found = [Question(resolver.checked(p), self._file.source) for p in self._file.properties]
            self._settled[valued] = found
        return self._settled[valued]


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
                    f"the {what} '{name.name}' has the name of something in the model",
                    file.source,
                    name.span,
                    "leave this declaration out to use that of the model, or choose another name",
                )


class _Resolver:
    """The properties of one file, one by one; each keeps its error to itself."""

    def __init__(
        self,
        file: PropertyFile,
        formulas: Mapping[str, Expression],
        scope: PropertyScope,
        constants: Constants,
        earlier: Collection[Property],
    ):
        self._formulas, self._scope, self._constants = formulas, scope, constants
        self._properties = {p.name: p for p in [*earlier, *file.properties] if p.name is not None}
        self._open: list[str] = []

    def checked(self, prop: Property) -> Property:
        """The property with everything in place, or with what is wrong with it."""
        if prop.error:
            return prop
        try:
            expression = self._expanded(prop)
            self._scope.type_of(expression)
            self._refuse_open(expression)
        except LanguageError as error:
            return replace(prop, parsed=error)
        return replace(prop, parsed=expression)

    def _expanded(self, prop: Property) -> Expression:
        if prop.name is not None:
            self._open.append(prop.name)
        try:
            return self._referred(substitute(prop.expression, self._formulas))
        finally:
            if prop.name is not None:
                self._open.pop()

    def _referred(self, expression: Expression) -> Expression:
        """References to other properties replaced by what those ask."""
        if not isinstance(expression, Label) or expression.name in self._scope.labels:
            return map_children(expression, self._referred)
        name, span = expression.name, expression.span
        if name not in self._properties:
            # The scope complains about an unknown label; properties are among what may have been meant.
            hints: dict[str, Type] = {**dict.fromkeys(self._properties, "bool"), **self._scope.labels}
            replace(self._scope, labels=hints, _known={}).type_of(expression)
        if name in self._open:
            cycle = " → ".join([*self._open[self._open.index(name) :], name])
            raise LanguageError(f'the property "{name}" refers to itself: {cycle}', self._scope.source, span)
        meant = self._properties[name]
        if meant.error:
            message = f'the property "{name}" cannot be used: {meant.error.message}'
            raise LanguageError(message, self._scope.source, span)
        return _at(self._expanded(meant), span)

    def _refuse_open(self, expression: Expression) -> None:
        """A constant without a value may be declared, but not used."""
        constants = self._constants
        bound = {part.name for part in parts(expression) if isinstance(part, Quantile)}
        for part in parts(expression):
            if isinstance(part, Name) and part.name in bound:
                continue
            if isinstance(part, Name) and part.name not in constants.values and part.name in constants.types:
                names = constants.blocked.get(part.name, (part.name,))
                hint = f"give it with --const {','.join(f'{name}=…' for name in names)}"
                message = f"this property needs a value for the constant '{names[0]}'"
                raise OpenConstantError(message, self._scope.source, part.span, hint)


def _at(expression: Expression, span: Span) -> Expression:
    """All of an expression at one place: what a reference stands for may come from another text."""
    return replace(map_children(expression, lambda part: _at(part, span)), span=span)


def is_state_formula(expression: Expression) -> bool:
    """Whether an expression asks about single states only: no operators, no paths."""
    plain = (Binary, Call, Conditional, Label, Literal, Name, Unary)
    return all(isinstance(part, plain) for part in parts(expression))


def has_path(expression: Expression) -> bool:
    """Whether a temporal operator stands in an expression, outside of all ``P [ … ]`` and their like."""
    if isinstance(expression, (UnaryPath, BinaryPath, AutomatonPath, Given)):
        return True
    inner = children(expression) if isinstance(expression, (Binary, Call, Conditional, Unary)) else ()
    return any(map(has_path, inner))


def constants_of(expression: Expression, program: Program) -> dict[str, Value]:
    """The constants that a property uses, itself or in its labels, with their values."""
    found: dict[str, Value] = {}
    for part in parts(expression):
        if isinstance(part, Name) and part.name in program.constants:
            found[part.name] = program.constants[part.name]
        elif isinstance(part, Label) and part.name in program.labels:
            found |= constants_of(program.labels[part.name], program)
    return found


def agrees(program: Program, constants: Mapping[str, Value]) -> bool:
    """Whether constants have these values in a program."""
    return all(program.constants[name] == value for name, value in constants.items())


def parts(expression: Expression) -> Iterator[Expression]:
    """An expression and everything in it."""
    yield expression
    for child in children(expression):
        yield from parts(child)
