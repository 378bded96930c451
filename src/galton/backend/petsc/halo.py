"""The states of other ranks that the rows of this one lead to, and the ranks that its own states are ghosts of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...device.arrays import members, offsets
from .world import World

__all__ = ["Halo", "halo_of"]

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
TAG = 2


class Halo:
    """Which numbers travel where when every rank is to know those of its ghosts.

    Vectors have a number for each of the rank's own states, then one for each ghost: by owner, ascending there.

    Attributes
    ----------
    n
        States of this rank.
    bounds
        ``(ranks + 1,)`` the first number of each rank's states among those of all.
    starts
        ``(ranks + 1,)`` where the ghosts of each rank begin.
    wanted
        For each rank, which states of this one are its ghosts: their numbers here, in the order it has them.
    ghosts
        ``(ghosts,)`` the number of each ghost among the states of all ranks.
    """

    def __init__(self, world: World, bounds: Int64s, starts: Int64s, wanted: Sequence[Int32s], ghosts: Int64s) -> None:
        self.world, self.bounds, self.starts, self.wanted, self.ghosts = world, bounds, starts, wanted, ghosts
        self.n = int(bounds[world.rank + 1] - bounds[world.rank])
        self.first = int(bounds[world.rank])
        self.size = self.n + len(ghosts)
        self.bytes_moved = 0

    @property
    def total(self) -> int:
        """States of all ranks."""
        return int(self.bounds[-1])

    def extended(self, own: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A copy of a vector of the own states with those of the ghosts behind."""
        found = np.empty(self.size, dtype=own.dtype)
        found[: self.n] = own
        self.refresh(found)
        return found

    def refresh(self, vector: npt.NDArray[Any]) -> None:
        """Bring the numbers of the ghosts up to date."""
        world, waiting, kept = self.world, [], []
        raw = vector.view(np.uint8) if vector.dtype == np.bool_ else vector
        for rank in range(world.size):
            first, last = int(self.starts[rank]), int(self.starts[rank + 1])
            if last > first:
                waiting.append(world.comm.Irecv(raw[self.n + first : self.n + last], source=rank, tag=TAG))
        for rank, states in enumerate(self.wanted):
            if len(states):
                kept.append(raw[states])
                self.bytes_moved += kept[-1].nbytes
                waiting.append(world.comm.Isend(kept[-1], dest=rank, tag=TAG))
        world.mpi.Request.Waitall(waiting)

    @cached_property
    def _watching(self) -> tuple[Int64s, Int32s, Int64s]:
        """For each own state where its watchers begin, and of each of these the rank and its place among the ghosts."""
        counts = [len(states) for states in self.wanted]
        states = np.concatenate([*self.wanted, np.empty(0, dtype=np.int32)])
        ranks = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        places = np.concatenate([*(np.arange(count, dtype=np.int64) for count in counts), np.empty(0, dtype=np.int64)])
        order = np.argsort(states, kind="stable")
        return offsets(np.bincount(states, minlength=self.n)), ranks[order], places[order]

    def watchers(self, states: npt.NDArray[Any]) -> tuple[Int32s, Int64s, Int64s]:
        """Who has these states as ghosts: the ranks, the places there within the ghosts of this rank, and of which."""
        starts, ranks, places = self._watching
        found, lengths = members(starts, states)
        return ranks[found], places[found], np.repeat(np.arange(len(states)), lengths)

    def place_of(self, source: int, places: Int64s) -> Int64s:
        """Where ghosts are in vectors, given their places among those of a rank."""
        return self.n + int(self.starts[source]) + places

    def owner_of(self, ghosts: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The rank of each ghost, given its place in vectors, and its number there."""
        numbers = self.ghosts[np.asarray(ghosts, dtype=np.int64) - self.n]
        ranks = np.searchsorted(self.bounds, numbers, side="right") - 1
        return ranks, numbers - self.bounds[ranks]

    @cached_property
    def numbers(self) -> Int64s:
        """``(size,)`` the number of each state, own or ghost, among those of all ranks."""
        return np.concatenate([np.arange(self.first, self.first + self.n, dtype=np.int64), self.ghosts])


def halo_of(world: World, n: int, parts: Sequence[npt.NDArray[Any]]) -> Halo:
    """The halo of a rank with so many states and, for each other rank, the numbers there of those that it needs."""
    counts = np.array(world.gathered(n), dtype=np.int64)
    bounds = offsets(counts)
    wanted = [part.astype(np.int32) for part in world.swap([part.astype(np.int64) for part in parts])]
    starts = offsets(np.array([len(part) for part in parts], dtype=np.int64))
    ghosts = np.concatenate([part.astype(np.int64) + bounds[rank] for rank, part in enumerate(parts)])
    return Halo(world, bounds, starts, wanted, ghosts)
