"""CuPy and the devices it finds. Nothing here is imported before someone asks for a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays import Library, register
from ..errors import DeviceError, device_errors

__all__ = ["free_memory", "import_cupy", "select"]


def import_cupy() -> Any:
    """CuPy with a device that answers, or a :class:`DeviceError` that says what is missing."""
    try:
        import cupy
    except Exception as error:  # of any kind: libraries that do not fit together fail in many ways
        raise DeviceError(
            f"CuPy is not there ({error}); install galton[cuda12] or galton[cuda13], whichever the driver supports"
        ) from error
    try:
        if cupy.cuda.runtime.getDeviceCount() == 0:
            raise DeviceError("there is no CUDA device")
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(f"there is no usable CUDA device: {error}") from error
    from .cupy_kernels import keep_cupy_kernels
    from .extremes import extremes
    from .positions import count_set

    cuda = cupy.cuda
    register(
        cupy.ndarray,
        Library(
            "cuda",
            cupy,
            count_set,
            extremes,
            no_memory=cuda.memory.OutOfMemoryError,
            does_not_compile=cuda.compiler.CompileException,
            failed=(cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError),
            free=cupy.get_default_memory_pool().free_all_blocks,
        ),
    )
    # Sums and the like are a small part of the work: CuPy's plain kernels for them compile sooner than its fast ones.
    cupy._core.set_reduction_accelerators([])
    if keep_cupy_kernels(cupy):
        from .beforehand import compile_beforehand, is_compiled

        if not is_compiled():
            with device_errors("there is not enough memory on the device"):
                compile_beforehand()
    return cupy


def free_memory(cupy: Any) -> int:
    """Bytes that can still be taken on the device, of what CuPy may take there (``CUPY_GPU_MEMORY_LIMIT``)."""
    pool = cupy.get_default_memory_pool()
    free = int(cupy.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())
    limit = int(pool.get_limit())
    return min(free, limit - int(pool.used_bytes())) if limit else free


def select(devices: Sequence[int]) -> None:
    """Use the first of these devices; all have to be there."""
    cupy = import_cupy()
    there = cupy.cuda.runtime.getDeviceCount()
    for number in devices:
        if not 0 <= number < there:
            raise DeviceError(f"there is no CUDA device {number}; there {'is one' if there == 1 else f'are {there}'}")
    cupy.cuda.Device(devices[0]).use()
