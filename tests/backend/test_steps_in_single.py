"""Steps in single precision, and steps over states in another order: bounds hold what whole numbers compute exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from systems import to_host

import galton
from galton.checking.bounded.within_steps import bounded_until, cumulative_steps, instantaneous_steps
from galton.checking.bounded.within_time import cumulative_time, instantaneous_time, timed_until
from galton.checking.quantity import Quantity
from galton.device.moving import moved
from galton.model.rounding import SINGLE
from galton.model.sparse import Model, Rewards
from galton.model.values import Values
from galton.solve.settings import Settings

Ask = Callable[[Model, Settings], Quantity]

SIZE = 12
SLACK = Fraction(1, 10**12)  # rows are distributions, whatever rounding did to their sums
LAYOUTS = [
    ("csr", None),
    ("csr-vector", "rcm"),
    ("ell", "bfs"),
    ("sliced", None),
    ("half-sliced", "rcm"),
    (None, "bfs"),
]


def random_model(seed: int, kind: str, *, plain: bool = True) -> Model:
    """A few entries a row; values as they come, or of a dictionary."""
    rng = np.random.default_rng(seed)
    groups = np.arange(SIZE + 1) if kind != "mdp" else np.append(0, np.cumsum(rng.integers(1, 4, SIZE)))
    dense = np.where(rng.random((groups[-1], SIZE)) < 0.3, rng.random((groups[-1], SIZE)), 0.0)
    dense[np.arange(groups[-1]), rng.integers(0, SIZE, groups[-1])] += 0.1
    if kind == "ctmc":
        model = Model.from_matrix("ctmc", dense * 5)
    else:
        chosen = {} if kind == "dtmc" else {"row_groups": groups}
        model = Model.from_matrix(kind, dense / dense.sum(axis=1, keepdims=True), **chosen)
    return replace(model, values=Values(plain=model.values.array())) if plain else model


class Exact:
    """The value of each state as a whole number over a power of two, under steps of a model as it is stored."""

    def __init__(self, model: Model, best: Callable[..., int]) -> None:
        self.best, values = best, model.values.array().tolist()
        self.places = max(value.as_integer_ratio()[1].bit_length() - 1 for value in values)
        whole = [int(Fraction(value) * 2**self.places) for value in values]
        starts, columns = model.row_starts.tolist(), model.columns.tolist()
        rows = [list(zip(whole[a:b], columns[a:b], strict=True)) for a, b in pairwise(starts)]
        self.rows = [list(rows[a:b]) for a, b in pairwise(model.row_groups)]

    def after(self, steps: int, start: Any, constant: Any, fixed: Any) -> list[Fraction]:
        """``x <- opt (Ax + constant)``, but for the states that are fixed to what they begin with."""
        scale = 60
        begin = [int(Fraction(float(number)) * 2**scale) for number in start]
        added = [int(Fraction(float(number)) * 2**scale) for number in constant]
        x = begin
        for _ in range(steps):
            scale += self.places
            shift, row, after = scale - 60, 0, []
            for state, choices in enumerate(self.rows):
                sums = [sum(v * x[c] for v, c in entries) for entries in choices]
                worth = [(added[row + k] << shift) + each for k, each in enumerate(sums)]
                after.append(begin[state] << shift if fixed[state] else self.best(worth))
                row += len(choices)
            x = after
        return [Fraction(number, 2**scale) for number in x]


def assert_within(found: Quantity, exact: list[Fraction]) -> None:
    for low, high, true in zip(to_host(found.lower).tolist(), to_host(found.upper).tolist(), exact, strict=True):
        assert Fraction(low) * (1 - SLACK) <= true <= Fraction(high) * (1 + SLACK)


def in_single(layout: tuple[str | None, str | None]) -> Settings:
    return Settings(single=True, format=layout[0], order=layout[1])


@pytest.mark.parametrize("steps", [1, 30, 500])
@pytest.mark.parametrize("kind", ["dtmc", "mdp"])
@pytest.mark.parametrize("seed", range(6))
def test_hundreds_of_steps_beside_whole_numbers(xp: Any, seed: int, kind: str, steps: int) -> None:
    model, rng = random_model(seed, kind, plain=seed % 3 != 2), np.random.default_rng(seed)
    state, choice = rng.random(SIZE), rng.random(model.n_choices)
    goal, through = np.arange(SIZE) == 3, rng.random(SIZE) < 0.8
    there, rewards = moved(model, xp.array), Rewards(state=xp.array(state), choice=xp.array(choice))
    settings, zeros, nowhere = in_single(LAYOUTS[seed]), np.zeros(model.n_choices), np.zeros(SIZE, dtype=bool)
    earned = np.repeat(state, np.diff(model.row_groups)) + choice
    for optimum, best in ((None, max),) if kind == "dtmc" else (("min", min), ("max", max)):
        exact = Exact(model, best)
        found = bounded_until(there, xp.array(through), xp.array(goal), 0, steps, optimum, settings)
        assert_within(found, exact.after(steps, goal, zeros, goal | ~through))
        assert "single precision" in found.work[-1].detail
        found = cumulative_steps(there, rewards, steps, optimum, settings)
        assert_within(found, exact.after(steps, np.zeros(SIZE), earned, nowhere))
        found = instantaneous_steps(there, rewards, steps, optimum, settings)
        assert_within(found, exact.after(steps, state, zeros, nowhere))


TIMED: dict[str, Callable[[Model, Any, Any, float, Settings], Quantity]] = {
    "until": lambda model, goal, _, time, settings: timed_until(model, goal == goal, goal, 0.0, time, settings),
    "later": lambda model, goal, _, time, settings: timed_until(model, goal == goal, goal, time / 2, time, settings),
    "over": lambda model, _, state, time, settings: cumulative_time(model, Rewards(state=state), time, settings),
    "at": lambda model, _, state, time, settings: instantaneous_time(model, Rewards(state=state), time, settings),
}


@pytest.mark.parametrize("ask", TIMED.values(), ids=TIMED)
@pytest.mark.parametrize("seed", range(6))
def test_times_beside_the_cpu(xp: Any, seed: int, ask: Any) -> None:
    """Whose bounds are closer by far."""
    model, state, goal = random_model(seed, "ctmc", plain=seed % 2 == 0), np.random.default_rng(seed).random(SIZE), 3
    goals = np.arange(SIZE) == goal
    for time in (0.01, 1.0, 60.0):
        home = ask(model, goals, state, time, Settings(eps=1e-10, method="uniformisation"))
        found = ask(moved(model, xp.array), xp.array(goals), xp.array(state), time, in_single(LAYOUTS[seed]))
        assert (to_host(found.lower) <= home.upper).all()
        assert (home.lower <= to_host(found.upper)).all()
        initial = int(model.initial[0])
        assert found.upper[initial] > found.lower[initial] or home.upper[initial] in (0, 1)


def test_rounding_that_always_goes_the_same_way_gets_half_as_far_as_the_bounds_allow(xp: Any) -> None:
    """A number just above a half becomes a half, and all that follows is exact: 2^-24 of it a step, of twice that."""
    stays, steps = 0.5 + 2.0**-25 * 0.999, 150
    model = Model.from_matrix("dtmc", [[stays, 1 - stays], [0, 1]])
    model = replace(model, values=Values(plain=model.values.array()))
    start = np.array([1.0, 0.0])
    found = instantaneous_steps(
        moved(model, xp.array), Rewards(state=xp.array(start)), steps, None, Settings(single=True)
    )
    low, high, exact = Fraction(float(found.lower[0])), Fraction(float(found.upper[0])), Fraction(stays) ** steps
    assert low < exact < high
    middle = (low + high) / 2
    assert 0.45 < float((exact - middle) / (high - middle)) < 0.55


def test_numbers_too_faint_for_floats_are_lost_and_the_bounds_say_so(xp: Any) -> None:
    model = Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]])
    for steps in (60, 224, 230, 400):
        rewards = Rewards(state=xp.array([1.0, 0.0]))
        found = instantaneous_steps(moved(model, xp.array), rewards, steps, None, Settings(single=True))
        assert 0 <= float(found.lower[0]) <= 0.5**steps <= float(found.upper[0])
    assert float(found.lower[0]) == 0
    assert float(found.upper[0]) < 1e-60


def test_values_beyond_floats_stay_doubles(xp: Any) -> None:
    model = Model.from_matrix("ctmc", [[0.0, 1.0, 1e-40], [1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    model = replace(model, values=Values(plain=model.values.array()))
    goals, home = np.arange(3) == 1, Settings(eps=1e-10, method="uniformisation")
    found = timed_until(
        moved(model, xp.array), xp.ones(3, dtype=bool), xp.array(goals), 0.0, 1e-3, Settings(single=True)
    )
    close = timed_until(model, np.ones(3, dtype=bool), goals, 0.0, 1e-3, home)
    assert (to_host(found.lower) <= close.upper).all()
    assert (close.lower <= to_host(found.upper)).all()
    assert "8-byte values" in found.work[-1].detail


@pytest.mark.parametrize("optimum", ["min", "max"])
def test_rounding_of_more_than_all_there_is(xp: Any, optimum: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a hundred million steps: bounds get no further than what is possible, and never out of order."""
    coarse = SINGLE._replace(storing=2.0**-5)
    for module in ("galton.backend.steps", "galton.backend.cuda.steps"):
        monkeypatch.setattr(f"{module}.SINGLE", coarse)
    model, ones = moved(random_model(1, "mdp"), xp.array), xp.ones(SIZE, dtype=bool)
    goal, rewards = xp.array(np.arange(SIZE) == 3), Rewards(state=xp.array(np.random.default_rng(1).random(SIZE)))
    for steps in (30, 300):
        found = bounded_until(model, ones, goal, 0, steps, optimum, Settings(single=True))
        assert (to_host(found.lower) <= to_host(found.upper)).all()
        assert (to_host(found.upper) <= 1).all()
        found = instantaneous_steps(model, rewards, steps, optimum, Settings(single=True))
        assert (to_host(found.lower) == 0).all()
        assert (to_host(found.upper) <= float(rewards.state.max())).all()


