"""``galton check --matrix-free``, on a device that is played: what it prints, when it is used, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import MODELS, galton
from played import played_device

import galton as library
from galton.backend.cuda.explorer import exploration
from galton.explore import placing

COIN = ["check", str(MODELS / "consensus.prism"), "-c", "N=2,K=2", "--device", "cuda"]
HEADS = ["-p", 'Pmin=? [ F "finished" & "all_heads" ]']


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    """A device that is played."""
    with played_device():
        yield


def test_what_it_prints() -> None:
    done = galton(*COIN, *HEADS, "--matrix-free", "--explain")
    assert done.code == 0, done.err
    assert "=  0.382812" in done.out
    assert "a CUDA device (without a matrix: asked for)" in done.out
    assert "154 states in 37 levels" in done.out  # orbits
    assert "bytes a state" in done.out


def test_all_states_prove_what_symmetries_propose() -> None:
    done = galton(*COIN, *HEADS, "--matrix-free", "--no-symmetry", "--json", "--explain")
    found = json.loads(done.out)
    assert found["states"] == 272
    assert found["method"] == "matrix-free proof"
    assert found["lower"] <= 49 / 128 <= found["upper"]
    assert found["bytes"]["two numbers a state"] == 16 * 272
    assert [step["step"] for step in found["plan"]] == ["states", "memory", "proposal", "proof"]


def test_beyond_the_numbers_of_a_matrix_it_is_used_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "LARGEST_INDEX", 100)
    monkeypatch.setattr(placing, "missing", lambda: "")
    done = galton(*COIN, *HEADS, "--explain")
    assert done.code == 0, done.err
    assert "without a matrix: the model has more states than a matrix has numbers for" in done.out
    refused = galton(*COIN, *HEADS, "--no-matrix-free")
    assert refused.code != 0
    assert "a matrix has no numbers for more" in refused.err
    assert "--matrix-free" in refused.err
    bounded = galton(*COIN, "-p", 'Pmax=? [ F<=3 "finished" ]')
    assert "a matrix has no numbers for more" in bounded.err


def test_options_that_do_not_go_with_it() -> None:
    for option in (["--method", "jacobi"], ["--strategy", "best.json"], ["--exact"], ["--lump"], ["--fair"]):
        done = galton(*COIN, *HEADS, "--matrix-free", *option)
        assert done.code == 2
        assert f"--matrix-free has no use for {option[0]}" in done.err
    done = galton("check", str(MODELS / "die.prism"), "-p", "P=? [ F d=6 ]", "--matrix-free", "--device", "cpu")
    assert done.err.count("--matrix-free is for one device") == 1


def test_rows_of_an_experiment(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    prop = ["-p", "const int k; P=? [ F d=k ]", "-c", "k=1:2"]
    done = galton("check", str(MODELS / "die.prism"), *prop, "--matrix-free", "--device", "cuda", "--csv", str(table))
    assert done.code == 0, done.err
    assert len(table.read_text().splitlines()) == 3


def test_from_python() -> None:
    found = library.check(MODELS / "die.prism", "P=? [ F d=6 ]", matrix_free=True, device="cuda")
    assert found.value == pytest.approx(1 / 6, rel=1e-6)
    assert "without a matrix" in str(found.placement)
    with pytest.raises(library.GaltonError, match="matrix_free goes with none of"):
        library.check(MODELS / "die.prism", "P=? [ F d=6 ]", matrix_free=True, exact=True)
