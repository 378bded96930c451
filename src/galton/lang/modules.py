"""Modules written as renamed copies of others, written out.

Every variable of the base must get a new name; actions, constants, formulas and functions may.
"""

from __future__ import annotations

from collections.abc import Mapping

from .expressions import Expression
from .formulas import Expander
from .source import LanguageError, Source
from .stream import suggestion
from .syntax import (
    AssignmentSyntax,
    CommandSyntax,
    Identifier,
    ModelFile,
    ModuleSyntax,
    RenamedModule,
    UpdateSyntax,
    VariableDeclaration,
)


def written_out(file: ModelFile, expander: Expander) -> list[ModuleSyntax]:
    """All modules in order, copies renamed and formulas expanded."""
    modules = _Modules(file, expander)
    return [modules.resolve(module) for module in file.modules]


class _Modules:
    def __init__(self, file: ModelFile, expander: Expander):
        self._source = file.source
        self._expander = expander
        self._by_name: dict[str, ModuleSyntax | RenamedModule] = {}
        for module in file.modules:
            name = module.name
            if name.name in self._by_name:
                line, _ = file.source.position(self._by_name[name.name].span.start)
                raise LanguageError(f"there is a module '{name.name}' already, at line {line}", file.source, name.span)
            self._by_name[name.name] = module
        self._open: list[str] = []

    def resolve(self, module: ModuleSyntax | RenamedModule) -> ModuleSyntax:
        if isinstance(module, ModuleSyntax):
            return module if self._expander.does_nothing else _copy(module, {}, self._expander)
        base = self._base(module)
        renaming = _renaming(module, self._source)
        for variable in base.variables:
            if variable.name.name not in renaming:
                hint = f"add {variable.name.name}=… to the renaming"
                message = f"the variable '{variable.name.name}' of '{module.base.name}' needs a new name"
                raise LanguageError(message, self._source, module.base.span, hint)
        expander = self._expander.renamed({old: new.name for old, new in renaming.items()})
        return _copy(base, renaming, expander)._replace(name=module.name, span=module.span)

    def _base(self, module: RenamedModule) -> ModuleSyntax:
        """The module to copy: as written, unless it is a renamed copy itself."""
        name = module.base.name
        if name not in self._by_name:
            raise LanguageError(
                f"unknown module '{name}'", self._source, module.base.span, suggestion(name, self._by_name, "modules")
            )
        if name in [*self._open, module.name.name]:
            raise LanguageError(f"the module '{name}' is a copy of itself", self._source, module.base.span)
        base = self._by_name[name]
        if isinstance(base, ModuleSyntax):
            return base
        self._open.append(module.name.name)
        written = self.resolve(base)
        self._open.pop()
        return written


def _renaming(module: RenamedModule, source: Source) -> dict[str, Identifier]:
    renaming: dict[str, Identifier] = {}
    for old, new in module.renaming:
        if old.name in renaming:
            raise LanguageError(f"'{old.name}' is renamed twice", source, old.span)
        renaming[old.name] = new
    return renaming


def _copy(module: ModuleSyntax, renaming: Mapping[str, Identifier], expander: Expander) -> ModuleSyntax:
    def rename(identifier: Identifier) -> Identifier:
        new = renaming.get(identifier.name)
        return Identifier(new.name, identifier.span) if new else identifier

    def expand(expression: Expression | None) -> Expression | None:
        return None if expression is None else expander.expand(expression)

    def declaration(variable: VariableDeclaration) -> VariableDeclaration:
        name = renaming.get(variable.name.name, variable.name)
        low, high, initial = expand(variable.low), expand(variable.high), expand(variable.initial)
        return variable._replace(name=name, low=low, high=high, initial=initial)

    def update(old: UpdateSyntax) -> UpdateSyntax:
        assignments = tuple(AssignmentSyntax(rename(a.target), expander.expand(a.value)) for a in old.assignments)
        return UpdateSyntax(expand(old.probability), assignments, old.span)

    def command(old: CommandSyntax) -> CommandSyntax:
        action = rename(old.action) if old.action else None
        return CommandSyntax(action, expander.expand(old.guard), tuple(map(update, old.updates)), old.span)

    variables = tuple(map(declaration, module.variables))
    return ModuleSyntax(module.name, variables, tuple(map(command, module.commands)), module.span)
