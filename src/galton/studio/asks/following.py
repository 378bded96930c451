"""Who makes the choices of a path: the best strategy of a question, or one of several, and what it remembers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checking.multi.mixtures import MemoryStrategy, Mixture
from ...checking.strategies.strategy import Strategy
from ...lang.source import GaltonError
from ...lower.reader import READER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from ...simulation.program_paths import Successor

__all__ = ["Follower", "Strategies"]


@dataclass(frozen=True)
class Strategies:
    """The strategies that answer a question: one, or several side by side.

    Attributes
    ----------
    each
        The strategies.
    words
        What each comes to, in words; empty for the only one.
    shares
        The probability of each, where one is chosen at random before the first step; None where somebody chooses.
    """

    each: tuple[Strategy | MemoryStrategy, ...]
    words: tuple[str, ...]
    shares: tuple[Fraction, ...] | None = None

    @classmethod
    def of(cls, found: object) -> Strategies:
        """Those of an answer."""
        if isinstance(found, Strategy):
            return cls((found,), ("",))
        if isinstance(found, Mixture):
            words = tuple(
                ", ".join(
                    f"{name}: {(each.lower + each.upper) / 2:.6g}"
                    for name, each in zip(found.objectives, worth, strict=False)  # none where nothing had to be met
                )
                for worth in found.values
            )
            return cls(found.strategies, words, found.shares)
        raise GaltonError("there is no strategy to play; P, R, T, S and multi(…) of an MDP have one, if it has a value")

    def chosen(self, number: int | None, by: Random) -> int:
        """The number of the one to follow, counted from 1: as given, or drawn, or the first."""
        count = len(self.each)
        if number is not None:
            if number > count:
                raise GaltonError(f"there is no strategy {number}: they are counted from 1 to {count}")
            return number
        if self.shares is None:
            return 1
        (place,) = by.choices(range(count), [float(share) for share in self.shares])
        return place + 1


class Follower:
    """Goes along with a path of the program, and says what the strategy does where the path is.

    The strategy is about a model, which may end where its question is settled, and may have the memory of an automaton
    besides. A place is a state of this model and what is remembered there, and None once the strategy is not asked any
    more: what follows does not matter to its question, or somebody took another way.
    """

    def __init__(self, strategy: Strategy | MemoryStrategy, start: Mapping[str, Any] | None):
        self._strategy, self._model = strategy, strategy.model.to_host()
        self._remembering = strategy if isinstance(strategy, MemoryStrategy) else None
        if self._remembering is not None:
            keys = self._key(self._remembering.states, self._remembering.memory)
            self._order = np.argsort(keys)
            self._keys = keys[self._order]
            self._memories = self._remembering.memories
        self._places: list[int | None] = [self._begin(start)]

    def _begin(self, start: Mapping[str, Any] | None) -> int:
        if start is None:
            return int(self._model.initial[0]) if self._remembering is None else self._remembering.initial
        strategy = self._strategy
        if not isinstance(strategy, Strategy) or strategy.memory is not None or strategy.steps is not None:
            raise GaltonError("a strategy that remembers what has happened begins in an initial state")
        states: Any = self._model.states
        try:
            return int(states.find(dict(start)))
        except KeyError:
            raise GaltonError("the strategy says nothing about this state") from None

    @property
    def memory(self) -> int | None:
        """What is remembered here, as a number; None for a strategy without a memory."""
        place = self._places[-1]
        if place is None:
            return None
        if self._remembering is not None:
            return int(self._remembering.memory[place]) if self._memories > 1 else None
        if isinstance(self._strategy, Strategy) and self._strategy.memory is not None:
            assert self._model.states is not None
            state: Any = self._model.states[place]
            return int(state[READER])
        return None

    def shares(self, ways: Sequence[Successor]) -> dict[int, float]:
        """How likely the strategy takes each choice that these ways belong to; empty where it says nothing."""
        place, strategy = self._places[-1], self._strategy
        if place is None:
            return {}
        known = self._model.choices(self._state(place))
        if len(known) != len({way.choice for way in ways}):  # the model ends here
            return {}
        if isinstance(strategy, Strategy):
            step, last = len(self._places) - 1, strategy.steps
            choice = strategy.choice(place, step if last is None else min(step, last - 1))
            return {} if choice is None else {choice: 1.0}
        rows = strategy.rows[strategy.starts[place] : strategy.starts[place + 1]]
        return {int(row) - known.start: 1 / len(rows) for row in rows}

    def go(self, way: Successor) -> None:
        """Go along one way."""
        self._places.append(self._after(way))

    def back(self) -> None:
        """Undo the last step."""
        self._places.pop()

    def _after(self, way: Successor) -> int | None:
        place = self._places[-1]
        if place is None:
            return None
        choices = self._model.transitions(self._state(place))
        pairs = choices[way.choice][1] if way.choice < len(choices) else []
        target = next((target for _, target in pairs if self._values(target) == dict(way.state)), None)
        strategy = self._remembering
        if target is None or strategy is None:
            return target
        key = self._key(target, int(strategy.then[place]))
        found = int(np.searchsorted(self._keys, key))
        return int(self._order[found]) if found < len(self._keys) and self._keys[found] == key else None

    def _state(self, place: int) -> int:
        return place if self._remembering is None else int(self._remembering.states[place])

    def _values(self, state: int) -> dict[str, Any]:
        assert self._model.states is not None
        named: Any = self._model.states[state]
        return {name: value for name, value in named.items() if name != READER}

    def _key(self, states: Any, memory: Any) -> Any:
        """One number for a state and a memory."""
        return memory * self._model.n_states + states
