"""Between states and their choices, a choice at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.sparse import Int32s, Mask, Model

__all__ = ["best_choice", "every_successor_in", "owners", "spread", "successors"]


def successors(model: Model, choice: int) -> Int32s:
    """The states that a choice may lead to."""
    return model.columns[model.row_starts[choice] : model.row_starts[choice + 1]]


def owners(model: Model) -> Int32s:
    """``(choices,)`` the state of each choice."""
    return np.array([state for state in range(model.n_states) for _ in model.choices(state)], dtype=np.int32)


def spread(model: Model, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """``(choices,)`` what ``(states,)`` numbers are in the state of each choice."""
    return numbers[owners(model)]


def every_successor_in(model: Model, states: Mask) -> Mask:
    """``(choices,)`` mask of the choices all of whose successors are among the states."""
    return np.array([bool(states[successors(model, choice)].all()) for choice in range(model.n_choices)])


def best_choice(model: Model, numbers: npt.NDArray[Any], *, maximise: bool) -> npt.NDArray[Any]:
    """``(states,)`` the best of the numbers, or truth values, of each state's choices."""
    best = max if maximise else min
    return np.array([best(numbers[model.choices(s)].tolist()) for s in range(model.n_states)], dtype=numbers.dtype)
