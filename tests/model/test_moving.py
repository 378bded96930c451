"""Models that were built on the host go to a device, and come back."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from played import memory, played_device

import galton
from galton.device.arrays import is_on_host
from galton.device.errors import DeviceError

MODELS = Path(__file__).parents[2] / "models"
CASES: list[tuple[str, dict[str, int], str]] = [
    ("brp", {"N": 16, "MAX": 2}, 'P=? [ F "unsure" ]'),
    ("consensus", {"N": 2, "K": 2}, 'R{"steps"}max=? [ F "finished" ]'),
    ("polling", {"N": 3}, 'R{"waiting"}=? [ C<=4 ]'),
]
PLACES = [pytest.param(played_device, id="played"), pytest.param(nullcontext, id="cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "constants", "prop"), CASES, ids=lambda value: str(value)[:30])
def test_there_and_back(name: str, constants: dict[str, int], prop: str, place: Any) -> None:
    model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
    known = galton.check(model, prop)
    with place():
        there = model.to_device()
        assert not is_on_host(there.columns)
        assert there.to_device() is there
        assert there.to_host().same_as(model)
        found = galton.check(there, prop)
    assert (found.device, known.device) == ("cuda", "cpu")
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert model.to_host() is model


def test_a_model_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    model = galton.load(MODELS / "die.prism").build(device="cpu")
    with played_device():
        monkeypatch.setattr(memory, "last", 0)
        with pytest.raises(DeviceError, match="does not fit into the memory of the device"):
            model.to_device()
