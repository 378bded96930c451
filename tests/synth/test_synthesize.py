"""Partitions of the parameter space: they cover it, their verdicts are right, and the optimum is in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from chains import PLANT, SPACE, points_in, random_chain, value_at

import galton
from galton import Regions, synthesize
from galton.lang import GaltonError
from galton.synth.api import Synthesis

BUSY = 'P{} [ F<=2 "busy" ]'
SPLITS = ("best", "all")


def check_partition(regions: Regions) -> None:
    """The boxes are disjoint and fill the space."""
    assert regions.volume(regions.boxes) == pytest.approx(1.0)
    for box in regions.boxes:
        assert box.lower <= box.upper
        middle = dict(zip(regions.parameters, box.center, strict=True))
        assert regions.at(**middle) is box


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("operator", [">=", ">", "<=", "<"])
def test_threshold(split: Any, operator: str) -> None:
    regions = synthesize(galton.parse(PLANT), BUSY.format(f"{operator}0.1"), volume=0.1, split=split, **SPACE)
    check_partition(regions)
    assert regions.complete
    assert regions.volume(regions.undecided) <= 0.1
    assert regions.true
    assert regions.false
    for box in (*regions.true[:6], *regions.false[:6]):
        for point in points_in(box.low, box.high, 1):
            low, high = value_at(PLANT, BUSY.format("=?"), dict(zip(SPACE, point, strict=True)))
            above = low >= 0.1 - 1e-9 if (box.verdict == "true") == (operator[0] == ">") else None
            below = high <= 0.1 + 1e-9 if above is None else None
            assert above or below


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("maximize", [True, False])
def test_optimum(split: Any, maximize: bool) -> None:
    """A number with its optimum inside: the chance to be in a state at a time that is passed through."""
    text = """ctmc const double a; const double b;
    module m s : [0..2]; [] s=0 -> a : (s'=1); [] s=1 -> b : (s'=2); endmodule
    rewards s!=1 : 1; endrewards"""
    prop = "P=? [ F[1,1] s=1 ]" if maximize else "R=? [ I=1 ]"
    space = {"a": (0.5, 4.0), "b": (0.1, 1.0)}
    regions = synthesize(
        galton.parse(text), prop, maximize=maximize, minimize=not maximize, tolerance=0.02, split=split, **space
    )
    check_partition(regions)
    assert regions.complete
    assert regions.optimum is not None
    low, high = regions.optimum
    least, most = regions.spread
    assert most - least <= 0.02
    grid = [value_at(text, prop, {"a": 0.5 + 0.5 * i, "b": 0.1 + 0.1 * j}) for i in range(8) for j in range(3)]
    best = max(v[0] for v in grid) if maximize else min(v[1] for v in grid)
    assert (best <= high + 1e-9) if maximize else (best >= low - 1e-9)
    assert regions.best is not None
    assert any(regions.best.point in box for box in regions.optimal)
    assert low - 1e-9 <= regions.best.lower <= regions.best.upper <= high + 1e-9
    for box in regions.of("excluded"):
        assert box.upper < low if maximize else box.lower > high


@pytest.mark.parametrize("seed", range(4))
def test_values(seed: int) -> None:
    text, space = random_chain(seed)
    regions = synthesize(galton.parse(text), "P=? [ F<=1 s=2 ]", accuracy=0.05, **space)
    check_partition(regions)
    for box in regions.boxes:
        assert box.upper - box.lower <= 0.05
        below, above = value_at(text, "P=? [ F<=1 s=2 ]", dict(zip(space, box.center, strict=True)))
        assert box.lower <= above + 1e-9
        assert box.upper >= below - 1e-9


def test_one_parameter_and_three() -> None:
    text = """ctmc const double a; const double b; const double c;
    module m s : [0..3]; [] s=0 -> a : (s'=1); [] s=1 -> b : (s'=2); [] s=2 -> c : (s'=0); endmodule"""
    one = synthesize(galton.parse(text, b=1, c=2), "P>=0.3 [ F<=1 s=2 ]", a=(0.1, 4.0), volume=0.02)
    check_partition(one)
    assert one.volume(one.undecided) <= 0.02
    three = synthesize(galton.parse(text), "P>=0.3 [ F<=1 s=2 ]", a=(0.1, 4.0), b=(0.1, 4.0), c=(1.0, 1.5), volume=0.3)
    check_partition(three)
    widths = {box.high[2] - box.low[2] for box in three.boxes}
    assert widths == {0.5}, "the third parameter has no influence, so nothing is cut along it"


def test_splitting_the_best_parameter_needs_fewer_boxes() -> None:
    counts = [
        len(synthesize(galton.parse(PLANT), BUSY.format(">=0.1"), volume=0.1, split=split, **SPACE).boxes)  # type: ignore[arg-type]
        for split in SPLITS
    ]
    assert counts[0] < counts[1]


def test_file_and_constants(tmp_path: Path) -> None:
    path = tmp_path / "plant.prism"
    path.write_text(PLANT)
    regions = synthesize(path, 'const double T; P>=0.1 [ F<=T "busy" ]', T=2, volume=0.2, **SPACE)
    assert regions.model == "plant.prism"
    assert regions.constants["T"] == 2
    assert "twice" not in regions.constants, "it follows a parameter"
    check_partition(regions)


# Files, interrupts, resuming.


@pytest.mark.parametrize("asked", [{"maximize": True}, {"accuracy": 0.1}, {}])
def test_json_round_trip(asked: dict[str, Any], tmp_path: Path) -> None:
    prop = BUSY.format("=?" if asked else ">=0.1")
    regions = synthesize(galton.parse(PLANT), prop, tolerance=None if "accuracy" in asked else 0.2, **asked, **SPACE)
    again = Regions.from_json(regions.to_json(tmp_path / "regions.json"))
    assert again.boxes == regions.boxes
    assert again.optimum == regions.optimum
    assert again.statistics == regions.statistics
    assert Regions.from_json(tmp_path / "regions.json").boxes == regions.boxes
    assert Regions.from_json(str(tmp_path / "regions.json")).boxes == regions.boxes


def test_csv(tmp_path: Path) -> None:
    regions = synthesize(galton.parse(PLANT), BUSY.format(">=0.1"), volume=0.3, **SPACE)
    regions.to_csv(tmp_path / "regions.csv")
    lines = (tmp_path / "regions.csv").read_text().splitlines()
    assert lines[0] == "a low,a high,b low,b high,lower,upper,verdict,volume"
    assert len(lines) == 1 + len(regions.boxes)


def _interrupted(synthesis: Synthesis, rounds: int) -> Regions:
    seen = 0

    def watch(news: Mapping[str, Any]) -> None:
        nonlocal seen
        seen += "decided" in news or "lower" in news
        if seen == rounds:
            raise KeyboardInterrupt

    return synthesis.run(watch=watch)


@pytest.mark.parametrize("asked", [{"maximize": True, "tolerance": 0.01}, {"accuracy": 0.02}, {"tolerance": 0.02}])
def test_resume_gives_the_same(asked: dict[str, Any]) -> None:
    prop = BUSY.format(">=0.1" if list(asked) == ["tolerance"] else "=?")
    whole = Synthesis.prepare(galton.parse(PLANT), prop, SPACE, {}, **asked).run()
    part = _interrupted(Synthesis.prepare(galton.parse(PLANT), prop, SPACE, {}, **asked), 2)
    assert not part.complete
    assert part.interrupted
    check_partition(part)
    assert 1 < len(part.boxes) < len(whole.boxes)
    kept = Regions.from_json(part.to_json())
    again = Synthesis.prepare(galton.parse(PLANT), prop, SPACE, {}, **asked).run(kept)
    assert again.complete
    assert again.boxes == whole.boxes
    assert again.best == whole.best
    for name in ("boxes", "points", "steps"):
        assert again.statistics[name] == whole.statistics[name]


def test_interrupt_in_the_middle_of_a_round_keeps_the_boxes() -> None:
    synthesis = Synthesis.prepare(galton.parse(PLANT), BUSY.format(">=0.1"), SPACE, {}, tolerance=0.02, threads=1)
    inner, calls = synthesis.evaluator.bounds, 0

    def bounds(low: Any, high: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt
        return inner(low, high)

    synthesis.evaluator.bounds = bounds  # type: ignore[method-assign]
    regions = synthesis.run()
    assert not regions.complete
    check_partition(regions)


def test_resume_of_another_question_is_refused() -> None:
    regions = synthesize(galton.parse(PLANT), BUSY.format(">=0.1"), volume=0.3, **SPACE)
    with pytest.raises(GaltonError, match=r"these regions answer another question: their formula is P>=0.1"):
        synthesize(galton.parse(PLANT), BUSY.format(">=0.3"), volume=0.3, resume=regions, **SPACE)


def test_other_files_are_no_regions(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"format": 1}')
    with pytest.raises(GaltonError, match=r"other.json has no regions as galton synth --json writes them"):
        Regions.from_json(tmp_path / "other.json")
    with pytest.raises(GaltonError, match="in format 99, and this version reads 1"):
        Regions.from_json('{"format": 99}')
