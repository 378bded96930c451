"""Help and version."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable
from inspect import signature
from typing import Any, get_type_hints

import pytest
from command_line import ROOT, galton, run
from typer.main import get_command
from typer.models import OptionInfo

from galton import cli
from galton.cli import app, bench
from galton.cli.build import build
from galton.cli.check import check
from galton.cli.info import info
from galton.cli.plot_matrix import plot_matrix
from galton.cli.synth import synth
from galton.cli.verify import verify

BUILDING = ["--const", "-c", "--threads", "-t", "--max-states", "--memory", "--fix-deadlocks", "--no-fix-deadlocks"]
OPTIONS = {
    "info": [*BUILDING, "--device", "--slice", "--symmetry", "--json"],
    "build": [*BUILDING, "--export"],
    "lump": [*BUILDING, "--device", "--json", "--prop", "-p", "--props", "--output", "-o", "--actions"],
    "check": [
        *(
            *BUILDING,
            "--json",
            "--prism-results",
            "--checkpoint",
            "--resume",
            "--petsc-options",
            "--prop",
            "-p",
            "--props",
            "--name",
            "--eps",
            "--relative",
            "--absolute",
            "--method",
        ),
        *(
            "--automaton",
            "--omega",
            "--symmetry",
            "--no-symmetry",
            "--lump",
            "--no-lump",
            "--slice",
            "--no-slice",
            "--matrix-free",
            "--no-matrix-free",
            "--max-iterations",
            "--fair",
            "--strategy",
            "--apply",
            "--certificate",
            "--counterexample",
            "--counterexample-file",
            "--csv",
            "--plot",
            "--plot-x",
            "--plot-log",
            "--explain",
        ),
        *("--full", "--workers", "--device", "--format", "--order", "--single", "--exact"),
        *("--sim", "--confidence", "--width", "--paths", "--seed", "--path-length"),
    ],
    "simulate": [
        *(
            "--const",
            "--workers",
            "-c",
            "--steps",
            "-n",
            "--time",
            "--paths",
            "--seed",
            "--strategy",
            "--apply",
            "--interactive",
            "-i",
        ),
        *("--csv", "--plot", "--only", "--json"),
    ],
    "synth": [
        *(
            "--const",
            "--workers",
            "-c",
            "--prop",
            "-p",
            "--props",
            "--name",
            "--param",
            "--maximize",
            "--maximise",
            "--minimise",
            "--minimize",
            "--tolerance",
            "--accuracy",
        ),
        *(
            "--split",
            "--json",
            "--csv",
            "--plot",
            "--resume",
            "--device",
            "--direction",
            "--format",
            "--explain",
            "--threads",
            "-t",
        ),
    ],
    "verify": ["--const", "-c"],
    "plot-matrix": [*BUILDING, "--order", "--out"],
    "automaton": ["--hoa"],
    "studio": [
        *("--port", "--host", "--browser", "--no-browser", "--password", "--allow-host"),
        *("--seconds-per-question", "--memory"),
    ],
    "bench synth": ["--only", "--table", "--models", "--json", "--device", "--threads", "-t"],
}
WORDS = {"build": [".tra", ".sta", ".lab", ".srew", ".trew", ".mtx", ".npz"]}  # that help mentions besides


def test_commands() -> None:
    outcome = galton("--help")
    assert (outcome.code, outcome.err) == (0, "")
    commands = {command.partition(" ")[0] for command in OPTIONS}
    assert all(re.search(rf"^  {command}  ", outcome.out, re.MULTILINE) for command in commands)
    assert "..." not in outcome.out.partition("Commands:")[2]  # a sentence that was cut


@pytest.mark.parametrize("command", OPTIONS)
def test_help_tells_of_every_option(command: str) -> None:
    outcome = galton(*command.split(), "--help")
    assert (outcome.code, outcome.err) == (0, "")
    wanted = ["--help", *OPTIONS[command], *WORDS.get(command, [])]
    assert [option for option in wanted if option not in outcome.out] == []


@pytest.mark.parametrize("command", OPTIONS)
def test_options_have_the_same_names_with_every_version_of_typer(command: str) -> None:
    """Typer 0.27.2 called an option ``--NAME`` by its metavar where its name was not written out."""
    found: Any = get_command(app)
    for word in command.split():
        found = found.commands[word]
    options = [param for param in found.params if param.param_type_name == "option"]
    names = [name for option in options for name in (*option.opts, *option.secondary_opts)]
    assert sorted(set(names) - {"--help"}) == sorted(OPTIONS[command])


@pytest.mark.parametrize("function", [info, build, check, synth, verify, plot_matrix, bench.synth, cli.top])
def test_options_are_named_where_they_are_declared(function: Callable[..., None]) -> None:
    """What name Typer makes up for one that is not depends on its version."""
    hints = get_type_hints(function, include_extras=True)
    declared = [part for hint in hints.values() for part in getattr(hint, "__metadata__", ())]
    declared += [parameter.default for parameter in signature(function).parameters.values()]
    options = [option for option in declared if isinstance(option, OptionInfo)]
    # Inside of Annotated the first name stands in the place of the default.
    named = [[str(name) for name in (option.default, *(option.param_decls or ()))] for option in options]
    unnamed = [o.help for o, names in zip(options, named, strict=True) if not any(n.startswith("--") for n in names)]
    assert unnamed == []


SERVING = {"studio", "lsp"}  # run until somebody stops them
EXAMPLES = [command for command in OPTIONS if " " not in command and command not in SERVING]


@pytest.mark.parametrize("command", [*EXAMPLES, "convert", "transient", "steady-state", "gallery"])
def test_examples_work(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The examples of a command can be typed in the root of the repository, one after the other."""
    text = galton(command, "--help").out
    examples = re.findall(r"^    galton (.*)$", text, re.MULTILINE)
    assert examples, "no example"
    folder = tmp_path_factory.mktemp("example")
    (folder / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(folder)
    for example in examples:
        words = shlex.split(example.partition(" > ")[0])
        if "--interactive" in words:  # asks somebody
            continue
        assert words[0] == command or command == "verify"  # which needs a certificate first
        assert galton(*words).code == int("--counterexample" in words)  # of what is false


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
