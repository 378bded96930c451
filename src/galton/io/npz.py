"""NumPy archives (``.npz``): everything a model holds, in one compressed file.

The arrays are stored as they are in memory; names and layouts are in ``header``, a JSON text. Nothing is pickled, so
reading a file from a stranger runs no code. What the builder told about its work is not kept.
"""

from __future__ import annotations

import json
import zipfile
from ast import literal_eval
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..model.sparse import Model, ModelError, Rewards
from ..model.states import Field, ListedStates, PackedStates, States
from ..model.validation import finish
from ..model.values import Values
from .archive import BROKEN, read_arrays
from .errors import FileError
from .output import replacing

FORMAT = "galton model 1"
_MATRIX = ("choice_starts", "row_starts", "columns", "initial", "choice_actions")
_VALUES = ("plain", "dictionary", "index")
_REWARDS = ("state", "choice", "transition")
_FIELD = ("name", "type", "low", "word", "shift", "bits")

Arrays = dict[str, Any]


def write_npz(model: Model, path: Path) -> None:
    """Write a model to an archive."""
    header: dict[str, Any] = {
        "format": FORMAT,
        "type": model.type,
        "actions": model.actions,
        "labels": list(model.labels),
        "rewards": list(model.rewards),
    }
    arrays: Arrays = {}
    _put(arrays, "", model, _MATRIX)
    _put(arrays, "values.", model.values, _VALUES)
    for number, mask in enumerate(model.labels.values()):
        arrays[f"label.{number}"] = mask
    for number, rewards in enumerate(model.rewards.values()):
        _put(arrays, f"rewards.{number}.", rewards, _REWARDS)
    if model.states is not None:
        header |= _put_states(arrays, model.states)
    with replacing(path, "binary") as file:  # opened here, because NumPy adds .npz to names that end otherwise
        np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)


def read_npz(path: Path) -> Model:
    """Read a model from an archive."""
    try:
        if path.exists() and not zipfile.is_zipfile(path):
            raise FileError("this is not a NumPy archive", path)
        arrays = read_arrays(path)
        header = json.loads(str(arrays.pop("header")))
        if header["format"] != FORMAT:
            raise FileError(f"this archive has the format {header['format']!r}", path, expected=FORMAT)
        for name, array in arrays.items():
            _check_kind(name, array)
        model = finish(_model(header, arrays))
    except FileNotFoundError:
        raise FileError("there is no such file", path) from None
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path) from None
    except ModelError as error:
        raise FileError(str(error), path) from None
    except (*BROKEN, LookupError, TypeError, AttributeError, SyntaxError, RecursionError) as error:
        raise FileError(f"this is not a model: {error}", path, expected="an archive that Galton has written") from None
    return model


def _check_kind(name: str, array: np.ndarray[Any, Any]) -> None:
    """What the validation of a model takes for granted: dimensions, and that truth values are 0 or 1."""
    dimensions = 2 if name == "states.words" else 1
    if array.ndim != dimensions:
        raise ValueError(f"{name} has {array.ndim} dimensions, not {dimensions}")
    if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise ValueError(f"{name} has truth values that are neither true nor false")


def _model(header: Mapping[str, Any], arrays: Arrays) -> Model:
    for names in (header["labels"], header["rewards"], header["actions"]):
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("names are not texts")
        if len(set(names)) < len(names):
            raise ValueError("a name is there twice")
    return Model(
        type=header["type"],
        values=Values(**_take(arrays, "values.", _VALUES)),
        labels={name: arrays[f"label.{number}"] for number, name in enumerate(header["labels"])},
        rewards={
            name: Rewards(**_take(arrays, f"rewards.{number}.", _REWARDS))
            for number, name in enumerate(header["rewards"])
        },
        actions=tuple(header["actions"]),
        states=_states(header, arrays),
        **_take(arrays, "", _MATRIX),
    )


def _put(arrays: Arrays, prefix: str, owner: object, names: tuple[str, ...]) -> None:
    for name in names:
        if (array := getattr(owner, name)) is not None:
            arrays[prefix + name] = array


def _take(arrays: Arrays, prefix: str, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: arrays[prefix + name] for name in names if prefix + name in arrays}


def _put_states(arrays: Arrays, states: States) -> dict[str, Any]:
    if isinstance(states, PackedStates):
        arrays["states.words"] = states.words
        return {"fields": [{name: getattr(field, name) for name in _FIELD} for field in states.fields]}
    texts = [repr(state) for state in states]
    for state, text in zip(states, texts, strict=True):
        if not _is_literal(state, text):
            kind = type(state).__name__
            raise ModelError(
                f"an .npz file holds states that Python can read from text (numbers, strings, tuples), not {kind} "
                "objects; use pickle, or write .tra and .sta"
            )
    arrays["states.texts"] = np.array(texts)
    return {"variables": states.variables}


def _is_literal(state: object, text: str) -> bool:
    try:
        return bool(literal_eval(text) == state)
    except (ValueError, SyntaxError):
        return False


def _field(found: Mapping[str, Any], words: int) -> Field:
    field = Field(**found)
    numbers = (field.low, field.word, field.shift, field.bits)
    if not isinstance(field.name, str) or field.type not in ("int", "bool") or not all(type(n) is int for n in numbers):
        raise ValueError(f"the field {field.name!r} is none")
    inside = 0 <= field.word < words and 0 <= field.bits <= 32 and 0 <= field.shift <= 64 - field.bits
    if not inside or not -(2**31) <= field.low < 2**31:
        raise ValueError(f"the field {field.name!r} lies outside of the words of a state")
    return field


def _states(header: Mapping[str, Any], arrays: Arrays) -> States | None:
    if "fields" in header:
        words = arrays["states.words"]
        if words.dtype != np.uint64:
            raise ValueError(f"states are packed in uint64, not in {words.dtype}")
        return PackedStates(tuple(_field(field, words.shape[1]) for field in header["fields"]), words)
    if "states.texts" in arrays:
        variables = header["variables"]
        texts = arrays["states.texts"].tolist()
        return ListedStates(None if variables is None else tuple(variables), [literal_eval(text) for text in texts])
    return None
