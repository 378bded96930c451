"""Messages that ranks send whenever they have something to tell, and how they learn that there will be no more.

Ranks that are done with what they have take part in waves: sums over all ranks, which go on in the background, of how
many messages were sent and received, and of how many ranks are busy. Where all were idle in two successive waves, and
as many messages were received in the first as had been sent in the second, none was on its way (Mattern 1987, the four
counters). No rank ever waits for another at a barrier.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .world import World

__all__ = ["Tally", "Traffic"]

SHORTEST, LONGEST = 2e-5, 2e-3  # seconds that a rank sleeps when it has nothing to do
FIRST_TAG, TAGS = 16, 1 << 14


class Tally(NamedTuple):
    """What ranks have come to together, as of the last wave: ``over`` once there is nothing left to do."""

    over: bool = False
    wrong: bool = False
    stopped: bool = False
    counted: tuple[int, ...] = ()


class Traffic:
    """One search that all ranks share; messages are rows of 64-bit words."""

    _searches = 0

    def __init__(self, world: World, width: int) -> None:
        self.world, self.width = world, width
        # What others send for the next search may arrive before this one is known to be over.
        Traffic._searches += 1
        self.tag = FIRST_TAG + Traffic._searches % TAGS
        self.sent = np.zeros(world.size, dtype=np.int64)
        self.received = np.zeros(world.size, dtype=np.int64)
        self.bytes_sent = 0
        self._leaving: list[tuple[Any, npt.NDArray[Any]]] = []
        self._wave: Any = None
        self._mine = self._all = np.zeros(0, dtype=np.int64)
        self._before: tuple[int, int] | None = None
        self._sleep = SHORTEST

    def send(self, rank: int, words: npt.NDArray[Any]) -> None:
        """Begin to send; nobody waits for it."""
        if not len(words):
            return
        buffer = np.ascontiguousarray(words).view(np.int64)
        self._leaving.append((self.world.comm.Isend(buffer, dest=rank, tag=self.tag), buffer))
        self.sent[rank] += 1
        self.bytes_sent += buffer.nbytes
        if len(self._leaving) > 64:
            self._leaving = [(request, kept) for request, kept in self._leaving if not request.Test()]

    def receive(self) -> list[tuple[int, npt.NDArray[np.int64]]]:
        """What has arrived, and from whom."""
        comm, status, found = self.world.comm, self.world.mpi.Status(), []
        while comm.Iprobe(source=self.world.mpi.ANY_SOURCE, tag=self.tag, status=status):
            source = status.Get_source()
            buffer = np.empty(status.Get_count(self.world.mpi.INT64_T), dtype=np.int64)
            comm.Recv(buffer, source=source, tag=self.tag)
            self.received[source] += 1
            found.append((source, buffer.reshape(-1, self.width)))
        if found:
            self._sleep = SHORTEST
        return found

    def tally(self, *, idle: bool, wrong: bool = False, stopped: bool = False, counted: tuple[int, ...] = ()) -> Tally:
        """Tell how this rank is, where a wave begins; what all have come to, where one has ended."""
        if self._wave is None:
            told = [int(self.sent.sum()), int(self.received.sum()), not idle, wrong, stopped, *counted]
            self._mine = np.array(told, dtype=np.int64)
            self._all = np.empty_like(self._mine)
            self._wave = self.world.comm.Iallreduce(self._mine, self._all, op=self.world.mpi.SUM)
        if not self._wave.Test():
            if idle:
                time.sleep(self._sleep)
                self._sleep = min(2 * self._sleep, LONGEST)
            return Tally()
        self._wave = None
        sent, received, busy, wrong_ones, stopped_ones, *sums = self._all.tolist()
        settled = not busy and self._before is not None and self._before[0] == 0 and self._before[1] == sent
        self._before = busy, received
        return Tally(settled or bool(wrong_ones or stopped_ones), bool(wrong_ones), bool(stopped_ones), tuple(sums))

    def close(self) -> None:
        """Receive what is still on its way, where a search was ended early."""
        expected = np.empty_like(self.sent)
        self.world.comm.Alltoall(self.sent, expected)
        while (self.received < expected).any():
            self.receive()
        self.world.mpi.Request.Waitall([request for request, _ in self._leaving])
        self._leaving = []
