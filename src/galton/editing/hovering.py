"""What something in a text is, for who points at it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from ..lang.expressions import Expression, Value
from ..lang.program import Program, Variable
from ..lang.properties import Property
from ..lang.rendering import render
from ..lang.source import LanguageError, Span
from ..lang.syntax import (
    ConstantDeclaration,
    Definition,
    ModuleSyntax,
    RenamedModule,
    RewardsSyntax,
    VariableDeclaration,
)
from ..lang.types import Scope, type_of_value
from ..lang.wording import counted
from .documents import Document, ModelDocument, PropertyDocument
from .names import Declaration, Word, actions, find, with_model, word_at
from .positions import Position, Range
from .words import about

__all__ = ["Hover", "described", "hover"]

LONG = 600  # characters of an expression that are shown
SMALLEST, LARGEST = -(2**31), 2**31 - 1


class Hover(NamedTuple):
    """What is known about a part of a text, as Markdown."""

    range: Range
    text: str


def hover(document: Document, position: Position) -> Hover | None:
    """What stands at a place: type, range, value or meaning; None where there is nothing to say.

    >>> from galton.editing import ModelDocument, Position
    >>> model = ModelDocument("dtmc const int N; module m x : [0..N] init 0; endmodule", constants={"N": "2+3"})
    >>> print(hover(model, Position(0, 27)).text)
    ```prism
    x : [0..N] init 0
    ```
    <BLANKLINE>
    A variable of the module `m`, from 0 to 5, at first 0.
    """
    word = word_at(document, document.lines.offset(position))
    text = _about(document, word) if word else None
    return Hover(document.lines.range(word.span), text) if word and text else None


def _about(document: Document, word: Word) -> str | None:
    if word.space in ("token", "function"):
        return about(word.text)
    if word.space == "action":
        return _action(document, word.text)
    found = find(document, word)
    if found is None:
        if word.space == "label" and word.text in ("init", "deadlock"):
            return {"init": "The initial states.", "deadlock": "The states that no command leaves."}[word.text]
        return about(word.text)
    return described(document, *found)


def described(document: Document, home: Document, declaration: Declaration) -> str:
    """A declaration as it is written, what it comes to, and the comment before it."""
    written = _written(home, declaration)
    parts = [f"```prism\n{written}\n```", _meaning(document, home, declaration), _comment(home, declaration)]
    return "\n\n".join(part for part in parts if part)


def _meaning(document: Document, home: Document, declaration: Declaration) -> str:
    program = _program(home)
    match declaration.node:
        case ConstantDeclaration():
            return _constant(document, declaration.name, declaration.node, program)
        case VariableDeclaration():
            return _variable(declaration, program, home)
        case Definition() as definition if declaration.kind == "formula":
            return _formula(definition, program)
        case Definition() as definition:
            return "A label." + _expanded(definition, program)
        case ModuleSyntax() as module:
            variables, commands = counted(len(module.variables), "variable"), counted(len(module.commands), "command")
            return f"A module with {variables} and {commands}."
        case RenamedModule() as module:
            return f"A copy of the module `{module.base.name}`."
        case RewardsSyntax() as rewards:
            return f"A reward structure of {counted(len(rewards.items), 'item')}."
        case Property():
            return "A property."
    return ""


def _constant(document: Document, name: str, node: ConstantDeclaration, program: Program | None) -> str:
    values: dict[str, Value] = dict(program.constants) if program else {}
    if isinstance(document, PropertyDocument) and document.complaints:
        values |= document.complaints.constants.values
    if name in values:
        source = "a constant" if node.value is not None else "a constant, given from outside"
        return f"{node.type}, {source}: **{_shown(values[name])}**"
    if node.value is None:
        return f"{node.type}, a constant without a value: give it one with `--const {name}=…`"
    return f"{node.type}, a constant"


def _variable(declaration: Declaration, program: Program | None, home: Document) -> str:
    where = f"A variable of the module `{declaration.module}`" if declaration.module else "A global variable"
    known = next((v for v in program.variables if v.name == declaration.name), None) if program else None
    if known is None or (isinstance(home, ModelDocument) and known.name in home.complaints.unbounded):
        return f"{where}."
    return f"{where}, {_bounds(known)}, at first {_first(known)}."


def _bounds(variable: Variable) -> str:
    if variable.type == "bool":
        return "true or false"
    if (variable.low, variable.high) == (SMALLEST, LARGEST):
        return "any integer"
    return f"from {variable.low} to {variable.high}"


def _first(variable: Variable) -> str:
    return str(bool(variable.initial)).lower() if variable.type == "bool" else str(variable.initial)


def _formula(definition: Definition, program: Program | None) -> str:
    body = program.formulas.get(definition.name.name) if program else None
    kind = "A formula."
    if program and body is not None:
        types = {**program.open_constants, **{n: type_of_value(v) for n, v in program.constants.items()}}
        scope = Scope(program.source, {**types, **{v.name: v.type for v in program.variables}})
        with suppress(LanguageError):  # which is told where it stands
            kind = f"A formula, {scope.type_of(body)}."
    return kind + _expanded(definition, program)


def _expanded(definition: Definition, program: Program | None) -> str:
    """What a formula or label comes to where it is made of others."""
    if program is None:
        return ""
    name = definition.name.name
    body = program.formulas.get(name) or program.labels.get(name)
    return "" if body is None or body == definition.body else f"\n\n```prism\n{_short(body)}\n```"


def _action(document: Document, name: str) -> str | None:
    model = next((text for text in with_model(document) if isinstance(text, ModelDocument)), None)
    modules = actions(model).get(name, []) if model else []
    if not modules:
        return None
    if len(modules) == 1:
        return f"An action of the module `{modules[0]}`."
    return f"An action on which {len(modules)} modules synchronise: {', '.join(f'`{m}`' for m in modules[:12])}" + (
        ", …" if len(modules) > 12 else ""
    )


def _program(document: Document) -> Program | None:
    if isinstance(document, ModelDocument):
        return document.known_program
    if isinstance(document, PropertyDocument):
        return document.complaints.context if document.complaints else None
    return None


def _written(home: Document, declaration: Declaration) -> str:
    """The text of a declaration; of a long one, the beginning."""
    node = declaration.node
    if isinstance(node, (ModuleSyntax, RenamedModule, RewardsSyntax)):
        span = Span(node.span.start, min(node.span.end, home.lines.end(home.lines.position(node.span.start).line)))
    else:
        span = node.span
    text = " ".join(home.text[span.start : span.end].split()).rstrip(";")
    if declaration.kind == "variable" and declaration.name != node.name.name:  # type: ignore[union-attr]
        text = text.replace(node.name.name, declaration.name, 1)  # type: ignore[union-attr]
    return text if len(text) <= LONG else f"{text[:LONG]} …"


def _comment(home: Document, declaration: Declaration) -> str:
    """The comment in the lines before a declaration, or behind it."""
    line = home.lines.position(declaration.span.start).line
    before = list(_comments_before(home, line))
    if before:
        return " ".join(reversed(before))
    _, slashes, behind = home.lines.line(line).partition("//")
    return behind.strip() if slashes else ""


def _comments_before(home: Document, line: int) -> Iterator[str]:
    while line > 0:
        line -= 1
        text = home.lines.line(line).strip()
        if not text.startswith("//"):
            return
        yield text.lstrip("/").strip()


def _short(expression: Expression) -> str:
    text = render(expression)
    return text if len(text) <= LONG else f"{text[:LONG]} …"


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"
