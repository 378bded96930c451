"""Errors that point into a file."""

from __future__ import annotations

from pathlib import Path

from ..lang.source import GaltonError


class FileError(GaltonError):
    """Something wrong with a file: which file, which line, what is wrong there, what was expected."""

    kind = "file"

    def __init__(
        self, message: str, path: Path, line: int | None = None, text: str | None = None, expected: str | None = None
    ):
        self.message, self.path, self.line, self.text, self.expected = message, path, line, text, expected
        super().__init__(message)

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line is not None else str(self.path)
        shown = [f"{place}: error: {self.message}"]
        if self.line is not None and self.text is not None:
            text = self.text if len(self.text) <= 100 else self.text[:99] + "…"
            shown.append(f"{self.line:>5} | {text}")
        if self.expected:
            shown.append(f"  expected: {self.expected}")
        return "\n".join(shown)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.path, self.line, self.text, self.expected)


def read_bytes(path: Path) -> bytes:
    """All of a file; :class:`FileError` where that cannot be."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileError("there is no such file", path) from None
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path) from None
