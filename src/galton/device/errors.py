"""What can go wrong on a device, as exceptions of Galton's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..lang.source import GaltonError

__all__ = ["DeviceError", "DeviceMemoryError", "device_errors", "first_lines"]


class DeviceError(GaltonError):
    """The device cannot do it; the CPU can."""

    kind = "device"


class DeviceMemoryError(DeviceError):
    """Not enough memory on the device."""


@contextmanager
def device_errors(no_memory: str) -> Iterator[None]:
    """CuPy's exceptions as ours, with what it means that memory has ended; unused memory is given back then."""
    try:
        yield
    except Exception as error:
        cupy = sys.modules.get("cupy")
        if cupy is None or not hasattr(cupy, "cuda"):
            raise
        cuda = cupy.cuda
        if isinstance(error, cuda.memory.OutOfMemoryError):
            cupy.get_default_memory_pool().free_all_blocks()
            raise DeviceMemoryError(f"{no_memory}: {error}") from error
        if isinstance(error, (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError)):
            raise DeviceError(f"the device failed: {error}") from error
        if isinstance(error, cuda.compiler.CompileException):  # of kernels that are CuPy's own
            raise DeviceError(f"a kernel does not compile: {first_lines(str(error))}") from error
        raise


def first_lines(text: str, count: int = 20) -> str:
    """As much of a compiler's complaints as a person wants to see."""
    return "\n".join(text.splitlines()[:count])
