"""How far an exploration may go before it stops with a message instead of being killed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from ..lang.source import GaltonError

DEFAULT_SHARE = 0.8  # of the memory that is free when the exploration starts
MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """``max_states`` states, and ``memory_bytes`` bytes for the explorer's own arrays."""

    max_states: int = sys.maxsize
    memory_bytes: int = sys.maxsize

    @classmethod
    def choose(cls, max_states: int | None = None, memory_mb: float | None = None) -> Limits:
        """What was asked for; where nothing was, all states and most of the free memory."""
        if max_states is not None and not max_states >= 1:
            raise GaltonError(f"{max_states} states are too few; max_states must be at least 1")
        if memory_mb is not None and not memory_mb > 0:
            raise GaltonError(f"{memory_mb} MB is too little memory")
        memory = available_memory() * DEFAULT_SHARE if memory_mb is None else memory_mb * MEGABYTE
        return cls(sys.maxsize if max_states is None else int(max_states), int(min(memory, sys.maxsize)))


def available_memory() -> float:
    """Bytes that can still be had without swapping, within the control group's limit; infinite if nobody tells."""
    return min(_free_memory(), _group_memory())


def _free_memory() -> float:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return float("inf")


def _group_memory() -> float:
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit == "max":
            return float("inf")
        # Files that were read count as used, but give way.
        cached = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        used = int((group / "memory.current").read_text()) - int(cached.get("inactive_file", 0))
        return max(int(limit) - used, 0)
    except (OSError, ValueError):
        return float("inf")
