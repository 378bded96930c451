"""Models that differ from another in a few states or choices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..model.sparse import Mask, Model, Rewards
from ..model.values import Values

__all__ = ["absorbing", "with_rows"]


def with_rows(model: Model, rows: npt.NDArray[np.integer], choice_starts: npt.NDArray[np.integer] | None) -> Model:
    """The model whose choices are these rows of the matrix, grouped by state as given (None: one for each state)."""
    starts, lengths = model.row_starts[rows], np.diff(model.row_starts)[rows]
    ends = np.cumsum(lengths, dtype=model.row_starts.dtype)
    entries = np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)
    values = model.values
    if values.dictionary is None:
        picked = Values(plain=values[:][entries])
    else:
        assert values.index is not None
        picked = Values(dictionary=values.dictionary, index=values.index[entries])
    return replace(
        model,
        choice_starts=None if choice_starts is None else choice_starts.astype(np.int32),
        row_starts=np.concatenate([np.zeros(1, dtype=ends.dtype), ends]),
        columns=model.columns[entries],
        values=picked,
        rewards={name: _rewards_of(rewards, rows) for name, rewards in model.rewards.items()},
        choice_actions=None if model.choice_actions is None else model.choice_actions[rows],
    )


def _rewards_of(rewards: Rewards, rows: npt.NDArray[np.integer]) -> Rewards:
    has_choices = rewards.choice is not None and rewards.choice.size
    return Rewards(state=rewards.state, choice=rewards.choice[rows] if has_choices else None)  # type: ignore[index]


def absorbing(model: Model, states: Mask, structure: Rewards) -> tuple[Model, Rewards]:
    """The model in which some states are never left, and a reward structure that fits it; what they earn is kept.

    Each of these states keeps one row, cut down to a single entry that leads back.
    """
    if not states.any():
        return model, structure
    named = replace(model, rewards={"": structure})
    groups = np.arange(model.n_states + 1) if model.choice_starts is None else model.choice_starts
    first = np.zeros(model.n_choices, dtype=np.bool_)
    first[groups[:-1]] = True
    owner = np.repeat(np.arange(model.n_states), np.diff(groups))
    kept = np.flatnonzero(~states[owner] | first)
    counts = np.where(states, 1, np.diff(groups))
    starts = np.concatenate([[0], np.cumsum(counts)])
    reduced = with_rows(named, kept, None if model.choice_starts is None else starts)
    cut = states[owner[kept]]
    lengths = np.diff(reduced.row_starts)
    alone = np.repeat(~cut, lengths)
    alone[reduced.row_starts[:-1][cut]] = True
    columns = reduced.columns.copy()
    columns[reduced.row_starts[:-1][cut]] = owner[kept][cut]
    values = reduced.values[:].copy()
    values[reduced.row_starts[:-1][cut]] = 1.0
    row_starts = np.zeros_like(reduced.row_starts)
    np.cumsum(np.where(cut, 1, lengths), out=row_starts[1:])
    changed = replace(reduced, row_starts=row_starts, columns=columns[alone], values=Values.compress(values[alone]))
    return replace(changed, rewards=model.rewards), changed.rewards[""]
