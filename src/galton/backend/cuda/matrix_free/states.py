"""The set of all reachable states, as the explorer's table of groups with numbers beside it.

Nothing is kept that grows with the number of transitions, and of each state only its bit in a group of 64. Numbers of
states have 64 bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import numpy as np

from ....device.errors import DeviceError
from ....lower.lowering import Lowered
from ...cpu.explorer import Watch
from ...cpu.explorer import explore as explore_on_cpu
from ...limits import Limits
from ..explorer.effort import MOST_SECONDS, compile_seconds
from ..explorer.exploration import Exploration, Kernels, ProgramFault
from ..explorer.kernels import Array, CudaKernels
from ..explorer.source import Shape, Source, shape_of, source, text_with
from ..explorer.tables import NotPrintable

__all__ = ["MOST_ENTRIES", "StateSet", "discover", "matrix_free_source"]

BLOCK = 256  # states, as in ranks.cuh
PART_BITS = 12  # of a state, below the number of its part of the directory
SMALL_DIRECTORY = 1 << 26  # bytes that are nothing to save
LARGEST_NUMBER = (1 << 46) - 1  # of a state: frontiers have 47 bits for their sizes
MOST_ENTRIES = 512  # of a row, which a thread keeps to itself; kernels say where one is longer
EXPLORERS = ("table.cuh", "finish.cuh")
OWN = ("ranks.cuh", "rows.cuh", "values.cuh", "backwards.cuh", "sweeps.cuh")


def matrix_free_source(lowered: Lowered) -> Source:
    """The text of the kernels for a program: labels ``goal`` and perhaps ``through``, and one reward or none."""
    shape = shape_of(lowered)
    assert list(lowered.labels) in (["goal"], ["goal", "through"])
    flags = {"EARNING_STATES": bool(shape.state_structures), "EARNING_CHOICES": bool(shape.choice_structures)}
    constants = [f"constexpr int MOST_ENTRIES = {min(shape.longest_row, MOST_ENTRIES)};"]
    constants += [f"constexpr bool {name} = {str(value).lower()};" for name, value in flags.items()]
    places = [("galton.backend.cuda.explorer", EXPLORERS), ("galton.backend.cuda.matrix_free", OWN)]
    texts = [(files(package) / name).read_text() for package, names in places for name in names]
    return text_with(lowered, "\n".join(constants), "\n".join(texts))


@dataclass(eq=False)
class StateSet:
    """All reachable states.

    Attributes
    ----------
    directory, table
        Where groups are: ``(parts, 2)`` for each 64 that there could be, which of them there are and how many come
        before; or ``(slots, words)`` by their hashes, their words, their members, and the number of the first.
    groups, ends, firsts
        The groups by value; for each one more than the number of its last state; for each block of 256 states the group
        of the first.
    initial
        ``(states, words)`` the initial states.
    n, levels
        How many states there are, and how many steps from an initial one the last was found.
    """

    lowered: Lowered
    shape: Shape
    kernels: Kernels
    directory: Array | None
    table: Array | None
    groups: Array
    ends: Array
    firsts: Array
    initial: Array
    n: int
    levels: int
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[Array | int | None, ...]:
        """As kernels take them."""
        mask = 0 if self.table is None else len(self.table) - 1
        return self.directory, self.table, mask, self.groups, self.ends, self.firsts, self.n

    @property
    def bytes(self) -> dict[str, int]:
        """What it takes on the device."""
        return {
            "where states are": sum(array.nbytes for array in (self.directory, self.table) if array is not None),
            "states in order": self.groups.nbytes + self.ends.nbytes + self.firsts.nbytes,
            "initial states": self.initial.nbytes,
        }

    def ranks(self, states: np.ndarray) -> np.ndarray:
        """The numbers of packed states, ``(count, words)``, all of which must be in the set."""
        xp = self.kernels.xp
        wanted = xp.asarray(np.ascontiguousarray(states, dtype=np.uint64))
        found = xp.empty(len(states), dtype=np.uint64)
        self.kernels.run("find_ranks", len(states), *self.arguments, wanted, len(states), found)
        return _on_host(xp, found)

    def states(self, numbers: np.ndarray) -> np.ndarray:
        """The packed states of numbers."""
        xp = self.kernels.xp
        wanted = xp.asarray(np.ascontiguousarray(numbers, dtype=np.uint64))
        found = xp.empty((len(wanted), self.shape.words), dtype=np.uint64)
        self.kernels.run("list_states", len(wanted), *self.arguments, wanted, len(wanted), found)
        return _on_host(xp, found)


def discover(
    lowered: Lowered,
    *,
    limits: Limits | None = None,
    watch: Watch | None = None,
    threads: int = 1,
    kernels: Callable[[Source], Kernels] = CudaKernels,
) -> StateSet:
    """Find all reachable states of a program, and number them in order.

    Raises :class:`~galton.device.errors.DeviceError` where the device cannot print or hold it.
    """
    limits = limits or Limits()
    start = time.perf_counter()
    try:
        explorer, own = source(lowered), matrix_free_source(lowered)
    except NotPrintable as error:
        raise DeviceError(f"the model has {error}") from error
    if compile_seconds(lowered) > MOST_SECONDS:
        raise DeviceError("the program is so long that compiling it for the device would take longer than exploring it")
    exploring, sweeping = kernels(explorer), kernels(own)
    sweeping.compiling.start()  # while states are found
    exploration = Exploration(lowered, explorer, exploring, limits, watch, most=LARGEST_NUMBER)
    xp, seconds = exploring.xp, {"compile_s": time.perf_counter() - start}
    try:
        start = time.perf_counter()
        exploration.discover()
        exploring.synchronize()
        seconds["discover_s"] = time.perf_counter() - start
        start = time.perf_counter()
        give_back(xp)
        order, sizes = exploration.ordered_groups()
    except ProgramFault:
        explore_on_cpu(lowered, threads=threads, limits=limits, watch=watch)  # which finds the fault and explains it
        raise DeviceError("the program is at fault in a state that the CPU did not find") from None
    ends = xp.cumsum(sizes, dtype=np.uint64)
    del sizes
    n, words = exploration.n, own.shape.words
    give_back(xp)
    groups, slots = exploration.slots[order], len(exploration.slots)
    del exploration.slots
    blocks = -(-n // BLOCK)
    firsts = xp.empty(blocks + 1, dtype=np.uint64)
    firsts[blocks] = len(order) - 1
    sweeping.run("find_firsts", len(order), groups, ends, len(order), firsts)
    directory = table = None
    if (parts := directory_size(lowered, slots)) is not None:
        directory = xp.zeros((parts, 2), dtype=np.uint64)
        sweeping.run("make_directory", len(order), groups, len(order), directory)
    else:
        table = xp.zeros((slots, 4 if words <= 2 else words + 2), dtype=np.uint64)
        sweeping.run("make_table", len(order), order, groups, ends, len(order), table)
    sweeping.synchronize()
    del order
    give_back(xp)
    seconds["sort_s"] = time.perf_counter() - start
    initial = exploration.initial_states
    return StateSet(
        lowered, own.shape, sweeping, directory, table, groups, ends, firsts, initial, n, exploration.levels, seconds
    )


def directory_size(lowered: Lowered, slots: int) -> int | None:
    """How many parts a directory of all values of a word has; None where a table is smaller."""
    bits = max((field.shift + field.bits for field in lowered.fields), default=0)
    parts = 1 << max(bits - PART_BITS, 0)
    return parts if lowered.words == 1 and 16 * parts <= max(SMALL_DIRECTORY, 32 * slots) else None


def give_back(xp: Any) -> None:
    """What the library of arrays keeps for later is given back to the device: the next array may be of another size."""
    if hasattr(xp, "get_default_memory_pool"):
        xp.get_default_memory_pool().free_all_blocks()


def _on_host(xp: Any, array: Array) -> np.ndarray:
    found: np.ndarray = array if xp is np else array.get()
    return found
