"""Where arrays live: NumPy's on the host, CuPy's on a device. Code that is written once asks here for the rest."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["greatest", "is_on_host", "namespace", "on_host"]


def is_on_host(array: Any) -> bool:
    """Whether an array, or a number, is NumPy's."""
    return isinstance(array, (np.ndarray, np.generic))


def namespace(array: Any) -> Any:
    """The module that makes arrays of the same kind: NumPy, or CuPy, which whoever made the array has imported."""
    return np if is_on_host(array) else sys.modules["cupy"]


def on_host(array: Any) -> npt.NDArray[Any]:
    """The array on the host, copied if need be."""
    found: npt.NDArray[Any] = array if is_on_host(array) else array.get()
    return found


def greatest(array: Any) -> float:
    """The greatest of numbers that are not negative; 0 where there are none."""
    return float(array.max()) if array.size else 0.0
