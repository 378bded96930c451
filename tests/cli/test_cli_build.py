"""``galton build``: what is written is the model, in every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import DIE, MODELS, WALK, galton, run, write

from galton import load
from galton.io import SUFFIXES, read_model
from galton.model import Model

PRISM = [".tra", ".sta", ".lab", ".srew", ".trew"]
EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "dtmc": ("die.prism", {}),
    "ctmc with three reward structures": ("cluster.prism", {"N": 2}),
    "mdp": ("consensus.prism", {"N": 2, "K": 2}),
    "several initial states": ("herman.prism", {"N": 5}),
}


def export(model: Path, constants: dict[str, Any], files: list[Path]) -> list[Path]:
    """Run ``galton build``; the files that it says it wrote, with the sizes it says."""
    given = ["--const", ",".join(f"{name}={value}" for name, value in constants.items())] if constants else []
    outcome = galton("build", model, *given, "--export", ",".join(map(str, files)))
    assert outcome.code == 0, outcome.err
    written = []
    for line in outcome.out.splitlines():
        name, size, unit = line.rsplit(maxsplit=2)
        assert (Path(name).stat().st_size, unit) == (int(size.replace(",", "")), "bytes")
        written.append(Path(name))
    return written


def assert_same(found: Model, expected: Model) -> None:
    """PRISM's formats have 16 digits."""
    assert list(found.differences(expected, tolerance=1e-14)) == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_prism_files_are_read_back(example: str, tmp_path: Path) -> None:
    name, constants = EXAMPLES[example]
    expected = load(MODELS / name, **constants).build(transition_rewards=True)
    files = [tmp_path / f"model{suffix}" for suffix in PRISM]
    written = export(MODELS / name, constants, files)
    assert len(written) == 3 + 2 * len(expected.rewards)
    assert_same(read_model(files), expected)


@pytest.mark.parametrize("example", EXAMPLES)
def test_archives_are_read_back_exactly(example: str, tmp_path: Path) -> None:
    name, constants = EXAMPLES[example]
    file = tmp_path / "model.npz"
    assert export(MODELS / name, constants, [file]) == [file]
    assert read_model([file]).same_as(load(MODELS / name, **constants).build())


def test_matrix_market_is_read_back(tmp_path: Path) -> None:
    export(DIE, {}, [tmp_path / "die.mtx"])
    expected = load(DIE).build()
    found = read_model([tmp_path / "die.mtx"])
    assert (found.type, found.n_states) == ("dtmc", 13)
    assert (found.matrix.toarray() == expected.matrix.toarray()).all()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_suffix_alone(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"die{suffix}"
    assert export(DIE, {}, [file]) == [file]
    assert sorted(tmp_path.iterdir()) == [file]


def test_reward_structures_are_numbered(tmp_path: Path) -> None:
    model = write(tmp_path, WALK)
    files = [tmp_path / f"walk{suffix}" for suffix in PRISM]
    written = export(model, {"N": 3}, files)
    assert [path.name for path in written[3:]] == ["walk1.srew", "walk2.srew", "walk1.trew", "walk2.trew"]
    assert_same(read_model(files), load(model, N=3).build())


def test_deadlocks_are_labelled_and_told(tmp_path: Path) -> None:
    model = write(tmp_path, WALK)
    outcome = galton(
        "build", model, "-c", "N=3", "--export", f"{tmp_path}/walk.lab", "--export", f"{tmp_path}/walk.sta"
    )
    assert outcome.err == "warning: the state (x=3, lost=false) has no transition and got a self-loop\n"
    (end,) = [line for line in (tmp_path / "walk.lab").read_text().splitlines() if line.endswith(" 1 2")]
    assert f"{end.split(':')[0]}:(3,false)" in (tmp_path / "walk.sta").read_text().splitlines()


def test_threads_write_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / f"model{suffix}" for suffix in PRISM]
    found = []
    for threads in (1, 2, 3):
        names = ",".join(map(str, files))
        outcome = galton("build", MODELS / "wlan.prism", "-c", "MAX_BACKOFF=0,COL=0", "-t", threads, "--export", names)
        assert outcome.code == 0
        found.append({path.name: path.read_bytes() for path in tmp_path.iterdir()})
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 3 + 2 * 3


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    outcome = run("build", "models/die.prism", "--export", f"{tmp_path}/a.tra,{tmp_path}/a.srew")
    assert (outcome.code, outcome.err) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.srew", "a.tra"]
    assert (tmp_path / "a.tra").read_text().startswith("# Transitions (DTMC)\n13 20\n")


# What is refused is refused before the work: the model of these tests does not even exist.
NO_MODEL = "no/such/model.prism"


def test_unknown_suffix(tmp_path: Path) -> None:
    outcome = galton("build", NO_MODEL, "--export", f"{tmp_path}/a.tra,{tmp_path}/a.doc")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"{tmp_path}/a.doc: error: the suffix '.doc' is not one Galton knows\n")
    assert all(suffix in outcome.err for suffix in SUFFIXES)
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    outcome = galton("build", NO_MODEL, "--export", tmp_path / "nowhere" / "a.tra")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"error: {tmp_path}/nowhere/a.tra: there is no folder {tmp_path}/nowhere; make it first\n"


@pytest.mark.parametrize("files", ["", ","])
def test_nothing_to_write(files: str) -> None:
    outcome = galton("build", NO_MODEL, "--export", files)
    assert (outcome.code, outcome.err) == (2, "error: nothing to write; name at least one file with --export\n")


def test_rewards_that_the_model_has_not(tmp_path: Path) -> None:
    text = "dtmc module m x : bool; [] true -> (x'=!x); endmodule"
    outcome = galton("build", write(tmp_path, text), "--export", tmp_path / "a.srew")
    assert (outcome.code, outcome.err) == (2, "error: the model has no rewards to write to a.srew\n")
    assert not (tmp_path / "a.srew").exists()
