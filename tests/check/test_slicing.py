"""Answers with what matters and with everything: the same, on random programs and on the gallery."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from sliced_programs import HIDDEN, sliced

import galton
from galton.checking.result import Result
from galton.checking.slicing import slice_of
from galton.lang import Source, parse_properties
from galton.lang.resolution import resolve
from galton.lower.slicing import Slice, Slices
from galton.programs import Program

MODELS = Path(__file__).parents[2] / "models"
EPS = 1e-12

CHAINS = (
    'P=? [ F "goal" ]',
    'P=? [ place!=2 U<=4 "goal" ]',
    'P=? [ X "goal" | place=1 ]',
    'R{"r"}=? [ F "goal" ]',
    'R{"r"}=? [ C<=3 ]',
    'R{"t"}=? [ C<=2 ]',
    'R{"r"}=? [ I=3 ]',
    'R{"r"}=? [ S ]',
    'S=? [ "goal" ]',
    "P=? [ G F place=0 ]",
    'P=? [ F P>=0.3711 [ X "goal" ] ]',
    'P=? [ F<=5 "deadlock" ]',
    'P=? [ F<=5 "init" & c=0 ]',
    'A [ F "goal" ]',
    'filter(max, P=? [ F<=2 "goal" ], !"deadlock")',
    'filter(avg, P=? [ F<=2 "goal" ], true)',
    'filter(min, P=? [ F "goal" ], "init")',
)
DECISIONS = (
    'Pmax=? [ F "goal" ]',
    'Pmin=? [ F "goal" ]',
    'Pmin=? [ F<=4 "goal" ]',
    'Pmax=? [ X "goal" | place=1 ]',
    'R{"r"}min=? [ F "goal" ]',
    'R{"r"}max=? [ C<=3 ]',
    'R{"t"}max=? [ C<=3 ]',
    'R{"r"}max=? [ S ]',
    "Pmax=? [ (G F place=0) & (F c=2) ]",
    "Smin=? [ place=1 ]",
    'Pmax=? [ F Pmin>=0.3711 [ X "goal" ] ]',
    'Pmax=? [ F "deadlock" ]',
    'E [ G !"goal" ]',
    'filter(min, Pmax=? [ F "goal" ], true)',
    'multi(Pmax=? [ F "goal" ], R{"r"}min=? [ C ])',
)


def needed(program: Program, prop: str) -> Slice:
    """What a property needs of a program."""
    context, (question,) = resolve(parse_properties(Source("property", prop)), program, {})
    return slice_of(Slices(program), context, question)


def agree(mine: Result, theirs: Result) -> None:
    """The same truth, or the same bounds, as close as each is to the truth."""
    if mine.lower is None or theirs.lower is None or mine.upper is None or theirs.upper is None:
        assert mine.value == theirs.value
        return
    for a, b in ((float(mine.lower), float(theirs.lower)), (float(mine.upper), float(theirs.upper))):
        assert a == b or (math.isfinite(b) and a == pytest.approx(b, rel=4 * EPS, abs=1e-300))


def compare(program: Program, prop: str, *, device: str = "cpu") -> None:
    mine, theirs = (_answer(program, prop, slice=slice, device=device) for slice in (True, False))
    if isinstance(mine, str) or isinstance(theirs, str):
        assert mine == theirs
    else:
        agree(mine, theirs)


def _answer(program: Program, prop: str, *, slice: bool, device: str) -> Result | str:
    try:
        return galton.check(program, prop, slice=slice, eps=EPS, device=device)
    except galton.GaltonError as error:
        return error.kind


@pytest.mark.parametrize("seed", range(18))
def test_random_programs(seed: int) -> None:
    drawn = sliced(seed)
    program = galton.parse(drawn.text)
    for prop in DECISIONS if drawn.type == "mdp" else CHAINS:
        compare(program, prop)


@pytest.mark.parametrize("seed", range(18))
def test_what_is_left_out(seed: int) -> None:
    """What nobody reads goes; what matters in a hidden way stays; steps of another process count but in time."""
    drawn = sliced(seed)
    program = galton.parse(drawn.text)
    best = "max" if drawn.type == "mdp" else ""
    gone = needed(program, f'R{{"r"}}{best}=? [ C<=2 ]' if drawn.hidden == "reward" else f'P{best}=? [ F<=2 "goal" ]')
    left = {"tally", "copy"} | ({"hidden"} if drawn.hidden == "nothing" else set())
    timed = drawn.has_other and drawn.type == "ctmc"
    assert gone.lowering.left_out - {"d", "e"} == left
    assert "tally" not in needed(program, f'R{{"t"}}{best}=? [ C<=2 ]').lowering.left_out
    steps = needed(program, f'P{best}=? [ X "goal" ]')
    assert not steps.lowering.left_out & {"d"}
    assert not steps.commands
    if not timed:
        assert "d" not in gone.lowering.left_out


def test_every_way_to_matter_is_drawn() -> None:
    assert {(sliced(seed).type, sliced(seed).hidden) for seed in range(18)} == {
        (type, hidden) for type in ("dtmc", "ctmc", "mdp") for hidden in HIDDEN
    }
