"""Writing the unified Markov binary format (``.umb``) that PRISM and Storm share.

An index in JSON says what there is; each array is a member of a tar archive, in the layout that the format prescribes:
https://github.com/pmc-tools/umb. A CTMC is kept as exit rates and probabilities, so that its rates come back rounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.sparse import Mask, Model, ModelError, Rewards
from ..model.states import PackedStates
from ..model.validation import place
from .drn_write import choice_rewards
from .quotients import quotients
from .sta import valuations
from .tar import Bytes, write_tar

__all__ = ["write_umb"]

FORMAT_VERSION, FORMAT_REVISION = 1, 0
DOUBLE, BOOL = {"type": "double", "size": 64}, {"type": "bool", "size": 1}
UNNAMED = "default"  # rewards without a name, as Storm has them
_LITERAL = re.compile(r"[a-z0-9-]")
WORD = 64

Array = npt.NDArray[Any]


def write_umb(model: Model, path: Path, compression: str | None = None) -> None:
    """Write a model to a ``.umb`` file."""
    index: dict[str, Any] = {
        "format-version": FORMAT_VERSION,
        "format-revision": FORMAT_REVISION,
        "file-data": {"tool": "Galton", "tool-version": _version()},
        "transition-system": _transition_system(model),
        "annotations": {"aps": {}, "rewards": {}},
    }
    arrays: dict[str, Array] = dict(_matrix(model))
    for name, mask in model.labels.items():
        if name != "init":
            here = _described(index["annotations"]["aps"], name, BOOL, ["states"])
            arrays[f"annotations/aps/{here}/states/values.bin"] = bits(mask)
    for name, rewards in model.rewards.items():
        parts = _reward_parts(model, rewards)
        here = _described(index["annotations"]["rewards"], name, DOUBLE, list(parts))
        arrays |= {f"annotations/rewards/{here}/{part}/values.bin": array for part, array in parts.items()}
    if model.states is not None and (states := valuations(model)) is not None and states.fields:
        index["valuations"], arrays["valuations/states/valuations.bin"] = _valuations(states)
    index["annotations"] = {group: found for group, found in index["annotations"].items() if found}
    text = np.frombuffer(json.dumps(index, indent=2).encode(), dtype=np.uint8)
    write_tar(path, [("index.json", text), *((name, _bytes(array)) for name, array in arrays.items())], compression)


def _version() -> str:
    try:
        return version("galton")
    except PackageNotFoundError:  # run from the source tree
        return "unknown"


def _transition_system(model: Model) -> dict[str, Any]:
    found = {
        "time": "stochastic" if model.has_rates else "discrete",
        "#players": int(model.has_choices),
        "#states": model.n_states,
        "#initial-states": len(model.initial),
        "#choices": model.n_choices,
        "#choice-actions": len(model.actions) if _has_actions(model) else 0,
        "#branches": model.n_transitions,
        "#branch-actions": 0,
        "#observations": 0,
        "branch-probability-type": DOUBLE,
    }
    return {**found, "exit-rate-type": DOUBLE} if model.has_rates else found


def _has_actions(model: Model) -> bool:
    return model.choice_actions is not None and bool(model.choice_actions.any())


def _matrix(model: Model) -> Iterator[tuple[str, Array]]:
    yield "state-is-initial.bin", bits(model.labels["init"])
    if model.choice_starts is not None:
        yield "state-to-choices.bin", model.choice_starts.astype("<u8")
    probabilities = model.values.array()
    if model.has_rates:
        rates = model.exit_rates
        yield "state-to-exit-rate.bin", rates
        probabilities = quotients(probabilities, np.repeat(rates, np.diff(model.row_starts)))
        if probabilities.min() < np.finfo(np.float64).tiny:
            where = place(model, int(probabilities.argmin()))
            raise ModelError(f"{where}: the rates are too far apart for a .umb file, which keeps probabilities")
    yield "choice-to-branches.bin", model.row_starts.astype("<u8")
    yield "branch-to-target.bin", model.columns.astype("<u8")
    yield "branch-to-probability.bin", probabilities
    if _has_actions(model) and model.choice_actions is not None:
        encoded = [name.encode() for name in model.actions]
        yield "actions/choices/values.bin", model.choice_actions.astype("<u4")
        yield "actions/choices/string-mapping.bin", np.cumsum([0, *map(len, encoded)]).astype("<u8")
        yield "actions/choices/strings.bin", np.frombuffer(b"".join(encoded), dtype=np.uint8)


def _described(group: dict[str, Any], name: str, type: dict[str, Any], applies_to: list[str]) -> str:
    """Enter an annotation into the index; return the name of its folder, which may have few characters only."""
    folder = identifier(name) or UNNAMED
    while folder in group:
        folder += "_"
    group[folder] = {"applies-to": applies_to, "type": type}
    if name:
        group[folder]["alias"] = name
    return folder


def identifier(name: str) -> str:
    """A name in the characters that folders may have: others are told by their code, and spaces become underscores.

    >>> identifier("all_heads"), identifier("Up"), identifier("a b")
    ('all_heads', '0x55p', 'a_b')
    """
    kept = (c if _LITERAL.match(c) else "_" if c in " _" else f"0x{ord(c):x}" for c in name)
    return "".join(kept)[:80]


def _reward_parts(model: Model, rewards: Rewards) -> dict[str, Array]:
    """The arrays of a reward structure; one of zeros where it has none, because there has to be one."""
    found: dict[str, Array] = {}
    if rewards.state is not None:
        found["states"] = rewards.state
    if rewards.transition is not None:
        found["branches"] = rewards.transition
    elif (choice := choice_rewards(model, rewards)) is not None:
        found["choices"] = choice
    return found or {"states": np.zeros(model.n_states)}


def _valuations(states: PackedStates) -> tuple[dict[str, Any], Bytes]:
    """States as bit fields, the first variable in the lowest bits; none lies across two words."""
    variables: list[dict[str, Any]] = []
    placed: list[tuple[str, int]] = []
    used = 0
    for name in states.variables:
        column = states.column(name)
        kind, size = _field_type(column)
        if used % WORD + size > WORD:
            variables.append({"padding": -used % WORD})
            used += -used % WORD
        variables.append({"name": name, "type": {"type": kind, "size": size}})
        placed.append((name, used))
        used += size
    if used % 8:
        variables.append({"padding": -used % 8})
    words = np.zeros((len(states), -(-used // WORD)), dtype="<u8")
    for name, start in placed:
        column = states.column(name)
        size = _field_type(column)[1]
        codes = column.astype(np.int64).astype(np.uint64) & np.uint64((1 << size) - 1)
        words[:, start // WORD] |= codes << np.uint64(start % WORD)
    packed = np.ascontiguousarray(words.view(np.uint8).reshape(len(states), -1)[:, : -(-used // 8)])
    return {"states": {"unique": False, "classes": [{"variables": variables}]}}, packed.reshape(-1)


def _field_type(column: Array) -> tuple[str, int]:
    if column.dtype == np.bool_:
        return "bool", 1
    low, high = int(column.min()), int(column.max())
    if low >= 0:
        return "uint", max(1, high.bit_length())
    return "int", max(high.bit_length(), (-low - 1).bit_length()) + 1


def bits(mask: Mask) -> Bytes:
    """A set of states: a bit for each, in whole words of 64."""
    packed = np.packbits(mask, bitorder="little")
    return np.concatenate((packed, np.zeros(-len(packed) % 8, dtype=np.uint8)))


def _bytes(array: Array) -> Bytes:
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1)
