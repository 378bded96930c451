"""What is written is read back the same: random models of all types through all formats."""

import os
from collections import namedtuple
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from any_model import models
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from galton.io import FileError, read_model, write_model
from galton.io.characters import constant, exact_text, integers, join, prism_text
from galton.model import ListedStates, Model, ModelError, Rewards

TEXT = (".tra", ".sta", ".lab", ".srew", ".trew")


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(models())
def test_text_formats(model: Model) -> None:
    with TemporaryDirectory() as folder:
        first, second = Path(folder, "a"), Path(folder, "b")
        suffixes = [s for s in TEXT if (model.rewards or "rew" not in s) and (model.states is not None or s != ".sta")]
        for path in (first, second):
            path.mkdir()
        written = write_model(model, [first / f"m{suffix}" for suffix in suffixes], exact=True)
        again = read_model([first / f"m{suffix}" for suffix in suffixes])
        assert list(model.differences(again)) == []
        for path in write_model(again, [second / f"m{suffix}" for suffix in suffixes], exact=True):
            assert path.read_bytes() == (first / path.name).read_bytes()
        assert sorted(path.name for path in written) == sorted(os.listdir(second))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(models())
def test_archive(model: Model) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "m.npz")
        write_model(model, [path])
        again = read_model([path])
    assert list(model.differences(again)) == []
    assert again.values.nbytes == model.values.nbytes
    for name, rewards in model.rewards.items():
        assert (rewards.transition is None) == (again.rewards[name].transition is None)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(models().filter(lambda model: model.type != "mdp"))
