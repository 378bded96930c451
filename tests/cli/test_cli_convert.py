"""Explicit files on the command line: as models of every command, and from one format to another."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import DIE, MODELS, galton

from galton.io import read_model

SIX = "P=? [ F d=6 ]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The die in every format, and an MDP."""
    there = tmp_path_factory.mktemp("files")
    suffixes = ("all", "drn", "umb", "npz", "mat", "m", "dot")
    assert galton("convert", DIE, *(there / f"die.{suffix}" for suffix in suffixes)).code == 0
    coin = galton("convert", MODELS / "consensus.prism", "-c", "N=2,K=1", there / "coin.umb", there / "coin.all")
    assert coin.code == 0
    return there


def test_what_is_written_and_what_is_left_out(tmp_path: Path) -> None:
    outcome = galton("convert", DIE, tmp_path / "a.mtx", tmp_path / "b.umb", "--compress", "xz")
    sizes = {name: (tmp_path / name).stat().st_size for name in ("a.mtx", "b.umb")}
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        f"{tmp_path / 'a.mtx'}  {sizes['a.mtx']:,} bytes",
        "  leaves out the labels 'done', 'high'",
        "  leaves out the reward 'tosses' of single transitions",
        "  leaves out the values of 'node', 'd'",
        f"{tmp_path / 'b.umb'}  {sizes['b.umb']:,} bytes",
    ]
    assert (tmp_path / "b.umb").read_bytes().startswith(b"\xfd7zXZ")


def test_between_formats(folder: Path, tmp_path: Path) -> None:
    """Any format to any other: the same model, told from its beginning."""
    whole = read_model(folder / "die.npz")
    for source in ("die.tra", "die.drn", "die.umb", "die.mat", "die.all"):
        targets = [tmp_path / f"{source}.{suffix}" for suffix in ("npz", "umb", "drn", "mat")]
        assert galton("convert", folder / source, *targets).code == 0
        for target in targets:
            assert list(whole.differences(read_model(target))) == []


@pytest.mark.parametrize("name", ["die.tra", "die.all", "die.drn", "die.umb", "die.npz", "die.mat"])
def test_every_command(name: str, folder: Path, tmp_path: Path) -> None:
    path = folder / name
    checked = galton("check", path, "--prop", SIX, "--prop", 'R{"tosses"}=? [ F "done" ]')
    assert checked.code == 0, checked.err
    assert checked.out.startswith("dtmc: 13 states, 20 transitions, read in ")
    assert "=  0.1666666" in checked.out
    assert "=  3.666666" in checked.out
    told = galton("info", path)
    assert "node [0..7], d [0..6]" in told.out
    assert "read from a file" in told.out
    assert "0.125" in galton("transient", path, "--time", 3, "-e", "d").out
    assert "0.1666666" in galton("steady-state", path, "-e", "d").out
    assert galton("build", path, "--export", tmp_path / "again.tra").code == 0
    assert (tmp_path / "again.tra").read_text() == (folder / "die.tra").read_text()
    picture = galton("plot-matrix", path, "--out", tmp_path / "die.png")
    assert picture.code == 0, picture.err


