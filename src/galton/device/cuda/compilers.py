"""Processes that compile side by side.

Threads of one process do not do: NVRTC lets one compile while the others wait for most of the time (1.3 times faster
with 16 threads, on an H200's host). A process that only compiles starts in a few hundredths of a second
(:file:`compiler_process.py`): it loads neither CuPy nor Galton, and needs no device.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import local
from typing import IO

__all__ = ["Compilers", "Refused"]

PROCESS = Path(__file__).with_name("compiler_process.py")
LIBRARY = "libnvrtc.so"
MOST = 16  # processes


class Refused(Exception):
    """What the compiler says of a text that it does not take."""


class Compilers:
    """Processes that each compile one text at a time."""

    def __init__(self, library: str, count: int) -> None:
        self._library = library
        self._mine = local()
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="compile")

    @classmethod
    def of_this_machine(cls) -> Compilers:
        """As many as there are cores, or fewer if less is asked, with the NVRTC that this process has loaded."""
        return cls(_loaded_library(), min(len(os.sched_getaffinity(0)), MOST))

    def submit(self, text: str, options: tuple[str, ...]) -> Future[bytes]:
        """Machine code; the future may raise :class:`Refused`, or OSError for a process that ended early."""
        return self._pool.submit(self._compile, text, options)

    def close(self) -> None:
        """Nothing more is asked: the processes end."""
        self._pool.shutdown(cancel_futures=True)

    def _compile(self, text: str, options: tuple[str, ...]) -> bytes:
        process = getattr(self._mine, "process", None)
        if process is None:
            process = self._mine.process = _Process(self._library)
        return process.compile(text, options)


class _Process:
    """One of them; it ends when its input does."""

    def __init__(self, library: str) -> None:
        # -I and -S: nothing is imported but what it needs.
        command = [sys.executable, "-I", "-S", str(PROCESS), library]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __del__(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()

    def compile(self, text: str, options: tuple[str, ...]) -> bytes:
        """Machine code."""
        given, told = self._process.stdin, self._process.stdout
        assert given is not None
        assert told is not None
        given.write(json.dumps({"text": text, "options": options}).encode() + b"\n")
        given.flush()
        head = told.readline().split()
        if len(head) != 2:
            raise OSError("the compiler ended early")
        size, fine = head
        found = _exactly(told, int(size))
        if fine != b"1":
            raise Refused(found.decode(errors="replace"))
        return found


def _exactly(stream: IO[bytes], size: int) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise OSError("the compiler ended early")
    return found


def _loaded_library() -> str:
    """The file of the NVRTC that this process has loaded, which is the one that fits CuPy."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if path.rpartition("/")[2].startswith(LIBRARY):
                return f"/{path}"
    raise OSError(f"{LIBRARY} is not among the libraries of this process")
