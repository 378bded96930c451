"""Rewards below zero: means at a moment, until then and in the long run, beside numbers that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg
from asking import ask, assert_number

from galton.lang import GaltonError

CHAIN = """
ctmc
module m x : [0..2]; [] x<2 -> 2 : (x'=x+1); [back] x>0 -> 1 : (x'=0); endmodule
rewards "r" x=0 : -3; x=2 : 5; [back] true : -0.5; endrewards
rewards "even" x=1 : 1; x=2 : -2; endrewards
"""
WALK = """
dtmc
module w x : [0..2]; [] true -> 0.5 : (x'=mod(x+1,3)) + 0.5 : (x'=x); endmodule
rewards "r" x=0 : -4; x=1 : 1; x=2 : 2; endrewards
"""
CHOICES = """
mdp
module c x : [0..1]; [a] x=0 -> (x'=1); [b] x=0 -> true; [] x=1 -> true; endmodule
rewards x=1 : -1; endrewards
"""
GENERATOR = np.array([[-2.0, 2, 0], [1, -3, 2], [1, 0, -1]])
STATE = np.array([-3.0, 0, 5])
EARNED = STATE + np.array([0, -0.5, -0.5])


def test_at_a_time() -> None:
    for time in (0.0, 0.1, 1.0, 20.0):
        exact = float((scipy.linalg.expm(GENERATOR * time) @ STATE)[0])
        assert_number(ask(CHAIN, f'R{{"r"}}=? [ I={time} ]'), exact)


def test_until_a_time() -> None:
    whole = np.block([[GENERATOR, EARNED[:, None]], [np.zeros((1, 4))]])
    for time in (0.1, 3.0):
        exact = float(scipy.linalg.expm(whole * time)[0, 3])
        found = ask(CHAIN, f'R{{"r"}}=? [ C<={time} ]')
        assert found.lower is not None
        assert found.upper is not None
        assert found.lower - 1e-12 <= exact <= found.upper + 1e-12
        assert found.upper - found.lower <= 2e-6 * abs(exact)


def test_in_the_long_run() -> None:
    stationary = scipy.linalg.null_space(GENERATOR.T)[:, 0]
    stationary = stationary / stationary.sum()
    found = ask(CHAIN, 'R{"r"}=? [ S ]')
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower - 1e-12 <= float(stationary @ EARNED) <= found.upper + 1e-12


def test_steps() -> None:
    assert_number(ask(WALK, "R=? [ I=0 ]"), -4.0)
    found = ask(WALK, "R=? [ I=1 ]")
    assert found.value == -1.5
    assert ask(WALK, "R=? [ C<=2 ]").value == -5.5
    assert math.isclose(float(ask(WALK, "R=? [ S ]")), -1 / 3, rel_tol=1e-6)


def test_what_adds_up_to_nothing_has_bounds_around_zero() -> None:
    text = WALK.replace("x=0 : -4; x=1 : 1; x=2 : 2;", "x=0 : -2; x=1 : 1; x=2 : 1;")
    found = ask(text, "R=? [ S ]")
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= 0 <= found.upper
    assert found.upper - found.lower < 1e-9


def test_thresholds_below_zero() -> None:
    assert ask(WALK, "R<=-1 [ I=1 ]").value is True
    assert ask(WALK, "R>=-1 [ I=1 ]").value is False


@pytest.mark.parametrize("prop", ["R=? [ C ]", "R=? [ F x=2 ]"])
def test_unbounded_sums_are_refused(prop: str) -> None:
    with pytest.raises(GaltonError, match="gains and losses need not add up to anything"):
        ask(CHAIN, prop)


@pytest.mark.parametrize("prop", ["Rmax=? [ C<=3 ]", "Rmin=? [ I=2 ]"])
def test_an_mdp_is_refused(prop: str) -> None:
    with pytest.raises(GaltonError, match="for an MDP they are not supported"):
        ask(CHOICES, prop)
