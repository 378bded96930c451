"""How states are stored, and integers near the ends of their ranges."""

from __future__ import annotations

from contextlib import suppress

import pytest
from small_models import build, holds, refused, table

from galton.lang import GaltonError

# How states are stored


def test_no_variables_at_all() -> None:
    model = build("dtmc module m [] true -> true; endmodule")
    assert (model.n_states, model.transitions(0)) == (1, [("", [(1.0, 0)])])
    assert model.labels["deadlock"].tolist() == [False]


def test_variables_with_one_value_take_no_room() -> None:
    text = "mdp module m x : [5..5]; y : [-1..2] init 0; z : [-3..-3]; [] y<2 -> (x'=5) & (y'=y+1) & (z'=-3); endmodule"
    assert list(table(text)) == [(5, 0, -3), (5, 1, -3), (5, 2, -3)]


def test_only_variables_with_one_value() -> None:
    assert table("mdp module m x : [7..7]; [go] x=7 -> (x'=14-x); endmodule") == {(7,): [("go", {(7,): 1.0})]}


def test_a_variable_with_one_value_cannot_take_another() -> None:
    assert "(x=7)" in refused("mdp module m x : [7..7]; [] true -> (x'=8); endmodule")


WIDTHS = [
    (32,),
    (31, 31),  # 62 bits
    (31, 32),  # 63
    (31, 31, 1),
    (32, 32),  # 64
    (1,) * 64,
    (32, 32, 1),  # 65
    (31, 31, 3),  # 65, and the last field would cross into the next word
    (20, 20, 20, 5),
    (1,) * 65,
    (32, 1, 32, 1),
    (32, 32, 32, 32),  # 128
    (16,) * 8,
    (32, 32, 32, 32, 1),  # 129
    (31, 31, 31, 31, 31),
    (1,) * 130,
    (32,) * 7,
]


def wide_program(widths: tuple[int, ...]) -> tuple[str, list[tuple[int, int]]]:
    """Every variable on its own goes from its least to its greatest value and back."""
    bounds = [(-(2**31), 2**31 - 1) if bits == 32 else (-5, 2**bits - 6) for bits in widths]
    lines = []
    for index, (low, high) in enumerate(bounds):
        lines.append(f"x{index} : [{literal(low)}..{literal(high)}] init {literal(low)};")
    for index, (low, high) in enumerate(bounds):
        at_rest = " & ".join(f"x{i}={literal(least)}" for i, (least, _) in enumerate(bounds))
        lines.append(f"[] {at_rest} -> (x{index}'={literal(high)});")
        lines.append(f"[] x{index}={literal(high)} -> (x{index}'={literal(low)});")
    return f"mdp module m {' '.join(lines)} endmodule", bounds


def literal(value: int) -> str:
    return str(value) if value > -(2**31) else "-2147483647-1"


@pytest.mark.parametrize("widths", WIDTHS, ids=lambda widths: f"{sum(widths)}-bits-{len(widths)}-fields")
def test_states_of_many_bits(widths: tuple[int, ...]) -> None:
    text, bounds = wide_program(widths)
    rest = tuple(low for low, _ in bounds)
    raised = [(*rest[:index], high, *rest[index + 1 :]) for index, (_, high) in enumerate(bounds)]
    found = table(text)
    assert list(found) == sorted([rest, *raised])
    assert found[rest] == [("", {state: 1.0}) for state in raised]
    assert all(found[state] == [("", {rest: 1.0})] for state in raised)


def test_the_first_variable_counts_most_and_globals_come_first() -> None:
    text = """mdp
      module m x : [-1..1]; [] x<1 -> (x'=x+1); endmodule
      global g : [-1..1];
      module n y : bool; [] true -> (y'=!y) & (g'=max(-1, -g)); endmodule"""
    model = build(text)
    assert model.states is not None
    assert model.states.variables == ("g", "x", "y")
    states = [tuple(state.values()) for state in model.states]
    assert states == [(g, x, y) for g, y in ((-1, False), (1, True)) for x in (-1, 0, 1)]


# Integers near the ends of their range


def test_an_unbounded_integer_reaches_both_ends() -> None:
    text = """mdp module m x : int init 2147483645;
      [up] x>0 & x<2147483647 -> (x'=x+1);
      [over] x=2147483647 -> (x'=-x-1);
      [on] x<-2147483646 & x+2147483647<1 -> (x'=x+1);
    endmodule"""
    least, greatest = -(2**31), 2**31 - 1
    assert [x for (x,) in table(text)] == [least, least + 1, least + 2, greatest - 2, greatest - 1, greatest]


@pytest.mark.parametrize(
    ("initial", "update"),
    [(2**31 - 1, "x+1"), (-(2**31), "x-1"), (-(2**31), "-x"), (2**31 - 1, "2*x"), (65_536, "x*x"), (-65_536, "x*-x")],
)
def test_leaving_32_bits_is_an_error(initial: int, update: str) -> None:
    message = refused(f"dtmc module m x : int init {literal(initial)}; [] true -> (x'={update}); endmodule")
    assert f"(x={initial})" in message


def test_intermediate_results_beyond_32_bits_are_exact() -> None:
    big = "x : [0..100000] init 100000; y : [0..100000] init 99999; z : [0..100000] init 3;"
    assert holds("x*y*z > 2147483647", big)
    assert holds("x*y*z = 3*(x*x-x)", big)
    assert holds("x*y*z - (x*y*z-1) = 1", big)
    assert holds("x*x*x - x*x*y = x*x", big)  # 1e15, below 2^53
    assert holds("mod(x*y*z+1, z) = 1", big)
    assert holds("mod(-x*y*z+2, z) = 2", big)
    assert holds("floor(x*y/x) = y", big)
    assert holds("pow(x, 3) = x*x*x", big)


def test_a_large_intermediate_result_may_come_back_into_range() -> None:
    text = "dtmc module m x : [0..100000] init 100000; [] true -> (x'=mod(x*x*x+7, 99991)); endmodule"
    assert table(text, max_states=100_000)[(100000,)] == [("", {((10**15 + 7) % 99991,): 1.0})]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x*x-(x*x-1) = 1", True),  # 2^62, beyond the integers that a double holds exactly
        ("mod(x*x, 2) = 1", True),
        ("x*x*x > 0", True),  # beyond 64 bits
        ("x*x*4 > 0", True),
        ("-x*x*x*x < 0", True),
    ],
)
def test_huge_intermediate_results_are_exact_or_refused(condition: str, expected: bool) -> None:
    with suppress(GaltonError):
        assert holds(condition, "x : int init 2147483647;") == expected
