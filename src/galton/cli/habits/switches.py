"""Switches of other tools: one row of a table for each, which says what does it here; and how a line is read by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ...lang.source import GaltonError
from ...lang.stream import nearest
from .line import Line

__all__ = ["Switch", "Table", "adds", "chooses", "markdown", "needless", "read", "refused", "says", "sets"]

Act = Callable[[Line, Sequence[str]], None]
Outcome = Literal["done", "needless", "refused"]


@dataclass(frozen=True)
class Switch:
    """A switch by its names, what follows it, what does it in Galton, and what is different or why there is nothing."""

    names: str
    takes: str = ""
    ours: str = ""
    note: str = ""
    act: Act | None = None
    outcome: Outcome = "done"

    @property
    def spellings(self) -> list[str]:
        """All names."""
        return self.names.split()

    @property
    def needed(self) -> int:
        """How many words it takes at least; those in brackets may be missing."""
        return sum(not word.startswith("[") for word in self.takes.split())

    @property
    def optional(self) -> int:
        """How many more it may take."""
        return len(self.takes.split()) - self.needed


Table = dict[str, list[Switch]]
"""Rows under the headings of their groups."""


def adds(names: str, takes: str, option: str, note: str = "", to: str = "checking") -> Switch:
    """A switch whose value is that of one of our options."""

    def act(line: Line, values: Sequence[str]) -> None:
        getattr(line, to).extend([option.split()[0], *values])

    return Switch(names, takes, option, note, act)


def sets(names: str, option: str, note: str = "", to: str = "checking") -> Switch:
    """A switch that is one of ours."""

    def act(line: Line, values: Sequence[str]) -> None:
        getattr(line, to).append(option)

    return Switch(names, "", option, note, act)


def chooses(names: str, method: str, note: str = "") -> Switch:
    """A switch that is a part of the name of a method."""

    def act(line: Line, values: Sequence[str]) -> None:
        line.method.append(method)

    return Switch(names, "", f"--method {method}", note, act)


def says(names: str, takes: str, ours: str, act: Act, note: str = "") -> Switch:
    """A switch with a meaning of its own."""
    return Switch(names, takes, ours, note, act)


def needless(names: str, note: str, takes: str = "") -> Switch:
    """A switch that changes nothing here; whoever types it is told why."""
    return Switch(names, takes, "", note, None, "needless")


def refused(names: str, note: str, takes: str = "") -> Switch:
    """A switch that has no counterpart; whoever types it is told what there is instead."""
    return Switch(names, takes, "", note, None, "refused")


def read(line: Line, words: Sequence[str], table: Table, dashes: Callable[[str], str | None]) -> Iterator[str]:
    """Read a command line into ``line``; what is no switch comes back.

    ``dashes`` gives the name of a switch as the table spells it, or None for a word that is none.
    """
    known = {name: switch for switches in table.values() for switch in switches for name in switch.spellings}
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        name = dashes(word)
        if name is None:
            yield word
            continue
        if name not in known:
            hint = nearest(name, known)
            raise GaltonError(f"{word} is no switch that Galton knows of {line.tool}'s{f'; {hint}' if hint else ''}")
        switch = known[name]
        values = list(words[place : place + switch.needed])
        if len(values) < switch.needed:
            raise GaltonError(f"{word} needs {switch.takes.split()[len(values)]} after it")
        place += switch.needed
        while len(values) < switch.needed + switch.optional and place < len(words) and not words[place].startswith("-"):
            values.append(words[place])
            place += 1
        if switch.outcome == "refused":
            raise GaltonError(f"{word} of {line.tool} has no counterpart here: {switch.note}")
        if switch.note and switch.outcome == "needless":
            line.note(f"{word}: {switch.note}")
        if switch.act is not None:
            switch.act(line, values)


def markdown(table: Table, tool: str) -> Iterator[str]:
    """The table for people, a row for each switch."""
    for group, switches in table.items():
        yield f"| {tool}: {group} | Galton | |"
        yield "|---|---|---|"
        for switch in switches:
            names = ", ".join(f"`{name}`" for name in switch.spellings)
            ours = {"done": f"`{switch.ours}`", "needless": "needs nothing", "refused": "refused"}[switch.outcome]
            takes = f" {switch.takes}" if switch.takes else ""
            yield f"| {names}{takes} | {ours} | {switch.note} |"
        yield ""
