"""The sparse model: its arrays, its views, and the promises that ``validate`` keeps."""

import pickle
import subprocess
import sys
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from galton.model import ListedStates, Model, ModelError, Rewards, Values

FLOATS = st.floats(allow_nan=False)


def small_mdp() -> Model:
    """Two states; the first can go or try."""
    return Model(
        type="mdp",
        choice_starts=np.array([0, 2, 3], dtype=np.int32),
        row_starts=np.array([0, 1, 3, 4], dtype=np.int32),
        columns=np.array([1, 0, 1, 1], dtype=np.int32),
        values=Values.compress([1, 0.25, 0.75, 1]),
        initial=np.array([0], dtype=np.int32),
        labels={"goal": np.array([False, True])},
        rewards={"time": Rewards(state=np.array([1.0, 0.0]), choice=np.array([0.0, 2.0, 0.0]))},
        actions=("", "go", "try"),
        choice_actions=np.array([1, 2, 0], dtype=np.uint16),
    )


def small_ctmc() -> Model:
    """A queue of one place."""
    return Model.from_matrix("ctmc", [[0, 3], [2, 1]], rewards={"": [[0, 0.5], [0, 0]]})


def test_views_of_an_mdp() -> None:
    model = small_mdp()
    model.validate()
    assert (model.n_states, model.n_choices, model.n_transitions) == (2, 3, 4)
    assert list(model.labels) == ["init", "deadlock", "goal"]
    assert model.labels["init"].tolist() == [True, False]
    assert model.transitions(0) == [("go", [(1.0, 1)]), ("try", [(0.25, 0), (0.75, 1)])]
    assert model.transitions(1) == [("", [(1.0, 1)])]
    assert model.matrix.toarray().tolist() == [[0, 1], [0.25, 0.75], [0, 1]]
    assert repr(model) == "<mdp: 2 states, 3 choices, 4 transitions>"
    assert model.memory == (3 + 4 + 4 + 1) * 4 + 3 * 2 + (4 + 3 * 8) + 3 * 2 + (2 + 3) * 8
    with pytest.raises(IndexError, match="no state 2; they are numbered 0 to 1"):
        model.transitions(2)
    with pytest.raises(ModelError, match="exit rates are those of a ctmc; this is a mdp"):
        _ = model.exit_rates


def test_views_of_a_ctmc() -> None:
    model = small_ctmc()
    assert model.exit_rates.tolist() == [3, 3]
    rewards = model.rewards[""]
    assert rewards.choice is not None
    assert rewards.choice.tolist() == [1.5, 0]
    assert repr(model) == "<ctmc: 2 states, 3 transitions>"


def test_sums_of_rows_do_not_depend_on_blocks() -> None:
    matrix = np.triu(np.arange(1.0, 26).reshape(5, 5))
    with patch("galton.model.sparse._BLOCK", 2):
        assert Model.from_matrix("ctmc", matrix).exit_rates.tolist() == matrix.sum(axis=1).tolist()


def test_html_names_what_is_there_and_escapes_it() -> None:
    model = small_mdp()
    model.labels["<b>"] = np.array([True, True])
    html = model._repr_html_()
    for text in ("MDP", "goal (1)", "&lt;b&gt; (2)", "time", "0.0 MB"):
        assert text in html


def test_pickling() -> None:
    model = small_mdp()
    assert list(pickle.loads(pickle.dumps(model)).differences(model)) == []


def test_differences_are_named() -> None:
    model, other = small_mdp(), small_mdp()
    assert model.same_as(other)
    other.labels["goal"] = np.array([True, True])
    other.rewards["time"] = Rewards(state=np.array([1.0, 1e-12]))
    assert list(model.differences(other)) == [
        "label 'goal' differs",
        "rewards 'time' differ in state",
        "rewards 'time' differ in choice",
    ]
    assert not model.same_as(replace(other, actions=("", "go", "stay")))
    nearly = replace(model, values=Values(plain=model.values.array() * (1 + 1e-9)))
    assert not model.same_as(nearly)
    assert model.same_as(nearly, tolerance=1e-8)


