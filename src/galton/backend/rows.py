"""Between states and their choices: numbers of states spread over choices, and what all successors have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device.arrays import is_on_host
from ..model.sparse import Mask, Model

__all__ = ["best_choice", "every_successor_in", "owners", "spread"]


def spread(model: Model, numbers: Any) -> Any:
    """``(choices,)`` what ``(states,)`` numbers are in the state of each choice.

    >>> mdp = Model.from_matrix("mdp", [[1, 0], [0, 1], [0, 1]], row_groups=[0, 2, 3])
    >>> spread(mdp, np.array([5, 7])).tolist()
    [5, 5, 7]
    """
    if model.choice_starts is None:
        return numbers
    if is_on_host(model.columns):
        return np.repeat(numbers, np.diff(model.choice_starts))
    return numbers[owners(model)]


def owners(model: Model) -> Any:
    """``(choices,)`` the state of each choice."""
    if not is_on_host(model.columns):
        from .cuda.choices import owners as on_device

        return on_device(model)
    if model.choice_starts is None:
        return np.arange(model.n_states)
    return np.repeat(np.arange(model.n_states), np.diff(model.choice_starts))


def every_successor_in(model: Model, states: Mask) -> Mask:
    """``(choices,)`` mask of the choices all of whose successors are among the states.

    >>> chain = Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]])
    >>> every_successor_in(chain, np.array([False, True])).tolist()
    [False, True]
    """
    if not is_on_host(model.columns):
        from .cuda.choices import every_successor_in as on_device

        found: Mask = on_device(model, states)
        return found
    inside: Mask = np.logical_and.reduceat(states[model.columns], model.row_starts[:-1])
    return inside


def best_choice(model: Model, numbers: Any, *, maximise: bool) -> Any:
    """``(states,)`` the greatest, or the least, of the ``(choices,)`` numbers of each state's choices.

    Of truth values, the greatest is whether some are true, the least whether all are.

    >>> mdp = Model.from_matrix("mdp", [[1, 0], [0, 1], [0, 1]], row_groups=[0, 2, 3])
    >>> best_choice(mdp, np.array([5.0, 7.0, 1.0]), maximise=True).tolist()
    [7.0, 1.0]
    """
    if model.choice_starts is None:
        return numbers
    if not is_on_host(model.columns):
        from .cuda.choices import best_choice as on_device

        return on_device(model, numbers, maximise=maximise)
    return (np.maximum if maximise else np.minimum).reduceat(numbers, model.choice_starts[:-1])
