"""Whole questions with the device's primitives and proposals: bounds that are proved, narrow, and those of the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from played import played_device

import galton
from galton.backend.formats import FORMATS, ORDERS
from galton.lang.source import GaltonError
from galton.solve.device_proposal import ParallelProposer
from galton.solve.settings import Settings

MODELS = Path(__file__).parents[2] / "models"
CASES = [
    ("nand", {"N": 5, "K": 1}, 'P=? [ F "few_wrong" ]'),
    ("crowds", {"TotalRuns": 3, "CrowdSize": 5}, 'P=? [ F "sender_seen_twice" ]'),
    ("herman", {"N": 7}, 'R{"steps"}=? [ F "stable" ]'),
    ("brp", {"N": 16, "MAX": 3}, 'P=? [ F "unsure" ]'),
    ("consensus", {"N": 2, "K": 2}, 'Pmin=? [ F "finished" & "all_heads" ]'),
    ("consensus", {"N": 2, "K": 4}, 'Pmax=? [ F "finished" & !"agree" ]'),
    ("consensus", {"N": 3, "K": 2}, 'R{"steps"}max=? [ F "finished" ]'),
    ("consensus", {"N": 2, "K": 2}, 'R{"steps"}min=? [ F "finished" ]'),
    ("csma", {"N": 2, "K": 2}, 'R{"time"}max=? [ F "all_delivered" ]'),
    ("csma", {"N": 2, "K": 2}, 'R{"collisions"}max=? [ F "all_delivered" ]'),
    ("wlan", {"MAX_BACKOFF": 0, "COL": 0}, 'R{"time"}min=? [ F "both_sent" ]'),
    ("wlan", {"MAX_BACKOFF": 0, "COL": 0}, 'R{"collisions"}max=? [ F "both_sent" ]'),
    ("polling", {"N": 5}, 'P=? [ !"served2" U "served1" ]'),
]


@pytest.fixture(params=["played", pytest.param("cuda", marks=pytest.mark.gpu)])
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    """Two devices that the CPU plays, or those there are."""
    with played_device(2) if request.param == "played" else nullcontext():
        yield request.param


def program_of(name: str, constants: dict[str, int]) -> galton.Program:
    return galton.load(MODELS / f"{name}.prism", **constants)


def known(program: galton.Program, prop: str) -> galton.Result:
    return galton.check(program, prop, device="cpu")


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(("name", "constants", "prop"), CASES, ids=lambda value: str(value)[:40])
def test_bounds_are_those_of_the_cpu(name: str, constants: dict[str, int], prop: str) -> None:
    program = program_of(name, constants)
    found = galton.check(program, prop, device="cuda")
    assert found.device == "cuda"
    _same(found, known(program, prop))


@pytest.mark.parametrize("numbers", ["0,0,0", "0,1"])
@pytest.mark.parametrize(("name", "constants", "prop"), CASES[1::3], ids=lambda value: str(value)[:40])
def test_rows_in_parts(name: str, constants: dict[str, int], prop: str, numbers: str, place: str) -> None:
    """In three parts on one device, and on two devices."""
    if place == "cuda" and numbers == "0,1" and devices_there() < 2:
        pytest.skip("there is one device only")
    program = program_of(name, constants)
    found = galton.check(program, prop, device=f"cuda:{numbers}")
    assert found.device == "cuda"
    _same(found, known(program, prop))


def devices_there() -> int:
    import cupy

    return int(cupy.cuda.runtime.getDeviceCount())


CHAINS = ["jacobi", "jor", "gauss-seidel", "backward-gauss-seidel", "sor", "power", "bicgstab", "gmres"]
BOTH = ["value-iteration", "gauss-seidel", "optimistic", "interval"]
BY_HAND = [
    *(("crowds", {"TotalRuns": 3, "CrowdSize": 5}, 'P=? [ F "sender_seen_twice" ]', name) for name in [*CHAINS, *BOTH]),
    *(("polling", {"N": 4}, 'P=? [ !"served2" U "served1" ]', name) for name in CHAINS),
    *(("consensus", {"N": 2, "K": 2}, 'Pmin=? [ F "finished" & "all_heads" ]', name) for name in BOTH),
    *(("csma", {"N": 2, "K": 2}, 'R{"time"}max=? [ F "all_delivered" ]', name) for name in BOTH),
]


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(("name", "constants", "prop", "method"), BY_HAND, ids=lambda value: str(value)[:30])
def test_methods_by_name(name: str, constants: dict[str, int], prop: str, method: str) -> None:
    program = program_of(name, constants)
    found = galton.check(program, prop, method=method, eps=1e-8, device="cuda")
    assert found.device == "cuda"
    _near(found, known(program, prop))


def test_bicgstab_takes_the_fused_updates_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    program, prop = galton.load(MODELS / "crowds.prism", TotalRuns=3, CrowdSize=5), 'P=? [ F "sender_seen_twice" ]'
    known = galton.check(program, prop)
    with played_device():
        from galton.backend.cuda.krylov import DeviceUpdates

        made: list[DeviceUpdates] = []
        begin = DeviceUpdates.__init__
        monkeypatch.setattr(DeviceUpdates, "__init__", lambda self: made.append(self) or begin(self))
        found = galton.check(program, prop, device="cuda", method="bicgstab", eps=1e-8)
    assert found.device == "cuda"
    assert made
    assert found.value == pytest.approx(known.value, rel=1e-5)


def _near(found: Any, known: Any) -> None:
    """Methods without a proof may stop early, but not far away on models as tame as these."""
    if found.proved:
        _same(found, known)
    assert found.value == pytest.approx(known.value, rel=1e-5)


# A chain, an MDP with end components merged, and one with rewards.
IN_EVERY_FORMAT = [CASES[3], CASES[9], CASES[7]]


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("how", [*({"format": f} for f in FORMATS), {"order": "bfs"}, {"order": "rcm"}], ids=str)
@pytest.mark.parametrize(("name", "constants", "prop"), IN_EVERY_FORMAT, ids=lambda value: str(value)[:40])
def test_in_every_format(name: str, constants: dict[str, int], prop: str, how: dict[str, str]) -> None:
    program = program_of(name, constants)
    found = galton.check(program, prop, device="cuda", settings=Settings(**how))
    assert found.device == "cuda"
    _same(found, known(program, prop))
    (equations,) = (work.detail for work in found.work if work.step == "equations")
    if "format" in how:
        assert f"; {FORMATS[how['format']]}" in equations
        assert equations.endswith(": as asked")
    else:
        assert f", numbered {ORDERS[how['order']]}; " in equations


def test_formats_of_steps() -> None:
    program, prop = galton.load(MODELS / "brp.prism", N=16, MAX=2), 'P=? [ F<=100 "unsure" ]'
    with played_device():
        found = galton.check(program, prop, device="cuda", settings=Settings(format="sliced"))
    assert found.device == "cuda"
    assert found.value == pytest.approx(known(program, prop).value, rel=1e-9)
    (detail,) = (work.detail for work in found.work if work.step == "until within steps")
    assert detail.endswith("; slices of 32, 1-byte numbers of 6 values: as asked")


def test_a_format_that_steps_do_not_have_is_refused_or_told() -> None:
    program, steps = galton.load(MODELS / "brp.prism", N=16, MAX=2), 'P=? [ F<=100 "unsure" ]'
    with pytest.raises(GaltonError, match=r"format=.segmented. does nothing for .* it is for unbounded paths"):
        galton.check(program, steps, device="cuda", settings=Settings(format="segmented"))
    with played_device():
        both = f'({steps}) + P=? [ F "unsure" ]'
        found = galton.check(program, both, device="cuda", settings=Settings(format="segmented"))
    (detail,) = (work.detail for work in found.work if work.step == "until within steps")
    assert detail.endswith(": there is no other for steps")


SINGLE = Settings(single=True)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("numbers", ["0", "0,0,0"])
@pytest.mark.parametrize(("name", "constants", "prop"), CASES, ids=lambda value: str(value)[:40])
def test_single_precision_first(
    name: str, constants: dict[str, int], prop: str, numbers: str, in_single: list[bool]
) -> None:
    """Bounds are as narrow and as sure as ever."""
    program = program_of(name, constants)
    found = galton.check(program, prop, device=f"cuda:{numbers}", settings=SINGLE)
    assert found.device == "cuda"
    _same(found, known(program, prop))
    assert any(in_single)


# A walk to numbers of any size, some of which are no floats.
WALK = """
dtmc
const double p;
module walk
  s : [0..40] init 20;
  [] s>0 & s<40 -> p : (s'=s+1) + 1-p : (s'=s-1);
  [] s=0 | s=40 -> true;
