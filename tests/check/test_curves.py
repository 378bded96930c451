"""Curves over a bound in one pass: every point beside a question of its own, and beside what is known exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.linalg
from asking import COIN, GAMBLE, MACHINE

import galton
from galton.checking.asking import Inquiry
from galton.checking.curves import answer_curve
from galton.checking.result import Result
from galton.device.arrays import is_on_host
from galton.lang import Source, parse_properties
from galton.lang.expressions import Value
from galton.lang.program import Program
from galton.model.sparse import Model
from galton.solve.settings import Settings

# Ten rooms in a row, walked through at random; only 2 of the 16 places of a probability are needed.
ROOMS = """
dtmc
module rooms
  x : [0..9];
  [] x<9 -> 0.5 : (x'=x+1) + 0.25 : (x'=max(x-1,0)) + 0.25 : (x'=x);
  [] x=9 -> true;
endmodule
rewards "place" true : x/8; [] x<3 : 0.5; endrewards
"""
# Fast inside, slow between: a stiff chain. Both initial states are asked about.
STIFF = """
ctmc
module stiff
  x : [0..4];
  [] x<2 -> 100 : (x'=1-x);
  [] x=1 -> 0.01 : (x'=2);
  [] x=2 -> 50 : (x'=3) + 0.001 : (x'=4);
  [] x=3 -> 40 : (x'=2) + 0.002 : (x'=0);
  [] x=4 -> 1 : (x'=4);
endmodule
init x=0 | x=2 endinit
rewards "level" true : x; endrewards
"""
STEPS = [0, 1, 2, 3, 5, 8, 17, 40, 41, 200, 5000]
TIMES = [0.0, 1e-9, 0.01, 0.5, 1.0, 2.5, 30.0, 31.0, 400.0]
CASES = [
    *((COIN, prop, STEPS) for prop in ('P=? [ F<=T "heads" ]', 'P=? [ G<=T !"heads" ]', "P=? [ x<2 U<=T x=1 ]")),
    *((COIN, prop, STEPS) for prop in ('R{"tosses"}=? [ C<=T ]', 'R{"high"}=? [ I=T ]', "P=? [ G<=T x<7 ]")),
    *((ROOMS, prop, STEPS) for prop in ("P=? [ F<=T x=9 ]", "P=? [ F<=2*T+1 x=5 ]", "P=? [ G<=T x<4 ]")),
    *((ROOMS, prop, STEPS) for prop in ("R=? [ C<=T ]", "R=? [ I=T ]", "P=? [ F<=T x<9 ]", "P=? [ F<T+1 x=1 ]")),
    *(
        (GAMBLE, prop.format(optimum), STEPS)
        for prop in ('P{}=? [ F<=T "good" ]', 'P{}=? [ G<=T !"bad" ]', 'R{{"cost"}}{}=? [ C<=T ]', "R{}=? [ I=T ]")
        for optimum in ("min", "max")
    ),
    *((MACHINE, prop, TIMES) for prop in ('P=? [ F<=T !"up" ]', 'P=? [ G<=T "up" ]', 'P=? [ "up" U<=T state=1 ]')),
    *((MACHINE, f"R{{{what}}}=? [ C<=T ]", TIMES) for what in ('"power"', '"repairs"')),
    (MACHINE, 'R{"power"}=? [ I=T ]', TIMES),
    *((STIFF, prop, TIMES) for prop in ("P=? [ F<=T x=4 ]", "P=? [ F<=T x=0 ]", "R=? [ C<=T ]", "R=? [ I=T ]")),
]


def curve(
    model: Model, program: Program, prop: str, values: Sequence[Value], method: str | None = None
) -> list[Result | None]:
    """The points of a curve; None for those that have to be asked alone, and for what is no curve."""
    kind = "double" if program.type == "ctmc" else "int"
    files = [parse_properties(Source("property", f"const {kind} T; {prop}"))]
    inquiry = Inquiry(subject=program, files=files, selected=[(0, 0)], of_properties={"T": values}, symmetry=False)
    members = [asked for (asked,) in inquiry.row({}).asked]
    family, settings = members[0].family, Settings(method=method)
    bounds = sorted({member.bound for member in members if member.family is family and member.bound is not None})
    if len(bounds) < 2:
        return [None] * len(members)
    found = answer_curve(model, family.context, family.question, bounds, settings)
    return [None if found is None or m.bound is None else found.at(m.bound) for m in members]


def overlap(one: Result, other: Result) -> bool:
    ends = one.lower, one.upper, other.lower, other.upper
    assert all(end is not None for end in ends)
    return max(one.lower or 0, other.lower or 0) <= min(one.upper or 0, other.upper or 0)


@pytest.mark.parametrize(("text", "prop", "values"), CASES, ids=[prop for _, prop, _ in CASES])
def test_every_point_is_what_it_is_alone(text: str, prop: str, values: Sequence[Value]) -> None:
    program = galton.parse(text)
    model = program.build()
    kind = "double" if program.type == "ctmc" else "int"
    answered = curve(model, program, prop, values[::-1])[::-1]  # in no special order
    for value, found in zip(values, answered, strict=True):
        alone = galton.check(model, f"const {kind} T; {prop}", T=value)
        assert found is not None
        assert found.device == ("cpu" if is_on_host(model.columns) else "cuda")
        assert overlap(found, alone)
        assert (found.about, found.formula) == (alone.about, prop)
        assert found.lower is not None
        assert found.upper is not None
        if alone.lower == alone.upper:
            assert (found.lower, found.upper, found.value) == (alone.lower, alone.upper, alone.value)
        elif len(model.initial) == 1:
            assert found.upper - found.lower <= 2e-6 * found.upper + 1e-290


def test_the_answers_are_those_of_fractions() -> None:
    program = galton.parse(COIN)
    steps = [1, 2, 30, 60, 100]
    found = curve(program.build(), program, 'P=? [ G<=T !"heads" ]', steps)
    for count, result in zip(steps, found, strict=True):
        assert result is not None
        assert result.lower is not None
        assert result.upper is not None
        assert result.lower <= 2.0**-count <= result.upper
        assert result.upper - result.lower <= 2e-6 * 2.0**-count
        if count <= 30:
            assert result.lower == result.upper  # nothing is rounded on the way


def test_the_answers_are_those_of_the_exponential() -> None:
    program = galton.parse(STIFF.replace("init x=0 | x=2 endinit", ""))
    model = program.build()
    rates = model.to_scipy().toarray()
    generator = rates - np.diag(rates.sum(axis=1))
    at = curve(model, program, "R=? [ I=T ]", TIMES)
    for time, result in zip(TIMES, at, strict=True):
        exact = float((scipy.linalg.expm(generator * time) @ np.arange(5.0))[0])
        assert result is not None
        assert result.lower is not None
        assert result.upper is not None
        slack = 1e-11 * exact + 1e-15
        assert result.lower - slack <= exact <= result.upper + slack


def test_steps_are_made_once() -> None:
    program = galton.parse(STIFF)
    model = program.build()
    many, one = (curve(model, program, "R=? [ C<=T ]", values) for values in (np.linspace(0, 3, 301), [0.0, 3.0]))
    assert many[-1] is not None
    assert one[-1] is not None
    assert many[-1].iterations == one[-1].iterations
    assert many[-1].lower == one[-1].lower


@pytest.mark.parametrize(
    "prop",
    [
        "P=? [ F[T,9] x=1 ]",  # a lower bound
        "P=? [ F[1,T] x=1 ]",
        "P=? [ F<=3 x=mod(T,4) ]",  # more than the bound
        "P=? [ F<=T x=mod(T,4) ]",
        'P=? [ F<=T P>=0.5 [ F<=T "heads" ] ]',
        "P=? [ F<=T x=1 ] + 1",
        'P>=0.5 [ F<=T "heads" ]',
        'P=? [ x<2 W<=T "heads" ]',
        "filter(max, P=? [ F<=T x=1 ])",
        'R{"tosses"}=? [ F x>T ]',
    ],
)
def test_what_is_no_curve_is_asked_point_by_point(prop: str) -> None:
    program = galton.parse(COIN)
    assert curve(program.build(), program, prop, [1, 2, 3]) == [None] * 3


def test_a_label_that_depends_on_the_constant_is_no_curve() -> None:
    program = galton.parse(COIN)
    assert curve(program.build(), program, 'label "late" = x>=T; P=? [ F<=T "late" ]', [1, 2]) == [None, None]


def test_a_nested_operator_that_does_not_depend_on_it_is_fine() -> None:
    program = galton.parse(COIN)
    found = curve(program.build(), program, 'P=? [ F<=T P>=0.5 [ X "heads" ] & x=1 ]', [0, 1, 2])
    assert [None if r is None else r.value for r in found] == [0.0, 0.5, 0.5]


def test_small_probabilities_keep_their_digits() -> None:
    program = galton.parse(MACHINE)
    times = [1e-200, 1e-100, 1e-9, 1.0]
    for time, result in zip(times, curve(program.build(), program, "P=? [ F<=T state=1 ]", times), strict=True):
        assert result is not None
        assert float(result) == pytest.approx(-math.expm1(-time), rel=1e-6)


@pytest.mark.parametrize(
    "prop", ["P=? [ F<=T x=4 ]", "P=? [ x<4 U<=T x=2 ]", "P=? [ G<=T x!=3 ]", "R=? [ C<=T ]", "R=? [ I=T ]"]
)
def test_forward_in_time_finds_the_same(prop: str) -> None:
    program = galton.parse(STIFF.replace("init x=0 | x=2 endinit", ""))
    model = program.build(device="cpu")
    times = [0.0, 0.001, 0.01, 0.3, 0.31, 2.0, 2.5, 30.0, 31.0, 400.0, 2000.0]
    forward = curve(model, program, prop, times, "adaptive-uniformisation")
    backward = curve(model, program, prop, times, "uniformisation")
    answered = 0
    for one, other in zip(forward, backward, strict=True):
        assert other is not None
        if one is not None:  # small probabilities are not for this method, nor are they alone
            answered += 1
            assert one.method == "adaptive-uniformisation"
            assert overlap(one, other)
    assert answered >= 7


def test_forward_in_time_with_many_points_in_an_interval() -> None:
    """A death process: at each time the number of survivors is known."""
    text = "ctmc module deaths n : [0..60] init 60; [] n>0 -> n/10 : (n'=n-1); endmodule rewards true : n; endrewards"
    program = galton.parse(text)
    model = program.build(device="cpu")
    times = [0.05 * k for k in range(1, 400)]
    for time, at, over in zip(
        times,
        curve(model, program, "R=? [ I=T ]", times, "adaptive-uniformisation"),
        curve(model, program, "R=? [ C<=T ]", times, "adaptive-uniformisation"),
        strict=True,
    ):
        for result, exact in ((at, 60 * math.exp(-time / 10)), (over, -600 * math.expm1(-time / 10))):
            assert result is not None
            assert result.lower is not None
            assert result.upper is not None
            assert result.lower <= exact * (1 + 1e-14)
            assert exact * (1 - 1e-14) <= result.upper
            assert result.upper - result.lower <= 2e-6 * exact


def test_points_that_make_no_sense_are_errors_of_their_own() -> None:
    with pytest.warns(UserWarning, match="1 of 4 answers are errors; the first is .*a bound cannot be negative"):
        found = galton.experiment(galton.parse(COIN), 'const int T; P=? [ F<=T "heads" ]', T=range(-1, 3))
    assert [type(row.result).__name__ for row in found] == ["LanguageError", "Result", "Result", "Result"]


def test_a_constant_beside_the_bound_gives_a_curve_for_each_of_its_values() -> None:
    program = galton.parse(ROOMS)
    prop = "const int T; const int k; P=? [ F<=T x=k ]"
    found = galton.experiment(program, prop, k=[1, 2], T=range(6))
    for row in found:
        alone = galton.check(program, prop, k=row["k"], T=row["T"])
        assert (row.result.lower, row.result.upper) == (alone.lower, alone.upper)
    assert all("points in one pass" in row.result.steps[0].work[-1].detail for row in found)
