"""How far an exploration may go before it stops with a message instead of being killed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

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
        return float("inf") if limit == "max" else int(limit) - int((group / "memory.current").read_text())
    except (OSError, ValueError):
        return float("inf")
