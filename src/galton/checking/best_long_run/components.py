"""End components as MDPs of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...backend.chain import Chain
from ...backend.rows import owners
from ...device.arrays import namespace, offsets, repeated
from ...graph import EndComponents
from ...model.sparse import Int32s, Mask, Model, Rewards
from ...reduce.submodels import entries_of, picked

__all__ = ["Inside", "inside_of"]


@dataclass(frozen=True, eq=False)
class Inside:
    """Some end components with the choices that stay in them, one component after the other.

    Attributes
    ----------
    model, reward
        The MDP that they make, and what it earns.
    states, rows
        The number that each state and each choice has in the model they come from.
    starts
        ``(count + 1,)`` where the states of each component begin.
    """

    model: Model
    reward: Rewards
    states: Int32s
    rows: Int32s
    starts: Int32s

    @property
    def count(self) -> int:
        """The number of components."""
        return len(self.starts) - 1

    @cached_property
    def component(self) -> Int32s:
        """``(states,)`` the component of each state, counted from 0."""
        xp = namespace(self.states)
        return repeated(xp.arange(self.count, dtype=np.int32), xp.diff(self.starts))  # type: ignore[no-any-return]

    @cached_property
    def chain(self) -> Chain:
        """The arrays as proofs take them."""
        model = self.model
        rows = (model.row_starts, model.columns, model.values)
        return Chain(*rows, self.reward.state, self.reward.choice, groups=model.choice_starts)

    def only(self, component: int) -> Inside:
        """One of the components, alone."""
        if self.count == 1:
            return self
        first, last = int(self.starts[component]), int(self.starts[component + 1])
        groups = self.model.choice_starts
        assert groups is not None
        xp = namespace(self.states)
        states = xp.arange(first, last, dtype=np.int32)
        rows = xp.arange(int(groups[first]), int(groups[last]), dtype=np.int32)
        counts = xp.diff(groups[first : last + 1])
        model, reward = _part(self.model, self.reward, states, rows, counts)
        starts = xp.asarray([0, last - first], dtype=np.int32)
        return Inside(model, reward, self.states[states], self.rows[rows], starts)


def inside_of(model: Model, reward: Rewards, ends: EndComponents, wanted: Mask) -> Inside:
    """The wanted ones of the end components of a model, ``(count,)``."""
    groups, xp = model.choice_starts, namespace(model.columns)
    assert groups is not None
    number = xp.where(wanted, xp.cumsum(wanted, dtype=np.int32) - 1, np.int32(-1)).astype(np.int32)
    component = xp.where(ends.component >= 0, number[ends.component], np.int32(-1))
    states = xp.flatnonzero(component >= 0).astype(np.int32)
    states = states[xp.argsort(component[states], kind="stable")]
    starts = offsets(xp.bincount(component[states], minlength=int(wanted.sum())), np.int32)
    if len(states) == model.n_states and len(starts) == 2 and bool(ends.staying.all()):
        return Inside(model, reward, states, xp.arange(model.n_choices, dtype=np.int32), starts)
    kept = xp.flatnonzero(ends.staying & (component[owners(model)] >= 0)).astype(np.int32)
    first = xp.searchsorted(kept, groups)
    counts = xp.diff(first)[states]
    begins = offsets(counts, np.int64)
    rows = kept[repeated(first[:-1][states] - begins[:-1], counts) + xp.arange(int(begins[-1]))]
    return Inside(*_part(model, reward, states, rows, counts), states, rows, starts)


def _part(model: Model, reward: Rewards, states: Int32s, rows: Int32s, counts: Int32s) -> tuple[Model, Rewards]:
    """The MDP of some states and the rows that they keep, so many each; no row leads to other states."""
    xp = namespace(model.columns)
    entries, lengths = entries_of(model, rows)
    position = xp.zeros(model.n_states, dtype=np.int32)
    position[states] = xp.arange(len(states), dtype=np.int32)
    part = Model(
        type="mdp",
        choice_starts=offsets(counts, np.int32),
        row_starts=offsets(lengths, np.int32 if len(entries) < 2**31 else np.int64),
        columns=position[model.columns[entries]],
        values=picked(model.values, entries),
        initial=xp.zeros(1, dtype=np.int32),
    )
    state, choice = reward.state, reward.choice
    return part, Rewards(
        state=None if state is None else state[states],
        choice=None if choice is None or not choice.size else choice[rows],
    )
