"""Answers and their certificates: written, verified, and refused where the answer is wrong."""

from __future__ import annotations

import ast
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from certificate_models import random_case

import galton
from galton.certify import certified
from galton.certify.api import UncertifiedError
from galton.certify.long import LongProblem
from galton.certify.ranks import Graph
from galton.lang import Source, parse_properties
from galton.lang.program import Program
from galton.lang.resolution import Question, resolve
from galton.verifier import RefusedError, UncertifiableError
from galton.verifier.numbers import outward
from galton.verifier.question import read_question

CHAIN = """
dtmc
module m
  s : [0..4];
  [] s=0 -> 0.1:(s'=1) + 0.2:(s'=2) + 0.7:(s'=0);
  [] s=1 -> 0.3:(s'=0) + 0.7:(s'=3);
  [] s=2 -> 1/3:(s'=0) + 2/3:(s'=4);
endmodule
label "end" = s=3;
rewards "r" s=0 : 1.5; s=1 : 0.1; endrewards
"""
RING = """
ctmc
module m
  s : [0..3];
  [] s<3 -> s+1 : (s'=s+1);
  [] s=3 -> 0.3 : (s'=0);
  [] s>0 -> 0.1 : (s'=s-1);
endmodule
rewards "r" s=3 : 2; [] s=0 : 0.7; endrewards
"""
# Two loops that can be left or not, one that pays and one that does not.
CHOICES = """
mdp
module m
  s : [0..5];
  [a] s=0 -> (s'=1);
  [b] s=0 -> 0.5:(s'=2) + 0.5:(s'=5);
  [c] s=0 -> true;
  [a] s=1 -> (s'=0);
  [b] s=1 -> 0.1:(s'=3) + 0.9:(s'=1);
  [a] s=2 -> (s'=2);
  [b] s=2 -> 0.25:(s'=4) + 0.75:(s'=0);
  [a] s=3 -> true;
endmodule
rewards "r" s=2 : 1; [b] s=0 : 0.5; endrewards
rewards "free" false : 1; endrewards
"""
ASKED = {
    CHAIN: [
        "P=? [ F s=3 ]",
        'P=? [ !"end" U s=4 ]',
        "P=? [ G s<3 ]",
        "P=? [ s<2 W s=3 ]",
        "P=? [ s=4 R s<3 ]",
        "P>=0.3 [ F s=3 ]",
        "P<0.3 [ F s=3 ]",
        "P>=1 [ F s>2 ]",
        "P>0 [ F s=3 ]",
        'R{"r"}=? [ F s>2 ]',
        'R{"r"}=? [ F s=3 ]',
        'R{"r"}=? [ s!=2 U s>2 ]',
        'R{"r"}=? [ C ]',
        "T=? [ F s>2 ]",
        "S=? [ s=3 ]",
        'R{"r"}=? [ S ]',
        "P=? [ X s=1 ]",
        "P=? [ F<=7 s=3 ]",
        "P=? [ s<2 U[3,6] s=3 ]",
        "P=? [ G<=5 s<3 ]",
        'R{"r"}=? [ C<=9 ]',
        'R{"r"}=? [ I=4 ]',
    ],
    RING: [
        "P=? [ s<3 U s=3 ]",
        "S=? [ s=3 ]",
        'R{"r"}=? [ S ]',
        'R{"r"}=? [ F s=3 ]',
        "T=? [ F s=3 ]",
        'R{"r"}=? [ C ]',
        "P=? [ X s=0 ]",
    ],
    CHOICES: [
        *(
            f"P{o}=? [ {path} ]"
            for o in ("min", "max")
            for path in ("F s=4", "F s=3", "G s<4", "s<2 U s=3", "F<=6 s=4", "G<=4 s<4")
        ),
        *(f'R{{"r"}}{o}=? [ {path} ]' for o in ("min", "max") for path in ("F s>2", "F s=3", "C", "C<=5", "I=3")),
        *(f'R{{"free"}}{o}=? [ {path} ]' for o in ("min", "max") for path in ("F s>2", "C")),
        "Tmin=? [ F s>2 ]",
        "Tmax=? [ F s>2 ]",
        "P>=0.1 [ F s=4 ]",
        "P<=0.9 [ F s=4 ]",
    ],
}


@pytest.mark.parametrize(("text", "prop"), [(text, prop) for text, props in ASKED.items() for prop in props])
def test_every_kind_of_question_is_certified_and_verified(text: str, prop: str, tmp_path: Path) -> None:
    program = galton.parse(text)
    result = galton.check(program, prop, certificate=True)
    assert result.certificate is not None
    file = tmp_path / "certificate.json"
    result.certificate.write(file)
    found = galton.verify(program, prop, file)
    if isinstance(result.value, bool):
        assert found.holds is result.value
    else:
        assert (found.lower, found.upper, found.holds) == (result.lower, result.upper, None)


