"""The project: a plain folder with the user's own files, and nothing outside of it.

Every file is opened part by part from the folder itself, and no link is followed on the way: so no name, however it is
written, and nobody who changes links meanwhile, leads out of it. What begins with a dot is not there.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from .trouble import RequestError

__all__ = ["Project", "ProjectError", "checked_name"]

MODELS = {".prism", ".nm", ".pm", ".sm", ".jani", ".xml", ".sbml"}
PROPERTIES = {".props", ".prop", ".pctl", ".csl", ".ltl"}
LONGEST_NAME = 512
DEEPEST = 8
SCANNED = 20_000  # entries of a folder that are looked at

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ProjectError(RequestError):
    """A file that cannot be read or written."""

    kind = "refused"


def checked_name(name: object) -> tuple[str, ...]:
    """The parts of the name of a file; what could lead elsewhere is refused."""
    if not isinstance(name, str) or not name:
        raise RequestError("a file is named by a text")
    if len(name) > LONGEST_NAME or not name.isprintable() or "\\" in name:
        raise RequestError("this is no name of a file in the project")
    parts = tuple(name.split("/"))
    if len(parts) > DEEPEST or any(part in ("", ".", "..") or part.startswith(".") for part in parts):
        raise RequestError(f"{name}: files are named by their path inside the project, without dots at the beginning")
    return parts


def stamp_of(found: os.stat_result) -> str:
    """What changes when a file does."""
    return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}"


@dataclass(frozen=True)
class Project:
    """One folder; ``most_bytes`` of a text and ``most_files`` in a list."""

    root: Path
    most_bytes: int
    most_files: int

    @property
    def name(self) -> str:
        """What it is called."""
        return self.root.name or "/"

    def files(self) -> list[dict[str, Any]]:
        """Files and folders that have a name for the studio, in order; of too many, those that lie highest."""
        found: list[dict[str, Any]] = []
        folders: deque[tuple[str, ...]] = deque([()])
        while folders and len(found) < self.most_files:
            parts = folders.popleft()
            for name, entry in _entries(self.root.joinpath(*parts), self.most_files - len(found)):
                path = (*parts, name)
                if stat.S_ISDIR(entry.st_mode):
                    found.append({"file": "/".join(path), "kind": "folder", "bytes": 0, "stamp": ""})
                    if len(path) < DEEPEST and name != "node_modules":
                        folders.append(path)
                else:
                    size, stamp = entry.st_size, stamp_of(entry)
                    found.append({"file": "/".join(path), "kind": _kind(name), "bytes": size, "stamp": stamp})
        return sorted(found, key=lambda one: str(one["file"]))

    def read(self, name: object) -> tuple[str, str]:
        """The text of a file and its stamp; what is not UTF-8 is shown as such."""
        data, stamp = self.read_bytes(name)
        return data.decode("utf-8", errors="replace"), stamp

    def read_bytes(self, name: object) -> tuple[bytes, str]:
        """What is in a file, and its stamp."""
        with self._folder_of(name) as (folder, last):
            # Without waiting: a pipe that somebody put there would never answer.
            number = self._opened(name, last, os.O_RDONLY | os.O_NONBLOCK, folder)
            found = os.fstat(number)
            if not stat.S_ISREG(found.st_mode):
                os.close(number)
                raise ProjectError(f"{name} is no file")
            with open(number, "rb") as file:
                if found.st_size > self.most_bytes:
                    raise ProjectError(f"{name} has {found.st_size:,} bytes; at most {self.most_bytes:,} are read")
                return file.read(self.most_bytes + 1), stamp_of(found)

    def write(self, name: object, data: bytes, *, stamp: str | None = None, create: bool = False) -> str:
        """Write a file, all of it or nothing; return its new stamp.

        It is refused where the file is not the one of the ``stamp`` any more, or with ``create`` where there is one.
        """
        if len(data) > self.most_bytes:
            raise ProjectError(f"{name} would have {len(data):,} bytes; at most {self.most_bytes:,} are written")
        with self._folder_of(name) as (folder, last):
            try:
                before: os.stat_result | None = os.stat(last, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                before = None
            if before is not None and not stat.S_ISREG(before.st_mode):
                raise ProjectError(f"{name} is no file, and is not written")
            if before is not None and create:
                raise ProjectError(f"there is a file {name} already")
            if stamp is not None and (before is None or stamp_of(before) != stamp):
                raise ProjectError(f"{name} has changed on disk since it was read; read it again, or save elsewhere")
            draft = f".{last[:64]}.{secrets.token_hex(8)}"
            mode = 0o644 if before is None else stat.S_IMODE(before.st_mode)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                number = os.open(draft, flags, mode, dir_fd=folder)
                with open(number, "wb") as file:
                    file.write(data)
                if before is None and create:
                    os.link(draft, last, src_dir_fd=folder, dst_dir_fd=folder)  # refuses what appeared meanwhile
                    os.unlink(draft, dir_fd=folder)
                else:
                    os.rename(draft, last, src_dir_fd=folder, dst_dir_fd=folder)
                return stamp_of(os.stat(last, dir_fd=folder, follow_symlinks=False))
            except OSError as error:
                with suppress(OSError):
                    os.unlink(draft, dir_fd=folder)
                raise ProjectError(f"{name} cannot be written: {error.strerror}") from None

    def create_folder(self, name: object) -> None:
        """Make an empty folder."""
        with self._folder_of(name) as (folder, last), _told(name, "made"):
            os.mkdir(last, 0o755, dir_fd=folder)

    def rename(self, name: object, to: object) -> None:
        """Give a file or a folder another name; one that is taken is refused."""
        with self._folder_of(name) as (folder, last), self._folder_of(to) as (other, new), _told(name, "renamed"):
            found = os.stat(last, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                raise ProjectError(f"{name} is a link; the studio does not follow links")
            try:
                os.stat(new, dir_fd=other, follow_symlinks=False)
            except FileNotFoundError:
                os.rename(last, new, src_dir_fd=folder, dst_dir_fd=other)
                return
            raise ProjectError(f"there is a file {to} already")

    def delete(self, name: object) -> None:
        """Remove a file, or a folder that is empty."""
        with self._folder_of(name) as (folder, last), _told(name, "deleted"):
            found = os.stat(last, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                os.rmdir(last, dir_fd=folder)
            else:
                os.unlink(last, dir_fd=folder)

    @contextmanager
    def _folder_of(self, name: object) -> Iterator[tuple[int, str]]:
        """The folder of a file, opened, and the last part of its name."""
        parts = checked_name(name)
        with _told("the project folder", "opened"):
            opened = [os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
        try:
            for part in parts[:-1]:
                opened.append(self._opened(name, part, _FOLDER, opened[-1]))
            yield opened[-1], parts[-1]
        finally:
            for number in opened:
                os.close(number)

    def _opened(self, name: object, part: str, flags: int, folder: int) -> int:
        try:
            return os.open(part, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        except OSError as error:
            if os.path.islink(f"/dev/fd/{folder}/{part}"):
                raise ProjectError(f"{name} is a link, or lies behind one; the studio does not follow links") from None
            raise ProjectError(f"{name} cannot be read: {error.strerror}") from None


def _entries(folder: Path, most: int) -> list[tuple[str, os.stat_result]]:
    """What is in a folder that the studio shows: files and folders, no links, nothing hidden."""
    found: list[tuple[str, os.stat_result]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, SCANNED):
            if entry.name.startswith(".") or not entry.name.isprintable():
                continue
            with suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(about.st_mode) or stat.S_ISREG(about.st_mode):
                    found.append((entry.name, about))
    return sorted(found, key=lambda one: one[0])[:most]


@contextmanager
def _told(name: object, what: str) -> Iterator[None]:
    """Say which file it was."""
    try:
        yield
    except OSError as error:
        raise ProjectError(f"{name} cannot be {what}: {error.strerror}") from None


def _kind(name: str) -> str:
    suffix = Path(name).suffix.lower()
    return "model" if suffix in MODELS else "properties" if suffix in PROPERTIES else "other"
