"""All that is wrong with a model, in the words of the checker.

The checker stops at the first mistake. Here it goes on behind the declaration, command or reward that has it, and a
constant without a value is no mistake: what needs it is told apart.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from .checker import Checker
from .constants import Constants
from .depth import DeepRecursion
from .evaluation import LARGEST_INT, SMALLEST_INT
from .expressions import Expression, Value
from .formulas import FormulaCycle
from .modules import written_out
from .program import Command, Leaf, Module, Parallel, Program, RewardStructure, System, Variable
from .recovery import read_parts
from .source import GaltonError, LanguageError, Span
from .syntax import (
    Definition,
    Identifier,
    ModelFile,
    ModuleSyntax,
    RenamedModule,
    RewardsSyntax,
    VariableDeclaration,
)
from .types import Scope
from .uncollected import uncollected

__all__ = ["MOST", "Complaints", "complaints_about"]

_NAME = re.compile("[A-Za-z_][A-Za-z_0-9]*")
MOST = 100  # mistakes that are looked for
FEW = 20  # those of a long text whose exact place is looked for


@dataclass(frozen=True)
class Complaints:
    """What is wrong with a model, and the program as far as it is right.

    ``program`` is None where not even the names of the model are clear. ``unbounded`` are variables of it whose range
    needs a constant without a value, or is wrong.
    """

    program: Program | None
    errors: tuple[GaltonError, ...] = ()
    unbounded: frozenset[str] = frozenset()


class _TooMany(Exception):
    """More mistakes than anybody reads."""


def complaints_about(
    file: ModelFile, constants: Mapping[str, Value | str] | None = None, doubtful: Collection[str] = ()
) -> Complaints:
    """Check a model, and go on after mistakes.

    Parameters
    ----------
    constants
        Values for constants that the model declares without one.
    doubtful
        Names that may be declared in a part that could not be read, so that it is no mistake to use them.
    """
    checker = _Thorough(set(doubtful))
    with uncollected():
        program = checker.checked(file, dict(constants or {}))
    if file.shares_expressions and checker.wrong:
        checker.look_closely(file, dict(constants or {}))
    return Complaints(program, tuple(checker.errors), frozenset(checker.unbounded))


class _Thorough(Checker):
    """Notes mistakes, and checks the rest."""

    def __init__(self, doubtful: set[str]):
        self._doubtful = doubtful
        self.errors: list[GaltonError] = []
        self.wrong: list[tuple[Span, LanguageError]] = []  # the commands and rewards that errors are in
        self.unbounded: set[str] = set()

    def checked(self, file: ModelFile, constants: dict[str, Value | str]) -> Program | None:
        """The program, as far as it makes sense; None where it makes none."""
        try:
            with DeepRecursion(file.source):
                super().__init__(file, constants)
                program = self.program()
                waiting = {n: t for n, t in self._constants.types.items() if n not in self._constants.values}
                return replace(program, open_constants=waiting)
        except _TooMany:
            pass
        except FormulaCycle as cycle:
            formulas = tuple(f for f in file.formulas if f.name.span != cycle.span)
            self._doubtful |= {f.name.name for f in file.formulas if f.name.span == cycle.span}
            rest = self.checked(file._replace(formulas=formulas), constants)
            self.errors.append(cycle)
            return rest
        except LanguageError as error:
            self.errors.append(error)
        return None

    def look_closely(self, file: ModelFile, constants: dict[str, Value | str]) -> None:
        """Give errors their exact places, where equal expressions are one object, which has the place of the first."""
        near = sorted({unit for unit, _ in self.wrong}, key=lambda span: span.start)[:FEW]
        closely = _Thorough(self._doubtful)
        closely.checked(read_parts(file.source, _around(file, near)), constants)
        exact = {(unit, error.message): error.span for unit, error in closely.wrong}
        for unit, error in self.wrong:
            error.span = exact.get((unit, error.message), error.span)

    def _note(self, error: LanguageError, unit: Span | None = None) -> None:
        unknown = error.message.startswith("unknown ")
        if unknown and self._source.text[error.span.start : error.span.end] in self._doubtful:
            return
        if unit is not None:
            self.wrong.append((unit, error))
        self.errors.append(error)
        if len(self.errors) >= MOST:
            raise _TooMany

    def _written_out(self) -> list[ModuleSyntax]:
        file = self._file
        while True:
            try:
                return written_out(file, self._expander)
            except FormulaCycle:
                raise
            except LanguageError as error:
                self._note(error)
                wrong = next(m for m in reversed(file.modules) if m.span.start <= error.span.start < m.span.end)
                self._doubtful |= _declared_by(wrong)
                file = file._replace(modules=tuple(m for m in file.modules if m is not wrong))

    def _declare(self, name: Identifier, what: str) -> None:
        try:
            super()._declare(name, what)
        except LanguageError as error:
            self._note(error)

    def _evaluate_constants(self, given: Mapping[str, Value | str]) -> Constants:
        given, file = dict(given), self._file
        while True:
            try:
                return super()._evaluate_constants(given)
            except LanguageError as error:
                self._note(error)
                name = self._spoiled(error)
                if name is not None and name in given:
                    del given[name]
                elif name is not None:
                    self._file = _without_value(self._file, name)
                else:
                    given = {}
                    self._file = file._replace(constants=tuple(c._replace(value=None) for c in file.constants))
            except GaltonError as error:  # a value for a constant that is not there
                self.errors.append(error)
                own = {constant.name.name for constant in self._file.constants}
                given = {name: value for name, value in given.items() if name in own}

    def _spoiled(self, error: LanguageError) -> str | None:
        """The constant that an error is about."""
        if error.source is not self._source:  # a text that was given
            return error.source.name.removeprefix("constant ")
        for constant in self._file.constants:
            if constant.span.start <= error.span.start < max(constant.span.end, constant.name.span.end):
                return constant.name.name
        return None

    def _variable(self, declaration: VariableDeclaration, module: str | None, scope: Scope) -> Variable:
        try:
            return super()._variable(declaration, module, scope)
        except LanguageError as error:
            self._note(error)
        name, kind = declaration.name, "bool" if declaration.type == "bool" else "int"
        self.unbounded.add(name.name)
        low, high = (0, 1) if kind == "bool" else (SMALLEST_INT, LARGEST_INT)
        return Variable(name.name, kind, low, high, low, module, name.span)  # type: ignore[arg-type]

    def _module(self, module: ModuleSyntax) -> Module:
        commands: list[Command] = []
        for command in module.commands:
            try:
                commands.append(self._command(command, module))
            except LanguageError as error:
                self._note(self._in_copy(error, module), command.span)
        return Module(module.name.name, tuple(v.name.name for v in module.variables), tuple(commands), module.span)

    def _composed(self, modules: tuple[Module, ...]) -> tuple[System, tuple[str, ...]]:
        try:
            return super()._composed(modules)
        except LanguageError as error:
            self._note(error)
        commands = (command for module in modules for command in module.commands)
        actions = tuple(dict.fromkeys(command.action for command in commands if command.action))
        return Parallel(tuple(Leaf(module.name) for module in modules), None), actions

    def _add_label(self, label: Definition, labels: dict[str, Expression]) -> None:
        try:
            super()._add_label(label, labels)
        except LanguageError as error:
            self._note(error, label.span)
            labels.setdefault(label.name.name, label.body)

    def _add_reward_name(self, name: Identifier, names: set[str]) -> None:
        try:
            super()._add_reward_name(name, names)
        except LanguageError as error:
            self._note(error)

    def _reward_structure(self, rewards: RewardsSyntax, actions: tuple[str, ...]) -> RewardStructure:
        items = []
        for item in rewards.items:
            try:
                items.append(self._reward_item(item, actions))
            except LanguageError as error:
                self._note(error, item.span)
        return RewardStructure(rewards.name.name if rewards.name else "", tuple(items), rewards.span, rewards.mean)

    def _initial(self) -> Expression | None:
        try:
            return super()._initial()
        except LanguageError as error:
            self._note(error)
        return None


def _around(file: ModelFile, units: list[Span]) -> Iterable[Span]:
    """The parts of a text without its commands, rewards, labels and formulas, but for some and what they need."""
    text, copies = file.source.text, [m.span for m in file.modules if isinstance(m, RenamedModule)]
    kept = {span.start for span in units}
    bodies = {formula.name.name: formula.span for formula in file.formulas}
    pending = [*units, *copies]
    while pending:
        span = pending.pop()
        needed = [bodies.pop(name) for name in _NAME.findall(text, span.start, span.end) if name in bodies]
        kept |= {body.start for body in needed}
        pending += needed
    spans = [c.span for m in file.modules if isinstance(m, ModuleSyntax) for c in m.commands]
    spans += [item.span for structure in file.rewards for item in structure.items]
    spans += [definition.span for definition in (*file.labels, *file.formulas)]
    at = 0
    for span in sorted(spans, key=lambda span: span.start):
        if span.start not in kept:
            yield Span(at, span.start)
            at = span.end
    yield Span(at, len(file.source.text))


def _declared_by(module: ModuleSyntax | RenamedModule) -> set[str]:
    """The names that a module would declare."""
    if isinstance(module, RenamedModule):
        return {new.name for _, new in module.renaming}
    return {variable.name.name for variable in module.variables}


def _without_value(file: ModelFile, name: str) -> ModelFile:
    return file._replace(constants=tuple(c._replace(value=None) if c.name.name == name else c for c in file.constants))