def metastable(states: int) -> Program:
    """A walk that is drawn to its left end, which it hardly ever leaves, from its middle on to the right."""
    return galton.parse(
        f"""
        dtmc
        const int n = {states};
        const int half = {states // 2};
        module walk
          s : [-1..n] init half;
          [] s>0 & s<half -> 1/8 : (s'=s+1) + 7/8 : (s'=s-1);
          [] s>=half & s<n -> 7/8 : (s'=s+1) + 1/8 : (s'=s-1);
          [] s=0 -> 1e-9 : (s'=-1) + 1-1e-9 : (s'=1);
          [] s=-1 | s=n -> true;
        endmodule
        rewards s>=0 & s<n : 1; endrewards
        """
    )


def answered(
    program: Program, prop: str, lower: float, upper: float
) -> tuple[galton.Result, Program, galton.Model, Question]:
    """An answer as a solver might have given it, right or wrong, without bounds in the other states."""
    model = program.build()
    context, (question,) = resolve(parse_properties(Source("property", prop)), program, {})
    return galton.Result(formula=prop, value=lower, lower=lower, upper=upper), context, model, question


@pytest.mark.parametrize(
    ("prop", "value"),
    [
        ("P=? [ F s=n ]", 0.875),
        ("P=? [ F s=-1 ]", 0.125),
        ("P=? [ G s<n ]", 0.125),
        ("R=? [ F s=-1|s=n ]", 291666799.4444445),
    ],
)
def test_a_component_that_is_hard_to_leave_is_certified_in_long_arithmetic(prop: str, value: float) -> None:
    program = metastable(200)
    certificate = certified(*answered(program, prop, value * (1 - 1e-9), value * (1 + 1e-9)))
    assert galton.verify(program, prop, certificate).lower == value * (1 - 1e-9)


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 0.0), (0.0, 0.8), (0.9, 1.0), (0.8750001, 0.876)])
def test_a_wrong_answer_for_a_component_that_is_hard_to_leave_is_not_certified(lower: float, upper: float) -> None:
    with pytest.raises(UncertifiedError, match="does not confirm"):
        certified(*answered(metastable(200), "P=? [ F s=n ]", lower, upper))


@pytest.mark.parametrize(
    ("lower", "upper"), [(-math.inf, -math.inf), (1.0, -math.inf), (math.nan, 1.0), (2.0, 1.0), (-1.0, 1e9)]
)
def test_bounds_that_can_be_none_are_not_certified(lower: float, upper: float) -> None:
    with pytest.raises(UncertifiedError, match="its bounds are"):
        certified(*answered(metastable(20), "R=? [ F s=-1|s=n ]", lower, upper))


@pytest.mark.parametrize("seed", [11000000989, 11000012294, 11000005378])
def test_rewards_of_many_digits_before_the_point_are_certified(seed: int) -> None:
    """The numbers are large, and so is what rounding does to them."""
    case = random_case(seed)
    galton.verify(case.model, case.prop, galton.check(case.model, case.prop, certificate=True).certificate)


def test_a_reward_of_nothing_beside_large_ones_is_certified() -> None:
    case = random_case(11000004803)
    galton.verify(case.model, case.prop, galton.check(case.model, case.prop, certificate=True).certificate)


def test_infinite_claims_of_finite_rewards_are_not_certified() -> None:
    with pytest.raises(UncertifiedError):
        certified(*answered(metastable(20), "R=? [ F s=-1|s=n ]", math.inf, math.inf))


def test_a_hard_mdp_is_certified_in_long_arithmetic() -> None:
    """The best of all strategies too: solved for itself, from nothing but the model."""
    program = galton.parse(
        """
        mdp
        module walk
          s : [-1..60] init 30;
          [] s>0 & s<60 -> 1/8 : (s'=s+1) + 7/8 : (s'=s-1);
          [] s>=30 & s<60 -> 7/8 : (s'=s+1) + 1/8 : (s'=s-1);
          [] s=0 -> 1e-9 : (s'=-1) + 1-1e-9 : (s'=1);
          [] s=-1 | s=60 -> true;
        endmodule
        rewards s>=0 & s<60 : 1; endrewards
        """
    )
    for prop in ("Pmax=? [ F s=60 ]", "Pmin=? [ F s=60 ]", "Pmax=? [ F s=-1 ]", "Rmin=? [ F s=-1|s=60 ]"):
        _, context, model, asked = answered(program, prop, 0.0, 1.0)
        question = read_question(asked.prop.expression, context, model, asked.source)
        problem = LongProblem(question, Graph(question.rows, model.n_states))
        start = int(model.initial[0])
        middle = outward(problem.bounds("lower", 160)[start], up=False)
        certificate = certified(*answered(program, prop, middle * (1 - 1e-9), middle * (1 + 1e-9)))
        galton.verify(program, prop, certificate)


