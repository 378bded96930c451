"""Strategies for several objectives: a few with memory, of which one is chosen at random before the first step.

What a strategy of an arena remembers is what the automata of the objectives have read, the steps that were counted, and
whether it has stopped. A run that has stopped stays in an end component and chooses at random among all choices that
stay: so it comes by everywhere, again and again, with probability 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ...device.arrays import offsets
from ...lang.source import GaltonError
from ...model.moving import to_host
from ...model.sparse import Int32s, Mask, Model, Rewards
from ...model.states import ListedStates, PackedStates, States
from ...model.values import Floats, Values
from ...reduce.submodels import entries_of
from .arena import Arena

__all__ = ["MemoryStrategy", "Mixture", "Worth", "from_arena", "in_product", "memoryless"]

Numbers = npt.NDArray[np.int64]
_MOST_PLACES = 2**27


@dataclass(frozen=True)
class Worth:
    """Bounds on the number that a strategy has for an objective, as people asked for it."""

    lower: float
    upper: float


@dataclass(frozen=True, eq=False, repr=False)
class MemoryStrategy:
    """A strategy with finite memory, over the pairs of a state and a memory that it meets, its *places*.

    Attributes
    ----------
    states, memory
        ``(places,)`` the state of the model, and what is remembered on the way there.
    then
        ``(places,)`` what is remembered on the way to the next state.
    starts, rows
        The rows of the model that place k takes, each as often as the others, are ``rows[starts[k]:starts[k + 1]]``.
    initial
        The place where runs begin.
    """

    model: Model
    states: Numbers
    memory: Numbers
    then: Numbers
    starts: Numbers
    rows: Numbers
    initial: int

    def __repr__(self) -> str:
        return f"<strategy: {self.memories:,} memories, {len(self.states):,} places>"

    @property
    def memories(self) -> int:
        """How many different memories there are."""
        return len(np.unique(self.memory))

    def induced(self) -> Model:
        """Return the chain that the strategy leaves of the model; a state of it is a place."""
        model, counts = to_host(self.model), np.diff(self.starts)
        entries, lengths = entries_of(model, self.rows)
        of_row = np.repeat(np.arange(len(self.states)), counts)
        place = np.repeat(of_row, lengths)
        keys = self.memory * model.n_states + self.states
        order = np.argsort(keys)
        wanted = self.then[place] * model.n_states + model.columns[entries]
        found = np.searchsorted(keys, wanted, sorter=order)
        columns = order[np.minimum(found, len(order) - 1)]
        if not np.array_equal(keys[columns], wanted):
            raise GaltonError("this strategy does not say what to do in all states that it comes to")
        shares = model.values[:][entries] / counts[place]
        # Rows that share a successor are one entry.
        size = len(self.states)
        pairs, where = np.unique(place * size + columns, return_inverse=True)
        values: Floats = np.zeros(len(pairs))
        np.add.at(values, where, shares)
        return Model(
            type="dtmc",
            choice_starts=None,
            row_starts=offsets(np.bincount(pairs // size, minlength=size), np.int64),
            columns=(pairs % size).astype(np.int32),
            values=Values.compress(values),
            initial=np.array([self.initial], dtype=np.int32),
            labels={name: mask[self.states] for name, mask in model.labels.items() if name != "init"},
            rewards={name: self._rewards(rewards) for name, rewards in model.rewards.items()},
            states=_picked(model.states, self.states),
        )

    def _rewards(self, rewards: Rewards) -> Rewards:
        state = rewards.state[self.states] if rewards.state is not None and rewards.state.size else None
        if rewards.choice is None or not rewards.choice.size:
            return Rewards(state=state)
        counts = np.diff(self.starts)
        choice = np.add.reduceat(rewards.choice[self.rows], self.starts[:-1]) / counts
        return Rewards(state=state, choice=choice)


def _picked(states: States | None, numbers: Numbers) -> States | None:
    if isinstance(states, PackedStates):
        return PackedStates(states.fields, np.ascontiguousarray(states.words[numbers]))
    if isinstance(states, ListedStates):
        return ListedStates(states.variables, [states[int(number)] for number in numbers])
    return None


@dataclass(frozen=True, eq=False)
class Mixture:
    """Strategies, one of which is chosen at random before the first step.

    Attributes
    ----------
    objectives
        The objectives in words.
    shares
        The probability of each strategy; None where the strategies stand side by side, as those of a Pareto set.
    values
        For each strategy and each objective, bounds on its number.
    """

    objectives: tuple[str, ...]
    strategies: tuple[MemoryStrategy, ...]
    shares: tuple[Fraction, ...] | None
    values: tuple[tuple[Worth, ...], ...]

    def one(self, number: int | None) -> MemoryStrategy:
        """Return one of the strategies, counted from 1; the only one where no number is given."""
        count = len(self.strategies)
        if number is None and count > 1:
            message = f"there are {count} strategies, and a chain has one; choose by its number"
            raise GaltonError(f"{message}: --apply FILE:1 up to FILE:{count}")
        if number is not None and not 1 <= number <= count:
            raise GaltonError(f"there is no strategy {number}: they are counted from 1 to {count}")
        return self.strategies[(number or 1) - 1]


def memoryless(model: Model, choices: Int32s) -> MemoryStrategy:
    """A strategy that takes one row in each state."""
    nothing = np.zeros(model.n_states, dtype=np.int64)
    every = np.arange(model.n_states, dtype=np.int64)
    whole = MemoryStrategy(
        model, every, nothing, nothing, np.arange(model.n_states + 1), choices.astype(np.int64), int(model.initial[0])
    )
    return _met(whole)


def in_product(arena: Arena, choices: Int32s, staying: Sequence[Mask]) -> MemoryStrategy:
    """The strategy of an arena's product that its choices, ``(states,)``, are; it remembers how it has stopped.

    ``staying`` are for each kind of ending ``(choices of the product,)`` those that are taken, at random, from then on.
    Memory is 0 before, and one more than the place of the kind afterwards. The place of a state is its number first.
    """
    model, n = arena.product.model, arena.product.model.n_states
    taken = choices[:n]
    ending = arena.endings[taken]  # -1 while a run goes on
    kinds = [int(kind) for kind in np.unique(ending[ending >= 0])]
    if (len(kinds) + 1) * n > _MOST_PLACES:
        raise GaltonError(f"the strategy has {(len(kinds) + 1) * n:,} places, which is more than can be written down")
    groups = model.row_groups.astype(np.int64)
    playing = np.zeros(model.n_choices, dtype=np.bool_)
    playing[arena.rows[taken[ending < 0]]] = True
    for kind in kinds:
        playing |= staying[kind] & np.repeat(ending == kind, np.diff(groups))
    masks = [playing, *(staying[kind] for kind in kinds)]
    numbers = [0, *(kind + 1 for kind in kinds)]
    rows = [np.flatnonzero(mask) for mask in masks]
    counts = [np.diff(np.searchsorted(each, groups)) for each in rows]
    states = [np.flatnonzero(count) for count in counts]
    memory = [np.full(len(each), number) for each, number in zip(states, numbers, strict=True)]
    then = [ending.astype(np.int64) + 1, *memory[1:]]
    counted = np.concatenate([count[each] for count, each in zip(counts, states, strict=True)])
    return MemoryStrategy(
        model,
        np.concatenate(states),
        np.concatenate(memory),
        np.concatenate(then),
        offsets(counted, np.int64),
        np.concatenate(rows),
        arena.initial,
    )


def from_arena(model: Model, arena: Arena, choices: Int32s, staying: Sequence[Mask] | None = None) -> MemoryStrategy:
    """The strategy of a model that the choices of its arena, ``(states,)``, are.

    ``staying`` are the choices of runs that have stopped; None for all that stay.
    """
    if staying is None:
        staying = [kind.staying for kind in arena.kinds]
    inner, product = in_product(arena, choices, staying), arena.product
    width = int(max(arena.memory.max(initial=0), arena.then.max(initial=0))) + 1
    return _met(
        MemoryStrategy(
            model,
            product.states[inner.states],
            arena.memory[inner.states] + inner.memory * width,
            arena.then[inner.states] + inner.then * width,
            inner.starts,
            product.rows[inner.rows],
            inner.initial,
        )
    )


def _met(whole: MemoryStrategy) -> MemoryStrategy:
    """A strategy without the places that it never comes to; memories are numbered from 0."""
    from ...graph import forward_reachable

    chain = _bare(whole).induced()
    first = np.zeros(chain.n_states, dtype=np.bool_)
    first[whole.initial] = True
    met = forward_reachable(chain, first, np.ones(chain.n_states, dtype=np.bool_))
    places = np.flatnonzero(met)
    counts = np.diff(whole.starts)
    known, memory = np.unique(whole.memory[places], return_inverse=True)
    return MemoryStrategy(
        whole.model,
        whole.states[places],
        memory.astype(np.int64),
        np.searchsorted(known, whole.then[places]),
        offsets(counts[places], np.int64),
        whole.rows[np.repeat(met, counts)],
        int(np.searchsorted(places, whole.initial)),
    )


def _bare(strategy: MemoryStrategy) -> MemoryStrategy:
    """Without labels, rewards and the names of states, which nobody needs to follow it."""
    return replace(strategy, model=replace(strategy.model, labels={}, rewards={}, states=None, choice_actions=None))
