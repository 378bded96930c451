"""What the program says beside its answers, and how loud it is: ``-q`` for answers and errors only, ``-v`` for more."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import typer

from .. import progress

__all__ = [
    "bold",
    "complain",
    "hide_progress",
    "loud_as_usual",
    "note",
    "noted",
    "quiet",
    "repeat",
    "say",
    "set_loudness",
    "verbose",
    "verdict",
    "warn",
]

_HEAD = re.compile(r"\b(error|warning|note|hint):")
_VERDICTS = {"true": "green", "false": "red", "undecided": "yellow", "error": "red"}
_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan", "hint": "green"}


Note = tuple[str, str]  # how something is said, and what
_own = threading.local()  # the notes of a thread that works for somebody elsewhere


@contextmanager
def noted() -> Iterator[list[Note]]:
    """Keep what this thread would say, for somebody else to :func:`repeat` it."""
    _own.notes = []
    try:
        yield _own.notes
    finally:
        del _own.notes


def repeat(notes: Iterable[Note]) -> None:
    """Say what was noted elsewhere."""
    for how, text in notes:
        {"say": say, "warn": warn, "note": note, "complain": complain}[how](text)


def _kept(how: str, text: str) -> bool:
    """Whether this thread takes notes."""
    notes: list[Note] | None = getattr(_own, "notes", None)
    if notes is not None:
        notes.append((how, text))
    return notes is not None


@contextmanager
def loud_as_usual() -> Iterator[None]:
    """Begin a command: whatever it asks for lasts until its end."""
    start = time.monotonic()
    with progress.loudness(progress.USUAL):
        try:
            yield
        finally:
            if verbose():
                from .options import peak_memory_mb

                note(f"{time.monotonic() - start:.2f} s in all, {peak_memory_mb():,.0f} MB of memory at most")


def set_loudness(level: int) -> None:
    """Be quiet, or tell more, until the command ends."""
    progress.set_loudness(level)


def quiet() -> bool:
    """Whether only answers and errors are wanted."""
    return progress.current_loudness() <= progress.QUIET


def verbose() -> bool:
    """Whether more is wanted."""
    return progress.current_loudness() >= progress.VERBOSE


def hide_progress() -> None:
    """Take progress away: somebody is about to print."""
    progress.hidden()


def say(text: str = "") -> None:
    """Print an answer, or a part of it."""
    if _kept("say", text):
        return
    progress.hidden()
    typer.echo(text, color=_colour())


def warn(text: str) -> None:
    """What a person should know about an answer."""
    if not _kept("warn", text) and not quiet():
        _tell(f"warning: {text}")


def note(text: str) -> None:
    """What a person may want to know."""
    if not _kept("note", text) and not quiet():
        _tell(f"note: {text}")


def complain(text: str) -> None:
    """What went wrong, however quiet."""
    if not _kept("complain", text):
        _tell(text)


def bold(text: str) -> str:
    """A text that stands out, where it can."""
    return typer.style(text, bold=True)


def verdict(text: str) -> str:
    """A cell of a table in the colour of what it says."""
    colour = _VERDICTS.get(text.strip().partition(":")[0])
    return typer.style(text, fg=colour) if colour else text


def _tell(text: str) -> None:
    progress.hidden()
    painted = _HEAD.sub(lambda found: typer.style(found[0], fg=_COLOURS[found[1]], bold=True), text, count=1)
    typer.echo(painted, err=True, color=_colour())


def _colour() -> bool | None:
    """None where colours are for terminals, as usual; False where nobody wants them (https://no-color.org)."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
