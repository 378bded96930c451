"""Corners of PRISM's semantics, each with what must come out written beside it.

Random programs find what nobody thought of; here is what somebody did think of.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from comparison import changes

import galton
from galton.explore import DeadlockError, LimitError
from galton.lang import GaltonError
from galton.model.sparse import Model

Targets = dict[tuple[int | bool, ...], float]
THREADS = 2


def build(text: str, **options: object) -> Model:
    return galton.parse(text).build(threads=THREADS, **options)


def table(text: str, **options: object) -> dict[tuple[int | bool, ...], list[tuple[str, Targets]]]:
    """All choices by state; the states in the order of their numbers."""
    model = build(text, **options)
    assert model.states is not None
    states = [tuple(state.values()) for state in model.states]
    return {
        state: [(action, {states[target]: value for value, target in pairs}) for action, pairs in model.transitions(s)]
        for s, state in enumerate(states)
    }


def holds(condition: str, declarations: str = "x : [0..1];", before: str = "") -> bool:
    """Is a condition true in the initial state?"""
    text = f'dtmc {before} module m {declarations} [] true -> true; endmodule label "l" = {condition};'
    return bool(build(text).labels["l"][0])


def refused(text: str, **options: object) -> str:
    """The complaint about a program that goes wrong; it must be the same for any number of threads."""
    messages = []
    for threads in (1, 3):
        with pytest.raises(GaltonError) as caught:
            galton.parse(text).build(threads=threads, **options)
        assert caught.value.kind == "model"
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    return messages[0]


def exit_code(text: str, options: str) -> int:
    """What becomes of a process of its own that builds a model: 1 if Python complains, negative if it crashes."""
    script = f"import galton; galton.parse({text!r}).build({options}).validate()"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60).returncode


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


# Expressions


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("mod(x, 3)", "2"),  # x is -7
        ("mod(x, 7)", "0"),
        ("mod(-x, 3)", "1"),
        ("mod(x, 1)", "0"),
        ("floor(x/2)", "-4"),
        ("ceil(x/2)", "-3"),
        ("round(x/2)", "-3"),  # -3.5: halves go up
        ("round(-x/2)", "4"),
        ("round((x+2)/2)", "-2"),  # -2.5
        ("round(x+6.5)", "0"),  # -0.5
        ("floor(x+6.5)", "-1"),
        ("ceil(x+6.5)", "0"),
        ("floor(x)", "-7"),
        ("round(x/x*0.49999999999999994)", "0"),  # adding a half would round up to 1
        ("pow(x, 3)", "-343"),
        ("x^2", "49"),
        ("-x^2", "-49"),
        ("pow(x, 0)", "1"),
        ("pow(x+7, 0)", "1"),
        ("pow(2, x+7)", "1"),
        ("pow(2.0, x+6)", "0.5"),
        ("pow(4, 0.5)", "2"),
        ("pow(-x, 1.0)", "7"),
        ("log(8, 2)", "3"),
        ("log(x+8, 10)", "0"),
        ("min(x, 2, -8)", "-8"),
        ("max(x, -7.5)", "-7"),
        ("min(x, 0.5)*2", "-14"),
        ("x/2", "-3.5"),
        ("7/x", "-1"),
        ("(x+10)/4*4", "3"),
        ("10-4-x", "13"),
        ("2^3^2", "512"),
        ("(x<0 ? 1 : 0.5)/2", "0.5"),
        ("(x>0 ? 1 : 0.5)/2", "0.25"),
        ("(x<0 ? x : x/2)", "-7"),
    ],
)
def test_arithmetic(expression: str, expected: str) -> None:
    assert holds(f"{expression} = {expected}", "x : [-10..10] init -7;")
    assert holds(f"{expression} = {expected}", "y : [0..1];", before="const int x = -7;")


@pytest.mark.parametrize(
    "condition",
    [
        "x/(x+7) < 0",  # -7/0 is minus infinity
        "!(0/(x+7) < 1) & !(0/(x+7) >= 1)",  # not a number
        "0/(x+7) != 0/(x+7)",
        "pow(x, 0.5) != pow(x, 0.5)",
        "log(x, 2) != log(x, 2)",
        "log(x+7, 2) < -1e300",
        "max(1, log(x, 2)) != 1",  # not a number either
        "max(log(x, 2), 1) != 1",
        "min(1, log(x, 2)) != 1",
        "min(log(x, 2), 1) != 1",
        "1/(x+7) > 1e300",
        "1/(x+7) != 1e300",
        "1/(x+7) > 1.7e308",
        "x*1e300 < -1e300",  # large, and nothing else
        "x*1e300 != -1e300",
        "x*1e300*1e300 < -1.7e308",
        "pow(x+7.0, x) < -1e300 | pow(x+7.0, x) > 1e300",
    ],
)
def test_doubles_that_are_huge_infinite_or_no_numbers(condition: str) -> None:
    assert holds(condition, "x : [-10..10] init -7;")


@pytest.mark.parametrize(
    ("exponent", "why"),
    [
        ("x-1.0", "a double literal"),
        ("(x-1)*1.0", "times one"),
        ("1.0*(x-1)", "times one"),
        ("(x-1)+0.0", "plus zero"),
        ("0.0+(x-1)", "plus zero"),
        ("(x-1)-0.0", "minus zero"),
        ("(x-1)/1", "a quotient"),
        ("-1/1", "a quotient of literals"),
        ("-2/2.0", "a quotient of literals"),
        ("(true ? x-1 : 0.5)", "the other branch is a double"),
        ("(x=0 ? x-1 : 0.5)", "the other branch is a double"),
        ("(x=9 ? 0.5 : x-1)", "the other branch is a double, and never taken"),
        ("min(x-1, 2.0)", "the other argument is a double"),
    ],
)
def test_a_double_stays_a_double(exponent: str, why: str) -> None:
    """2 to the power of minus 1 is one half for a double and an error for an integer."""
    assert holds(f"pow(2, {exponent}) = 0.5"), why


def test_the_type_of_a_literal_does_not_depend_on_others() -> None:
    """Minus one is an integer that becomes a double in the first label, and a double in the second."""
    text = 'dtmc module m x : [0..2]; [] true -> true; endmodule label "a" = -1/2<=x; label "b" = pow(2, -1.0)=0.5;'
    assert build(text).labels["b"].tolist() == [True]


def test_literals_of_different_types_are_different() -> None:
    text = 'dtmc module m x : [0..1]; [] true -> true; endmodule label "a" = pow(x+2, {})=0.5; label "b" = {};'
    assert build(text.format("-1.0", "x-1=-1")).labels["a"].tolist() == [True]
    assert "(x=0)" in refused(text.format("-1.0", "pow(x+2, -1)=0.5"))
    assert "(x=0)" in refused(text.format("-1", "pow(x+2, -1.0)=0.5"))


@pytest.mark.parametrize(
    "guard", ["y!=0 & mod(x,y)=1", "!(y=0 | mod(x,y)!=1)", "!(y!=0 => mod(x,y)!=1)", "(y=0 ? 0 : mod(x,y))=1"]
)
def test_the_right_side_is_not_looked_at_when_the_left_decides(guard: str) -> None:
    text = f"""mdp module m x : [0..5] init 5; y : [0..4] init 4;
      [a] {guard} -> true;
      [] y>0 -> (y'=y-1);
    endmodule"""
    enabled = [y for (_, y), choices in table(text).items() if any(action == "a" for action, _ in choices)]
    assert enabled == [2, 4]


@pytest.mark.parametrize("guard", ["mod(x,y)=1 & y!=0", "mod(x,y)=1 | y=0", "mod(x,y)=1 => y=0", "mod(x,y)=1 <=> y=0"])
def test_the_left_side_is_always_looked_at(guard: str) -> None:
    text = f"mdp module m x : [0..5] init 5; y : [0..1] init 1; [a] {guard} -> true; [] y>0 -> (y'=y-1); endmodule"
    assert "(x=5, y=0)" in refused(text)


def test_guards_protect_probabilities_and_updates() -> None:
    text = """dtmc module m x : [0..3] init 3; y : [0..3] init 3;
      [] x>0 -> 1/x : (x'=x-1) & (y'=mod(y, x)) + 1-1/x : (x'=x-1);
      [] x=0 -> true;
    endmodule"""
    assert table(text)[(3, 3)] == [("", {(2, 0): pytest.approx(1 / 3), (2, 3): pytest.approx(2 / 3)})]


def test_assignments_read_the_old_values() -> None:
    text = "dtmc module m x : [0..2] init 1; y : [0..2] init 2; [] true -> (x'=y) & (y'=x); endmodule"
    assert table(text) == {(1, 2): [("", {(2, 1): 1.0})], (2, 1): [("", {(1, 2): 1.0})]}


# Choices and transitions


def test_equal_targets_of_a_choice_are_merged() -> None:
    text = "mdp module m x : [0..2]; [] x=0 -> 0.25:(x'=1) + 0.5:(x'=2) + 0.25:(x'=1); [] x>0 -> (x'=0); endmodule"
    assert table(text)[(0,)] == [("", {(1,): 0.5, (2,): 0.5})]
    model = build(text)
    assert model.columns.tolist() == [1, 2, 0, 0]


def test_equal_choices_are_kept() -> None:
    commands = "[a] true -> (x'=1); [a] true -> (x'=1); [] true -> (x'=1); [] true -> (x'=1);"
    text = f"mdp module m x : [0..1]; {commands} endmodule"
    to = {(1,): 1.0}
    assert table(text)[(0,)] == [("", to), ("", to), ("a", to), ("a", to)]


def test_a_loop_is_a_transition_and_no_deadlock() -> None:
    model = build("mdp module m x : [0..1]; [] true -> true; endmodule")
    assert model.transitions(0) == [("", [(1.0, 0)])]
    assert not model.labels["deadlock"].any()


def test_three_overlapping_commands_of_a_dtmc_share_equally() -> None:
    text = """dtmc module m x : [0..3];
      [a] x=0 -> (x'=1);
      [b] x=0 -> 0.5:(x'=1) + 0.5:(x'=2);
      []  x=0 -> 0.25:(x'=0) + 0.75:(x'=3);
      []  x>0 -> (x'=0);
    endmodule"""
    shares = {(0,): 0.25 / 3, (1,): 1.5 / 3, (2,): 0.5 / 3, (3,): 0.75 / 3}
    assert table(text)[(0,)] == [("", pytest.approx(shares, rel=1e-12))]


def test_equal_commands_of_a_dtmc_count_twice() -> None:
    text = "dtmc module m x : [0..2]; [] x=0 -> (x'=1); [] x=0 -> (x'=1); [] x=0 -> (x'=2); [] x>0 -> true; endmodule"
    assert table(text)[(0,)] == [("", pytest.approx({(1,): 2 / 3, (2,): 1 / 3}, rel=1e-12))]


def test_combinations_of_a_dtmc_count_one_by_one() -> None:
    """Two commands of one module meet one of the other; a third command goes alone: three choices."""
    text = """dtmc
      module m x : [0..3]; [a] x=0 -> (x'=1); [a] x=0 -> (x'=2); [] x=0 -> (x'=3); [] x>0 -> true; endmodule
      module n [a] true -> true; endmodule"""
    assert table(text)[(0,)] == [("", pytest.approx({(1,): 1 / 3, (2,): 1 / 3, (3,): 1 / 3}, rel=1e-12))]


def test_rates_add_up_and_loops_stay() -> None:
    commands = "[] true -> 2:(x'=0) + 3:(x'=1); [] x=0 -> 0.5:(x'=0); [a] x=0 -> 4:(x'=1);"
    text = f"ctmc module m x : [0..1]; {commands} endmodule"
    assert table(text) == {(0,): [("", {(0,): 2.5, (1,): 7.0})], (1,): [("", {(0,): 2.0, (1,): 3.0})]}


def test_an_update_without_a_chance_may_go_anywhere() -> None:
    updates = "0:(x'=x+5) + (x=0 ? 0 : 1):(x'=x-1) + (x=0 ? 1 : 0):(x'=x+1)"
    text = f"dtmc module m x : [0..1]; [] true -> {updates}; endmodule"
    assert table(text) == {(0,): [("", {(1,): 1.0})], (1,): [("", {(0,): 1.0})]}


@pytest.mark.parametrize("value", ["mod(x, y)", "floor(x/y)", "5*(1-y)", "pow(2, y-1)", "round(0/y)"])
def test_an_update_without_a_chance_is_not_worked_out(value: str) -> None:
    """Where y is 0 the new value of x does not exist, and the update has no chance."""
    for weights in ("(y>0 ? 1 : 0)", "(y>0 ? 0 : 1)"), ("y", "(1-y)"), ("min(1, 3*y)", "pow(0, y)"):
        updates = f"{weights[0]}:(x'={value}) + {weights[1]}:(y'=1)"
        text = f"dtmc module m x : [0..2]; y : [0..2]; [] true -> {updates}; endmodule"
        assert table(text)[(0, 0)] == [("", {(0, 1): 1.0})]


def test_an_update_with_any_chance_may_not() -> None:
    assert "(x=0)" in refused("dtmc module m x : [0..1]; [] true -> 1e-9:(x'=x+5) + 1-1e-9:true; endmodule")


def test_an_update_without_a_chance_leads_to_no_state() -> None:
    text = "ctmc module m x : [0..9]; [] x<9 -> x:(x'=9) + 1:(x'=mod(x+1, 2)) + 0*x:(x'=5); endmodule"
    assert list(table(text)) == [(0,), (1,), (9,)]


def test_a_state_with_only_zero_rates_is_a_deadlock() -> None:
    model = build("ctmc module m x : [0..2]; [] true -> (1-x):(x'=x+1); endmodule")
    assert model.labels["deadlock"].tolist() == [False, True]
    assert [model.transitions(state) for state in (0, 1)] == [[("", [(1.0, 1)])], [("", [(1.0, 1)])]]


# Synchronisation


def test_synchronised_probabilities_multiply() -> None:
    text = """mdp
      module m x : [0..1]; [a] true -> 0.25:(x'=0) + 0.75:(x'=1); endmodule
      module n y : [0..1]; [a] true -> 0.5:(y'=x) + 0.5:(y'=1-x); endmodule"""
    targets = {(0, 0): 0.125, (0, 1): 0.125, (1, 0): 0.375, (1, 1): 0.375}
    assert table(text) == {state: [("a", targets)] for state in targets}


def test_combinations_come_in_order() -> None:
    """Unlabelled ones first, then the actions as they first appear; the first module's commands vary fastest."""
    text = """mdp
      module m x : [0..9];
        [b] x=0 -> (x'=1);
        [a] x=0 -> (x'=2);
        []  x=0 -> (x'=5);
        [a] x=0 -> (x'=3);
        [a] x=0 -> (x'=4);
      endmodule
      module n y : [0..9];
        [a] x=0 -> (y'=1);
        []  x=0 -> (y'=7);
        [a] x=0 -> (y'=2);
        [c] x=0 -> (y'=3);
      endmodule"""
    choices = [(action, *targets) for action, targets in table(text)[(0, 0)]]
    unlabelled = [("", (5, 0)), ("", (0, 7))]
    synchronised = [("a", (x, y)) for y in (1, 2) for x in (2, 3, 4)]
    assert choices == [*unlabelled, ("b", (1, 0)), *synchronised, ("c", (0, 3))]


def test_an_action_of_one_module_needs_nobody() -> None:
    text = """mdp
      module m x : [0..1]; [only] x=0 -> (x'=1); endmodule
      module n y : [0..1]; [] true -> (y'=y); endmodule"""
    assert [action for action, _ in table(text)[(0, 0)]] == ["", "only"]


@pytest.mark.parametrize("command", ["[a] false -> true;", "[a] y=1 -> true;", "[a] x>0 & x<0 -> true;"])
def test_an_action_is_blocked_when_another_module_never_takes_part(command: str) -> None:
    text = f"""mdp
      module m x : [0..2]; [a] true -> (x'=1); [] x=0 -> (x'=2); endmodule
      module n y : [0..1]; {command} endmodule"""
    assert table(text) == {(0, 0): [("", {(2, 0): 1.0})], (2, 0): [("", {(2, 0): 1.0})]}


def test_a_blocked_command_is_not_worked_out() -> None:
    """Its probabilities may be wrong and its updates out of range: it never happens."""
    text = """mdp
      module m x : [0..2]; [a] true -> 7:(x'=9); [a] true -> mod(1, 0):(x'=1); [] x=0 -> (x'=2); endmodule
      module n y : [0..1]; [a] y=1 -> true; endmodule"""
    assert list(table(text)) == [(0, 0), (2, 0)]


def test_synchronisation_with_an_empty_factor() -> None:
    """One of the rates is zero, so nothing happens."""
    text = """ctmc
      module m x : [0..1]; [a] true -> 3:(x'=1); endmodule
      module n y : [0..2]; [a] true -> (y-y):true + 0:(y'=9); [] y<2 -> (y'=y+1); endmodule"""
    assert table(text) == {(0, 0): [("", {(0, 1): 1})], (0, 1): [("", {(0, 2): 1})], (0, 2): [("", {(0, 2): 1})]}
    assert build(text).labels["deadlock"].tolist() == [False, False, True]


def test_four_modules_synchronise() -> None:
    modules = "".join(
        f"module m{i} x{i} : [0..1]; [a] true -> 0.5:(x{i}'=0) + 0.5:(x{i}'=1); endmodule " for i in range(4)
    )
    found = table(f"mdp {modules}")
    assert len(found) == 16
    assert all(choices == [("a", dict.fromkeys(found, 1 / 16))] for choices in found.values())


# system … endsystem


SYSTEM = """mdp
  module m x : [0..2]; [a] x<2 -> (x'=x+1); [b] x=0 -> (x'=2); endmodule
  module n y : [0..2]; [a] y<2 -> (y'=y+1); [c] y=0 -> (y'=2); endmodule
"""


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("m || n", [("a", (1, 1)), ("b", (2, 0)), ("c", (0, 2))]),
        ("n || m", [("a", (1, 1)), ("b", (2, 0)), ("c", (0, 2))]),
        ("m ||| n", [("a", (0, 1)), ("a", (1, 0)), ("b", (2, 0)), ("c", (0, 2))]),
        ("m |[a]| n", [("a", (1, 1)), ("b", (2, 0)), ("c", (0, 2))]),
        ("m |[a,b]| n", [("a", (1, 1)), ("c", (0, 2))]),  # n has no b
        ("m |[b,c]| n", [("a", (0, 1)), ("a", (1, 0))]),
        ("m/{a} || n", [("", (1, 0)), ("a", (0, 1)), ("b", (2, 0)), ("c", (0, 2))]),
        ("(m || n)/{a}", [("", (1, 1)), ("b", (2, 0)), ("c", (0, 2))]),
        ("(m || n)/{a,b,c}", [("", (0, 2)), ("", (1, 1)), ("", (2, 0))]),
        ("m{b<-c} || n", [("a", (1, 1)), ("c", (2, 2))]),
        ("m{a<-d} || n", [("a", (0, 1)), ("b", (2, 0)), ("c", (0, 2)), ("d", (1, 0))]),
        ("m{a<-b,b<-a} || n", [("a", (2, 1)), ("b", (1, 0)), ("c", (0, 2))]),
        ("m{a<-b} || n", [("a", (0, 1)), ("b", (1, 0)), ("b", (2, 0)), ("c", (0, 2))]),
        ("(m ||| n){b<-a,c<-a}", [("a", (0, 1)), ("a", (0, 2)), ("a", (1, 0)), ("a", (2, 0))]),
        ("m{a<-c} |[c]| n{a<-c}", [("b", (2, 0)), ("c", (1, 1)), ("c", (1, 2))]),
    ],
)
def test_composition(system: str, expected: list[tuple[str, tuple[int, int]]]) -> None:
    choices = table(f"{SYSTEM} system {system} endsystem")[(0, 0)]
    assert sorted((action, target) for action, targets in choices for target in targets) == expected


def test_three_operands_synchronise_on_what_two_share() -> None:
    text = """mdp
      module m x : [0..1]; [a] x=0 -> (x'=1); endmodule
      module n y : [0..1]; [a] y=0 -> (y'=1); endmodule
      module o z : [0..1]; [a] z=0 -> (z'=1); endmodule
      system {} endsystem"""
    assert table(text.format("m || n || o"))[(0, 0, 0)] == [("a", {(1, 1, 1): 1.0})]
    pairs = sorted(target for _, targets in table(text.format("(m || n) ||| o"))[(0, 0, 0)] for target in targets)
    assert pairs == [(0, 0, 1), (1, 1, 0)]
    both = sorted(target for _, targets in table(text.format("(m ||| n) || o"))[(0, 0, 0)] for target in targets)
    assert both == [(0, 1, 1), (1, 0, 1)]


# Initial states and deadlocks


def test_several_initial_states() -> None:
    text = "mdp module m x : [0..3]; b : bool; [] true -> (b'=false); endmodule init x>1 & (x=3 => b) endinit"
    model = build(text)
    assert list(table(text)) == [(2, False), (2, True), (3, False), (3, True)]
    assert model.initial.tolist() == [0, 1, 3]
    assert model.labels["init"].tolist() == [True, True, False, True]


@pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])
@pytest.mark.parametrize("expression", ["false", "x>1", "x=0 & x=1"])
def test_no_initial_state(kind: str, expression: str) -> None:
    refused(f"{kind} module m x : [0..1]; [] true -> (x'=1-x); endmodule init {expression} endinit")


def test_an_error_in_the_initial_condition() -> None:
    refused("dtmc module m x : [0..1]; [] true -> (x'=1-x); endmodule init mod(1, x)=0 endinit")
    text = "dtmc module m x : [0..1]; [] true -> true; endmodule init x!=0 & mod(1, x)=0 endinit"
    assert list(table(text)) == [(1,)]


@pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])
def test_a_deadlock_in_the_initial_state(kind: str) -> None:
    text = f"{kind} module m x : [0..2] init 1; [] x=0 -> (x'=1); endmodule"
    model = build(text)
    assert model.transitions(0) == [("", [(1.0, 0)])]
    assert (model.labels["init"].tolist(), model.labels["deadlock"].tolist()) == ([True], [True])


@pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])
def test_deadlocks_can_be_refused(kind: str) -> None:
    text = f"{kind} module m x : [0..2]; [a] x<2 -> (x'=x+1); endmodule"
    with pytest.raises(DeadlockError, match=r"x=2") as caught:
        build(text, fix_deadlocks=False)
    assert caught.value.kind == "model"
    fine = text.replace("endmodule", "[] x=2 -> true; endmodule")
    assert not build(fine, fix_deadlocks=False).labels["deadlock"].any()


def test_the_limit_on_states() -> None:
    text = "dtmc module m x : [0..9]; [] true -> (x'=mod(x+1, 10)); endmodule"
    assert build(text, max_states=10).n_states == 10
    with pytest.raises(LimitError, match="9") as caught:
        build(text, max_states=9)
    assert caught.value.kind == "limit"


def test_the_limit_on_states_of_an_endless_model() -> None:
    with pytest.raises(LimitError):
        build("dtmc module m x : int; [] true -> (x'=x+1); endmodule", max_states=5_000)


def test_the_limit_counts_initial_states() -> None:
    with pytest.raises(LimitError):
        build("mdp module m x : [0..999]; [] true -> true; endmodule init true endinit", max_states=500)


def test_the_limit_on_memory() -> None:
    with pytest.raises(LimitError) as caught:
        build("dtmc module m x : int; [] true -> (x'=x+1); endmodule", memory_mb=1)
    assert caught.value.kind == "limit"


