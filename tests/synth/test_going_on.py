"""Going on from regions that know what was asked, properties from files, and the workers of executors."""

from __future__ import annotations

import json
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import galton
from galton.lang.source import GaltonError
from galton.synth.api import Synthesis, inquire
from galton.synth.executors import PORTION
from galton.synth.inquiry import Inquiry
from galton.synth.regions import Regions

PLANT = """
ctmc
const double fail;
const double repair;
const int N;
const double half = 1/2;
module plant
  up : [0..N] init N;
  [] up>0 -> half*fail*up : (up'=up-1);
  [] up<N -> repair : (up'=up+1);
endmodule
rewards "up" true : up; endrewards
"""
PROPS = """
const double T;
label "down" = up=0;
"stops": P>=0.3 [ F<=T "down" ];
"works": R{"up"}=? [ I=T ];
P=? [ F<=T "down" ];
"""
SPACE: dict[str, Any] = {"fail": (0.1, 2), "repair": (0.1, 2)}


@pytest.fixture
def plant(tmp_path: Path) -> Path:
    path = tmp_path / "plant.prism"
    path.write_text(PLANT)
    (tmp_path / "plant.props").write_text(PROPS)
    return path


def boxes(regions: Regions) -> list[Any]:
    return [(box.low, box.high, box.verdict) for box in regions.boxes]


@pytest.mark.parametrize(
    ("name", "asked"),
    [("stops", {"volume": 0.2}), ("works", {"maximize": True, "tolerance": 0.2}), ("3", {"accuracy": 0.3})],
)
def test_a_file_of_regions_is_all_that_is_needed(plant: Path, name: str, asked: dict[str, Any]) -> None:
    """The regions go on as if all had been said again."""
    closer = {key: value / 4 if value is not True else True for key, value in asked.items()}
    given: dict[str, Any] = {"N": 3, "T": "1/3+2", **SPACE}
    begun = galton.synthesize(plant, plant.with_suffix(".props"), name=name, **asked, **given)
    told = galton.synthesize(plant, plant.with_suffix(".props"), name=name, resume=begun, **closer, **given)
    file = plant.with_name("regions.json")
    begun.to_json(file)
    plant.unlink()  # not even the model
    plant.with_suffix(".props").unlink()
    number = next(value for value in closer.values() if value is not True)
    went_on = galton.synthesize(resume=file, tolerance=number)
    assert boxes(went_on) == boxes(told)
    assert len(went_on.boxes) > len(begun.boxes)
    for same in ("problem", "formula", "constants", "tolerance", "split"):
        assert getattr(went_on, same) == getattr(told, same)


def test_the_same_tolerance_has_nothing_to_do(plant: Path) -> None:
    begun = galton.synthesize(plant, "P>=0.3 [ F<=2 up=0 ]", N=3, **SPACE, volume=0.1)
    again = galton.synthesize(resume=Regions.from_json(begun.to_json()))
    assert boxes(again) == boxes(begun)
    assert again.statistics["steps"] == begun.statistics["steps"]


def test_programs_go_on_too() -> None:
    """Constants that were chosen as a program was made are kept to the last bit."""
    program = galton.parse(PLANT, N=3, fail=0.3, repair="1/3")
    begun = galton.synthesize(program, "P>=0.3 [ F<=2 up=0 ]", fail=(0.1, 2.0), volume=0.1)
    again = galton.synthesize(resume=begun.to_json(), volume=0.01)
    assert again.inquiry is not None
    assert again.inquiry.given == {"N": "3", "repair": "1/3"}
    assert again.share_of("undecided") <= 0.01


def test_what_is_given_besides_has_to_be_the_same(plant: Path) -> None:
    begun = galton.synthesize(plant, "P>=0.3 [ F<=2 up=0 ]", N=3, **SPACE, volume=0.2)
    for other, what in [({"N": 4}, "constants"), ({"fail": (0.1, 3.0), "repair": (0.1, 2.0)}, "parameters")]:
        with pytest.raises(GaltonError, match=f"their {what} is"):
            galton.synthesize(resume=begun, **other)  # type: ignore[arg-type]
    with pytest.raises(GaltonError, match="their formula is"):
        galton.synthesize(prop="P>=0.4 [ F<=2 up=0 ]", resume=begun)


