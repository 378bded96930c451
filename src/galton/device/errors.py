"""What can go wrong on a device, as exceptions of Galton's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..lang.source import GaltonError
from .arrays import libraries

__all__ = ["DeviceError", "DeviceMemoryError", "device_errors", "first_lines"]


class DeviceError(GaltonError):
    """The device cannot do it; the CPU can."""

    kind = "device"


class DeviceMemoryError(DeviceError):
    """Not enough memory on the device."""


@contextmanager
def device_errors(no_memory: str) -> Iterator[None]:
    """Exceptions of a device as ours, with what it means that memory has ended; unused memory is given back then."""
    try:
        yield
    except Exception as error:
        for library in libraries():
            if isinstance(error, library.no_memory):
                library.free()
                raise DeviceMemoryError(f"{no_memory}: {error}") from error
            if isinstance(error, library.does_not_compile):  # of kernels that are the library's own
                raise DeviceError(f"a kernel does not compile: {first_lines(str(error))}") from error
            if isinstance(error, library.failed):
                raise DeviceError(f"the device failed: {error}") from error
        raise


def first_lines(text: str, count: int = 20) -> str:
    """As much of a compiler's complaints as a person wants to see."""
    return "\n".join(text.splitlines()[:count])