@pytest.mark.parametrize("option", ["threads=0", "threads=-1", "threads=500", "max_states=0", "max_states=-1"])
def test_odd_options_do_no_harm(option: str) -> None:
    """They may work or be refused."""
    assert exit_code("dtmc module m x : [0..3]; [] x<3 -> (x'=x+1); endmodule", option) in (0, 1)


# Rewards


REWARDS = """{kind}
  module m x : [0..2];
    []  x=0 -> {p}:(x'=1) + {q}:(x'=2);
    [a] x=0 -> {r}:(x'=1);
    [b] x=1 -> {r}:(x'=0);
  endmodule
  rewards "r" x=0 : 5; x<2 : 0.5; [] true : 2; [a] true : 3; [a] x=0 : 4; [b] x=0 : 100; true : x; endrewards
"""


def test_rewards_of_an_mdp() -> None:
    rewards = build(REWARDS.format(kind="mdp", p=0.25, q=0.75, r=1)).rewards["r"]
    assert rewards.state is not None
    assert rewards.choice is not None
    assert rewards.state.tolist() == [5.5, 1.5, 2]
    assert rewards.choice.tolist() == [2, 7, 0, 0]  # [], [a], [b], and the loop of the deadlock, which earns nothing


def test_rewards_of_a_dtmc() -> None:
    rewards = build(REWARDS.format(kind="dtmc", p=0.25, q=0.75, r=1), transition_rewards=True).rewards["r"]
    assert rewards.choice is not None
    assert rewards.transition is not None
    assert rewards.choice.tolist() == pytest.approx([(2 + 7) / 2, 0, 0], rel=1e-12)
    to_one = (0.25 * 2 + 1 * 7) / 1.25
    assert rewards.transition.tolist() == pytest.approx([to_one, 2, 0, 0], rel=1e-12)


