"""The core takes a model's arrays as they are: nobody can write into them, and nobody else's arrays are in them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import galton
from galton.model.sparse import Model, ModelError, Rewards
from galton.model.values import Values

TEXT = """mdp
module m  s : [0..3];
  [a] s<3 -> 0.5 : (s'=s+1) + 0.5 : (s'=0);
  [b] s<3 -> (s'=3);
  [] s=3 -> true;
endmodule
label "end" = s=3;
rewards "r" [a] true : 1; s=1 : 2; endrewards
"""


def arrays(part: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(part, np.ndarray):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from arrays(value)
    elif is_dataclass(part):
        for field in fields(part):
            yield from arrays(getattr(part, field.name))


def models(folder: Path) -> Iterator[Model]:
    built = galton.parse(TEXT).build(device="cpu")
    yield built
    yield pickle.loads(pickle.dumps(built))
    yield deepcopy(built)
    yield built.to_host()
    galton.write_model(built, [folder / "m.npz", folder / "m.tra", folder / "m.lab", folder / "m.sta"])
    yield galton.read_model([folder / "m.npz"])
    yield galton.read_model([folder / "m.tra", folder / "m.lab", folder / "m.sta"])
    yield Model.from_matrix("dtmc", np.array([[0.5, 0.5], [0, 1]]), labels={"x": [1]}, rewards={"r": [1.0, 2.0]})
    yield Model.from_function(lambda n: [(1.0, min(n + 1, 3))], 0)


def test_writing_into_a_model_once_crashed(tmp_path: Path) -> None:
    for model in models(tmp_path):
        found = list(arrays(model))
        assert len(found) >= 6
        for array in found:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        with pytest.raises(ValueError, match="read-only"):
            model.matrix.indices[0] = 2**31 - 1


def test_a_users_matrix_stays_the_users() -> None:
    """A matrix that was in order already was taken without a copy."""
    matrix = csr_array(np.array([[0.5, 0.5], [0.0, 1.0]]))
    mask, rewards, initial = np.array([False, True]), np.array([1.0, 2.0]), np.array([0], dtype=np.int32)
    model = Model.from_matrix("dtmc", matrix, initial=initial, labels={"x": mask}, rewards={"r": rewards})
    for array in (matrix.data, matrix.indices, matrix.indptr, mask, rewards, initial):
        assert not any(np.shares_memory(array, own) for own in arrays(model))
        array[...] = 0  # may be written, and changes nothing
    assert float(galton.check(model, 'P=? [ F "x" ]')) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": np.array([0, 7], dtype=np.int32)}, "no state 7"),
        ({"columns": np.array([0, -1], dtype=np.int32)}, "no state -1"),
        ({"row_starts": np.array([0, 2**31 - 1, 2], dtype=np.int32)}, "has no transition"),
        (
            {"values": Values(dictionary=np.array([1.0]), index=np.array([0, 1], dtype=np.uint8))},
            "not in the dictionary",
        ),
        ({"values": Values(plain=np.array([1.0, np.nan]))}, "not positive"),
        ({"labels": {"x": np.array([0, 2], dtype=np.uint8).view(np.bool_)}}, "neither true nor false"),
        ({"rewards": {"r": Rewards(state=np.array([np.inf, 0.0]))}}, "state 0 has inf"),
    ],
)
def test_arrays_that_are_none(change: dict[str, Any], message: str) -> None:
    parts: dict[str, Any] = {
        "type": "dtmc",
        "row_starts": np.array([0, 1, 2], dtype=np.int32),
        "columns": np.array([0, 1], dtype=np.int32),
        "values": Values(plain=np.ones(2)),
        "initial": np.array([0], dtype=np.int32),
    }
    Model(**parts).validate()
    with pytest.raises(ModelError, match=message):
        Model(**{**parts, **change}).validate()


def test_offsets_that_wrap_around_are_no_offsets() -> None:
    """Differences of int32 overflow: each of these seems to rise."""
    starts = np.array([0, 2_000_000_000, -2_000_000_000, -1, 4], dtype=np.int32)
    assert (np.diff(starts) > 0).all()
    model = Model(
        type="dtmc",
        row_starts=starts,
        columns=np.arange(4, dtype=np.int32),
        values=Values(plain=np.ones(4)),
        initial=np.array([0], dtype=np.int32),
    )
    with pytest.raises(ModelError, match="choice 1 has no transition"):
        model.validate()