def test_answers_with_more_to_them(folder: Path, tmp_path: Path) -> None:
    """Fractions, certificates, counterexamples, automata, and strategies with and without a file."""
    die, coin = folder / "die.umb", folder / "coin.umb"
    assert "=  1/6" in galton("check", die, "--prop", SIX, "--exact").out
    assert galton("check", die, "--prop", SIX, "--certificate", tmp_path / "six.json").code == 0
    assert "verified" in galton("verify", die, SIX, tmp_path / "six.json").out
    assert "path 1" in galton("check", die, "--prop", "P<=0.1 [ F d=6 ]", "--counterexample").out
    assert "0.1666666" in galton("check", die, "--prop", "P=? [ G F d=6 ]").out
    best = 'P{}=? [ F "finished" & "all_heads" ]'
    found = galton("check", coin, "--prop", best.format("max"), "--strategy", tmp_path / "best.json")
    assert found.code == 0, found.err
    applied = galton("check", coin, "--prop", best.format(""), "--apply", tmp_path / "best.json")
    program = galton("check", MODELS / "consensus.prism", "-c", "N=2,K=1", "--prop", best.format("max"))
    values = [outcome.out.splitlines()[1].split("=")[-1].strip() for outcome in (found, applied, program)]
    assert len(set(values)) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "die.umb", "--prop", SIX, "--memory", "100"], "--memory is for states that are explored"),
        (["check", "die.umb", "--prop", SIX, "--max-states", "5"], "has 13 states, more than --max-states allows"),
        (["check", "die.umb", "--prop", SIX, "--device", "cuda:0,1"], "goes to one device"),
        (["check", "die.m", "--prop", SIX], "die.m"),
        (["check", "no.tra", "--prop", SIX], "no.tra: error: there is no such file"),
        (["check", "die.umb", "--prop", 'P=? [ F "sixes" ]'], "sixes"),
        (["convert", "die.umb", "die.xyz"], "the suffix '.xyz' is not one Galton knows"),
        (
            ["convert", "die.umb", "die.xyz"],
            "expected: .jani (a program in JANI), .prism (a network in SBML as a program)",
        ),
        (["convert", "die.umb", "die.xyz"], ", .all (all files of PRISM), .tra (transitions)"),
        (["convert", "die.umb", "x.drn", "--compress", "gzip"], "--compress is for .umb files"),
        (["convert", "coin.umb", "coin.mtx"], "cannot say which rows belong to which state"),
        (["synth", "die.umb", "-p", "P>=0.1 [ F d=6 ]", "--param", "p=0:1"], "needs a model in the PRISM language"),
    ],
)
def test_mistakes(arguments: list[str], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    outcome = galton(*arguments)
    assert outcome.code == 2
    assert message in outcome.err


def test_constants_and_deadlocks(folder: Path, tmp_path: Path) -> None:
    assert "has no constant 'N'" in galton("info", folder / "die.tra", "-c", "N=3").err
    (tmp_path / "m.tra").write_text("2 1\n0 1 1\n")
    assert "the state number 1 has no transition and got a self-loop" in galton("info", tmp_path / "m.tra").err
    refused = galton("info", tmp_path / "m.tra", "--no-fix-deadlocks")
    assert (refused.code, "state 1 has no transition" in refused.err) == (2, True)


def test_a_program_to_jani_and_on(tmp_path: Path) -> None:
    written, props = tmp_path / "die.jani", tmp_path / "die.props"
    props.write_text('const int k; "shows": P=? [ F d=k ]; P=? [ X node=1 ];')
    outcome = galton("convert", DIE, written, "--props", props)
    assert outcome.code == 0
    assert outcome.out.splitlines()[1:] == ["  leaves out P=? [ X node=1 ]: JANI has no words for this"]
    assert "shows: P=? [ F d = k ]  =  0.16666667" in galton("check", written, "-c", "k=6").out
    missing = galton("check", written)
    assert "this property needs a value for the constant 'k'" in missing.err
    assert galton("convert", written, "-c", "k=6", tmp_path / "die.drn").code == 0
    assert read_model(tmp_path / "die.drn").n_states == 13
    fixed = galton("convert", DIE, tmp_path / "six.jani", "--props", props, "-c", "k=6")
    assert fixed.code == 0


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (["die.npz", "--props", "die.props"], "--props is for .jani files"),
        (["die.prism"], "only a network in SBML becomes a program"),
    ],
)
def test_texts_that_cannot_be(targets: list[str], message: str, tmp_path: Path) -> None:
    arguments = [tmp_path / word if "." in word else word for word in targets]
    outcome = galton("convert", DIE, *arguments)
    assert outcome.code == 2
    assert message in outcome.err
