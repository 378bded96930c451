"""NumPy archives (``.npz``): everything a model holds, in one compressed file.

The arrays are stored as they are in memory; names and layouts are in ``header``, a JSON text. Nothing is pickled, so
reading a file from a stranger runs no code. What the builder told about its work is not kept.
"""

from __future__ import annotations

import json
import zipfile
from ast import literal_eval
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..model.sparse import Model, ModelError, Rewards
from ..model.states import Field, ListedStates, PackedStates, States
from ..model.validation import finish
from ..model.values import Values
from .errors import FileError

FORMAT = "galton model 1"
_MATRIX = ("choice_starts", "row_starts", "columns", "initial", "choice_actions")
_VALUES = ("plain", "dictionary", "index")
_REWARDS = ("state", "choice", "transition")

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
    with path.open("wb") as file:  # opened here, because NumPy adds .npz to names that end otherwise
        np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)


def read_npz(path: Path) -> Model:
    """Read a model from an archive."""
    try:
        if path.exists() and not zipfile.is_zipfile(path):
            raise FileError("this is not a NumPy archive", path)
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(str(arrays["header"]))
        if header["format"] != FORMAT:
            raise FileError(f"this archive has the format {header['format']!r}", path, expected=FORMAT)
        model = _model(header, arrays)
    except FileNotFoundError:
        raise FileError("there is no such file", path) from None
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path) from None
    except (zipfile.BadZipFile, EOFError, ValueError, KeyError, TypeError, AttributeError, SyntaxError) as error:
        raise FileError(f"this is not a model: {error}", path, expected="an archive that Galton has written") from None
    try:
        model = finish(model)
    except ModelError as error:
        raise FileError(str(error), path) from None
    return model


def _model(header: Mapping[str, Any], arrays: Arrays) -> Model:
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
        return {"fields": [asdict(field) for field in states.fields]}
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


def _states(header: Mapping[str, Any], arrays: Arrays) -> States | None:
    if "fields" in header:
        return PackedStates(tuple(Field(**field) for field in header["fields"]), arrays["states.words"])
    if "states.texts" in arrays:
        variables = header["variables"]
        texts = arrays["states.texts"].tolist()
        return ListedStates(None if variables is None else tuple(variables), [literal_eval(text) for text in texts])
    return None
