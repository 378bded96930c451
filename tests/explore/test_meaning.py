"""What a text means: constants are rational, rows sum to 1, and no number is lost by overflow."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from program_cases import FAULTS, OFF
from small_models import build, holds, refused, table

import galton
from galton.lang import Source, evaluate, parse_expression
from galton.lang.rationals import Exact
from galton.model.sparse import Model, ModelError

NEARLY_ONE = """
dtmc const double p{};
module m s : [0..1]; [] s=0 -> p : true + 1-p : (s'=1); [] s=1 -> true; endmodule
rewards s=0 : 1; endrewards"""
OFF_BY_HALF_A_MILLIONTH = """
dtmc module m x : [0..1]; [] x=0 -> 0.999995 : true + 0.00001 : (x'=1); [] x=1 -> true; endmodule
rewards x=0 : 1; endrewards"""


def value(text: str) -> float:
    return evaluate(parse_expression(Source("test", text)), {})


# Constants


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1 + 0.2", 0.3),
        ("1 - 0.999999999999", 1e-12),
        ("0.1 * 3", 0.3),
        ("1/3 + 1/3 + 1/3", 1.0),
        ("(1/3) * 3 - 1", 0.0),
        ("0.1^2", 0.01),
        ("pow(1/3, -2)", 9.0),
        ("1e308 * 10 / 100", 1e307),  # nothing overflows on the way
        ("1e-300 * 1e-300 * 1e300", 1e-300),
        ("floor(0.29 * 100)", 29),
        ("ceil(0.1 * 30)", 3),
        ("min(0.1 + 0.2, 0.3) * 10", 3.0),
        ("(true ? 0.1 : 1) + 0.2", 0.3),
        ("0.1 + 0.2 = 0.3", True),
        ("10.0^400", float("inf")),
        ("1e-400 * 1e300", 1e-100),
    ],
)
def test_constants_are_rational_and_rounded_once(text: str, expected: float) -> None:
    assert value(text) == expected
    assert type(value(text)) in (type(expected), Exact)
    assert holds(f"({text}) = ({str(expected).lower() if expected != float('inf') else '1/0'})")


@pytest.mark.parametrize("text", ["pow(1.1, 1e9)", "1e-999999999", "0." + "1" * 5000, "pow(0.1, 100000)", "0.1^0.5"])
def test_rational_numbers_do_not_grow_without_end(text: str) -> None:
    assert isinstance(value(f"{text} + 0.1 - 0.1"), float)


def test_doubles_of_a_state_are_added_as_doubles() -> None:
    assert holds("x*0.1 + x*0.2 != x*0.3", "x : [0..1] init 1;")
    assert holds("x*(0.1 + 0.2) = x*0.3", "x : [0..1] init 1;")


def test_one_minus_p_was_off_in_the_fifth_digit() -> None:
    chains = [
        galton.parse(NEARLY_ONE.format(" = 0.999999999999")),
        galton.parse(NEARLY_ONE.format(""), p="0.999999999999"),
        galton.parse(NEARLY_ONE.format(""), p=0.999999999999),
        galton.parse(NEARLY_ONE.format(""), p=Decimal("0.999999999999")),
        galton.parse(NEARLY_ONE.format(""), p=1 - Fraction(1, 10**12)),
    ]
    for chain in chains:
        assert chain.build().transitions(0) == [("", [(0.999999999999, 0), (1e-12, 1)])]
    answer = galton.check(chains[0], "R=? [ F s=1 ]")
    assert answer.lower <= 1e12 <= answer.upper


def test_branches_that_do_the_same_are_added_before_they_are_rounded() -> None:
    text = "dtmc module m s : [0..2]; [] s=0 -> 0.1:(s'=1) + 0.2:(s'=1) + 0.7:(s'=2); [] s>0 -> true; endmodule"
    assert table(text)[(0,)] == [("", {(1,): 0.3, (2,): 0.7})]
    for bound in ("0.3", "0.1+0.2"):
        assert galton.check(galton.parse(text), f"P<={bound} [ X s=1 ]").value is True
        assert galton.check(galton.parse(text), f"P>={bound} [ X s=1 ]").value is True
        assert galton.check(galton.parse(text), f"P<{bound} [ X s=1 ]").value is False


def test_one_step_is_certain_only_where_the_graph_says_so() -> None:
    """The number 1.0 beside one that is tiny: the value and ``P>=1`` must not contradict each other."""
    chain = galton.Model.from_matrix("dtmc", [[0, 1.0, 1e-18], [0, 1, 0], [0, 0, 1]], labels={"a": [0, 1, 0]})
    assert galton.check(chain, 'P>=1 [ X "a" ]').value is False
    assert galton.check(chain, 'P>=0.99999999999999999 [ X "a" ]').value is not True


def test_a_wrong_branch_is_blamed_where_it_stands_though_others_were_joined() -> None:
    text = "dtmc module m s : [0..1]; [] s=0 -> 0.1:(s'=1) + 0.2:(s'=1) + 0.7:(s'=2); endmodule"
    assert "the value 2, outside its range" in refused(text)
    negative = "dtmc module m s : [0..1]; [] s=0 -> 1.1:(s'=1) + -0.1:(s'=1); endmodule"
    assert "the probability is -0.1" in refused(negative)


def test_exact_constants_survive_pickling() -> None:
    program = pickle.loads(pickle.dumps(galton.parse(NEARLY_ONE.format(" = 0.999999999999"))))
    assert program.build().transitions(0)[0][1][1] == (1e-12, 1)


# Rows


@pytest.mark.parametrize("text", OFF.values(), ids=OFF)
def test_every_row_sums_to_one(text: str) -> None:
    model = build(text)
    lengths = np.diff(model.row_starts)
    for start, length in zip(model.row_starts, lengths, strict=False):
        total = sum(map(Fraction, model.values[start : start + length].tolist()))
        assert abs(total - 1) <= (int(length) + 4) * Fraction(1, 2**53)


def test_rows_that_are_off_were_taken_in_silence_and_methods_disagreed() -> None:
    program = galton.parse(OFF_BY_HALF_A_MILLIONTH)
    answers = [galton.check(program, prop) for prop in ("R=? [ C ]", "R=? [ C<=1e8 ]", "R=? [ F x=1 ]")]
    for answer in answers:
        assert answer.lower <= 100_000.5 * (1 + 1e-12)
        assert answer.upper >= 100_000.5 * (1 - 1e-12)
        assert answer.upper - answer.lower < 1
        assert "state (x=0) sum to 1.000005, not 1" in answer.warnings[0]


def test_the_same_rows_from_a_matrix_a_function_and_files(tmp_path: object) -> None:
    matrix = [[0.999995, 0.00001], [0, 1]]
    models = [
        build(OFF_BY_HALF_A_MILLIONTH),
        Model.from_matrix("dtmc", matrix),
        Model.from_function(lambda s: [(0.999995, 0), (0.00001, 1)] if s == 0 else [(1, 1)], 0),
    ]
    path = f"{tmp_path}/model.tra"
    with open(path, "w") as file:
        file.write("2 3\n0 0 0.999995\n0 1 0.00001\n1 1 1\n")
    models.append(galton.read_model([path], type="dtmc"))
    for model in models:
        assert model.transitions(0) == models[0].transitions(0)
        assert "sum to 1.000005" in model.warnings[0]


def test_rows_that_are_off_by_rounding_alone_are_left_alone() -> None:
    model = Model.from_matrix("dtmc", [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [1 / 3, 1 / 3, 1 / 3]])
    assert model.values.array().tolist() == [0.1, 0.2, 0.7, 0.3, 0.3, 0.4, 1 / 3, 1 / 3, 1 / 3]
    assert model.warnings == ()


# Overflow


@pytest.mark.parametrize("name", [name for name in FAULTS if name.startswith("rates that")])
def test_rates_that_overflow_or_vanish_name_the_command_and_the_state(name: str) -> None:
    message = refused(FAULTS[name])
    assert "in state (x=0" in message
    assert "double" in message


def test_two_commands_of_rate_1e308_were_one_of_probability_0() -> None:
    text = "ctmc module m x : [0..2]; [] x=0 -> 1e308 : (x'=1);\n[] x=0 -> 1e308 : (x'=2); endmodule"
    message = refused(text)
    assert "the rates add up to more than a double can hold, in state (x=0)" in message
    assert ":2:1:" in message  # the second command


def test_rewards_that_add_up_to_infinity_are_an_error() -> None:
    assert "the reward is inf" in refused(FAULTS["rewards that do"])
    assert "the reward is inf" in refused(FAULTS["rewards of jumps that do"])


def test_a_factor_of_zero_is_no_underflow() -> None:
    text = """ctmc
    module m x : [0..2]; [a] x<2 -> 1e-200*x : (x'=x+1) + 1 : (x'=min(2, x+1)); endmodule
    module n y : [0..2]; [a] y<2 -> 1e-200*y : (y'=y+1) + 1 : (y'=0); endmodule"""
    assert len(table(text)) == 3


def test_rates_of_a_matrix_that_overflow_are_an_error() -> None:
    with pytest.raises(ModelError, match="state 0: the rates add up to more than a double can hold"):
        Model.from_matrix("ctmc", [[0, 1e308, 1e308], [1, 0, 0], [1, 0, 0]])
