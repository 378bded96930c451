"""Reachability against every strategy of small random models, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import galton
from galton.check import check, resolve
from galton.check.reachability import reachability
from galton.lang import LanguageError, Source, UnsupportedError, parse_properties
from galton.model.sparse import Model
from galton.solve.policy_iteration import InaccurateError

Rows = list[list[dict[int, int]]]  # per state, per choice: weights of targets


@st.composite
def weighted_models(draw: st.DrawFn, most_choices: int) -> Rows:
    states = draw(st.integers(1, 5))
    choice = st.dictionaries(st.integers(0, states - 1), st.integers(1, 4), min_size=1, max_size=3)
    return draw(st.lists(st.lists(choice, min_size=1, max_size=most_choices), min_size=states, max_size=states))


def as_model(rows: Rows) -> Model:
    dense = np.zeros((sum(map(len, rows)), len(rows)))
    for k, choice in enumerate(choice for state in rows for choice in state):
        for target, weight in choice.items():
            dense[k, target] = weight / sum(choice.values())
    groups = np.cumsum([0, *map(len, rows)])
    return Model.from_matrix("mdp", dense, row_groups=groups)


def chain_reachability(matrix: npt.NDArray[np.float64], goal: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """By so many steps of the chain, squared again and again, that nothing changes any more."""
    absorbing = np.where(goal[:, None], np.eye(len(matrix)), matrix)
    for _ in range(60):
        absorbing = absorbing @ absorbing
        absorbing /= absorbing.sum(axis=1, keepdims=True)
    return absorbing @ goal.astype(float)


@settings(deadline=None, max_examples=150)
@given(weighted_models(3), st.sets(st.integers(0, 4)), st.sampled_from(["min", "max"]))
def test_the_optimum_over_all_strategies(rows: Rows, goals: set[int], optimum: str) -> None:
    model = as_model(rows)
    goal = np.array([state in goals for state in range(len(rows))])
    matrix = model.matrix.toarray()
    values = []
    for strategy in product(*(model.choices(state) for state in range(len(rows)))):
        values.append(chain_reachability(matrix[list(strategy)], goal))
    expected = np.min(values, axis=0) if optimum == "min" else np.max(values, axis=0)
    found, _ = reachability(model, np.ones(len(rows), dtype=bool), goal, optimum)  # type: ignore[arg-type]
    assert found == pytest.approx(expected, abs=1e-9)


WALK = """
ctmc
module walk
  x : [0..4] init 2;
  [] x>0 & x<4 -> 3:(x'=x+1) + 1:(x'=x-1);
endmodule
label "top" = x=4;
"""


def ask(text: str, prop: str) -> float | bool:
    program = galton.parse(text)
    context, (question,) = resolve(parse_properties(Source("p", prop)), program, {})
    return check(context, program.build(), question).value


def test_the_rates_of_a_ctmc_are_weights() -> None:
    # Gambler's ruin with odds 3 : 1 from the middle of four steps.
    expected = (1 - (1 / 3) ** 2) / (1 - (1 / 3) ** 4)
    assert ask(WALK, 'P=? [ F "top" ]') == pytest.approx(expected, rel=1e-12)


def test_an_until_may_not_pass_other_states() -> None:
    assert ask(WALK, "P=? [ x>=2 U x=4 ]") == pytest.approx(3 / 4 * (3 / 4 / (1 - 3 / 16)), rel=1e-12)


@pytest.mark.parametrize(("bound", "holds"), [(">=0.9", True), (">0.9", False), ("<=0.9", True), ("<0.9", False)])
def test_thresholds_use_their_own_relation(bound: str, holds: bool) -> None:
    coin = "dtmc module m s:[0..2]; [] s=0 -> 0.9:(s'=1) + 0.1:(s'=2); [] s>0 -> true; endmodule"
    assert ask(coin, f"P{bound} [ F s=1 ]") is holds


def test_an_mdp_needs_an_optimum() -> None:
    with pytest.raises(UnsupportedError, match="Pmin"):
        ask("mdp module m s:[0..1]; [] true -> (s'=1); endmodule", "P=? [ F s=1 ]")


def test_constants_formulas_and_labels_of_a_property_file() -> None:
    program = galton.parse(WALK)
    text = 'const int k; formula far = x>=k; label "far" = far; P=? [ F "far" ]; P=? [ F far & x<4 ];'
    context, questions = resolve(parse_properties(Source("p", text)), program, {"k": "3"})
    values = [check(context, program.build(), question).value for question in questions]
    one_up = 3 / 4 / (1 - 1 / 4 * 3 / 4)
    assert values == pytest.approx([one_up, one_up], rel=1e-12)


@pytest.mark.parametrize("text", ['label "top" = x=1; true;', "const int x = 3; true;", "formula x = true; true;"])
def test_a_property_file_may_not_give_a_name_of_the_model_a_second_meaning(text: str) -> None:
    with pytest.raises(LanguageError, match="has the name of something in the model"):
        resolve(parse_properties(Source("p", text)), galton.parse(WALK), {})


@pytest.mark.parametrize(("formula", "value"), [('!"init" & x<2', True), ('"init" => x=4', True), ('"deadlock"', True)])
def test_the_labels_that_only_the_model_knows(formula: str, value: bool) -> None:
    assert ask(WALK, f"P>0 [ F {formula} ]") is value


def test_a_strategy_that_is_better_by_less_than_rounding_is_not_called_optimal() -> None:
    text = """mdp module m x : [0..2];
      [b] x=0 -> 5.0004e-9:(x'=1) + 4.9996e-9:(x'=2) + 1-1e-8:(x'=0);
      [a] x=0 -> 5e-9:(x'=1) + 5e-9:(x'=2) + 1-1e-8:(x'=0);
      [] x>0 -> true; endmodule"""
    with pytest.raises(InaccurateError):
        ask(text, "Pmax=? [ F x=1 ]")
