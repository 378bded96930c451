"""Probabilities and rewards under a condition."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from budget_models import PHONE, WALK, ask, conditional_values, random_model

import galton

DIE = """
dtmc
module die
  d : [0..6];
  [] d=0 -> 1/6:(d'=1) + 1/6:(d'=2) + 1/6:(d'=3) + 1/6:(d'=4) + 1/6:(d'=5) + 1/6:(d'=6);
  [] d>0 -> true;
endmodule
rewards "r" d=0 : 3; endrewards
"""


@pytest.mark.parametrize(
    ("text", "prop", "value"),
    [
        (DIE, "P=? [ F d=6 || F d>=4 ]", 1 / 3),
        (DIE, "P=? [ F d=6 || F d=1 ]", 0),
        (DIE, "P=? [ G d<6 || G d!=5 ]", 4 / 5),
        (DIE, "P=? [ X d=6 || F<=1 d>3 ]", 1 / 3),
        (DIE, "P=? [ (F d>2) & (G d!=3) || (G F d>=2) ]", 3 / 5),
        (DIE, 'R{"r"}=? [ F d>=4 || F d=6 ]', 3),
        (DIE, 'R{"r"}=? [ F d=5 || F d=6 ]', float("inf")),
        (WALK, "P=? [ F x=2 || F x=0 ]", 1 / 4),
        (WALK, 'R{"cost"}=? [ F x=3 || F x=3 ]', 11 / 3),
        (PHONE, "Pmax=? [ F<=1 s=2 || F<=1 s!=0 ]", 0.75),
        (PHONE, "Pmin=? [ F<=1 s=2 || F<=1 s!=0 ]", 0.5),
    ],
)
def test_values_by_hand(text: str, prop: str, value: float) -> None:
    if prop.startswith('R{"cost"}=? [ F x=3'):
        value = conditioned_walk()
    assert ask(text, prop).value == pytest.approx(value, rel=1e-6)


def conditioned_walk() -> float:
    """The walk that gets to 3 goes from 1 to 2, and from 2 to 3 with probability 3/4 or back: 3 for each visit of 2."""
    return (1 + 2) * 4 / 3


def test_a_condition_of_probability_0_is_said_in_a_sentence() -> None:
    for prop in ("P=? [ F x=3 || F x=9 ]", "P=? [ F x=3 || G x=1 ]"):
        with pytest.raises(galton.GaltonError, match="has probability 0"):
            ask(WALK, prop)
    with pytest.raises(galton.GaltonError, match="has probability 0"):
        ask(PHONE, "Pmax=? [ F s=2 || (F s=2) & (G s!=2) ]")


@pytest.mark.parametrize(
    ("text", "prop", "message"),
    [
        (PHONE, "P=? [ F s=1 || F s=2 ]", "Pmin=. or Pmax"),
        (PHONE, 'R{"cost"}min=? [ F s=1 || F s=2 ]', "not supported for an MDP"),
        (PHONE, 'Pmax=? [ F{"cost"}<=2 s=1 || F s=2 ]', "beside other temporal operators"),
        (PHONE, "Pmax=? [ s=1 || s=2 ]", "after '||' comes a path formula".replace("|", r"\|")),
        (WALK, 'R{"cost"}=? [ C || F x=3 ]', "collected until F"),
        (WALK.replace("dtmc", "ctmc"), "P=? [ F<=2 x=3 || F x=3 ]", "a bound on time"),
        (PHONE, "multi(P>=0.5 [ F s=2 || F s=1 ], P>=0.1 [ F s=1 ])", "only be combined|not supported"),
    ],
)
def test_what_has_no_meaning_is_said_in_a_sentence(text: str, prop: str, message: str) -> None:
    with pytest.raises(galton.GaltonError, match=message):
        ask(text, prop)


@pytest.mark.parametrize("seed", range(25))
def test_conditions_beside_all_strategies_in_fractions(seed: int) -> None:
    random = Random(seed)
    model = random_model(random, most_states=3)
    path, condition = random.randrange(model.n), random.randrange(model.n)
    values = list(conditional_values(model, path, condition))
    for optimum, best in (("min", min), ("max", max)) if model.is_mdp else (("", max),):
        prop = f"P{optimum}=? [ F s={path} || F s={condition} ]"
        if not values:
            with pytest.raises(galton.GaltonError, match="has probability 0"):
                ask(model.text(), prop)
            continue
        found = ask(model.text(), prop)
        exact = best(values)
        assert found.lower is not None
        assert found.upper is not None
        assert found.lower <= exact <= found.upper, (model.text(), prop, exact, found)
        assert found.upper - found.lower <= 1e-5


@pytest.mark.parametrize("seed", range(20))
def test_conditions_beside_storm(seed: int, tmp_path: Path) -> None:
    stormpy = pytest.importorskip("stormpy")
    random = Random(500 + seed)
    model = random_model(random, most_states=7)
    path = tmp_path / "model.prism"
    path.write_text(model.text())
    program = stormpy.parse_prism_program(str(path), prism_compatibility=True, simplify=False)
    a, b = random.randrange(model.n), random.randrange(model.n)
    for optimum in ("min", "max") if model.is_mdp else ("",):
        asked = f"P{optimum}=? [ F s={a} || F s={b} ]"
        (prop,) = stormpy.parse_properties(asked, program)
        built = stormpy.build_model[stormpy.Rational](program, [prop])
        try:
            found = stormpy.model_checking(built, prop, only_initial_states=True)
        except RuntimeError:
            with pytest.raises(galton.GaltonError, match="has probability 0"):
                ask(model.text(), asked)
            continue
        theirs = float(found.get_value(built.initial_states[0]))
        assert ask(model.text(), asked).value == pytest.approx(theirs, rel=1e-5, abs=1e-6)
