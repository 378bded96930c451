"""Strategies of MDPs for formulas of linear temporal logic: what they remember, and what they are worth."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from ltl_judges import ask_of
from ltl_pairs import random_pair

import galton
from galton.checking.strategies.strategy_file import read_memory, read_strategy, write_strategy
from galton.explore import build
from galton.lower.reader import READER

# In 0 a strategy may go round by 1 or by 2, or leave for 3; 1 sometimes falls into 3.
ROUND = """
mdp module m s:[0..3];
  [one] s=0 -> (s'=1);
  [two] s=0 -> (s'=2);
  [out] s=0 -> (s'=3);
  [] s=1 -> 9/10 : (s'=0) + 1/10 : (s'=3);
  [] s=2 -> (s'=0);
  [] s=3 -> true;
endmodule
rewards "steps" true : 1; endrewards
"""


@pytest.mark.parametrize(
    ("prop", "value"),
    [
        ("Pmax=? [ (F s=1) & (G F s=2) ]", 0.9),
        ("Pmax=? [ (G F s=2) & (G F s=0) ]", 1.0),
        ("Pmax=? [ (F (s=1 & (X F s=1))) & (G F s=2) ]", 0.81),
        ("Pmin=? [ (G !(s=1)) | (F s=3) ]", 0.1),
        ("Pmax=? [ F (s=2 & (X X s=1)) ]", 1.0),
        ("Pmax=? [ (G (s!=2 | (X X s=1))) & (F s=2) ]", 1.0),
        ('R{"steps"}min=? [ F (s=2 & (X X s=3)) ]', 3.0),
    ],
)
def test_a_strategy_remembers_what_it_has_seen(prop: str, value: float, tmp_path: Path) -> None:
    program = galton.parse(ROUND)
    result = galton.check(program, prop, strategy=True)
    assert result.value == pytest.approx(value)
    strategy = result.strategy
    assert strategy is not None
    assert strategy.memory is not None
    file = tmp_path / "best.json"
    write_strategy(file, strategy, formula=prop)
    memory = read_memory(file, program)
    assert memory is not None
    again, _ = read_strategy(file, build(program, reader=memory), memory)
    chain = again.induced()
    assert chain.states is not None
    assert READER not in chain.states[0]
    plain = prop.replace("min=?", "=?").replace("max=?", "=?")
    assert galton.check(chain, plain).value == pytest.approx(value)


def test_strategies_of_random_programs_are_worth_their_values(tmp_path: Path) -> None:
    file = tmp_path / "best.json"
    for seed in range(80):
        pair = random_pair(Random(seed), "mdp", bounds=True)
        program = galton.parse(pair.program)
        for prop in pair.questions:
            result = galton.check(program, prop, strategy=True)  # which is an error where the strategy is not worth it
            assert result.strategy is not None
            write_strategy(file, result.strategy)
            memory = read_memory(file, program)
            strategy, _ = read_strategy(file, build(program, reader=memory), memory)
            worth = ask_of(strategy.induced(), program, f"P=? [ {pair.path} ]")
            assert worth.value == pytest.approx(result.value, rel=4e-6, abs=1e-12), (seed, prop)


def test_a_file_tells_what_is_remembered(tmp_path: Path) -> None:
    result = galton.check(galton.parse(ROUND), "Pmax=? [ (F s=1) & (G F s=2) ]", strategy=True)
    assert result.strategy is not None
    write_strategy(tmp_path / "best.json", result.strategy)
    found = json.loads((tmp_path / "best.json").read_text())
    memory = found["memory"]
    assert memory["propositions"] == ["s = 1", "s = 2"]
    decisions = {(d["state"]["s"], d["memory"]): d["action"] for d in found["decisions"]}
    before = memory["initial"]
    after = memory["moves"][before][0b01]
    assert decisions == {(0, before): "one", (0, after): "two"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"propositions": ["t=1", "s=2"]}, "does not fit the model"),
        ({"propositions": ["s+1", "s=2"]}, "does not fit the model"),
        ({"propositions": ["mod(3, s)=1", "s=2"]}, "has no value in some states"),
        ({"propositions": ["s=1"]}, "a number for each letter"),
        ({"moves": [[0, 0, 0, 9]]}, "moves"),
        ({"initial": 5}, "initial"),
    ],
)
def test_a_memory_that_does_not_fit_is_refused(change: dict, message: str, tmp_path: Path) -> None:
    program = galton.parse(ROUND)
    result = galton.check(program, "Pmax=? [ (F s=1) & (G F s=2) ]", strategy=True)
    assert result.strategy is not None
    file = tmp_path / "best.json"
    write_strategy(file, result.strategy)
    found = json.loads(file.read_text())
    found["memory"] |= change
    file.write_text(json.dumps(found))
    with pytest.raises(galton.GaltonError, match=message):
        read_memory(file, program)


def test_a_strategy_with_a_memory_is_not_for_the_model_alone(tmp_path: Path) -> None:
    program = galton.parse(ROUND)
    result = galton.check(program, "Pmax=? [ (F s=1) & (G F s=2) ]", strategy=True)
    assert result.strategy is not None
    write_strategy(tmp_path / "best.json", result.strategy)
    with pytest.raises(galton.GaltonError, match="product of the model with that memory"):
        read_strategy(tmp_path / "best.json", build(program))
