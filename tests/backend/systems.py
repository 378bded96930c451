"""Random equations in every format the kernels know, once for the C++ and once for the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from galton import _core
from galton.backend.reference import system as reference

FORMATS = {"plain": None, "1 byte": 200, "2 bytes": 3000}  # how many distinct values


@dataclass(frozen=True, eq=False)
class Pair:
    """The same equations twice."""

    core: _core.System
    reference: reference.System
    size: int
    rows: int
    groups: npt.NDArray[np.int32] | None

    def strategy(self, random: np.random.Generator) -> npt.NDArray[np.int32] | None:
        """A row of each unknown at random."""
        if self.groups is None:
            return None
        return (self.groups[:-1] + random.integers(0, np.diff(self.groups))).astype(np.int32)


def to_host(array: Any) -> Any:
    """An array on the host; None is none."""
    return array if array is None or isinstance(array, np.ndarray) else array.get()


def random_pair(
    random: np.random.Generator,
    *,
    size: int = 60,
    optimum: int = 0,
    values: str = "plain",
    wide: bool = False,
    scaled: bool = True,
    length: int = 5,
    zeros: float = 0.5,
) -> Pair:
    """Equations whose rows leave something out, so that they have one solution.

    ``optimum`` is 0 for a chain; ``zeros`` is the part of rows without a constant.
    """
    counts = np.ones(size, dtype=np.int64) if optimum == 0 else random.integers(1, 4, size)
    groups = None if optimum == 0 else np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    rows = int(counts.sum())
    lengths = random.integers(0, length + 1, rows)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64 if wide else np.int32)
    columns = random.integers(0, size, int(lengths.sum())).astype(np.int32)
    distinct, least = FORMATS[values], min(0.01, 0.45 / length)
    entries: dict[str, Any] = {"values": random.uniform(least, 0.9 / length, len(columns)), "dictionary": None}
    if distinct is not None:
        code = np.uint8 if distinct <= 256 else np.uint16
        entries = {
            "values": random.integers(0, distinct, len(columns)).astype(code),
            "dictionary": np.sort(random.uniform(least, 0.9 / length, distinct)),
        }
    parts = (groups, starts, columns, entries["values"], entries["dictionary"])
    scale = random.uniform(0.5, 1.05, rows) if scaled else None
    constant = np.where(random.random(rows) < zeros, 0.0, random.random(rows))
    return Pair(
        _core.System(_core.Matrix(*parts), scale, constant, optimum),
        reference.System(reference.Matrix(*parts), scale, constant, optimum),
        size,
        rows,
        groups,
    )
