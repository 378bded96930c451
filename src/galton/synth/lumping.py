"""A parametric chain without what a question does not see: states that behave alike become one.

States are in one block if they are marked alike, by the formulas and rewards that the question mentions, and if their
rates into every other block are the same polynomials (Buchholz 1994: ordinary lumpability, at every point of the
parameters at once). The blocks are split by their rates until that holds. For a question about one part of a system
this leaves that part alone, whatever else the states tell.

The core finds the blocks, as it does for other models (:mod:`galton.reduce.lumping`), with a sum of coefficients for
each term of the polynomials: sums are compared exactly, and those of the quotient are rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend.cpu import lumping
from ..backend.lumping import LumpLimits, LumpRows, Partition
from ..model.values import Values
from ..reduce.lumping import keys_of
from .parametric_ctmc import ParametricModel
from .transitions import Multiples

WORTH_IT = 1 / 8  # of the states may be left, or the chain stays as it is
MOST_ENTRIES = 10**8  # to be gone over before giving up: about five seconds

__all__ = ["lumped"]


def lumped(model: ParametricModel, marks: Sequence[npt.NDArray[Any]]) -> ParametricModel:
    """The chain of blocks, or the chain itself where the blocks are not much fewer than the states.

    Parameters
    ----------
    marks
        ``(states,)`` arrays of what the question sees of a state.
    """
    block = np.zeros(model.n_states, dtype=np.int32)
    for key in keys_of(marks, np):
        lumping.split(key, block)
    limits = LumpLimits(int(WORTH_IT * model.n_states), MOST_ENTRIES)
    found = lumping.refine(_rows(model, model.row_starts, model.columns, model.rates), block, limits)
    return model if found.first is None else _quotient(model, found)


def _rows(model: ParametricModel, starts: Any, columns: Any, rates: Multiples) -> LumpRows:
    """Rates as weights of several kinds, the terms of polynomials; those inside a block change nothing."""
    values = Values(plain=np.ascontiguousarray(rates.coefficients))
    kinds = np.ascontiguousarray(rates.terms)
    return LumpRows(None, starts, columns, values, kinds=kinds, n_kinds=len(model.terms), leaving=True)


def _quotient(model: ParametricModel, found: Partition) -> ParametricModel:
    """The chain whose states are the blocks, each with the rates of its first state."""
    assert found.first is not None
    first = found.first.astype(np.int64)
    chosen, lengths = model.entries_of(first)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rates = Multiples(model.rates.terms[chosen], model.rates.coefficients[chosen])
    made = lumping.quotient(_rows(model, starts, found.block[model.columns[chosen]], rates))
    assert made.kinds is not None
    state, total = (
        {name: Multiples(of.terms[first], of.coefficients[first]) for name, of in rewards.items()}
        for rewards in (model.state_rewards, model.total_rewards)
    )
    return replace(
        model,
        row_starts=made.row_starts,
        columns=made.columns,
        rates=Multiples(made.kinds, made.values),
        state_rewards=state,
        total_rewards=total,
        initial=found.block[model.initial],
        representatives=first,
        longest=model.longest,
    )
