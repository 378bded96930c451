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


@pytest.fixture(params=[(1_000_000, 0), (100_000, 10_000_000)], ids=["states", "transitions"])
def slow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The CPU tells of a million states before it begins, or of few with many transitions; there may be a device."""
    told: list[int] = []
    explore = cpu.explore
    states, transitions = request.param

    def telling(*arguments: Any, watch: Any = None, **options: Any) -> Any:
        told.append(states)
        if watch is not None:
            watch(states, transitions, 0)
        return explore(*arguments, watch=watch, **options)

    monkeypatch.setattr(cpu, "explore", telling)
    monkeypatch.setattr(placing, "missing", lambda: "")
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


@pytest.mark.parametrize("found", [20_000_000, 0], ids=["while it explores", "when it is done"])
def test_a_large_one_moves_to_the_device_though_it_was_soon_explored(
    monkeypatch: pytest.MonkeyPatch, found: int
) -> None:
    """Sixteen cores explore seven million states in a second, and take eight to solve; a device takes three."""
    explore = cpu.explore

    def telling(*arguments: Any, watch: Any = None, **options: Any) -> Any:
        watch(found // 5, found, 0)
        return explore(*arguments, **options)

    monkeypatch.setattr(cpu, "explore", telling)
    monkeypatch.setattr(placing, "missing", lambda: "")
    if not found:
        monkeypatch.setattr(placing, "MANY", 9)
    with played_device():
        model = galton.parse(TEXT).build(device="auto")
    assert (model.placement.backend, model.placement.reason) == ("cuda", "the model is large")


def test_without_a_device_it_is_finished_on_the_cpu(slow: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "PATIENCE", -1.0)
    monkeypatch.setattr(kernels, "import_cupy", _missing)
    model = galton.parse(TEXT).build(device="auto")
    assert model.n_states == 10
    assert model.placement.trouble == ("there is none; explored on the CPU instead",)
    assert len(slow) == 2


def _missing() -> Any:
    raise DeviceError("there is none")


def test_a_cupy_that_breaks_while_it_is_imported_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries that do not fit together raise all kinds of exceptions; they came as tracebacks."""
    import builtins

    original = builtins.__import__

    def broken(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "cupy":
            raise AttributeError("module 'numpy' has no attribute 'something'")
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", broken)
    model = galton.parse(TEXT).build(device="cuda")
    assert model.placement.backend == "cpu"
    (trouble,) = model.placement.trouble
    assert trouble.startswith("CuPy is not there (module 'numpy' has no attribute 'something')")
