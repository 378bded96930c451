"""Explore on the CPU: hand the lowered program to the C++ core and dress its arrays as a model."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ... import _core
from ...lang.uncollected import uncollected
from ...lower.lowering import Lowered, constant_sum
from ...model.sparse import Model, Rewards, Values
from ...model.states import PackedStates
from ...model.validation import SUM_TOLERANCE, off_warning
from ..failures import explain
from ..limits import Limits

MODEL_TYPES = {"dtmc": 0, "ctmc": 1, "mdp": 2}

Watch = Callable[[int, int, int], None]


def explore(
    lowered: Lowered, *, threads: int, limits: Limits, transition_rewards: bool = False, watch: Watch | None = None
) -> Model:
    """All reachable states of a lowered program, as a sparse model."""
    start = time.perf_counter()
    found = _core.explore(
        to_core(lowered),
        threads=threads,
        max_states=limits.max_states,
        memory=limits.memory_bytes,
        transition_rewards=transition_rewards,
        watch=watch,
        rows=True,
    )
    if "fault" in found:
        raise explain(found, lowered, limits)
    program = lowered.program
    states = found["states"].shape[0]
    labels = {
        "init": _indicator(found["initial"], states),
        "deadlock": _indicator(found["deadlocks"], states),
        **{name: array.view(bool) for name, array in zip(lowered.labels, found["labels"], strict=True)},
    }
    per_transition = found["transition_rewards"] or [None] * len(program.rewards)
    rewards: dict[str, Rewards] = {}
    for number, name in enumerate(program.reward_names):
        rewards[name] = Rewards(
            state=found["state_rewards"][number],
            choice=found["choice_rewards"][number],
            transition=per_transition[number],
        )
    named = PackedStates(lowered.fields, found["states"])
    return Model(
        type=program.type,
        choice_starts=found.get("choice_starts"),
        row_starts=found["row_starts"],
        columns=found["columns"],
        values=_values(found),
        initial=found["initial"],
        labels=labels,
        rewards=rewards,
        actions=lowered.actions,
        choice_actions=found.get("choice_actions"),
        states=named,
        orbits=lowered.orbits,
        warnings=(off_warning(named, *found["off"]),) if "off" in found else (),
        build_seconds=time.perf_counter() - start,
        info=dict(zip(("discover_s", "assemble_s"), found["seconds"], strict=True)),
    )


def discover(lowered: Lowered, *, threads: int, limits: Limits) -> tuple[PackedStates, np.ndarray]:
    """All reachable states in canonical order, without their rows, and ``(initial states, words)``."""
    found = _core.explore(
        to_core(lowered),
        threads=threads,
        max_states=limits.max_states,
        memory=limits.memory_bytes,
        transition_rewards=False,
        watch=None,
        rows=False,
    )
    if "fault" in found:
        raise explain(found, lowered, limits)
    return PackedStates(lowered.fields, found["states"]), found["initial_words"].reshape(-1, lowered.words)


def _values(found: dict[str, np.ndarray]) -> Values:
    if "values" in found:
        return Values(plain=found["values"])
    return Values(dictionary=found["dictionary"], index=found["value_index"])


def _indicator(members: np.ndarray, size: int) -> np.ndarray:
    mask = np.zeros(size, dtype=bool)
    mask[members] = True
    return mask


def to_core(lowered: Lowered) -> _core.Program:
    """The lowered program in the core's own structures."""
    with uncollected():
        return _to_core(lowered)


def _to_core(lowered: Lowered) -> _core.Program:
    program = lowered.program
    stochastic = not program.nature.has_rates
    first_state = [0] * lowered.words
    for field, variable in zip(lowered.fields, program.variables, strict=True):
        if field.bits:
            first_state[field.word] |= (variable.initial - field.low) << field.shift
    commands = []
    for command in lowered.commands:
        total = constant_sum(command, lowered.graph)
        wrong = stochastic and total is not None and not abs(total - 1) <= SUM_TOLERANCE
        updates = [(probability, assigned) for probability, assigned, _ in command.updates]
        commands.append((command.guard, wrong, updates))
    return _core.make_program(
        type=MODEL_TYPES[program.type],
        words=lowered.words,
        fields=[
            (f.word, f.shift, f.bits, f.low, v.high if f.bits else f.low)
            for f, v in zip(lowered.fields, program.variables, strict=True)
        ],
        nodes=[
            (op, kind, integral, partial, args, value)
            for op, kind, args, value, _, _, integral, partial, _ in lowered.graph.nodes
        ],
        commands=commands,
        products=[(p.action, [list(f) for f in p.factors]) for p in lowered.products],
        actions=len(lowered.actions),
        reward_structures=len(program.rewards),
        rewards=[(r.structure, r.action, r.guard, r.value) for r in lowered.rewards],
        labels=list(lowered.labels.values()),
        initial=-1 if lowered.initial is None else lowered.initial,
        initial_ranges=list(lowered.initial_ranges),
        first_state=first_state,
        terminal=-1 if lowered.terminal is None else lowered.terminal,
        reader=reader_parts(lowered),
        orbits=[] if lowered.orbits is None else lowered.orbits.pieces(lowered.fields),
    )


def reader_parts(lowered: Lowered) -> tuple[int, list[int], list[int], list[int]]:
    """An automaton beside the program, as the core takes it: variable, propositions, successors and final states."""
    reader = lowered.reader
    if reader is None:
        return -1, [], [], []
    automaton = reader.automaton
    table = automaton.successor.ravel().tolist()
    return reader.variable, list(reader.propositions), table, automaton.final.astype(np.uint8).tolist()