def test_a_certificate_is_refused_for_another_property_constant_or_model() -> None:
    text = "dtmc const int n; const double p = 0.5; module m s : [0..n]; [] s<n -> p:(s'=s+1) + 1-p:(s'=0); endmodule"
    program = galton.parse(text, n=3)
    certificate = galton.check(program, "P=? [ F<=5 s=n ]", certificate=True).certificate
    galton.verify(program, "P=? [ F<=5 s=n ]", certificate)
    with pytest.raises(RefusedError, match="about P="):
        galton.verify(program, "P=? [ F<=6 s=n ]", certificate)
    with pytest.raises(RefusedError, match="the certificate is about a dtmc of 4 states"):
        galton.verify(galton.parse(text, n=4), "P=? [ F<=5 s=n ]", certificate)
    with pytest.raises(RefusedError, match="n=3"):
        galton.verify(
            galton.parse(text.replace("[0..n]", "[0..3]").replace("s<n", "s<3"), n=2), "P=? [ F<=5 s=n ]", certificate
        )
    with pytest.raises(RefusedError, match=r"p=0\.5"):
        galton.verify(galton.parse(text.replace("p = 0.5", "p = 0.75"), n=3), "P=? [ F<=5 s=n ]", certificate)


@pytest.mark.parametrize(
    ("text", "prop", "message"),
    [
        (RING, "P=? [ F<=2.5 s=3 ]", "bounds on time"),
        (RING, 'R{"r"}=? [ C<=1 ]', "bounds on time"),
        (CHAIN, "P=? [ F P>=0.5 [ X s=3 ] ]", "operators inside others"),
        (CHAIN, "1 - P=? [ F s=3 ]", "about one operator"),
        (CHAIN, "filter(max, P=? [ F s=3 ])", "about one operator"),
        (CHAIN, "P=? [ F>=3 s=3 ]", "without an upper one"),
        (CHAIN, "P=? [ F<=1000000000 s=3 ]", "too many to repeat"),
    ],
)
def test_what_is_not_certified_is_refused_by_a_sentence(text: str, prop: str, message: str) -> None:
    with pytest.raises(UncertifiableError, match=message):
        galton.check(galton.parse(text), prop, certificate=True)


def test_an_answer_without_bounds_is_not_certified() -> None:
    with pytest.raises(UncertifiableError, match="leave method away"):
        galton.check(galton.parse(CHAIN), "P=? [ F s=3 ]", method="jacobi", certificate=True)


def test_several_initial_states() -> None:
    model = galton.Model.from_matrix("dtmc", [[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]], initial=[0, 2], labels={"a": [1]})
    result = galton.check(model, 'P=? [ F "a" ]', certificate=True)
    found = galton.verify(model, 'P=? [ F "a" ]', result.certificate)
    assert (found.lower, found.upper) == (result.lower, result.upper) == (0.0, 1.0)
    for prop, holds in (('P>=0.5 [ F "a" ]', False), ('P<=1 [ F "a" ]', True)):
        certificate = galton.check(model, prop, certificate=True).certificate
        assert galton.verify(model, prop, certificate).holds is holds


def test_many_states_are_written_as_arrays(tmp_path: Path) -> None:
    size = 6000
    walk = f"[] s>0 & s<{size} -> 0.3:(s'=s+1) + 0.6:(s'=s-1) + 0.1:(s'=0); [] s=0 -> true;"
    program = galton.parse(f"dtmc module m s : [0..{size}] init {size - 5}; {walk} endmodule")
    certificate = galton.check(program, "P=? [ F s=0 ]", certificate=True).certificate
    file = tmp_path / "large"
    certificate.write(file)
    assert file.read_bytes()[:2] == b"PK"
    assert galton.verify(program, "P=? [ F s=0 ]", file).lower > 0.99


def test_the_verifier_imports_no_solver() -> None:
    forbidden = ("solve", "graph", "backend", "certify", "checking", "synth")
    code = "import sys, galton.verifier.api, galton.cli.verify; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "galton.verifier.conditions" in loaded
    # The explorers are the backends'. What else these have is not loaded.
    explorers = ("galton.backend", "galton.backend.cpu", "galton.backend.limits", "galton.backend.failures")
    explorers += ("galton.backend.cpu.explorer",)
    named = [name for name in loaded if name.startswith("galton.") and name not in explorers]
    assert not [name for name in named if name.split(".")[1] in forbidden]
    for file in Path(galton.verifier.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 2:
                home = (node.module or "").split(".")
                assert home[0] not in forbidden, f"{file.name} imports {node.module}"


def test_bounds_in_all_states_are_only_kept_for_a_certificate() -> None:
    assert galton.check(galton.parse(CHAIN), "P=? [ F s=3 ]").quantity is None


def test_labels_and_names_in_formulas() -> None:
    text = (
        "dtmc module m s : [0..2]; b : bool; [] s=0 -> 0.5:(s'=1)&(b'=true) + 0.5:(s'=2); endmodule label \"x\" = s=1;"
    )
    program = galton.parse(text)
    for prop in (
        "P=? [ F b ]",
        'P=? [ F ("x" => s=2) & s>0 ]',
        'P=? [ F "deadlock" & !"init" ]',
        "const int k = 1; P=? [ F s=k ]",
    ):
        certificate = galton.check(program, prop, certificate=True).certificate
        assert galton.verify(program, prop, certificate).lower <= 0.5 or "deadlock" in prop
    assert np.isfinite(galton.verify(program, prop, certificate).upper)
