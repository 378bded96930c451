"""A number per state, known to lie between bounds, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..solve.solution import Work

Floats = npt.NDArray[np.float64]

__all__ = ["Quantity", "Work"]


@dataclass(frozen=True, eq=False)
class Quantity:
    """``(states,)`` bounds on a number in every state; infinite where the number is.

    The midpoint is the value. Where ``proved`` is false the bounds are the same array: a method was chosen that gives
    an answer but no guarantee. For an MDP, ``choices`` is a strategy that attains the value: the row of the matrix that
    each state takes, ``(states,)``, or ``(steps, states)`` where it depends on the steps taken so far; -1 where it does
    not matter. ``infinite`` are the states in which the number is infinite, as graph analysis found; None for nowhere.
    """

    lower: Floats
    upper: Floats
    method: str
    work: tuple[Work, ...] = ()
    choices: npt.NDArray[np.int32] | None = field(default=None, repr=False)
    proved: bool = True
    infinite: npt.NDArray[np.bool_] | None = field(default=None, repr=False)

    @property
    def iterations(self) -> int:
        """Sweeps over the matrix, all steps together."""
        return sum(step.iterations for step in self.work)

    @property
    def value(self) -> Floats:
        """The middle of the bounds; infinite where both are."""
        with np.errstate(invalid="ignore"):
            middle = self.lower + (self.upper - self.lower) / 2
        return np.where(self.lower == self.upper, self.lower, middle)
