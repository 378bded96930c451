"""Where `auto` explores: on the CPU, unless that takes longer than it takes to set up a device."""

from __future__ import annotations

from typing import Any

import pytest
from played import played_device

import galton
from galton.backend.cpu import explorer as cpu
from galton.backend.cuda.explorer import kernels
from galton.device.errors import DeviceError
from galton.explore import placing

TEXT = "dtmc module m s : [0..9]; [] s<9 -> (s'=s+1); [] s=9 -> true; endmodule"


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The CPU tells of a million states before it begins, and a device might be there."""
    told: list[int] = []
    explore = cpu.explore

    def telling(*arguments: Any, watch: Any = None, **options: Any) -> Any:
        told.append(1_000_000)
        if watch is not None:
            watch(1_000_000, 0, 0)
        return explore(*arguments, watch=watch, **options)

    monkeypatch.setattr(cpu, "explore", telling)
    monkeypatch.setattr(placing, "_missing", lambda: "")
    return told


def test_a_quick_exploration_stays_on_the_cpu(slow: list[int]) -> None:
    with played_device():
        model = galton.parse(TEXT).build(device="auto")
    assert (model.placement.backend, model.placement.reason) == ("cpu", "the model is small")
    assert slow


def test_a_long_one_moves_to_the_device(slow: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "PATIENCE", -1.0)
    with played_device():
        model = galton.parse(TEXT).build(device="auto")
        assert (model.placement.backend, model.placement.reason) == ("cuda", "the model is large")
        assert model.n_states == 10
        assert galton.check(model, "P=? [ F<=9 s=9 ]").device == "cuda"
    assert slow


def test_without_a_device_it_is_finished_on_the_cpu(slow: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "PATIENCE", -1.0)
    monkeypatch.setattr(kernels, "import_cupy", _missing)
    model = galton.parse(TEXT).build(device="auto")
    assert model.n_states == 10
    assert model.placement.trouble == ("there is none; explored on the CPU instead",)
    assert len(slow) == 2


def _missing() -> Any:
    raise DeviceError("there is none")
