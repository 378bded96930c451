"""The plan of a question: which reductions, in which order, and what a method cannot do without."""

from __future__ import annotations

import numpy as np
import pytest

from galton.graph import maximal_end_components
from galton.model.sparse import Model
from galton.reduce.plan import plan
from galton.reduce.reduction import Problem
from galton.reduce.unknowns import open_equations
from galton.solve import solve
from galton.solve.methods import METHODS, method
from galton.solve.requirements import Requirement, UnmetRequirementError
from galton.solve.settings import Settings

# States 0 and 1 can go round for ever; from 1 a choice leads to the goal, 3, with probability 0.3 and else to 2.
CIRCLE = Model.from_matrix(
    "mdp",
    [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0.7, 0.3], [0, 0, 1, 0], [0, 0, 0, 1]],
    row_groups=[0, 1, 3, 4, 5],
)
OPEN = np.array([True, True, False, False])
KNOWN = np.array([0.0, 0.0, 0.0, 1.0])


def problem(model: Model = CIRCLE, known: np.ndarray = KNOWN) -> Problem:
    return Problem(model, known, "max")


def test_end_components_are_collapsed_and_lifted() -> None:
    ends = maximal_end_components(CIRCLE, OPEN)
    assert ends.count == 1
    unknowns = open_equations(CIRCLE, OPEN, KNOWN, Settings(), optimum="max", merge=ends)
    assert unknowns.equations.size == 1
    solution = solve(unknowns.equations, Settings(strategy=True))
    assert unknowns.lift(solution.upper, KNOWN) == pytest.approx([0.3, 0.3, 0, 1])
    assert solution.chosen is not None
    # State 0 goes to 1, which leaves by its second row.
    lifted = unknowns.lift_choices(solution.chosen, np.full(4, -1, dtype=np.int32))
    assert lifted.tolist() == [0, 2, -1, -1]


def test_the_list_says_what_is_done() -> None:
    ends = maximal_end_components(CIRCLE, OPEN)
    unknowns = open_equations(CIRCLE, OPEN, KNOWN, Settings(), optimum="max", merge=ends)
    (listed,) = (work.detail for work in unknowns.work if work.step == "reductions")
    assert listed == (
        "restrict to 2 of 4 states; "
        "order by strongly connected component, successors first, each from its exits inwards; "
        "collapse 1 end components to one unknown each"
    )


def test_nothing_is_collapsed_where_there_is_nothing() -> None:
    assert [type(one).__name__ for one in plan(problem(), Settings(), OPEN, None)] == ["OpenStates", "ComponentOrder"]


@pytest.mark.parametrize("name", [name for name in METHODS if Requirement.CHAIN in method(name).requires])
def test_a_method_for_chains_is_refused_for_choices(name: str) -> None:
    for asked in (name, f"topological:{name}"):
        with pytest.raises(UnmetRequirementError, match=f"{name} solves the equations of chains"):
            plan(problem(), Settings(method=asked), OPEN, None)


@pytest.mark.parametrize("name", ["sound", "optimistic", "interval"])
@pytest.mark.parametrize("wrong", [-0.5, np.nan])
def test_proofs_are_refused_for_negative_numbers(name: str, wrong: float) -> None:
    known = KNOWN.copy()
    known[2] = wrong
    with pytest.raises(UnmetRequirementError, match="numbers that are not negative"):
        plan(problem(known=known), Settings(method=name), OPEN, None)


def test_every_method_needs_one_solution() -> None:
    assert all(Requirement.ONE_SOLUTION in method(name).requires for name in METHODS)
