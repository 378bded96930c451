"""The devices there are, the one that is used, and their memory."""

from __future__ import annotations

from types import SimpleNamespace

__all__ = ["Device", "Memory", "OutOfMemoryError", "devices", "memory"]


class OutOfMemoryError(MemoryError):
    """``cupy.cuda.memory.OutOfMemoryError``."""


class CUDARuntimeError(RuntimeError):
    """``cupy.cuda.runtime.CUDARuntimeError``."""


class CUDADriverError(RuntimeError):
    """``cupy.cuda.driver.CUDADriverError``."""


class Memory:
    """Counts allocations, and refuses them from one on."""

    def __init__(self) -> None:
        self.allocations = 0
        self.last: int | None = None
        self.freed = 0
        self.free = 1 << 30  # bytes that the driver says are free

    def allocate(self, size: int) -> None:
        """Note that an array of so many bytes is made."""
        if self.last is not None and self.allocations >= self.last:
            raise OutOfMemoryError(f"Out of memory allocating {size:,} bytes")
        self.allocations += 1

    def free_bytes(self) -> int:
        """None."""
        return 0

    def used_bytes(self) -> int:
        """Nobody counts them."""
        return 0

    def get_limit(self) -> int:
        """Of all that may be taken: none."""
        return 0

    def free_all_blocks(self) -> None:
        """As of CuPy's memory pool."""
        self.freed += 1


memory = Memory()
devices = SimpleNamespace(count=1, current=0)


class Device:
    """``cupy.cuda.Device``."""

    compute_capability = "played"
    # No multiprocessor holds blocks that wait for each other: threads run one after the other.
    attributes = {"MultiProcessorCount": 0, "MaxSharedMemoryPerBlockOptin": 0}  # noqa: RUF012

    def __init__(self, number: int | None = None) -> None:
        self.id = devices.current if number is None else number
        self._before: list[int] = []

    def use(self) -> None:
        """From now on."""
        if not 0 <= self.id < devices.count:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        devices.current = self.id

    def __enter__(self) -> Device:
        self._before.append(devices.current)
        self.use()
        return self

    def __exit__(self, *_: object) -> None:
        devices.current = self._before.pop()