def test_matrix_market(model: Model) -> None:
    from scipy.io import mmread

    with TemporaryDirectory() as folder:
        path = Path(folder, "m.mtx")
        write_model(model, [path])
        again = read_model([path])
        other = mmread(path)
    assert again.type == model.type
    assert np.array_equal(other.toarray(), model.matrix.toarray())
    assert np.array_equal(again.matrix.toarray(), model.matrix.toarray())


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(models())
def test_blocks_do_not_show(model: Model) -> None:
    """Files are written and read in blocks; with blocks of a line or two, nothing changes."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder, f"m{suffix}") for suffix in (".tra", ".lab")]
        write_model(model, paths)
        whole = [path.read_bytes() for path in paths]
        with patch("galton.io.tra.BLOCK", 2), patch("galton.io.characters.BLOCK", 2):
            write_model(model, paths)
        with patch("galton.io.table._BLOCK", 9):
            again = read_model(paths)
        assert [path.read_bytes() for path in paths] == whole
    object.__setattr__(model, "rewards", {})
    object.__setattr__(model, "states", None)
    assert list(model.differences(again, tolerance=1e-15)) == []  # written as PRISM does, with 16 digits


def test_states_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "m.tra").write_text("3 3\n0 0 1\n1 1 1\n2 2 1\n")
    (tmp_path / "m.sta").write_text("(x,up)\n2:(7,true)\n0:(5,false)\n1:(6,true)\n")
    model = read_model([tmp_path / "m.tra", tmp_path / "m.sta"])
    assert model.states is not None
    assert list(model.states) == [{"x": 5, "up": False}, {"x": 6, "up": True}, {"x": 7, "up": True}]


def test_type_is_deduced_without_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "m.tra"
    cases = {
        "dtmc": "2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n",
        "ctmc": "2 3\n0 0 0.5\n0 1 0.6\n1 1 1\n",
        "mdp": "2 2 3\n0 0 0 0.5\n0 0 1 0.5\n1 0 1 1\n",
    }
    for type, text in cases.items():
        path.write_text(text)
        assert read_model([path]).type == type
    path.write_text(cases["dtmc"])
    assert read_model([path], type="ctmc").type == "ctmc"
    with pytest.raises(FileError, match="two numbers are not the header of a file of type mdp"):
        read_model([path], type="mdp")


def test_deadlocks_are_closed_and_labelled(tmp_path: Path) -> None:
    path = tmp_path / "m.tra"
    path.write_text("3 1 2\n1 0 0 0.5 go\n1 0 2 0.5 go\n")
    model = read_model([path])
    assert [model.transitions(state) for state in range(3)] == [
        [("", [(1.0, 0)])],
        [("go", [(0.5, 0), (0.5, 2)])],
        [("", [(1.0, 2)])],
    ]
    assert model.labels["deadlock"].tolist() == [True, False, True]


def test_lines_in_any_order_comments_blank_lines_and_line_breaks(tmp_path: Path) -> None:
    tidy, untidy = tmp_path / "tidy.tra", tmp_path / "untidy.tra"
    tidy.write_text("2 3\n0 0 0.25\n0 1 0.75\n1 1 1\n")
    untidy.write_bytes(b"\r\n# a comment\r\n2 4\r\n1\t1 1\r\n\r\n# one more\r\n  0 1 3/8 \r\n0 0 2.5e-1\r\n0 1 0.375")
    assert list(read_model([tidy]).differences(read_model([untidy]))) == []


def test_actions_of_a_chain_are_kept_where_a_state_has_one(tmp_path: Path) -> None:
    path, again = tmp_path / "m.tra", tmp_path / "again.tra"
    path.write_text("# Transitions (DTMC)\n2 3\n0 0 0.5 go\n0 1 0.5 go\n1 1 1\n")
    write_model(read_model([path]), [again])
    assert again.read_text() == path.read_text()
    path.write_text("# Transitions (CTMC)\n2 3\n0 1 1 go\n0 1 2 run\n1 1 1\n")
    model = read_model([path])
    assert model.transitions(0) == [("", [(3.0, 1)])]


def test_unnamed_reward_structures_are_told_apart_by_position(tmp_path: Path) -> None:
    (tmp_path / "m.tra").write_text("2 2\n0 1 1\n1 1 1\n")
    (tmp_path / "m1.srew").write_text("2 1\n0 1\n")
    (tmp_path / "m2.srew").write_text("2 1\n1 7\n")
    (tmp_path / "m2.trew").write_text("2 1\n0 1 5\n")
    (tmp_path / "m1.trew").write_text("2 0\n")
    model = read_model([tmp_path / "m.tra", tmp_path / "m.srew", tmp_path / "m.trew"])
    assert list(model.rewards) == ["", "#2"]
    second = model.rewards["#2"]
    assert second.state is not None
    assert second.transition is not None
    assert (second.state.tolist(), second.transition.tolist()) == ([0, 7], [5, 0])
    write_model(model, [tmp_path / "n.srew"])
    assert (tmp_path / "n2.srew").read_text() == "# Reward structure\n# State rewards\n2 1\n1 7\n"


def test_rewards_known_only_as_means_are_written_as_such(tmp_path: Path) -> None:
    model = Model.from_matrix("ctmc", [[0, 2, 2], [0, 0, 1], [1, 0, 0]], rewards={"r": Rewards(choice=[8.0, 0, 0])})
    path = tmp_path / "m.trew"
    write_model(model, [tmp_path / "m.tra", path])
    assert path.read_text() == (
        '# Reward structure "r"\n# Transition rewards\n'
        "# Every transition of a state has the mean reward of a step from it\n3 2\n0 1 2\n0 2 2\n"
    )
    again = read_model([tmp_path / "m.tra", path])
    assert list(model.differences(again)) == []


def test_states_of_a_python_function(tmp_path: Path) -> None:
    point = namedtuple("point", "x y")
    named = Model.from_function(lambda s: [(1, point(s.y, not s.x))], point(3, True))
    write_model(named, [tmp_path / "m.sta"])
    assert (tmp_path / "m.sta").read_text().splitlines()[:2] == ["# States", "(x,y)"]
    words = Model.from_function(lambda s: [(1, ("tails", 1))], ("heads", 0))
    with pytest.raises(ModelError, match="the states are Python objects, which"):
        write_model(words, [tmp_path / "w.sta"])
    assert not (tmp_path / "w.sta").exists()
    write_model(words, [tmp_path / "w.npz"])
    again = read_model([tmp_path / "w.npz"])
    assert isinstance(again.states, ListedStates)
    assert list(again.states) == [("heads", 0), ("tails", 1)]
    objects = Model.from_function(lambda s: [(1, s)], Path("here"))
    with pytest.raises(ModelError, match="not PosixPath objects"):
        write_model(objects, [tmp_path / "o.npz"])


def test_states_without_valuations_are_numbers(tmp_path: Path) -> None:
    write_model(Model.from_matrix("dtmc", np.eye(2)), [tmp_path / "m.sta"])
    assert (tmp_path / "m.sta").read_text() == "# States\n(x)\n0:(0)\n1:(1)\n"


def test_what_does_not_go_together(tmp_path: Path) -> None:
    chain = Model.from_matrix("dtmc", np.eye(2))
    mdp = Model.from_matrix("mdp", np.eye(2), row_groups=[0, 1, 2])
    for model, name, message in [
        (mdp, "m.mtx", "cannot say which rows belong to which state"),
        (chain, "m.srew", "no rewards to write to m.srew"),
        (chain, "m.doc", "the suffix '.doc' is not one Galton knows"),
    ]:
        with pytest.raises((ModelError, FileError), match=message):
            write_model(model, [tmp_path / name])
    tra, npz = write_model(chain, [tmp_path / "m.tra", tmp_path / "m.npz"])
    for paths, message in [
        ([tra, npz], "from one .tra, .mtx, .npz, .umb, .drn or .mat file; 2 are given"),
        ([tmp_path / "m.lab"], "none is given"),
        ([npz, tmp_path / "m.lab"], "give it alone"),
    ]:
        with pytest.raises(ModelError, match=message):
            read_model(paths)
    with pytest.raises(FileError, match="this is a dtmc, not a ctmc"):
        read_model([npz], type="ctmc")


def test_broken_archives(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    write_model(Model.from_matrix("dtmc", np.eye(2)), [path])
    with np.load(path) as archive:
        arrays = dict(archive)
    for change, message in [
        ({"columns": np.array([0, 7], dtype=np.int32)}, "state 1: no state 7, there are 2"),
        ({"header": np.array("{}")}, "this is not a model: 'format'"),
        ({"header": np.array('{"format": "galton model 9"}')}, "this archive has the format 'galton model 9'"),
        ({"columns": np.array([{}, {}])}, "this is not a model: columns holds object, which is no plain array"),
    ]:
        np.savez(path, **(arrays | change))
        with pytest.raises(FileError, match=message):
            read_model([path])
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FileError, match="this is not a NumPy archive"):
        read_model([path])


@settings(max_examples=500)
@given(st.floats(-1e308, 1e308) | st.floats(0, 1))
def test_numbers(value: float) -> None:
    exact, rounded = exact_text(value), prism_text(value)
    assert float(exact) == value
    assert float(rounded) == pytest.approx(value, rel=1e-15, abs=0)
    assert len(rounded.partition("e")[0].replace(".", "").lstrip("-0")) <= 16
    java = Context(prec=16, rounding=ROUND_HALF_UP).create_decimal(exact)
    assert Decimal(rounded) == java


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.3000000000000003, "2.3"),
        (0.6400000000000001, "0.6400000000000001"),  # 16 digits
        (9.2, "9.2"),  # where C's %.16g has 9.199999999999999
        (0.06666666666666667, "0.06666666666666667"),
        (1e16, "1e+16"),
        (1e15, "1000000000000000"),
        (1e-4, "0.0001"),
        (1.2696262998786115e-05, "1.269626299878612e-05"),  # halfway goes up
        (0.12345678901234565, "0.1234567890123457"),
        (0.12345678901234592, "0.1234567890123459"),
        (0.12345678901234599, "0.123456789012346"),
        (1.0000000000000002, "1"),
        (-7.0, "-7"),
    ],
)
def test_numbers_as_prism_prints_them(value: float, text: str) -> None:
    assert prism_text(value) == text


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(-11, 11), min_size=1))
def test_integers_as_characters(values: list[int]) -> None:
    text = join(len(values), [integers(np.array(values)), constant("\n")])
    assert text.decode().split() == [str(value) for value in values]
