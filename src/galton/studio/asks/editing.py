"""Help for editors, from :mod:`galton.editing`, in the words and numbers of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import editing
from ...editing import ModelDocument, Position, PropertyDocument
from ...lang.model_parser import parse_model
from ...lang.properties import Filter, Multi, PathQuantifier, Quantile
from ...lang.rendering import render
from ...lang.resolution import parts
from ...lang.source import GaltonError, Source, Span
from ..project import PROPERTIES
from ..trouble import range_of
from .reading import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...editing.positions import Range
    from ...lang.expressions import Value
    from ...lang.properties import Property, PropertyFile
    from ...lang.syntax import ConstantDeclaration
    from .desk import Desk
    from .reading import Given

__all__ = ["complete", "definition", "diagnose", "format", "hover", "references", "rename"]

Document = ModelDocument | PropertyDocument
SYMBOLS = {"initial states": "init"}
COMPLETIONS = {"rewards": "reward", "snippet": "keyword"}
MOST_VARIABLES = 10_000


def diagnose(desk: Desk, given: Given) -> dict[str, Any]:
    """What is wrong with a model and its properties, and what there is in them."""
    given.only("model", "properties", "constants")
    constants = given.constants()
    model, properties = _documents(desk, given.maybe("model"), given.maybe("properties"), constants)
    documents: list[Document] = [document for document in (model, properties) if document is not None]
    program = None if model is None else model.known_program
    found: dict[str, Any] = {
        "versions": {document.name: desk.version(document.name) for document in documents},
        "diagnostics": [told for document in documents for told in _diagnostics(document)],
        "outline": [_symbol(symbol, document) for document in documents for symbol in editing.outline(document)],
        "type": None,
        "constants": [],
        "labels": [],
        "rewards": [],
        "variables": [],
        "properties": [],
    }
    if program is not None and model is not None:
        found["type"] = program.type
        found["labels"] = list(program.labels)
        found["rewards"] = program.reward_names
        found["variables"] = [
            {
                "name": variable.name,
                "type": variable.type,
                "module": variable.module,
                "low": variable.low,
                "high": variable.high,
                "initial": bool(variable.initial) if variable.type == "bool" else variable.initial,
            }
            for variable in program.variables[:MOST_VARIABLES]
        ]
    values = {} if program is None else dict(program.constants)
    if model is not None and not model.is_jani:
        declared = model.reading.file.constants
        found["constants"] += [_constant(constant, model.name, values) for constant in declared]
    if properties is not None:
        file = properties.reading.file
        found["constants"] += [_constant(constant, properties.name, constants) for constant in file.constants]
        found["properties"] = [
            _property(number, prop, file, properties.source) for number, prop in enumerate(file.properties, 1)
        ]
    return found


def hover(desk: Desk, given: Given) -> dict[str, Any] | None:
    """What stands at a place."""
    document, position = _at(desk, given)
    found = editing.hover(document, position)
    if found is None:
        return None
    return {"range": _range(found.range, document), "text": found.text, "code": None}


def complete(desk: Desk, given: Given) -> dict[str, Any]:
    """What could be written at a place."""
    document, position = _at(desk, given)
    items = editing.completions(document, position)
    here = range_of(document.source, Span(document.lines.offset(position), document.lines.offset(position)))
    place = here if not items else _range(items[0].range, document)
    return {
        "from": place["from"],
        "to": place["to"],
        "items": [
            {
                "label": item.label,
                "kind": COMPLETIONS.get(item.kind, item.kind),
                "detail": item.detail or None,
                "insert": item.text,
                "documentation": item.documentation or None,
            }
            for item in items
        ],
    }


def definition(desk: Desk, given: Given) -> dict[str, Any] | None:
    """Where something is declared."""
    document, position = _at(desk, given)
    found = editing.definition(document, position)
    return _location(found[0], document) if found else None


def references(desk: Desk, given: Given) -> list[dict[str, Any]]:
    """Where something is used."""
    document, position = _at(desk, given)
    return [_location(one, document) for one in editing.references(document, position, _others(desk, document))]


def rename(desk: Desk, given: Given) -> dict[str, Any]:
    """The edits that give something another name."""
    document, position = _at(desk, given, "to")
    known = {one.name: one for one in (*_others(desk, document), *_about(document))}
    edits = editing.rename(document, position, given.text("to"), _others(desk, document))
    return {
        "edits": [
            {"file": name, "range": _range(edit.range, known[name]), "text": edit.text}
            for name, changes in edits.items()
            for edit in changes
        ]
    }


def format(desk: Desk, given: Given) -> dict[str, str]:
    """A text in one style."""
    given.only("file")
    name = given.text("file")
    return {"text": editing.formatted(desk.text(name), name)}


def _documents(
    desk: Desk, model: str | None, properties: str | None, constants: dict[str, str] | None
) -> tuple[ModelDocument | None, PropertyDocument | None]:
    """The documents of two files; what was found out about a text that is the same is known still.

    None for the constants that the model had before.
    """
    drawer: dict[str, ModelDocument] = desk.drawers.setdefault("documents", {})
    found = None
    if model is not None:
        before = drawer.get(model)
        text = desk.text(model)
        found = before
        if before is None or before.text != text:
            found = drawer[model] = ModelDocument(text, model, before=before)
            known: Mapping[str, Value | str] | None = constants
            if constants is None and before is not None:
                known = before.constants
            found.constants = _own(found, known or {})  # nobody has looked at it yet
        elif constants is not None and before.constants != (own := _own(before, constants)):
            found = drawer[model] = ModelDocument(text, model, own, before)
    if properties is None:
        return found, None
    return found, PropertyDocument(desk.text(properties), properties, found, constants)


def _own(document: ModelDocument, constants: Mapping[str, Value | str]) -> dict[str, Value | str]:
    """Those constants that the model declares; others are for properties."""
    try:
        file = parse_model(document.source) if document.is_jani else document.reading.file
    except GaltonError:
        return {}  # told as a diagnostic
    declared = {constant.name.name for constant in file.constants}
    return {name: value for name, value in constants.items() if name in declared}


def _at(desk: Desk, given: Given, *more: str) -> tuple[Document, Position]:
    """The document that is meant, and the place in it."""
    given.only("file", "offset", "model", "properties", "constants", *more)
    name = given.text("file")
    about, beside = given.maybe("model"), given.maybe("properties")
    is_properties = name.endswith(tuple(PROPERTIES))
    if about is not None and about not in desk.files:
        about = None
    model, properties = _documents(
        desk,
        about if is_properties else name,
        name if is_properties else (beside if beside in desk.files else None),
        given.constants() if "constants" in given else None,
    )
    document: Document | None = properties if is_properties else model
    assert document is not None
    desk.drawers["beside"] = [one for one in (model, properties) if one is not None]
    offset = _characters(document.text, given.whole("offset", 0, 2**31))
    return document, document.lines.position(min(offset, len(document.text)))


def _others(desk: Desk, document: Document) -> list[Document]:
    beside: list[Document] = desk.drawers.get("beside", [])
    return [one for one in beside if one is not document]


def _about(document: Document) -> list[Document]:
    about = document.model if isinstance(document, PropertyDocument) else None
    return [document] if about is None else [document, about]


def _characters(text: str, units: int) -> int:
    """The offset of a character from one in UTF-16 units."""
    if text.isascii():
        return units
    before = text.encode("utf-16-le", "surrogatepass")[: 2 * units]
    return len(before.decode("utf-16-le", "replace"))


def _range(place: Range, document: Document) -> dict[str, int]:
    lines = document.lines
    return range_of(document.source, Span(lines.offset(place.start), lines.offset(place.end)))


def _location(found: Any, document: Document) -> dict[str, Any]:
    home = next((one for one in _about(document) if one.name == found.document), document)
    return {"file": found.document, "range": _range(found.range, home)}


def _diagnostics(document: Document) -> list[dict[str, Any]]:
    severities = {"error": "error", "warning": "warning"}
    return [
        {
            "file": document.name,
            "range": _range(told.range, document),
            "severity": severities.get(told.severity, "information"),
            "message": told.message,
            "hint": told.hint,
        }
        for told in editing.diagnostics(document)
    ]


def _symbol(symbol: Any, document: Document) -> dict[str, Any]:
    return {
        "name": symbol.name,
        "kind": SYMBOLS.get(symbol.kind, symbol.kind),
        "detail": symbol.detail or None,
        "file": document.name,
        "range": _range(symbol.range, document),
        "name_range": _range(symbol.name_range, document),
        "children": [_symbol(child, document) for child in symbol.children],
    }


def _constant(constant: ConstantDeclaration, file: str, values: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": constant.name.name,
        "type": constant.type,
        "file": file,
        "value": number(values.get(constant.name.name)),
        "defined": constant.value is not None,
        "default": None if constant.value is None else render(constant.value),
    }


def _property(place: int, prop: Property, file: PropertyFile, source: Source) -> dict[str, Any]:
    kind, multi, used = "other", False, []
    try:
        expression = prop.expression
        if isinstance(expression, Multi):
            asked = sum(getattr(part, "comparison", None) is None for part in expression.objectives)
            kind, multi = ("pareto", True) if asked > 1 else ("number" if asked else "truth", False)
        elif isinstance(expression, (Filter, Quantile)):
            kind = "number"
        elif isinstance(expression, PathQuantifier) or getattr(expression, "comparison", None) is not None:
            kind = "truth"
        else:
            kind = "number" if hasattr(expression, "comparison") else "other"
        names = {getattr(part, "name", None) for part in parts(expression)}
        used = [c.name.name for c in file.constants if c.value is None and c.name.name in names]
    except GaltonError:
        pass  # told as a diagnostic
    return {
        "number": place,
        "name": prop.name,
        "text": " ".join(prop.text.split()),
        "kind": kind,
        "multi": multi,
        "range": range_of(source, prop.span),
        "constants": used,
    }
