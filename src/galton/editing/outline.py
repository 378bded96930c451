"""What a text declares, as a tree for an outline."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..lang.rendering import render
from ..lang.source import Span
from ..lang.syntax import ConstantDeclaration, Definition, ModuleSyntax, RenamedModule, VariableDeclaration
from ..lang.wording import counted
from .documents import Document, ModelDocument, PropertyDocument
from .positions import Lines, Range

__all__ = ["Symbol", "outline"]

SymbolKind = Literal[
    "constant", "formula", "label", "variable", "module", "rewards", "system", "initial states", "property"
]


class Symbol(NamedTuple):
    """Something that a text declares.

    ``range`` is all of it, ``name_range`` its name, ``detail`` a few words beside the name.
    """

    name: str
    kind: SymbolKind
    detail: str
    range: Range
    name_range: Range
    children: tuple[Symbol, ...] = ()


def outline(document: Document) -> list[Symbol]:
    """All that a text declares, in its order.

    >>> from galton.editing import ModelDocument
    >>> text = "dtmc const int N=2; module m x : [0..N]; endmodule"
    >>> [(s.name, s.kind, s.detail, [c.name for c in s.children]) for s in outline(ModelDocument(text))]
    [('N', 'constant', 'int = 2', []), ('m', 'module', '0 commands', ['x'])]
    """
    match document:
        case ModelDocument():
            found = _of_model(document)
        case PropertyDocument():
            found = _of_properties(document)
        case _:
            raise TypeError(f"no outline of {type(document).__name__}")
    return sorted(found, key=lambda symbol: symbol.range)


def _of_model(document: ModelDocument) -> list[Symbol]:
    if document.is_jani:
        return []
    file, lines = document.reading.file, document.lines
    found = [_constant(c, lines) for c in file.constants]
    found += [_definition(d, "formula", lines) for d in file.formulas]
    found += [_definition(d, "label", lines) for d in file.labels]
    found += [_variable(v, lines) for v in file.globals]
    found += [_module(m, lines) for m in file.modules]
    for structure in file.rewards:
        name = structure.name.name if structure.name else "(unnamed)"
        place = structure.name.span if structure.name else Span(structure.span.start, structure.span.start + 7)
        found.append(_symbol(name, "rewards", counted(len(structure.items), "item"), structure.span, place, lines))
    for system in file.systems:
        place = system.name.span if system.name else Span(system.span.start, system.span.start + 6)
        found.append(_symbol(system.name.name if system.name else "system", "system", "", system.span, place, lines))
    if file.initial is not None:
        found.append(_symbol("init", "initial states", "", file.initial.span, file.initial.span, lines))
    return found


def _of_properties(document: PropertyDocument) -> list[Symbol]:
    file, lines = document.reading.file, document.lines
    found = [_constant(c, lines) for c in file.constants]
    found += [_definition(d, "formula", lines) for d in file.formulas]
    found += [_definition(d, "label", lines) for d in file.labels]
    for number, prop in enumerate(file.properties, 1):
        text = " ".join(prop.text.split())
        name = prop.name if prop.name is not None else f"property {number}"
        found.append(_symbol(name, "property", text, prop.span, prop.span, lines))
    return found


def _constant(constant: ConstantDeclaration, lines: Lines) -> Symbol:
    value = "" if constant.value is None else f" = {render(constant.value)}"
    return _symbol(constant.name.name, "constant", constant.type + value, constant.span, constant.name.span, lines)


def _definition(definition: Definition, kind: Literal["formula", "label"], lines: Lines) -> Symbol:
    return _symbol(definition.name.name, kind, "", definition.span, definition.name.span, lines)


def _variable(variable: VariableDeclaration, lines: Lines) -> Symbol:
    detail: str = variable.type
    if variable.low is not None and variable.high is not None:
        detail = f"[{render(variable.low)}..{render(variable.high)}]"
    return _symbol(variable.name.name, "variable", detail, variable.span, variable.name.span, lines)


def _module(module: ModuleSyntax | RenamedModule, lines: Lines) -> Symbol:
    if isinstance(module, RenamedModule):
        return _symbol(module.name.name, "module", f"as {module.base.name}", module.span, module.name.span, lines)
    variables = tuple(_variable(variable, lines) for variable in module.variables)
    detail = counted(len(module.commands), "command")
    return _symbol(module.name.name, "module", detail, module.span, module.name.span, lines, variables)


def _symbol(
    name: str, kind: SymbolKind, detail: str, span: Span, place: Span, lines: Lines, children: tuple[Symbol, ...] = ()
) -> Symbol:
    return Symbol(name, kind, detail, lines.range(span), lines.range(place), children)
