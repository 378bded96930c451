"""Where arrays live: NumPy's on the host, CuPy's on a device. Code that is written once asks here for the rest."""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["freeze", "greatest", "how_many", "is_on_host", "namespace", "offsets", "on_host", "repeated", "total"]


def is_on_host(array: Any) -> bool:
    """Whether an array, or a number, is NumPy's."""
    return isinstance(array, (np.ndarray, np.generic))


def namespace(array: Any) -> Any:
    """The module that makes arrays of the same kind: NumPy, or CuPy, which whoever made the array has imported."""
    return np if is_on_host(array) else sys.modules["cupy"]


def freeze(part: Any) -> None:
    """Make the arrays of a part read-only where they are NumPy's: the core takes them as they are, and trusts them.

    >>> numbers = np.array([1, 2])
    >>> freeze({"numbers": numbers})
    >>> numbers.flags.writeable
    False
    """
    if isinstance(part, np.ndarray):
        part.flags.writeable = False
    elif isinstance(part, dict):
        for value in part.values():
            freeze(value)
    elif is_dataclass(part):
        for field in fields(part):
            freeze(getattr(part, field.name))


def on_host(array: Any) -> npt.NDArray[Any]:
    """The array on the host, copied if need be."""
    found: npt.NDArray[Any] = array if is_on_host(array) else array.get()
    return found


def how_many(mask: Any) -> int:
    """In how many places a mask is set."""
    if is_on_host(mask) or not np.ndim(mask):
        return int(np.count_nonzero(mask))
    from .cuda.positions import count_set

    return count_set(mask)


def greatest(array: Any) -> float:
    """The greatest of numbers that are not negative; 0 where there are none."""
    return float(array.max()) if array.size else 0.0


def offsets(counts: Any, dtype: Any = None) -> Any:
    """Where each of so many parts begins, and where the last one ends.

    >>> offsets(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    xp = namespace(counts)
    starts = xp.zeros(len(counts) + 1, dtype=counts.dtype if dtype is None else dtype)
    xp.cumsum(counts, out=starts[1:], dtype=starts.dtype)
    return starts


def repeated(values: Any, counts: Any) -> Any:
    """Each value as often as its count says, which CuPy's ``repeat`` does not take from the device.

    >>> repeated(np.array([5, 6, 7]), np.array([2, 0, 1])).tolist()
    [5, 5, 7]
    """
    if is_on_host(counts):
        return np.repeat(values, counts)
    ends = offsets(counts, np.int64)[1:]
    xp = namespace(counts)
    places = xp.arange(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    return values[xp.searchsorted(ends, places, side="right")]


def total(counts: Any) -> int:
    """The sum of int32 numbers that are not negative; CuPy's sums of another type than the numbers' are slow."""
    narrow = greatest(counts) * counts.size < 2**31
    return int(counts.sum(dtype=np.int32 if narrow else np.int64))
