"""Fast text: lines of a file as a matrix of characters.

Each part of a line (a number, a name, a space) is a block of columns of a ``(lines, width)`` byte matrix, padded with
zeros; dropping the zeros gives the text. No Python object is made per line, which is what makes writing ten million
transitions a matter of seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.values import Values

Characters = npt.NDArray[np.uint8]
BLOCK = 1 << 16
"""Lines made at a time: a few megabytes, so that the parts stay in the cache."""


def number_text(value: float) -> str:
    """A number as PRISM prints it: the shortest digits that give it back, as C's ``%.17g`` would lay them out.

    >>> [number_text(x) for x in (1.0, 0.1, 1e16, 1e17, 1e-5, 1 / 3)]
    ['1', '0.1', '10000000000000000', '1e+17', '1e-05', '0.3333333333333333']
    """
    if 1e16 <= abs(value) < 1e17:
        return f"{value:.0f}"  # where Python has gone over to exponents already
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def constant(text: str) -> Characters:
    """The same characters in every line."""
    return np.frombuffer(text.encode(), dtype=np.uint8)[None, :]


def strings(texts: Iterable[str]) -> Characters:
    """One text per line."""
    array = np.array([text.encode() for text in texts], dtype=np.bytes_)
    return array.view(np.uint8).reshape(len(array), -1)


def value_characters(values: Values) -> Callable[[slice], Characters]:
    """The numbers of a slice of the matrix; those of a dictionary are printed once."""
    if values.dictionary is None or values.index is None:
        return lambda entries: strings(map(number_text, values[entries].tolist()))
    known, index = strings(map(number_text, values.dictionary.tolist())), values.index
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


def join(lines: int, parts: Sequence[Characters]) -> bytes:
    """The text: each part is one block of columns, or one line that stands in all."""
    matrix = np.empty((lines, sum(part.shape[1] for part in parts)), dtype=np.uint8)
    column = 0
    for part in parts:
        matrix[:, column : column + part.shape[1]] = part
        column += part.shape[1]
    flat = matrix.reshape(-1)
    return bytes(flat[flat != 0].data)


def blocks(lines: int) -> Iterator[slice]:
    """Slices of at most :data:`BLOCK` lines."""
    for start in range(0, lines, BLOCK):
        yield slice(start, min(start + BLOCK, lines))
