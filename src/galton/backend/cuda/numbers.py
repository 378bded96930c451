"""Numbers as one-byte codes: rows of equations have few distinct constants, and a sweep reads all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...model.arrays import on_host
from .module import kernels

__all__ = ["compact"]

FILE = Path(__file__).with_name("numbers.cu")
SLOTS = 1024  # as in numbers.cu
NOTHING = np.uint64(2**64 - 1)


def compact(numbers: Any) -> tuple[Any, Any | None]:
    """The distinct numbers and a code for each; the numbers themselves and None where there are more than 256."""
    kernel = kernels(FILE, "OFFSET=int")
    table, distinct = cp.full(SLOTS, NOTHING, dtype=np.uint64), cp.zeros(1, dtype=np.uint64)
    kernel.launch("collect", len(numbers), numbers, len(numbers), table, distinct)
    if int(distinct[0]) > 256:
        return numbers, None
    found = on_host(table)
    found = np.sort(found[found != NOTHING])
    codes = cp.empty(len(numbers), dtype=np.uint8)
    kernel.launch("encode", len(numbers), numbers, len(numbers), cp.asarray(found), len(found), codes)
    return cp.asarray(found.view(np.float64)), codes
