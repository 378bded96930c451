"""A ``.drn`` file in memory: its header, and where its lines are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .drn_write import LABELS, NAMED
from .errors import FileError, read_bytes

__all__ = ["DrnFile", "label_names"]

_BLOCK = 1 << 20
_LABEL = re.compile(r'\s*(?:"([^"]*)"|([^\s"\[!{]\S*))(?=\s|$)')


@dataclass
class DrnFile:
    """A file in memory, and where its header ends."""

    path: Path
    data: bytes
    header: dict[str, tuple[int, str]] = field(default_factory=dict)
    named: bool = False
    labels: tuple[str, ...] = ()
    body: int = 0

    @classmethod
    def open(cls, path: Path) -> DrnFile:
        """Read a file and its header: lines ``@key: value``, or ``@key`` with the value below, up to ``@model``."""
        data = read_bytes(path)
        found = cls(path, data if data.endswith(b"\n") else data + b"\n")
        start, number, key = 0, 0, ""
        while start < len(found.data):
            end = found.data.index(b"\n", start)
            line = found.data[start:end].decode(errors="replace")
            start, number = end + 1, number + 1
            if line.startswith("//"):
                found.named |= line.strip() == NAMED
                if line.startswith(LABELS):
                    found.labels = _told_labels(line.removeprefix(LABELS))
            elif line.startswith("@model"):
                found.body = start
                return found
            elif line.startswith("@"):
                key, value = (part.strip() for part in line[1:].partition(":")[::2])
                found.header[key] = number, value
            elif key and not found.header[key][1]:
                found.header[key] = number, line  # spaces count: an unnamed reward structure is one
            elif line.strip():
                raise FileError("this is not a line of a .drn header", path, number, line.strip(), "@type: …, @model")
        raise FileError("there is no @model in this file", path, expected="@type: …, and the states after @model")

    def value(self, key: str) -> str:
        """What the header says; empty where it says nothing."""
        return self.header.get(key, (0, ""))[1]

    def header_error(self, message: str, expected: str | None = None, key: str = "type") -> FileError:
        """An error in the header."""
        line, text = self.header.get(key, (None, None))
        return FileError(message, self.path, line, None if text is None else f"@{key} {text}".strip(), expected)

    def count(self, key: str) -> int | None:
        """A number of the header."""
        text = self.value(key).strip()
        if not text:
            return None
        if not text.isdecimal() or len(text) > 18:
            raise self.header_error(f"@{key} is not a number", "a whole number", key)
        return int(text)

    def error_at(self, offset: int, message: str, expected: str | None = None) -> FileError:
        """An error in the line of a byte."""
        line = self.data.count(b"\n", 0, offset) + 1
        start, end = self.data.rfind(b"\n", 0, offset) + 1, self.data.index(b"\n", offset)
        return FileError(message, self.path, line, self.data[start:end].decode(errors="replace").strip(), expected)

    def line_error(self, entry: int, message: str, expected: str | None = None) -> FileError:
        """An error in the line of a transition."""
        return self.nth_error(entry, b"0123456789", message, expected)

    def nth_error(self, number: int, starting: bytes, message: str, expected: str | None = None) -> FileError:
        """An error in one of the lines that begin with one of some characters, counted from 0."""
        for found in re.finditer(rb"^[ \t\r]*([%b])" % starting, self.data[self.body :], re.MULTILINE):
            if number == 0:
                return self.error_at(self.body + found.start(1), message, expected)
            number -= 1
        return FileError(message, self.path, expected=expected)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """The body in blocks of whole lines, with their places."""
        start = self.body
        while start < len(self.data):
            end = self.data.find(b"\n", min(start + _BLOCK, len(self.data) - 1)) + 1
            yield start, self.data[start:end]
            start = end


def label_names(text: str) -> tuple[str, ...]:
    """The labels of a line, those with spaces in quotes; ValueError where it has something else."""
    found, place, text = [], 0, text.rstrip()
    while place < len(text):
        label = _LABEL.match(text, place)
        if label is None:
            raise ValueError(f"this is no label: {text[place:].strip()[:20]}")
        found.append(label[1] if label[2] is None else label[2])
        place = label.end()
    return tuple(found)


def _told_labels(text: str) -> tuple[str, ...]:
    """The labels that a comment lists; a comment of another kind is none of our business."""
    try:
        return label_names(text)
    except ValueError:
        return ()
