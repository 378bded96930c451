"""What stands in the editors of a page: texts that may not be saved yet."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from .project import Project, ProjectError, checked_name
from .trouble import RequestError

__all__ = ["Buffers"]

MOST_BUFFERS = 64


@dataclass(frozen=True)
class _Buffer:
    version: int
    text: str

    @property
    def stamp(self) -> str:
        return f"buffer {self.version} {hashlib.sha1(self.text.encode('utf-8', 'surrogatepass')).hexdigest()}"


@dataclass(eq=False)
class Buffers:
    """The texts of one page by the names of their files; what is not here is read from the project."""

    project: Project
    most_bytes: int
    _open: dict[str, _Buffer] = field(default_factory=dict)

    def change(self, given: dict[str, Any]) -> int:
        """A new version of a text: all of it, or changes to the version before."""
        name, version = given.get("file"), given.get("version")
        checked_name(name)
        assert isinstance(name, str)
        if not isinstance(version, int):
            raise RequestError("a version is a number")
        if "text" in given:
            text = given["text"]
            if not isinstance(text, str):
                raise RequestError("a text is a text")
        else:
            before = self._open.get(name)
            if before is None or before.version != given.get("base"):
                raise RequestError("changes to a version that is not there; send all of the text")
            text = _changed(before.text, given.get("changes"))
        if len(text) > self.most_bytes:
            raise RequestError(f"{name} has more than {self.most_bytes:,} bytes")
        if name not in self._open and len(self._open) >= MOST_BUFFERS:
            raise RequestError("too many files are open; close some")
        self._open[name] = _Buffer(version, text)
        return version

    def close(self, name: object) -> None:
        """Forget a text; its name means the file again."""
        if isinstance(name, str):
            self._open.pop(name, None)

    def write(self, given: dict[str, Any]) -> dict[str, Any]:
        """Save a text: the one given, or that of the editor."""
        name, text, stamp = given.get("file"), given.get("text"), given.get("stamp")
        if text is None:
            if not isinstance(name, str) or name not in self._open:
                raise RequestError("there is no text to save")
            text = self._open[name].text
        if not isinstance(text, str) or not isinstance(stamp, (str, type(None))):
            raise RequestError("a text and a stamp are texts")
        data = text.encode("utf-8", "replace")
        return {"file": name, "stamp": self.project.write(name, data, stamp=stamp, create=given.get("create") is True)}

    def check_new(self, name: object) -> None:
        """Refuse a name that no new file can have."""
        checked_name(name)

    def text(self, name: object) -> tuple[str, str]:
        """The stamp and the text that a name means now."""
        checked_name(name)
        assert isinstance(name, str)
        found = self._open.get(name)
        if found is not None:
            return found.stamp, found.text
        text, stamp = self.project.read(name)
        return stamp, text

    def texts_of(self, given: dict[str, Any]) -> dict[str, tuple[str, str]]:
        """The texts of all files that an ask names."""
        found: dict[str, tuple[str, str]] = {}
        for name in dict.fromkeys(_names(given)):
            try:
                found[name] = self.text(name)
            except ProjectError as error:
                if not _optional(given, name):
                    raise
                del error
        return found


def _names(given: dict[str, Any]) -> list[str]:
    """The files that stand in an ask."""
    found = [given.get("model"), given.get("file")]
    properties = given.get("properties")
    parts = properties if isinstance(properties, list) else [properties]
    for part in (*parts, given.get("property"), given.get("strategy")):
        found.append(part.get("file") if isinstance(part, dict) else part)
    return [name for name in found if isinstance(name, str)]


def _optional(given: dict[str, Any], name: str) -> bool:
    """Whether an editor asks, which may know of a file that is gone."""
    return "offset" in given and name != given.get("file")


def _changed(text: str, changes: object) -> str:
    """A text after changes, in offsets of the text before, in UTF-16 units."""
    if not isinstance(changes, list):
        raise RequestError("changes are a list")
    plain = text.isascii()
    data: Any = text if plain else text.encode("utf-16-le", "surrogatepass")
    width = 1 if plain else 2
    parts: list[Any] = []
    place = 0
    for change in changes:
        start, end, insert = (
            (change.get(k) for k in ("from", "to", "insert")) if isinstance(change, dict) else [None] * 3
        )
        if not isinstance(start, int) or not isinstance(end, int) or not isinstance(insert, str):
            raise RequestError("a change has from, to and insert")
        if not place <= start * width <= end * width <= len(data):
            raise RequestError("changes lie in the text, in order")
        parts += [data[place : start * width], insert if plain else insert.encode("utf-16-le", "surrogatepass")]
        place = end * width
    parts.append(data[place:])
    if plain:
        return "".join(parts)
    return b"".join(parts).decode("utf-16-le", "surrogatepass")
