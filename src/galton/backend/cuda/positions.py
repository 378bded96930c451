"""``flatnonzero`` for a device: the first call of CuPy's own loads all of SciPy, which most models are quicker than."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from .module import kernels

__all__ = ["positions"]

FILE = Path(__file__).with_name("positions.cu")


def positions(mask: Any) -> Any:
    """Where a mask is set, int32."""
    n = len(mask)
    before = cp.cumsum(mask, dtype=np.int32)
    found = cp.empty(int(before[-1]) if n else 0, dtype=np.int32)
    kernels(FILE, "OFFSET=int").launch("list_positions", n, mask, before, n, found)
    return found
