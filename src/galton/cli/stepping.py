"""A path step by step on a terminal: a person chooses each step among all that can happen, or has it drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ..simulation.program_paths import Successor
from ..simulation.stepping import Trail

if TYPE_CHECKING:
    from ..lang.program import Program
    from ..model.sparse import Model

HELP = "a number takes that step; enter draws one; r N draws N; b goes back; q ends"
MOST_AT_ONCE = 10_000


class Stepping:
    """A path that a person walks."""

    def __init__(self, subject: Program | Model, seed: int):
        self._trail = Trail(subject, seed)
        self._nature = subject.nature

    def run(self) -> None:
        """Show where the path is, ask, and move, until the person has enough."""
        if (several := len(self._trail.steps.initial)) > 1:
            typer.echo(f"the first of {several:,} initial states")
        typer.echo(HELP)
        while True:
            ways = self._trail.ways()
            self._show(ways)
            try:
                answer = input("> ").strip().lower()
            except EOFError:
                typer.echo()
                return
            if answer in ("q", "quit", "exit"):
                return
            if not self._follow(answer, ways):
                typer.echo(HELP)

    def _show(self, ways: list[Successor]) -> None:
        here = self._trail.here
        typer.echo(typer.style(f"step {len(self._trail) - 1}: {here}", bold=True))
        if not ways:
            typer.echo("  this state has no way on; b goes back, q ends")
        what = "rate" if self._nature.has_rates else "probability"
        for number, way in enumerate(ways, 1):
            changes = (
                ", ".join(f"{name}={_shown(v)}" for name, v in way.state.items() if v != here[name]) or "no change"
            )
            choice = f"choice {way.choice + 1}, " if self._nature.has_choices else ""
            action = f"[{way.action}] " if way.action else ""
            typer.echo(f"  {number}: {action}{choice}{what} {way.probability:g}: {changes}")

    def _follow(self, answer: str, ways: list[Successor]) -> bool:
        """Do what was asked; false where it was nothing that can be done."""
        if answer == "b":
            self._trail.back()
            return True
        if answer.isdecimal() and 1 <= int(answer) <= len(ways):
            self._trail.take(ways[int(answer) - 1])
            return True
        if answer == "" or answer == "r" or (answer.startswith("r ") and answer[2:].strip().isdecimal()):
            count = int(answer[2:]) if answer.startswith("r ") else 1
            self._draw(min(count, MOST_AT_ONCE))
            return True
        return False

    def _draw(self, count: int) -> None:
        for _ in range(count):
            taken = self._trail.draw()
            if taken is None:
                return
            typer.echo(f"  drawn: {f'[{taken.action}] ' if taken.action else ''}{taken.state}")


def _shown(value: int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
