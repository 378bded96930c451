"""Models that differ from another in a few states or choices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..backend.rows import owners
from ..device.arrays import is_on_host, members, namespace, offsets, repeated
from ..model.sparse import Mask, Model, Rewards
from ..model.values import Values

Rows = npt.NDArray[np.integer]

__all__ = ["Rows", "absorbing", "entries_of", "picked", "with_rows"]


def entries_of(model: Model, rows: Rows) -> tuple[Rows, Rows]:
    """Where the entries of some rows are in the matrix, and how many each row has."""
    return members(model.row_starts, rows)


def picked(values: Values, entries: Rows) -> Values:
    """Some of the values of a matrix, stored as they are."""
    if values.plain is not None:
        return Values(plain=values.plain[entries])
    assert values.index is not None
    return Values(dictionary=values.dictionary, index=values.index[entries])


def with_rows(model: Model, rows: Rows, choice_starts: Rows | None) -> Model:
    """The model whose choices are these rows of the matrix, grouped by state as given (None: one for each state)."""
    entries, lengths = entries_of(model, rows)
    return replace(
        model,
        choice_starts=None if choice_starts is None else choice_starts.astype(np.int32),
        row_starts=offsets(lengths, model.row_starts.dtype),
        columns=model.columns[entries],
        values=picked(model.values, entries),
        rewards={name: _rewards_of(rewards, rows) for name, rewards in model.rewards.items()},
        choice_actions=None if model.choice_actions is None else model.choice_actions[rows],
    )


def _rewards_of(rewards: Rewards, rows: Rows) -> Rewards:
    has_choices = rewards.choice is not None and rewards.choice.size
    return Rewards(state=rewards.state, choice=rewards.choice[rows] if has_choices else None)  # type: ignore[index]


def absorbing(model: Model, states: Mask, structure: Rewards) -> tuple[Model, Rewards, Rows | None]:
    """The model in which some states are never left, and a reward structure that fits it; what they earn is kept.

    Each of these states keeps one row, cut down to a single entry that leads back. The rows that are kept come with it;
    None for all.
    """
    if not states.any():
        return model, structure, None
    named = replace(model, rewards={"": structure})
    xp, groups = namespace(model.columns), model.row_groups
    first = xp.zeros(model.n_choices, dtype=np.bool_)
    first[groups[:-1]] = True
    owner = owners(model)
    kept = np.flatnonzero(~states[owner] | first)
    starts = offsets(np.where(states, 1, np.diff(groups)))
    reduced = with_rows(named, kept, starts if model.has_choices else None)
    cut = states[owner[kept]]
    lengths = np.diff(reduced.row_starts)
    begins = reduced.row_starts[:-1][cut]
    alone = repeated(~cut, lengths)
    alone[begins] = True
    columns = reduced.columns.copy()
    columns[begins] = owner[kept][cut]
    values = reduced.values[:].copy()
    values[begins] = 1.0
    left = values[alone]
    changed = replace(
        reduced,
        row_starts=offsets(np.where(cut, 1, lengths), reduced.row_starts.dtype),
        columns=columns[alone],
        values=Values.compress(left) if is_on_host(left) else Values(plain=left),
    )
    return replace(changed, rewards=model.rewards), changed.rewards[""], kept