def test_rewards_of_a_ctmc() -> None:
    rewards = build(REWARDS.format(kind="ctmc", p=4, q=6, r=10), transition_rewards=True).rewards["r"]
    assert rewards.choice is not None
    assert rewards.transition is not None
    assert rewards.choice.tolist() == pytest.approx([10 * 2 + 10 * 7, 0, 0], rel=1e-12)
    to_one = (4 * 2 + 10 * 7) / 14
    assert rewards.transition.tolist() == pytest.approx([to_one, 2, 0, 0], rel=1e-12)


@pytest.mark.parametrize("kind", ["dtmc", "ctmc"])
def test_the_loop_of_a_deadlock_earns_nothing(kind: str) -> None:
    text = f"{kind} module m x : [0..1]; [] x=0 -> (x'=1); endmodule rewards [] true : 4; endrewards"
    rewards = build(text, transition_rewards=True).rewards[""]
    assert rewards.choice is not None
    assert rewards.transition is not None
    assert rewards.choice.tolist() == [4, 0]
    assert rewards.transition.tolist() == [4, 0]


def test_an_update_and_a_reward_with_the_same_expression() -> None:
    """The value that the reward asks for once overwrote the new value of another variable."""
    text = """ctmc module m g : [0..1]; h : [1..5]; w : [0..1];
        [] true -> 1:(g'=0) + 1:(w'=g=0 ? 0 : 1);
        [] h<5 -> 1:(h'=h+1);
      endmodule
      rewards [] true : h+1; endrewards"""
    rewards = build(text, transition_rewards=True).rewards[""]
    assert list(table(text, transition_rewards=True)) == [(0, h, 0) for h in range(1, 6)]
    assert rewards.transition is not None
    assert rewards.transition.tolist() == [2, 2, 3, 3, 4, 4, 5, 5, 6]


