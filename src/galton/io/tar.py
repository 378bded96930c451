"""Tar archives of arrays, perhaps compressed: the container of ``.umb`` files.

All of an archive is read at once and its members are views of it, so that arrays come at the speed of the disk. What a
file says of its sizes is believed only as far as the file is long. The layout is that of POSIX (ustar), with the long
names of pax and GNU.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .compression import packed, unpacked
from .errors import FileError, read_bytes
from .output import replacing

__all__ = ["Bytes", "read_tar", "write_tar"]

Bytes = npt.NDArray[np.uint8]

RECORD = 512


def read_tar(path: Path) -> dict[str, Bytes]:
    """The members of an archive by name, in their order; each once."""
    data = np.frombuffer(unpacked(path, read_bytes(path)), dtype=np.uint8)
    members: dict[str, Bytes] = {}
    place, longer = 0, ""
    while True:
        header = data[place : place + RECORD]
        if len(header) < RECORD:  # an empty record is the end
            raise FileError("this is no tar archive, or its end is missing", path)
        if not header.any():
            break
        name, size, kind = _header(path, header, place)
        start, end = place + RECORD, place + RECORD + size
        if end > len(data):
            raise FileError(f"the file ends within {name}", path)
        if kind in b"0\0":
            name = (longer or name).removeprefix("./")
            if name in members:
                raise FileError(f"{name} is there twice", path)
            members[name], longer = data[start:end], ""
        elif kind in b"xL":
            longer = _long_name(data[start:end].tobytes(), kind)
        elif kind not in b"5g":
            raise FileError(f"{name} is no ordinary file", path)
        else:
            longer = ""
        place = end + -size % RECORD
    if not members:
        raise FileError("this is no tar archive, or an empty one", path)
    return members


def _header(path: Path, header: Bytes, place: int) -> tuple[str, int, bytes]:
    raw = header.tobytes()
    if _octal(raw[148:156]) != int(header.sum()) - sum(raw[148:156]) + 8 * ord(" "):
        raise FileError(f"this is no tar archive: the header at byte {place} has a wrong check sum", path)
    name, prefix = (part.split(b"\0", 1)[0].decode(errors="replace") for part in (raw[:100], raw[345:500]))
    digits = raw[124:136]
    size = int.from_bytes(digits, "big") & ~(0x80 << 88) if digits[0] & 0x80 else _octal(digits)
    if size is None:
        raise FileError(f"this is no tar archive: {name!r} has no size", path)
    return f"{prefix}/{name}" if prefix else name, size, raw[156:157]


def _octal(field: bytes) -> int | None:
    digits = field.strip(b" \0")
    return int(digits, 8) if digits and not set(digits) - set(b"01234567") else None


def _long_name(data: bytes, kind: bytes) -> str:
    """The name that a member before the one it is about tells."""
    if kind == b"L":
        return data.split(b"\0", 1)[0].decode(errors="replace")
    for line in data.split(b"\n"):
        _, _, record = line.partition(b" ")
        if record.startswith(b"path="):
            return record.removeprefix(b"path=").decode(errors="replace")
    return ""


def write_tar(path: Path, members: Iterable[tuple[str, Bytes]], compression: str | None = None) -> None:
    """Write an archive; arrays go to the file as they are in memory."""
    with replacing(path, "binary") as file:
        out = packed(file, compression)
        for name, data in members:
            out.write(_new_header(name, data.nbytes))
            out.write(data.data if data.nbytes else b"")
            out.write(bytes(-data.nbytes % RECORD))
        out.write(bytes(2 * RECORD))
        if out is not file:
            out.close()


def _new_header(name: str, size: int) -> bytes:
    """A header of ustar: a name that is too long for its field goes on in the prefix, cut at a slash."""
    encoded, prefix = name.encode(), b""
    if len(encoded) > 100:
        cut = encoded.find(b"/", len(encoded) - 101)
        prefix, encoded = encoded[:cut], encoded[cut + 1 :]
    length = f"{size:011o}\0".encode() if size < 8**11 else (size | 0x80 << 88).to_bytes(12, "big")
    fields = [encoded.ljust(100, b"\0"), b"0000644\0", b"0000000\0", b"0000000\0", length, b"00000000000\0"]
    tail = [b"0", bytes(100), b"ustar\x0000", bytes(32), bytes(32), b"0000000\0", b"0000000\0"]
    tail += [prefix.ljust(155, b"\0"), bytes(12)]
    blank = b"".join([*fields, b" " * 8, *tail])
    return b"".join([*fields, f"{sum(blank):06o}\0 ".encode(), *tail])
