"""What goes wrong with a device, and what Galton does instead: it says so, and the CPU gives the same answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest

import galton
from galton.cli import main
from galton.device.arrays import is_on_host
from galton.device.errors import DeviceError

from . import arrays, kernels, memory, played_device
from .devices import CUDADriverError, CUDARuntimeError

WALK = """
mdp
module walk
  x : [0..5] init 2;
  [safe] x>0 & x<5 -> 0.5 : (x'=x-1) + 0.5 : (x'=x+1);
  [bold] x>0 & x<4 -> 0.7 : (x'=0) + 0.3 : (x'=x+2);
  [] x=0 | x=5 -> true;
endmodule
rewards "steps" [safe] true : 1; [bold] true : 1; endrewards
"""
PROPERTIES = [
    "Pmax=? [ F x=5 ]",
    'R{"steps"}max=? [ F x=0 | x=5 ]',
    "Pmin=? [ F<=7 x=5 ]",
    "filter(avg, Pmax=? [ F x=5 ], x>0)",
]


Fault = Callable[[ModuleType, pytest.MonkeyPatch], None]
Breaks = Callable[[Fault], None]


@pytest.fixture
def breaks(tmp_path: Path) -> Iterator[Breaks]:
    """A device that has compiled nothing yet, and what breaks it."""
    with played_device() as cupy, pytest.MonkeyPatch.context() as patches:
        patches.setenv("GALTON_CACHE", str(tmp_path / "compiled"))
        yield lambda fault: fault(cupy, patches)


def no_cupy(cupy: ModuleType, patches: pytest.MonkeyPatch) -> None:
    patches.setitem(sys.modules, "cupy", None)


def no_driver(cupy: ModuleType, patches: pytest.MonkeyPatch) -> None:
    def count() -> int:
        raise CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")

    patches.setattr(cupy.cuda.runtime, "getDeviceCount", count)


def no_device(cupy: ModuleType, patches: pytest.MonkeyPatch) -> None:
    patches.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 0)


def no_compiler(cupy: ModuleType, patches: pytest.MonkeyPatch) -> None:
    def version() -> tuple[int, int]:
        raise RuntimeError("libnvrtc.so: cannot open shared object file")

    patches.setattr(cupy.cuda.nvrtc, "getVersion", version)


def no_memory(cupy: ModuleType, patches: pytest.MonkeyPatch) -> None:
    patches.setattr(memory, "last", 0)


def explorer_that_does_not_compile(cupy: ModuleType, patches: pytest.MonkeyPatch) -> None:
    patches.setattr(kernels.Refusing, "explorers", True)


def solver_that_does_not_compile(cupy: ModuleType, patches: pytest.MonkeyPatch) -> None:
    patches.setattr(kernels.Refusing, "files", True)


def launches_that_fail(cupy: ModuleType, patches: pytest.MonkeyPatch) -> None:
    patches.setattr(kernels.FileKernel, "fault", CUDADriverError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"))


EXPLORING: list[tuple[Fault, str]] = [
    (no_cupy, "CuPy is not there"),
    (no_driver, "there is no usable CUDA device: cudaErrorInsufficientDriver"),
    (no_device, "there is no CUDA device"),
    (no_compiler, "NVRTC, which compiles for the device, does not load: libnvrtc.so"),
    (no_memory, "the model does not fit into the memory of the device"),
    (explorer_that_does_not_compile, "the explorer of this model does not compile:\nkernels.cu(1): error"),
]
SOLVING: list[tuple[Fault, str]] = [
    (no_memory, "there is not enough memory on the device"),
    (solver_that_does_not_compile, "does not compile:\nkernels.cu(1): error"),
    (launches_that_fail, "the device failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"),
]


def names(cases: list[tuple[Fault, str]]) -> list[str]:
    return [fault.__name__ for fault, _ in cases]


@pytest.mark.parametrize(("fault", "said"), EXPLORING, ids=names(EXPLORING))
def test_while_exploring(breaks: Breaks, fault: Fault, said: str) -> None:
    program = galton.parse(WALK)
    breaks(fault)
    model = program.build(device="cuda")
    assert is_on_host(model.columns)
    (trouble,) = model.placement.trouble
    assert trouble.startswith(said)
    assert trouble.endswith("; explored on the CPU instead")
    assert model.same_as(program.build(device="cpu"))


@pytest.mark.parametrize("prop", PROPERTIES)
@pytest.mark.parametrize(("fault", "said"), SOLVING, ids=names(SOLVING))
def test_while_solving(breaks: Breaks, fault: Fault, said: str, prop: str) -> None:
    program = galton.parse(WALK)
    model = program.build(device="cuda")
    assert not is_on_host(model.columns)
    breaks(fault)
    found, expected = galton.check(model, prop), galton.check(program.build(device="cpu"), prop)
    assert (found.device, found.value) == ("cpu", expected.value)
    (warning,) = found.warnings
    assert said in warning
    assert warning.endswith("; answered on the CPU")


def test_who_did_not_ask_for_a_device_is_told_what_went_wrong(breaks: Breaks, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake of ours, on a device that was chosen by itself, used to be kept quiet."""
    program = galton.parse(WALK)
    built = program.build(device="cuda")
    model = replace(built, placement=replace(built.placement, asked="auto"))

    def mistake(*arguments: object, **options: object) -> None:
        raise AttributeError("'Bias' object has no attribute 'exit_rates'")

    monkeypatch.setattr("galton.solve.device_proposal.ParallelProposer.solve", mistake)
    found, expected = galton.check(model, PROPERTIES[0]), galton.check(program.build(device="cpu"), PROPERTIES[0])
    assert (found.device, found.value) == ("cpu", expected.value)
    (warning,) = found.warnings
    assert warning == "AttributeError on the device: 'Bias' object has no attribute 'exit_rates'; answered on the CPU"
    with pytest.raises(AttributeError):
        galton.check(built, PROPERTIES[0])


