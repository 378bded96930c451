"""The equation u' = Qu + r of a CTMC in some of its states, the open ones, as proofs and proposals need it.

Other states keep their numbers for ever: a goal has 1, a state from which nothing can come has 0. Q is that of the
whole model, so that (Qu)(s) is a sum of R(s,t)(u(t) - u(s)): of differences, which keep their digits where rates are
large and numbers are close.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ... import _core
from ...backend.cpu.steps import exit_rates, rows_of
from ...model.sparse import Int32s, Model
from ...model.values import Floats

__all__ = ["OpenChain", "Reals", "Rows"]

Reals = npt.NDArray[np.floating]  # doubles, or numbers with more digits where these are needed


@dataclass(frozen=True, eq=False)
class Rows:
    """The rates between open states, numbered among themselves, without loops."""

    starts: npt.NDArray[np.int64]
    columns: Int32s
    rates: Floats

    @cached_property
    def owners(self) -> Int32s:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))


@dataclass(frozen=True, eq=False)
class OpenChain:
    """What is asked: u' = Qu + r in the open states, from u = start at time 0.

    Attributes
    ----------
    matrix
        Of the whole model.
    states
        The open ones, ascending.
    outside
        ``(all states,)`` what others have; 0 in open states.
    earned
        ``(all states,)`` r; None for nothing.
    start
        ``(open states,)``, not negative.
    """

    matrix: _core.Matrix
    states: Int32s
    outside: Floats
    earned: Floats | None
    start: Floats
    rows: Rows
    exits: Floats
    threads: int

    @classmethod
    def of(
        cls,
        model: Model,
        keep: npt.NDArray[np.bool_],
        outside: Floats,
        earned: Floats | None,
        start: Floats,
        threads: int,
    ) -> OpenChain:
        """The open states of a model on the host."""
        from ...backend.cpu.matrix import matrix_of

        states, _, (_, starts, columns, entries) = rows_of(model, keep, False, threads)
        dictionary = model.values.dictionary
        rates = entries if dictionary is None else dictionary[entries]
        rows = Rows(starts.astype(np.int64), columns, np.asarray(rates, dtype=np.float64))
        exits = exit_rates(model, False, threads)[0][states]
        return cls(matrix_of(model), states, np.where(keep, 0.0, outside), earned, start, rows, exits, threads)

    @property
    def n(self) -> int:
        """How many states are open."""
        return len(self.states)

    def drift(self, u: Reals, *, constant: bool = True) -> tuple[Floats, Floats]:
        """Bounds on Qu + r in the open states, rounding included. Of u, two doubles for each number are looked at.

        Without the ``constant`` others have 0, and nothing is earned: that is the equation of a difference.
        """
        high = self.outside.copy() if constant else np.zeros_like(self.outside)
        high[self.states] = u
        low = None
        if u.dtype != np.float64:
            low = np.zeros_like(high)
            low[self.states] = u - high[self.states]
        lower, upper = np.empty(len(high)), np.empty(len(high))
        earned = self.earned if constant else None
        _core.drift_bounds(
            self.matrix, state=earned, choice=None, high=high, low=low, lower=lower, upper=upper, threads=self.threads
        )
        return lower[self.states], upper[self.states]
