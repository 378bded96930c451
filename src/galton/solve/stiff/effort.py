"""What equations cost beside steps of uniformisation, and what may be spent on them.

Work is counted in entries of matrices and vectors that equations go over: about half a nanosecond each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...model.errors import NumericError

__all__ = ["CALL", "LOOKING", "Budget", "TooMuchWorkError", "UnsolvedError", "least_work", "work_of_steps"]

CALL = 30_000.0  # work done in the time that a call takes, however small the chain
LOOKING = 600_000.0  # … in which a projected equation is solved
FIRST = 1e7  # … in which the first jumps are made ready

STEP = 1.2  # what an entry costs in a step of uniformisation

RATIO, VECTORS, STEPS, PIECES, DEGREE = 6.0, 8, 2, 3, 10  # of windows that go well


class UnsolvedError(NumericError):
    """Equations that are not solved in reasonable time."""


class TooMuchWorkError(UnsolvedError):
    """Equations that may well be solved, but not for what may be spent."""


@dataclass
class Budget:
    """Work on one question: what may be spent, and how much of it before something has to speak for its success."""

    most: float = math.inf
    free: float = math.inf
    spent: float = 0.0

    def spend(self, work: float) -> None:
        """Count work."""
        self.spent += work
        if self.spent > self.most:
            raise TooMuchWorkError("it takes more work than jumps do")


def least_work(entries: int, states: int, jumps: float, first_jumps: float) -> float:
    """What equations cost where all goes well, from the first jumps on."""
    windows = 1 + math.log(max(jumps / first_jumps, 1.0)) / math.log(RATIO)
    step = 4 * CALL + 4 * entries + 40 * states  # two products, two eliminations
    window = VECTORS * (STEPS * step + LOOKING / 2 + 20 * states) + PIECES * (2 * LOOKING + 2 * DEGREE * entries)
    return FIRST + first_jumps * entries + windows * window


def work_of_steps(steps: float, entries: int) -> float:
    """What so many steps of uniformisation cost."""
    return STEP * steps * entries
