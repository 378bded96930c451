"""What the lowering decides before anything is explored."""

from __future__ import annotations

import pytest

import galton
from galton.lower.expression_graph import Graph, Kind, Op
from galton.lower.lowering import lower


def test_a_variable_that_nothing_writes_takes_no_bits() -> None:
    program = galton.parse(
        """mdp
        module m
          fixed : [0..9] init 4;
          moves : [0..1];
          never : [0..7] init 3;
          [] fixed=4 -> (moves'=1-moves);
          [] fixed=5 -> (never'=0);
        endmodule"""
    )
    lowered = lower(program)
    assert [field.bits for field in lowered.fields] == [0, 1, 0]
    assert len(lowered.commands) == 1
    model = program.build()
    assert [dict(state) for state in model.states] == [
        {"fixed": 4, "moves": 0, "never": 3},
        {"fixed": 4, "moves": 1, "never": 3},
    ]


def test_a_partner_that_always_agrees_is_left_out() -> None:
    program = galton.parse(
        """mdp
        module a  x : [0..1];  [go] x=0 -> (x'=1);  endmodule
        module b  y : [0..1];  [go] true -> true;  endmodule"""
    )
    (product,) = lower(program).products
    assert len(product.factors) == 1


def test_a_partner_that_never_agrees_takes_the_action_away() -> None:
    program = galton.parse(
        """mdp
        module a  x : [0..1];  [go] x=0 -> (x'=1);  endmodule
        module b  y : [0..1];  [go] false -> true;  endmodule"""
    )
    assert lower(program).products == ()


@pytest.mark.parametrize(
    ("low", "high", "kind"), [(0, 100, Kind.INT), (-(2**31), 2**31 - 1, Kind.REAL), (0, 2**31 - 1, Kind.REAL)]
)
def test_an_integer_that_may_leave_32_bits_is_carried_as_a_real(low: int, high: int, kind: Kind) -> None:
    graph = Graph()
    sum_ = graph.apply(Op.ADD, graph.variable(0, low, high), graph.integer(1))
    assert graph[sum_].kind is kind
    assert graph[sum_].integral


def test_equal_expressions_are_one_node() -> None:
    graph = Graph()
    x = graph.variable(0, 0, 9)
    assert graph.apply(Op.LT, x, graph.integer(5)) == graph.apply(Op.LT, x, graph.integer(5))


def test_ranges_decide_comparisons() -> None:
    graph = Graph()
    x = graph.variable(0, 0, 9)
    assert graph.constant(graph.apply(Op.LT, x, graph.integer(10))) == 1.0
    assert graph.constant(graph.equal(x, graph.integer(10))) == 0.0
    assert graph.constant(graph.apply(Op.LE, x, graph.integer(8))) is None


@pytest.mark.parametrize("divisor_low", [0, 1])
def test_a_modulo_is_partial_where_the_divisor_may_be_zero(divisor_low: int) -> None:
    graph = Graph()
    modulo = graph.apply(Op.MOD, graph.variable(0, 0, 9), graph.variable(1, divisor_low, 5))
    assert graph[modulo].partial is (divisor_low == 0)
