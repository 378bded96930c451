"""Lumping: a model without what a question does not see. States that behave alike become one.

States are in one block where they are marked alike and have the same set of rows, each as the sums of its weights into
blocks: the coarsest such partition is strong bisimulation (Larsen and Skou 1991; Segala and Lynch 1995 for choices;
Buchholz 1994 for rates: ordinary lumpability). All states of a block have the same value for every question of PCTL*,
CSL, rewards and the long run that looks at nothing but the marks.

Weights are doubles, and their sums are compared as the numbers they are, without rounding: what differs in the last bit
of a weight stays apart. The weights of the quotient are these sums, each rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import of
from ..backend.cpu.lumping import quotient
from ..backend.lumping import NO_LIMITS, LumpLimits, LumpRows, Partition
from ..device.arrays import is_on_host, members, namespace, offsets, on_host
from ..model.sparse import Int32s, Model, Offsets, Rewards
from ..model.states import ListedStates, PackedStates, States
from ..model.values import Values

__all__ = ["Lumped", "Sight", "keys_of", "lump", "partition"]

KEY_BITS = 64


@dataclass(frozen=True, eq=False)
class Sight:
    """What of a model must not be lumped away.

    Attributes
    ----------
    marks
        ``(states,)`` masks and numbers: states that differ in one of them stay apart.
    labels, rewards
        Names of labels and of reward structures. The quotient has these rewards, and all labels that happen not to
        tell states of a block apart.
    actions
        Whether choices with different actions differ.
    """

    marks: tuple[npt.NDArray[Any], ...] = ()
    labels: tuple[str, ...] = ()
    rewards: tuple[str, ...] = ()
    actions: bool = False

    @classmethod
    def whole(cls, model: Model, *, actions: bool = False) -> Sight:
        """All labels and all rewards."""
        return cls((), tuple(model.labels), tuple(model.rewards), actions)


@dataclass(frozen=True, eq=False)
class Lumped:
    """A quotient and where each state of the whole model is in it.

    Attributes
    ----------
    model
        The quotient. Its states are those that stand for their blocks: an initial one where there is one, else the
        first.
    block
        ``(states,)`` the state of the quotient for each state of the whole model.
    representatives
        ``(blocks,)`` the states that stand for the blocks.
    rounds
        How often blocks were split.

    Examples
    --------
    >>> import galton
    >>> dice = galton.Model.from_matrix("dtmc", [[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]])
    >>> found = galton.lump(dice)
    >>> found.block.tolist(), found.model.transitions(0)
    ([0, 1, 1], [('', [(1.0, 1)])])
    >>> found.lift(np.array([3.0, 4.0]))
    array([3., 4., 4.])
    """

    model: Model
    block: Int32s
    representatives: Int32s
    rounds: int

    def lift(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of all states of the whole model, where those of the quotient are given."""
        return values[self.block]

    def __repr__(self) -> str:
        return f"<{self.model.n_states:,} blocks standing for {self.model.stands_for():,} states>"


def partition(model: Model, sight: Sight, limits: LumpLimits = NO_LIMITS, threads: int = 1) -> Partition:
    """The blocks of a model; without first states where it was given up."""
    backend = of(model.columns).lumping
    xp = namespace(model.columns)
    block = xp.zeros(model.n_states, dtype=np.int32)
    for key in keys_of(_state_marks(model, sight), xp):
        backend.split(key, block)
    rows = LumpRows.of(model, _row_marks(model, sight))
    return backend.refine(rows, block, limits, threads)


def lump(model: Model, sight: Sight, limits: LumpLimits = NO_LIMITS, threads: int = 1) -> Lumped | Partition:
    """The quotient of a model; how far it got where it was given up."""
    found = partition(model, sight, limits, threads)
    if found.first is None:
        return found
    return Lumped(*_quotient(model, sight, found), found.rounds)


def _state_marks(model: Model, sight: Sight) -> list[Any]:
    marks = [*sight.marks, *(model.labels[name] for name in sight.labels)]
    for name in sight.rewards:
        structure = model.rewards[name]
        marks += [] if structure.state is None else [structure.state]
        marks += [] if structure.choice is None or model.has_choices else [structure.choice]
    if sight.actions and not model.has_choices and model.choice_actions is not None:
        marks.append(model.choice_actions)
    return marks


def _row_marks(model: Model, sight: Sight) -> Int32s | None:
    """What tells choices of one state apart besides where they lead."""
    if not model.has_choices:
        return None
    found = [model.rewards[name].choice for name in sight.rewards]
    marks: list[Any] = [part for part in found if part is not None]
    if sight.actions and model.choice_actions is not None:
        marks.append(model.choice_actions)
    if not marks:
        return None
    xp = namespace(model.columns)
    numbers: Int32s = xp.zeros(model.n_choices, dtype=np.int32)
    for key in keys_of(marks, xp):
        of(model.columns).lumping.split(key, numbers)
    return numbers


