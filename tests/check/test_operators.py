"""Every operator on models whose answers are known."""

from __future__ import annotations

import math

import pytest
from asking import COIN, GAMBLE, MACHINE, SPLIT, ask, assert_number

DTMC = [
    ("P=? [ heads ]", 0),
    ("P=? [ X heads ]", 1 / 2),
    ("P=? [ !(X heads) ]", 1 / 2),
    ("P=? [ F heads ]", 1),
    ("P=? [ F heads & x=2 ]", 2 / 15),  # (1/8) / (1 - 1/16)
    ("P=? [ F<=0 heads ]", 0),
    ("P=? [ F<=3 heads ]", 7 / 8),
    ("P=? [ F<3 heads ]", 3 / 4),
    ("P=? [ F[2,3] heads & x=1 ]", 1 / 4),
    ("P=? [ F=2 heads ]", 3 / 4),
    ("P=? [ F>=1 heads ]", 1),
    ("P=? [ F>3 x=3 & !heads ]", 1 / 128),  # round again: seven times tails
    ("P=? [ x<2 U heads ]", 3 / 4),
    ("P=? [ x<2 U<=1 heads ]", 1 / 2),
    ("P=? [ G !heads ]", 0),
    ("P=? [ G<=2 !heads ]", 1 / 4),
    ("P=? [ G x<3 ]", 7 / 8),
    ("P=? [ !heads W x=1 ]", 1 / 2),
    ("P=? [ heads R x<2 ]", 3 / 4),
    ("P=? [ heads R<=1 x<1 ]", 1 / 2),
    ("P=? [ (F x=1) | (F x=2) ]", 1 / 2),
    ("P=? [ (G x<3) & (G x<2) ]", 3 / 4),
    ("P=? [ !(F x=1) ]", 1 / 2),
    ("P=? [ !(x<2 U heads) ]", 1 / 4),
    ('R{"tosses"}=? [ F heads ]', 2),
    ('R{"tosses"}=? [ true U heads ]', 2),
    ('R{"tosses"}=? [ x<1 U heads ]', math.inf),
    ('R{"tosses"}=? [ F x=1 ]', math.inf),
    ('R{"tosses"}=? [ X true ]', 1),
    ('R{"tosses"}=? [ X heads ]', math.inf),
    ('R{"tosses"}=? [ heads ]', math.inf),
    ('R{"tosses"}=? [ !heads ]', 0),
    ('R{"tosses"}=? [ C ]', 2),
    ('R{"tosses"}=? [ C<=2 ]', 3 / 2),
    ('R{"tosses"}=? [ C<2 ]', 1),
    ('R{"tosses"}=? [ I=5 ]', 0),
    ('R{"high"}=? [ I=3 ]', 1 / 4),
    ("R{2}=? [ I=3 ]", 1 / 4),
    ("R=? [ C<=1 ]", 1),
    ('R{"high"}=? [ S ]', 2 / 15),
    ("S=? [ x=0 ]", 8 / 15),
    ("T=? [ F heads ]", 2),
]


@pytest.mark.parametrize(("prop", "expected"), DTMC)
def test_dtmc(prop: str, expected: float) -> None:
    assert_number(ask(COIN, prop), expected)


MDP = [
    ('Pmax=? [ F "good" ]', 1),
    ('Pmin=? [ F "good" ]', 1 / 2),
    ('Pmax=? [ F "bad" ]', 1 / 2),
    ('Pmin=? [ F "bad" ]', 0),
    ("Pmax=? [ X s=1 ]", 1),
    ("Pmin=? [ X s=1 ]", 0),
    ('Pmax=? [ F<=1 "good" ]', 0.6),
    ('Pmin=? [ F<=2 "good" ]', 0),
    ('Pmax=? [ F<=3 "good" ]', 0.6),
    ('Pmax=? [ G !"bad" ]', 1),
    ('Pmin=? [ G !"bad" ]', 1 / 2),
    ('Pmin=? [ G<=1 !"bad" ]', 0.6),
    ("Pmax=? [ s<1 U s=3 ]", 0.6),
    ('R{"cost"}min=? [ F "good" | "bad" ]', 2),
    ('R{"cost"}max=? [ F "good" | "bad" ]', 21),  # b in s=1 costs 2, ten times on average
    ('R{"cost"}min=? [ F "good" ]', 21),
    ('R{"cost"}min=? [ C<=2 ]', 2),
    ('R{"cost"}max=? [ C<=2 ]', 3),
    ('R{"cost"}max=? [ X true ]', 2),
    ('R{"cost"}min=? [ X s=1 ]', 1),
    ('R{"cost"}max=? [ I=2 ]', 2.5),
    ("Tmin=? [ F s>2 ]", 1),
    ("Tmax=? [ F s>2 ]", 11),
]


