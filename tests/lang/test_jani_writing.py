"""What is written as JANI reads the same: random programs, compositions, and what a round trip must keep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from random_programs import ProgramText, programs

import galton
from galton.lang import GaltonError, Source, check_program, parse_model
from galton.lang.jani.writer import jani_text
from galton.model.sparse import Model


def there_and_back(text: str) -> Model:
    """The model of a program that went through JANI; its rewards have the names that they had."""
    written, left_out = jani_text(parse_model(Source("text", text)))
    assert not left_out
    model = galton.parse(written).build()
    names = galton.parse(text).reward_names
    return replace(model, rewards=dict(zip(names, model.rewards.values(), strict=True)))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False)
@given(programs())
def test_random_programs(text: ProgramText) -> None:
    try:
        expected = galton.parse(text).build()
    except GaltonError:
        return
    found = there_and_back(text)
    assert [choices(found, state) for state in range(found.n_states)] == [
        choices(expected, state) for state in range(expected.n_states)
    ]
    if "/ {" not in text:
        assert list(found.differences(expected, tolerance=1e-12)) == []


def choices(model: Model, state: int) -> tuple[Any, ...]:
    """What a state is, and what can be done there; in no order, which hidden actions change on the way."""
    rewards = sorted(model.rewards.items())
    rows = range(int(model.row_groups[state]), int(model.row_groups[state + 1]))

    def row(number: int) -> tuple[Any, ...]:
        part = slice(int(model.row_starts[number]), int(model.row_starts[number + 1]))
        action = "" if model.choice_actions is None else model.actions[int(model.choice_actions[number])]
        earned = [0.0 if found.choice is None else float(found.choice[number]) for _, found in rewards]
        ways = zip(model.columns[part].tolist(), np.round(model.values[part], 12).tolist(), strict=True)
        return action, tuple(ways), tuple(np.round(earned, 12).tolist())

    labels = sorted(name for name, mask in model.labels.items() if mask[state])
    earned = [0.0 if found.state is None else round(float(found.state[state]), 12) for _, found in rewards]
    return str(model.states and model.states[state]), labels, earned, sorted(map(row, rows))


def test_hidden_actions_may_change_the_order_of_choices() -> None:
    """Once found by the random programs: those that are hidden come after the others on the way back."""
    text = """mdp
    module M0  x : bool init false;  [a] true -> (x'=true);  [] true -> (x'=true);  endmodule
    module M1  y : bool init false;  [] true -> (y'=true);  endmodule
    system ((M0 || M1) / {a}) endsystem
    """
    expected, found = galton.parse(text).build(), there_and_back(text)
    for state in range(expected.n_states):
        assert choices(found, state) == choices(expected, state)


MODULES = """
  module m1  x : [0..2];  [a] x<2 -> 0.5:(x'=x+1) + 0.5:(x'=2);  [b] x=2 -> (x'=0);  endmodule
  module m2  y : [0..2];  [a] y<2 -> (y'=y+1);  [c] true -> (y'=0);  endmodule
  module m3  z : [0..3];  [a] z<3 -> (z'=z+1);  [] z=3 -> (z'=0);  endmodule
  rewards "r"  [a] x=0 : 5;  [b] true : y;  [] true : 2;  x>0 : 0.25;  endrewards
"""


@pytest.mark.parametrize(
    "system",
    [
        "m1 || m2 || m3",
        "(m1 ||| m2) || m3",
        "m1 |[a]| (m2 ||| m3)",
        "(m1 || m2) / {b} ||| m3",
        "((m1 ||| m2) / {a} || m3)",
        "(m1 {a <- b} ||| m2) || m3",
        "(m1 {b <- d} || m2 {a <- d}) ||| m3",
    ],
)
@pytest.mark.parametrize("type", ["mdp", "dtmc", "ctmc"])
def test_compositions(system: str, type: str) -> None:
    text = f"{type}\n{MODULES}\nsystem {system} endsystem"
    expected, found = galton.parse(text).build(), there_and_back(text)
    if type == "mdp":  # choices of one action may come in another order
        assert [found.n_states, found.n_choices, found.n_transitions] == [
            expected.n_states,
            expected.n_choices,
            expected.n_transitions,
        ]
        for optimum in ("min", "max"):
            asked = f'R{{"r"}}{optimum}=? [ C<=7 ]'
            assert galton.check(found, asked).value == pytest.approx(galton.check(expected, asked).value)
    else:
        assert list(found.differences(expected, tolerance=1e-12)) == []


def test_constants_stay_open_or_keep_their_values() -> None:
    text = "dtmc const int N; const double p = 1/3; module m x : [0..N]; [] x<N -> p:(x'=x+1) + 1-p:true; endmodule"
    written, _ = jani_text(parse_model(Source("text", text)))
    assert set(galton.parse(written, N=4).open_constants) == set()
    assert galton.parse(written, N=4).build().n_states == 5
    fixed, _ = jani_text(parse_model(Source("text", text)), constants={"N": 2})
    program = check_program(parse_model(Source("text", fixed)))
    assert (program.constants["N"], str(program.constants["p"].fraction)) == (2, "1/3")


def test_functions_of_the_language() -> None:
    """mod of a negative number, round, powers of integers and of reals, log: the same states in JANI."""
    text = """dtmc
      module m
        x : [-9..9] init -9;  y : int;  b : bool;
        [] x<9 -> (x'=x+1) & (y'=mod(x, 4) + round(x/2) + pow(2, mod(x, 3)) + floor(log(x+20, 2) + 2.0^x)
                                + min(x, 3, y) + max(-x, 2)) & (b' = x>0 <=> mod(x, 2)=0);
      endmodule"""
    assert list(there_and_back(text).differences(galton.parse(text).build())) == []
