"""Files that are there as a whole or not at all.

A file is written beside its target and takes the target's name when it is complete: who stops the program, or fills the
disk, still has the file of before. What is no ordinary file (a pipe, ``/dev/stdout``) is written to as it is.

>>> from tempfile import mkdtemp
>>> path = Path(mkdtemp()) / "answer.txt"
>>> with replacing(path) as file:
...     _ = file.write("42")
>>> path.read_text()
'42'
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from ..lang.source import GaltonError

__all__ = ["Output", "OutputError", "check_writable", "replacing"]

Kind = Literal["text", "binary"]
OPEN_FILES = "/proc/"
MOST_LINKS = 40  # as the system's own limit


class OutputError(GaltonError):
    """A file that could not be written."""

    kind = "output"


def check_writable(path: str | Path) -> None:
    """Refuse a file that cannot be written, before the work whose result it would hold."""
    target = _followed(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise OutputError(f"{path}: there is no folder {folder}; make it first")
    if os.path.isdir(target):
        raise OutputError(f"{path} is a folder; name a file")
    if not os.access(target if os.path.exists(target) else folder, os.W_OK):
        raise OutputError(f"{path} may not be written: permission denied")


@contextmanager
def replacing(path: str | Path, kind: Kind = "text") -> Iterator[IO[Any]]:
    """A file to write to, which becomes ``path`` when all is written; where something fails, ``path`` stays as it was.

    Text is UTF-8 and its line ends are kept as they are.
    """
    output = Output(path, kind)
    try:
        yield output.file
        output.complete()
    except OSError as error:
        raise output.failed(error) from None
    finally:
        output.discard()


class Output:
    """A file that is written beside its place and grows: ``complete`` moves it there, ``discard`` drops it."""

    def __init__(self, path: str | Path, kind: Kind = "text"):
        self._path, self._target, self._beside = path, _followed(path), ""
        try:
            number = self._open()
        except OSError as error:
            raise self.failed(error) from None
        self.file: IO[Any] = os.fdopen(number, "wb") if kind == "binary" else _text(number)

    def complete(self) -> None:
        """All is written: what was written beside becomes the file."""
        self.file.flush()
        if self._beside:
            os.fsync(self.file.fileno())  # some disks tell only now that they are full
        self.file.close()
        if self._beside:
            os.replace(self._beside, self._target)
            self._beside = ""
            _sync_folder(os.path.dirname(self._target))

    def discard(self) -> None:
        """What was written beside, if it still is, was for nothing."""
        with suppress(OSError):  # what could not be written cannot be flushed either
            self.file.close()
        if self._beside:
            with suppress(OSError):
                os.unlink(self._beside)
            self._beside = ""

    def failed(self, error: OSError) -> OSError | OutputError:
        """The error for the person who asked for the file; a pipe that nobody reads any more is none."""
        if isinstance(error, BrokenPipeError):
            return error
        kept = "; the file of before is as it was" if self._beside and os.path.exists(self._target) else ""
        return OutputError(f"{self._path} could not be written: {error.strerror or error}{kept}")

    def _open(self) -> int:
        """Open the file beside, with the rights that the target has, or would have."""
        try:
            before = os.stat(self._target)
        except FileNotFoundError:
            before = None
        new = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
        if before is not None and (self._target.startswith(OPEN_FILES) or not stat.S_ISREG(before.st_mode)):
            return os.open(self._target, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        if before is not None:
            os.close(os.open(self._target, os.O_WRONLY | os.O_CLOEXEC))  # may it be written?
        beside = os.path.join(os.path.dirname(self._target), f".galton-{os.urandom(6).hex()}.part")
        try:
            number = os.open(beside, new | os.O_EXCL, 0o666)
        except PermissionError:
            if before is None:
                raise
            return os.open(self._target, new | os.O_TRUNC)  # a file that may be written in a folder that may not
        self._beside = beside
        if before is not None:
            with suppress(OSError):  # somebody else's file becomes ours
                os.fchown(number, before.st_uid, before.st_gid)
            os.fchmod(number, stat.S_IMODE(before.st_mode))
        return number


def _text(number: int) -> IO[str]:
    return os.fdopen(number, "w", encoding="utf-8", newline="")


def _followed(path: str | Path) -> str:
    """Where a file is, at the end of all links: what they lead to is replaced, not they.

    A link to an open file (``/dev/stdout``) is not followed further: whoever opened it goes on writing there.
    """
    place = os.path.abspath(path)
    for _ in range(MOST_LINKS):
        place = os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
        if place.startswith(OPEN_FILES) or not os.path.islink(place):
            break
        place = os.path.join(os.path.dirname(place), os.readlink(place))
    return place


def _sync_folder(folder: str) -> None:
    with suppress(OSError):  # not every file system can, and the file is there
        number = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(number)
        finally:
            os.close(number)
