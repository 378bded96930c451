"""JSON with places: every value knows where it stood, so that errors can point at it.

The reader keeps no calls open for nested values, takes numbers as they were written (``0.1`` is a tenth) and refuses
keys that are given twice. It builds nothing but what the text holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..source import LanguageError, Source, Span, UnsupportedError
from ..stream import nearest

__all__ = ["Node", "Number", "read_json"]

MOST_NESTED = 2_000  # objects and lists in each other

_SPACES = r"[ \t\r\n\ufeff]*"
_TOKEN = re.compile(
    _SPACES
    + r"""(?:
    (?P<string>"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*")
    | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![0-9A-Za-z_.]))
    | (?P<word>(?:true|false|null)(?![A-Za-z_0-9]))
    | (?P<symbol>[][{}:,])
    )""",
    re.VERBOSE,
)
_SPACE = re.compile(_SPACES)
_WORDS = {"true": True, "false": False, "null": None}
_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}


class Number(str):
    """A number as it was written."""

    __slots__ = ()


class Node:
    """A value of a JSON text with its place. ``value`` is a dict, list, str, :class:`Number`, bool or None."""

    __slots__ = ("source", "span", "value")

    def __init__(self, value: object, span: Span, source: Source):
        self.value, self.span, self.source = value, span, source

    @property
    def kind(self) -> str:
        """What the value is, in words."""
        return "a number" if isinstance(self.value, Number) else _KINDS[type(self.value)]

    def error(self, message: str, hint: str | None = None) -> LanguageError:
        return LanguageError(message, self.source, self.span, hint)

    def unsupported(self, message: str, hint: str | None = None) -> UnsupportedError:
        return UnsupportedError(message, self.source, self.span, hint)

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def only(self, keys: Iterable[str], what: str) -> Node:
        """Itself, an object that has no other keys; comments are welcome, and so are extensions (``x-…``)."""
        known = {*keys, "comment"}
        for key in self.fields(what):
            if key not in known and not key.startswith("x-"):
                raise self[key].error(f"{what} has no '{key}'", nearest(key, known))
        return self

    def fields(self, what: str) -> dict[str, Node]:
        if not isinstance(self.value, dict):
            raise self.error(f"{what} must be an object, and this is {self.kind}")
        return self.value

    def __getitem__(self, key: str) -> Node:
        return self.value[key]  # type: ignore[index, no-any-return]

    def get(self, key: str) -> Node | None:
        """What stands under a key of an object, if anything does."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def need(self, key: str, what: str) -> Node:
        """What stands under a key that an object must have."""
        found = self.fields(what).get(key)
        if found is None:
            raise self.error(f"{what} needs '{key}'")
        return found

    def items(self, what: str) -> Iterator[Node]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.error(f"{what} must be a list, and this is {self.kind}")
        return iter(self.value)

    def list_of(self, key: str, what: str) -> list[Node]:
        """The items of a list under a key; none where there is no such key."""
        found = self.get(key)
        return [] if found is None else list(found.items(what))

    def text(self, what: str) -> str:
        if not isinstance(self.value, str) or isinstance(self.value, Number):
            raise self.error(f"{what} must be a text, and this is {self.kind}")
        return self.value

    def truth(self, what: str) -> bool:
        if not isinstance(self.value, bool):
            raise self.error(f"{what} must be true or false, and this is {self.kind}")
        return self.value


def read_json(source: Source) -> Node:
    """The value that a JSON text holds.

    >>> node = read_json(Source("example", '{"a": [1, 0.50]}'))
    >>> [item.value for item in node["a"].items("a")]
    ['1', '0.50']
    """
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: Source):
        self._source, self._text = source, source.text
        self._at = 0
        self._open: list[tuple[Node, str | None]] = []  # what is still open, and the key that waits for its value

    def read(self) -> Node:
        while True:
            node = self._value()
            if isinstance(node.value, (dict, list)) and not self._is_empty(node):
                self._enter(node)
                continue
            while self._open:  # a value is complete: put it where it belongs
                node, complete = self._put(node)
                if not complete:
                    break
            else:
                self._skip()
                if self._at < len(self._text):
                    raise self._error("the text goes on after its end")
                return node

    def _value(self) -> Node:
        kind, text, span = self._token("a value")
        if kind == "string":
            return self._node(self._string(text, span), span)
        if kind == "number":
            return self._node(Number(text), span)
        if kind == "word":
            return self._node(_WORDS[text], span)
        if text == "{":
            return self._node({}, span)
        if text == "[":
            return self._node([], span)
        raise self._unexpected("a value", span)

    def _is_empty(self, node: Node) -> bool:
        """Whether an object or list that was just opened is closed at once."""
        self._skip()
        closed = self._text.startswith("}" if isinstance(node.value, dict) else "]", self._at)
        if closed:
            self._at += 1
            node.span = Span(node.span.start, self._at)
        return closed

    def _enter(self, node: Node) -> None:
        if len(self._open) >= MOST_NESTED:
            raise node.error("values are nested too deeply")
        self._open.append((node, self._key(node) if isinstance(node.value, dict) else None))

    def _key(self, node: Node) -> str:
        kind, text, span = self._token("a key in double quotes")
        if kind != "string":
            raise self._unexpected("a key in double quotes", span)
        key = self._string(text, span)
        if key in node:
            raise LanguageError(f"'{key}' is given twice", self._source, span)
        _, text, span = self._token("':'")
        if text != ":":
            raise self._unexpected("':'", span)
        return key

    def _put(self, value: Node) -> tuple[Node, bool]:
        """Put a value into what is open; returns that, and whether it is complete now."""
        node, key = self._open.pop()
        close = "}" if key is not None else "]"
        if key is not None:
            node.value[key] = value  # type: ignore[index]
        else:
            node.value.append(value)  # type: ignore[attr-defined]
        _, text, span = self._token(f"',' or '{close}'")
        if text == close:
            node.span = Span(node.span.start, span.end)
            return node, True
        if text != ",":
            raise self._unexpected(f"',' or '{close}'", span)
        self._open.append((node, None if key is None else self._key(node)))
        return node, False

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        assert match is not None
        self._at = match.end()

    def _token(self, expected: str) -> tuple[str, str, Span]:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            self._skip()
            raise self._error(f"expected {expected}")
        kind = match.lastgroup
        assert kind is not None
        self._at = match.end()
        return kind, match[kind], Span(match.start(kind), self._at)

    def _string(self, text: str, span: Span) -> str:
        if "\\" not in text:
            return text[1:-1]
        import json

        try:
            return str(json.loads(text))
        except ValueError:
            raise LanguageError("a text has an escape that JSON does not know", self._source, span) from None

    def _node(self, value: object, span: Span) -> Node:
        return Node(value, span, self._source)

    def _unexpected(self, expected: str, span: Span) -> LanguageError:
        found = self._text[span.start : span.end]
        return LanguageError(f"expected {expected}, found '{found[:40]}'", self._source, span)

    def _error(self, message: str) -> LanguageError:
        end = self._at >= len(self._text)
        said = (
            f"{message}, and the text ends here: the file is not complete"
            if end and message[:8] == "expected"
            else message
        )
        return LanguageError(said, self._source, Span(self._at, self._at + 1))