@pytest.mark.parametrize("order", ["canonical", "bfs", "rcm"])
@pytest.mark.parametrize("kind", ["dtmc", "mdp", "ctmc"])
def test_another_order_gives_the_same_numbers_and_choices(xp: Any, kind: str, order: str) -> None:
    """A row is added up in the order that it has, whatever the numbers of its states."""
    model, rng = moved(random_model(7, kind), xp.array), np.random.default_rng(7)
    state, goal = xp.array(rng.random(SIZE)), xp.array(rng.random(SIZE) < 0.2)
    through = xp.array(rng.random(SIZE) < 0.9)
    optimum = "max" if kind == "mdp" else None
    asked: list[Ask] = [
        lambda model, settings: cumulative_time(model, Rewards(state=state), 3.0, settings),
        lambda model, settings: timed_until(model, through, goal, 1.0, 3.0, settings),
    ]
    if kind != "ctmc":
        keep = {"strategy": kind == "mdp"}
        asked = [
            lambda model, settings: bounded_until(model, through, goal, 0, 9, optimum, settings, **keep),
            lambda model, settings: bounded_until(model, through, goal, 3, 9, optimum, settings, **keep),
            lambda model, settings: cumulative_steps(model, Rewards(state=state), 9, optimum, settings, **keep),
            lambda model, settings: instantaneous_steps(model, Rewards(state=state), 9, optimum, settings, **keep),
        ]
    for ask in asked:
        plain, found = ask(model, Settings()), ask(model, Settings(order=order))
        np.testing.assert_array_equal(to_host(found.lower), to_host(plain.lower))
        np.testing.assert_array_equal(to_host(found.upper), to_host(plain.upper))
        if kind == "mdp":
            np.testing.assert_array_equal(found.choices, plain.choices)
        assert "numbered" in found.work[-1].detail


