"""Curves over a bound where several devices share the states that are watched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from played import played_device

import galton
from galton.checking.curves import answer_curve
from galton.device.placement import Placement
from galton.lang import Source, parse_properties
from galton.lang.resolution import resolve
from galton.solve.settings import Settings

WALK = """
{type}
module walk
  x : [0..19];
  [] x<19 -> 0.5 : (x'=x+1) + 0.25 : (x'=max(x-1,0)) + 0.25 : (x'=x);
  [] x=3 -> (x'=4);
  [] x=19 -> true;
endmodule
init x=0 | x=15 endinit
rewards "place" true : x/8; endrewards
"""


@pytest.mark.parametrize(
    ("type", "prop"),
    [
        ("dtmc", "P=? [ F<=T x=19 ]"),
        ("dtmc", "R=? [ C<=T ]"),
        ("mdp", "Pmax=? [ F<=T x=19 ]"),
        ("mdp", "Rmin=? [ I=T ]"),
        ("ctmc", "P=? [ F<=T x=19 ]"),
        ("ctmc", "R=? [ C<=T ]"),
    ],
)
def test_points_of_several_devices_are_those_of_one(type: str, prop: str) -> None:
    """Both initial states are watched; one is in each of two parts, and three parts have one without any."""
    program = galton.parse(WALK.format(type=type))
    kind = "double" if type == "ctmc" else "int"
    file = parse_properties(Source("property", f"const {kind} T; {prop}"))
    found = []
    with played_device(3):
        for device in ("cuda", "cuda:0,1", "cuda:0,1,2"):
            context, (question,) = resolve(file, program, {"T": 1})
            answered = answer_curve(program.build(device=device), context, question, (1, 2, 5, 40, 300), Settings())
            assert answered is not None
            assert answered.shared.device == "cuda"
            assert all(answered.close)
            found.append(list(zip(answered.lower, answered.upper, strict=True)))
    assert found[1] == [pytest.approx(bounds, rel=1e-12) for bounds in found[0]]
    assert found[2] == [pytest.approx(bounds, rel=1e-12) for bounds in found[0]]


def test_a_method_for_the_cpu_is_not_ignored_where_devices_share_a_model_on_the_host() -> None:
    """Whoever asks each point alone sees to it that the CPU answers, and says so."""
    program = galton.parse(WALK.format(type="ctmc").replace("init x=0 | x=15 endinit", ""))
    file = parse_properties(Source("property", "const double T; P=? [ F<=T x=19 ]"))
    context, (question,) = resolve(file, program, {"T": 20})
    here = program.build(device="cpu")
    shared = replace(here, placement=Placement("cuda", "asked for", "cuda:0,1", (0, 1)))
    forward = Settings(method="adaptive-uniformisation")
    assert shared.on_device
    assert answer_curve(shared, context, question, (20, 40), forward) is None
    answered = answer_curve(here, context, question, (20, 40), forward)
    assert answered is not None
    assert all(answered.close)
