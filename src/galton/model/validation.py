"""What must hold in every :class:`~galton.model.sparse.Model`, checked and said in words.

The checks look at whole arrays and at no more than a few of them at a time; a model with 100 million transitions
takes about a second.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .sparse import ModelError, row_sums
from .values import Values

if TYPE_CHECKING:
    from .sparse import Mask, Model, Rewards
    from .states import States

SUM_TOLERANCE = 1e-5
"""How far, relatively, the probabilities of a choice may sum from 1: what PRISM tolerates."""


def finish(model: Model) -> Model:
    """Validate a model, and divide the rows of probabilities by their sums where those are not 1.

    This is for models that no explorer made; explorers finish each row as they write it, by the same rule, which is in
    ``src/core/matrix/rows.hpp``.
    """
    validate(model)
    if model.type == "ctmc":
        return model
    sums = row_sums(model.row_starts, model.values)
    rows = np.flatnonzero(np.abs(sums - 1) > 2.0**-53)
    if not len(rows):
        return model
    values = model.values.array().copy()
    starts = model.row_starts.astype(np.int64)
    off = _core.finish_rows(starts[rows], starts[rows + 1], values)
    finished = replace(model, values=Values.compress(values), rewards=_means(model, Values(plain=values)))
    if off is None:
        return finished
    place, total = off
    choice = int(rows[place])
    state = choice if model.choice_starts is None else int(np.searchsorted(model.choice_starts, choice, "right")) - 1
    return replace(finished, warnings=(*model.warnings, off_warning(model.states, state, total)))


def _means(model: Model, values: Values) -> dict[str, Rewards]:
    """The rewards with choice rewards that are means of those of transitions, for other probabilities."""
    return {
        name: replace(rewards, choice=row_sums(model.row_starts, values, rewards.transition))
        if rewards.transition is not None
        else rewards
        for name, rewards in model.rewards.items()
    }


def off_warning(states: States | None, state: int, total: float) -> str:
    """What to say where probabilities do not sum to 1; ``state`` is the first such."""
    name = f"state {state}" if states is None else f"state {states[state]}"
    return f"the probabilities of {name} sum to {total:.12g}, not 1; rows like this one were divided by their sums"


def validate(model: Model) -> None:
    """Raise :class:`ModelError` at the first promise of the class that the model breaks."""
    if model.type not in ("dtmc", "ctmc", "mdp"):
        raise ModelError(f"a model is a dtmc, a ctmc or an mdp, not {model.type!r}")
    if (model.choice_starts is None) == (model.type == "mdp"):
        needs = "needs" if model.type == "mdp" else "has no"
        raise ModelError(f"a model of type {model.type} {needs} choice_starts")
    if model.choice_starts is not None:
        _check_starts(model.choice_starts, model.n_choices, "choice_starts", "state", "choice")
    _check_starts(model.row_starts, model.n_transitions, "row_starts", "choice", "transition")
    _check_columns(model)
    _check_values(model)
    _check_initial(model)
    for name, mask in model.labels.items():
        _check_array(mask, model.n_states, np.bool_, f"label {name!r}")
        if mask.view(np.uint8).max() > 1:  # as a file, or a view of other numbers, may have them
            raise ModelError(f"label {name!r} has truth values that are neither true nor false")
    for name, rewards in model.rewards.items():
        _check_rewards(model, name, rewards)
    _check_actions(model)
    if model.states is not None and len(model.states) != model.n_states:
        raise ModelError(f"{len(model.states)} valuations for {model.n_states} states")


def _check_starts(starts: npt.NDArray[Any], total: int, name: str, group: str, member: str) -> None:
    if starts.dtype not in (np.int32, np.int64) or starts.ndim != 1 or len(starts) < 2:
        raise ModelError(
            f"{name} must be an int32 or int64 array with one more entry than there are {group}s, at least 2"
        )
    if starts[0] != 0 or starts[-1] != total:
        raise ModelError(f"{name} runs from {starts[0]} to {starts[-1]}, not from 0 to {total}")
    rises = starts[1:] > starts[:-1]  # compared, not subtracted: a difference of int32 may overflow
    if not rises.all():
        raise ModelError(f"{group} {first(~rises)} has no {member}")


def _check_columns(model: Model) -> None:
    columns = model.columns
    _check_array(columns, len(model.values), np.int32, "columns")
    if columns.min() < 0 or columns.max() >= model.n_states:
        entry = first((columns < 0) | (columns >= model.n_states))
        raise ModelError(f"{place(model, entry)}: no state {columns[entry]}, there are {model.n_states}")
    falls = columns[1:] <= columns[:-1]
    falls[model.row_starts[1:-1] - 1] = False
    if falls.any():
        entry = first(falls) + 1
        raise ModelError(f"{place(model, entry)}: target {columns[entry]} comes after {columns[entry - 1]}")


def _check_values(model: Model) -> None:
    _check_coding(model.values)
    what = "rate" if model.type == "ctmc" else "probability"
    distinct = model.values.distinct
    if not (np.isfinite(distinct) & (distinct > 0)).all():
        values = model.values.array()
        bad = ~(np.isfinite(values) & (values > 0))
        if bad.any():
            entry = first(bad)
            target, value = model.columns[entry], values[entry]
            raise ModelError(f"{place(model, entry)}: the {what} of going to {target} is {value:g}, not positive")
    with np.errstate(over="ignore"):
        sums = row_sums(model.row_starts, model.values)
    if model.type == "ctmc":
        if not np.isfinite(sums).all():
            where = place(model, int(model.row_starts[first(~np.isfinite(sums))]))
            raise ModelError(f"{where}: the rates add up to more than a double can hold")
        return
    off = np.abs(sums - 1) > SUM_TOLERANCE
    if off.any():
        choice = first(off)
        where = place(model, int(model.row_starts[choice]))
        raise ModelError(f"{where}: the probabilities sum to {float(sums[choice])!r}, not 1")


def _check_coding(values: Values) -> None:
    if values.plain is not None:
        _check_array(values.plain, len(values.plain), np.float64, "values")
        return
    dictionary, index = values.dictionary, values.index
    assert dictionary is not None
    assert index is not None
    _check_array(dictionary, len(dictionary), np.float64, "the dictionary of values")
    if index.dtype not in (np.uint8, np.uint16):
        raise ModelError(f"the index of values must be uint8 or uint16, not {index.dtype}")
    if index.max() >= len(dictionary):
        raise ModelError(f"entry {first(index >= len(dictionary))} has a value that is not in the dictionary")
    if not (np.diff(dictionary) > 0).all():
        raise ModelError("the dictionary of values does not rise")


def _check_initial(model: Model) -> None:
    initial = model.initial
    if len(initial) == 0:
        raise ModelError("there is no initial state")
    _check_array(initial, len(initial), np.int32, "initial")
    if initial.min() < 0 or initial.max() >= model.n_states:
        raise ModelError(f"initial state {initial[-1]} is not one of the {model.n_states} states")
    if not np.array_equal(np.flatnonzero(model.labels["init"]), initial):
        raise ModelError("the initial states are not those labelled 'init', in ascending order")


def _check_rewards(model: Model, name: str, rewards: Rewards) -> None:
    title = f"rewards {name!r}"
    sizes = {"state": model.n_states, "choice": model.n_choices, "transition": model.n_transitions}
    for part, size in sizes.items():
        array = getattr(rewards, part)
        if array is not None:
            _check_array(array, size, np.float64, f"{part} {title}")
            if not np.isfinite(array).all():
                raise ModelError(f"{title}: {part} {first(~np.isfinite(array))} has {array[~np.isfinite(array)][0]}")
    if rewards.transition is not None:
        means = row_sums(model.row_starts, model.values, rewards.transition)
        if rewards.choice is None or not np.allclose(rewards.choice, means, rtol=1e-5, atol=1e-12):
            raise ModelError(f"{title}: the choice rewards are not the means of the transition rewards")


def _check_actions(model: Model) -> None:
    if not model.actions or model.actions[0] != "" or len(set(model.actions)) != len(model.actions):
        raise ModelError("the names of actions must be distinct and begin with the empty one")
    codes = model.choice_actions
    if codes is not None:
        _check_array(codes, model.n_choices, None, "choice_actions")
        if codes.dtype not in (np.uint16, np.uint32):
            raise ModelError(f"choice_actions must be uint16 or uint32, not {codes.dtype}")
        if codes.max() >= len(model.actions):
            raise ModelError(f"choice {first(codes >= len(model.actions))} has an action without a name")


def _check_array(array: npt.NDArray[Any], size: int, dtype: type | None, name: str) -> None:
    if not array.flags.c_contiguous:
        raise ModelError(f"{name} must lie in one piece")
    if array.shape != (size,):
        raise ModelError(f"{name} must have {size} entries, not shape {array.shape}")
    if dtype is not None and array.dtype != dtype:
        raise ModelError(f"{name} must be {np.dtype(dtype)}, not {array.dtype}")


def first(mask: Mask) -> int:
    """The first place where a mask holds."""
    return int(np.argmax(mask))


def place(model: Model, entry: int) -> str:
    """In words, where an entry of the matrix is: its state, and for an MDP its choice and action."""
    choice = int(np.searchsorted(model.row_starts, entry, side="right")) - 1
    if model.choice_starts is None:
        return f"state {choice}"
    state = int(np.searchsorted(model.choice_starts, choice, side="right")) - 1
    action = model.action(choice)
    return f"state {state}, choice {choice - model.choice_starts[state]}{f' ({action})' if action else ''}"
