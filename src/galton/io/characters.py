"""Fast text: lines of a file as a matrix of characters.

Each part of a line (a number, a name, a space) is a block of columns of a ``(lines, width)`` byte matrix, padded with
zeros; dropping the zeros gives the text. No Python object is made per line, which is what makes writing ten million
transitions a matter of seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Context
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.values import Values

Characters = npt.NDArray[np.uint8]
BLOCK = 1 << 16
"""Lines made at a time: a few megabytes, so that the parts stay in the cache."""
_SIXTEEN_DIGITS = Context(prec=16, rounding=ROUND_HALF_UP)


def exact_text(value: float) -> str:
    """A number in the fewest digits that give it back.

    >>> [exact_text(x) for x in (1.0, 0.1, 0.1 + 0.2, 1e16, 1e-5)]
    ['1', '0.1', '0.30000000000000004', '1e+16', '1e-05']
    """
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def prism_text(value: float) -> str:
    """A number as PRISM prints it, in at most 16 digits (Java's ``%.16g``, which rounds those digits).

    >>> [prism_text(x) for x in (1.0, 0.1, 0.1 + 0.2, 1 / 3, 9.2)]
    ['1', '0.1', '0.3', '0.3333333333333333', '9.2']
    """
    text = exact_text(value)
    if len(text) <= 17:  # too short for 17 digits and a point
        return text
    digits = text.lstrip("-0.").partition("e")[0]
    if len(digits) - ("." in digits) <= 16:
        return text
    if "e" not in text and text[-2] not in ".9":  # nearly always: only the last two digits change
        return text[:-2] + chr(ord(text[-2]) + 1) if text[-1] >= "5" else text[:-1].rstrip("0").rstrip(".")
    rounded = _SIXTEEN_DIGITS.create_decimal(text).normalize()
    exponent = rounded.adjusted()
    if -4 <= exponent < 16:
        return f"{rounded:f}"
    return f"{rounded.scaleb(-exponent):f}e{exponent:+03d}"


def constant(text: str) -> Characters:
    """Characters that stand alike in every line."""
    return np.frombuffer(text.encode(), dtype=np.uint8)[None, :]


def strings(texts: Iterable[str]) -> Characters:
    """One text per line."""
    array = np.array([text.encode() for text in texts], dtype=np.bytes_)
    return array.view(np.uint8).reshape(len(array), -1)


def numbers(values: npt.NDArray[np.float64], *, exact: bool) -> Characters:
    """One number per line, exact or as PRISM prints it; each distinct one is printed once."""
    patterns, places = np.unique(values.view(np.int64), return_inverse=True)  # as bits: -0 is not 0
    distinct = patterns.view(np.float64).tolist()
    return strings(map(exact_text if exact else prism_text, distinct))[places]


def value_characters(values: Values, *, exact: bool) -> Callable[[slice], Characters]:
    """The numbers of a slice of the matrix; those of a dictionary are printed once."""
    if values.dictionary is None or values.index is None:
        return lambda entries: numbers(values[entries], exact=exact)
    known, index = numbers(values.dictionary, exact=exact), values.index
    return lambda entries: known[index[entries]]


def integers(values: npt.NDArray[Any]) -> Characters:
    """One integer per line."""
    rest = values.astype(np.int64)
    negative = rest < 0
    rest = np.abs(rest)
    largest = int(rest.max(initial=0))
    rest = rest.astype(np.uint32) if largest < 1 << 32 else rest  # division is several times faster
    width = len(str(largest))
    out = np.zeros((len(rest), width + 1), dtype=np.uint8)
    for column in range(width, 0, -1):
        digits = (rest % 10 + 48).astype(np.uint8)
        if column < width:
            digits[rest == 0] = 0
        out[:, column] = digits
        rest = rest // 10
    if not negative.any():
        return out[:, 1:]
    out[negative, 0] = ord("-")
    return out


def beside(lines: int, parts: Sequence[Characters]) -> Characters:
    """Parts of lines beside one another: each is one block of columns, or one line that stands in all."""
    matrix = np.empty((lines, sum(part.shape[1] for part in parts)), dtype=np.uint8)
    column = 0
    for part in parts:
        matrix[:, column : column + part.shape[1]] = part
        column += part.shape[1]
    return matrix


def join(lines: int, parts: Sequence[Characters]) -> bytes:
    """The text of lines, whose parts are given as for :func:`beside`."""
    flat = beside(lines, parts).reshape(-1)
    return bytes(flat[flat != 0].data)


def blocks(lines: int) -> Iterator[slice]:
    """Slices of at most :data:`BLOCK` lines."""
    for start in range(0, lines, BLOCK):
        yield slice(start, min(start + BLOCK, lines))
