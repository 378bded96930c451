"""The storage formats of documents 002 and 003, worked out on the host: what they hold, and how many bytes that is.

The layouts of a device are made by its kernels; these are the descriptions that they are compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..solve.equations import Equations

__all__ = ["EMPTY", "backward_segmented_scan", "bytes_needed", "slices"]

EMPTY = -1  # the column of a place where nothing is
WARP = 32
LANES = {"sliced": 1, "half-sliced": 2}
CHUNK = 1024  # entries that a warp sums in the segmented format
Numbers = npt.NDArray[Any]


def slices(starts: Numbers, columns: Numbers, numbers: Numbers, warp: int, lanes: int) -> tuple[Numbers, ...]:
    """The starts, columns and numbers of segments that a warp takes, with so many threads for each row.

    One thread: the full-warp format of document 003; two: the half-warp format. The last segment is as wide as its
    rows, as there; on a device it is padded like all others.
    """
    size, height = len(starts) - 1, warp // lanes
    lengths = np.diff(starts)
    segments, all_columns, all_numbers = [0], [], []
    for first in range(0, size, height):
        rows = np.arange(first, min(first + height, size))
        lines = int(np.max(-(-lengths[rows] // lanes)))
        of_segment = np.full((lines, len(rows), lanes), EMPTY)
        held = np.zeros((lines, len(rows), lanes), dtype=numbers.dtype)
        for place, row in enumerate(rows):
            for k, entry in enumerate(range(starts[row], starts[row + 1])):
                line, lane = divmod(k, lanes)
                of_segment[line, place, lane], held[line, place, lane] = columns[entry], numbers[entry]
        all_columns.append(of_segment.ravel())
        all_numbers.append(held.ravel())
        segments.append(segments[-1] + of_segment.size)
    return np.array(segments), np.concatenate(all_columns), np.concatenate(all_numbers)


def backward_segmented_scan(numbers: Numbers, starts: Numbers) -> Numbers:
    """At each place the sum from there to the end of its segment; where a segment starts, that of all of it."""
    scanned = np.array(numbers)
    for first, last in zip(starts, [*starts[1:], len(numbers)], strict=True):
        scanned[first:last] = np.cumsum(numbers[first:last][::-1])[::-1]
    return scanned


def bytes_needed(equations: Equations, name: str, *, compact: bool) -> int:
    """Bytes on a device of what sweeps over a chain need besides vectors, exactly.

    The matrix in the format of that name and, where these are not in its slices, the scale and the constant of each
    row; for the segmented format the sums of rows. ``compact``: with codes for numbers, where these are few enough.
    """
    starts, entries = equations.starts, len(equations.columns)
    size, offset = equations.size, 4 if entries < 2**31 else 8
    if name in LANES:
        lanes = LANES[name]
        height = WARP // lanes
        lines = np.maximum(-(-(np.diff(starts) + (equations.constant != 0)) // lanes), 1)
        padded = np.zeros(-(-size // height) * height, dtype=np.int64)
        padded[:size] = lines
        places = WARP * int(padded.reshape(-1, height).max(axis=1).sum())
        distinct = _distinct(equations) if compact else None
        width = 8 if distinct is None else 1 if distinct <= 1 << 8 else 2
        # Segments, columns, numbers or codes, and the numbers that these stand for.
        offset = 4 if places < 2**31 else 8
        return offset * (-(-size // height) + 1) + places * (4 + width) + 8 * (distinct or 0)
    matrix = offset * (size + 1) + 4 * entries + equations.values.nbytes
    of_rows = sum(_of_rows(part, compact) for part in (equations.scale, equations.constant) if part is not None)
    sums = 8 * size + 12 * -(-entries // CHUNK) if name == "segmented" else 0
    return matrix + of_rows + sums


def _distinct(equations: Equations) -> int | None:
    """How many numbers slices tell apart, 0 among them; None where these are too many for codes."""
    values = equations.values[:]
    if equations.scale is not None:
        values = np.repeat(equations.scale, np.diff(equations.starts)) * values
    count = len(np.unique(np.concatenate([values, equations.constant, [0.0]])))
    return count if count <= 1 << 16 else None


def _of_rows(numbers: Numbers, compact: bool) -> int:
    distinct = len(np.unique(numbers)) if compact else len(numbers)
    return len(numbers) + 8 * distinct if compact and distinct <= 1 << 8 else int(numbers.nbytes)