endmodule
rewards s=20 : 1e40; endrewards
"""


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("prop", ["P=? [ F s=40 ]", "R=? [ F s=0 | s=40 ]"])
@pytest.mark.parametrize("p", ["0.5", "0.001", "1e-5"])
def test_what_floats_cannot_hold(prop: str, p: str, in_single: list[bool]) -> None:
    """Numbers that are too small or too large for single precision are told by sweeps in double precision."""
    program = galton.parse(WALK, p=p)
    _same(galton.check(program, prop, device="cuda", settings=SINGLE), known(program, prop))
    assert any(in_single)


@pytest.fixture
def in_single(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For every batch of sweeps, whether it was in single precision."""
    seen: list[bool] = []
    plainly = ParallelProposer._plainly

    def noted(self: ParallelProposer, x: Any, *given: Any) -> None:
        seen.append(x.dtype == np.float32)
        plainly(self, x, *given)

    monkeypatch.setattr(ParallelProposer, "_plainly", noted)
    return seen


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("method", ["jacobi", "jor", "gauss-seidel", "sor", "backward-gauss-seidel"])
@pytest.mark.parametrize(
    ("name", "constants", "prop"), [CASES[2], CASES[-1], ("tandem", {"c": 3}, 'R{"customers"}=? [ S ]')]
)
def test_methods_that_only_sweep_do_so_in_single_precision(
    name: str, constants: dict[str, int], prop: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from galton.backend.cuda.system import System

    seen: set[Any] = set()
    sweep_once = System.sweep_once

    def noted(self: System, x: Any, y: Any, *given: Any, **more: Any) -> None:
        seen.update((x.dtype, y.dtype))
        sweep_once(self, x, y, *given, **more)

    monkeypatch.setattr(System, "sweep_once", noted)
    program = program_of(name, constants)
    found = galton.check(program, prop, device="cuda", settings=Settings(method=method, single=True))
    exact = known(program, prop)
    assert (found.device, seen) == ("cuda", {np.dtype(np.float32)})
    assert not found.proved
    assert np.max(found.value) == pytest.approx(np.max(exact.value), rel=1e-3)


@pytest.mark.usefixtures("place")
def test_floats_too_small_to_be_exact_do_not_keep_sweeps_from_ending() -> None:
    """In tandem some states have probabilities below what floats hold: their change was 1 of itself for ever."""
    program = galton.load(MODELS / "tandem.prism", c=31)
    found = [
        galton.check(
            program, 'R{"customers"}=? [ S ]', device="cuda", settings=Settings(method="jacobi", single=single)
        )
        for single in (False, True)
    ]
    assert [answer.device for answer in found] == ["cuda", "cuda"]
    assert found[0].iterations == found[1].iterations == 555
    assert found[1].value == pytest.approx(found[0].value, rel=1e-5)


def test_choices_for_a_device_are_told_where_the_cpu_answers() -> None:
    program = galton.load(MODELS / "brp.prism", N=16, MAX=3)
    for settings in (Settings(format="sliced"), Settings(order="rcm"), SINGLE):
        found = galton.check(program, 'P=? [ F "unsure" ]', settings=settings, device="auto")
        assert any("format, order and single=True are for a device" in warning for warning in found.warnings)


def _same(found: Any, known: Any) -> None:
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert found.upper - found.lower <= 2e-6 * abs(found.upper) or isinstance(found.value, tuple)
