"""Answers with what matters and with everything: the same, on random programs and on the gallery."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from played import played_device
from sliced_programs import CHAINS, DECISIONS, HIDDEN, sliced

import galton
from galton.checking.result import Result
from galton.checking.slicing import slice_of
from galton.explore import build
from galton.explore.evaluate import evaluate_states
from galton.lang import Source, parse_properties
from galton.lang.expressions import Name
from galton.lang.resolution import resolve
from galton.lower.slicing import Slice, Slices
from galton.model.states import PackedStates
from galton.programs import Program

MODELS = Path(__file__).parents[2] / "models"
EPS = 1e-12


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


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_on_a_played_device(seed: int) -> None:
    drawn = sliced(seed)
    program = galton.parse(drawn.text)
    with played_device():
        for prop in (DECISIONS if drawn.type == "mdp" else CHAINS)[:2]:
            compare(program, prop, device="cuda")


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("P=? [ F x=2 ]", {"y", "z"}),
        ("P=? [ F x=2 & z ]", set()),
        ("filter(max, P=? [ F x=2 ], x=1)", {"y", "z"}),
        ("filter(print, P=? [ F x=2 ], x=1)", set()),
        ("filter(count, x=1)", set()),
        ('filter(max, P=? [ F x=2 ], "init")', {"y", "z"}),
        ('P=? [ F "init" & x=0 ]', set()),
        ('filter(forall, "init" => P>=1 [ F x=2 ])', set()),
        ('P=? [ F{"r"}<=2 x=2 ]', set()),
        ("P=? [ G F x=0 ]", {"y", "z"}),
        ('R{"r"}=? [ F x=2 ]', {"z"}),
        ("x=0", {"y", "z"}),
    ],
)
def test_which_variables_go(prop: str, expected: set[str]) -> None:
    text = "dtmc module m  x : [0..2];  y : [0..3];  z : bool;  "
    text += "[] x<2 -> 0.5 : (x'=x+1) & (y'=mod(y+1, 4)) + 0.5 : (z'=!z);  [] x=2 -> (x'=0) & (z'=y>1);  endmodule "
    text += 'rewards "r"  y=1 : 1; endrewards'
    program = galton.parse(text)
    assert needed(program, prop).lowering.left_out == expected
    compare(program, prop)


def test_one_initial_value_of_several_states() -> None:
    """What ``init … endinit`` fixes may go, and what it leaves open stays."""
    text = "dtmc module m  x : [0..2];  y : [0..3];  z : [0..3];  "
    text += "[] true -> 0.5 : (x'=mod(x+1, 3)) & (y'=3-y) + 0.5 : (z'=3-z);  endmodule  init x<2 & y=2 & z!=1 endinit"
    program = galton.parse(text)
    assert needed(program, "P=? [ F<=2 x=2 ]").lowering.left_out == {"y"}
    mine, theirs = (galton.check(program, "P=? [ F<=2 x=2 ]", slice=slice) for slice in (True, False))
    assert mine.value == theirs.value == (0.25, 0.75)
    assert mine.about == theirs.about == "6 initial states"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("[] x<2 -> (x'=x+1) & (y'=y+1);", set()),
        ("[] x<2 & y<=8 -> (x'=x+1) & (y'=y+1);  [] y>8 -> (y'=y-9);", set()),
        ("[] x<2 -> (x'=x+1) & (y'=min(y+1, 9));", {"y"}),
        ("[] x<2 -> (x'=x+1) & (y'=mod(3, y));", set()),
        ("[] x<2 -> (x'=x+1) & (y'=9);", {"y"}),
        ("[] x<2 -> (x'=x+1) & (y'=10);", set()),
    ],
)
def test_a_mistake_is_kept(command: str, expected: set[str]) -> None:
    program = galton.parse(f"dtmc module m  x : [0..2];  y : [0..9];  {command}  endmodule")
    assert needed(program, "P=? [ F x=2 ]").lowering.left_out == expected
    compare(program, "P=? [ F<=9 x=2 ]")


@pytest.mark.parametrize(
    ("guard", "change", "expected"),
    [
        ("t<9", "t+1", True),
        ("t<=8 & up", "t+1", True),
        ("t<=9", "t+1", False),
        ("!(t>=9)", "t+1", True),
        ("9>t", "t+1", True),
        ("t>0", "t-1", True),
        ("t>=0", "t-1", False),
        ("!(t<=1)", "t-2", True),
        ("t=4", "t+5", True),
        ("t!=9", "t+1", False),
    ],
)
def test_guards_that_keep_a_range(guard: str, change: str, expected: bool) -> None:
    text = "ctmc module a  up : bool init true;  [] up -> 0.1 : (up'=false);  endmodule  module b  t : [0..9] init 4;  "
    program = galton.parse(f"{text} [] {guard} -> (t'={change});  endmodule")
    assert (needed(program, "P=? [ F<=1 !up ]").lowering.left_out == {"t"}) == expected


def test_nothing_is_left() -> None:
    program = galton.parse("dtmc module m  x : [0..2];  [] true -> (x'=mod(x+1, 3));  endmodule")
    compare(program, "P=? [ F<=3 true ]")
    compare(program, "P=? [ X true ]")


def test_an_error_names_the_assignment_that_is_left() -> None:
    """Assignments before it were left out; what is left out is not looked at, and left-out values are not shown."""
    text = "dtmc module m  y : [0..1];  x : [0..2];  [] true -> (y'=1-y) & (x'=x+1);  endmodule"
    with pytest.raises(
        galton.GaltonError, match=r"gives x the value 3, outside its range .*in state \(x=2\)"
    ) as caught:
        galton.check(galton.parse(text), "P=? [ F x=0 & x=2 ]")
    assert "x'=x+1" in str(caught.value)


def test_what_was_left_out_cannot_be_asked_about() -> None:
    program = galton.parse("dtmc module m  x : [0..2];  y : bool;  [] true -> (x'=mod(x+1, 3)) & (y'=!y);  endmodule")
    model = build(program, slice=needed(program, "P=? [ F x=2 ]"))
    assert isinstance(model.states, PackedStates)
    assert (model.states.variables, model.states.left_out) == (("x",), ("y",))
    with pytest.raises(KeyError, match="no variable 'y'"):
        model.states.column("y")
    with pytest.raises(AssertionError, match="knows nothing"):
        evaluate_states(program, model, [Name("y")], program.source)


def test_values_die_where_they_are_overwritten() -> None:
    """What was drawn is read at the next place; places that pass it on keep it, and so do questions about it."""
    text = """dtmc module m  s : [0..3];  v : [0..3];  b : bool;
      [] s=0 -> 0.25 : (s'=1) & (v'=1) & (b'=true) + 0.25 : (s'=1) & (v'=2) + 0.5 : (s'=2) & (v'=3);
      [] s=1 & v=1 -> (s'=2);  [] s=1 & v!=1 -> 0.5 : (s'=2) + 0.5 : (s'=3);
      [] s=2 & b -> 0.5 : (s'=3) & (b'=false) + 0.5 : (s'=0);  [] s=2 & !b -> (s'=3);  endmodule"""
    program = galton.parse(text)
    found = needed(program, "P=? [ F s=3 ]")
    assert found.note == "without dead values of v, b"
    assert program.build().n_states == 16
    assert build(program, slice=found).n_states == 8, "s=0 and s=2 with b or without, three of s=1, one of s=3"
    assert build(program, slice=needed(program, "P=? [ F s=1 & v=2 ]")).n_states == 8
    assert build(program, slice=needed(program, "P=? [ F s=3 & v=2 ]")).n_states > 8, "it is dead at s=0 alone"
    for prop in ("P=? [ F<=3 s=3 ]", "P=? [ F s=3 & v=2 ]", "P=? [ F s=1 & v=2 ]", "P=? [ G F s=0 ]", "P=? [ X b ]"):
        compare(program, prop)


@pytest.mark.parametrize(
    "command",
    [
        "[] s=2 & v=1 -> (s'=0);",
        "[] s=2 -> 0.1*v : (s'=0) + 1-0.1*v : (s'=3);",
        "[] s=2 -> (s'=3) & (w'=v);  [] s=3 & w=1 -> (s'=0);",
        "[] s=2 -> (s'=1);",
        "[] s=2 -> (s'=1) & (v'=3-v);",
        "[] s=2 -> (s'=3);  [] v=2 -> (s'=0);",
        "[] s=2 -> (s'=mod(s+2, 3));",
    ],
)
def test_values_that_are_read_after_all(command: str) -> None:
    text = "dtmc module m  s : [0..3];  v : [0..3];  w : [0..3];  "
    text += "[] s=0 -> 0.25 : (s'=1) & (v'=1) + 0.25 : (s'=1) & (v'=2) + 0.5 : (s'=2) & (v'=mod(v+1, 4));"
    text += f"[] s=1 & v=1 -> (s'=2);  [] s=1 & v!=1 -> 0.5 : (s'=2) + 0.5 : (s'=3);  {command}  endmodule"
    program = galton.parse(text)
    for prop in ("P=? [ F s=3 ]", "P=? [ F<=6 s=3 ]", "P=? [ F<=7 s=0 & w!=1 ]", "P=? [ F<=5 s=2 & v=3 ]"):
        compare(program, prop)


def test_modules_that_move_together_decide_alone() -> None:
    """The place is assigned by one module, the value by another one."""
    text = """mdp module a  s : [0..2];  [go] s<2 -> (s'=s+1);  [go] s=2 -> (s'=0);  endmodule
      module b  v : [0..2];  t : [0..1];
      [go] v=0 -> 0.5 : (v'=1) + 0.5 : (v'=2) & (t'=1);  [go] v>0 -> (v'=0) & (t'=0);
      [] t=1 & v=2 & s=1 -> (v'=1);  endmodule"""
    program = galton.parse(text)
    for prop in ("Pmax=? [ F<=5 s=2 & v=1 ]", "Pmin=? [ F s=1 & v=1 ]", "Pmax=? [ X t=1 ]"):
        compare(program, prop)


def test_every_way_to_matter_is_drawn() -> None:
    assert {(sliced(seed).type, sliced(seed).hidden) for seed in range(18)} == {
        (type, hidden) for type in ("dtmc", "ctmc", "mdp") for hidden in HIDDEN
    }
