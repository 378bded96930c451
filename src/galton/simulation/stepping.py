"""A path that is walked step by step: each step is chosen by somebody, or drawn."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ..model.sparse import Model
from ..model.states import State
from .program_paths import ProgramPaths, Successor

if TYPE_CHECKING:
    from ..lang.program import Program

__all__ = ["ModelSteps", "Steps", "Trail"]

Words = tuple[int, ...]


class Steps(Protocol):
    """Who knows the ways on from a state; a state is the words it is packed in."""

    initial: list[list[int]]

    def state(self, words: Sequence[int]) -> State:
        """What a state is."""

    def successors(self, words: Sequence[int]) -> list[Successor]:
        """All ways on from a state."""


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


class Trail:
    """The states that somebody came through, and the ways on from the last of them.

    >>> import galton
    >>> trail = Trail(galton.parse("dtmc  module m  x : [0..3];  [go] x<3 -> (x'=x+1);  endmodule"), seed=1)
    >>> (way,) = trail.ways()
    >>> trail.take(way)
    >>> trail.here, trail.back(), trail.here
    ((x=1), True, (x=0))
    """

    def __init__(self, subject: Program | Model, seed: int, start: Sequence[int] | None = None):
        self.steps: Steps = ModelSteps(subject) if isinstance(subject, Model) else ProgramPaths(subject)
        self._has_rates = subject.nature.has_rates
        self._random = random.Random(seed)  # a person walks too slowly for it to matter which
        self.words: list[Words] = [tuple(self.steps.initial[0] if start is None else start)]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def here(self) -> State:
        """The state that the path has come to."""
        return self.steps.state(self.words[-1])

    def ways(self) -> list[Successor]:
        """All ways on; none where the path is at its end."""
        return self.steps.successors(self.words[-1])

    def take(self, way: Successor) -> None:
        """Go one of the ways."""
        self.words.append(way.words)

    def back(self) -> bool:
        """Undo the last step; false at the start."""
        if len(self.words) == 1:
            return False
        self.words.pop()
        return True

    def draw(self, choice: int | None = None) -> Successor | None:
        """Take a step at random, by its probability, and return it; None where there is none.

        Among choices each is as likely as the others, if it is not said which to take.
        """
        ways = self.ways()
        if not ways:
            return None
        if not self._has_rates:
            taken = self._random.choice(sorted({way.choice for way in ways})) if choice is None else choice
            ways = [way for way in ways if way.choice == taken]
        (found,) = self._random.choices(ways, [way.probability for way in ways])
        self.take(found)
        return found

    def wait(self, ways: Sequence[Successor]) -> float:
        """How long a chain with rates stays before it goes one of these ways: drawn."""
        return self._random.expovariate(sum(way.probability for way in ways))