def keys_of(marks: Sequence[Any], xp: Any) -> list[Any]:
    """Marks as 64-bit numbers: as many masks as there are bits in one, and doubles as they are stored."""
    masks = [mark for mark in marks if mark.dtype == np.bool_]
    keys = []
    for first in range(0, len(masks), KEY_BITS):
        key = xp.zeros(len(masks[first]), dtype=np.uint64)
        for place, mask in enumerate(masks[first : first + KEY_BITS]):
            key |= mask.astype(np.uint64) << np.uint64(place)
        keys.append(key)
    for mark in marks:
        if mark.dtype == np.float64:
            keys.append((mark + 0.0).view(np.uint64))  # which makes 0 of -0
        elif mark.dtype != np.bool_:
            keys.append(mark.astype(np.int64).view(np.uint64))
    return keys


def _quotient(model: Model, sight: Sight, found: Partition) -> tuple[Model, Int32s, Int32s]:
    """The model of the blocks, on the host or brought back to where the whole model is."""
    assert found.first is not None
    block = on_host(found.block)
    standing = on_host(found.first).copy()
    initial = on_host(model.initial)
    standing[block[initial[::-1]]] = initial[::-1]  # the first initial one of each block comes last, and stays
    rows, origin = _rows_of(model, sight, found.block, standing)
    made = quotient(rows)
    choices = on_host(origin)[made.sources]
    there = namespace(model.columns).asarray(standing)
    narrow = len(made.columns) < 2**31
    new = Model(
        type=model.type,
        choice_starts=made.choice_starts,
        row_starts=made.row_starts.astype(np.int32) if narrow else made.row_starts,
        columns=made.columns,
        values=Values.compress(made.values),
        initial=np.unique(block[initial]).astype(np.int32),
        labels=_labels(model, found, there),
        rewards={name: _rewards(model, model.rewards[name], there, choices) for name in sight.rewards},
        actions=model.actions,
        choice_actions=None if model.choice_actions is None else on_host(model.choice_actions)[choices],
        states=_states(model.states, there),
        orbits=model.orbits,
        build_seconds=model.build_seconds,
        info=dict(model.info),
        warnings=model.warnings,
    )
    if not is_on_host(model.columns):
        new = new.to_device()
    new = replace(new, placement=model.placement, sizes=_sizes(model, block, len(standing)), began=model.n_initial)
    return new, block, standing


def _rows_of(model: Model, sight: Sight, block: Any, standing: Int32s) -> tuple[LumpRows, Any]:
    """The rows of the states that stand for blocks, with blocks for columns; and which rows these are."""
    there = namespace(model.columns).asarray(standing)
    chosen, starts = there, None
    if model.has_choices:
        chosen, lengths = members(model.row_groups, there)
        starts = on_host(offsets(lengths)).astype(np.int32)
    entries, lengths = members(model.row_starts, chosen)
    row_starts: Offsets = on_host(offsets(lengths)).astype(np.int64)
    marks = _row_marks(model, sight)
    return LumpRows(
        starts,
        row_starts,
        on_host(block[model.columns[entries]]),
        Values(plain=on_host(model.values[entries])),
        None if marks is None else on_host(marks[chosen]),
    ), chosen


def _labels(model: Model, found: Partition, there: Any) -> dict[str, Any]:
    """The labels that all states of each block share; ``init`` is made of the blocks with an initial state."""
    shared = {}
    for name, mask in model.labels.items():
        of_blocks = mask[there]
        if name != "init" and bool((of_blocks[found.block] == mask).all()):
            shared[name] = on_host(of_blocks)
    return shared


def _rewards(model: Model, rewards: Rewards, there: Any, choices: Any) -> Rewards:
    state = None if rewards.state is None else on_host(rewards.state[there])
    choice = None if rewards.choice is None else on_host(rewards.choice)[choices]
    return Rewards(state, choice)


def _states(states: States | None, there: Any) -> States | None:
    if isinstance(states, PackedStates):
        return PackedStates(states.fields, on_host(states.words[there]))
    if isinstance(states, ListedStates):
        return replace(states, states=tuple(states[int(number)] for number in on_host(there)))
    return states


def _sizes(model: Model, block: Int32s, count: int) -> npt.NDArray[Any]:
    """How many states each block stands for."""
    if model.sizes is None and model.orbits is None:
        return np.bincount(block, minlength=count)
    sizes = model.sizes
    if sizes is None:
        assert model.orbits is not None
        assert isinstance(model.states, PackedStates)
        listed = model.orbits.sizes(model.states.fields, model.states.words)
        sizes = np.array(listed, dtype=np.int64 if sum(listed) < 2**62 else object)
    found = np.zeros(count, dtype=sizes.dtype)
    np.add.at(found, block, sizes)
    return found
