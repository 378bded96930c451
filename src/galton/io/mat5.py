"""Arrays from MATLAB's files of version 5 to 7: numbers, truth values, sparse matrices and texts.

This is a small reader of our own, because the usual ones make room for what a file promises before they look whether it
is there. Cells, structures and objects are left out; nothing in a file is run.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.values import Floats
from .compression import decompressed
from .errors import FileError, read_bytes

__all__ = ["Sparse", "read_arrays"]

HEADER = 128
MATRIX, COMPRESSED = 14, 15
UTF8, UTF16, UTF32 = 16, 17, 18
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
CHAR, SPARSE, DOUBLE, LAST = 4, 5, 6, 15  # classes of arrays; from DOUBLE to LAST they hold numbers
COMPLEX, LOGICAL = 0x08, 0x02
MOST = 2**31 - 1


@dataclass(frozen=True)
class Sparse:
    """A sparse matrix by its entries."""

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    values: Floats
    shape: tuple[int, int]


class _BrokenError(Exception):
    """A file that is not what it claims to be."""


def read_arrays(path: Path) -> dict[str, Any]:
    """The arrays of a file by name: NumPy arrays, :class:`Sparse`, or lists of texts."""
    data = read_bytes(path)
    if data[:8] == b"\x89HDF\r\n\x1a\n" or b"MATLAB 7.3" in data[:HEADER]:
        raise FileError("this is version 7.3 of MATLAB's format, which Galton does not read", path, expected="save -v7")
    if len(data) < HEADER or data[126:128] not in (b"IM", b"MI"):
        raise FileError("this is no file of MATLAB's, version 5 to 7", path, expected="save -v7")
    order = "<" if data[126:128] == b"IM" else ">"
    found: dict[str, Any] = {}
    try:
        place = HEADER
        while place < len(data):
            kind, body, place = _element(data, place, order)
            if kind == COMPRESSED:
                kind, body, _ = _element(decompressed(path, body, zlib.decompressobj()), 0, order)
            if kind == MATRIX and body:
                name, array = _array(bytes(body), order)
                if name in found:
                    raise _BrokenError(f"{name} is there twice")
                if array is not None:
                    found[name] = array
    except (_BrokenError, ValueError) as error:
        raise FileError(f"this file is broken: {error}", path) from None
    return found


def _element(data: bytes | bytearray, place: int, order: str) -> tuple[int, bytes, int]:
    """The type and the bytes of an element, and where the next one begins."""
    if place + 8 > len(data):
        raise _BrokenError("it ends within an element")
    kind, size = (int(number) for number in np.frombuffer(data, f"{order}u4", 2, place))
    if kind >> 16:  # a small one: size and data in the same eight bytes
        kind, size = kind & 0xFFFF, kind >> 16
        if size > 4:
            raise _BrokenError("a small element is too long")
        return kind, bytes(data[place + 4 : place + 4 + size]), place + 8
    end = place + 8 + size
    if end > len(data):
        raise _BrokenError(f"an element at byte {place} has {size:,} bytes, and the file ends before")
    padding = 0 if kind == COMPRESSED else -size % 8
    return kind, bytes(data[place + 8 : end]), end + padding


def _array(data: bytes, order: str) -> tuple[str, Any]:
    _, flags, place = _element(data, 0, order)
    _, dimensions, place = _element(data, place, order)
    _, name, place = _element(data, place, order)
    if len(flags) != 8 or len(dimensions) < 8 or len(dimensions) > 128 or len(dimensions) % 4:
        raise _BrokenError("an array has no flags, or no shape")
    word = int(np.frombuffer(flags, f"{order}u4", 1)[0])
    shape = tuple(int(size) for size in np.frombuffer(dimensions, f"{order}i4"))
    known, shown = word & 0xFF, name.decode("latin-1")
    if any(size < 0 for size in shape):
        raise _BrokenError(f"{shown} has a negative size")
    if (word >> 8) & COMPLEX:
        return shown, None
    if known == SPARSE:
        return shown, _sparse(data, place, order, shape)
    if known == CHAR:
        return shown, _texts(data, place, order, shape)
    if not DOUBLE <= known <= LAST:
        return shown, None
    values, _ = _numbers(data, place, order)
    if values.size != _product(shape):
        raise _BrokenError(f"{shown} has {values.size:,} numbers, and the shape {shape}")
    array = values.reshape(shape, order="F")
    return shown, array != 0 if (word >> 8) & LOGICAL else array


def _product(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def _numbers(data: bytes, place: int, order: str) -> tuple[npt.NDArray[Any], int]:
    kind, body, place = _element(data, place, order)
    if kind not in NUMBERS:
        raise _BrokenError(f"numbers of an unknown type, {kind}")
    dtype = np.dtype(f"{order}{NUMBERS[kind]}")
    if len(body) % dtype.itemsize:
        raise _BrokenError("numbers end within one")
    found = np.frombuffer(body, dtype)
    return found.astype(dtype.newbyteorder("=")), place


def _sparse(data: bytes, place: int, order: str, shape: tuple[int, ...]) -> Sparse:
    rows, place = _numbers(data, place, order)
    starts, place = _numbers(data, place, order)
    values, _ = _numbers(data, place, order)
    if len(shape) != 2 or max(shape) > MOST or len(starts) != shape[1] + 1:
        raise _BrokenError("a sparse matrix has no starts of its columns")
    starts, rows = starts.astype(np.int64), rows.astype(np.int64)
    count = int(starts[-1])
    if starts[0] != 0 or (np.diff(starts) < 0).any() or count > len(rows) or count > len(values):
        raise _BrokenError("the columns of a sparse matrix do not rise to the number of its entries")
    rows = rows[:count]
    if count and (rows.min() < 0 or rows.max() >= shape[0]):
        raise _BrokenError("a sparse matrix has an entry outside of its rows")
    columns = np.repeat(np.arange(shape[1]), np.diff(starts))
    return Sparse(rows, columns, values[:count].astype(np.float64), (shape[0], shape[1]))


def _texts(data: bytes, place: int, order: str, shape: tuple[int, ...]) -> list[str]:
    """The rows of a matrix of characters."""
    kind, body, _ = _element(data, place, order)
    if kind in NUMBERS:
        encoding = {1: "latin-1", 2: "latin-1", 3: "utf-16", 4: "utf-16"}.get(kind, "")
    else:
        encoding = {UTF8: "utf-8", UTF16: "utf-16", UTF32: "utf-32"}.get(kind, "")
    if not encoding:
        raise _BrokenError(f"characters of an unknown type, {kind}")
    suffix = "" if encoding in ("utf-8", "latin-1") else "-le" if order == "<" else "-be"
    text = body.decode(encoding + suffix)
    if len(shape) != 2 or _product(shape) != len(text):
        raise _BrokenError(f"{len(text)} characters in a matrix of the shape {shape}")
    return ["".join(text[row :: shape[0]]) for row in range(shape[0])] if text else []
