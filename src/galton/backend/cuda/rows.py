"""Between states and their choices, on a device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.cuda.kernels import Kernels, kernels
from ...model.sparse import Model

__all__ = ["best_choice", "every_successor_in", "owners", "spread"]

FILE = Path(__file__).with_name("choices.cu")


def owners(model: Model) -> Any:
    """``(choices,)`` the state of each choice."""
    if model.choice_starts is None:
        return cp.arange(model.n_states, dtype=np.int32)
    owner = cp.empty(model.n_choices, dtype=np.int32)
    _kernels(model).launch("owners", model.n_states, model.choice_starts, model.n_states, owner)
    return owner


def spread(model: Model, numbers: Any) -> Any:
    """``(choices,)`` what ``(states,)`` numbers are in the state of each choice."""
    return numbers if model.choice_starts is None else numbers[owners(model)]


def every_successor_in(model: Model, states: Any) -> Any:
    """``(choices,)`` mask of the choices all of whose successors are among the states."""
    inside = cp.empty(model.n_choices, dtype=np.bool_)
    given = (model.row_starts, model.columns, states, model.n_choices)
    _kernels(model).launch("every_successor_in", model.n_choices, *given, inside)
    return inside


def best_choice(model: Model, numbers: Any, *, maximise: bool) -> Any:
    """``(states,)`` the best of the numbers, or truth values, of each state's choices."""
    if model.choice_starts is None:
        return numbers
    best = cp.empty(model.n_states, dtype=numbers.dtype)
    kernel = "best_truths" if numbers.dtype == np.bool_ else "best_numbers"
    _kernels(model).launch(kernel, model.n_states, model.choice_starts, numbers, model.n_states, int(maximise), best)
    return best


def _kernels(model: Model) -> Kernels:
    return kernels(FILE, "OFFSET=int" if model.row_starts.itemsize == 4 else "OFFSET=long long")
