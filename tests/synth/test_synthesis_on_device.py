"""A device finds the regions that the CPU finds, and where it cannot the CPU goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from played import memory, played_device
from played.devices import devices

import galton
from galton.device.errors import DeviceError
from galton.synth import placement
from galton.synth.api import Synthesis
from galton.synth.regions import Regions

QUEUE = """
ctmc
const double arrive;
const double serve;
module queue
    n : [0..6] init 0;
    busy : bool init false;
    [] n<6 -> arrive : (n'=n+1);
    [] n>0 & !busy -> 3 : (busy'=true);
    [] busy -> serve : (n'=n-1) & (busy'=false);
endmodule
rewards "waiting"
    true : n;
    [] busy : 0.5;
endrewards
"""
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("P>=0.5 [ F<=2 n=6 ]", {"volume": 0.2}),
    ("P=? [ n<6 U[0.5,2] n=5 ]", {"maximize": True, "tolerance": 0.1}),
    ('R{"waiting"}<=2 [ C<=2 ]', {"volume": 0.2}),
    ('R{"waiting"}=? [ I=2 ]', {"accuracy": 0.8}),
    ("P>=0.3 [ G<=1 P>=0.1 [ F<=0.5 n=0 ] ]", {"volume": 0.3}),
]


@pytest.fixture(params=["played", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "cuda":
        yield
    else:
        with played_device():
            yield


def regions(prop: str, device: str, how: dict[str, Any]) -> Regions:
    return galton.synthesize(galton.parse(QUEUE), prop, device=device, arrive=(0.5, 6), serve=(1, 4), **how)


@pytest.mark.parametrize(("prop", "how"), QUESTIONS)
@pytest.mark.usefixtures("device")
def test_the_same_regions(prop: str, how: dict[str, Any]) -> None:
    here, there = regions(prop, "cpu", how), regions(prop, "cuda", how)
    assert there.warnings == ()
    assert there.complete
    assert len(here.boxes) > 1
    assert [(box.low, box.high, box.verdict) for box in here.boxes] == [
        (box.low, box.high, box.verdict) for box in there.boxes
    ]
    for mine, other in zip(here.boxes, there.boxes, strict=True):
        assert mine.lower == pytest.approx(other.lower, abs=1e-11, rel=1e-10)
        assert mine.upper == pytest.approx(other.upper, abs=1e-11, rel=1e-10)


def test_memory_that_ends_leaves_the_rest_to_the_cpu() -> None:
    prop, how = QUESTIONS[0]
    expected = regions(prop, "cpu", how)
    with played_device(), pytest.MonkeyPatch.context() as patches:
        patches.setattr(memory, "last", memory.allocations + 20)
        found = regions(prop, "cuda", how)
    assert [box.verdict for box in found.boxes] == [box.verdict for box in expected.boxes]
    assert "memory" in found.warnings[0]
    assert found.warnings[0].endswith("; the CPU went on")


def prepared(device: str) -> Synthesis:
    ranges = {"arrive": (0.5, 6.0), "serve": (1.0, 4.0)}
    return Synthesis.prepare(galton.parse(QUEUE), QUESTIONS[0][0], ranges, {}, tolerance=0.2, device=device)


@pytest.mark.parametrize(("patience", "where"), [(1e9, "cpu"), (0.0, "cuda")])
def test_auto_moves_when_the_cpu_would_take_long(patience: float, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "PATIENCE", patience)
    expected = regions(QUESTIONS[0][0], "cpu", QUESTIONS[0][1])
    with played_device():
        synthesis = prepared("auto")
        found = synthesis.run()
    assert found.placement is not None
    assert found.placement.backend == where
    assert found.warnings == ()
    assert [box.verdict for box in found.boxes] == [box.verdict for box in expected.boxes]


def test_auto_stays_where_there_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise DeviceError("there is no CUDA device")

    monkeypatch.setattr(placement, "PATIENCE", 0.0)
    monkeypatch.setattr("galton.device.cuda.runtime.import_cupy", refused)
    found = prepared("auto").run()
    assert found.warnings == ()
    assert str(found.placement) == "the CPU (there is no CUDA device; the CPU went on)"


def test_the_second_device_was_refused() -> None:
    with played_device(2):
        found = regions(QUESTIONS[0][0], "cuda:1", QUESTIONS[0][1])
        assert devices.current == 1
    assert found.warnings == ()
    assert str(found.placement) == "a CUDA device (asked for)"
    assert '"placement": "a CUDA device (asked for)"' in found.to_json()


def test_a_device_that_is_not_there_is_told_by_its_number() -> None:
    with played_device():
        found = regions(QUESTIONS[0][0], "cuda:3", QUESTIONS[0][1])
    assert found.warnings == ("there is no CUDA device 3; there is one; synthesised on the CPU",)


def test_several_devices_are_refused() -> None:
    with pytest.raises(galton.GaltonError, match="synthesis uses one device, and 'cuda:0,1' names 2; name one of them"):
        regions(QUESTIONS[0][0], "cuda:0,1", QUESTIONS[0][1])


@pytest.mark.parametrize("format", ["csr", "ell"])
@pytest.mark.usefixtures("device")
def test_formats(format: str) -> None:
    expected = regions(QUESTIONS[0][0], "cpu", QUESTIONS[0][1])
    found = regions(QUESTIONS[0][0], "cuda", {**QUESTIONS[0][1], "format": format})
    assert found.warnings == ()
    assert [box.verdict for box in found.boxes] == [box.verdict for box in expected.boxes]


def test_other_formats_are_refused() -> None:
    with pytest.raises(galton.GaltonError, match="csr or ell, not in 'sliced'"):
        regions(QUESTIONS[0][0], "cpu", {"format": "sliced"})


def test_discrete_time_says_that_it_is_on_the_cpu() -> None:
    coin = "dtmc const double p; module coin s : [0..2]; [] s=0 -> p : (s'=1) + 1-p : (s'=2); endmodule"
    found = galton.synthesize(galton.parse(coin), "P>=0.5 [ F s=1 ]", device="cuda", p=(0.1, 0.9))
    assert found.warnings == ("parameters of models in discrete time are synthesised on the CPU, not on a device",)