def test_what_is_missing_is_told(plant: Path) -> None:
    with pytest.raises(GaltonError, match="a model is needed"):
        galton.synthesize()
    begun = galton.synthesize(plant, "P>=0.3 [ F<=2 up=0 ]", N=3, **SPACE, volume=0.2)
    old = json.loads(begun.to_json())
    del old["asked"]
    with pytest.raises(GaltonError, match="did not keep what was asked: a model is needed"):
        galton.synthesize(resume=json.dumps(old))
    again = galton.synthesize(plant, "P>=0.3 [ F<=2 up=0 ]", N=3, **SPACE, resume=json.dumps(old), volume=0.2)
    assert boxes(again) == boxes(begun)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("asked",), 3, "asked should be an object"),
        (("asked", "given"), [], "asked: given should be an object"),
        (("asked", "model", "text"), None, "asked: model: text should be a text"),
        (("asked", "direction"), "up", "asked: direction should be one of"),
    ],
)
def test_a_changed_file_is_refused(plant: Path, place: tuple[str, ...], value: object, words: str) -> None:
    found = json.loads(galton.synthesize(plant, "P>=0.3 [ F<=2 up=0 ]", N=3, **SPACE, volume=0.2).to_json())
    owner = found
    for name in place[:-1]:
        owner = owner[name]
    owner[place[-1]] = value
    with pytest.raises(GaltonError, match=words):
        Regions.from_json(json.dumps(found))


def test_one_property_of_several_has_to_be_chosen(plant: Path) -> None:
    props = plant.with_suffix(".props")
    with pytest.raises(GaltonError, match=r"this text has 3; choose one by its name \(stops, works\) or its number"):
        galton.synthesize(plant, props, N=3, T=2, **SPACE)
    with pytest.raises(GaltonError, match="no property is called 'stop'; did you mean 'stops'"):
        galton.synthesize(plant, props, name="stop", N=3, T=2, **SPACE)


# Executors.


class Here(Executor):
    """An executor of our own: it works when it is asked to, and counts."""

    def __init__(self) -> None:
        self.portions: list[int] = []

    def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        self.portions.append(len(work.args[-1]))
        future: Future[Any] = Future()
        future.set_result(work(*arguments, **named))
        return future


def test_any_executor_will_do(plant: Path) -> None:
    asked: dict[str, Any] = {"N": 3, **SPACE, "volume": 0.05}
    alone = galton.synthesize(plant, "P>=0.3 [ F<=2 up=0 ]", **asked)
    executor = Here()
    found = [galton.synthesize(plant, "P>=0.3 [ F<=2 up=0 ]", **asked, executor=executor)]
    with ThreadPoolExecutor(2) as threads:
        found.append(galton.synthesize(plant, "P>=0.3 [ F<=2 up=0 ]", **asked, executor=threads))
    with ProcessPoolExecutor(1, get_context("forkserver")) as processes:
        found.append(galton.synthesize(plant, "P>=0.3 [ F<=2 up=0 ]", **asked, executor=processes))
    assert [boxes(regions) for regions in found] == [boxes(alone)] * 3
    assert [regions.statistics["boxes"] for regions in found] == [alone.statistics["boxes"]] * 3
    assert max(executor.portions) == PORTION


def test_executors_in_discrete_time() -> None:
    program = galton.parse("dtmc  const double p;  module m  s : [0..2];  [] s=0 -> p:(s'=1)+1-p:(s'=2);  endmodule")
    with ThreadPoolExecutor(2) as threads:
        found = galton.synthesize(program, "P>=0.5 [ F s=1 ]", p=(0.1, 0.9), executor=threads)
    assert boxes(found) == boxes(galton.synthesize(program, "P>=0.5 [ F s=1 ]", p=(0.1, 0.9)))


def test_what_a_worker_cannot_do_is_told(plant: Path) -> None:
    class Broken(Here):
        def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(RuntimeError("no such machine"))
            return future

    with pytest.raises(RuntimeError, match="no such machine"):
        galton.synthesize(plant, "P>=0.3 [ F<=2 up=0 ]", N=3, **SPACE, executor=Broken())


def test_interrupted_work_is_cancelled_and_goes_on_later(plant: Path) -> None:
    """Nobody computes for somebody who has left."""
    inquiry = inquire(plant, "P>=0.3 [ F<=2 up=0 ]", {"fail": (0.1, 2.0), "repair": (0.1, 2.0)}, {"N": 3})
    held, futures = threading.Event(), []

    class Waiting(ThreadPoolExecutor):
        def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
            futures.append(super().submit(held.wait))
            return futures[-1]

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with Waiting(1) as executor:
        regions = Synthesis.of(inquiry, executor=executor).run(watch=stop)
        held.set()
    assert regions.interrupted
    assert not regions.boxes
    assert all(future.cancelled() for future in futures[1:])
    assert galton.synthesize(resume=regions).complete


def test_inquiries_travel() -> None:
    from pickle import dumps, loads

    inquiry = inquire(galton.parse(PLANT, N=3, fail=1, repair=2), "P>=0.3 [ F<=2 up=0 ]", {"fail": (0.1, 2.0)}, {})
    assert isinstance(inquiry, Inquiry)
    assert loads(dumps(inquiry)) == inquiry
