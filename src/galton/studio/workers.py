"""Processes in which everything is computed, so that a stop is immediate and all memory comes back.

One is kept ready that has imported what answers need: a small model is answered in tens of milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from .frames import END, HEAD, READY, frame, read_head

__all__ = ["Died", "Pool", "Worker"]

READY_WORKERS = 2  # a page that opens asks for help with editing, and for answers
MOST_BYTES = 256 << 20  # of one message; graphs and tables are far smaller


class Died(Exception):
    """The process has ended, by itself or because somebody ended it."""


class Worker:
    """One process, which answers one ask after the other.

    ``texts`` are the stamps of the texts that it has been given, by the names of their files.
    """

    def __init__(self, process: asyncio.subprocess.Process):
        self._process = process
        self._ready = False
        self.texts: dict[str, str] = {}

    @classmethod
    async def start(cls, root: Path) -> Worker:
        """A new process. It is the head of a group of its own, which ends with it."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # what lies in the project folder is not imported
            "-m",
            "galton.studio.child",
            str(root),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"},
        )
        return cls(process)

    @property
    def number(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.returncode is None

    @property
    def killed_by(self) -> int | None:
        """The signal that ended it, if one did."""
        code = self._process.returncode
        return -code if code is not None and code < 0 else None

    async def ready(self) -> Worker:
        """Wait until it can be asked."""
        if not self._ready:
            kind, _ = await self.receive()
            if kind != READY:
                raise Died("a worker began with something else")
            self._ready = True
        return self

    async def send(self, message: dict[str, Any]) -> None:
        """Ask it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(frame(END, json.dumps(message).encode()))
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise Died("the worker has ended") from None

    async def receive(self) -> tuple[bytes, bytes]:
        """The next message: its kind, and JSON."""
        assert self._process.stdout is not None
        try:
            length, kind = read_head(await self._process.stdout.readexactly(HEAD.size))
            if length > MOST_BYTES:
                raise Died(f"a message of {length:,} bytes")
            return kind, await self._process.stdout.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionResetError):
            raise Died("the worker has ended") from None

    def resident(self) -> int:
        """Bytes of memory that it holds now."""
        try:
            pages = int(Path(f"/proc/{self.number}/statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def interrupt(self) -> None:
        """Ask it to leave off; it may take its time."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)

    async def kill(self) -> None:
        """End it, and wait until it is gone."""
        if self.alive:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.number, signal.SIGKILL)
        await self._process.wait()


class Pool:
    """Hands out workers, and keeps some ready for who comes next."""

    def __init__(self, root: Path):
        self._root = root
        self._spare: deque[asyncio.Task[Worker]] = deque()
        self._closed = False

    def prepare(self) -> None:
        """Begin to start as many as there should be."""
        while len(self._spare) < READY_WORKERS and not self._closed:
            self._spare.append(asyncio.create_task(self._started()))

    async def take(self) -> Worker:
        """One that can be asked."""
        if self._closed:
            raise Died("the studio ends")
        self.prepare()
        worker = await self._spare.popleft()
        self.prepare()
        return worker

    async def close(self) -> None:
        """End those that wait."""
        self._closed = True
        for starting in self._spare:
            with suppress(Died):
                await (await starting).kill()

    async def _started(self) -> Worker:
        worker = await Worker.start(self._root)
        try:
            return await worker.ready()
        except BaseException:
            await worker.kill()
            raise
