"""The whole gallery, and random models, through every format that holds a model; and what formats leave out."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from any_model import models
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import galton
from galton.io import FileError, left_out, read_model, write_model
from galton.io.formats import expanded
from galton.io.quotients import quotients
from galton.model import Model, ModelError, PackedStates, Rewards

ROOT = Path(__file__).resolve().parents[2]
GALLERY = json.loads((ROOT / "models" / "gallery.json").read_text())["models"]
WHOLE = [".npz", ".all", ".umb", ".drn", ".mat"]
MOST_STATES = 3000  # larger models hold nothing new
ROUNDED = {"values differ"}
STEPS = models().filter(lambda model: not model.has_rates)  # rates as far apart as 1e-300 and 1e300 are refused


def smallest(entry: dict[str, object]) -> Model | None:
    """The smallest instance of a model of the gallery, if it is small."""
    instance = min(entry["instances"], key=lambda found: found["states"])
    if instance["states"] > MOST_STATES:
        return None
    program = galton.load(ROOT / "models" / entry["file"], **instance["constants"])
    return program.build(transition_rewards=True)


@pytest.mark.parametrize("entry", GALLERY, ids=lambda entry: Path(entry["file"]).stem)
def test_gallery(entry: dict[str, object], tmp_path: Path) -> None:
    """Bit for bit, but for what is multiplied: rates in .umb, and means of rewards, within a unit of the last place."""
    model = smallest(entry)
    if model is None:
        pytest.skip("large")
    for suffix in WHOLE:
        write_model(model, tmp_path / f"m{suffix}", exact=True)
        again = read_model(tmp_path / f"m{suffix}")
        assert again.warnings == model.warnings
        assert list(model.differences(again, tolerance=5e-16)) == []
        for difference in model.differences(again):
            assert "differ in choice" in difference or (suffix == ".umb" and difference in ROUNDED), suffix


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS, st.sampled_from([None, "gzip", "xz"]))
def test_binary(model: Model, compression: str | None) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "m.umb")
        write_model(model, path, compression=compression)
        again = read_model(path)
    assert list(model.differences(again)) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_storms_text(model: Model) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "m.drn")
        write_model(model, path)
        again = read_model(path)
    assert list(model.differences(again)) == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(models())
def test_matlabs_data(model: Model) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "m.mat")
        write_model(model, path)
        again = read_model(path)
    assert list(model.differences(again)) == []


def test_rates_far_apart(tmp_path: Path) -> None:
    """Probabilities that would be 0 are refused, not dropped."""
    model = Model.from_matrix("ctmc", [[0, 1e-300, 1e300], [1, 0, 0], [1, 0, 0]])
    with pytest.raises(ModelError, match="state 0: the rates are too far apart"):
        write_model(model, tmp_path / "m.umb")
    write_model(model, tmp_path / "m.drn")
    assert list(model.differences(read_model(tmp_path / "m.drn"))) == []


def test_matlabs_data_by_scipy(tmp_path: Path) -> None:
    """SciPy reads what is written here, and what it writes is read: a generator, and a dense matrix."""
    from scipy.io import loadmat, savemat

    model = Model.from_matrix("ctmc", [[0, 2.5, 0], [1, 0, 3], [0, 4, 0]], initial=2, labels={"up": [0, 2]})
    write_model(model, tmp_path / "m.mat")
    arrays = loadmat(tmp_path / "m.mat")
    assert np.array_equal(arrays["R"].toarray(), model.matrix.toarray())
    assert arrays["initial"].tolist() == [[3]]
    rates = model.matrix.toarray()
    for compressed in (False, True):
        savemat(tmp_path / "q.mat", {"Q": rates - np.diag(rates.sum(axis=1))}, do_compression=compressed)
        assert np.array_equal(read_model(tmp_path / "q.mat").matrix.toarray(), rates)
    savemat(tmp_path / "p.mat", {"P": np.array([[0.25, 0.75], [0, 1]])})
    chain = read_model(tmp_path / "p.mat")
    assert (chain.type, chain.values.array().tolist()) == ("dtmc", [0.25, 0.75, 1.0])
    with pytest.raises(FileError, match="this is a ctmc, not a dtmc"):
        read_model(tmp_path / "m.mat", type="dtmc")


def test_matlabs_language(tmp_path: Path) -> None:
    """Lines as PRISM writes them."""
    chain = Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]], labels={"done": [1]}, rewards={"cost": [1.5, 0]})
    (path,) = write_model(chain, tmp_path / "m.m")
    lines = path.read_text().splitlines()
    assert lines[1:5] == ["P = sparse(2,2);", "P(1,1)=0.5;", "P(1,2)=0.5;", "P(2,2)=1;"]
    assert {"l_init(1)=1;", "l_done(2)=1;", "c1(1)=1.5;"} <= set(lines)
    mdp = Model.from_matrix("mdp", [[0, 1], [0.5, 0.5], [0, 1]], row_groups=[0, 2, 3], actions=["go", "try", ""])
    (path,) = write_model(mdp, tmp_path / "mdp.m")
    lines = path.read_text().splitlines()
    assert lines[1:6] == ["S1 = sparse(2,2);", "S2 = sparse(2,2);", "S1(1,2)=1;", "S2(1,1)=0.5;", "S2(1,2)=0.5;"]
    assert "actions = {'go', 'try'};" in lines


def test_graphviz(tmp_path: Path) -> None:
    mdp = Model.from_matrix(
        "mdp", [[0, 1], [0.5, 0.5], [0, 1]], row_groups=[0, 2, 3], actions=["go", 'a "b"', ""], labels={"end": [1]}
    )
    (path,) = write_model(mdp, tmp_path / "m.dot")
    text = path.read_text()
    assert text.startswith("digraph model {\n")
    assert text.endswith("}\n")
    for line in (
        '  0 [label="0", penwidth=2];',
        '  0 -> "0.1" [arrowhead=none, label="a \\"b\\""];',
        '  "0.1" -> 1 [label="0.5"];',
        '  1 [label="1\\nend"];',
    ):
        assert line in text.splitlines()
    with pytest.raises(FileError, match=r"models are written as \.dot \(Graphviz\), and not read from it"):
        read_model([path])


def test_files_beside(tmp_path: Path) -> None:
    """One path brings what belongs to it; several are exactly those."""
    rewards = {"cost": [1.0, 0.0], "time": [0.0, 2.0]}
    chain = Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]], initial=1, labels={"done": [1]}, rewards=rewards)
    names = sorted(path.name for path in write_model(chain, tmp_path / "coin.all"))
    assert names == ["coin.lab", "coin.tra", "coin1.srew", "coin2.srew"]
    for given_path in (tmp_path / "coin.tra", str(tmp_path / "coin.tra"), tmp_path / "coin.all"):
        assert list(chain.differences(read_model(given_path))) == []
    alone = read_model([tmp_path / "coin.tra"])
    assert (list(alone.labels), list(alone.rewards), alone.initial.tolist()) == (["init", "deadlock"], [], [0])
    write_model(chain, tmp_path / "coin1.tra")  # now coin1.srew is that of another model
    assert list(read_model(tmp_path / "coin.tra").rewards) == []


def test_deadlocks_may_be_refused(tmp_path: Path) -> None:
    (tmp_path / "m.tra").write_text("2 1\n0 1 1\n")
    assert read_model(tmp_path / "m.tra").labels["deadlock"].tolist() == [False, True]
    with pytest.raises(FileError, match="state 1 has no transition"):
        read_model(tmp_path / "m.tra", fix_deadlocks=False)


def test_what_is_left_out() -> None:
    rates = [[0, 0.1, 0.7], [1.1, 0, 3.3], [0.3, 0.2, 0]]
    model = Model.from_matrix(
        "ctmc", rates, initial=2, labels={"up": [0]}, rewards={"r": np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])}
    )
    model = replace(model, states=PackedStates.from_columns({"x": [0, 1, 2]}))
    cases = {
        "m.npz": [],
        "m.drn": ["the reward 'r' of single transitions, but for the mean of each choice"],
        "m.mtx": [
            "the initial state",
            "the label 'up'",
            "the reward 'r' of single transitions",
            "the values of 'x'",
        ],
    }
    for name, lost in cases.items():
        assert left_out(model, [Path(name)]) == {Path(name): lost}
    assert left_out(model, expanded(["m.all"], model)) == {Path("m.tra"): []}
    (lost,) = left_out(model, [Path("m.umb")]).values()
    again = quotients(model.values.array(), np.repeat(model.exit_rates, 2)) * np.repeat(model.exit_rates, 2)
    rounded = not np.array_equal(again, model.values.array())
    assert bool(lost) == rounded


def test_names_that_formats_cannot_hold(tmp_path: Path) -> None:
    chain = Model.from_matrix("dtmc", np.eye(2), labels={"two words": [0], "Größe": [1]})
    for suffix in (".drn", ".umb", ".mat", ".npz"):
        write_model(chain, tmp_path / f"m{suffix}")
        assert list(chain.differences(read_model(tmp_path / f"m{suffix}"))) == []
    quoted = Model.from_matrix("dtmc", np.eye(2), labels={'"': [0]})
    with pytest.raises(ModelError, match="has a quotation mark"):
        write_model(quoted, tmp_path / "q.drn")
    assert not (tmp_path / "q.drn").exists()
    spaced = Model.from_matrix("mdp", np.eye(2), row_groups=[0, 1, 2], actions=["go on", ""])
    with pytest.raises(ModelError, match="whose name has a space"):
        write_model(spaced, tmp_path / "s.drn")
    numbered = Model.from_matrix("mdp", np.eye(2), row_groups=[0, 1, 2], actions=["0", "0"])
    write_model(numbered, tmp_path / "n.drn")
    assert read_model(tmp_path / "n.drn").actions == ("", "0")


def test_unnamed_rewards(tmp_path: Path) -> None:
    chain = Model.from_matrix("dtmc", np.eye(2), rewards={"": [1.0, 2.0], "cost": Rewards(choice=np.array([3.0, 0]))})
    for suffix in (".drn", ".umb", ".mat", ".npz"):
        write_model(chain, tmp_path / f"m{suffix}")
        assert list(chain.differences(read_model(tmp_path / f"m{suffix}"))) == []
    only = Model.from_matrix("dtmc", np.eye(2), rewards={"": [1.0, 2.0]})
    for suffix in (".drn", ".umb", ".mat", ".npz", ".all"):
        write_model(only, tmp_path / f"only{suffix}")
        assert list(only.differences(read_model(tmp_path / f"only{suffix}"))) == []


def test_programs_are_told_from_models(tmp_path: Path) -> None:
    program = galton.parse("dtmc  module m  x : [0..3];  [] x<3 -> 0.5:(x'=x+1) + 0.5:true;  endmodule")
    path = tmp_path / "walk.jani"
    assert galton.write_model(program, path) == [path]
    assert galton.load(path).build().same_as(program.build())
    with pytest.raises(ModelError, match=r"program\.build\(\)"):
        galton.write_model(program, tmp_path / "walk.umb")
    with pytest.raises(FileError, match=r"hold programs.*galton\.load reads them"):
        galton.read_model(path)
    with pytest.raises(FileError, match=r"hold programs.*galton convert"):
        galton.write_model(program.build(), tmp_path / "other.jani")
