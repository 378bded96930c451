"""The ranks of an MPI job: what they tell each other, and what happens when one of them fails."""

from __future__ import annotations

import os
import socket
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from ...lang.source import GaltonError

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["SharedError", "World", "across_ranks", "sharing", "world"]

CHUNK = 1 << 27  # words of one message: MPI counts in 32 bits
PATIENCE = 10.0  # seconds that a rank with an error waits for others to have the same
MISSING = (
    "--device mpi needs mpi4py, and petsc4py to solve equations: install galton[mpi], or Debian's python3-mpi4py and "
    "python3-petsc4py-64-real (docs/cluster.md)"
)


class SharedError(GaltonError):
    """What went wrong on some rank, told by all."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


@cache
def world() -> World:
    """All ranks of this job; of a program that nobody started with mpirun, one."""
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise GaltonError(f"{MISSING}: {error}") from error
    return World(MPI.COMM_WORLD.Dup())


_SHARING = [False]


@contextmanager
def across_ranks() -> Iterator[World]:
    """Let models be shared by all ranks for as long as this lasts; a rank that fails alone ends the job."""
    everybody = world()
    everybody.prepare()
    _SHARING[0] = True
    try:
        with everybody.guarding():
            yield everybody
    finally:
        _SHARING[0] = False


def sharing() -> World:
    """All ranks, where models may be shared by them."""
    if not _SHARING[0]:
        raise GaltonError("--device mpi is for galton check; other commands work on one machine")
    return world()


class World:
    """Ranks that do the same at the same time. All of these have to be called by every rank."""

    def __init__(self, comm: MPI.Comm) -> None:
        from mpi4py import MPI

        self.mpi: Any = MPI
        self.comm: Any = comm
        self.rank: int = comm.Get_rank()
        self.size: int = comm.Get_size()

    @cached_property
    def _ending(self) -> Any:
        """Where ranks meet that have come to an end, whatever others are waiting for."""
        return self.comm.Dup()

    def prepare(self) -> None:
        """Set up what must be there when something goes wrong."""
        _ = self._ending

    @cached_property
    def threads(self) -> int:
        """Cores for this rank: those that it is bound to, shared with other ranks of the machine that may use them."""
        mine = frozenset(os.sched_getaffinity(0))
        here = [cores for name, cores in self.gathered((socket.gethostname(), mine)) if name == socket.gethostname()]
        return max(1, len(mine) // sum(bool(mine & cores) for cores in here))

    # Numbers.

    def total(self, number: int) -> int:
        """The sum of whole numbers."""
        return int(self.comm.allreduce(int(number), op=self.mpi.SUM))

    def any(self, truth: Any) -> bool:
        """Whether something is true on some rank."""
        return bool(self.comm.allreduce(bool(truth), op=self.mpi.LOR))

    def all(self, truth: Any) -> bool:
        """Whether something is true on every rank."""
        return bool(self.comm.allreduce(bool(truth), op=self.mpi.LAND))

    def greatest(self, number: float) -> float:
        """The greatest of the ranks' numbers; what is no number counts as infinite."""
        given = float(number)
        return float(self.comm.allreduce(given if given == given else np.inf, op=self.mpi.MAX))

    def least(self, number: float) -> float:
        """The least of the ranks' numbers; what is no number counts as minus infinity."""
        given = float(number)
        return float(self.comm.allreduce(given if given == given else -np.inf, op=self.mpi.MIN))

    def gathered(self, thing: Any) -> list[Any]:
        """What each rank has; for small things."""
        return list(self.comm.allgather(thing))

    def joined(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The short arrays of all ranks, one after the other."""
        return np.concatenate(self.gathered(np.ascontiguousarray(array)))

    def meet(self) -> None:
        """Wait for all others."""
        self.comm.Barrier()

    def swap(self, parts: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """Give each rank its part, an array of numbers of eight bytes or less, and get what the others give."""
        kept = [np.ascontiguousarray(part) for part in parts]
        kind, tail = kept[0].dtype, kept[0].shape[1:]
        sizes = np.array([part.size for part in kept], dtype=np.int64)
        coming = np.empty_like(sizes)
        self.comm.Alltoall(sizes, coming)
        found = [np.empty(int(size), dtype=kind) for size in coming]
        waiting = []
        for other in range(self.size):
            if other == self.rank:
                found[other][:] = kept[other].ravel()
                continue
            for start in range(0, int(coming[other]), CHUNK):
                waiting.append(self.comm.Irecv(found[other][start : start + CHUNK], source=other, tag=1))
        for other in range(self.size):
            flat = kept[other].ravel()
            for start in range(0, 0 if other == self.rank else flat.size, CHUNK):
                waiting.append(self.comm.Isend(flat[start : start + CHUNK], dest=other, tag=1))
        self.mpi.Request.Waitall(waiting)
        return [part.reshape(-1, *tail) for part in found]

    # Errors.

    def agree(self, error: GaltonError | None) -> None:
        """Raise on all ranks what went wrong on some: that of the first rank that has something to say."""
        told = self.gathered(None if error is None else (str(error), error.kind))
        for rank, found in enumerate(told):
            if found is not None:
                raise error if rank == self.rank and error is not None else SharedError(*found)

    @contextmanager
    def agreeing(self) -> Iterator[None]:
        """Errors of this block, in which ranks say nothing to each other, become those of all."""
        failure: GaltonError | None = None
        try:
            yield
        except GaltonError as error:
            failure = error
        self.agree(failure)

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """See to it that no rank waits for one that has failed: all have the same error, or the job ends."""
        try:
            yield
        except GaltonError as error:
            if not self.everybody_ends():
                self.end(str(error))
            raise
        except KeyboardInterrupt:
            if not self.everybody_ends(2.0):
                self.end("interrupted", 130)
            raise
        except MemoryError:
            self.end("not enough memory; give it more, or use more ranks on more machines")
        except Exception as error:
            traceback.print_exc(file=sys.__stderr__)
            self.end(f"{type(error).__name__}: {error}")

    def everybody_ends(self, patience: float = PATIENCE) -> bool:
        """Whether all ranks come here soon."""
        request, end = self._ending.Ibarrier(), time.monotonic() + patience
        while not request.Test():
            if time.monotonic() > end:
                return False
            time.sleep(0.002)
        return True

    def end(self, why: str, code: int = 1) -> NoReturn:
        """End the job for all ranks, in one sentence that names this one."""
        where = f"rank {self.rank} of {self.size} ({socket.gethostname()}, process {os.getpid()})"
        print(f"error: {where} ended the job: {why}", file=sys.__stderr__, flush=True)
        self.comm.Abort(code)
        os._exit(code)
