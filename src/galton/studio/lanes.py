"""Lanes: what a page asks about one thing is answered in one process, one after the other.

There are lanes for answers, states, paths and regions, so that a long synthesis keeps nobody from checking a property;
and one for what an editor asks while somebody types.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .frames import END
from .limits import MIB, Limits
from .trouble import trouble
from .workers import Died, Pool, Worker

__all__ = ["LANES", "Lane", "Question"]

LANES = {
    **dict.fromkeys(
        ("diagnose", "hover", "complete", "definition", "references", "rename", "format", "copy"), "editing"
    ),
    **dict.fromkeys(("check", "experiment", "pareto", "synth_at"), "answers"),
    **dict.fromkeys(("build", "graph", "values", "sets", "states", "state", "matrix"), "states"),
    **dict.fromkeys(("sim_start", "sim_step", "sim_back", "sim_play", "sim_end"), "paths"),
    "synth": "regions",
}
LOOK_SECONDS = 0.05  # between looks at the memory of a worker
GRACE_SECONDS = 0.25  # that a worker has to leave off before it is ended
KEPT_BYTES = 1024 * MIB  # of a worker that nobody asks; who holds more is ended, and another one is ready

Send = Callable[[dict[str, Any] | bytes], Awaitable[None]]


@dataclass(eq=False)
class Question:
    """An ask on its way: what is sent to the worker, and whether somebody stopped it."""

    id: int
    message: dict[str, Any]
    texts: dict[str, tuple[str, str]]  # by the names of files: stamps and texts
    slot: str | None = None
    stopped: str | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Lane:
    """One process and what waits for it; ``running`` bounds how many questions there are at once, if they are heavy."""

    def __init__(self, name: str, pool: Pool, limits: Limits, send: Send, running: asyncio.Semaphore | None):
        self._pool, self._limits, self._send, self._running = pool, limits, send, running
        self._name = name
        self._seconds = limits.seconds if running is not None else limits.light_seconds
        self._waiting: deque[Question] = deque()
        self._arrived = asyncio.Event()
        self._worker: Worker | None = None
        self._current: Question | None = None
        self._trouble: dict[str, Any] | None = None  # why the worker was ended
        self._task = asyncio.create_task(self._work())

    @property
    def busy(self) -> bool:
        """Whether there is anything to do."""
        return self._current is not None or bool(self._waiting)

    @property
    def waiting(self) -> int:
        """How many questions wait."""
        return len(self._waiting)

    def put(self, question: Question) -> None:
        """Answer this when its time comes."""
        self._waiting.append(question)
        self._arrived.set()

    async def stop(self, question: Question, reason: str) -> None:
        """Leave a question alone: at once, if somebody wants that; a newer one may let the worker leave off."""
        if question.stopped is not None or question.over.is_set():
            return
        question.stopped = reason
        await self._send({"id": question.id, "event": "stopped", "reason": reason})
        if question in self._waiting:
            self._waiting.remove(question)
            question.over.set()
        elif question is self._current and self._worker is not None:
            if reason == "slot":
                self._worker.interrupt()
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(question.over.wait(), GRACE_SECONDS)
            if not question.over.is_set() and question is self._current:
                await self._worker.kill()

    async def close(self) -> None:
        """End everything."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        if self._worker is not None:
            await self._worker.kill()

    async def _work(self) -> None:
        while True:
            if not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
                continue
            if self._running is None:
                await self._answer(self._waiting.popleft())
                continue
            async with self._running:
                if self._waiting:  # somebody may have stopped it meanwhile
                    await self._answer(self._waiting.popleft())

    async def _answer(self, question: Question) -> None:
        self._current, self._trouble = question, None
        try:
            await self._asked(question)
        except Died:
            await self._mourn(question)
        finally:
            question.over.set()
            self._current = None
        if self._worker is not None and self._name != "states" and self._worker.resident() > KEPT_BYTES:
            await self._worker.kill()
            self._worker = None

    async def _asked(self, question: Question) -> None:
        if self._worker is None or not self._worker.alive:
            self._worker = None
            self._worker = await self._pool.take()
        worker = self._worker
        if question.stopped is not None:
            return
        texts = {
            name: [stamp, None if worker.texts.get(name) == stamp else text]
            for name, (stamp, text) in question.texts.items()
        }
        worker.texts |= {name: stamp for name, (stamp, _) in question.texts.items()}
        guard = asyncio.create_task(self._guard(worker))
        try:
            limits = {"memory": self._limits.memory_bytes, **self._limits.told()}
            await worker.send({**question.message, "id": question.id, "texts": texts, "limits": limits})
            while True:
                kind, body = await worker.receive()
                if question.stopped is None:
                    await self._send(body)
                if kind == END:
                    return
        finally:
            guard.cancel()

    async def _guard(self, worker: Worker) -> None:
        """End a worker that takes too long or too much."""
        start = time.monotonic()
        while worker.alive:
            await asyncio.sleep(LOOK_SECONDS)
            if self._seconds is not None and time.monotonic() - start > self._seconds:
                self._trouble = trouble(
                    "limit",
                    f"stopped after {self._seconds:g} s, which is all that a question has",
                    "start the studio with --seconds-per-question for more",
                )
                await worker.kill()
            elif worker.resident() > self._limits.memory_bytes:
                self._trouble = trouble(
                    "limit",
                    f"stopped at {self._limits.memory_bytes / MIB:,.0f} MB of memory, which is all that a question has",
                    "start the studio with --memory for more",
                )
                await worker.kill()

    async def _mourn(self, question: Question) -> None:
        """A worker has ended in the middle of a question; say why, if nobody stopped it."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.kill()
        self._pool.prepare()
        if question.stopped is not None:
            return
        found = self._trouble
        if found is None and worker is not None and worker.killed_by == 9:
            found = trouble("limit", "the system ended the process, most likely because there is no memory left")
        found = found or trouble("internal", "the process that worked on this has ended", "ask again")
        await self._send({"id": question.id, "event": "error", "error": found})