@pytest.mark.parametrize(("prop", "expected"), MDP)
def test_mdp(prop: str, expected: float) -> None:
    assert_number(ask(GAMBLE, prop), expected)


E1, E5 = math.exp(-1), math.exp(-5)
CTMC = [
    ("P=? [ X state=1 ]", 1),
    ("P=? [ F state=2 ]", 1),
    ("P=? [ state<2 U<=0 state=2 ]", 0),
    ("P=? [ state=0 U<=1 state=1 ]", 1 - E1),
    ("P=? [ state=0 U[1,2] state=1 ]", E1 - math.exp(-2)),
    ("P=? [ state=0 U>=1 state=1 ]", E1),
    ("P=? [ G<1 state=0 ]", E1),
    ('R{"time"}=? [ F state=1 ]', 1),
    ('R{"time"}=? [ F state=2 ]', 5),  # up four times, a fourth each time down
    ("T=? [ F state=2 ]", 5),
    ('R{"repairs"}=? [ F state=2 ]', 3),
    ('R{"repairs"}=? [ C ]', 3),
    ('R{"time"}=? [ C<=2.5 ]', 2.5),
    ('R{"power"}=? [ C ]', 34),
    ('R{"power"}=? [ I=0 ]', 8),
    ('R{"power"}=? [ S ]', 0),
    ('R{"power"}=? [ X true ]', 8),
    ("S=? [ state=2 ]", 1),
]


@pytest.mark.parametrize(("prop", "expected"), CTMC)
def test_ctmc(prop: str, expected: float) -> None:
    assert_number(ask(MACHINE, prop), expected)


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("A [ F heads ]", False),
        ("E [ F heads ]", True),
        ("E [ G !heads ]", True),
        ("A [ G x<4 ]", True),
        ("A [ X x<2 ]", True),
        ("E [ X heads & x=1 ]", False),
        ("A [ x=0 W (heads | x=1) ]", True),
        ("E [ x=0 U x=2 ]", False),
        ("A [ !heads ]", True),
        ("A [ G E [ F x=0 ] ]", False),
    ],
)
def test_paths_whatever_their_probability(prop: str, expected: bool) -> None:
    assert ask(COIN, prop).value is expected


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("P>=0.4 [ X heads ]", True),
        ("P<0.4 [ X heads ]", False),
        ("P>=1 [ F heads ]", True),
        ("P>0 [ G !heads ]", False),
        ('R{"tosses"}<=2.1 [ F heads ]', True),
        ('R{"tosses"}>1000 [ F x=1 ]', True),
        ("S>0.5 [ x=0 ]", True),
        ("T<1.9 [ F heads ]", False),
    ],
)
def test_thresholds(prop: str, expected: bool) -> None:
    found = ask(COIN, prop)
    assert found.value is expected
    assert bool(found) is expected


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ('P>=0.4 [ F "good" ]', True),  # the least is 0.5
        ('P>=0.6 [ F "good" ]', False),
        ('P<=0.9 [ F "good" ]', False),  # the most is 1
        ('Pmax>=0.9 [ F "good" ]', True),
        ('R{"cost"}<=20 [ F s>2 ]', False),
        ('R{"cost"}>=1.9 [ F s>2 ]', True),
    ],
)
def test_a_bound_on_an_mdp_is_meant_for_all_strategies(prop: str, expected: bool) -> None:
    assert ask(GAMBLE, prop).value is expected


def test_an_optimum_of_a_chain_is_its_only_value() -> None:
    assert_number(ask(COIN, "Pmax=? [ X heads ]"), 1 / 2)


def test_several_initial_states() -> None:
    found = ask(SPLIT, "P=? [ F x=1 ]")
    assert found.value == (pytest.approx(0.25), 1.0)
    assert found.about == "2 initial states"
    assert ask(SPLIT, "P>=0.2 [ F x=1 ]").value is True
    assert ask(SPLIT, "P>=0.5 [ F x=1 ]").value is False
    assert_number(ask(SPLIT, 'filter(max, P=? [ F x=2 ], "init")'), 0.75)


def test_labels_that_only_the_model_knows() -> None:
    assert_number(ask(COIN, 'P=? [ X "init" ]'), 0)
    assert ask(COIN, 'filter(count, "deadlock")').value == 4
    assert ask(COIN, 'P>=1 [ F "deadlock" & heads ]').value is True
