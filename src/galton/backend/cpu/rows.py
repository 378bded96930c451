"""Between states and their choices, by NumPy."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ...model.sparse import Int32s, Mask, Model

__all__ = ["best_choice", "every_successor_in", "owners", "spread"]

Number = TypeVar("Number", bound=np.generic)


def owners(model: Model) -> Int32s:
    """``(choices,)`` the state of each choice."""
    states = np.arange(model.n_states, dtype=np.int32)
    return states if model.choice_starts is None else np.repeat(states, np.diff(model.choice_starts))


def spread(model: Model, numbers: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """``(choices,)`` what ``(states,)`` numbers are in the state of each choice."""
    if model.choice_starts is None:
        return numbers
    found: npt.NDArray[Number] = np.repeat(numbers, np.diff(model.choice_starts))
    return found


def every_successor_in(model: Model, states: Mask) -> Mask:
    """``(choices,)`` mask of the choices all of whose successors are among the states."""
    inside: Mask = np.logical_and.reduceat(states[model.columns], model.row_starts[:-1])
    return inside


def best_choice(model: Model, numbers: npt.NDArray[Number], *, maximise: bool) -> npt.NDArray[Number]:
    """``(states,)`` the best of the numbers of each state's choices."""
    if model.choice_starts is None:
        return numbers
    found: npt.NDArray[Number] = (np.maximum if maximise else np.minimum).reduceat(numbers, model.choice_starts[:-1])
    return found
