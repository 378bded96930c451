"""Reading tables of numbers: the body of every explicit format, a line per entry, fields apart by spaces.

The fast path works on the bytes of a block of lines at once. It never guesses: whatever it does not understand sends
the file through a slow path that goes line by line and says which line is wrong, and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from ..model.values import Floats
from .errors import FileError, read_bytes

Int32s = npt.NDArray[np.int32]

FEW_STATES, MOST_STATES = 10**6, 2**31 - 1
_BLOCK = 1 << 20  # bytes read at a time
_INTEGER = re.compile(r"-?\d{1,10}")


@dataclass(frozen=True)
class TextFile:
    """A file in memory: comment lines, a header line, and the body after it."""

    path: Path
    data: bytes
    comments: tuple[tuple[int, str], ...]  # with their line numbers
    header: str
    header_line: int
    body: int  # offset in data

    @classmethod
    def open(cls, path: Path, *, comment: str = "#", expected: str) -> TextFile:
        """Read a file and find its header: the first line that is neither empty nor a comment."""
        data = read_bytes(path)
        if not data.endswith(b"\n"):
            data += b"\n"
        comments, start, number = [], 0, 0
        while start < len(data):
            end = data.index(b"\n", start)
            line = data[start:end].decode(errors="replace").strip()
            start, number = end + 1, number + 1
            if line.startswith(comment):
                comments.append((number, line))
            elif line:
                return cls(path, data, tuple(comments), line, number, start)
        raise FileError("the file is empty", path, expected=expected)

    def header_error(self, message: str, expected: str | None = None) -> FileError:
        """An error in the header."""
        return FileError(message, self.path, self.header_line, self.header, expected)

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines of the body that are neither empty nor comments, with their numbers."""
        body = self.data[self.body :].decode(errors="replace")
        for number, line in enumerate(body.split("\n"), self.header_line + 1):
            if (stripped := line.strip()) and not stripped.startswith(("#", "%")):
                yield number, stripped

    def line_error(self, entry: int, message: str, expected: str | None = None) -> FileError:
        """An error in the line of an entry of the table, counted from 0."""
        for count, (number, text) in enumerate(self.lines()):
            if count == entry:
                return FileError(message, self.path, number, text, expected)
        return FileError(message, self.path, expected=expected)

    def check_states(self, count: int) -> None:
        """Refuse a number of states that the file is far too short for: a state has a line, or most have."""
        if not 1 <= count <= MOST_STATES:
            raise self.header_error(f"a model cannot have {count} states", f"1 to {MOST_STATES} states")
        if count > max(FEW_STATES, len(self.data)):
            raise self.header_error(
                f"this file is too short for a model of {count} states", "most states in lines below"
            )

    def header_numbers(self, count: int | tuple[int, ...], expected: str) -> list[int]:
        """The header as that many numbers (or one of several counts)."""
        fields = self.header.split()
        counts = (count,) if isinstance(count, int) else count
        if len(fields) not in counts or not all(field.isdecimal() and len(field) < 19 for field in fields):
            raise self.header_error(f"this is not the header of a {self.path.suffix} file", expected)
        return [int(field) for field in fields]


@dataclass(frozen=True)
class Table:
    """Columns of a body: integers, then perhaps a number, then perhaps a name, by its number among ``names``."""

    integers: list[Int32s]
    values: Floats
    names: list[str]
    name_codes: Int32s

    def __len__(self) -> int:
        return len(self.values) if len(self.values) else len(self.integers[0])


class _Names(dict[bytes, int]):
    """Name to its number in order of appearance; the empty name is 0."""

    def __missing__(self, text: bytes) -> int:
        text.decode()  # raises ValueError for what is not UTF-8
        code = self[text] = len(self)
        return code


def parse_number(text: bytes) -> float:
    """A decimal number, or a fraction as PRISM's exact engine writes it; ValueError for anything else."""
    numerator, slash, denominator = text.partition(b"/")
    value = float(numerator) / int(denominator) if slash else float(text)
    if value - value != 0 or b"_" in text:  # Python reads "nan", "inf" and "1_000" as numbers
        raise ValueError(text)
    return value


def numbers(texts: list[bytes]) -> Floats:
    """Many numbers: files repeat few of them many times, so each distinct text is converted once."""
    distinct = list(set(texts))
    try:
        converted = list(map(float, distinct))
    except ValueError:
        converted = list(map(parse_number, distinct))
    known = dict(zip(distinct, converted, strict=True))
    values = np.fromiter(map(known.__getitem__, texts), dtype=np.float64, count=len(texts))
    if not np.isfinite(values).all() or b"_" in b" ".join(distinct):
        raise ValueError("number")
    return values


