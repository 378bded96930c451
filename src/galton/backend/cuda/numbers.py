"""Numbers as codes into the distinct ones: equations have few, and a sweep reads all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.arrays import on_host
from ...device.cuda.kernels import kernels

__all__ = ["Table", "compact"]

FILE = Path(__file__).with_name("numbers.cu")
NOTHING = np.uint64(2**64 - 1)


class Table:
    """Distinct numbers, as many as codes of so many bytes can tell apart; kernels that add to it take ``arguments``."""

    def __init__(self, width: int, *, zero: bool = False) -> None:
        self._most = 1 << 8 * width
        bits = 8 * width + 2
        self._slots, self._distinct = cp.full(1 << bits, NOTHING, dtype=np.uint64), cp.zeros(1, dtype=np.uint64)
        self.arguments = (self._slots, bits, self._distinct)
        if zero:
            self._slots[0], self._distinct[0] = 0, 1

    def sorted(self) -> Any | None:
        """``(distinct,)`` the numbers, by their bits: 0 before all others. None where they are too many."""
        if int(self._distinct[0]) > self._most:
            return None
        found = on_host(self._slots)
        return cp.asarray(np.sort(found[found != NOTHING]).view(np.float64))


def compact(numbers: Any) -> tuple[Any, Any | None]:
    """The distinct numbers and a code for each; the numbers themselves and None where there are more than 256."""
    kernel, table = kernels(FILE, "OFFSET=int"), Table(1)
    kernel.launch("collect", len(numbers), numbers, len(numbers), *table.arguments)
    found = table.sorted()
    if found is None:
        return numbers, None
    codes = cp.empty(len(numbers), dtype=np.uint8)
    kernel.launch("encode", len(numbers), numbers, len(numbers), found, len(found), codes)
    return found, codes
