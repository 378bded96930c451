"""Help and version."""

from __future__ import annotations

import re
import shlex
import tomllib

import pytest
from command_line import ROOT, galton, run

COMMON = ["MODEL", "--const", "--threads", "--max-states", "--memory", "--fix-deadlocks", "--no-fix-deadlocks"]
OPTIONS = {
    "info": [*COMMON, "--json"],
    "build": [*COMMON, "--export", ".tra", ".sta", ".lab", ".srew", ".trew", ".mtx", ".npz"],
    "check": [
        *(*COMMON, "--json", "--prop", "--props", "--name", "--eps", "--relative", "--absolute", "--method", "--omega"),
        *("--max-iterations", "--strategy", "--apply", "--csv", "--plot", "--explain", "--full", "--device"),
    ],
    "synth": [
        *("MODEL", "--const", "--prop", "--param", "--maximize", "--minimize", "--tolerance", "--accuracy", "--split"),
        *("--json", "--csv", "--plot", "--resume", "--device", "--threads"),
    ],
}


def test_commands() -> None:
    outcome = galton("--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert all(re.search(rf"^  {command}  ", outcome.out, re.MULTILINE) for command in OPTIONS)


@pytest.mark.parametrize("command", OPTIONS)
def test_options(command: str) -> None:
    outcome = galton(command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert [option for option in OPTIONS[command] if option not in outcome.out] == []


@pytest.mark.parametrize("command", OPTIONS)
def test_examples_work(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The examples of a command can be typed in the root of the repository, one after the other."""
    text = galton(command, "--help").out
    several = re.findall(r"^    galton (.*)$", text, re.MULTILINE)
    one = re.search(r"Example: galton (.*?) Arguments:", " ".join(text.split()))
    examples = several or ([one[1]] if one else [])
    assert examples, "no example"
    folder = tmp_path_factory.mktemp("example")
    (folder / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(folder)
    for example in examples:
        words = shlex.split(example)
        assert words[0] == command
        assert galton(*words).code == 0


def test_no_command_gives_help() -> None:
    outcome = galton()
    assert outcome.code == 2
    assert "Commands:" in outcome.out + outcome.err


def test_version() -> None:
    from importlib.metadata import PackageNotFoundError, version

    outcome = galton("--version")
    assert (outcome.code, outcome.err) == (0, "")
    try:
        assert outcome.out == f"{version('galton')}\n"
        assert version("galton") == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    except PackageNotFoundError:
        assert outcome.out == "unknown: galton is not installed\n"


def test_as_a_module() -> None:
    outcome = run("--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert "Commands:" in outcome.out


def test_help_names_every_method() -> None:
    from galton.solve.methods import DEFAULT, METHODS, TOPOLOGICAL

    text = "".join(galton("check", "--help").out.split())  # names may be broken at their hyphens
    assert [name for name in (*METHODS, DEFAULT, TOPOLOGICAL) if name not in text] == []
