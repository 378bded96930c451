"""The devices there are, the one that is used, and their memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from weakref import finalize

import numpy as np

__all__ = ["Device", "Memory", "OutOfMemoryError", "devices", "memory"]


class OutOfMemoryError(MemoryError):
    """``cupy.cuda.memory.OutOfMemoryError``."""


class CUDARuntimeError(RuntimeError):
    """``cupy.cuda.runtime.CUDARuntimeError``."""


class CUDADriverError(RuntimeError):
    """``cupy.cuda.driver.CUDADriverError``."""


class Memory:
    """Counts allocations, and refuses them from one on.

    Inside of :meth:`watched`, it also counts the bytes that each device has, and that cross to it.
    """

    def __init__(self) -> None:
        self.allocations = 0
        self.last: int | None = None
        self.freed = 0
        self.free = 1 << 30  # bytes that the driver says are free
        self.traffic: Traffic | None = None

    def allocate(self, host: np.ndarray) -> None:
        """Note that an array is made, played by this one."""
        if self.last is not None and self.allocations >= self.last:
            raise OutOfMemoryError(f"Out of memory allocating {host.nbytes:,} bytes")
        self.allocations += 1
        if self.traffic is not None:
            self.traffic.take(devices.current, host)

    def crossed(self, size: int, source: int | None) -> None:
        """Note that so many bytes come to the device from another, or from the host."""
        if self.traffic is not None:
            self.traffic.crossed["device" if source is not None else "host"] += size

    @contextmanager
    def watched(self, limit: int | None = None) -> Iterator[Traffic]:
        """Count bytes; each device has room for so many."""
        before, self.traffic = self.traffic, Traffic(limit)
        try:
            yield self.traffic
        finally:
            self.traffic = before

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


class Traffic:
    """The bytes that arrays take on each device, the most there were, and those that crossed to any device."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.used: defaultdict[int, int] = defaultdict(int)
        self.most: defaultdict[int, int] = defaultdict(int)
        self.crossed = {"device": 0, "host": 0}  # by where they came from

    def take(self, device: int, host: np.ndarray) -> None:
        """Until nobody has the array any more."""
        size = host.nbytes
        if self.limit is not None and self.used[device] + size > self.limit:
            raise OutOfMemoryError(f"Out of memory allocating {size:,} bytes (allocated so far: {self.used[device]:,})")
        self.used[device] += size
        self.most[device] = max(self.most[device], self.used[device])
        while isinstance(host.base, np.ndarray):
            host = host.base
        finalize(host, self._release, device, size)

    def _release(self, device: int, size: int) -> None:
        self.used[device] -= size


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
