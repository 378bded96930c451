"""What a reduction is: it makes a problem smaller or easier (`apply`) and carries what was solved back (`lift`).

A problem is a set of states whose values are sought. Reductions are put in a list by :mod:`.plan` and applied in turn;
solutions are lifted in the opposite order. Values are lifted over the states of the model: an array with a number for
each of them, of which a reduction fills in those that it took out. Another kind of reduction needs nothing else to join
the list. Lumping (:mod:`.lumping`) is none of these: it makes a smaller model, of which all questions are asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..model.sparse import Int32s, Mask, Model
from ..model.values import Floats
from ..solve.equations import Optimum
from ..solve.requirements import Requirement

__all__ = ["Problem", "Reduction"]


@dataclass(frozen=True, eq=False)
class Problem:
    """The best values of the states of a model.

    Attributes
    ----------
    known
        ``(states,)`` the values of the states that are not open.
    reward
        ``(choices,)`` what taking a choice collects; None for nothing.
    keep
        ``(choices,)`` the choices that may be taken; all if None.
    open_states
        ``(states,)`` those whose values are sought; all if None.
    order
        The open states in the order of their unknowns; None for the order that they have.
    starts
        Where components begin among the unknowns, in such an order.
    groups
        Offsets into ``order`` where several states are one unknown.
    component
        ``(states,)`` states with the same number from 0 are one unknown; None where each has its own.
    numbering
        How a device numbers the unknowns: a name of :mod:`galton.backend.formats`.
    """

    model: Model
    known: Floats
    optimum: Optimum | None = None
    reward: Floats | None = None
    keep: Mask | None = None
    open_states: Mask | None = None
    order: Int32s | None = None
    starts: Int32s | None = None
    groups: Int32s | None = None
    component: Int32s | None = None
    numbering: str | None = None


class Reduction:
    """One step of the way from a problem to equations, and back. This one changes nothing."""

    guarantees: ClassVar[frozenset[Requirement]] = frozenset()

    def apply(self, problem: Problem) -> Problem:
        """The problem that is left."""
        return problem

    def lift(self, problem: Problem, values: Floats) -> Floats:
        """Values of all states, where those that the reduced problem still has are given; may work in place."""
        return values

    def lift_choices(self, problem: Problem, rows: Int32s) -> Int32s:
        """A row for every state, where those of the reduced problem are given; may work in place."""
        return rows

    def describe(self) -> str:
        """What ``--explain`` prints."""
        raise NotImplementedError
