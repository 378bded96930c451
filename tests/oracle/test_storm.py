"""Storm against the exact checker and against Galton, on the same texts; and where Storm is known to differ.

The exact checker and Storm read the numbers of the text as fractions and have to agree to the last digit. Galton stores
doubles, so its bounds may miss Storm's fractions by what rounding the text changes.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from exact import Number
from galton_answers import ROUNDING, ask
from hypothesis import given, note
from hypothesis import strategies as st
from profile_settings import examples
from queries import TRUE, Bound, Label, Path, Probability, Query, Reward
from random_models import Command, RandomModel, Structure, models
from random_queries import AVERAGES, queries

import galton

stormpy = pytest.importorskip("stormpy")

from storm_answers import DIFFERENCES, Storm, comparable, timed  # noqa: E402

STORM_ERROR = Fraction(1, 10**6)  # of Storm's uniformisation

every_type = pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])


def agree(exact: Number, storm: Number, approximate: bool) -> bool:
    if not approximate or math.isinf(exact) or math.isinf(storm):
        return exact == storm
    return abs(exact - storm) <= STORM_ERROR * max(exact, 1)


@every_type
@examples(40)
@given(data=st.data())
def test_exact_checker_and_storm(kind: str, data: st.DataObject) -> None:
    random = data.draw(models([kind]))
    storm = Storm(random)
    for _ in range(8):
        query: Query = data.draw(queries(kind, nested=data.draw(st.sampled_from([False, False, True]))))
        note(query.text())
        states = comparable(random.exact, query)
        if states:
            pairs = zip(query.exact(random.exact), storm.values(query), strict=True)
            wrong = [s for s, pair in enumerate(pairs) if s in states and not agree(*pair, timed(kind, query))]
            assert not wrong


@every_type
@examples(20)
@given(data=st.data())
def test_galton_and_storm(kind: str, data: st.DataObject) -> None:
    """The bounds hold what Storm says, up to Storm's error and to the rounding of the text to doubles."""
    random = data.draw(models([kind]))
    storm = Storm(random)
    program = galton.parse(random.text)
    for _ in range(5):
        query: Query = data.draw(queries(kind))
        note(query.text())
        (initial,) = random.exact.initial
        if initial in comparable(random.exact, query):
            slack = STORM_ERROR if timed(kind, query) else ROUNDING
            assert ask(program, query.text()).contains(storm.values(query)[initial], slack, absolute=slack)


@examples(40)
@given(data=st.data())
def test_long_run_averages_of_mdps(data: st.DataObject) -> None:
    """Galton's bounds and the exact checker, both beside Storm's fractions."""
    random = data.draw(models(["mdp"]))
    storm = Storm(random)
    program = galton.parse(random.text)
    for operator in AVERAGES:
        query: Query = data.draw(queries("mdp", operator))
        note(query.text())
        (initial,) = random.exact.initial
        if initial in comparable(random.exact, query):
            told = storm.values(query)[initial]
            assert query.exact(random.exact)[initial] == told
            assert ask(program, query.text()).contains(told, ROUNDING, absolute=ROUNDING)


# Where Storm differs. Each case names its function in DIFFERENCES: once Storm agrees, both can go.


def small(kind: str, commands: list[Command], **labels: set[int]) -> RandomModel:
    """Two states, of which the second earns 1."""
    rewards = Structure("r", {1: Fraction(1)}, {})
    sets = {name: frozenset(states) for name, states in labels.items()}
    return RandomModel(kind, 2, 0, 0, commands, sets, [rewards], dyadic=True)


def step(state: int, target: int) -> Command:
    return Command(state, "", [(Fraction(1), target)])


def difference(name: str, model: RandomModel, query: Query) -> tuple[list[Number], list[Number]]:
    """What the exact checker and Storm say in the two states."""
    (named,) = [function for function in DIFFERENCES if function.__name__ == name]
    assert named(model.exact, query)
    return query.exact(model.exact), Storm(model).values(query)


def test_rewards_of_deadlocks() -> None:
    """PRISM: "deadlock states … a self-loop is added"; nothing is said of taking their rewards away."""
    model = small("dtmc", [step(0, 1)])
    exact, storm = difference("rewards_of_deadlocks", model, Reward("r", "C<=", time=Fraction(3)))
    assert (exact, storm) == ([2, 3], [0, 0])


def test_late_until() -> None:
    """``left U[1,2] goal`` asks for the left side at step 0."""
    model = small("dtmc", [step(0, 1), step(1, 1)], left=set(), goal={1})
    late = Probability(Path("U", Label("left"), Label("goal"), Bound("[]", Fraction(1), Fraction(2))))
    exact, storm = difference("late_until", model, late)
    assert (exact, storm) == ([0, 0], [0, 1])


def test_late_until_in_time() -> None:
    model = small("ctmc", [step(0, 1), step(1, 1)], left=set(), goal={1})
    late = Probability(Path("U", Label("left"), Label("goal"), Bound(">=", Fraction(1))))
    with pytest.raises(Exception, match="uniformization rate must be positive"):
        difference("late_until", model, late)


def test_until_at_a_point_in_time() -> None:
    """The goal is entered at time 1 itself with probability 0, and the left side is left when it is entered before."""
    model = small("ctmc", [step(0, 1), step(1, 1)], left={0}, goal={1})
    late = Probability(Path("U", Label("left"), Label("goal"), Bound("=", Fraction(1))))
    exact, storm = difference("until_at_a_point_in_time", model, late)
    assert exact == [0, 0]
    assert math.isclose(storm[0], 1 - math.exp(-1), rel_tol=1e-6)


@pytest.mark.parametrize("kind", ["dtmc", "mdp"])
def test_no_step_bound_from_above(kind: str) -> None:
    model = small(kind, [step(0, 1), step(1, 1)], goal={1})
    optimum = "max" if kind == "mdp" else None
    query = Probability(Path("F", TRUE, Label("goal"), Bound(">=", Fraction(1))), optimum)
    with pytest.raises(Exception, match="upper step bound"):
        difference("no_step_bound_from_above", model, query)


def test_no_rewards_until_time_zero() -> None:
    with pytest.raises(Exception, match="strict zero-bound"):
        difference("no_rewards_until_time_zero", small("ctmc", [step(0, 1), step(1, 1)]), Reward("r", "C<="))


def test_sound_instantaneous_rewards() -> None:
    """Two states that change places at rate 1: by time t one has moved with probability (1 - exp(-2t)) / 2.

    Storm's sound method, which is its default, answers for twice the time.
    """
    model = small("ctmc", [step(0, 1), step(1, 0)])
    (storm, _) = Storm(model).ask(Reward("r", "I=", time=Fraction(1)), float)
    assert math.isclose(storm, (1 - math.exp(-4)) / 2, rel_tol=1e-6)
    (exact, _) = Reward("r", "I=", time=Fraction(1)).exact(model.exact)
    assert math.isclose(exact, (1 - math.exp(-2)) / 2, rel_tol=1e-15)
