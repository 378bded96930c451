"""Strategies of an MDP: which choice to take in each state, perhaps depending on the number of steps taken so far.

Where what to do depends on more of what has happened, an automaton remembers it, and the model is the product with it.

A strategy comes with the answer to an optimising question, can be written to a file in the names of variables and
actions, read again, and applied: the chain that is left has no choices, and its answers show what it is worth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...lang.source import GaltonError
from ...lower.reader import READER, Reader
from ...model.sparse import Mask, Model, Rewards
from ...model.states import ListedStates, PackedStates, States
from ...model.tables import import_pandas, state_index
from ...reduce.submodels import Rows, entries_of, picked

if TYPE_CHECKING:
    import pandas


class StrategyError(GaltonError):
    """A strategy that does not fit its model."""


@dataclass(frozen=True, eq=False, repr=False)
class Strategy:
    """A deterministic strategy.

    Attributes
    ----------
    model
        The MDP; from a device it is brought home.
    choices
        The row of the matrix that each state takes, ``(states,)``; or ``(steps, states)``, where row k is for those who
        have taken k steps, and the last row for all who have taken more. Where it is -1 any choice will do, and the
        first is taken.
    memory
        The automaton that the model is a product with, whose state is the variable :data:`~galton.lower.reader.READER`;
        None for none.
    """

    model: Model
    choices: npt.NDArray[np.int32]
    memory: Reader | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", self.model.to_host())

    @property
    def steps(self) -> int | None:
        """For how many steps the strategy decides; None for one that does not count them."""
        return None if self.choices.ndim == 1 else len(self.choices)

    def __repr__(self) -> str:
        kind = "memoryless" if self.steps is None else f"{self.steps} steps"
        if self.memory is not None:
            kind = f"memory of {len(self.memory.successor):,} states"
        return f"<strategy: {kind}, {self.model.n_states:,} states>"

    def choice(self, state: int, step: int = 0) -> int | None:
        """The choice of a state, counted from 0 among its own; None where any will do."""
        row = int(self.choices[state] if self.choices.ndim == 1 else self.choices[step, state])
        return None if row < 0 else row - self.model.choices(state).start

    def to_pandas(self, step: int = 0) -> pandas.DataFrame:
        """A table with a row for each state: the number of its choice and the name of its action; empty where any do.

        It needs pandas.
        """
        pandas = import_pandas()
        taken = [self.choice(state, step) for state in range(self.model.n_states)]
        actions = [
            None if choice is None else self.model.action(self.model.choices(state).start + choice)
            for state, choice in enumerate(taken)
        ]
        columns = {"choice": pandas.array(taken, dtype="Int64"), "action": actions}
        return pandas.DataFrame(columns, index=state_index(self.model))

    def rows(self, step: int = 0) -> Rows:
        """``(states,)`` the row that each state takes after so many steps."""
        assert self.model.choice_starts is not None
        first = self.model.choice_starts[:-1]
        chosen = self.choices if self.choices.ndim == 1 else self.choices[min(step, len(self.choices) - 1)]
        return np.where(chosen < 0, first, chosen)

    def decisions(self) -> list[tuple[int, Rows]]:
        """For each step, the states that can be met then and have a decision to take."""
        assert self.model.choice_starts is not None
        several = np.diff(self.model.choice_starts) > 1
        met = self.model.labels["init"].copy()
        steps = np.atleast_2d(self.choices)
        found: list[tuple[int, Rows]] = []
        for step, chosen in enumerate(steps):
            if step == len(steps) - 1:
                met = _closure(self.model, self.rows(step), met)
            found.append((step, np.flatnonzero(met & several & (chosen >= 0))))
            met = _successors(self.model, self.rows(step)[met])
        return found

    def induced(self) -> Model:
        """Return the chain that is left when the strategy decides, over the states that it can meet.

        Where it counts steps, or has a memory, a state of the chain is a state of the MDP and the number of steps
        taken, or the memory; what labels and variables say is that of the state.
        """
        model = self.model
        if self.memory is not None:
            model = _without_memory(model)
        if self.choices.ndim == 1:
            met = _closure(model, self.rows(), model.labels["init"].copy())
            return _chain(model, [(np.flatnonzero(met), self.rows()[met])])
        layers = []
        met = model.labels["init"].copy()
        for step in range(len(self.choices) - 1):
            layers.append((np.flatnonzero(met), self.rows(step)[met]))
            met = _successors(model, layers[-1][1])
        last = self.rows(len(self.choices) - 1)
        met = _closure(model, last, met)
        return _chain(model, [*layers, (np.flatnonzero(met), last[met])])


def _without_memory(product: Model) -> Model:
    """A product whose states and labels say nothing about the automaton."""
    assert isinstance(product.states, PackedStates)
    fields = tuple(field for field in product.states.fields if field.name != READER)
    labels = {name: mask for name, mask in product.labels.items() if not name.isdecimal()}
    return replace(product, states=PackedStates(fields, product.states.words), labels=labels)


def _successors(model: Model, rows: Rows) -> Mask:
    found = np.zeros(model.n_states, dtype=np.bool_)
    found[model.columns[entries_of(model, rows)[0]]] = True
    return found


def _closure(model: Model, rows: Rows, states: Mask) -> Mask:
    """Return all states that the given ones lead to when each takes its row."""
    new = states
    while new.any():
        new = _successors(model, rows[new]) & ~states
        states = states | new
    return states


def _chain(model: Model, layers: list[tuple[Rows, Rows]]) -> Model:
    """Return a chain made of layers of states with their rows; each layer leads to the next, the last to itself."""
    states = np.concatenate([layer for layer, _ in layers])
    rows = np.concatenate([taken for _, taken in layers])
    offsets = np.cumsum([0, *(len(layer) for layer, _ in layers)])
    entries, lengths = entries_of(model, rows)
    columns, place, done = np.empty(len(entries), dtype=np.int32), np.empty(model.n_states, dtype=np.int64), 0
    for k, (layer, _) in enumerate(layers):
        target = min(k + 1, len(layers) - 1)
        place[layers[target][0]] = offsets[target] + np.arange(len(layers[target][0]))
        count = int(lengths[offsets[k] : offsets[k] + len(layer)].sum())
        columns[done : done + count] = place[model.columns[entries[done : done + count]]]
        done += count
    first = layers[0][0]
    initial = np.flatnonzero(np.isin(first, model.initial)).astype(np.int32)
    return replace(
        model,
        type="dtmc",
        choice_starts=None,
        row_starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        columns=columns,
        values=picked(model.values, entries),
        initial=initial,
        labels={name: mask[states] for name, mask in model.labels.items() if name != "init"},
        rewards={name: _rewards(rewards, states, rows) for name, rewards in model.rewards.items()},
        choice_actions=None if model.choice_actions is None else model.choice_actions[rows],
        states=_picked(model.states, states),
    )


def _rewards(rewards: Rewards, states: Rows, rows: Rows) -> Rewards:
    def part(values: npt.NDArray[np.float64] | None, index: Rows) -> npt.NDArray[np.float64] | None:
        return values[index] if values is not None and values.size else None

    return Rewards(state=part(rewards.state, states), choice=part(rewards.choice, rows))


def _picked(states: States | None, numbers: Rows) -> States | None:
    if isinstance(states, PackedStates):
        return PackedStates(states.fields, np.ascontiguousarray(states.words[numbers]))
    if isinstance(states, ListedStates):
        return ListedStates(states.variables, [states[int(number)] for number in numbers])
    return None
