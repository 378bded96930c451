"""Explore across ranks: each expands its own states, and sends successors that belong to others to their owners.

While states are looked for, each belongs to a rank by its hash (``src/core/explore/ownership.hpp``), so that all have
work: a rank expands some blocks, sends what it found for others without waiting, looks at what has arrived, and goes on
(:mod:`.traffic` says when all are done). Then states move, so that each rank has a range of them in canonical order:
far fewer rows lead to other ranks than with hashes, and their numbers are those of one machine. Each rank writes the
rows of its range (``src/core/explore/assemble.cpp``), which shows what its ghosts are, and asks their owners for their
numbers.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...lower.lowering import Lowered
from ...model.sparse import Rewards, Values
from ...model.states import PackedStates
from ...model.validation import off_warning
from ..cpu.explorer import to_core
from ..failures import Fault, explain
from ..limits import Limits
from ..protocol import Watch
from .halo import Halo, halo_of
from .model import RankModel, counted
from .traffic import Tally, Traffic
from .world import World, world

__all__ = ["Interrupts", "explore", "model_of"]

SAMPLES = 4096  # states of a rank by which ranges are cut
WORK_OF_STATE = 2  # the work and the memory that a state takes, in transitions
BLOCKS = 32  # of states, that a thread expands between two looks at what has arrived


class Interrupts:
    """Whether somebody wants the work to end: Ctrl-C, or SIGTERM as batch systems send it."""

    def __init__(self) -> None:
        self.asked = False

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True

    def stop(self, *_: int) -> None:
        """End what can be ended, if somebody wants it."""
        if self.asked:
            raise KeyboardInterrupt

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Take signals as a wish, which all ranks learn of together, for as long as this lasts."""
        try:
            before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # signals are for the main thread
            before = {}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def explore(
    lowered: Lowered,
    *,
    threads: int,
    limits: Limits,
    transition_rewards: bool = False,
    watch: Watch | None = None,
) -> RankModel:
    """This rank's part of the model of a lowered program.

    Where :mod:`.checkpoint` is told to, what was explored is written, or read instead.
    """
    from .checkpoint import current

    everybody, kept, interrupts = world(), current(), Interrupts()
    if kept is not None and (model := kept.read(lowered, everybody)) is not None:
        return model
    # From the first state to the last file a signal is only noticed: a rank that left on its own would lose the states.
    with interrupts.noticed():
        explored = _explored(lowered, everybody, threads, limits, watch, interrupts)
        if kept is not None:
            if isinstance(explored, RankModel):
                kept.write(lowered, explored)
            else:
                kept.write_states(lowered, everybody, explored)
        stopped = everybody.any(interrupts.asked)
    if stopped or not isinstance(explored, RankModel):
        raise KeyboardInterrupt
    return explored


def _explored(
    lowered: Lowered, everybody: World, threads: int, limits: Limits, watch: Watch | None, interrupts: Interrupts
) -> RankModel | npt.NDArray[np.uint64]:
    """This rank's part of the model, or, where somebody wants the work to end before, the states it knows."""
    from .checkpoint import current

    start, kept, program = time.perf_counter(), current(), to_core(lowered)
    most = min(limits.max_states, np.iinfo(np.int64).max)

    def complain(wrong: Mapping[str, Any]) -> None:
        if told := next(filter(None, everybody.gathered(wrong)), None):
            raise explain(told, lowered, limits)

    explorer = _core.RankExplorer(
        program,
        rank=everybody.rank,
        ranks=everybody.size,
        threads=threads,
        max_states=most,
        memory=limits.memory_bytes,
    )
    nowhere = np.empty((0, lowered.words), dtype=np.uint64)
    begun = [] if kept is None else kept.read_states(lowered, everybody, lambda words: explorer.owners(words, nowhere))
    traffic, wrong, tally = _discover(explorer, lowered, everybody, threads, most, watch, interrupts, begun)
    if tally.wrong:
        complain(wrong)
    if tally.stopped:
        return explorer.known()
    counted = explorer.states, *explorer.finish()
    if everybody.size > 1:
        _settle(explorer, everybody, [everybody.total(number) for number in counted])
    discovered = time.perf_counter()
    found: Mapping[str, Any] = {}
    with suppress(KeyboardInterrupt):  # all ranks have to know
        found = explorer.assemble(interrupts.stop)
    if everybody.any(not found):
        return np.asarray(found["states"]) if found else explorer.known()
    complain({} if "fault" not in found else dict(found))
    ghosts, starts = found["ghosts"], found["ghost_starts"]
    asked = everybody.swap([ghosts[starts[rank] : starts[rank + 1]] for rank in range(everybody.size)])
    numbers = [_core.numbers_of(words, found["states"]).astype(np.int64) for words in asked]
    halo = halo_of(everybody, len(found["states"]), everybody.swap(numbers))
    seconds = {"discover_s": discovered - start, "assemble_s": time.perf_counter() - discovered}
    return model_of(lowered, halo, found, seconds={**seconds, "bytes_sent": traffic.bytes_sent})