def i32(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "pta"}, "the type of a model is dtmc, ctmc or mdp, not 'pta'"),
        ({"type": "dtmc"}, "a model of type dtmc has no choice_starts"),
        ({"choice_starts": i32(0, 2, 2)}, "choice_starts runs from 0 to 2, not from 0 to 3"),
        ({"choice_starts": i32(0, 3, 3)}, "state 1 has no choice"),
        ({"row_starts": i32(0, 1, 1, 4)}, "choice 1 has no transition"),
        ({"columns": i32(1, 0, 2, 1)}, r"state 0, choice 1 (try): no state 2, there are 2"),
        ({"columns": i32(1, 1, 0, 1)}, r"state 0, choice 1 (try): target 0 comes after 1"),
        ({"columns": i32(1, 1, 1, 1)}, r"state 0, choice 1 (try): target 1 comes after 1"),
        ({"columns": np.array([1, 0, 1, 1])}, "columns must be int32, not int64"),
        (
            {"values": Values.compress([1, -0.25, 1.25, 1])},
            "state 0, choice 1 (try): the probability of going to 0 is -0.25, not positive",
        ),
        (
            {"values": Values(plain=np.array([1, 0.25, np.nan, 1]))},
            "state 0, choice 1 (try): the probability of going to 1 is nan, not positive",
        ),
        (
            {"values": Values.compress([1, 0.25, 0.5, 1])},
            "state 0, choice 1 (try): the probabilities sum to 0.75, not 1",
        ),
        ({"initial": i32()}, "there is no initial state"),
        ({"initial": i32(1)}, "the initial states are not those labelled 'init', in ascending order"),
        ({"initial": i32(5)}, "initial state 5 is not one of the 2 states"),
        ({"labels": {"init": np.array([True])}}, "label 'init' must have 2 entries, not shape (1,)"),
        ({"rewards": {"r": Rewards(state=np.zeros(3))}}, "state rewards 'r' must have 2 entries, not shape (3,)"),
        ({"rewards": {"r": Rewards(state=np.array([0, np.inf]))}}, "rewards 'r': state 1 has inf"),
        (
            {"rewards": {"r": Rewards(choice=np.ones(3), transition=np.array([1.0, 2, 2, 1]))}},
            "rewards 'r': the choice rewards are not the means of the transition rewards",
        ),
        ({"actions": ("go", "try")}, "the names of actions must be distinct and begin with the empty one"),
        ({"actions": ("", "go")}, "choice 1 has an action without a name"),
        ({"choice_actions": np.zeros(3)}, "choice_actions must be uint16 or uint32, not float64"),
        ({"states": ListedStates(None, ["a"])}, "1 valuations for 2 states"),
    ],
)
def test_validation(change: dict[str, object], message: str) -> None:
    model = small_mdp()
    for name, value in change.items():
        object.__setattr__(model, name, value)  # past the constructor, which would mend some of these
    with pytest.raises(ModelError) as caught:
        model.validate()
    assert str(caught.value) == message


def test_sums_are_checked_as_loosely_as_prism_does() -> None:
    for error, accepted in ((9e-6, True), (1.1e-5, False)):
        model = replace(small_mdp(), values=Values.compress([1, 0.25, 0.75 + error, 1]))
        if accepted:
            model.validate()
        else:
            with pytest.raises(ModelError, match="sum to"):
                model.validate()


@given(st.lists(FLOATS, max_size=50))
def test_values_are_compressed_without_loss(numbers: list[float]) -> None:
    values = Values.compress(numbers)
    assert values.array().tolist() == numbers
    assert values[3:7].tolist() == numbers[3:7]
    assert len(values) == len(numbers)
    assert values.dictionary is not None
    assert values.dictionary.tolist() == sorted(set(numbers))


@pytest.mark.parametrize(("distinct", "bytes_each"), [(256, 1), (257, 2), (65536, 2), (65537, 8)])
def test_values_take_what_they_need(distinct: int, bytes_each: int) -> None:
    array = np.tile(np.arange(distinct, dtype=float), 2)
    values = Values.compress(array)
    assert np.array_equal(values.array(), array)
    dictionary = 8 * distinct if bytes_each < 8 else 0
    assert values.nbytes == bytes_each * len(array) + dictionary


def test_values_are_one_thing_or_the_other() -> None:
    for wrong in ({}, {"plain": np.ones(1), "dictionary": np.ones(1)}, {"dictionary": np.ones(1)}):
        with pytest.raises(ValueError, match="either plain, or a dictionary with an index"):
            Values(**wrong)


def test_importing_the_model_does_not_import_scipy() -> None:
    code = "import sys, galton.model, galton.io, galton.model.from_function; print('scipy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
