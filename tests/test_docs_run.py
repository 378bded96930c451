"""Every command and every Python block of README and docs runs, and prints what the page says.

The examples of a page run in order, in one folder that has ``models`` in it: what one writes the next may read, and
Python names go on from block to block. What cannot be run here is in ``NOT_RUN``, with the reason, and nothing else is
left out; of those, the words are parsed all the same, so that an option that is gone is noticed.
"""

from __future__ import annotations

import doctest
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from docs_blocks import PAGES, ROOT, Example, blocks, difference, examples
from typer.main import get_command

from galton.cli import app, main

DEVICE = "needs a device"
LONG = "takes minutes or hours"
SERVES = "runs until somebody stops it; tests/studio starts it"
BUILDS = "builds the project, or runs its tests"
NOT_RUN = {
    "make demo": BUILDS,
    "make test": BUILDS,
    "galton studio models/die.prism": SERVES,
    "galton studio models --port 8080 --no-browser": SERVES,
    "galton studio . --host 0.0.0.0 --password 'a long one' --allow-host lab.example.org": SERVES,
    "python tests/certificates/campaign.py --seed 1 --count 100000 --corrupted 10000": LONG,
    "python bench/gpu.py --timeout 100 --cpu 25 --json docs/gpu/solve.json": DEVICE,
    "galton bench 002-table-1": LONG,
    "galton bench 003-table-2 --sizes paper --device cuda --repeat 3 --out figures": DEVICE,
    "galton bench all --sizes small --out figures": LONG,
    "galton bench report figures": "reads what the command before it writes",
    "galton bench open --sizes small": LONG,
    "galton bench open --sizes paper --device cuda --out figures": DEVICE,
}
EXPECTED_CODES = {0, 1}  # 1: a property is false, as some are meant to be


def shown() -> list[Example]:
    """All examples of all pages."""
    return [example for page in PAGES for example in examples(page)]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a page is read: the models are there, and what is written stays there."""
    (tmp_path / "models").symlink_to(ROOT / "models")
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


SLOW = {ROOT / "README.md"}  # builds and draws larger models
SHOWING = [pytest.param(page, marks=pytest.mark.slow) if page in SLOW else page for page in PAGES if examples(page)]


@pytest.mark.parametrize("page", SHOWING, ids=name)
def test_page_runs(page: Path, folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for example in examples(page):
        if example.file is not None:
            Path(example.file).write_text(example.text)
            continue
        if example.is_python:
            printed = run_python(example, names)
        elif not_run(example) is None:
            printed = run_command(example)
        else:
            continue
        if example.prints is not None:
            assert (wrong := difference(example.prints, printed.splitlines())) is None, f"{example}\n{wrong}"


def not_run(example: Example) -> str | None:
    """Why an example is left out, if it is."""
    return NOT_RUN.get(" ".join(example.text.partition(" #")[0].split()))


def run_command(example: Example) -> str:
    """Run a command in this process, by the entry point of the real one; both outputs as a terminal shows them."""
    program, *arguments = example.words
    target = None
    if ">" in arguments:
        arguments, (target,) = arguments[: arguments.index(">")], arguments[arguments.index(">") + 1 :]
    assert program == "galton", f"{example}\nis not a command of Galton's: run it here, or say why not in NOT_RUN"
    out, code = StringIO(), 0
    with patch.object(sys, "argv", ["galton", *arguments]), redirect_stdout(out), redirect_stderr(out):
        try:
            main()
        except SystemExit as stop:
            code = int(str(stop.code or 0))
    wrong_on_purpose = code == 2 and any("error:" in line for line in example.prints or ())
    assert code in EXPECTED_CODES or wrong_on_purpose, f"{example}\n{out.getvalue()}"
    if target is not None:
        Path(target).write_text(out.getvalue())
        return ""
    return out.getvalue()


def run_python(example: Example, names: dict[str, Any]) -> str:
    """Run Python; a session with ``>>>`` is compared with what it shows."""
    out = StringIO()
    if ">>> " in example.text:
        session = doctest.DocTestParser().get_doctest(example.text, names, str(example.page), None, example.number)
        session.globs = names
        report: list[str] = []
        runner = doctest.DocTestRunner(Close(), verbose=False)
        outcome = runner.run(session, out=report.append, clear_globs=False)
        assert not outcome.failed, "".join(report)
        return ""
    with redirect_stdout(out):
        # The place in the page is that of the error.
        exec(compile("\n" * (example.number - 1) + example.text, str(example.page), "exec"), names)
    return out.getvalue()


class Close(doctest.OutputChecker):
    """Compares what a session prints as what a command prints."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return difference(want.splitlines(), got.splitlines()) is None


