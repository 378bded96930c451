"""Questions that several devices share: the answers of the CPU, from models that one device has no room for."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from played import memory, played_device
from random_programs import ProgramText, programs

import galton
from galton.backend.formats import FORMATS, ORDERS, STEPPING
from galton.device.errors import DeviceMemoryError
from galton.model.sparse import Model
from galton.solve.methods import METHODS, runs_on_device

MODELS = Path(__file__).parents[2] / "models"
CASES: list[tuple[str, dict[str, int], str]] = [
    ("nand", {"N": 5, "K": 1}, 'P=? [ F "few_wrong" ]'),
    ("crowds", {"TotalRuns": 3, "CrowdSize": 5}, 'P=? [ F "sender_seen_twice" ]'),
    ("herman", {"N": 7}, 'filter(max, R{"steps"}=? [ F "stable" ])'),
    ("consensus", {"N": 2, "K": 2}, 'Pmin=? [ F "finished" & "all_heads" ]'),
    ("consensus", {"N": 2, "K": 4}, 'Pmax=? [ F "finished" & !"agree" ]'),
    ("consensus", {"N": 2, "K": 2}, 'R{"steps"}min=? [ F "finished" ]'),
    ("consensus", {"N": 2, "K": 2}, 'Pmin=? [ F<=50 "finished" & "all_heads" ]'),
    ("consensus", {"N": 2, "K": 2}, 'Pmax=? [ F>=20 "finished" & "all_heads" ]'),
    ("consensus", {"N": 2, "K": 2}, 'R{"steps"}max=? [ C<=30 ]'),
    ("csma", {"N": 2, "K": 2}, 'R{"time"}max=? [ F "all_delivered" ]'),
    ("wlan", {"MAX_BACKOFF": 0, "COL": 0}, 'R{"collisions"}max=? [ F "both_sent" ]'),
    ("polling", {"N": 5}, 'P=? [ !"served2" U "served1" ]'),
    ("polling", {"N": 5}, 'S=? [ "served1" ]'),
    ("tandem", {"c": 15}, 'R{"customers"}=? [ S ]'),
    ("tandem", {"c": 15}, "P=? [ F<=1 second=3 ]"),
    ("tandem", {"c": 15}, "P=? [ F[0.5,1] second=3 ]"),
    ("tandem", {"c": 15}, 'R{"customers"}=? [ C<=1 ]'),
    ("tandem", {"c": 15}, 'R{"customers"}=? [ I=1 ]'),
]


def agree(found: Any, known: Any) -> None:
    assert known.lower <= found.upper
    assert found.lower <= known.upper
    assert found.upper - found.lower <= 2e-6 * found.upper + 1e-300


def shared(model: Model, *devices: int) -> Model:
    """A model on the host that devices take parts of."""
    placement = replace(model.placement, backend="cuda", devices=devices)
    return replace(model, placement=placement)


PLACES = [
    pytest.param(lambda: played_device(count=2), "cuda:0,1", id="played"),
    pytest.param(lambda: played_device(count=3), "cuda:2,1,0", id="three played", marks=pytest.mark.slow),
    pytest.param(played_device, "cuda:0,0", id="one played twice", marks=pytest.mark.slow),
    pytest.param(nullcontext, "cuda:0,0", id="cuda", marks=pytest.mark.gpu),
]


@pytest.mark.parametrize(("place", "device"), PLACES)
@pytest.mark.parametrize(("name", "constants", "prop"), CASES, ids=lambda value: str(value)[:40])
def test_same_answers(name: str, constants: dict[str, int], prop: str, place: Any, device: str) -> None:
    """The model on the first device, and on the host."""
    program = galton.load(MODELS / f"{name}.prism", **constants)
    known = galton.check(program, prop, device="cpu")
    numbers = tuple(int(number) for number in device.removeprefix("cuda:").split(","))
    with place():
        for model in (program.build(device=device), shared(program.build(device="cpu"), *numbers)):
            found = galton.check(model, prop)
            agree(found, known)
            assert found.warnings == known.warnings
            assert found.placement.backend == "cuda"
            assert found.placement.devices == numbers


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False)
@given(programs(), st.integers(2, 4))
def test_random_programs(text: ProgramText, parts: int) -> None:
    """Whatever the program: reachability, steps and, of chains, the long run."""
    try:
        model = galton.parse(text).build(device="cpu", max_states=3000)
    except galton.GaltonError:
        return
    last = replace(model, labels={**model.labels, "last": np.arange(model.n_states) == model.n_states - 1})
    best = "max" if model.has_choices else ""
    asked = [f'P{best}=? [ F "last" ]', f'P{best}=? [ F<=7 "last" ]', *([] if best else ['S=? [ "last" ]'])]
    for prop in (f"filter(avg, {formula})" for formula in asked):
        known = galton.check(last, prop)
        with played_device(count=2):
            agree(galton.check(shared(last, *(number % 2 for number in range(parts))), prop), known)


LARGE = [
    ("tandem", {"c": 31}, "P=? [ first<31 U second=31 ]"),
    ("tandem", {"c": 31}, "P=? [ F<=1 second=31 ]"),
    ("tandem", {"c": 31}, 'R{"customers"}=? [ S ]'),
    ("consensus", {"N": 3, "K": 2}, 'Pmax=? [ F "finished" & !"agree" ]'),
    ("consensus", {"N": 3, "K": 2}, 'Pmin=? [ F<=50 "finished" & "all_heads" ]'),
]


def fits_alone(model: Model, prop: str) -> bool:
    """Whether one device answers."""
    try:
        return galton.check(model.to_device(), prop).placement.backend == "cuda"
    except DeviceMemoryError:
        return False


@pytest.mark.parametrize(("name", "constants", "prop"), LARGE, ids=lambda value: str(value)[:40])
def test_a_model_that_one_device_has_no_room_for(name: str, constants: dict[str, int], prop: str) -> None:
    """It was explored on the CPU, and all but parts of its equations stayed there."""
    program = galton.load(MODELS / f"{name}.prism", **constants)
    known, model = galton.check(program, prop, device="cpu"), program.build(device="cpu")
    with played_device(count=2):
        with memory.watched() as alone:
            galton.check(model.to_device(), prop)
        with memory.watched() as together:
            galton.check(shared(model, 0, 1), prop)
        assert max(together.most.values()) < 0.6 * alone.most[0]
        # One such device cannot do it, two can.
        limit = 11 * max(together.most.values()) // 10
        with memory.watched(limit):
            assert not fits_alone(model, prop)
        with memory.watched(limit) as traffic:
            found = galton.check(program, prop, device="cuda:0,1")
        assert traffic.most[1] > 0
    agree(found, known)
    assert found.warnings == known.warnings
    assert found.placement.devices == (0, 1)
    assert str(found.placement).startswith("the CUDA devices 0, 1 (larger than the first one: explored by the CPU")


def test_a_model_that_fits_whose_equations_do_not() -> None:
    """The model goes back to the host, and the devices share what is made of it."""
    program, prop = galton.load(MODELS / "tandem.prism", c=31), "P=? [ first<31 U second=31 ]"
    known = galton.check(program, prop, device="cpu")
    with played_device(count=2):
        model = program.build(device="cuda:0,1")
        assert model.placement.reason == "asked for: the model on the first one, matrices in parts on each"
        with memory.watched(100_000):
            found = galton.check(model, prop)
    agree(found, known)
    assert found.warnings == ()
    assert found.placement.devices == (0, 1)
    assert "the model was brought to the host" in found.placement.reason


def test_parts_that_do_not_fit_either() -> None:
    """The CPU answers, and says why."""
    program, prop = galton.load(MODELS / "tandem.prism", c=31), "P=? [ first<31 U second=31 ]"
    known = galton.check(program, prop, device="cpu")
    with played_device(count=2), memory.watched(10_000):
        found = galton.check(program, prop, device="cuda:0,1")
    agree(found, known)
    assert (found.placement.backend, found.placement.devices) == ("cpu", ())
    assert "not enough memory on the device" in found.warnings[0]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_and_order(format: str, order: str) -> None:
    """Of a chain, and of an MDP with end components that are one unknown each."""
    options = galton.Settings(format=format, order=order)
    for name, constants, prop in (CASES[0], CASES[3], CASES[9]):
        model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
        with played_device(count=2):
            found = galton.check(shared(model, 0, 1), prop, settings=options)
        agree(found, galton.check(model, prop))
        assert found.warnings == ()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("format", STEPPING)
def test_every_format_and_order_of_steps(format: str, order: str) -> None:
    options = galton.Settings(format=format, order=order)
    for name, constants, prop in (CASES[6], CASES[8], CASES[14]):
        model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
        with played_device(count=2):
            found = galton.check(shared(model, 0, 1), prop, settings=options)
        agree(found, galton.check(model, prop))
        assert ORDERS[order] in found.work[-1].detail


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_long_runs(order: str) -> None:
    for name, constants, prop in (CASES[12], CASES[13]):
        model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
        with played_device(count=2):
            found = galton.check(shared(model, 0, 1), prop, settings=galton.Settings(order=order))
        agree(found, galton.check(model, prop))
        assert ORDERS[order] in found.work[-1].detail
        assert found.warnings == ()


@pytest.mark.parametrize("method", ["jacobi", "jor", "sor", "power", "bicgstab"])
def test_stationary_distributions_by_hand(method: str) -> None:
    name, constants, prop = CASES[12]
    model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
    known = galton.check(model, prop).value
    with played_device(count=2):
        found = galton.check(shared(model, 0, 1), prop, method=method, eps=1e-9)
    assert found.value == pytest.approx(known, rel=1e-4)
    assert found.placement.devices == (0, 1)


def test_steps_in_single_precision() -> None:
    """The bounds hold, and are wider."""
    for name, constants, prop in (CASES[6], CASES[8], CASES[14], CASES[16]):
        model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
        known = galton.check(model, prop)
        with played_device(count=2):
            found = galton.check(shared(model, 0, 1), prop, settings=galton.Settings(single=True, eps=1e-3))
            alone = galton.check(model.to_device(), prop, settings=galton.Settings(single=True, eps=1e-3))
        assert found.lower <= known.upper
        assert known.lower <= found.upper
        assert found.value == pytest.approx(alone.value, rel=1e-5)
        assert "single precision" in found.work[-1].detail


@pytest.mark.parametrize("method", [name for name in METHODS if runs_on_device(name)])
def test_every_method(method: str) -> None:
    name, constants, prop = CASES[0]
    model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
    with played_device(count=2):
        found = galton.check(shared(model, 0, 1), prop, method=method)
    assert found.value == pytest.approx(galton.check(model, prop).value, rel=1e-4)
    assert found.placement.devices == (0, 1)


def test_single_precision() -> None:
    for name, constants, prop in CASES[:6]:
        model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
        with played_device(count=2):
            agree(
                galton.check(shared(model, 0, 1), prop, settings=galton.Settings(single=True)),
                galton.check(model, prop),
            )


@pytest.mark.parametrize("case", [3, 4, 5, 6, 8])
def test_strategies(case: int) -> None:
    name, constants, prop = CASES[case]
    model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
    with played_device(count=2):
        found = galton.check(shared(model, 0, 1), prop, strategy=True)
    agree(found, galton.check(model, prop))
    assert found.strategy is not None
    assert found.placement.devices == (0, 1)


def test_certificates() -> None:
    name, constants, prop = CASES[4]
    program = galton.load(MODELS / f"{name}.prism", **constants)
    with played_device(count=2):
        model = shared(program.build(device="cpu"), 0, 1)
        found = galton.check(model, prop, certificate=True)
    assert found.certificate is not None


def test_a_long_run_that_parts_do_not_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device that has the whole chain goes on alone; where none has, the CPU."""
    program, prop = galton.load(MODELS / "tandem.prism", c=15), 'R{"customers"}=? [ S ]'
    known = galton.check(program, prop, device="cpu")
    with played_device(count=2):
        monkeypatch.setattr("galton.backend.cuda.split.long_run.STEPS", ())
        found = galton.check(program, prop, device="cuda:0,1")
        agree(found, known)
        assert found.method == "BiCGStab, sweeps by levels on one device"
        found = galton.check(shared(program.build(device="cpu"), 0, 1), prop)
        agree(found, known)
        assert "no method at hand comes closer" in found.warnings[0]
        assert found.placement.backend == "cpu"
