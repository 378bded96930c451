"""Unbounded reachability, ``P [ a U b ]`` and ``P [ F b ]``, on models small enough for a direct solver."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from ..model.sparse import Model

Mask = npt.NDArray[np.bool_]


def reachability(
    model: Model, through: Mask, goal: Mask, optimum: Literal["min", "max"]
) -> tuple[npt.NDArray[np.float64], int]:
    """The probability, in each state, to reach the goal by a path through the given states."""
    from ..graph import attractor, zero_and_one
    from ..solve import policy_iteration

    known = np.full(model.n_states, np.nan)
    zero, one = zero_and_one(model, through, goal, optimum)
    known[zero] = 0.0
    known[one] = 1.0
    probabilities = model.values.array()
    if model.type == "ctmc":  # time plays no role: the embedded chain has the same probabilities
        probabilities = probabilities / np.repeat(model.exit_rates, np.diff(model.row_starts))
    starts = np.arange(model.n_states + 1) if model.choice_starts is None else model.choice_starts
    # From the attractor on, every strategy that policy iteration tries leaves the undecided states.
    strategy = attractor(model, through, known == 1.0).astype(np.int64)
    values, strategies = policy_iteration(
        model.row_starts, model.columns, probabilities, starts, known, strategy, optimum
    )
    return np.clip(values, 0.0, 1.0), strategies
