"""Where the device's kernels run in a test: on a device, or compiled by g++, one thread after the other."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from cuda_on_cpu import compiled, without_a_device

MODULES = (
    "krylov",
    "system",
    "restrict",
    "rows",
    "bias",
    "chain",
    "induced",
    "levels",
    "regions",
    "steps",
    "numbers",
    "layout",
    "formats",
    "partition",
)


@contextmanager
def played_by_cpu() -> Iterator[Any]:
    """``galton.backend.cuda`` on NumPy arrays."""
    stand_in = importlib.util.find_spec("cupy") is None
    if stand_in:
        sys.modules["cupy"] = np
    modules = {name: importlib.import_module(f"galton.backend.cuda.{name}") for name in MODULES}
    for name in ("kernels", "positions", "extremes"):
        modules[name] = importlib.import_module(f"galton.device.cuda.{name}")
    if stand_in:
        del sys.modules["cupy"]
    with ExitStack() as stack:
        stack.enter_context(without_a_device())
        for name, module in modules.items():
            stack.enter_context(patch.object(module, "cp", np))
            if hasattr(module, "kernels") and name != "kernels":
                stack.enter_context(patch.object(module, "kernels", compiled))
        # Threads that share memory have to wait for each other.
        stack.enter_context(patch.object(modules["regions"], "most_shared", lambda: 0))
        yield np


@contextmanager
def real() -> Iterator[Any]:
    """The device."""
    import cupy

    yield cupy


WHERE = {"cpu": played_by_cpu, "cuda": real}


def take(array: Any) -> Any:
    """An array on the host."""
    return array if isinstance(array, np.ndarray) else array.get()
