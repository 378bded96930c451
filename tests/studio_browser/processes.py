"""What processes do, as the system tells it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they did."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.split("\n")
    children: dict[int, list[int]] = {}
    for line in listed:
        if line.strip():
            child, parent = map(int, line.split())
            children.setdefault(parent, []).append(child)
    found, todo = [], [pid]
    while todo:
        more = children.get(todo.pop(), [])
        found += more
        todo += more
    return found


def work(pids: list[int]) -> tuple[float, float]:
    """Processor seconds and resident gigabytes of processes; those that ended count nothing."""
    seconds = size = 0.0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        size += int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e9
    return seconds, size
