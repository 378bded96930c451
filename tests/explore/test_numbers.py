"""Numbers that are none, zeros with a sign, and integers too large: each was wrong once."""

from __future__ import annotations

import pytest

import galton
from galton.explore import LimitError, SemanticError

FRAME = "dtmc module m x : [0..2]; i : int init 0; [] i<1 -> (i'=0) & (x'=0); endmodule label \"l\" = {};"


def holds(condition: str) -> bool:
    return bool(galton.parse(FRAME.format(condition)).build().labels["l"][0])


@pytest.mark.parametrize(
    "condition",
    ["min(x/x,5)<=5", "x/x<=1/0", "max(0,x/x)>=0", "pow(2.0,x/x)>=0", "min(5,x/x)=5", "x/x=x/x", "max(0,min(5,x/x))<6"],
)
def test_a_comparison_with_no_number_is_false(condition: str) -> None:
    assert not holds(condition)


@pytest.mark.parametrize("argument", ["max(0,min(5,x/x))", "min(5,max(0,x/x))", "log(x-1,2)"])
def test_no_number_cannot_be_rounded(argument: str) -> None:
    with pytest.raises(SemanticError, match="'floor' needs a finite number"):
        holds(f"floor({argument})=5")


@pytest.mark.parametrize("variable", ["x", "i"])
@pytest.mark.parametrize("condition", ["1/(-{})>0", "1/(0*{})>0 | mod(1,{}+1)>1", "1/(-{})>0 & mod(5,{}+1)=0"])
def test_an_integer_has_no_negative_zero(condition: str, variable: str) -> None:
    assert holds(condition.format(variable, variable))


def test_a_long_product_of_unbounded_integers_is_refused_politely() -> None:
    text = (
        'dtmc module m x : int init 3; [] x<5 -> (x\'=x+1); endmodule label "l" = 1.5*(' + "*".join("x" * 40) + ")>0;"
    )
    with pytest.raises(SemanticError, match="integer overflow"):
        galton.parse(text).build()


def test_fixed_variables_of_any_range_are_no_work() -> None:
    text = "dtmc module m x : [0..1000000]; y : int; [] x<2 -> (x'=x+1); endmodule init x=0 & y=-5 endinit"
    model = galton.parse(text).build()
    assert [dict(state) for state in model.states] == [{"x": n, "y": -5} for n in range(3)]


def test_an_undefined_value_does_not_matter_where_its_update_cannot_happen() -> None:
    text = "dtmc module m x:[0..1]; y:[0..5]; [] true -> (x>0?1:0):(y'=mod(5,x)) + (x>0?0:1):(x'=1); endmodule"
    assert galton.parse(text).build().n_states == 2


def test_the_memory_limit_counts_rewards() -> None:
    items = "".join(f'rewards "r{i}" [] true : {i + 1}; endrewards ' for i in range(20))
    text = f"mdp module m x : [0..200000]; [] x<200000 -> (x'=x+1); [] x>0 -> (x'=x-1); endmodule {items}"
    with pytest.raises(LimitError, match="MB allowed"):
        galton.parse(text).build(memory_mb=40)
    assert galton.parse(text).build(memory_mb=200).n_states == 200_001