def test_single_transitions_of_an_mdp() -> None:
    """It once brought Python down."""
    text = """mdp
      module m x : [0..3]; [] x=0 -> 0.5:(x'=1) + 0.5:(x'=2); [] x=0 -> (x'=3); endmodule
      rewards [] true : 1; endrewards"""
    assert exit_code(text, "threads=1, transition_rewards=True") == 0


def test_hidden_actions_earn_the_rewards_of_unlabelled_ones() -> None:
    text = """mdp module m x : [0..1]; [a] true -> (x'=1); [b] true -> (x'=0); endmodule
      rewards [] true : 1; [a] true : 10; [b] true : 100; [c] true : 1000; endrewards
      system m/{a}{b<-c} endsystem"""
    model = build(text)
    choice = model.rewards[""].choice
    assert choice is not None
    assert {model.action(row): choice[row] for row in model.choices(0)} == {"": 1, "c": 1000}


def test_names_of_rewards() -> None:
    items = [f"rewards {name} true : {value}; endrewards" for value, name in enumerate(['"a"', "", '"b"', "", ""])]
    model = build(f"dtmc module m x : [0..1]; [] true -> true; endmodule {' '.join(items)}")
    found = {name: 0 if rewards.state is None else rewards.state[0] for name, rewards in model.rewards.items()}
    assert found == {"a": 0, "": 1, "b": 2, "#4": 3, "#5": 4}


