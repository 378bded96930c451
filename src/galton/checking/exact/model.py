"""A model whose numbers are rational: the graph of a model of doubles, and what stands beside its entries exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...model.sparse import Mask, Model, Rewards
from .numbers import Rational, from_float, rational

__all__ = ["ExactModel", "ExactNumbers", "Gains", "NumbersOfDoubles"]

Integers = npt.NDArray[np.integer]


class ExactNumbers(Protocol):
    """Where the numbers of a model come from."""

    deviation: float  # the largest relative difference between a number and its double so far

    def row(self, choice: int) -> list[Rational]:
        """The probabilities or rates of a choice, in the order of its entries; probabilities sum to 1."""

    def state_reward(self, structure: str, state: int) -> Rational:
        """What a state earns."""

    def choice_reward(self, structure: str, choice: int) -> Rational:
        """What a choice earns, on top of its state."""


class NumbersOfDoubles:
    """The doubles of a model as the fractions that they are; probabilities are divided by their sum."""

    deviation = 0.0

    def __init__(self, model: Model) -> None:
        self._model = model

    def row(self, choice: int) -> list[Rational]:
        model = self._model
        entries = slice(int(model.row_starts[choice]), int(model.row_starts[choice + 1]))
        values = [from_float(value) for value in model.values[entries].tolist()]
        return values if model.has_rates else divided(values)

    def state_reward(self, structure: str, state: int) -> Rational:
        part = self._model.rewards[structure].state
        return rational(0) if part is None else from_float(float(part[state]))

    def choice_reward(self, structure: str, choice: int) -> Rational:
        part = self._model.rewards[structure].choice
        return rational(0) if part is None else from_float(float(part[choice]))


def divided(values: list[Rational]) -> list[Rational]:
    """Numbers divided by their sum, where that is not 1."""
    total = sum(values[1:], values[0])
    return values if total == 1 else [value / total for value in values]


@dataclass(frozen=True, eq=False)
class ExactModel:
    """A model, its numbers, and for each of its choices and states those of the model that the numbers belong to.

    ``rows`` and ``states`` are None where these are the same; they are not in a product with an automaton.
    """

    model: Model
    numbers: ExactNumbers
    rows: Integers | None = None
    states: Integers | None = None

    def entries(self, choice: int) -> Iterator[tuple[int, Rational]]:
        """The targets of a choice, each with its probability or rate."""
        starts, columns = self._lists
        original = choice if self.rows is None else int(self.rows[choice])
        return zip(columns[starts[choice] : starts[choice + 1]], self.numbers.row(original), strict=True)

    @cached_property
    def _lists(self) -> tuple[list[int], list[int]]:
        return self.model.row_starts.tolist(), self.model.columns.tolist()

    def of_structure(self, name: str, rewards: Rewards) -> Gains:
        """The gains of a reward structure; ``rewards`` are its doubles."""

        known: dict[int, Rational] = {}

        def earned(state: int, choice: int) -> Rational:
            if choice not in known:
                original = state if self.states is None else int(self.states[state])
                row = choice if self.rows is None else int(self.rows[choice])
                known[choice] = self.numbers.state_reward(name, original) + self.numbers.choice_reward(name, row)
            return known[choice]

        return Gains(rewards, earned)

    def of_states(self, states: Mask) -> Gains:
        """A gain of 1 for being in some states."""
        one, zero = rational(1), rational(0)
        indicator = states.astype(np.float64)
        return Gains(Rewards(state=indicator), lambda state, choice: one if states[state] else zero)


@dataclass(frozen=True, eq=False)
class Gains:
    """What choices earn, their states included: per step, or per unit of time where the model has rates.

    ``doubles`` are the same in doubles, for who proposes an answer.
    """

    doubles: Rewards
    earned: Callable[[int, int], Rational]
