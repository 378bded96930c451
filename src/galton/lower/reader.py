"""A deterministic automaton that reads the states of a program while it is explored.

Its state is one more variable, which no command knows. In every transition it reads the state that is left, so that the
explorers build the product of program and automaton, and only as much of it as can be reached. A state that cannot move
repeats its letter: it stays, and the automaton goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..lang.expressions import Expression
from ..lang.program import Program, Variable
from ..lang.source import Span

__all__ = ["READER", "Reader"]

READER = "automaton state"  # no variable of a program can have this name


@dataclass(frozen=True, eq=False)
class Reader:
    """An automaton over letters: bit i of a letter says whether proposition i holds in the state that is read.

    Attributes
    ----------
    propositions
        Expressions over the variables of the program, with formulas and labels expanded, that always have a value.
    successor
        ``(states, letters)`` the automaton's next state.
    initial
        Its state before anything is read.
    final
        ``(states,)`` mask: what follows is not asked once it is in one of these. The state of the program that leads
        there gets a self-loop and no successor.
    """

    propositions: tuple[Expression, ...]
    successor: npt.NDArray[np.int32]
    initial: int
    final: npt.NDArray[np.bool_]

    def beside(self, program: Program) -> Program:
        """The program with the automaton's state as its last variable, the least significant one."""
        high = len(self.successor) - 1
        return replace(
            program,
            variables=(*program.variables, Variable(READER, "int", 0, high, self.initial, None, Span(0, 0))),
        )
