"""Models from matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_matrix

from galton.model import Model, ModelError, Rewards

CHAIN = [[0.5, 0.5, 0], [0, 0, 1], [0, 0, 1]]


def test_all_forms_of_a_matrix_give_the_same_model() -> None:
    dense = Model.from_matrix("dtmc", CHAIN)
    rows, columns = np.nonzero(CHAIN)
    values = np.array(CHAIN)[rows, columns]
    entries = (values[::-1], (rows[::-1], columns[::-1]))
    for matrix in (np.array(CHAIN), csr_matrix(CHAIN), coo_array(CHAIN), entries):
        assert list(Model.from_matrix("dtmc", matrix).differences(dense)) == []


def test_duplicates_are_summed_and_zeros_dropped() -> None:
    matrix = coo_array(([0.25, 0.25, 0.5, 0, 1], ([0, 0, 0, 1, 1], [1, 1, 0, 0, 1])), shape=(2, 2))
    model = Model.from_matrix("dtmc", matrix)
    assert model.transitions(0) == [("", [(0.5, 0), (0.5, 1)])]
    assert model.transitions(1) == [("", [(1.0, 1)])]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 9)), min_size=1))
def test_any_entries_give_the_matrix_that_scipy_makes(entries: list[tuple[int, int, int]]) -> None:
    rows, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    model = Model.from_matrix("ctmc", coo_array((values, (rows, columns)), shape=(4, 4)))
    expected = coo_array((values, (rows, columns)), shape=(4, 4)).toarray().astype(float)
    deadlocks = expected.sum(axis=1) == 0
    expected[deadlocks, deadlocks] = np.eye(4)[deadlocks][:, deadlocks].diagonal()
    assert np.array_equal(model.matrix.toarray(), expected)
    assert model.labels["deadlock"].tolist() == deadlocks.tolist()


def test_deadlocks_of_an_mdp_move_choices() -> None:
    """States 0 and 2 have no choice: the rows of states 1 and 3 move, with all that belongs to them."""
    model = Model.from_matrix(
        "mdp",
        [[0, 0, 0, 1], [0.5, 0.5, 0, 0], [0, 0, 1, 0]],
        row_groups=[0, 0, 2, 2, 3],
        actions=["go", "try", "back"],
        rewards={"r": Rewards(choice=[1.0, 2, 3]), "t": coo_array(([5.0], ([2], [2])), shape=(3, 4))},
    )
    assert [model.transitions(state) for state in range(4)] == [
        [("", [(1.0, 0)])],
        [("go", [(1.0, 3)]), ("try", [(0.5, 0), (0.5, 1)])],
        [("", [(1.0, 2)])],
        [("back", [(1.0, 2)])],
    ]
    assert model.labels["deadlock"].tolist() == [True, False, True, False]
    rewards = [model.rewards[name].choice for name in "rt"]
    assert [array.tolist() for array in rewards if array is not None] == [[0, 1, 2, 0, 3], [0, 0, 0, 0, 5]]
    with pytest.raises(ModelError, match="state 0 has no transition"):
        Model.from_matrix("mdp", np.eye(1, 2), row_groups=[0, 0, 1], fix_deadlocks=False)


def test_deadlocks_of_a_ctmc_loop_with_rate_1() -> None:
    model = Model.from_matrix("ctmc", [[0, 7], [0, 0]])
    assert model.transitions(1) == [("", [(1.0, 1)])]


def test_labels_rewards_and_initial_states() -> None:
    model = Model.from_matrix(
        "dtmc",
        CHAIN,
        initial=[2, 0],
        labels={"mask": [True, False, True], "numbers": [1, 2], "none": []},
        rewards={"states": [1, 2, 3], "transitions": [[4, 6, 0], [0, 0, 0], [0, 0, 0]]},
    )
    assert model.initial.tolist() == [0, 2]
    assert model.labels["mask"].tolist() == [True, False, True]
    assert model.labels["numbers"].tolist() == [False, True, True]
    assert not model.labels["none"].any()
    states, transitions = model.rewards["states"].state, model.rewards["transitions"]
    assert states is not None
    assert transitions.choice is not None
    assert transitions.transition is not None
    assert states.tolist() == [1, 2, 3]
    assert transitions.choice.tolist() == [5, 0, 0]
    assert transitions.transition.tolist() == [4, 6, 0, 0]


def test_rewards_that_differ_within_a_choice_of_an_mdp_are_kept_one_by_one() -> None:
    model = Model.from_matrix("mdp", [[0.25, 0.75], [0, 1]], row_groups=[0, 1, 2], rewards={"r": [[4, 8], [0, 1]]})
    rewards = model.rewards["r"]
    assert rewards.choice is not None
    assert rewards.transition is not None
    assert rewards.choice.tolist() == [7, 1]
    assert rewards.transition.tolist() == [4, 8, 1]


EYE = np.eye(2)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("pta", EYE), {}, "the type of a model is dtmc, ctmc or mdp, not 'pta'"),
        (("dtmc", [[0.5, 0.4], [0, 1]]), {}, "state 0: the probabilities sum to 0.9, not 1"),
        (("dtmc", [[1, 0], [1.5, -0.5]]), {}, "state 1: the probability of going to 1 is -0.5, not positive"),
        (("ctmc", [[1, 0], [np.inf, 1]]), {}, "state 1: the rate of going to 0 is inf, not positive"),
        (("dtmc", [[1, 0, 0], [1, 0, 0]]), {}, "2 states with 2 rows need a matrix of shape (2, 2), not (2, 3)"),
        (("dtmc", [1, 0]), {}, "a matrix has two dimensions, not shape (2,)"),
        (("dtmc", ([1.0], ([0, 1], [0]))), {}, "values, rows and columns must be as many: (1,), (2,), (1,)"),
        (("dtmc", ([1.0], ([0], [-1]))), {}, "entry 0: column -1 is not one of 0 to 0"),
        (("dtmc", EYE), {"initial": 2}, "initial state: no state 2, there are 2"),
        (("dtmc", EYE), {"initial": []}, "there is no initial state"),
        (("dtmc", EYE), {"row_groups": [0, 1, 2]}, "row_groups are for an mdp; each row of a dtmc is a state"),
        (
            ("mdp", EYE),
            {},
            "an mdp needs row_groups: where the rows of each state begin, and at the end how many there are",
        ),
        (("mdp", EYE), {"row_groups": [0, 2, 1, 2]}, "row_groups must begin with 0 and never fall"),
        (
            ("mdp", EYE),
            {"row_groups": [0, 1, 3]},
            "2 states with 3 rows need a matrix of shape (3, 2), not (2, 2)",
        ),
        (("mdp", EYE), {"row_groups": [0, 1, 2], "actions": ["a"]}, "1 actions for 2 rows"),
        (("mdp", [[0, 0], [0, 1]]), {"row_groups": [0, 1, 2]}, "choice 0 has no transition"),
        (("dtmc", EYE), {"labels": {"x": [True]}}, "label 'x': a mask has one entry per state, 2, not shape (1,)"),
        (("dtmc", EYE), {"labels": {"x": [7]}}, "label 'x': no state 7, there are 2"),
        (
            ("dtmc", EYE),
            {"labels": {"init": [0]}},
            "the label 'init' is made by Galton; give the initial states with initial=",
        ),
        (("dtmc", EYE), {"rewards": {"r": [1, 2, 3]}}, "state rewards 'r' must have 2 entries, not shape (3,)"),
        (("dtmc", EYE), {"rewards": {"r": [[0, 1], [0, 0]]}}, "rewards 'r': row 0 has no transition to 1"),
        (
            ("dtmc", EYE),
            {"rewards": {"r": Rewards(transition=np.ones(2))}},
            "rewards 'r': give rewards of transitions as a matrix, so that it is clear which is whose",
        ),
    ],
)
def test_errors(arguments: tuple[str, object], options: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        Model.from_matrix(*arguments, **options)
    assert str(caught.value) == message
