"""Programs that mean nothing in some state, limits, and models of unusual shapes."""

from __future__ import annotations

import time

import numpy as np
import pytest
from comparison import changes
from patience import allowed
from small_models import build, refused, table

import galton
from galton.backend.failures import Fault, explain
from galton.backend.limits import Limits
from galton.lower.lowering import lower
from galton.model.sparse import Model

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
    assert table(text)[(0,)] == [("", {(0,): 1 / 3, (1,): 1 / 3, (2,): 1 / 3})]


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
    assert time.perf_counter() - start < allowed(30)
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


def test_more_than_there_are_numbers_for() -> None:
    """Where nobody set a limit, it is not told as one: it once read "more than 9,223,372,036,854,775,807 states"."""
    lowered = lower(galton.parse("dtmc module m s:[0..1]; [] true -> true; endmodule"))
    for limits, said in (
        (Limits(), "more than 2,147,483,647 states, or choices of states: a matrix has no numbers for more"),
        (Limits(max_states=7), "more than 7 states; raise the limit with max_states"),
    ):
        assert str(explain({"fault": Fault.TOO_MANY_STATES}, lowered, limits)).startswith(said)
