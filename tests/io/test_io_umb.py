"""What the binary format can say: each case is an archive made by hand, as its specification has it."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from galton.io import FileError, read_model, write_model
from galton.io.tar import read_tar, write_tar
from galton.model import Model

DOUBLE = {"type": "double", "size": 64}
SYSTEM = {
    "time": "discrete",
    "#players": 0,
    "#states": 2,
    "#initial-states": 1,
    "#choices": 2,
    "#choice-actions": 0,
    "#branches": 3,
    "#branch-actions": 0,
    "#observations": 0,
    "branch-probability-type": DOUBLE,
}
ARRAYS: dict[str, bytes] = {
    "state-is-initial.bin": struct.pack("<Q", 1),
    "choice-to-branches.bin": struct.pack("<3Q", 0, 2, 3),
    "branch-to-target.bin": struct.pack("<3Q", 0, 1, 1),
    "branch-to-probability.bin": struct.pack("<3d", 0.25, 0.75, 1.0),
}


def archive(path: Path, arrays: dict[str, bytes | None] | None = None, system: Any = None, **more: Any) -> Path:
    """A coin that is thrown until it shows heads, with changes."""
    index = {"format-version": 1, "format-revision": 0, "transition-system": {**SYSTEM, **(system or {})}, **more}
    index["transition-system"] = {k: v for k, v in index["transition-system"].items() if v is not None}
    members = {"index.json": json.dumps(index).encode(), **ARRAYS, **(arrays or {})}
    write_tar(path, [(k, np.frombuffer(v, dtype=np.uint8)) for k, v in members.items() if v is not None])
    return path


def test_plain(tmp_path: Path) -> None:
    model = read_model(archive(tmp_path / "m.umb"))
    assert (model.type, model.values.array().tolist(), model.initial.tolist()) == ("dtmc", [0.25, 0.75, 1.0], [0])


def test_fractions(tmp_path: Path) -> None:
    """Also those that need more than 64 bits above and below."""
    types = {"branch-probability-type": {"type": "rational", "size": 256}}
    parts = [(10**30, 3 * 10**30), (2, 3), (1, 1)]
    data = b"".join(a.to_bytes(16, "little", signed=True) + b.to_bytes(16, "little") for a, b in parts)
    model = read_model(archive(tmp_path / "m.umb", {"branch-to-probability.bin": data}, types))
    assert model.values.array().tolist() == [1 / 3, 2 / 3, 1.0]


def test_branches_that_lead_to_the_same_state(tmp_path: Path) -> None:
    """Their probabilities are added, their rewards are a mean."""
    rewards = {"rewards": {"r": {"applies-to": ["branches"], "type": DOUBLE}}}
    arrays = {
        "branch-to-target.bin": struct.pack("<3Q", 1, 1, 1),
        "annotations/rewards/r/branches/values.bin": struct.pack("<3d", 4, 8, 0),
    }
    model = read_model(archive(tmp_path / "m.umb", arrays, annotations=rewards))
    assert model.transitions(0) == [("", [(1.0, 1)])]
    assert model.rewards["r"].choice.tolist() == [7, 0]


def test_actions_of_branches(tmp_path: Path) -> None:
    """They are those of choices where all branches agree; otherwise they are left out, and that is said."""
    arrays = {
        "actions/branches/string-mapping.bin": struct.pack("<3Q", 0, 2, 6),
        "actions/branches/strings.bin": b"gostay",
        "actions/branches/values.bin": struct.pack("<3I", 0, 0, 1),
    }
    model = read_model(archive(tmp_path / "m.umb", arrays, {"#branch-actions": 2}))
    assert [model.action(choice) for choice in range(2)] == ["go", "stay"]
    arrays["actions/branches/values.bin"] = struct.pack("<3I", 0, 1, 1)
    model = read_model(archive(tmp_path / "m.umb", arrays, {"#branch-actions": 2}))
    assert model.warnings == ("the branches of a choice have several actions; actions are left out",)


def test_values_of_variables(tmp_path: Path) -> None:
    """Fields across bytes and words, below zero, optional, and with an offset."""
    variables = [
        {"padding": 60},
        {"name": "across", "type": {"type": "uint", "size": 9}},
        {"name": "signed", "type": {"type": "int", "size": 5}},
        {"name": "there", "type": {"type": "uint", "size": 3}, "is-optional": True},
        {"name": "shifted", "type": {"type": "uint", "size": 2}, "offset": -7},
        {"name": "truth", "type": {"type": "bool", "size": 2}},
        {"name": "number", "type": {"type": "double", "size": 64}},
        {"padding": 6},
    ]
    rows = [(300, -16, 5, 3, 2), (511, 15, 0, 0, 0)]
    data = b""
    for across, signed, there, shifted, truth in rows:
        word = across << 60 | (signed & 31) << 69 | 1 << 74 | there << 75 | shifted << 78 | truth << 80
        data += word.to_bytes(19, "little")
    described = {"states": {"unique": True, "classes": [{"variables": variables}]}}
    path = archive(tmp_path / "m.umb", {"valuations/states/valuations.bin": data}, valuations=described)
    model = read_model(path)
    assert [dict(state) for state in model.states] == [
        {"across": 300, "signed": -16, "there": 5, "shifted": -4, "truth": True},
        {"across": 511, "signed": 15, "there": 0, "shifted": -7, "truth": False},
    ]
    assert model.warnings == ("the variable 'number' is no whole number of 32 bits in all states; it is left out",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"system": {"#players": 2}}, "Galton reads DTMCs, CTMCs and MDPs"),
        ({"system": {"time": "urgent-stochastic"}}, "Galton reads DTMCs, CTMCs and MDPs"),
        ({"system": {"#observations": 3}}, "partially observable"),
        ({"system": {"branch-probability-type": None}}, "there are no probabilities"),
        ({"system": {"branch-probability-type": {"type": "double-interval"}}}, "should be one of double, rational"),
        ({"arrays": {"branch-to-target.bin": struct.pack("<3Q", 0, 9, 1)}}, "branch 1 leads to 9, which is no state"),
        ({"arrays": {"branch-to-target.bin": struct.pack("<2Q", 0, 1)}}, "16 bytes, not 3 times 8"),
        ({"arrays": {"branch-to-probability.bin": None}}, "there is no branch-to-probability.bin"),
        ({"arrays": {"branch-to-probability.bin": struct.pack("<3d", 0.25, 0.5, 1)}}, "the probabilities sum to 0.75"),
        ({"arrays": {"branch-to-probability.bin": struct.pack("<3d", np.nan, 0.5, 1)}}, "not finite, at 0"),
        ({"arrays": {"choice-to-branches.bin": struct.pack("<3Q", 0, 4, 3)}}, "does not rise from 0 to 3"),
        ({"arrays": {"state-is-initial.bin": None}}, "no state is initial"),
        ({"arrays": {"index.json": b"{"}}, "Expecting property name"),
        ({"arrays": {"index.json": b"[]"}}, r"index.json should be an object"),
    ],
)
def test_mistakes(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = archive(tmp_path / "m.umb", **changes)
    with pytest.raises(FileError, match=f"m.umb: error: .*{message}"):
        read_model(path)


def test_long_names(tmp_path: Path) -> None:
    """Folders of labels with long names do not fit into the field for names."""
    names = {"x" * 60 + "Y" * 60: [0], "y" * 90: [1], "Y" * 90: [0, 1]}
    model = Model.from_matrix("dtmc", np.eye(2), labels=names)
    write_model(model, tmp_path / "m.umb")
    assert list(model.differences(read_model(tmp_path / "m.umb"))) == []
    import tarfile

    with tarfile.open(tmp_path / "m.umb") as found:
        assert found.getnames() == list(read_tar(tmp_path / "m.umb"))