MACHINE = """
ctmc
module machine
  up : bool init true;
  [] up -> 0.25 : (up'=false);
  [] !up -> 3 : (up'=true);
endmodule
"""


def test_bounds_wider_than_asked_for_come_with_what_to_do(xp: Any) -> None:
    program, prop = galton.parse(MACHINE), "P=? [ F<=5 !up ]"
    close = galton.check(program, prop, device="cpu")
    found = galton.check(program, prop, settings=Settings(single=True), device="cuda")
    assert found.lower < close.lower <= close.upper < found.upper
    assert found.device == "cuda"
    (warning,) = found.warnings
    assert warning.startswith("the bounds are 2.8e-06 apart, which is more than eps asks for; ")
    assert warning.endswith("; single precision rounds that much in 16 steps: leave single=True away")
    assert galton.check(program, prop, settings=Settings(single=True, eps=1e-4), device="cuda").warnings == ()


def test_thresholds_that_single_precision_cannot_tell_from_the_value(xp: Any) -> None:
    program = galton.parse(MACHINE)
    value = float(galton.check(program, "P=? [ F<=5 !up ]", device="cpu").value)
    undecided = galton.check(program, f"P>={value!r} [ F<=5 !up ]", settings=Settings(single=True), device="cuda")
    assert undecided.value is None
    assert undecided.warnings == ("single precision rounds too much to tell; leave single=True away",)
    assert galton.check(program, "P>=0.7 [ F<=5 !up ]", settings=Settings(single=True), device="cuda").value is True
