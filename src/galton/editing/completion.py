"""What could be written at a place.

The tokens before the place tell what may follow. They need not make sense as a whole: what names there are is known
from the parts of the text that can be read, or from the program before the last edit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Literal, NamedTuple

from ..lang.lexer import Token, tokenize
from ..lang.model_types import MODEL_TYPES
from ..lang.operations import FUNCTIONS
from ..lang.program import Program
from ..lang.source import Span
from .documents import Document, ModelDocument, PropertyDocument
from .hovering import described
from .names import Declaration, Space, actions, declarations, with_model
from .positions import Position, Range
from .words import FILTER_WORDS, KEYWORD_WORDS, about, signature

__all__ = ["Completion", "completions"]

CompletionKind = Literal[
    "keyword", "constant", "variable", "formula", "label", "rewards", "module", "action", "function", "property"
]
DESCRIBED = 60  # names with a description: nobody reads more
FAR = 20_000  # characters before a place that are looked at

_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*$")
_BLOCK = re.compile(r"\b(module|endmodule|rewards|endrewards|system|endsystem|endinit)\b")
_MODEL_STARTS = ("const", "formula", "label", "global", "module", "rewards", "init", "system")
_PROPERTY_STARTS = ("const", "formula", "label", "filter")
_PATHS = ("F", "G", "X", "U", "W")


class Completion(NamedTuple):
    """Something that could be written: ``text`` takes the place of ``range``, ``label`` is shown in the list.

    ``detail`` is a word or two, such as the type; ``documentation`` is Markdown.
    """

    label: str
    kind: CompletionKind
    range: Range
    text: str
    detail: str = ""
    documentation: str = ""


class _Offer(NamedTuple):
    label: str
    kind: CompletionKind
    detail: str = ""
    documentation: str | Callable[[], str] = ""
    text: str | None = None


def completions(document: Document, position: Position) -> list[Completion]:
    """What could be written at a place, the most likely first; what was begun there is taken into account.

    >>> from galton.editing import ModelDocument, Position
    >>> model = ModelDocument("dtmc const int Size = 3; module m x : [0..S")
    >>> [c.label for c in completions(model, Position(0, 43))]
    ['Size']
    """
    if isinstance(document, ModelDocument) and document.is_jani:
        return []
    offset = document.lines.offset(position)
    line = document.lines.starts[position.line] if position.line < len(document.lines.starts) else offset
    before = document.text[max(line, offset - FAR) : offset]
    if "//" in before and before.count('"', 0, before.index("//")) % 2 == 0:
        return []  # a comment
    begun = _WORD.search(before)
    prefix = begun.group() if begun else ""
    quoted = before.count('"') % 2 == 1
    tokens = _tokens_before(document, offset - len(prefix) - quoted)
    place = document.lines.range(Span(offset - len(prefix), offset))
    offers = _quoted(document, tokens) if quoted else _offers(document, tokens, offset)
    found: dict[str, Completion] = {}
    for offer in offers:
        if offer.label.lower().startswith(prefix.lower()):
            text = offer.text if offer.text is not None else offer.label
            words = offer.documentation
            if not isinstance(words, str):
                words = words() if len(found) < DESCRIBED else ""
            found.setdefault(offer.label, Completion(offer.label, offer.kind, place, text, offer.detail, words))
    return list(found.values())


def _tokens_before(document: Document, offset: int) -> list[Token]:
    """The tokens before a place, from a few lines above."""
    start = document.text.rfind("\n", 0, max(offset - 2_000, 0)) + 1
    if offset - start > FAR:
        start = offset - FAR
    return tokenize(document.source, start, offset)[:-1]


def _offers(document: Document, tokens: list[Token], offset: int) -> Iterator[_Offer]:
    if isinstance(document, PropertyDocument):
        return _in_properties(document, tokens)
    assert isinstance(document, ModelDocument)
    return _in_model(document, tokens, offset)


# Models


def _in_model(document: ModelDocument, tokens: list[Token], offset: int) -> Iterator[_Offer]:
    block = _block(document.text, offset)
    statement = _statement(tokens)
    last = statement[-1].kind if statement else ""
    if not statement or last in ("endmodule", "endrewards", "endinit", "endsystem", *_type_words()):
        yield from _starts(document, block if last not in ("endmodule", "endrewards", "endinit", "endsystem") else "")
    elif last == "const":
        yield from _keywords("int", "double", "bool")
    elif last == "=" and statement[0].kind == "module":
        yield from _declared(document, "module")
    elif block == "system":
        yield from _declared(document, "module")
        yield from _keywords("endsystem")
    elif last == "[" and block in ("module", "rewards") and len(statement) == 1:
        yield from (_Offer(name, "action", ", ".join(m[:3])) for name, m in actions(document).items())
    elif last == ":" and block == "module" and len(statement) == 2:
        yield from _keywords("bool", "int")
    elif last == "(" and _in_update(statement):
        for name, kind, detail, text, _ in _values(document, ("variable",)):
            yield _Offer(f"{name}'", kind, detail, text, f"{name}'=")
        yield from _expressions(document, statement)
    elif last not in ("name", "integer", "decimal", ")", "module", "label", "rewards"):
        yield from _expressions(document, statement)
    elif last in ("name", "]", ")", "integer") and block == "module":
        yield from _keywords("init", "endmodule")


def _starts(document: ModelDocument, block: str) -> Iterator[_Offer]:
    if block == "module":
        yield from _keywords("endmodule")
        return
    if block == "rewards":
        yield from _values(document, ("variable", "formula"))
        yield from _keywords("endrewards", "true")
        return
    if document.reading.file.type is None:
        yield from _keywords(*MODEL_TYPES)
    yield from _keywords(*_MODEL_STARTS)


def _type_words() -> tuple[str, ...]:
    return tuple(word for nature in MODEL_TYPES.values() for word in nature.keywords)


def _block(text: str, offset: int) -> str:
    """The block that a place is in: ``module``, ``rewards``, ``system``, or none."""
    end = offset
    for start in (max(offset - FAR, 0), 0):  # it rarely begins far away
        found = [m for m in _BLOCK.finditer(text, start, end) if not _in_comment(text, m.start())]
        if found:
            word = found[-1].group()
            return "" if word.startswith("end") else word
        end = start
    return ""


def _in_comment(text: str, offset: int) -> bool:
    return text.find("//", text.rfind("\n", 0, offset) + 1, offset) >= 0


def _statement(tokens: list[Token]) -> list[Token]:
    """The tokens since the last statement ended; those that open a block, with what they are about, are one as well."""
    start = 0
    for index, token in enumerate(tokens):
        if token.kind in (";", "endmodule", "endrewards", "endsystem", "endinit", *_type_words()):
            start = index + 1
        elif token.kind == "module" and index + 1 < len(tokens) and _kind(tokens, index + 2) != "=":
            start = index + 2
        elif token.kind == "rewards":
            start = index + 2 if _kind(tokens, index + 1) == "string" else index + 1
    return tokens[start:]


def _kind(tokens: list[Token], index: int) -> str:
    return tokens[index].kind if index < len(tokens) else ""


def _in_update(statement: list[Token]) -> bool:
    kinds = [token.kind for token in statement]
    return "->" in kinds and len(kinds) > 1 and kinds[-2] in ("->", ":", "&")


def _expressions(document: Document, statement: list[Token]) -> Iterator[_Offer]:
    constant = bool(statement) and statement[0].kind in ("const", "rate", "prob")
    declares = _declares_variable(statement)
    yield from _values(document, ("constant",) if constant or declares else ("variable", "constant", "formula"))
    yield from _functions()
    yield from _keywords("true", "false")


def _declares_variable(statement: list[Token]) -> bool:
    kinds = [token.kind for token in statement if token.kind != "global"]
    return kinds[:2] == ["name", ":"]


# Properties


def _in_properties(document: PropertyDocument, tokens: list[Token]) -> Iterator[_Offer]:
    last = tokens[-1].kind if tokens else ";"
    if last == "(" and _kind(tokens, len(tokens) - 2) == "filter":
        yield from (_Offer(name, "keyword", text) for name, text in FILTER_WORDS.items())
        return
    if last == "const":
        yield from _keywords("int", "double", "bool")
        return
    inside = _open_brackets(tokens) > 0
    if last == "{":
        yield from (
            _Offer(f'"{name}"', "rewards", detail, text) for name, _, detail, text, _ in _declared(document, "rewards")
        )
        return
    if inside:
        yield from (_Offer(word, "keyword", "", KEYWORD_WORDS[word], f"{word} ") for word in _PATHS)
        yield from (
            _Offer(f'"{name}"', "label", detail, text) for name, _, detail, text, _ in _declared(document, "label")
        )
        yield from (_Offer(f'"{name}"', "label", "built in") for name in ("init", "deadlock"))
        yield from _expressions(document, [])
        return
    yield from _questions(document)
    if last in (";", "]", ")") or (len(tokens) > 1 and last == ":"):
        yield from _keywords(*_PROPERTY_STARTS)
    if last not in (";", "]", ")"):
        yield from _expressions(document, [])


def _questions(document: PropertyDocument) -> Iterator[_Offer]:
    """The operators, as the model asks for them: a process with choices needs to know which end is meant."""
    program = document.model.known_program if document.model else None
    ends = ("min", "max") if program is None or program.nature.has_choices else ()
    optima = ("", *ends) if program is None else ends or ("",)
    for optimum in optima:
        yield _Offer(f"P{optimum}=?", "keyword", "probability", KEYWORD_WORDS[f"P{optimum}"], f"P{optimum}=? [ ")
        for name in _reward_names(program):
            structure = f'{{"{name}"}}' if name else ""
            text = f"R{structure}{optimum}=?"
            yield _Offer(text, "keyword", "expected reward", KEYWORD_WORDS[f"R{optimum}"], f"{text} [ ")
        words = KEYWORD_WORDS[f"S{optimum}"]
        yield _Offer(f"S{optimum}=?", "keyword", "long run", words, f"S{optimum}=? [ ")
    yield from (_Offer(f"{w} [", "keyword", "", KEYWORD_WORDS[w], f"{w} [ ") for w in ("A", "E"))
    yield from (_Offer(f"{w}(", "keyword", "", KEYWORD_WORDS[w]) for w in ("multi", "quantile"))


def _reward_names(program: Program | None) -> list[str]:
    return [structure.name for structure in program.rewards] if program else [""]


def _open_brackets(tokens: list[Token]) -> int:
    """How many square brackets are open in the last property."""
    depth = 0
    for token in tokens:
        depth = 0 if token.kind == ";" else depth + (token.kind == "[") - (token.kind == "]" and depth > 0)
    return depth


# Names


def _quoted(document: Document, tokens: list[Token]) -> Iterator[_Offer]:
    """What may stand between quotation marks."""
    last = tokens[-1].kind if tokens else ""
    if last in ("label", "rewards") and isinstance(document, ModelDocument):
        return
    if last == "{":
        yield from _declared(document, "rewards")
        return
    if isinstance(document, PropertyDocument) and last:
        yield from _declared(document, "label")
        yield from (_Offer(name, "label", "built in") for name in ("init", "deadlock"))
        yield from _declared(document, "property")


def _keywords(*words: str) -> Iterator[_Offer]:
    for word in words:
        yield _Offer(word, "keyword", "", about(word) or "")


def _functions() -> Iterator[_Offer]:
    for name, operation in FUNCTIONS.items():
        yield _Offer(name, "function", signature(operation, name), operation.about, f"{name}(")


def _declared(document: Document, space: Space) -> Iterator[_Offer]:
    for home in with_model(document):
        for declaration in declarations(home).values():
            if declaration.space == space:
                yield _Offer(
                    declaration.name, _kind_of(declaration), "", partial(described, document, home, declaration)
                )


def _values(document: Document, kinds: Iterable[str]) -> Iterator[_Offer]:
    known: set[str] = set()
    order = list(kinds)
    for home in with_model(document):
        values = [d for d in declarations(home).values() if d.space == "value" and d.kind in order]
        for declaration in sorted(values, key=lambda d: order.index(d.kind)):
            known.add(declaration.name)
            detail = getattr(declaration.node, "type", declaration.kind)
            yield _Offer(
                declaration.name, _kind_of(declaration), detail, partial(described, document, home, declaration)
            )
    yield from _from_before(document, order, known)


def _from_before(document: Document, kinds: list[str], known: set[str]) -> Iterator[_Offer]:
    """Names of the last program that made sense, which the text of now does not have."""
    model = next((home for home in with_model(document) if isinstance(home, ModelDocument)), None)
    program = model.last_program if model else None
    if program is None or model is None or not model.reading.errors:
        return
    if "variable" in kinds:
        yield from (_Offer(v.name, "variable", v.type) for v in program.variables if v.name not in known)
    if "constant" in kinds:
        names = [*program.constants, *program.open_constants]
        yield from (_Offer(name, "constant") for name in names if name not in known)
    if "formula" in kinds:
        yield from (_Offer(name, "formula") for name in program.formulas if name not in known)


def _kind_of(declaration: Declaration) -> CompletionKind:
    return declaration.kind if declaration.kind != "system" else "module"
