"""Equations that are larger than the device: components go there one after the other, and the host proves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from played import memory, played_device
from played.devices import OutOfMemoryError

import galton
from galton.model.sparse import Model
from galton.solve import streaming
from galton.solve.equations import Segment
from galton.solve.settings import Settings
from galton.solve.streaming import Device

MODELS = Path(__file__).parents[2] / "models"
CASES: list[tuple[str, dict[str, int], str]] = [
    ("nand", {"N": 5, "K": 1}, 'P=? [ F "few_wrong" ]'),
    ("crowds", {"TotalRuns": 3, "CrowdSize": 5}, 'P=? [ F "sender_seen_twice" ]'),
    ("herman", {"N": 7}, 'filter(max, R{"steps"}=? [ F "stable" ])'),
    ("consensus", {"N": 2, "K": 2}, 'Pmin=? [ F "finished" & "all_heads" ]'),
    ("consensus", {"N": 2, "K": 4}, 'Pmax=? [ F "finished" & !"agree" ]'),
    ("consensus", {"N": 2, "K": 2}, 'R{"steps"}min=? [ F "finished" ]'),
    ("csma", {"N": 2, "K": 2}, 'R{"time"}max=? [ F "all_delivered" ]'),
    ("wlan", {"MAX_BACKOFF": 0, "COL": 0}, 'R{"collisions"}max=? [ F "both_sent" ]'),
    ("polling", {"N": 5}, 'P=? [ !"served2" U "served1" ]'),
]
STREAM = Settings(stream=True)
# Rounds of coin tosses, one after the other: each is a component of its own, which only the next ones are reached from.
ROUNDS = """
mdp
const int n;
module rounds
  round : [0..n];
  x : [0..40] init 20;
  [left] round<n & x>0 & x<40 -> 0.5 : (x'=x-1) + 0.5 : (x'=x+1);
  [right] round<n & x>0 & x<39 -> 0.4 : (x'=x-1) + 0.3 : (x'=x+1) + 0.3 : (x'=x+2);
  [] round<n & (x=0 | x=40) -> 0.9 : (round'=round+1) & (x'=20) + 0.1 : (round'=n) & (x'=0);
  [] round=n -> true;
endmodule
label "over" = round=n;
label "won" = round=n & x=20;
rewards "steps" [left] true : 1; [right] true : 1; endrewards
"""
QUESTIONS = ['Pmax=? [ F "won" ]', 'R{"steps"}min=? [ F "over" ]', 'R{"steps"}max=? [ F "over" ]']


@contextmanager
def small_segments(room: float = 1e9) -> Iterator[None]:
    """Whatever has entries goes to a device of so many bytes, and components of a few unknowns are large ones."""
    with (
        patch.object(streaming, "WORTH_IT", 1),
        patch("galton.solve.sound.device_for", lambda equations: Device(equations, room)),
        patch.multiple("galton.reduce.component_order", LARGE=16, SEGMENT=16),
    ):
        yield


PLACES = [pytest.param(played_device, id="played"), pytest.param(nullcontext, id="cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(("name", "constants", "prop"), CASES, ids=lambda value: str(value)[:40])
def test_same_answers(name: str, constants: dict[str, int], prop: str, single: bool, place: Any) -> None:
    model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
    known = galton.check(model, prop)
    with place(), small_segments():
        found = galton.check(model, prop, settings=Settings(stream=True, single=single))
    assert visits(found)
    agree(found, known)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("prop", QUESTIONS)
def test_one_component_after_the_other(prop: str, place: Any) -> None:
    model = galton.parse(ROUNDS, n=5).build(device="cpu")
    known = galton.check(model, prop, strategy=True)
    counts = {}
    for room in (2.5e4, 1e9):  # one round, all rounds
        with place(), small_segments(room):
            found = galton.check(model, prop, settings=STREAM, strategy=True)
        agree(found, known)
        counts[room] = visits(found)
        assert found.strategy is not None
        plain = prop.replace("max", "").replace("min", "")
        assert float(galton.check(found.strategy.induced(), plain)) == pytest.approx(float(known), rel=1e-5)
    assert counts[2.5e4] >= 5
    assert counts[1e9] >= 1


@pytest.mark.parametrize("fails_at", [0, 10, 40, 80])
def test_memory_that_ends(fails_at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a component lacks on the device, the CPU does, and says why."""
    model = galton.parse(ROUNDS, n=3).build(device="cpu")
    known = galton.check(model, QUESTIONS[0])
    with played_device(), small_segments(2.5e4):
        monkeypatch.setattr(memory, "last", memory.allocations + fails_at)
        found = galton.check(model, QUESTIONS[0], settings=STREAM)
    agree(found, known)
    assert "something went wrong (there is not enough memory for a component: " in found.work[-1].detail


def test_memory_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds that do not fit together go there one by one."""
    model = galton.parse(ROUNDS, n=3).build(device="cpu")
    known = galton.check(model, QUESTIONS[0])
    allocate = type(memory).allocate

    def some(self: Any, array: Any) -> None:
        if array.nbytes > 2000:
            raise OutOfMemoryError(f"Out of memory allocating {array.nbytes:,} bytes")
        allocate(self, array)

    monkeypatch.setattr(type(memory), "allocate", some)
    with played_device(), small_segments():
        found = galton.check(model, QUESTIONS[0], settings=STREAM)
    agree(found, known)
    assert visits(found)
    assert "something went wrong" in found.work[-1].detail


@pytest.mark.parametrize("chosen_by", ["cuda", "auto"])
def test_mistakes_of_ours(chosen_by: str) -> None:
    """Who asked for the device sees them; who did not gets an answer."""
    model = galton.parse(ROUNDS, n=2).build(device="cpu")
    known = galton.check(model, QUESTIONS[0])
    model = replace(model, placement=replace(model.placement, asked=chosen_by))
    mistake = patch.object(streaming, "_moved", side_effect=AssertionError("a mistake"))
    with played_device(), small_segments(), mistake:
        if chosen_by == "cuda":
            with pytest.raises(AssertionError, match="a mistake"):
                galton.check(model, QUESTIONS[0], settings=STREAM)
        else:
            found = galton.check(model, QUESTIONS[0], settings=STREAM)
            agree(found, known)
            assert "something went wrong (a mistake)" in found.work[-1].detail


def test_a_model_that_was_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory ends while exploring or solving, components are streamed without being asked."""
    program = galton.parse(ROUNDS, n=3)
    with played_device(), small_segments(2.5e4):
        monkeypatch.setattr(memory, "last", memory.allocations)
        model = program.build(device="cuda")
        assert model.placement.streams
        monkeypatch.setattr(memory, "last", None)
        assert visits(galton.check(model, QUESTIONS[0])) >= 3
        model = program.build(device="cuda")
        monkeypatch.setattr(memory, "last", memory.allocations + 20)
        monkeypatch.setattr(model.__class__, "to_host", freeing(model.__class__.to_host, monkeypatch))
        found = galton.check(model, QUESTIONS[0])
    assert visits(found) >= 3
    assert "not enough memory on the device" in found.warnings[0]


def freeing(to_host: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """There is memory again when the model has gone home."""

    def home(self: Any) -> Any:
        monkeypatch.setattr(memory, "last", None)
        return to_host(self)

    return home


def test_without_a_device_the_cpu_does_it() -> None:
    model = galton.parse(ROUNDS, n=2).build(device="cpu")
    with patch("galton.solve.sound.device_for", lambda equations: None):
        found = galton.check(model, QUESTIONS[0], settings=STREAM)
    assert not visits(found)
    agree(found, galton.check(model, QUESTIONS[0]))


# Twenty components of 600 unknowns each, with a few transitions: nothing to carry to a device.
LONG = """
dtmc
module rounds
  round : [0..20];
  x : [0..599];
  [] round<20 & x<599 -> 0.6 : (x'=x+1) + 0.4 : (x'=max(0, x-1));
  [] round<20 & x=599 -> 0.999 : (round'=round+1) & (x'=0) + 0.001 : (x'=598);
  [] round=20 -> true;
endmodule
rewards true : 1; endrewards
"""


def test_small_components_stay_apart_once_infinite() -> None:
    """Joined and not worth the way, they were swept together, eliminated, and bounded by infinity."""
    model = galton.parse(LONG).build(device="cpu")
    known = galton.check(model, "R=? [ F round=20 ]")
    with played_device():
        found = galton.check(model, "R=? [ F round=20 ]", settings=STREAM)
    assert not visits(found)
    assert (found.lower, found.upper) == (known.lower, known.upper)


def test_a_bad_component_does_not_spoil_its_neighbours() -> None:
    """One that has to be eliminated, for its exits are rare, is eliminated alone."""
    rng, easy, walk, rare = np.random.default_rng(0), 300, 60, 1e-13
    size = easy + walk + 2
    matrix = np.zeros((size, size))
    for state in range(easy):
        matrix[state, rng.choice(easy, 3, replace=False)] = 0.3
        matrix[state, easy + walk // 2] = 0.1
    for state in range(easy + 1, easy + walk - 1):
        matrix[state, [state - 1, state + 1]] = 0.5
    matrix[easy, [easy + 1, -2]] = 1 - rare, rare
    matrix[easy + walk - 1, [easy + walk - 2, -1]] = 1 - 2 * rare, 2 * rare
    matrix[-2, -2] = matrix[-1, -1] = 1.0
    model = Model.from_matrix("dtmc", matrix, labels={"goal": np.arange(size) == size - 1})
    known = galton.check(model, 'P=? [ F "goal" ]')
    with played_device(), small_segments():
        found = galton.check(model, 'P=? [ F "goal" ]', settings=STREAM)
    agree(found, known)
    assert "1 by elimination" in found.work[-1].detail


def test_groups() -> None:
    """As many as fit, from one with a cycle on; and none that are not worth the way together."""

    class Equations:
        segments = tuple(Segment(*one) for one in [(0, 5, True), (5, 9, False), (9, 12, False), (12, 20, True)])

        @staticmethod
        def rows_of(segment: Segment) -> slice:
            return slice(segment.first, segment.last)

        @staticmethod
        def entries(segment: Segment) -> int:
            return segment.last - segment.first

    each = streaming.BYTES_PER_ENTRY + streaming.BYTES_PER_ROW + streaming.BYTES_PER_UNKNOWN

    def groups(room: int, worth_it: int) -> list[list[int]]:
        with patch.object(streaming, "WORTH_IT", worth_it):
            device = Device(Equations(), room * each)  # type: ignore[arg-type]
            return [[member.first for member in members] for _, members in device.groups()]

    assert groups(room=1, worth_it=1) == [[0], [5], [9], [12]]
    assert groups(room=7, worth_it=1) == [[0], [5, 9], [12]]
    assert groups(room=15, worth_it=1) == [[0], [5, 9, 12]]
    assert groups(room=15, worth_it=16) == [[0], [5], [9], [12]]


def visits(found: Any) -> int:
    """How many parts went to the device."""
    detail = next((work.detail for work in found.work if work.step == "propose and prove"), "")
    before, _, after = detail.partition(" parts on the device")
    return int(before.rsplit(" ", 1)[-1]) if after else 0


def agree(found: Any, known: Any) -> None:
    assert known.lower <= found.upper
    assert found.lower <= known.upper
    assert found.upper - found.lower <= 2e-6 * found.upper
