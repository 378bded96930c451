"""Processes of this machine as workers: one that dies takes only its own piece along, and another takes its place.

``ProcessPoolExecutor`` gives up all its work when one process dies, and nobody knows which piece was at fault. Here a
thread looks after each process, by a pipe of its own.
"""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pickle import PicklingError, loads
from typing import Any, TypeVar

from ..lang.source import GaltonError

__all__ = ["Processes", "WorkerDied"]

T = TypeVar("T")
SIGNALS = (signal.SIGINT, signal.SIGTERM)  # for whoever asks, who then ends the workers
MOMENT = 5.0  # seconds for a process that closed its pipe to be gone


class WorkerDied(BrokenExecutor):
    """A process ended in the middle of its work."""


class _Worker:
    """A process that does one thing after the other."""

    def __init__(self) -> None:
        context = get_context("forkserver")  # a fork of a process with threads may wait for ever
        self._pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the process is the end of the pipe

    def do(self, work: Callable[[], T]) -> T:
        """What came of it."""
        try:
            self._pipe.send(work)
            fine, found = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise WorkerDied(self._death()) from error
        if not fine:
            raise found
        done: T = found
        return done

    def _death(self) -> str:
        self.process.join(MOMENT)
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"process {self.process.pid} ended"
        return f"process {self.process.pid} was ended by {signal.Signals(-code).name}"

    def end(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.join()


class Processes(Executor):
    """So many processes. Who leaves the ``with`` block ends them, whatever they do.

    Examples
    --------
    >>> with Processes(2) as executor:
    ...     executor.submit(pow, 2, 3).result()
    8
    """

    def __init__(self, count: int) -> None:
        self._own = threading.local()
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []
        self._ended = False
        resource_tracker.ensure_running()  # whoever starts it lets signals in again
        self._threads = ThreadPoolExecutor(count, "workers", _let_signals_wait)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have a process call a function; both have to be picklable."""
        return self._threads.submit(self._do, partial(fn, *args, **kwargs))

    def _do(self, work: Callable[[], T]) -> T:
        worker: _Worker | None = getattr(self._own, "worker", None)
        if worker is None or not worker.process.is_alive():  # who died idle is nobody's fault
            worker = self._own.worker = self._begun(worker)
        return worker.do(work)

    def _begun(self, before: _Worker | None) -> _Worker:
        with self._lock:
            if self._ended:
                raise WorkerDied("the workers have been ended")
            if before is not None:
                self._workers.remove(before)
            self._workers.append(_Worker())
            return self._workers[-1]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work and, if ``wait``, finish what there is; then end the processes."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            self.end()

    def end(self) -> None:
        """End the processes at once."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._ended = True
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.end()
        self._threads.shutdown()

    def __exit__(self, *_: object) -> None:
        self.end()


def _let_signals_wait() -> None:
    """Processes that this thread starts do not hear Ctrl-C, which a terminal sends to all."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def _serve(pipe: Connection) -> None:
    """What a process does, until nobody asks any more."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    while True:
        try:
            asked = pipe.recv_bytes()
        except EOFError:
            return
        try:
            reply = True, loads(asked)()
        except Exception as error:
            if not isinstance(error, GaltonError):
                error.add_note(f"in a worker:\n{traceback.format_exc()}")
            reply = False, error
        try:
            pipe.send(reply)
        except (PicklingError, TypeError, AttributeError) as error:
            pipe.send((False, RuntimeError(f"what a worker found cannot be sent: {error}")))


def _leave_with_parent() -> None:
    """Nobody works for somebody who is gone, even if he was killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
