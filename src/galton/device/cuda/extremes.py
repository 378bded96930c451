"""The least and the greatest number of each group, on a device.

``cupy.minimum.at`` and ``maximum.at`` are not for doubles: their atomic operations go through single precision (seen in
CuPy 14.2, where 0.1 came back as 0.10000000149011612).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from .kernels import kernels

__all__ = ["extremes"]

FILE = Path(__file__).with_name("extremes.cu")


def extremes(numbers: Any, groups: Any, count: int) -> tuple[Any, Any]:
    """The least and the greatest of the numbers of each of so many groups, none of which is empty.

    Parameters
    ----------
    numbers
        ``(n,)`` float64, none of them NaN.
    groups
        ``(n,)`` int32, the group of each.
    """
    least = cp.full(count, np.iinfo(np.uint64).max, dtype=np.uint64)
    greatest = cp.zeros(count, dtype=np.uint64)
    launch = kernels(FILE).launch
    launch("extremes", len(numbers), numbers, groups, len(numbers), least, greatest)
    below, above = cp.empty(count), cp.empty(count)
    launch("decode", count, least, count, below)
    launch("decode", count, greatest, count, above)
    return below, above
