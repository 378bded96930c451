"""Equations that are larger than the device: components go there one after the other, and the host proves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from played import memory, played_device

import galton
from galton.solve import streaming
from galton.solve.equations import Segment
from galton.solve.settings import Settings

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
STREAM = Settings(stream=True, strategy=False)
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
def small_segments(room: float) -> Iterator[None]:
    """Whatever has entries goes to a device of so many bytes, and components of a few unknowns are large ones."""
    with (
        patch.object(streaming, "WORTH_IT", 1),
        patch.multiple(streaming, room_on_device=lambda: room, SMALLEST=1e3),
        patch.multiple("galton.solve.equations", LARGE=16, SEGMENT=16),
    ):
        yield


PLACES = [pytest.param(played_device, id="played"), pytest.param(nullcontext, id="cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "constants", "prop"), CASES, ids=lambda value: str(value)[:40])
def test_same_answers(name: str, constants: dict[str, int], prop: str, place: Any) -> None:
    model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cpu")
    known = galton.check(model, prop)
    with place(), small_segments(1e9):
        found = galton.check(model, prop, settings=STREAM)
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
    assert list(counts.values()) == [5, 1]


@pytest.mark.parametrize("fails_at", [0, 10, 40, 80])
def test_memory_that_ends(fails_at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a component lacks on the device, the CPU does."""
    model = galton.parse(ROUNDS, n=3).build(device="cpu")
    known = galton.check(model, QUESTIONS[0])
    with played_device(), small_segments(2.5e4):
        monkeypatch.setattr(memory, "last", memory.allocations + fails_at)
        found = galton.check(model, QUESTIONS[0], settings=STREAM)
    agree(found, known)
    assert not visits(found)
    assert found.work[-1].detail.startswith("6 segments")  # as they were


def test_a_model_that_was_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory ends while exploring or solving, components are streamed without being asked."""
    program = galton.parse(ROUNDS, n=3)
    with played_device(), small_segments(2.5e4):
        monkeypatch.setattr(memory, "last", memory.allocations)
        model = program.build(device="cuda")
        assert model.info["larger than the device"]
        monkeypatch.setattr(memory, "last", None)
        assert visits(galton.check(model, QUESTIONS[0])) == 3
        model = program.build(device="cuda")
        monkeypatch.setattr(memory, "last", memory.allocations + 20)
        monkeypatch.setattr(model.__class__, "to_host", freeing(model.__class__.to_host, monkeypatch))
        found = galton.check(model, QUESTIONS[0])
    assert visits(found) == 3
    assert "not enough memory on the device" in found.warnings[0]


def freeing(to_host: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """There is memory again when the model has gone home."""

    def home(self: Any) -> Any:
        monkeypatch.setattr(memory, "last", None)
        return to_host(self)

    return home


def test_without_a_device_the_cpu_does_it() -> None:
    model = galton.parse(ROUNDS, n=2).build(device="cpu")
    with patch.object(streaming, "room_on_device", lambda: 0.0):
        found = galton.check(model, QUESTIONS[0], settings=STREAM)
    assert not visits(found)
    agree(found, galton.check(model, QUESTIONS[0]))


def test_joining() -> None:
    """As many as fit; runs without a cycle keep to themselves unless they follow one with."""

    class Equations:
        segments = tuple(Segment(*one) for one in [(0, 5, True), (5, 9, False), (9, 12, False), (12, 20, True)])

        @staticmethod
        def rows_of(segment: Segment) -> slice:
            return slice(segment.first, segment.last)

        @staticmethod
        def entries(segment: Segment) -> int:
            return segment.last - segment.first

    each = streaming.BYTES_PER_ENTRY + streaming.BYTES_PER_ROW + streaming.BYTES_PER_UNKNOWN
    found = {room: [s.first for s in streaming.joined(Equations(), room * each)] for room in (1, 7, 15)}  # type: ignore[arg-type]
    assert found == {1: [0, 5, 9, 12], 7: [0, 5, 12], 15: [0, 5]}


def visits(found: Any) -> int:
    """How many components went to the device."""
    detail = next((work.detail for work in found.work if work.step == "propose and prove"), "")
    before, _, after = detail.partition(" proposed on the device")
    return int(before.rsplit(" ", 1)[-1]) if after else 0


def agree(found: Any, known: Any) -> None:
    assert known.lower <= found.upper
    assert found.lower <= known.upper
    assert found.upper - found.lower <= 2e-6 * found.upper
