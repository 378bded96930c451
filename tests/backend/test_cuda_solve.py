"""Whole questions with the device's primitives and proposals: bounds that are proved, narrow, and those of the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device import played_by_cpu
from played import played_device

import galton
from galton.backend.formats import FORMATS, ORDERS
from galton.reduce import plan, unknowns
from galton.solve import equations, sound
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
    ("consensus", {"N": 4, "K": 2}, 'R{"steps"}max=? [ F "finished" ]'),
    ("consensus", {"N": 2, "K": 2}, 'R{"steps"}min=? [ F "finished" ]'),
    ("csma", {"N": 2, "K": 2}, 'R{"time"}max=? [ F "all_delivered" ]'),
    ("csma", {"N": 2, "K": 2}, 'R{"collisions"}max=? [ F "all_delivered" ]'),
    ("wlan", {"MAX_BACKOFF": 0, "COL": 0}, 'R{"time"}min=? [ F "both_sent" ]'),
    ("wlan", {"MAX_BACKOFF": 0, "COL": 0}, 'R{"collisions"}max=? [ F "both_sent" ]'),
    ("polling", {"N": 5}, 'P=? [ !"served2" U "served1" ]'),
]


@pytest.fixture
def device() -> Iterator[None]:
    """Equations are made and solved as on a device, all unknowns together, which the CPU plays."""
    with played_by_cpu(), pytest.MonkeyPatch.context() as patch:
        for module in (equations, plan, unknowns):
            patch.setattr(module, "is_on_host", lambda array: False)
        patch.setattr(sound, "Proposer", ParallelProposer)
        yield


@pytest.mark.parametrize(("name", "constants", "prop"), CASES, ids=lambda value: str(value)[:40])
def test_played_by_the_cpu(name: str, constants: dict[str, int], prop: str, request: pytest.FixtureRequest) -> None:
    program = galton.load(MODELS / f"{name}.prism", **constants)
    known = galton.check(program, prop)
    request.getfixturevalue("device")
    _same(galton.check(program, prop), known)


@pytest.mark.parametrize(("name", "constants", "prop"), CASES[1::3], ids=lambda value: str(value)[:40])
def test_parts_played_by_the_cpu(
    name: str, constants: dict[str, int], prop: str, request: pytest.FixtureRequest
) -> None:
    """The rows in three parts, as three devices would have them."""
    program = galton.load(MODELS / f"{name}.prism", **constants)
    known = galton.check(program, prop)
    model = program.build()
    model.info["devices"] = (0, 0, 0)
    request.getfixturevalue("device")
    _same(galton.check(model, prop), known)


CHAINS = ["jacobi", "jor", "gauss-seidel", "backward-gauss-seidel", "sor", "power", "bicgstab", "gmres"]
BOTH = ["value-iteration", "gauss-seidel", "optimistic", "interval"]
BY_HAND = [
    *(("crowds", {"TotalRuns": 3, "CrowdSize": 5}, 'P=? [ F "sender_seen_twice" ]', name) for name in [*CHAINS, *BOTH]),
    *(("polling", {"N": 4}, 'P=? [ !"served2" U "served1" ]', name) for name in CHAINS),
    *(("consensus", {"N": 2, "K": 2}, 'Pmin=? [ F "finished" & "all_heads" ]', name) for name in BOTH),
    *(("csma", {"N": 2, "K": 2}, 'R{"time"}max=? [ F "all_delivered" ]', name) for name in BOTH),
]


@pytest.mark.parametrize(("name", "constants", "prop", "method"), BY_HAND, ids=lambda value: str(value)[:30])
def test_methods_played_by_the_cpu(
    name: str, constants: dict[str, int], prop: str, method: str, request: pytest.FixtureRequest
) -> None:
    program = galton.load(MODELS / f"{name}.prism", **constants)
    known = galton.check(program, prop)
    request.getfixturevalue("device")
    _near(galton.check(program, prop, method=method, eps=1e-8), known)


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
IN_EVERY_FORMAT = [CASES[3], CASES[9], CASES[6]]


@pytest.mark.parametrize("how", [*({"format": f} for f in FORMATS), {"order": "bfs"}, {"order": "rcm"}], ids=str)
@pytest.mark.parametrize(("name", "constants", "prop"), IN_EVERY_FORMAT, ids=lambda value: str(value)[:40])
def test_in_every_format(
    name: str, constants: dict[str, int], prop: str, how: dict[str, str], request: pytest.FixtureRequest
) -> None:
    program = galton.load(MODELS / f"{name}.prism", **constants)
    known = galton.check(program, prop)
    request.getfixturevalue("device")
    found = galton.check(program, prop, settings=Settings(**how))
    _same(found, known)
    (equations,) = (work.detail for work in found.work if work.step == "equations")
    if "format" in how:
        assert f"; {FORMATS[how['format']]}" in equations
        assert equations.endswith(": as asked")
    else:
        assert f", numbered {ORDERS[how['order']]}; " in equations


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("sliced", "; slices of 32, 1-byte numbers of 6 values: as asked"),
        ("segmented", ": there is no other for steps"),
    ],
)
def test_formats_of_steps(name: str, end: str) -> None:
    """A format that steps do not have is not taken."""
    program, prop = galton.load(MODELS / "brp.prism", N=16, MAX=2), 'P=? [ F<=100 "unsure" ]'
    known = galton.check(program, prop)
    with played_device():
        found = galton.check(program, prop, device="cuda", settings=Settings(format=name))
    assert found.device == "cuda"
    assert found.value == pytest.approx(known.value, rel=1e-9)
    (detail,) = (work.detail for work in found.work if work.step == "until within steps")
    assert detail.endswith(end)


SINGLE = Settings(single=True)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(("name", "constants", "prop"), CASES, ids=lambda value: str(value)[:40])
def test_single_precision_first(
    name: str, constants: dict[str, int], prop: str, parts: int, request: pytest.FixtureRequest, in_single: list[bool]
) -> None:
    """Bounds are as narrow and as sure as ever."""
    program = galton.load(MODELS / f"{name}.prism", **constants)
    known = galton.check(program, prop)
    model = program.build()
    if parts > 1:
        model.info["devices"] = (0,) * parts
    request.getfixturevalue("device")
    _same(galton.check(model, prop, settings=SINGLE), known)
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


@pytest.mark.parametrize("prop", ["P=? [ F s=40 ]", "R=? [ F s=0 | s=40 ]"])
@pytest.mark.parametrize("p", ["0.5", "0.001", "1e-5"])
def test_what_floats_cannot_hold(prop: str, p: str, request: pytest.FixtureRequest, in_single: list[bool]) -> None:
    """Numbers that are too small or too large for single precision are told by sweeps in double precision."""
    program = galton.parse(WALK, p=p)
    known = galton.check(program, prop)
    request.getfixturevalue("device")
    _same(galton.check(program, prop, settings=SINGLE), known)
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


def test_the_cpu_has_one_format() -> None:
    program = galton.load(MODELS / "brp.prism", N=16, MAX=3)
    for settings in (Settings(format="sliced"), Settings(order="rcm"), SINGLE):
        found = galton.check(program, 'P=? [ F "unsure" ]', settings=settings)
        assert any("--format, --order and --single are for a device" in work.detail for work in found.work)


def _same(found: Any, known: Any) -> None:
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert found.upper - found.lower <= 2e-6 * abs(found.upper) or isinstance(found.value, tuple)


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "constants", "prop"), CASES, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("single", [False, True])
def test_on_a_device(name: str, constants: dict[str, int], prop: str, single: bool) -> None:
    program = galton.load(MODELS / f"{name}.prism", **constants)
    found = galton.check(program.build(device="cuda"), prop, settings=Settings(single=single))
    assert found.device == "cuda"
    _same(found, galton.check(program, prop))


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "constants", "prop", "method"), BY_HAND, ids=lambda value: str(value)[:30])
def test_methods_on_a_device(name: str, constants: dict[str, int], prop: str, method: str) -> None:
    program = galton.load(MODELS / f"{name}.prism", **constants)
    found = galton.check(program.build(device="cuda"), prop, method=method, eps=1e-8)
    assert found.device == "cuda"
    _near(found, galton.check(program, prop))


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "constants", "prop"), CASES, ids=lambda value: str(value)[:40])
def test_parts_on_a_device(name: str, constants: dict[str, int], prop: str) -> None:
    program = galton.load(MODELS / f"{name}.prism", **constants)
    found = galton.check(program.build(device="cuda:0,0,0"), prop)
    assert found.device == "cuda"
    _same(found, galton.check(program, prop))
