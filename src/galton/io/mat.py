"""MATLAB's data (``.mat``, version 5 to 7): the arrays of a model in one file.

``P`` holds the probabilities of a DTMC or MDP, ``R`` the rates of a CTMC, a row for each choice; ``state_of_choice``
tells whose row it is. Numbers of states begin with 1, as MATLAB's do. A file that was made elsewhere needs ``P``, ``R``
or ``Q`` (a generator: its diagonal is left out); everything else is optional.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..lang.model_types import MODEL_TYPES, ModelType, nature_of
from ..model.construct import assemble, find_entries, transition_rewards
from ..model.sparse import ActionCodes, Mask, Model, ModelError, Rewards
from ..model.states import PackedStates
from ..model.values import Floats
from .errors import FileError
from .mat5 import Sparse, read_arrays
from .matrix import Matrix, chain_type, complete
from .output import replacing
from .sta import valuations

__all__ = ["read_mat", "write_mat"]

Arrays = dict[str, Any]


def write_mat(model: Model, path: Path) -> None:
    """Write a model to a ``.mat`` file."""
    from scipy.io import savemat

    arrays: Arrays = {"type": model.type, "R" if model.has_rates else "P": model.matrix.tocsc()}
    if model.choice_starts is not None:
        arrays["state_of_choice"] = _column(np.repeat(np.arange(1, model.n_states + 1), np.diff(model.choice_starts)))
    arrays["initial"] = _column(model.initial + 1)
    names = [name for name in model.labels if name != "init"]
    arrays |= {"label_names": _names(names), "labels": np.stack([model.labels[name] for name in names], axis=1)}
    if model.choice_actions is not None and model.choice_actions.any():
        arrays |= {"action_names": _names(model.actions[1:]), "action_of_choice": _column(model.choice_actions)}
    if model.rewards:
        arrays |= {"reward_names": _names(model.rewards), **_reward_arrays(model)}
    states = valuations(model) if model.states is not None else None
    if states is not None and states.variables:
        columns = [states.column(name) for name in states.variables]
        arrays |= {"variables": _names(states.variables), "states": np.stack([c.astype(np.int32) for c in columns], 1)}
        arrays["is_boolean"] = np.array([[column.dtype == np.bool_ for column in columns]])
    with replacing(path, "binary") as file:
        savemat(file, arrays, oned_as="column")  # type: ignore[arg-type]  # a file will do


def _column(array: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    return array.astype(np.int32).reshape(-1, 1)


def _names(names: Any) -> npt.NDArray[np.str_]:
    for name in names:
        if name != name.rstrip(" ") or "\0" in name:
            raise ModelError(f"a .mat file cannot hold the name {name!r}, which ends with a space")
    return np.array([name or " " for name in names])  # a text without a character would be no text


def _reward_arrays(model: Model) -> Arrays:
    from scipy.sparse import csr_array

    found: Arrays = {}
    for number, rewards in enumerate(model.rewards.values(), 1):
        if rewards.state is not None:
            found[f"state_rewards_{number}"] = rewards.state.reshape(-1, 1)
        if rewards.transition is not None:
            parts = (rewards.transition, model.columns, model.row_starts)
            found[f"transition_rewards_{number}"] = csr_array(parts, (model.n_choices, model.n_states)).tocsc()
        elif rewards.choice is not None:
            found[f"choice_rewards_{number}"] = rewards.choice.reshape(-1, 1)
    return found


def read_mat(path: Path, type: ModelType | None = None, *, fix_deadlocks: bool = True) -> Model:
    """Read a model from a ``.mat`` file."""
    arrays = read_arrays(path)
    try:
        return _model(arrays, type, fix_deadlocks)
    except (ModelError, ValueError) as error:
        raise FileError(str(error), path) from None


def _model(arrays: Arrays, type: ModelType | None, fix_deadlocks: bool) -> Model:
    rows, columns, values, shape, kind = _entries(arrays, type)
    n_states, n_rows = shape[1], shape[0]
    starts = None
    if nature_of(kind).has_choices:
        owners = _whole(arrays, "state_of_choice", n_rows, 1, n_states) - 1
        if (np.diff(owners) < 0).any():
            raise ModelError("state_of_choice falls; the rows of a state stand together, in the order of states")
        starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=n_states))))
    elif n_rows != n_states:
        raise ModelError(f"a {kind} has a square matrix, not one of {n_rows} by {n_states}")
    parts = assemble(kind, n_states, rows, columns, values, choice_starts=starts)
    actions, codes = _actions(arrays, n_rows)
    if codes is not None and parts.places is not None:
        moved = np.zeros(len(parts.row_starts) - 1, dtype=codes.dtype)
        moved[parts.places] = codes
        codes = moved
    rewards: dict[str, Rewards] = {}
    for number, name in enumerate(_texts(arrays, "reward_names"), 1):
        state = _floats(arrays, f"state_rewards_{number}", n_states)
        choice = _floats(arrays, f"choice_rewards_{number}", n_rows)
        if choice is not None and parts.places is not None:
            given = choice
            choice = np.zeros(len(parts.row_starts) - 1)
            choice[parts.places] = given
        of_transitions = arrays.get(f"transition_rewards_{number}")
        if of_transitions is None:
            rewards[name] = Rewards(state=state, choice=choice)
            continue
        each = _sparse(of_transitions, f"transition_rewards_{number}", shape)
        here = each.rows if parts.places is None else parts.places[each.rows]
        entries = find_entries(parts, n_states, here, each.columns)
        if (entries < 0).any():
            raise ModelError(f"transition_rewards_{number} has a reward for a transition that is not there")
        transition = np.zeros(len(parts.columns))
        transition[entries] = each.values
        rewards[name] = transition_rewards(parts, transition, state)
    matrix = Matrix(kind, n_states, parts, actions, codes)
    return complete(matrix, _labels(arrays, n_states), rewards, _states(arrays, n_states), fix_deadlocks=fix_deadlocks)


def _entries(
    arrays: Arrays, type: ModelType | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats, tuple[int, int], ModelType]:
    there = [name for name in ("P", "R", "Q") if name in arrays]
    if len(there) != 1:
        raise ModelError("a model is one matrix: P of probabilities, R of rates or Q, a generator")
    found = _sparse(arrays[there[0]], there[0])
    rows, columns, values = found.rows, found.columns, found.values
    if there[0] == "Q":
        kept = rows != columns
        rows, columns, values = rows[kept], columns[kept], values[kept]
    said = arrays.get("type")
    if isinstance(said, list):
        if len(said) != 1 or said[0] not in MODEL_TYPES:
            raise ModelError("type should be 'dtmc', 'ctmc' or 'mdp'")
        if type is not None and type != said[0]:
            raise ModelError(f"this is a {said[0]}, not a {type}")
        type = MODEL_TYPES[said[0]].type
    if type is None:
        if there[0] != "P":
            type = "ctmc"
        elif "state_of_choice" in arrays:
            type = "mdp"
        else:
            type = chain_type(rows, values, found.shape[0]) if len(rows) else "dtmc"
    return rows, columns, values, found.shape, type


def _sparse(array: Any, name: str, shape: tuple[int, int] | None = None) -> Sparse:
    if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "fiub":
        rows, columns = np.nonzero(array)
        array = Sparse(rows, columns, array[rows, columns].astype(np.float64), (array.shape[0], array.shape[1]))
    if not isinstance(array, Sparse) or (shape is not None and array.shape != shape):
        raise ModelError(f"{name} should be a matrix{f' of {shape[0]} by {shape[1]}' if shape else ''}")
    if not np.isfinite(array.values).all():
        raise ModelError(f"{name} has an entry that is not finite")
    return array


def _floats(arrays: Arrays, name: str, count: int) -> Floats | None:
    if name not in arrays:
        return None
    array = arrays[name]
    if not isinstance(array, np.ndarray) or array.size != count or array.dtype.kind not in "fiub":
        raise ModelError(f"{name} should have {count} numbers")
    return array.reshape(-1).astype(np.float64)


def _whole(arrays: Arrays, name: str, count: int | None, low: int, high: int) -> npt.NDArray[np.int64]:
    array = arrays.get(name)
    if (
        not isinstance(array, np.ndarray)
        or (count is not None and array.size != count)
        or array.dtype.kind not in "fiub"
    ):
        raise ModelError(f"{name} should have {'whole numbers' if count is None else f'{count} whole numbers'}")
    flat = array.reshape(-1)
    if flat.size and not ((flat >= low) & (flat <= high) & (flat == np.floor(flat))).all():
        raise ModelError(f"{name} should be whole numbers from {low} to {high}")
    return flat.astype(np.int64)


def _texts(arrays: Arrays, name: str) -> list[str]:
    found = arrays.get(name, [])
    if not isinstance(found, list):
        raise ModelError(f"{name} should be texts")
    texts = [text.rstrip(" ") for text in found]
    if len(set(texts)) != len(texts):
        raise ModelError(f"{name} has a name twice")
    return texts


def _actions(arrays: Arrays, n_rows: int) -> tuple[tuple[str, ...], ActionCodes | None]:
    names = _texts(arrays, "action_names")
    if not names:
        return ("",), None
    codes = _whole(arrays, "action_of_choice", n_rows, 0, len(names))
    return ("", *names), codes.astype(np.uint16) if len(names) < 1 << 16 else codes.astype(np.uint32)


def _labels(arrays: Arrays, n_states: int) -> dict[str, Mask]:
    found: dict[str, Mask] = {}
    names = _texts(arrays, "label_names")
    if names and names != [""]:
        table = arrays.get("labels")
        if not isinstance(table, np.ndarray) or table.shape != (n_states, len(names)) or table.dtype.kind not in "fiub":
            raise ModelError(f"labels should have {n_states} rows and {len(names)} columns")
        found = {name: np.ascontiguousarray(table[:, number] != 0) for number, name in enumerate(names)}
    if "initial" in arrays:
        found["init"] = np.zeros(n_states, dtype=np.bool_)
        found["init"][_whole(arrays, "initial", None, 1, n_states) - 1] = True
    return found


def _states(arrays: Arrays, n_states: int) -> PackedStates | None:
    names = _texts(arrays, "variables")
    if not names:
        return None
    table, truths = arrays.get("states"), _whole(arrays, "is_boolean", len(names), 0, 1)
    if not isinstance(table, np.ndarray) or table.shape != (n_states, len(names)) or table.dtype.kind not in "iub":
        raise ModelError(f"states should have {n_states} rows of {len(names)} whole numbers")
    columns = {}
    for number, name in enumerate(names):
        column = table[:, number]
        columns[name] = column != 0 if truths[number] else column.astype(np.int64)
    return PackedStates.from_columns(columns)
