"""A path step by step: a person chooses each step among all that can happen, or has it drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from ..model.sparse import Model
from ..model.states import State
from ..simulation.program_paths import ProgramPaths, Successor

if TYPE_CHECKING:
    from ..lang.program import Program

HELP = "a number takes that step; enter draws one; r N draws N; b goes back; q ends"
MOST_AT_ONCE = 10_000


class ModelSteps:
    """The steps of a model that is built, as :class:`ProgramPaths` has those of a program; words are its number."""

    def __init__(self, model: Model):
        self._model = model.to_host()
        self.initial = [[number] for number in self._model.initial.tolist()]

    def state(self, words: Sequence[int]) -> State:
        """What a state is; its number, where nothing else is known."""
        (number,) = words
        named = None if self._model.states is None else self._model.states[number]
        return named if isinstance(named, State) else State({"state": number})

    def successors(self, words: Sequence[int]) -> list[Successor]:
        """All ways on from a state, in the order of the model."""
        return [
            Successor(choice, action, probability, self.state([target]), (target,))
            for choice, (action, branches) in enumerate(self._model.transitions(words[0]))
            for probability, target in branches
        ]


class Stepping:
    """A path that a person walks."""

    def __init__(self, subject: Program | Model, seed: int):
        import random

        self._paths = ModelSteps(subject) if isinstance(subject, Model) else ProgramPaths(subject)
        self._nature = subject.nature
        self._random = random.Random(seed)  # a person walks too slowly for it to matter which
        self._trail: list[tuple[int, ...]] = [tuple(self._paths.initial[0])]

    def run(self) -> None:
        """Show where the path is, ask, and move, until the person has enough."""
        if len(self._paths.initial) > 1:
            typer.echo(f"the first of {len(self._paths.initial):,} initial states")
        typer.echo(HELP)
        while True:
            ways = self._paths.successors(self._trail[-1])
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
        here = self._paths.state(self._trail[-1])
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
            if len(self._trail) > 1:
                self._trail.pop()
            return True
        if answer.isdecimal() and 1 <= int(answer) <= len(ways):
            self._trail.append(ways[int(answer) - 1].words)
            return True
        if answer == "" or answer == "r" or (answer.startswith("r ") and answer[2:].strip().isdecimal()):
            count = int(answer[2:]) if answer.startswith("r ") else 1
            self._draw(min(count, MOST_AT_ONCE))
            return True
        return False

    def _draw(self, count: int) -> None:
        """Take so many steps at random, by their probabilities; among choices each is as likely as the others."""
        for _ in range(count):
            ways = self._paths.successors(self._trail[-1])
            if not ways:
                return
            if not self._nature.has_rates:
                choice = self._random.choice(sorted({way.choice for way in ways}))
                ways = [way for way in ways if way.choice == choice]
            taken = self._random.choices(ways, [way.probability for way in ways])[0]
            typer.echo(f"  drawn: {f'[{taken.action}] ' if taken.action else ''}{taken.state}")
            self._trail.append(taken.words)


def _shown(value: int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