# What goes wrong


@pytest.mark.parametrize(
    ("command", "state"),
    [
        ("[] x=0 -> 0.5:(x'=1) + 0.6:(x'=2);", 0),
        ("[] x=0 -> 0.5:(x'=1) + 0.49998:(x'=2);", 0),
        ("[] x=0 -> 0:(x'=1);", 0),
        ("[] x=0 -> -0.5:(x'=1) + 1.5:(x'=2);", 0),
        ("[] x=0 -> x/x:(x'=1);", 0),
        ("[] x=0 -> 1/x:(x'=1);", 0),
        ("[] x=0 -> 1/x:(x'=1) + 1-1/x:(x'=2);", 0),
        ("[] x=0 -> 1/0:(x'=1) + 1-1/0:(x'=2);", 0),
        ("[] x=0 -> (x'=1); [] x=1 -> x/2:(x'=2) + x/4:(x'=0);", 1),
        ("[] x=0 -> (x'=1); [] x=1 -> (x'=2); [] x=2 -> (x'=x+2);", 2),
        ("[] x=0 -> (x'=x-1);", 0),
        ("[] x=0 -> (x'=1000000000);", 0),
        ("[] x=0 -> (x'=1); [] mod(1, 1-x)=0 -> true;", 1),
        ("[] x=0 -> (x'=2); [] mod(1, 1-x)=0 -> true;", 2),
        ("[] x=0 -> (x'=1); [] pow(2, -x)=1 -> true;", 1),
        ("[] floor(1/x)=0 -> true;", 0),
        ("[] ceil(-1/x)=0 -> true;", 0),
        ("[] round(0/x)=0 -> true;", 0),
        ("[] x=0 -> (x'=1); [] x=1 -> (x'=floor(1/(x-1)));", 1),
        ("[a] x=0 -> (x'=1); [a] x=1 -> 0.4:(x'=2) + 0.4:(x'=3);", 1),
    ],
)
def test_what_goes_wrong_is_said_with_the_state(command: str, state: int) -> None:
    for kind in ("dtmc", "mdp"):
        assert f"(x={state})" in refused(f"{kind} module m x : [0..3]; {command} endmodule")


