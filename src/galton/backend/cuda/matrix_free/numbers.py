"""Two numbers for every state of a set, and the kernels that work on them (``backwards.cuh``, ``sweeps.cuh``).

This file allocates and launches. What is done in which order, and why it is sound, is in
:mod:`galton.solve.matrix_free`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from ....device.errors import DeviceError, DeviceMemoryError
from ....lang.source import GaltonError
from ...protocol import Proof
from ..explorer.exploration import Control, Flag
from ..explorer.kernels import THREADS, Array
from .states import MOST_ENTRIES, StateSet, give_back

__all__ = ["Extremes", "Kind", "Numbers"]

Kind = Literal["probability", "reward"]
Optimum = Literal["min", "max"]
Watch = Callable[[int], None]  # told how far it is
KINDS = {"probability": 0, "reward": 1}
OPTIMA = {None: 0, "min": 1, "max": 2}
SEARCHES = {"some": 0, "all": 1, "missed": 2}
NEGATIVE, TOO_LONG = 32, 64  # flags, as in rows.cuh
NOBODY = np.uint64((1 << 64) - 1)  # the end of a list, as in backwards.cuh

TILE = 4096  # states of a block that marks, as in sweeps.cuh
QUEUE = 1 << 26  # states that are settled together
SPARE = 1 << 28  # bytes that are left to the device: kernels have memory of their own


class Extremes(NamedTuple):
    """Over the initial states: the least and the greatest of each of the two numbers."""

    least_first: float
    most_first: float
    least_second: float
    most_second: float


class Counts(NamedTuple):
    """Of graph analysis: states of probability 0 (for a reward, infinite), of probability 1 (goals), and open ones."""

    none: int
    certain: int
    open: int


class Numbers:
    """The numbers of all states for one question."""

    def __init__(self, states: StateSet, kind: Kind, optimum: Optimum | None, *, queue: int = QUEUE):
        self.states, self.kind, self.optimum = states, kind, optimum
        self.kernels, self.xp = states.kernels, states.kernels.xp
        self._choice = KINDS[kind], OPTIMA[optimum]
        self._queue = min(queue, states.n)
        give_back(self.xp)
        self._check_memory()
        self.control = self.xp.zeros(len(Control), dtype=np.uint64)
        self.pairs = self.xp.zeros(2 * states.n, dtype=np.float64)
        self.sweeps = 0

    def n_states(self) -> int:
        """How many states there are."""
        return self.states.n

    def n_initial(self) -> int:
        """How many initial states there are."""
        return len(self.states.initial)

    @property
    def bytes(self) -> dict[str, int]:
        """What it takes on the device, besides the states themselves."""
        n = self.states.n
        queue = 8 * 5 * self._queue
        return {"two numbers a state": 16 * n, "who is settled": 8 * (n // 64 + 1), "queues": queue}

    def _check_memory(self) -> None:
        needed, free = sum(self.bytes.values()), self.kernels.free_memory() - SPARE
        if needed > free:
            known = sum(self.states.bytes.values())
            raise DeviceMemoryError(
                f"{self.states.n:,} states take {known / 1e9:.1f} GB of the device, their numbers "
                f"{needed / 1e9:.1f} GB more, and {max(free, 0) / 1e9:.1f} GB are free"
            )

    def check_faults(self) -> None:
        """Stop where a kernel met something that means nothing."""
        flags = int(self.control[Control.FLAGS])
        if flags & NEGATIVE:
            raise GaltonError("some rewards are negative, and without a matrix they have to be at least 0")
        if flags & TOO_LONG:
            raise DeviceError(f"a state has more than {MOST_ENTRIES} successors, more than a thread can keep")
        if flags & Flag.FAULT:
            raise GaltonError("a label or a reward has no value in some state")

    # What lies on no cycle.

    def backwards(self, watch: Watch | None = None) -> int:
        """Settle states whose successors are settled, goals first; returns how many states that leaves."""
        xp, n, run, given = self.xp, self.states.n, self.kernels.run, self.states.arguments
        pairs = self.pairs.view(np.uint64)
        settled = xp.zeros(n // 64 + 1, dtype=np.uint64)
        queue, lists = xp.empty(3 * self._queue, dtype=np.uint64), xp.empty(self._queue, dtype=np.uint64)
        counts = xp.zeros(3, dtype=np.uint64)  # of the queue, of lists, and of lists that are not done
        looks = (*given, pairs, settled, *self._choice)
        room = (queue, self._queue, counts[:1])
        pending: list[Array] = []
        open_ = n

        def settle() -> int:
            """Write down what is in the queue, and who waited for it."""
            count = min(int(counts[0]), self._queue)
            if count:
                counts[:] = 0
                run("settle", count, queue, count, pairs, settled, lists, counts[1:2])
                if waiting := int(counts[1]):
                    pending.append(lists[:waiting].copy())
            counts[:] = 0
            return count

        run("begin_backwards", n, *given, pairs, settled, self._choice[0], counts[:1], self.control)
        open_ -= int(counts[0])
        counts[:] = 0
        for first in range(0, n, self._queue):
            last = min(first + self._queue, n)
            run("look_first", last - first, *looks, first, last, *room, self.control)
            open_ -= settle()
            while pending:
                found = pending.pop()
                run("look_again", len(found), *looks, found, len(found), *room, counts[2:], self.control)
                if int(counts[2]):
                    pending.append(found[found != NOBODY])
                open_ -= settle()
            if watch is not None:
                watch(last)
        self.sweeps += 1
        self.check_faults()
        return open_

    # Sweeps.

    def mark(self, search: Literal["some", "all", "missed"], watch: Watch | None = None) -> int:
        """Mark states that lead to marked ones until there are no more; returns how many sweeps that took."""
        sweeps, changed = 0, 1
        counter = self.xp.zeros(1, dtype=np.uint64)
        while changed:
            counter[:] = 0
            arguments = *self.states.arguments, self.pairs, SEARCHES[search], sweeps % 2, counter, self.control
            self.kernels.run("mark", -(-self.states.n // TILE) * THREADS, *arguments)  # a block for each
            changed = int(counter[0])
            sweeps += 1
            if watch is not None:
                watch(changed)
        self.sweeps += sweeps
        return sweeps

    def begin_marks(self) -> None:
        """Mark the goals, and the states that paths must not go through."""
        self.kernels.run("begin_marks", self.states.n, *self.states.arguments, self.pairs, self.control)
        self.sweeps += 1

    def begin_sweeps(self, *, sure: bool) -> Counts:
        """Numbers in place of marks; ``sure`` says whether states that may miss the goal are marked."""
        counts = self.xp.zeros(3, dtype=np.uint64)
        self.kernels.run("begin_sweeps", self.states.n, self.pairs, self.states.n, self._choice[0], int(sure), counts)
        self.check_faults()
        return Counts(*map(int, self._on_host(counts)))

    def sweep(self, *, weighing: bool) -> tuple[float, float]:
        """One sweep; the greatest change of the first and of the second numbers."""
        found = self.xp.zeros(2, dtype=np.uint64)
        about = (*self._choice, int(weighing), self.sweeps % 2, found, self.control)
        self.kernels.run("sweep", self.states.n, *self.states.arguments, self.pairs, *about)
        self.sweeps += 1
        first, second = self._on_host(found).view(np.float64)
        return float(first), float(second)

    def scale_weights(self, factor: float) -> None:
        """Multiply all weights."""
        self.kernels.run("scale_weights", self.states.n, self.pairs, self.states.n, _bits(factor))

    def prove(self, *, claims: bool = False) -> Proof:
        """Weights that are too small, and how much the first numbers are off their own equation.

        With ``claims``, what is said to be settled is looked at, too.
        """
        found = self.xp.zeros(3, dtype=np.uint64)
        about = (*self._choice, int(claims), found, self.control)
        self.kernels.run("prove", self.states.n, *self.states.arguments, self.pairs, *about)
        self.sweeps += 1
        self.check_faults()
        bits = self._on_host(found)
        return Proof(int(bits[0]), *map(float, bits[1:].view(np.float64)))

    def extremes(self, proof: Proof | None = None) -> Extremes:
        """The numbers of the initial states; with a ``proof``, the bounds that it gives."""
        found = self.xp.asarray(np.array([np.inf, 0.0, np.inf, 0.0]).view(np.uint64))
        shares = (0, 0, 0) if proof is None else (1, _bits(proof.down), _bits(proof.up))
        given = self.states.initial, len(self.states.initial), self.pairs, *shares
        self.kernels.run("find_extremes", len(self.states.initial), *self.states.arguments, *given, found)
        self.check_faults()
        return Extremes(*map(float, self._on_host(found).view(np.float64)))

    def lift(self, others: StateSet, values: np.ndarray) -> None:
        """Take over the numbers, ``(states, 2)``, of states that stand for those of this set: orbits of symmetries."""
        assert others.lowered.fields == self.states.lowered.fields
        values = self.xp.asarray(np.ascontiguousarray(values, dtype=np.float64))
        given = *self.states.arguments, *others.arguments, values, self.pairs
        others.kernels.run("lift", self.states.n, *given)
        self.sweeps += 1

    def _on_host(self, array: Array) -> np.ndarray:
        found: np.ndarray = array if self.xp is np else array.get()
        return found


def _bits(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])
