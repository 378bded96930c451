"""The ranks of an MPI job as workers: the first one asks, the others serve.

Every rank is started with the same command. All but the first serve before they have read a word of it, so that they
are silent whatever is wrong with it. Nobody is started later, which many clusters do not allow.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from ..lang.source import GaltonError

__all__ = ["ranks", "serving_ranks"]

T = TypeVar("T")
MOMENT = 1.0  # seconds
_found: list[Ranks] = []  # those of this job, while there are any


class Ranks(Executor):
    """The other ranks; it knows what they have not finished."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._asked: set[Future[Any]] = set()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have a rank call a function."""
        future: Future[T] = self._pool.submit(fn, *args, **kwargs)
        self._asked.add(future)
        future.add_done_callback(self._asked.discard)
        return future

    def busy(self) -> bool:
        """Whether a rank works on what nobody waits for, and does not finish it in a moment."""
        running = [future for future in list(self._asked) if not future.cancel()]
        return bool(wait(running, timeout=MOMENT).not_done)


def ranks() -> Ranks:
    """The other ranks of this job."""
    if not _found:
        raise GaltonError("mpi is for a command that mpirun starts, with at least two ranks: mpirun -n 4 galton …")
    return _found[0]


@contextmanager
def serving_ranks() -> Iterator[None]:
    """On the first rank, have the others at hand; on the others, serve and leave."""
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPICommExecutor
    except ImportError as error:
        raise GaltonError("mpi4py is not installed; pip install 'galton[mpi]' brings it") from error
    world = MPI.COMM_WORLD
    if world.size == 1:
        yield  # whoever asks for ranks is told
        return
    if world.rank:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # the first rank decides what is kept, and ends the job
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        with MPICommExecutor(world, root=0):
            pass
        sys.exit(0)
    with MPICommExecutor(world, root=0) as pool:
        _found.append(Ranks(pool))
        code: object = 1
        try:
            yield
            code = 0
        except SystemExit as stop:
            code = stop.code
            raise
        finally:
            if _found.pop().busy():  # somebody stopped it, and would have to wait for them
                sys.stdout.flush()
                sys.stderr.flush()
                world.Abort(code if isinstance(code, int) else 1)