@pytest.mark.parametrize("rate", ["-1", "x-1", "1/x", "x/x", "-1/x", "log(x, 2)", "1/0", "0/0", "pow(x-1, 0.5)"])
def test_rates_that_are_none(rate: str) -> None:
    assert "(x=0)" in refused(f"ctmc module m x : [0..3]; [] x=0 -> 1:(x'=1) + {rate}:(x'=2); endmodule")


@pytest.mark.parametrize(
    "part",
    [
        'label "l" = mod(1, 1-x)=0;',
        "rewards mod(1, 1-x)=0 : 1; endrewards",
        "rewards x=1 : mod(1, 1-x); endrewards",
        "rewards [] x=1 : mod(1, 1-x); endrewards",
    ],
)
def test_labels_and_rewards_can_go_wrong(part: str) -> None:
    assert "(x=1)" in refused(f"mdp module m x : [0..1]; [] true -> (x'=1); endmodule {part}")


def test_nothing_goes_wrong_where_nobody_comes() -> None:
    text = """dtmc module m x : [0..3];
      [] x<2 -> (x'=1-x);
      [] x=2 -> 0.5:(x'=9);
      [] x=3 & mod(1, 0)=1 -> true;
    endmodule label "l" = x<2 | mod(1, 0)=1; rewards x=2 : mod(1, 0); endrewards"""
    assert list(table(text)) == [(0,), (1,)]


def test_sums_may_be_off_by_a_little() -> None:
    text = "dtmc module m x : [0..2]; [] true -> 0.333333:(x'=0) + 0.333333:(x'=1) + 0.333333:(x'=2); endmodule"
    assert table(text)[(0,)] == [("", {(0,): 0.333333, (1,): 0.333333, (2,): 0.333333})]


# Numbers of distinct values


def ring(size: int) -> Model:
    """State x goes on with rate x+1."""
    return build(f"ctmc module m x : [0..{size - 1}]; [] true -> x+1 : (x'=x={size - 1} ? 0 : x+1); endmodule")


@pytest.mark.parametrize(
    ("count", "kind"), [(256, np.uint8), (257, np.uint16), (65_536, np.uint16), (65_537, np.float64)]
)
def test_distinct_values(count: int, kind: type) -> None:
    model = ring(count)
    assert np.array_equal(model.values.array(), np.arange(1, count + 1))
    assert np.array_equal(model.columns, np.roll(np.arange(count), -1))
    stored = model.values.plain if model.values.index is None else model.values.index
    assert stored is not None
    assert stored.dtype == kind


