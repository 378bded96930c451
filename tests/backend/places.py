"""Where backends are compared with the reference: another one is tested by its name here, and its library of arrays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from played import played_device

from galton.backend import CPU, CUDA, REFERENCE, Backend
from galton.device.moving import moved


def real_cupy() -> AbstractContextManager[ModuleType]:
    """CuPy itself."""
    import cupy

    return nullcontext(cupy)


PLACES: dict[str, tuple[Backend, Callable[[], AbstractContextManager[ModuleType]]]] = {
    "cpu": (CPU, lambda: nullcontext(np)),
    "played": (CUDA, played_device),
    "cuda": (CUDA, real_cupy),
}
NEED_A_DEVICE = ("cuda",)


@dataclass(frozen=True)
class Place:
    """A backend, and its library of arrays."""

    backend: Backend
    xp: ModuleType

    def give(self, value: Any) -> Any:
        """A value with copies of its arrays, as the backend has arrays."""
        return moved(value, self.xp.array)


HOME = Place(REFERENCE, np)