def test_memory_that_ends_anywhere(breaks: Breaks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever allocation is the first to fail, while exploring or while solving."""
    program = galton.parse(WALK)
    prop = PROPERTIES[0]
    expected = galton.check(program.build(device="cpu"), prop)
    start = memory.allocations
    model = program.build(device="cuda")
    built = memory.allocations - start
    assert galton.check(model, prop).device == "cuda"
    solved = memory.allocations - start - built
    for last in range(built):
        monkeypatch.setattr(memory, "last", memory.allocations + last)
        assert "does not fit" in program.build(device="cuda").placement.trouble[0]
    # Threads take turns in another order each time, so that a solve may need a few allocations more or less.
    for last in range(0, solved * 3 // 4, 3):
        monkeypatch.setattr(memory, "last", memory.allocations + last)
        freed, found = memory.freed, galton.check(model, prop)
        assert (found.device, found.value) == ("cpu", expected.value)
        assert memory.freed > freed


def test_a_model_that_does_not_come_back(breaks: Breaks, monkeypatch: pytest.MonkeyPatch) -> None:
    model = galton.parse(WALK).build(device="cuda")
    breaks(launches_that_fail)

    def get(self: arrays.ndarray) -> None:
        raise CUDARuntimeError("cudaErrorIllegalAddress")

    monkeypatch.setattr(arrays.ndarray, "get", get)
    with pytest.raises(DeviceError, match=r"the device failed: .*cannot be read back.*device=.cpu. does without"):
        galton.check(model, PROPERTIES[0])


@pytest.mark.parametrize(
    ("fault", "said", "instead"),
    [
        *((fault, said, "explored on the CPU instead") for fault, said in EXPLORING),
        *((fault, said, "answered on the CPU") for fault, said in SOLVING[1:]),
    ],
    ids=[*names(EXPLORING), *names(SOLVING[1:])],
)
def test_on_the_command_line(
    breaks: Breaks,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    fault: Fault,
    said: str,
    instead: str,
) -> None:
    file = tmp_path / "walk.prism"
    file.write_text(WALK)
    command = ["galton", "check", str(file), "--prop", PROPERTIES[0], "--json", "--device"]
    answers = []
    for device in ("cpu", "cuda"):
        with patch.object(sys, "argv", [*command, device]):
            with pytest.raises(SystemExit) as stop:
                main()
            assert not stop.value.code
        answers.append(capsys.readouterr())
        if device == "cpu":
            breaks(fault)
    told = answers[1].err + answers[1].out
    assert said.split("\n")[0] in told
    assert instead in told
    host, found = (json.loads(answer.out.splitlines()[0]) for answer in answers)
    assert found["value"] == host["value"]
