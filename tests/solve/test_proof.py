"""The proof must refuse every wrong proposal, and what it accepts must be true to the last digit.

Truth comes from fractions. A proof that refuses too much makes Galton slow; one that accepts too much makes it wrong.
"""

from __future__ import annotations

from fractions import Fraction

import exact_equations as exact
import numpy as np
import pytest
import questions
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galton import _core
from galton.backend.protocol import Span
from galton.model.sparse import Model
from galton.solve.equations import Equations, Optimum, restrict

# A fair walk from 1 to 7 between 0 and 8: the probability to reach 8 is x/8, a double, as are all products and sums.
WALK = Model.from_matrix(
    "dtmc", np.diag([0.0] + [0.5] * 7, 1) + np.diag([0.5] * 7 + [0.0], -1) + np.diag([1.0] + [0.0] * 7 + [1.0])
)


def walk() -> tuple[Equations, np.ndarray]:
    equations = questions.reachability(WALK, [8])
    truth = np.empty(7)
    number = equations.origin.number
    truth[number[1:8]] = np.arange(1, 8) / 8
    return equations, truth


def is_above(equations: Equations, upper: np.ndarray, slack: float = 0.0) -> bool:
    return equations.system.is_above(upper, Span(0, equations.size), slack)


def is_below(equations: Equations, lower: np.ndarray, slack: float = 0.0) -> bool:
    return equations.system.is_below(lower, Span(0, equations.size), slack)


# Where rounding plays no part.


def test_the_solution_itself_is_both() -> None:
    equations, truth = walk()
    assert is_above(equations, truth)
    assert is_below(equations, truth)


@pytest.mark.parametrize("place", range(7))
def test_a_single_number_off_by_the_last_bit(place: int) -> None:
    equations, truth = walk()
    wrong = truth.copy()
    wrong[place] = np.nextafter(truth[place], 0)
    assert not is_above(equations, wrong)
    wrong[place] = np.nextafter(truth[place], 1)
    assert not is_below(equations, wrong)


@pytest.mark.parametrize("factor", [0.0, 0.5, 1 - 1e-3, 1 - 1e-9, 1 - 2**-52])
def test_a_solution_scaled_down_is_no_upper_bound(factor: float) -> None:
    equations, truth = walk()
    assert not is_above(equations, truth * factor)


@pytest.mark.parametrize("factor", [2.0, 1 + 1e-3, 1 + 1e-9, 1 + 2**-51])
def test_a_solution_scaled_up_is_no_lower_bound(factor: float) -> None:
    equations, truth = walk()
    assert not is_below(equations, truth * factor)


def test_slack_wants_room() -> None:
    equations, truth = walk()
    assert not is_above(equations, truth, slack=1e-15)
    assert not is_below(equations, truth, slack=1e-15)
    room = 1e-9 * truth * (8 - 8 * truth)  # concave, so that every step leads down
    assert is_above(equations, truth + room, slack=1e-15)
    assert is_below(equations, truth - room, slack=1e-15)
    assert not is_above(equations, truth + room, slack=1e-6)
    assert not is_below(equations, truth - room, slack=1e-6)


# Garbage.

BAD = {"not a number": np.nan, "negative": -1e-9, "minus infinity": -np.inf}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("everywhere", [True, False])
def test_numbers_that_are_none(bad: float, everywhere: bool) -> None:
    equations, truth = walk()
    wrong = truth.copy()
    wrong[slice(None) if everywhere else 3] = bad
    assert not is_above(equations, wrong)
    assert not is_below(equations, wrong)


@pytest.mark.parametrize("slack", [0.0, 1e-15])
def test_infinity_is_no_lower_bound(slack: float) -> None:
    equations, truth = walk()
    everywhere = np.full(7, np.inf)
    assert not is_below(equations, everywhere, slack)  # though infinity is its own image
    somewhere = truth.copy()
    somewhere[3] = np.inf
    assert not is_above(equations, somewhere, slack)  # its neighbours would have to be infinite, too
    assert not is_below(equations, somewhere, slack)