def _firsts(explorer: _core.RankExplorer, words: np.ndarray, everybody: World) -> np.ndarray:
    """Where the ranges of ranks begin, by a sample of the states, so that all are about as much work."""
    count = len(words)
    # As many samples as a rank has states, in proportion: hashes have spread them evenly.
    chosen = words[np.linspace(0, count - 1, min(count, SAMPLES)).astype(np.int64)] if count else words
    samples = everybody.joined(chosen)
    work = everybody.joined(WORK_OF_STATE + explorer.count_transitions(chosen))
    order = np.lexsort(samples.T[::-1])
    samples, done = samples[order], np.cumsum(work[order])
    places = np.searchsorted(done, np.arange(1, everybody.size) * (done[-1] / everybody.size))
    return np.ascontiguousarray(samples[np.minimum(places, len(samples) - 1)])


def _settle(explorer: _core.RankExplorer, everybody: World, totals: list[int]) -> None:
    """Give each rank the states of its range, given how many states, choices and transitions all have."""
    words, initial = explorer.take_states(), explorer.take_initial()
    firsts = _firsts(explorer, words, everybody)
    cuts = np.searchsorted(explorer.owners(words, firsts), np.arange(everybody.size + 1))
    coming = everybody.swap([words[cuts[rank] : cuts[rank + 1]] for rank in range(everybody.size)])
    del words
    owner = explorer.owners(initial, firsts)
    began = everybody.swap([initial[owner == rank] for rank in range(everybody.size)])
    states, choices, transitions = totals
    explorer.settle(
        np.concatenate(coming),
        np.concatenate(began),
        firsts,
        all_states=states,
        all_choices=choices,
        all_transitions=transitions,
    )


def _discover(
    explorer: _core.RankExplorer,
    lowered: Lowered,
    everybody: World,
    threads: int,
    most: int,
    watch: Watch | None,
    interrupts: Interrupts,
    begun: list[np.ndarray],
) -> tuple[Traffic, Mapping[str, Any], Tally]:
    """Find all states of all ranks; what is wrong on this one, and how it ended."""
    traffic = Traffic(everybody, lowered.words)
    wrong: Mapping[str, Any] = explorer.begin()
    for words in begun:
        wrong = wrong or explorer.receive(words)
    told, tally = 0.0, Tally()
    while not tally.over:
        if explorer.waiting and not wrong:
            wrong = explorer.expand(BLOCKS * threads)
        for rank in range(everybody.size):
            if rank != everybody.rank:
                traffic.send(rank, explorer.outbox(rank))
        for _, words in traffic.receive():
            wrong = wrong or explorer.receive(words.view(np.uint64))
        counted = explorer.states, explorer.transitions
        idle = bool(wrong) or not explorer.waiting
        tally = traffic.tally(idle=idle, wrong=bool(wrong), stopped=interrupts.asked, counted=counted)
        if not tally.counted:
            continue
        states, transitions = tally.counted
        if states > most and not tally.over:
            wrong = {"fault": int(Fault.TOO_MANY_STATES), "value": float(states), "state": []}
            tally = Tally(over=True, wrong=True)
        if watch is not None and everybody.rank == 0 and time.perf_counter() > told + 0.1:
            told = time.perf_counter()
            watch(states, transitions, 0)
    traffic.close()
    return traffic, wrong, tally


def model_of(lowered: Lowered, halo: Halo, found: Mapping[str, Any], seconds: Mapping[str, Any]) -> RankModel:
    """A rank's part as a model; arrays that are empty on this rank are there all the same."""
    program, everybody = lowered.program, halo.world
    n, choices = halo.n, len(found["row_starts"]) - 1
    labels = {
        "init": _indicator(found["initial"], n),
        "deadlock": _indicator(found["deadlocks"], n),
        **{name: _mask(array) for name, array in zip(lowered.labels, found["labels"], strict=True)},
    }
    there = [part is not None for kind in ("state_rewards", "choice_rewards") for part in found[kind]]
    somewhere: Any = np.array(everybody.gathered(there), dtype=bool).reshape(everybody.size, -1).any(axis=0)
    rewards: dict[str, Rewards] = {}
    names = program.reward_names
    for number, name in enumerate(names):
        state, choice = found["state_rewards"][number], found["choice_rewards"][number]
        if somewhere[number] and state is None:
            state = np.zeros(n)
        if somewhere[len(names) + number] and choice is None:
            choice = np.zeros(choices)
        rewards[name] = Rewards(state=state, choice=choice)
    named = PackedStates(lowered.fields, found["states"])
    warnings = (off_warning(named, *found["off"]),) if "off" in found else ()
    values = (
        Values(plain=found["values"]) if "values" in found else Values(None, found["dictionary"], found["value_index"])
    )
    return RankModel(
        type=program.type,
        choice_starts=found.get("choice_starts", np.zeros(1, dtype=np.int32) if program.nature.has_choices else None),
        row_starts=found["row_starts"],
        columns=found["columns"],
        values=values,
        initial=found["initial"],
        labels=labels,
        rewards=rewards,
        actions=lowered.actions,
        choice_actions=found.get("choice_actions"),
        states=named,
        orbits=lowered.orbits,
        warnings=next(filter(None, everybody.gathered(warnings)), ()),
        build_seconds=float(seconds.get("discover_s", 0.0)) + float(seconds.get("assemble_s", 0.0)),
        info=dict(seconds),
        halo=halo,
        totals=counted(everybody, n, choices, len(found["columns"])),
    )


def _indicator(members: np.ndarray, size: int) -> np.ndarray:
    mask = np.zeros(size, dtype=bool)
    mask[members] = True
    return mask


def _mask(array: np.ndarray | None) -> np.ndarray:
    return np.zeros(0, dtype=bool) if array is None else array.view(bool)
