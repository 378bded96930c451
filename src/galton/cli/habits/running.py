"""Saying what is run in place of another tool, and running it."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ...checking.inspection import UsageError
from ...lang.source import GaltonError
from .. import telling
from .line import Call
from .switches import Table

__all__ = ["run", "show"]


def run(calls: Sequence[Call], notes: Sequence[str]) -> None:
    """Run all calls; the exit code is the highest of theirs."""
    for note in notes:
        telling.note(note)
    for call in calls:
        _check_known(call)
    if code := max(_run(call) for call in calls):
        raise typer.Exit(code)


def _run(call: Call) -> int:
    """Run one call; choices that do nothing for what is asked are left away then, and that is said."""
    typer.echo(str(call), err=True)
    if not call.choices:
        return _called(call.all)
    try:
        return _called(call.all)
    except UsageError as error:
        plain = Call(call.words)
        telling.note(str(error))
        typer.echo(str(plain), err=True)
        return _called(plain.all)


def _called(words: list[str]) -> int:
    from .. import app

    code = typer.main.get_command(app).main(words, prog_name="galton", standalone_mode=False)
    return int(code or 0)


def _check_known(call: Call) -> None:
    """Say so before anything runs where the answer to a switch is not in this version."""
    from .. import app

    name, *words = call.all
    commands = getattr(typer.main.get_command(app), "commands", {})
    if name not in commands:
        raise GaltonError(f"this would be 'galton {name}', which this version of Galton does not have")
    known = {text for option in commands[name].params for text in (*option.opts, *option.secondary_opts)}
    for word in words:
        if word.startswith("--") and word not in known:
            raise GaltonError(f"this would be 'galton {name} {word}', which this version of Galton does not have")


def show(tool: str, table: Table) -> None:
    """All switches of a tool, and what does the same here."""
    for group, switches in table.items():
        typer.echo(typer.style(f"{tool}: {group}", bold=True))
        for switch in switches:
            ours = {"done": switch.ours, "needless": "needs nothing", "refused": "refused"}[switch.outcome]
            names = f"{' '.join(switch.spellings)} {switch.takes}".strip()
            typer.echo(f"  {names}\n      {ours}{f'; {switch.note}' if switch.note else ''}")
