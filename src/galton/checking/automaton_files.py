"""``HOA: {"file", …}`` in properties: automata from files in the Hanoi format.

Files are read before anything is built, so that what is wrong with them shows at once. A proposition that the property
does not give is a label of the model or, where its name is no identifier, an expression: ``"x>3"``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ..automata import Automaton, read_hoa
from ..automata.reduction import reduced
from ..lang.expression_parser import parse_expression
from ..lang.expressions import Expression, Label
from ..lang.properties import AutomatonPath, Property, PropertyFile, map_children
from ..lang.source import LanguageError, Source
from ..lang.stream import suggestion

__all__ = ["automaton_from", "with_automata"]


def with_automata(file: PropertyFile) -> PropertyFile:
    """The properties with the automata that they name; files are looked for beside that of the properties."""
    folder = Path(file.source.name).parent

    def completed(expression: Expression) -> Expression:
        if isinstance(expression, AutomatonPath):
            return _read(expression, folder, file.source)
        return map_children(expression, completed)

    def changed(prop: Property) -> Property:
        if prop.error is not None or "HOA" not in prop.text:
            return prop
        try:
            return replace(prop, parsed=completed(prop.expression))
        except LanguageError as error:
            return replace(prop, parsed=error)

    return replace(file, properties=tuple(map(changed, file.properties)))


def _read(path: AutomatonPath, folder: Path, source: Source) -> AutomatonPath:
    place = folder / path.file
    try:
        text = place.read_text(encoding="utf-8")
        automaton = automaton_from(text, str(place))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise LanguageError(f"the automaton {place} cannot be read: {reason}", source, path.span) from None
    given = dict(path.propositions)
    for name in given:
        if name not in automaton.propositions:
            hint = suggestion(name, automaton.propositions, "propositions", '"')
            known = f"it has {', '.join(automaton.propositions) or 'none'}"
            raise LanguageError(f'the automaton has no proposition "{name}"; {known}', source, path.span, hint)
    every = tuple((name, given.get(name) or _meant(name, path, source)) for name in automaton.propositions)
    return replace(path, propositions=every, text=text)


def _meant(name: str, path: AutomatonPath, source: Source) -> Expression:
    """The states that a proposition stands for by its name."""
    if name.isidentifier():
        return Label(name, span=path.span)
    try:
        return _at(parse_expression(Source("proposition", name)), path)
    except LanguageError as error:
        message = f'the proposition "{name}" of the automaton is neither a label nor an expression: {error.message}'
        raise LanguageError(message, source, path.span, f'say what it means: "{name}" <- …') from None


def _at(expression: Expression, path: AutomatonPath) -> Expression:
    """An expression from another text, at the place of the automaton."""
    return replace(map_children(expression, lambda part: _at(part, path)), span=path.span)


@lru_cache(16)  # a question is looked at before its model is built, and asked after that
def automaton_from(text: str, name: str) -> Automaton:
    """The automaton of a text in the Hanoi format, made smaller where that is quick."""
    return reduced(read_hoa(Source(name, text)))