def read_table(file: TextFile, integers: int, *, value: bool = True, names: bool = False, expected: str) -> Table:
    """Read the body: lines of ``integers`` integers, a number if ``value``, and a name in some lines if ``names``."""
    try:
        return _read_fast(file, integers, value, names)
    except (ValueError, ArithmeticError):
        _find_broken_line(file, integers, value, names, expected)


def _read_fast(file: TextFile, integers: int, value: bool, names: bool) -> Table:
    known = _Names({b"": 0})
    columns: list[list[Int32s]] = [[] for _ in range(integers)]
    values, codes = [], []
    fields = integers + value
    for text in text_blocks(file):
        block = np.frombuffer(text, dtype=np.uint8)
        starts, ends, firsts, counts = tokens(block)
        if len(counts) == 0:
            continue
        if counts.min() < fields or counts.max() > fields + names:
            raise ValueError("number of fields")
        for part, column in enumerate(columns):
            column.append(token_integers(block, starts[firsts + part], ends[firsts + part]))
        if value:
            at = firsts + integers
            cut = [text[a:b] for a, b in zip(starts[at].tolist(), ends[at].tolist(), strict=True)]
            values.append(numbers(cut))
        if names:
            named = counts > fields
            at = firsts[named] + fields
            cut = [text[a:b] for a, b in zip(starts[at].tolist(), ends[at].tolist(), strict=True)]
            code = np.zeros(len(counts), dtype=np.int32)
            code[named] = np.fromiter(map(known.__getitem__, cut), dtype=np.int32, count=len(cut))
            codes.append(code)
    empty = np.empty(0, dtype=np.int32)
    return Table(
        integers=[np.concatenate([empty, *column]) for column in columns],
        values=np.concatenate([np.empty(0), *values]),
        names=[name.decode() for name in known],
        name_codes=np.concatenate([empty, *codes]),
    )


def text_blocks(file: TextFile) -> Iterator[bytes]:
    """The body in blocks of whole lines, without comments."""
    data, start = file.data, file.body
    while start < len(data):
        end = data.find(b"\n", min(start + _BLOCK, len(data) - 1)) + 1
        block = data[start:end]
        if b"#" in block or b"%" in block:
            lines = block.split(b"\n")
            block = b"\n".join(line for line in lines if not line.lstrip().startswith((b"#", b"%"))) + b"\n"
        yield block
        start = end


def tokens(block: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.int64], ...]:
    """Where the words of a block start and end, the first word of each line, and how many words a line has.

    Lines without a word are left out.
    """
    inside = block > 32
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    if len(inside) and inside[0]:
        edges = np.concatenate(([0], edges))
    starts, ends = edges[0::2], edges[1::2]  # a block ends with a line break, so every word has an end
    before = np.searchsorted(starts, np.flatnonzero(block == 10))
    firsts = np.concatenate(([0], before[:-1]))
    counts = before - firsts
    kept = counts > 0
    return starts, ends, firsts[kept], counts[kept]


def token_integers(block: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Int32s:
    """The words as integers; ValueError where one is none, or does not fit in 32 bits."""
    negative = block[starts] == ord("-")
    places = starts + negative
    lengths = ends - places
    if lengths.min() < 1 or lengths.max() > 10:
        raise ValueError("integer")
    values = np.zeros(len(starts), dtype=np.int64)
    for digit in range(int(lengths.max())):
        more = lengths > digit
        digits = block[np.where(more, places + digit, places)] - np.uint8(48)  # below "0" wraps around to above 9
        if digits.max() > 9:
            raise ValueError("integer")
        values = np.where(more, values * 10 + digits, values)
    values = np.where(negative, -values, values)
    if values.max() >= 1 << 31 or values.min() < -(1 << 31):
        raise ValueError("integer")
    return values.astype(np.int32)


def _find_broken_line(file: TextFile, integers: int, value: bool, names: bool, expected: str) -> NoReturn:
    for number, line in file.lines():
        fields = line.split()
        least = integers + value
        problem = None
        if not least <= len(fields) <= least + names:
            problem = f"{len(fields)} fields, not {least}" + (f" or {least + 1}" if names else "")
        else:
            for field in fields[:integers]:
                if not _INTEGER.fullmatch(field) or not -(1 << 31) <= int(field) < 1 << 31:
                    problem = f"{field!r} is not a whole number of at most 32 bits"
            if value and problem is None:
                try:
                    parse_number(fields[integers].encode())
                except (ValueError, ArithmeticError):
                    problem = f"{fields[integers]!r} is not a number"
        if problem:
            raise FileError(problem, file.path, number, line, expected)
    raise FileError("the text is not UTF-8", file.path, expected=expected)