@pytest.mark.parametrize("command", NOT_RUN)
def test_what_is_not_run_is_a_command_that_exists(command: str) -> None:
    """The list has only what pages show, and its words are those that the program knows."""
    (example, *_) = [e for e in shown() if " ".join(e.text.partition(" #")[0].split()) == command]
    program, *arguments = example.words
    match program:
        case "make":
            assert re.search(rf"^{arguments[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        case "python":
            assert (ROOT / arguments[0]).is_file()
        case _:
            parse(arguments)


def parse(arguments: list[str]) -> None:
    """Let the command line read its words, and do nothing."""
    command, context, title = get_command(app), None, "galton"
    while hasattr(command, "resolve_command"):
        context = command.make_context(title, list(arguments), parent=context)
        found, command, arguments = command.resolve_command(context, [*context._protected_args, *context.args])
        title = str(found)
    command.make_context(title, list(arguments), parent=context)


def test_parsing_finds_what_is_wrong() -> None:
    with pytest.raises(Exception, match="No such option"):
        parse(["bench", "open", "--no-such-option"])


def test_no_command_stands_outside_of_a_block() -> None:
    """Indented lines are code, too, in Markdown; here only fenced blocks are, so that nothing is missed."""
    for page in PAGES:
        text = page.read_text()
        for block in blocks(page):
            text = text.replace("\n".join(block.lines), "")
        assert re.findall(r"^ {4,}(?:\$ )?(?:galton|python|>>>) .*", text, re.MULTILINE) == [], name(page)


def test_commands_named_in_sentences_exist() -> None:
    """``galton NAME`` in a sentence is a command, too."""
    known = {*get_command(app).commands}  # type: ignore[attr-defined]
    for page in PAGES:
        for word in re.findall(r"`galton ([a-z][a-z-]*)[ `]", page.read_text()):
            assert word in known, f"{name(page)}: galton {word}"


# The rules themselves.


def written(folder: Path, text: str) -> list[Example]:
    page = folder / "page.md"
    page.write_text(text)
    with patch("docs_blocks.ROOT", folder):
        return examples(page)


def test_prompted_commands_have_what_follows_as_output(tmp_path: Path) -> None:
    first, second = written(tmp_path, "```\n$ galton a \\\n   --b\nout\n$ galton c\n```\n")
    assert (first.words, first.prints) == (["galton", "a", "--b"], ("out",))
    assert (second.words, second.prints, second.number) == (["galton", "c"], None, 5)


def test_a_block_right_below_is_the_output(tmp_path: Path) -> None:
    (python,) = written(tmp_path, "```python\nprint(1)\n```\n\n```\n1\n```\n")
    assert python.is_python
    assert python.prints == ("1",)


def test_a_block_with_the_name_of_a_file_is_that_file(tmp_path: Path) -> None:
    (file,) = written(tmp_path, "```prism coin.prism\ndtmc\n```\n\n```prism\nmdp\n```\n")
    assert (file.file, file.text) == ("coin.prism", "dtmc\n")


@pytest.mark.parametrize("text", ["```\nout\n```\n", "```\ngalton a\n```\nwords\n```\nout\n```\n", "```pyhton\n1\n```"])
def test_no_block_is_skipped_silently(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="nobody runs this"):
        written(tmp_path, text)


@pytest.mark.parametrize(
    ("said", "printed", "same"),
    [
        ("p = 0.1666666, 0.004 s", "p = 0.16666661, 9.1 s", True),
        ("p = 0.1666666", "p = 0.1667666", False),
        ("13 states", "14 states", False),
        ("1,234,567 states", "1,234,568 states", True),
        ("p is 1", "q is 1", False),
        ("a …, b", "a 17 and so on, b", True),
        ("= 1/6", "= 1/7", False),
        ("true", "false", False),
        ("a\n…\nz", "a\nb\nc\nz", True),
        ("a\n…\nz", "a\nb\nc", False),
    ],
)
def test_comparison(said: str, printed: str, same: bool) -> None:
    assert (difference(said.splitlines(), printed.splitlines()) is None) == same