def test_what_rounding_to_nearest_would_swallow() -> None:
    # 0.5 + 0.5 + 1e-17 is more than 1, and 1 in doubles.
    model = Model.from_matrix("dtmc", [[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    equations = restrict(model, np.array([0, 1], dtype=np.int32), np.array([0, 0, 1.0, 0]), segments=None)
    matrix = _core.Matrix(None, equations.starts, equations.columns, equations.values.array(), None)
    for tiny, above, below in ((1e-17, False, True), (0.0, True, True)):
        system = _core.System(matrix, None, np.array([tiny, 0.5]), 0)
        assert system.is_above(np.ones(2), Span(0, 2), 0.0) is above
        assert system.is_below(np.ones(2), Span(0, 2), 0.0) is below
    # Likewise 1 - 1e-17 is less than 1: what is lost in the sum must not be found again.
    less = np.nextafter(0.5, 0)
    matrix = _core.Matrix(None, equations.starts, equations.columns, np.array([1.0, less]), None)
    system = _core.System(matrix, None, np.array([0.0, 0.5]), 0)
    assert not system.is_below(np.ones(2), Span(0, 2), 0.0)
    assert system.is_above(np.ones(2), Span(0, 2), 0.0)


# End components, in which every number is a solution.

LOOPING = [  # 0 and 1 may go round for ever, or leave for 2 with probability 1/2 and 1/4
    [[0, 1, 0, 0], [0, 0, 0.5, 0.5]],
    [[1, 0, 0, 0], [0, 0, 0.25, 0.75]],
    [[0, 0, 1, 0]],
    [[0, 0, 0, 1]],
]


def looping() -> Model:
    rows = [row for state in LOOPING for row in state]
    return Model.from_matrix("mdp", np.array(rows, dtype=float), row_groups=[0, 2, 4, 5, 6])


@pytest.mark.parametrize("wrong", [0.5 + 1e-9, 0.7, 0.99, 1.0])
def test_solutions_of_end_components_above_the_least(wrong: float) -> None:
    model = looping()
    known = np.array([0, 0, 1.0, 0])
    plain = restrict(model, np.array([0, 1], dtype=np.int32), known, optimum="max")
    # This is why end components are merged before anything is proved: here, 0.7 is a solution.
    assert is_below(plain, np.full(2, wrong))
    merged = questions.reachability(model, [2], "max")
    assert merged.size == 1
    assert not is_below(merged, np.full(1, wrong))
    assert is_below(merged, np.array([0.5]))
    assert is_above(merged, np.array([0.5]))
    assert not is_above(merged, np.array([0.5 - 1e-9]))


def test_cycles_that_cost_nothing() -> None:
    # Unmerged, going round for nothing would make every number a lower bound of the least cost, which is 0.
    model = looping()
    merged = questions.reward(model, np.zeros(4), [2, 3], "min")
    assert merged.size == 1
    assert not is_below(merged, np.array([1e-300]))
    # Where going round has a price, nothing is merged, and nothing proves itself.
    costly = questions.reward(model, np.array([1.0, 1, 0, 0]), [2, 3], "min")
    assert is_below(costly, np.array([1.0, 1]))
    assert not is_below(costly, np.array([1.0, 1]) + 2**-50)
    assert not is_above(costly, np.array([1.0, 1]) - 2**-50)


# Random equations and random proposals.


@st.composite
def random_models(draw: st.DrawFn, most_choices: int) -> Model:
    states = draw(st.integers(2, 5)) + 2  # the last two are a goal and a trap
    rows, groups = [], [0]
    for s in range(states - 2):
        for _ in range(draw(st.integers(1, most_choices))):
            choice = draw(st.dictionaries(st.integers(0, states - 1), st.integers(1, 9), min_size=1, max_size=4))
            # Every choice may end, so that every strategy does.
            choice = choice | {states - 1 - s % 2: draw(st.integers(1, 9))}
            row = np.zeros(states)
            row[list(choice)] = np.array(list(choice.values())) / sum(choice.values())
            rows.append(row)
        groups.append(len(rows))
    rows += [np.eye(states)[states - 2], np.eye(states)[states - 1]]
    if most_choices == 1:
        return Model.from_matrix("dtmc", np.array(rows))
    return Model.from_matrix("mdp", np.array(rows), row_groups=[*groups, len(rows) - 1, len(rows)])


def unmerged(model: Model, optimum: Optimum | None) -> Equations:
    members = np.arange(model.n_states - 2, dtype=np.int32)
    known = np.zeros(model.n_states)
    known[-2] = 1.0
    return restrict(model, members, known, optimum=optimum)


proposals = st.tuples(
    st.sampled_from([1e-3, 1e-9, 1e-13, 3e-16, 1e-16, 0.0]),
    st.lists(st.sampled_from([-3, -1, -1, 0, 1, 1, 2]), min_size=5, max_size=5),
)


def judge(equations: Equations, truth: list[Fraction], slack: float, scale: float, steps: list[int]) -> None:
    values = np.array([float(value) for value in truth])
    proposal = np.maximum(values * (1 + scale * np.array(steps[: len(values)], dtype=float)), 0.0)
    fractions = [Fraction(float(value)) for value in proposal]
    if is_above(equations, proposal, slack):
        assert all(found >= true for found, true in zip(fractions, truth, strict=True))
    if is_below(equations, proposal, slack):
        assert all(found <= true for found, true in zip(fractions, truth, strict=True))


@settings(deadline=None, max_examples=400)
@given(random_models(1), proposals)
def test_what_is_accepted_about_a_chain_is_true(model: Model, proposal: tuple[float, list[int]]) -> None:
    equations = unmerged(model, None)
    judge(equations, exact.optimum(exact.stored_rows(equations), None), 0.0, *proposal)
    # With its slack, the proof speaks of the model itself.
    judge(equations, exact.optimum(exact.model_rows(equations), None), equations.slack, *proposal)


@settings(deadline=None, max_examples=300)
@given(random_models(2), proposals, st.sampled_from(["min", "max"]))
def test_what_is_accepted_about_an_mdp_is_true(
    model: Model, proposal: tuple[float, list[int]], optimum: Optimum
) -> None:
    assume(np.diff(model.choice_starts).prod() <= 32)  # type: ignore[arg-type]
    equations = unmerged(model, optimum)
    judge(equations, exact.optimum(exact.stored_rows(equations), optimum), 0.0, *proposal)
    judge(equations, exact.optimum(exact.model_rows(equations), optimum), equations.slack, *proposal)


@settings(deadline=None, max_examples=200)
@given(random_models(2), st.sampled_from(["min", "max"]), st.integers(1, 6), st.sampled_from([1.0, 1e-3, 1e-12]))
def test_swept_bounds_stay_bounds(model: Model, optimum: Optimum, sweeps: int, width: float) -> None:
    equations = unmerged(model, optimum)
    truth = exact.optimum(exact.model_rows(equations), optimum)
    values = np.array([float(value) for value in truth])
    lower, upper = np.nextafter(values * (1 - width), 0), np.nextafter(values * (1 + width), np.inf)
    for _ in range(sweeps):
        equations.system.propagate(lower, upper, Span(0, equations.size), equations.slack)
        assert all(Fraction(float(low)) <= true for low, true in zip(lower, truth, strict=True))
        assert all(true <= Fraction(float(high)) for high, true in zip(upper, truth, strict=True))


@settings(deadline=None, max_examples=100)
@given(random_models(1), st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_random_garbage(model: Model, numbers: list[float]) -> None:
    equations = unmerged(model, None)
    truth = exact.optimum(exact.stored_rows(equations), None)
    proposal = np.array(numbers[: len(truth)])
    fractions = [Fraction(number) for number in numbers[: len(truth)]]
    if is_above(equations, proposal):
        assert all(found >= true for found, true in zip(fractions, truth, strict=True))
    if is_below(equations, proposal):
        assert all(found <= true for found, true in zip(fractions, truth, strict=True))


@settings(deadline=None, max_examples=50)
@given(random_models(2), st.sampled_from(["min", "max"]))
def test_good_proposals_are_accepted(model: Model, optimum: Optimum) -> None:
    equations = unmerged(model, optimum)
    truth = np.array([float(value) for value in exact.optimum(exact.model_rows(equations), optimum)])
    # Every choice ends with probability 1/37 or more, so that adding a number makes room for itself everywhere.
    assert is_above(equations, truth + 1e-9, equations.slack)
    assert is_below(equations, np.maximum(truth - 1e-9, 0.0), equations.slack)
