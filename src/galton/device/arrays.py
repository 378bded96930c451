"""Where arrays live: NumPy's on the host, those of another library on a device.

Code that is written once for all places asks here for what differs. A library of arrays is made known by
:func:`register` when it is loaded, with the few operations that it does badly by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "Library",
    "extremes",
    "freeze",
    "greatest",
    "how_many",
    "is_array",
    "is_on_host",
    "libraries",
    "library_of",
    "members",
    "namespace",
    "nudged",
    "offsets",
    "on_host",
    "register",
    "repeated",
    "total",
]


def is_on_host(array: Any) -> bool:
    """Whether an array, or a number, is NumPy's."""
    return isinstance(array, (np.ndarray, np.generic))


@dataclass(frozen=True)
class Library:
    """A library of arrays that live on a device.

    Attributes
    ----------
    name
        What the folder of its backend is called.
    module
        What makes arrays: functions with NumPy's names.
    count_set
        How many places of a mask are set.
    extremes
        The least and the greatest number of each group: of ``(n,)`` numbers, their ``(n,)`` groups, and how many
        groups there are.
    no_memory, does_not_compile, failed
        The exceptions for memory that has ended, for kernels that do not compile, and for all else that goes wrong.
    free
        Gives unused memory back to the device.
    """

    name: str
    module: ModuleType
    count_set: Callable[[Any], int]
    extremes: Callable[[Any, Any, int], tuple[Any, Any]]
    no_memory: type[Exception]
    does_not_compile: type[Exception]
    failed: tuple[type[Exception], ...]
    free: Callable[[], None]


_LIBRARIES: dict[type, Library] = {}


def register(kind: type, library: Library) -> None:
    """Make the arrays of a library known, by their type."""
    _LIBRARIES[kind] = library


def libraries() -> list[Library]:
    """All that are known so far."""
    return list(_LIBRARIES.values())


def is_array(value: object) -> bool:
    """Whether something is an array, wherever it lives."""
    return isinstance(value, np.ndarray) or type(value) in _LIBRARIES


def library_of(array: Any) -> Library | None:
    """The library that an array is of; None for NumPy's."""
    return None if is_on_host(array) else _LIBRARIES[type(array)]


def namespace(array: Any) -> Any:
    """The module that makes arrays of the same kind."""
    library = library_of(array)
    return np if library is None else library.module


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
    library = library_of(mask)
    if library is None or not np.ndim(mask):
        return int(np.count_nonzero(mask))
    return library.count_set(mask)


def extremes(numbers: Any, groups: Any, count: int) -> tuple[Any, Any]:
    """The least and the greatest of the numbers of each of so many groups, none of which is empty.

    >>> [found.tolist() for found in extremes(np.array([0.5, 3.0, 0.1]), np.array([1, 0, 1]), 2)]
    [[3.0, 0.1], [3.0, 0.5]]
    """
    library = library_of(numbers)
    if library is not None:
        return library.extremes(numbers, groups, count)
    least, greatest = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, groups, numbers)
    np.maximum.at(greatest, groups, numbers)
    return least, greatest


def greatest(array: Any) -> float:
    """The greatest of numbers that are not negative; 0 where there are none."""
    return float(array.max()) if array.size else 0.0


def nudged(values: Any, towards: float, where: Any) -> Any:
    """The next double in a direction for some of the numbers, which a mask tells; the others as they are.

    >>> nudged(np.array([1.0, 1.0]), np.inf, np.array([True, False])) - 1
    array([2.22044605e-16, 0.00000000e+00])
    """
    xp = namespace(values)
    return xp.where(where, xp.nextafter(values, towards), values)


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


def members(starts: Any, parts: Any) -> tuple[Any, Any]:
    """What some parts of an array consist of, one after the other, given where each begins; and how many each has.

    >>> [found.tolist() for found in members(np.array([0, 2, 3]), np.array([1, 0]))]
    [[2, 0, 1], [1, 2]]
    """
    first = starts[:-1][parts].astype(np.int64)
    lengths = starts[1:][parts].astype(np.int64) - first
    begins = offsets(lengths)
    return repeated(first - begins[:-1], lengths) + namespace(lengths).arange(int(begins[-1])), lengths


def total(counts: Any) -> int:
    """The sum of int32 numbers that are not negative; CuPy's sums of another type than the numbers' are slow."""
    narrow = greatest(counts) * counts.size < 2**31
    return int(counts.sum(dtype=np.int32 if narrow else np.int64))
