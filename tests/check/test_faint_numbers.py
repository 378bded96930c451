"""Step and time bounds whose answers are far below 1, or whose rewards are far apart: what is positive is not 0."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from asking import ask, assert_number

LEAVING = """
TYPE
module m
  s : [0..1];
  [] s=0 -> 0.75 : true + 0.25 : (s'=1);
  [] s=1 -> true;
endmodule
rewards s=0 : 1e300; endrewards
"""
KINDS = [("dtmc", ""), ("mdp", "min"), ("mdp", "max")]


def leaving(kind: str) -> str:
    return LEAVING.replace("TYPE", kind)


@pytest.mark.parametrize(("kind", "optimum"), KINDS)
def test_a_reward_after_many_steps_was_0(kind: str, optimum: str) -> None:
    """The power of 3/4 is below all doubles, its product with the reward is not."""
    found = ask(leaving(kind), f"R{optimum}=? [ I=3000 ]")
    assert_number(found, float(Fraction(3, 4) ** 3000 * 10**300))


def test_rewards_in_time_that_are_hardly_there() -> None:
    text = leaving("ctmc").replace("0.75 : true + 0.25", "8").replace("s=1 -> true", "s=1 -> 8 : (s'=0)")
    for amount in ("1e-310", "5e-324"):
        for objective, share in (("C<=1", Fraction(0.5 + (1 - math.exp(-16)) / 32)), ("I=30", Fraction(1, 2))):
            found = ask(text.replace("1e300", amount), f"R=? [ {objective} ]")
            assert found.lower is not None
            assert found.upper is not None
            assert Fraction(found.lower) <= Fraction(float(amount)) * share <= Fraction(found.upper)


@pytest.mark.parametrize(("kind", "optimum"), KINDS)
@pytest.mark.parametrize("path", ["F[10000,10100] s=0", "F=3000 s=0", "G<=10000 s=0"])
def test_a_probability_below_all_doubles_was_no_more_than_0(kind: str, optimum: str, path: str) -> None:
    found = ask(leaving(kind), f"P{optimum}=? [ {path} ]")
    assert found.lower == 0
    assert found.upper is not None
    assert 0 < found.upper < 1e-290
    assert ask(leaving(kind), f"(P{optimum}=? [ {path} ]) > 0").value is None
    assert ask(leaving(kind), f"P>0 [ {path} ]").value is True


@pytest.mark.parametrize(("kind", "optimum"), KINDS)
@pytest.mark.parametrize("objective", ["I=2", "C<=2"])
def test_rewards_that_no_scale_holds_together(kind: str, optimum: str, objective: str) -> None:
    """The small reward is what counts: the large one is out of reach."""
    text = leaving(kind).replace("s=0 : 1e300;", "s=0 : 1e-300; s=1 : 1e300;").replace("init 0", "")
    text = text.replace("0.75 : true + 0.25 : (s'=1)", "true")
    found = ask(text, f"R{optimum}=? [ {objective} ]")
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= (1e-300 if objective == "I=2" else 2e-300) <= found.upper


def test_sums_that_are_rounded_are_not_exact() -> None:
    """Half of 1 and half of 2^-60 is no double: bounds that are equal would say that it is."""
    text = leaving("dtmc").replace("0.75 : true + 0.25", "0.5 : true + 0.5")
    text = text.replace("s=0 : 1e300;", "s=0 : 1; s=1 : pow(2.0,-60);")
    found = ask(text, "R=? [ I=1 ]")
    assert found.lower is not None
    assert found.upper is not None
    assert Fraction(found.lower) <= Fraction(1, 2) + Fraction(1, 2**61) <= Fraction(found.upper)
