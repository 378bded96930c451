"""A program some of whose constants are parameters with ranges.

A constant without a value can be a parameter, and so can one with a value: then everything defined by it follows it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..lang import GaltonError, LanguageError, Source, check_program
from ..lang.constants import convert
from ..lang.expressions import Expression, Name, Value, children
from ..lang.formulas import Expander
from ..lang.modules import written_out
from ..lang.program import Program
from ..lang.stream import suggestion
from ..lang.syntax import ConstantDeclaration, ModelFile, VariableDeclaration
from .polynomials import Decomposition

# Where in their ranges parameters are while states are looked for: elsewhere in each, so that nothing cancels there.
INSIDE, APART = math.sqrt(2) - 1, 1 / math.pi

Range = tuple[float, float]

__all__ = ["OpenProgram", "Parameter", "Range", "open_parameters", "parse_range"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant that may be any number from ``low`` to ``high``."""

    name: str
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class OpenProgram:
    """A program at one point inside the ranges of its parameters, and how its expressions depend on them."""

    program: Program
    parameters: tuple[Parameter, ...]
    decomposition: Decomposition


def parse_range(text: str) -> tuple[str, Range]:
    """``name=low:high`` of the command line.

    >>> parse_range("ki=1/2:3")
    ('ki', (0.5, 3.0))
    """
    name, equals, values = (part.strip() for part in text.partition("="))
    low, colon, high = (part.strip() for part in values.partition(":"))
    if not (equals and colon and name.isidentifier() and low and high):
        raise GaltonError(f"'{text}' is no parameter with a range; write it as name=low:high, such as k=0.1:5")
    if "=" in high:
        each = " ".join(f"--param {part.strip()}" for part in text.split(","))
        raise GaltonError(f"'{text}' is more than one parameter; give each an option of its own: {each}")
    return name, (float(convert(low, "double", name)), float(convert(high, "double", name)))


def open_parameters(file: ModelFile, given: Mapping[str, Value | str], ranges: Mapping[str, Range]) -> OpenProgram:
    """Open the parameters of a model file.

    Parameters
    ----------
    file
        The model as it was parsed.
    given
        Values for its other constants.
    ranges
        For each parameter its least and greatest value.
    """
    parameters = _checked(file, given, ranges)
    opened = file._replace(
        constants=tuple(c._replace(value=None) if c.name.name in ranges else c for c in file.constants)
    )
    expander = Expander(file.formulas, file.source)
    bodies = {c.name.name: expander.expand(c.value) for c in opened.constants if c.value is not None}
    definitions = {name: body for name, body in bodies.items() if _reaches(body, bodies, ranges)}
    inside: dict[str, Value | str] = {
        p.name: p.low + (0.1 + 0.8 * math.fmod(INSIDE + number * APART, 1.0)) * (p.high - p.low)
        for number, p in enumerate(parameters)
    }
    rigid = Decomposition(file.source, tuple(ranges), definitions, {})
    _refuse_rigid(opened, expander, rigid)
    program = check_program(opened, {**given, **inside})
    if program.open_constants:
        names = ", ".join(program.open_constants)
        raise GaltonError(f"constants without a value: {names}; give them with --const, or a range with --param")
    decomposition = Decomposition(file.source, tuple(ranges), definitions, program.constants)
    _refuse_in_program(program, decomposition)
    _refuse_unused(program, decomposition, file.source)
    return OpenProgram(program, parameters, decomposition)


def _checked(file: ModelFile, given: Mapping[str, Value | str], ranges: Mapping[str, Range]) -> tuple[Parameter, ...]:
    declared = {c.name.name: c for c in file.constants}
    if not ranges:
        raise GaltonError("nothing to synthesise; give a parameter with --param name=low:high")
    parameters = []
    for name, (low, high) in ranges.items():
        if name not in declared:
            hint = suggestion(name, declared, "constants") or f"declare it: const double {name};"
            raise GaltonError(f"{file.source.name} has no constant '{name}' that could be a parameter; {hint}")
        _refuse_kind(declared[name], file.source)
        if name in given:
            raise GaltonError(f"'{name}' is a parameter with a range, so it cannot be given one value as well")
        if not (math.isfinite(low) and math.isfinite(high)):
            raise GaltonError(f"the range {low:g}:{high:g} of '{name}' is not finite; give two numbers")
        if low > high:
            raise GaltonError(f"the range {low:g}:{high:g} of '{name}' is reversed; write {name}={high:g}:{low:g}")
        if low == high:
            raise GaltonError(f"the range of '{name}' is the single value {low:g}; give it with --const {name}={low:g}")
        parameters.append(Parameter(name, float(low), float(high)))
    return tuple(parameters)


def _refuse_kind(declaration: ConstantDeclaration, source: Source) -> None:
    if declaration.type != "double":
        name = declaration.name
        raise LanguageError(
            f"the constant '{name.name}' is of type {declaration.type}; only a double can be a parameter",
            source,
            name.span,
            f"run through the values of '{name.name}' by an experiment, with --const {name.name}=low:high",
        )


def _reaches(expression: Expression, bodies: Mapping[str, Expression], ranges: Mapping[str, Range]) -> bool:
    """Whether a constant's definition leads to a parameter; cycles are found by others."""
    seen: set[str] = set()
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, Name):
            if node.name in ranges:
                return True
            if node.name in bodies and node.name not in seen:
                seen.add(node.name)
                pending.append(bodies[node.name])
        pending.extend(children(node))
    return False


def _refuse_rigid(file: ModelFile, expander: Expander, decomposition: Decomposition) -> None:
    """Ranges and initial values of variables are needed before anything is known."""

    def refuse(variable: VariableDeclaration) -> None:
        name = variable.name.name
        for bound, what in ((variable.low, "range"), (variable.high, "range"), (variable.initial, "initial value")):
            if bound is not None:
                decomposition.refuse(expander.expand(bound), f"the {what} of '{name}'")

    for variable in file.globals:
        refuse(variable)
    for module in written_out(file, expander):
        for variable in module.variables:
            refuse(variable)


def _refuse_in_program(program: Program, decomposition: Decomposition) -> None:
    for module in program.modules:
        for command in module.commands:
            decomposition.refuse(command.guard, "a guard")
            for update in command.updates:
                for assignment in update.assignments:
                    decomposition.refuse(assignment.value, f"the new value of '{assignment.variable}'")
    for name, body in program.labels.items():
        decomposition.refuse(body, f'the label "{name}"')
    if program.initial is not None:
        decomposition.refuse(program.initial, "init … endinit")
    for structure in program.rewards:
        for item in structure.items:
            decomposition.refuse(item.guard, "the condition of a reward")


def _refuse_unused(program: Program, decomposition: Decomposition, source: Source) -> None:
    """A parameter that nothing depends on is a mistake: a misspelt name, or a rate that was written as a number."""
    used: set[str] = set()

    def note(expression: Expression) -> None:
        if isinstance(expression, Name):
            used.add(expression.name)
            if expression.name in decomposition.definitions:
                note(decomposition.definitions[expression.name])
        for child in children(expression):
            note(child)

    for module in program.modules:
        for command in module.commands:
            for update in command.updates:
                if update.probability is not None:
                    note(update.probability)
    for structure in program.rewards:
        for item in structure.items:
            note(item.value)
    for name in decomposition.parameters:
        if name not in used:
            raise GaltonError(
                f"no rate, probability or reward of {source.name} depends on the parameter '{name}'; leave it out"
            )
