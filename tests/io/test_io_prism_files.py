"""PRISM's own exports, read and written again, must come out byte for byte.

The files are PRISM's regression tests, which are not part of this repository.
"""

from pathlib import Path

import pytest

from galton.io import FileError, read_model, write_model

PRISM = Path(__file__).parents[2].parent / "shared" / "prism-tests" / "functionality"
pytestmark = pytest.mark.skipif(not PRISM.exists(), reason="needs PRISM's test files in ../shared")

EVERYTHING = (".tra", ".sta", ".lab", ".srew", ".trew")
CASES = {
    "export/dtmc/dice.pm": EVERYTHING,
    "export/dtmc/lec3.pm": EVERYTHING,
    "export/ctmc/cluster.sm": EVERYTHING,
    "export/mdp/robot.prism": EVERYTHING,
    "import/dice": EVERYTHING,
    "import/robot": EVERYTHING,
    "import/mdp_simple": EVERYTHING,
    "import/poll2": (".tra", ".sta", ".lab", ".srew"),
    "import/dice-deadlock": (".tra", ".lab"),
    "import/dtmc-deadlocks-fixed": (".tra", ".lab"),
    "import/mdp-deadlocks-fixed": (".tra", ".lab"),
    "import/badge.pepa": (".sta", ".lab"),
}
FIXED = {
    "dtmc-deadlocks.tra": ("dtmc-deadlocks-fixed", (".tra", ".lab")),
    "mdp-deadlocks.tra": ("mdp-deadlocks-fixed", (".tra", ".lab")),
    "mdp_simple_mod.tra": ("mdp_simple", (".tra",)),
}


@pytest.mark.parametrize("stem", CASES)
def test_exports_come_out_the_same(stem: str, tmp_path: Path) -> None:
    original = PRISM / stem
    paths = [original.with_name(original.name + suffix) for suffix in CASES[stem]]
    transitions = original.with_name(original.name + ".tra")
    model = read_model([*{transitions: None, **dict.fromkeys(paths)}])
    written = write_model(model, [tmp_path / path.name for path in paths])
    assert len(written) >= len(paths)
    for path in written:
        assert path.read_bytes() == original.with_name(path.name).read_bytes(), path.name


@pytest.mark.parametrize("name", FIXED)
def test_files_without_comments_and_with_deadlocks(name: str, tmp_path: Path) -> None:
    stem, suffixes = FIXED[name]
    for path in write_model(read_model([PRISM / "import" / name]), [tmp_path / f"{stem}{s}" for s in suffixes]):
        assert path.read_bytes() == (PRISM / "import" / path.name).read_bytes(), path.name


def test_fractions() -> None:
    exact = PRISM / "import" / "dice.exact.tra"
    assert read_model([exact]).same_as(read_model([exact.with_name("dice.tra")]))


@pytest.mark.parametrize(("name", "type"), [("irobot", "IMDP"), ("maze", "POMDP"), ("lec9ctl1", "LTS")])
def test_types_that_galton_does_not_have(name: str, type: str) -> None:
    with pytest.raises(FileError, match=f"Galton does not read models of type {type}"):
        read_model([PRISM / "import" / f"{name}.tra"])
