"""Names in a text: what declares them, what mentions them, and what a word at a place is.

Places of mentions are found in the text, not in its trees: long texts share equal parts of these, and a text that is
incomplete has none where it matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ..lang.lexer import KEYWORDS, Token, tokenize
from ..lang.operations import FUNCTIONS
from ..lang.properties import Property
from ..lang.source import Span
from ..lang.syntax import (
    ConstantDeclaration,
    Definition,
    ModelFile,
    ModuleSyntax,
    RenamedModule,
    RewardsSyntax,
    SystemDefinition,
    VariableDeclaration,
)
from .documents import Document, ModelDocument, PropertyDocument, remembered

__all__ = [
    "QUOTED",
    "Declaration",
    "Space",
    "Word",
    "declarations",
    "find",
    "mentions",
    "tokens_near",
    "with_model",
    "word_at",
    "word_of",
]

Space = Literal["value", "module", "action", "label", "rewards", "property", "system", "function", "token"]
"""Names of one space differ: constants, formulas and variables are all values. Tokens are all that is no name."""

QUOTED: tuple[Space, ...] = ("label", "rewards", "property", "system")
SOFT_KEYWORDS = frozenset(
    ("T", "Tmin", "Tmax", "Smin", "Smax", "LRA", "LRAmin", "LRAmax", "multi", "quantile", "rew", "steps", "time", "HOA")
)
"""Words of properties that are names elsewhere."""

LONGEST = 4_000  # characters of a line that are looked at around a place

Node = ConstantDeclaration | Definition | VariableDeclaration | ModuleSyntax | RenamedModule | RewardsSyntax | Property
Kind = Literal["constant", "formula", "variable", "label", "module", "rewards", "property", "system"]


class Declaration(NamedTuple):
    """What a text declares: ``span`` is that of the name. ``module`` is the one that has it, for a variable."""

    space: Space
    kind: Kind
    name: str
    span: Span
    node: Node | SystemDefinition
    module: str = ""


class Word(NamedTuple):
    """A word at a place; ``span`` leaves out the quotation marks of quoted names."""

    space: Space
    text: str
    span: Span


# Declarations


@remembered
def declarations(document: Document) -> dict[tuple[Space, str], Declaration]:
    """All that a text declares, by space and name; of two with the same name, the first."""
    found: dict[tuple[Space, str], Declaration] = {}
    for declaration in _declarations(document):
        found.setdefault((declaration.space, declaration.name), declaration)
    return found


def find(document: Document, word: Word) -> tuple[Document, Declaration] | None:
    """What declares a word, and in which document: its own, or that of the model."""
    for home in with_model(document):
        if (word.space, word.text) in declarations(home):
            return home, declarations(home)[word.space, word.text]
    return None


def with_model(document: Document) -> Iterator[Document]:
    """A document and, if it is about a model, that one."""
    yield document
    if isinstance(document, PropertyDocument) and document.model is not None:
        yield document.model


def _declarations(document: Document) -> Iterator[Declaration]:
    if isinstance(document, ModelDocument):
        if document.is_jani:
            return
        file: ModelFile = document.reading.file
        yield from _shared(file.constants, file.formulas, file.labels)
        for variable in file.globals:
            yield Declaration("value", "variable", *variable.name, variable)
        yield from _of_modules(file)
        for rewards in file.rewards:
            if rewards.name:
                yield Declaration("rewards", "rewards", rewards.name.name, _inside(rewards.name.span), rewards)
        for system in file.systems:
            if system.name:
                yield Declaration("system", "system", system.name.name, _inside(system.name.span), system)
    elif isinstance(document, PropertyDocument):
        properties = document.reading.file
        yield from _shared(properties.constants, properties.formulas, properties.labels)
        for prop in properties.properties:
            if prop.name is not None:
                yield Declaration("property", "property", prop.name, _name_of(prop, document), prop)


def _shared(
    constants: tuple[ConstantDeclaration, ...], formulas: tuple[Definition, ...], labels: tuple[Definition, ...]
) -> Iterator[Declaration]:
    for constant in constants:
        yield Declaration("value", "constant", *constant.name, constant)
    for formula in formulas:
        yield Declaration("value", "formula", *formula.name, formula)
    for label in labels:
        yield Declaration("label", "label", label.name.name, _inside(label.name.span), label)


def _of_modules(file: ModelFile) -> Iterator[Declaration]:
    by_name = {module.name.name: module for module in file.modules}
    for module in file.modules:
        yield Declaration("module", "module", *module.name, module)
        base: ModuleSyntax | RenamedModule | None = module
        names = None
        while isinstance(base, RenamedModule):  # the variables are those of the original, under other names
            own = {old.name: new for old, new in base.renaming}
            names = own if names is None else {old: names.get(new.name, new) for old, new in own.items()}
            by_name, base = {n: m for n, m in by_name.items() if m is not base}, by_name.get(base.base.name)
        for variable in base.variables if base else ():
            name = variable.name if names is None else names.get(variable.name.name)
            if name is not None:
                yield Declaration("value", "variable", *name, variable, module.name.name)
        by_name = {module.name.name: module for module in file.modules}


def _inside(span: Span) -> Span:
    """The span of a quoted name without its quotation marks."""
    return Span(span.start + 1, span.end - 1)


def _name_of(prop: Property, document: Document) -> Span:
    """Where the name of a property stands, before its text."""
    assert prop.name is not None
    end = document.text.rfind('"', 0, prop.span.start)
    start = document.text.rfind('"', 0, max(end, 0)) + 1
    return Span(start, end)


@remembered
def actions(document: ModelDocument) -> dict[str, list[str]]:
    """The actions of a model, with the modules that have them."""
    found: dict[str, list[str]] = {}
    own: dict[str, list[str]] = {}
    for module in [] if document.is_jani else document.reading.file.modules:
        name = module.name.name
        if isinstance(module, RenamedModule):
            new = {old.name: new.name for old, new in module.renaming}
            own[name] = [new.get(action, action) for action in own.get(module.base.name, ())]
        else:
            own[name] = list(dict.fromkeys(command.action.name for command in module.commands if command.action))
        for action in own[name]:
            found.setdefault(action, []).append(name)
    return found


# Words


def tokens_near(document: Document, offset: int, lines: int = 3) -> list[Token]:
    """The tokens of the lines around a place; of very long lines, some before and behind it."""
    starts = document.lines.starts
    line = document.lines.position(offset).line
    start = starts[max(line - lines, 0)]
    if offset - start > LONGEST:
        start = max(starts[line], document.text.rfind(";", 0, max(offset - LONGEST, 0)) + 1)
    end = document.lines.end(min(line + lines, len(starts) - 1))
    if end - offset > LONGEST:
        end = document.text.find(";", offset + LONGEST) + 1 or end
    return tokenize(document.source, start, end)[:-1]


def word_at(document: Document, offset: int) -> Word | None:
    """The word, number or sign at a place, or right before it."""
    tokens = tokens_near(document, offset)
    touching = [i for i, token in enumerate(tokens) if token.span.start <= offset <= token.span.end]
    if not touching:
        return None
    return word_of(document, tokens, max(touching, key=lambda i: (_weight(tokens[i]), i)))


def _weight(token: Token) -> int:
    """Between two tokens, the one that has more to say."""
    return 2 if token.kind in ("name", "string") else 1 if token.kind in KEYWORDS else 0


def word_of(document: Document, tokens: list[Token], index: int) -> Word:
    """What a token is, from those around it."""
    token = tokens[index]
    if token.kind == "string":
        start = document.text.find(token.text, token.span.start + 1) if token.text else token.span.start + 1
        return Word(_quoted_space(document, tokens, index), token.text, Span(start, start + len(token.text)))
    if token.kind in ("min", "max") and _kind(tokens, index + 1) == "(":
        return Word("function", token.text, token.span)
    if token.kind != "name":
        return Word("token", token.text, token.span)
    return Word(_name_space(document, tokens, index), token.text, token.span)


def _kind(tokens: list[Token], index: int) -> str:
    return tokens[index].kind if 0 <= index < len(tokens) else "end"


def _name_space(document: Document, tokens: list[Token], index: int) -> Space:
    before, after, text = _kind(tokens, index - 1), _kind(tokens, index + 1), tokens[index].text
    if isinstance(document, PropertyDocument):
        if text in FUNCTIONS and after == "(":
            return "function"
        return "token" if text in SOFT_KEYWORDS and _is_soft(tokens, index) else "value"
    if before == "module" or (before == "=" and _kind(tokens, index - 3) == "module"):
        return "module"
    if before == "[" and after == "]":
        return "action"
    if text in FUNCTIONS and (after == "(" or _kind(tokens, index - 2) == "func"):
        return "function"
    span = tokens[index].span
    assert isinstance(document, ModelDocument)
    if any(system.span.start <= span.start < system.span.end for system in document.reading.file.systems):
        while _kind(tokens, index) in ("name", ",", "<", "-"):
            index -= 1
        return "action" if _kind(tokens, index) in ("[", "{") else "module"
    if _is_renaming(document, span.start) and ("value", text) not in declarations(document):
        return "action"
    return "value"


def _is_soft(tokens: list[Token], index: int) -> bool:
    """Whether a word that may be a name is one of the words of properties here."""
    text, after = tokens[index].text, _kind(tokens, index + 1)
    if text in ("multi", "quantile"):
        return after == "("
    if text in ("rew", "steps", "time"):
        return after in ("{", "<", "<=", ">", ">=", "=") and _kind(tokens, index - 1) in ("{", ",", "F", "G", "U", "C")
    if text == "HOA":
        return after == ":"
    return after in ("=", "<", "<=", ">", ">=", "]")


def _is_renaming(document: ModelDocument, offset: int) -> bool:
    return any(
        isinstance(module, RenamedModule) and module.base.span.end <= offset < module.span.end
        for module in document.reading.file.modules
    )


def _quoted_space(document: Document, tokens: list[Token], index: int) -> Space:
    before, after = _kind(tokens, index - 1), _kind(tokens, index + 1)
    if isinstance(document, PropertyDocument):
        if before == "{" and after == "}":
            return "rewards"
        if after == ":" and before in (";", "end", "]", ")", "string"):
            return "property"
        if _kind(tokens, index - 2) == ":" and before == "{":
            return "token"  # the file of an automaton
        if after in ("<", "->"):
            return "token"  # a proposition of it
        name = tokens[index].text
        if any(("label", name) in declarations(home) for home in with_model(document)):
            return "label"  # a label comes before a property of the same name
        return "property" if ("property", name) in declarations(document) else "label"
    return {"rewards": "rewards", "label": "label"}.get(before, "system")  # type: ignore[return-value]


# Mentions


def mentions(document: Document, space: Space, name: str) -> list[Span]:
    """All places of a name in a text, declarations among them, in order."""
    if isinstance(document, ModelDocument) and document.is_jani:
        return []
    return [span for span in _written(document.text, name) if _belongs(document, span, space, name)]


def _written(text: str, name: str) -> Iterator[Span]:
    """Where a name stands as a whole word, and not in a comment."""
    for match in re.finditer(re.escape(name) + "(?![A-Za-z_0-9])", text):
        start = match.start()
        before = text[start - 1] if start else " "
        if before.isalnum() or before == "_":
            continue
        line = text.rfind("\n", 0, start) + 1
        if text.find("//", line, start) < 0:
            yield Span(start, match.end())


def _belongs(document: Document, span: Span, space: Space, name: str) -> bool:
    text = document.text
    quoted = _surely_quoted(text, span)
    if quoted != (space in QUOTED):
        return False
    if not quoted and (plainly := _is_plainly_value(document, span)) is not None and space in ("value", "action"):
        return (
            plainly
            if space == "value"
            else not plainly and text[max(span.start - 40, 0) : span.start].rstrip().endswith("[")
        )
    word = word_at(document, span.start)
    if word is None or word.text != name or word.span != span:
        return False
    if word.space == space:
        return True
    if space == "action" and isinstance(document, ModelDocument):  # in a renaming, a name may be that of both
        return name in actions(document) and _is_renaming(document, span.start)
    return False


def _surely_quoted(text: str, span: Span) -> bool:
    return text.count('"', text.rfind("\n", 0, span.start) + 1, span.start) % 2 == 1


def _is_plainly_value(document: Document, span: Span) -> bool | None:
    """Whether a name of a model is that of a value, as far as the characters around it tell: None where they do not."""
    if isinstance(document, PropertyDocument) or any(s.start <= span.start < s.end for s in _composed(document)):
        return None
    text = document.text
    before = text[max(span.start - 40, 0) : span.start].rstrip()
    after = text[span.end : span.end + 40].lstrip()[:1]
    if not before or not after or after == "(":
        return None
    return not (before.endswith("module") or (before[-1] == "[" and after == "]"))


@remembered
def _composed(document: Document) -> list[Span]:
    """The parts of a model that put modules together, where names are those of modules and actions."""
    assert isinstance(document, ModelDocument)
    file = document.reading.file
    return [m.span for m in file.modules if isinstance(m, RenamedModule)] + [system.span for system in file.systems]