def test_very_many_distinct_rates_of_two_counters() -> None:
    size = 280
    text = f"""ctmc
      module m x : [0..{size - 1}]; [] x<{size - 1} -> 1+x*{size}+y : (x'=x+1); endmodule
      module n y : [0..{size - 1}]; [] y<{size - 1} -> 1/(1+x*{size}+y) : (y'=y+1); endmodule"""
    model = build(text)
    code = np.arange(size * size)  # the number of (x, y) is x*size+y
    x, y = divmod(code, size)
    matrix = model.matrix.tocoo()
    up = matrix.col - matrix.row == size
    assert model.n_states == size * size
    assert np.array_equal(np.sort(matrix.row[up]), code[x < size - 1])
    assert np.array_equal(matrix.data[up], 1.0 + matrix.row[up])
    loops = matrix.col == matrix.row
    assert np.flatnonzero(model.labels["deadlock"]).tolist() == matrix.row[loops].tolist() == [size * size - 1]
    right = ~up & ~loops
    assert np.array_equal(np.sort(matrix.row[right]), code[y < size - 1])
    assert np.array_equal(matrix.col[right], matrix.row[right] + 1)
    assert np.allclose(matrix.data[right], 1 / (1.0 + matrix.row[right]), rtol=1e-15)


# Shapes


def test_a_deep_narrow_chain() -> None:
    size = 100_000
    start = time.perf_counter()
    model = build(f"dtmc module m x : [0..{size - 1}]; [] x<{size - 1} -> (x'=x+1); endmodule")
    assert time.perf_counter() - start < 30
    assert np.array_equal(model.columns, np.minimum(np.arange(size) + 1, size - 1))
    assert np.flatnonzero(model.labels["deadlock"]).tolist() == [size - 1]


def test_a_state_with_5000_updates() -> None:
    size = 5_000
    order = np.random.default_rng(1).permutation(size)
    updates = " + ".join(f"{(value + 1) / (size * (size + 1) / 2)!r} : (x'={value})" for value in order.tolist())
    model = build(f"dtmc module m x : [0..{size - 1}]; [] x=0 -> {updates}; [] x>0 -> (x'=0); endmodule")
    assert model.row_starts[:3].tolist() == [0, size, size + 1]
    assert np.array_equal(model.columns[:size], np.arange(size))
    assert np.array_equal(model.values[:size], np.arange(1, size + 1) / (size * (size + 1) / 2))


@pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])
def test_a_state_with_5041_successors_by_synchronisation(kind: str) -> None:
    side = 71
    updates = [" + ".join(f"1/{side} : ({x}'={value})" for value in reversed(range(side))) for x in "xy"]
    text = f"""{kind}
      module m x : [0..{side - 1}]; [a] x=0 & y=0 -> {updates[0]}; endmodule
      module n y : [0..{side - 1}]; [a] x=0 & y=0 -> {updates[1]}; endmodule"""
    model = build(text)
    assert model.n_states == side**2
    assert np.array_equal(model.columns[: side**2], np.arange(side**2))
    assert np.allclose(model.values[: side**2], 1 / side**2, rtol=1e-12)
    assert np.array_equal(model.columns[side**2 :], np.arange(1, side**2))  # the rest are deadlocks


def test_a_state_with_5000_choices() -> None:
    size = 5_000
    commands = " ".join(f"[] x=0 -> (x'={value});" for value in reversed(range(size)))
    model = build(f"mdp module m x : [0..{size - 1}]; {commands} [] x>0 -> (x'=0); endmodule")
    assert model.choices(0) == range(size)
    assert np.array_equal(model.columns[:size], np.arange(size)[::-1])


def test_many_initial_states() -> None:
    model = build("ctmc module m x : [0..99999]; [] true -> 1+mod(x, 3):(x'=floor(x/2)); endmodule init true endinit")
    assert np.array_equal(model.initial, np.arange(100_000))
    assert np.array_equal(model.columns, np.arange(100_000) // 2)
    assert np.array_equal(model.values.array(), 1.0 + np.arange(100_000) % 3)


@pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])
def test_a_large_grid_is_the_same_for_any_number_of_threads(kind: str) -> None:
    text = f"""{kind}
      module m x : [-99..99]; [] true -> 0.3:(x'=min(99, x+1)) + 0.7:(x'=max(-99, x-1)); [s] x>y -> (x'=y); endmodule
      module n y : [-99..99]; [] true -> 0.1:(y'=min(99, y+7)) + 0.9:(y'=max(-99, y-5)); [s] true -> (y'=-y); endmodule
      rewards "r" x>y : x-y; [s] true : max(x, 0); [] x<0 : 0.1; endrewards"""
    program = galton.parse(text)
    models = [program.build(threads=threads) for threads in (1, 2, 3, 5)]
    assert models[0].n_states == 199**2
    assert all(list(changes(models[0], model)) == [] for model in models[1:])
