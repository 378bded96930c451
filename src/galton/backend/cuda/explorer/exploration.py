"""Explore on a CUDA device: the same model as on the CPU, with its arrays left on the device.

Discover all states in a table, sort its groups, count the entries of every row, fill the rows. The kernels are in
``cuda/``; this file allocates what they need and launches them. No size has to be guessed: what turns out too small is
made larger and the level is repeated. Where the program goes wrong the device only says so, and the CPU explorer is run
to find the same fault and explain it.

The one difference: the dictionary of values holds those of the matrix and no others, where the CPU's may also hold
values that were added up to them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum, IntFlag
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from ....device.arrays import on_host, total
from ....device.errors import DeviceError, device_errors
from ....lower.lowering import Lowered
from ....model.sparse import Model, Rewards, Values
from ....model.states import PackedStates
from ....model.validation import off_warning
from ...cpu.explorer import Watch
from ...cpu.explorer import explore as explore_on_cpu
from ...failures import Fault, explain
from ...limits import Limits
from .effort import MOST_SECONDS, compile_seconds
from .kernels import THREADS, Array, CudaKernels
from .meanwhile import Compiling, explored_meanwhile
from .source import Source, source
from .tables import NotPrintable

FIRST_SLOTS = 1 << 18  # of the table
FIRST_FRONTIER = 1 << 18  # states
GROWTH = 4  # of the frontier, and of a table that is still small
LARGE_TABLE = 1 << 21  # slots; larger ones only double, to fill the cache well
SPREAD = 16  # threads that a state of a narrow frontier can keep busy, as in discover.cuh
LEVELS_A_LAUNCH = 20_000  # then the host has a look, for progress and interrupts
STATES_A_LAUNCH = 200_000_000
VALUE_SLOTS = 1 << 18  # as in values.cuh
INITIAL_A_LAUNCH = 1 << 30
LARGEST_INDEX = 2**31 - 1  # of a state or a choice of a matrix
FEW_KEYS = 1 << 17  # to sort
THREADS_OF_LONG = 1 << 17  # that list long rows
BYTES_OF_LISTED = 80  # an entry of a long row, while rows are sorted and merged


class Control(IntEnum):
    """Places in the control block, as in ``discover.cuh``."""

    SIZE = 0
    NEXT = 1
    GROUPS = 2
    FLAGS = 3
    TURN = 4
    LEVELS = 5
    EXPANDED = 6
    ARRIVED = 7
    NEWS = 8
    OFF_ROW = 9


class Flag(IntFlag):
    """What a kernel may report, as in ``discover.cuh``."""

    FAULT = 1
    TABLE_FULL = 2
    FRONTIER_FULL = 4
    TOO_MANY_VALUES = 8
    LONG_ROWS = 16


class Kernels(Protocol):
    """What launches kernels; tests run them on the CPU."""

    @property
    def xp(self) -> Any: ...
    def run(self, name: str, work: int, *arguments: Array | int | None) -> None: ...
    def run_together(self, name: str, blocks: int, *arguments: Array | int | None) -> None: ...
    def most_blocks(self, name: str) -> int: ...
    def synchronize(self) -> None: ...
    def free_memory(self) -> int: ...
    @property
    def waited(self) -> float: ...
    @property
    def compiling(self) -> Compiling: ...


class ProgramFault(Exception):
    """The program means nothing in some state."""


def explore(
    lowered: Lowered,
    *,
    threads: int = 1,
    limits: Limits | None = None,
    transition_rewards: bool = False,
    watch: Watch | None = None,
    kernels: Callable[[Source], Kernels] = CudaKernels,
) -> Model:
    """All reachable states of a lowered program, as a sparse model on the device.

    Raises :class:`~galton.device.errors.DeviceError` where the device cannot do it and the CPU may. ``threads``
    is for the CPU, should it have to explain what is wrong with the program; ``kernels`` compiles and launches.
    """
    if transition_rewards:
        raise DeviceError("rewards of single transitions are kept on the CPU only")
    limits = limits or Limits()
    start = time.perf_counter()
    try:
        text = source(lowered)
    except NotPrintable as error:
        raise DeviceError(f"the model has {error}") from error
    if text.shape.longest_row > LARGEST_INDEX:  # a kernel that goes through them cannot be interrupted
        raise DeviceError("states of the model may have more successors than there are numbers for")
    if compile_seconds(lowered) > MOST_SECONDS:
        raise DeviceError("the program is so long that compiling it for the device would take longer than exploring it")
    try:
        with device_errors("the model does not fit into the memory of the device"):
            launcher = kernels(text)
            meanwhile = explored_meanwhile(lowered, launcher.compiling, threads=threads, limits=limits, watch=watch)
            if meanwhile is not None:
                return meanwhile.to_device()
            exploration = Exploration(lowered, text, launcher, limits, watch)
            exploration.seconds["compile_s"] = time.perf_counter() - start
            model = exploration.run()
    except ProgramFault:
        return explore_on_cpu(lowered, threads=threads, limits=limits, watch=watch)
    return replace(model, build_seconds=time.perf_counter() - start)


class Exploration:
    """One exploration, step by step; each step leaves its arrays for the next."""

    def __init__(
        self,
        lowered: Lowered,
        source: Source,
        kernels: Kernels,
        limits: Limits,
        watch: Watch | None = None,
        most: int | None = None,
    ):
        """``most`` is how many states there are numbers for: as many as a matrix has, unless somebody needs none."""
        self.most = LARGEST_INDEX if most is None else most
        self.lowered = lowered
        self.shape = source.shape
        self.words = source.shape.words
        self.kernels = kernels
        self.xp = kernels.xp
        self.limits = limits
        self.watch = watch
        self.chain = not lowered.program.nature.has_choices
        self.seconds: dict[str, float] = {}
        self.control = self.xp.zeros(len(Control), dtype=np.uint64)

    def run(self) -> Model:
        """All steps."""
        for name, step in (
            ("discover_s", self.discover),
            ("sort_s", self.sort),
            ("count_s", self.count),
            ("fill_s", self.fill),
        ):
            start, waited = time.perf_counter(), self.kernels.waited
            step()
            self.kernels.synchronize()
            compiling = self.kernels.waited - waited
            self.seconds[name] = time.perf_counter() - start - compiling
            self.seconds["compile_s"] = self.seconds.get("compile_s", 0.0) + compiling
        return self.model()

    # States

    def discover(self) -> None:
        """All reachable states into the table."""
        xp = self.xp
        self.slots = xp.zeros((FIRST_SLOTS, self.words + 1), dtype=np.uint64)
        self.capacity = FIRST_FRONTIER
        self.frontiers = [xp.empty((self.capacity, self.words), dtype=np.uint64) for _ in range(2)]
        self._find_initial()
        most = self.kernels.most_blocks("discover")
        state = self._state()
        while state[Control.SIZE]:
            size = int(state[Control.SIZE])
            # Enough for a frontier twice as large; others, when it is four times as large or an eighth.
            blocks = most if self.shape.long_possible else min(most, -(-2 * size * SPREAD // THREADS))
            low = blocks * THREADS // (16 * SPREAD) if 1 < blocks < most else 0
            high = 2 * blocks * THREADS // SPREAD if blocks < most else self.most
            self.kernels.run_together(
                "discover",
                blocks,
                self.slots,
                len(self.slots) - 1,
                *self.frontiers,
                self.capacity,
                self.control,
                low,
                high,
                int(state[Control.LEVELS]) + LEVELS_A_LAUNCH,
                int(state[Control.EXPANDED]) + STATES_A_LAUNCH,
            )
            state = self._make_room()
            found = int(state[Control.EXPANDED] + state[Control.SIZE])
            if self.watch is not None:
                self.watch(found, 0, 0)
            self._check_number(found)
        self.levels = int(state[Control.LEVELS])
        self.n = int(state[Control.EXPANDED])
        del self.frontiers

    def _find_initial(self) -> None:
        """The first frontier, and a copy of it; the states that satisfy init … endinit, or the one that is given."""
        shape = self.shape
        if not shape.initial_valuations:
            self._seed()
        valuations = shape.initial_valuations
        for start in range(0, valuations, INITIAL_A_LAUNCH):
            count = min(INITIAL_A_LAUNCH, valuations - start)
            full = True
            while full:
                arrays = self.slots, len(self.slots) - 1, self.frontiers[0], self.capacity, self.control
                self.kernels.run("find_initial", count, *arrays, start, count)
                full = bool(self._state()[Control.FLAGS])
                self._make_room()
        state = self._state()
        size = int(state[Control.NEXT])
        if size == 0:
            raise ProgramFault
        state[Control.SIZE], state[Control.NEXT] = size, 0
        self.control[:] = self.xp.asarray(state)
        self.initial_states = self.frontiers[0][:size].copy()

    def _seed(self) -> None:
        program = self.lowered.program
        first = np.zeros(self.words, dtype=np.uint64)
        for field, variable in zip(self.lowered.fields, program.variables, strict=True):
            first[field.word] |= np.uint64((variable.initial - field.low) << field.shift)
        self.frontiers[1][0] = self.xp.asarray(first)
        self.kernels.run(
            "add_state", 1, self.slots, len(self.slots) - 1, self.frontiers[1], self.frontiers[0], self.control
        )

    def _state(self) -> np.ndarray:
        found: np.ndarray = self.control if self.xp is np else self.control.get()
        return found.copy()

    def _make_room(self) -> np.ndarray:
        """After a launch: stop at a fault, give the table or the frontier the room they asked for."""
        xp, state = self.xp, self._state()
        state[Control.NEXT] = min(int(state[Control.NEXT]), self.capacity)
        flags = Flag(int(state[Control.FLAGS]))
        if flags & Flag.FAULT:
            raise ProgramFault
        if flags & Flag.TABLE_FULL or 4 * int(state[Control.GROUPS]) > 3 * len(self.slots):
            old = len(self.slots)
            larger = xp.zeros((old * (GROWTH if old < LARGE_TABLE else 2), self.words + 1), dtype=np.uint64)
            self.kernels.run("move_groups", old, self.slots, old, larger, len(larger) - 1)
            self.slots = larger
        if flags & Flag.FRONTIER_FULL:
            self.capacity *= GROWTH
            for place, frontier in enumerate(self.frontiers):
                larger = xp.empty((self.capacity, self.words), dtype=np.uint64)
                larger[: len(frontier)] = frontier
                self.frontiers[place] = larger
        if flags:
            state[Control.NEXT] = min(
                int(state[Control.NEXT]), self.capacity // (GROWTH if flags & Flag.FRONTIER_FULL else 1)
            )
            state[Control.FLAGS] = 0
            self.control[:] = xp.asarray(state)
        return state

    def _check_number(self, found: int) -> None:
        if found > min(self.limits.max_states, self.most):
            raise explain({"fault": Fault.TOO_MANY_STATES}, self.lowered, self.limits)

    def sort(self) -> None:
        """The states in order, and for each slot the number of its first."""
        xp, words = self.xp, self.words
        self._check_number(self.n)
        order, sizes = self.ordered_groups()
        groups = len(order)
        ends = xp.cumsum(sizes, dtype=np.int32)
        self.states = xp.empty((self.n, words), dtype=np.uint64)
        self.numbers = xp.zeros(len(self.slots), dtype=np.int32)
        self.kernels.run("unfold_groups", 32 * groups, self.slots, order, ends, groups, self.states, self.numbers)
        found = xp.empty(len(self.initial_states), dtype=np.int32)
        count = len(found)
        table = self.slots, len(self.slots) - 1, self.numbers
        self.kernels.run("find_numbers", count, *table, self.initial_states, count, found)
        self.initial = found[_sorting(xp, found[:, None])]

    def ordered_groups(self) -> tuple[Array, Array]:
        """The slots of all groups, by value, and how many states each of them has."""
        xp = self.xp
        counts = xp.zeros(2, dtype=np.uint64)
        capacity = len(self.slots)
        self.kernels.run("list_groups", capacity, self.slots, capacity, None, counts)
        groups = int(counts[0])
        used = xp.empty(groups, dtype=np.int64)
        self.kernels.run("list_groups", capacity, self.slots, capacity, used, counts[1:])
        order = used[_sorting(xp, self.slots[used, : self.words])]
        del used
        sizes = xp.empty(groups, dtype=np.int32)
        self.kernels.run("measure_groups", groups, self.slots, order, groups, sizes)
        return order, sizes

    # Matrix

    def count(self) -> None:
        """How many choices and entries every state has; its labels and rewards."""
        xp, n, shape = self.xp, self.n, self.shape
        choices = None if self.chain else xp.empty(n, dtype=np.int32)
        entries = xp.empty(n, dtype=np.int32)
        self.deadlocks = xp.empty(n, dtype=np.uint8)
        self.labels = xp.empty((shape.labels, n), dtype=np.uint8)
        self.state_rewards = xp.empty((len(shape.state_structures), n), dtype=np.float64)
        self.kernels.run(
            "count_rows",
            n,
            self.states,
            n,
            choices,
            entries,
            self.deadlocks,
            self.labels,
            self.state_rewards,
            self.control,
        )
        self.choice_starts, self.n_choices = None, n
        if choices is not None:
            self.n_choices = total(choices)
            if self.n_choices > LARGEST_INDEX:
                raise explain({"fault": Fault.TOO_MANY_STATES}, self.lowered, self.limits)
            self.choice_starts = _starts(xp, choices, np.int32)
        del choices
        self.choice_actions = None if self.chain else xp.empty(self.n_choices, dtype=np.uint16)
        self.choice_rewards = xp.empty((len(shape.choice_structures), self.n_choices), dtype=np.float64)
        flags = self._flags()
        self.long = LongRows(self, entries) if flags & Flag.LONG_ROWS else None
        self.n_transitions = total(entries)
        offsets = np.int32 if self.n_transitions <= LARGEST_INDEX else np.int64
        self.begins = _starts(xp, entries, offsets)
        self.wide = int(offsets is np.int64)

    def _flags(self) -> Flag:
        """What the last kernels reported; the flags are lowered."""
        flags = Flag(int(self.control[Control.FLAGS]))
        self.control[Control.FLAGS] = 0
        if flags & Flag.FAULT:
            raise ProgramFault
        return flags

    def fill(self) -> None:
        """The rows, with codes as narrow as the number of distinct values allows."""
        xp = self.xp
        self.row_starts = self.begins
        if not self.chain:
            self.row_starts = xp.empty(self.n_choices + 1, dtype=self.begins.dtype)
            self.row_starts[-1] = self.n_transitions
        self.columns = xp.empty(self.n_transitions, dtype=np.int32)
        for code in (np.uint8, np.uint16, np.float64):
            pairs = xp.zeros((VALUE_SLOTS, 2), dtype=np.uint64)
            count = xp.zeros(1, dtype=np.uint32)
            bytes_ = np.dtype(code).itemsize
            # Room to the next whole word: codes are sorted by words.
            room = xp.empty(-(-self.n_transitions * bytes_ // 8) * 8 // bytes_, dtype=code)
            dictionary = pairs, count, 1 << 8 * min(bytes_, 2)
            self._fill_with(room, dictionary)
            if not self._flags() & Flag.TOO_MANY_VALUES:
                break
        self.values = self._sorted(room, pairs, int(count[0]))
        if self.chain:
            self.choice_starts = None

    def _fill_with(self, values: Array, dictionary: tuple[Array | int, ...]) -> None:
        starts = self.begins, self.row_starts, self.wide
        table = self.slots, len(self.slots) - 1, self.numbers
        out = self.columns, values, values.dtype.itemsize
        if self.long is not None:
            self.long.place(*starts, *out, *dictionary)
        self.kernels.run(
            "fill_rows",
            self.n,
            self.states,
            self.n,
            *table,
            self.choice_starts,
            *starts,
            self.n_choices,
            *out,
            *dictionary,
            self.choice_actions,
            self.choice_rewards,
            None if self.long is None else self.long.mask,
            self.control,
        )

    def _sorted(self, room: Array, pairs: Array, count: int) -> Values:
        """The values with their dictionary in ascending order."""
        xp = self.xp
        if room.dtype == np.float64:
            return Values(plain=room)
        dictionary = xp.empty(count, dtype=np.float64)
        self.kernels.run("list_values", VALUE_SLOTS, pairs, dictionary)
        order = xp.argsort(dictionary)
        ranks = xp.zeros(1 << 8 * room.dtype.itemsize, dtype=np.uint16)
        ranks[order] = xp.arange(count, dtype=np.uint16)
        words = room.nbytes // 8
        self.kernels.run("sort_codes", words, room, words, room.dtype.itemsize, ranks)
        return Values(dictionary=dictionary[order], index=room[: self.n_transitions])

    def model(self) -> Model:
        """The arrays as a model."""
        xp, program, shape = self.xp, self.lowered.program, self.shape
        at_start = xp.zeros(self.n, dtype=bool)
        at_start[self.initial] = True
        labels = {"init": at_start, "deadlock": self.deadlocks.view(bool)}
        labels |= {name: self.labels[k].view(bool) for k, name in enumerate(self.lowered.labels)}
        of_states = dict(zip(shape.state_structures, self.state_rewards, strict=True))
        of_choices = dict(zip(shape.choice_structures, self.choice_rewards, strict=True))
        rewards: dict[str, Rewards] = {}
        for number, name in enumerate(program.reward_names):
            rewards[name] = Rewards(state=of_states.get(number), choice=of_choices.get(number))
        named = PackedStates(self.lowered.fields, self.states)
        return Model(
            type=program.type,
            choice_starts=self.choice_starts,
            row_starts=self.row_starts,
            columns=self.columns,
            values=self.values,
            initial=self.initial,
            labels=labels,
            rewards=rewards,
            actions=self.lowered.actions,
            choice_actions=self.choice_actions,
            states=named,
            orbits=self.lowered.orbits,
            warnings=self._warnings(named),
            info={**self.seconds, "levels": self.levels},
        )

    def _warnings(self, named: PackedStates) -> tuple[str, ...]:
        """What ``finish.cuh`` reported about rows that do not sum to 1."""
        word = int(self._state()[Control.OFF_ROW])
        if word == 0:
            return ()
        state, distance = divmod(word ^ (2**64 - 1), 1 << 32)
        return (off_warning(named, state, 1 + float(np.uint32(distance).view(np.float32))),)


class Merged(NamedTuple):
    """Entries of long rows: (choice, column) in one word and the value, and where those of each state begin."""

    keys: Array
    values: Array
    begins: Array


class LongRows:
    """Rows with more entries than a thread keeps: listed, sorted and merged before the others are filled.

    Where memory does not suffice for all of them at once, they are merged in parts, and once more to be placed.
    """

    def __init__(self, exploration: Exploration, entries: Array):
        """``entries`` is less than zero for states with such rows, and gets their true number."""
        e, xp = exploration, exploration.xp
        self.exploration = exploration
        self.mask = (entries < 0).view(np.uint8)
        self.which = xp.flatnonzero(self.mask)
        self.begins = _starts(xp, -entries[self.which], np.int64)
        self.parts = self._parts(e.kernels.free_memory() // BYTES_OF_LISTED)
        self.kept: Merged | None = None
        for first, last in self.parts:
            merged = self._merged(first, last)
            entries[self.which[first:last]] = xp.diff(merged.begins)
            self.kept = merged if len(self.parts) == 1 else None

    def _parts(self, most: int) -> list[tuple[int, int]]:
        """States whose rows are merged together: all, or few enough to leave room for the matrix."""
        count, total = len(self.which), int(self.begins[-1])
        if total <= 0.8 * most:
            return [(0, count)]
        cuts = [0]
        while cuts[-1] < count:
            end = self.begins[cuts[-1] : cuts[-1] + 1] + max(most // 6, 1)
            cuts.append(max(int(self.exploration.xp.searchsorted(self.begins, end, side="right")[0]) - 1, cuts[-1] + 1))
        return list(pairwise(cuts))

    def _merged(self, first: int, last: int) -> Merged:
        """The rows of some of the states."""
        e, xp = self.exploration, self.exploration.xp
        which, begins = self.which[first:last], self.begins[first : last + 1] - self.begins[first : first + 1]
        count, total = last - first, int(begins[-1])
        keys, values = xp.empty(total, dtype=np.uint64), xp.empty(total, dtype=np.float64)
        shares = xp.empty(count, dtype=np.float64)
        table = e.slots, len(e.slots) - 1, e.numbers
        slices = 1
        if not e.lowered.program.nature.has_rates:  # whose choices earn by their rates, summed up in order
            while slices * count < THREADS_OF_LONG:
                slices *= 2
        e.kernels.run(
            "list_long",
            count * slices,
            e.states,
            which,
            count,
            begins,
            *table,
            e.choice_starts,
            e.n_choices,
            keys,
            values,
            shares,
            e.choice_actions,
            e.choice_rewards,
            slices,
            e.control,
        )
        order = xp.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
        del order
        heads = xp.empty(total, dtype=np.int32)
        e.kernels.run("mark_runs", total, keys, total, begins, count, heads)
        ends = _starts(xp, heads, np.int64)
        merged = int(ends[-1])
        found = Merged(xp.empty(merged, dtype=np.uint64), xp.empty(merged, dtype=np.float64), ends[begins])
        out = found.keys, found.values, e.deadlocks, e.states, *table
        e.kernels.run("merge_runs", total, keys, values, total, heads, ends[1:], which, begins, count, shares, *out)
        lists = found.keys, found.values, merged, found.begins, which, count
        e.kernels.run("finish_long", merged, *lists, e.control)
        return found

    def place(self, *arguments: Array | int) -> None:
        """Copy them into the matrix."""
        for first, last in self.parts:
            merged = self.kept or self._merged(first, last)
            total, which = len(merged.keys), self.which[first:last]
            lists = merged.keys, merged.values, total, merged.begins, which, len(which)
            self.exploration.kernels.run("place_long", total, *lists, *arguments, self.exploration.control)


def _sorting(xp: Any, keys: Array) -> Array:
    """The order of rows by their values; few are sorted by the host, before a device has loaded what it sorts with."""
    if len(keys) <= FEW_KEYS:
        return xp.asarray(np.lexsort(on_host(keys).T[::-1]))
    return xp.argsort(keys[:, 0]) if keys.shape[1] == 1 else xp.lexsort(xp.ascontiguousarray(keys.T[::-1]))


def _starts(xp: Any, counts: Array, dtype: type[np.signedinteger]) -> Array:
    """Where each part begins, and where the last one ends."""
    starts = xp.zeros(len(counts) + 1, dtype=dtype)
    xp.cumsum(counts, dtype=dtype, out=starts[1:])
    return starts
