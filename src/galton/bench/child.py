"""One measurement in a process of its own, so that none sees the caches or the memory of another.

``measured("galton.bench.sweeps:run", options, …)`` calls that function with these arguments in a new process; it
returns a dictionary, to which the peak of the memory of its process is added. A process that takes more time than
allowed, or nearly all memory of the machine, is ended alone.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import BoundedSemaphore, Event, Lock
from typing import TYPE_CHECKING, Any

from ..backend.limits import available_memory

if TYPE_CHECKING:
    from .experiment import Options

__all__ = ["Measurements", "measured"]

RESERVE = 0.05  # of the memory that is free when a process starts is left to others
LOOK = 0.1  # seconds between two looks at the memory


class Turns:
    """Who may measure when: one process at a time, or as many as ``jobs``, of which one uses a device."""

    def __init__(self, jobs: int = 1) -> None:
        self._all, self._device = BoundedSemaphore(jobs), Lock()
        self._cells: dict[str, Lock] = {}
        self._changing = Lock()
        self.given_up = Event()

    def of_cell(self, key: str) -> Lock:
        """A lock of the cell with that key, so that nobody measures what another is measuring."""
        with self._changing:
            return self._cells.setdefault(key, Lock())

    @contextmanager
    def turn(self, device: str) -> Iterator[None]:
        """Wait for a turn. Whoever waits for the device does not keep others from the processor."""
        with nullcontext() if device == "cpu" else self._device, self._all:
            yield


class Measurements:
    """What was measured, so that nothing is measured twice; with a file it is kept for later runs.

    Each measurement becomes a line of the file at once, behind a line that says where it was made. What is there
    already is taken over where it was made ``by`` the same machine and version. Several threads may measure:
    ``turns`` says when.
    """

    def __init__(
        self, path: Path | None = None, *, by: Mapping[str, Any] | None = None, resume: bool = False, jobs: int = 1
    ) -> None:
        self.turns = Turns(jobs)
        self._known: dict[str, dict[str, Any]] = {}
        self._stopped: dict[str, list[tuple[dict[str, int], str]]] = {}
        self._path = path
        if path is None:
            return
        lines = path.read_text().splitlines() if resume and path.exists() else []
        with suppress(ValueError):  # the last line may have been cut off
            if lines and json.loads(lines[0]) == by:
                for line in lines[1:]:
                    key, found = json.loads(line)
                    self._known[key] = found
        path.write_text("".join(f"{json.dumps(entry)}\n" for entry in (by, *self._known.items())))

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str, limit: float) -> dict[str, Any] | None:
        """What is known; not what was stopped earlier than it would be now."""
        found = self._known.get(key)
        return found if found is not None and found.get("stopped_at", limit) >= limit else None

    def add(self, key: str, found: dict[str, Any]) -> None:
        """Remember a measurement; in the file only what another run would find too."""
        self._known[key] = found
        if self._path and ("error" not in found or "stopped_at" in found):
            with self._path.open("a") as file:
                file.write(f"{json.dumps([key, found])}\n")

    def stop(self, family: str, constants: dict[str, int], why: str) -> None:
        """Remember that a member of a family had to be stopped."""
        self._stopped.setdefault(family, []).append((constants, why))

    def hopeless(self, family: str, constants: dict[str, int]) -> str:
        """Why a member need not be tried: one that is no larger was stopped. Empty where it should be."""
        for smaller, why in self._stopped.get(family, []):
            if all(constants[name] >= value for name, value in smaller.items()):
                return f"not tried: {','.join(f'{name}={value}' for name, value in smaller.items())} was {why}"
        return ""


def measured(
    function: str, options: Options, *, constants: dict[str, int] | None = None, **arguments: Any
) -> dict[str, Any]:
    """What a function gives in a new process, the fastest by its ``seconds`` of so many; ``error`` where it fails.

    What was measured before with the same arguments is not measured again. ``constants`` are an argument as well: where
    a member of a family had to be stopped, those whose constants are all as large are not tried.
    """
    known = options.measurements
    family = json.dumps([function, options.repeat, arguments], sort_keys=True)
    if constants is not None:
        arguments["constants"] = constants
    key = json.dumps([function, options.repeat, arguments], sort_keys=True)
    with known.turns.of_cell(key):
        found = known.get(key, options.limit)
        if found is None and constants and (why := known.hopeless(family, constants)):
            return {"error": why}
        if found is None:
            with known.turns.turn(str(arguments.get("device", "cpu"))):
                found = _fastest(function, options, json.dumps(arguments))
            known.add(key, found)
    if constants and "stopped_at" in found:
        known.stop(family, constants, found["error"])
    return dict(found)


def _fastest(function: str, options: Options, arguments: str) -> dict[str, Any]:
    best: dict[str, Any] = {}
    for _ in range(options.repeat):
        found = _once(function, options.limit, arguments, options.measurements.turns.given_up)
        if "error" in found:
            return found
        if not best or found.get("seconds", 0.0) < best["seconds"]:
            best = found
    return best


def _once(function: str, limit: float, arguments: str, given_up: Event) -> dict[str, Any]:
    command = [sys.executable, "-m", __name__, function, arguments]
    # Into files: nobody reads a pipe while the process is watched.
    with TemporaryFile("w+") as said, TemporaryFile("w+") as complained:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=said, stderr=complained, process_group=0)
        try:
            stopped = _watched(process, limit, given_up)
        finally:
            _end(process)
        seconds = time.perf_counter() - start
        if stopped:
            return stopped
        said.seek(0)
        complained.seek(0)
        try:
            found: dict[str, Any] = json.loads(said.read().splitlines()[-1])
        except (IndexError, ValueError):
            lines = complained.read().strip().splitlines()
            return {"error": _ended_by(process.returncode) or (lines or [f"ended with code {process.returncode}"])[-1]}
    return {**found, "process_s": seconds}


def _watched(process: subprocess.Popen[bytes], limit: float, given_up: Event) -> dict[str, Any]:
    """Wait for a process; if it has to be stopped, say why."""
    end, least = time.monotonic() + limit, RESERVE * available_memory()
    while True:
        try:
            process.wait(min(LOOK, max(end - time.monotonic(), 0.0)))
        except subprocess.TimeoutExpired:
            if time.monotonic() >= end:
                return {"error": f"stopped after {limit:g} s", "stopped_at": limit}
            if given_up.is_set():
                return {"error": "given up"}
            if available_memory() < least:
                return {"error": "stopped: it took all memory of the machine", "stopped_at": math.inf}
        else:
            return {}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process, and what it has started."""
    with suppress(ProcessLookupError):  # where all of them are gone
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ended_by(code: int) -> str:
    if code == -signal.SIGKILL:
        return "ended by the system, which does so where memory runs out"
    return f"ended by signal {-code} ({signal.strsignal(-code)})" if code < 0 else ""


def _depend_on_parent() -> None:
    """End with whoever started this process, even where that has no time to end it (Linux)."""
    if sys.platform == "linux":
        import ctypes

        set_death_signal = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def main() -> None:
    import resource
    from importlib import import_module

    from ..lang.source import GaltonError

    _depend_on_parent()
    with suppress(OSError):  # where the system has to end a process, it shall be this one
        Path("/proc/self/oom_score_adj").write_text("1000")
    module, _, name = sys.argv[1].partition(":")
    try:
        found = getattr(import_module(module), name)(**json.loads(sys.argv[2]))
    except GaltonError as error:
        found = {"error": str(error).splitlines()[0]}
    except MemoryError:
        found = {"error": "not enough memory"}
    found["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main()
