"""``galton fmt``: models and property files in one style."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from . import telling

ENCODING = {
    "encoding": "utf-8",
    "errors": "surrogateescape",
    "newline": "",
}  # old bytes and line ends come back as they were


def fmt(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES…",
            help="Models and property files in the PRISM language, or folders of them; - reads standard input and "
            "writes standard output.",
            show_default=False,
        ),
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 where a file would change, and name it.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print what would change.")] = False,
    stdin_name: Annotated[
        str,
        typer.Option(
            "--stdin-name",
            metavar="NAME",
            help="What standard input would be called as a file: .props and its like are properties.",
        ),
    ] = "model.prism",
) -> None:
    """Format models and property files.

    Only blanks and line breaks change. All comments stay, and so do line breaks within a command or formula, blank
    lines (one of several), and what its author has lined up. A file with a mistake is left as it is; the mistake is
    told, and the exit code is 2.

    \b
    Examples:
      galton fmt models/die.prism --diff
      galton fmt --check models
      cat die.prism | galton fmt -
    """
    from ..lang.source import GaltonError
    from .options import told

    changed, wrong = 0, 0
    for name in _expanded(files):
        try:
            changed += _format(name, check=check, diff=diff, stdin_name=stdin_name)
        except GaltonError as error:  # the other files are formatted all the same
            telling.complain(told(error))
            wrong += 1
    if wrong:
        raise typer.Exit(2)
    if check and changed:
        raise typer.Exit(1)


def _expanded(files: list[str]) -> Iterator[str]:
    """The files that are meant; of a folder, all models and property files in it."""
    from ..editing.files import is_model_name, is_property_name

    for name in files:
        if name != "-" and Path(name).is_dir():
            inside = sorted(path for path in Path(name).rglob("*") if path.is_file())
            yield from (str(path) for path in inside if is_model_name(path.name) or is_property_name(path.name))
        else:
            yield name


def _format(name: str, *, check: bool, diff: bool, stdin_name: str) -> bool:
    """Format one file; whether it changes, or would."""
    from ..editing.formatting import formatted

    if name == "-":
        stdin, shown = sys.stdin, stdin_name
        text = stdin.read()
    else:
        shown = name
        with open(name, **ENCODING) as file:  # type: ignore[call-overload]
            text = file.read()
    new = formatted(text, shown)
    if diff:
        _show_difference(text, new, shown)
    elif check:
        if new != text:
            telling.say(f"would change {shown}")
    elif name == "-":
        typer.echo(new, nl=False)
    elif new != text:
        with open(name, "w", **ENCODING) as file:  # type: ignore[call-overload]
            file.write(new)
        telling.note(f"formatted {shown}")
    return new != text


def _show_difference(old: str, new: str, name: str) -> None:
    from difflib import unified_diff

    lines = unified_diff(old.splitlines(True), new.splitlines(True), name, f"{name}, formatted")
    typer.echo("".join(lines), nl=False)
