"""What equations cost beside steps of uniformisation, and what may be spent on them.

Work is counted in entries of matrices and vectors that equations go over: about half a nanosecond each. It is counted,
and not timed, so that the same question has the same answer on every run.

How many steps are left is not known: the rest of a sum is often enclosed long before its end, and all of a sudden. So a
forecast is believed up to ten times the steps that have been made. Of what these take, equations may have 4 % to find
out whether they are likely to succeed, 7 % more until they get anywhere, and half when they come to their end. What was
given up goes on where it was, when a fifth more may be spent. So what is spent in vain before there is any progress is
a ninth of what was foreseen, and little more than the steps that have been made.

Many questions end before any of this pays: while the steps made have taken less than about a twentieth of a second,
equations may take about a hundredth of one until they get anywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ...model.errors import NumericError

__all__ = [
    "CALL",
    "ELIMINATING",
    "LOOKING",
    "READY",
    "WALK",
    "WALKING",
    "Budget",
    "Least",
    "TooMuchWorkError",
    "UnsolvedError",
    "expected_steps",
    "work_of_bringing",
    "work_of_device_steps",
    "work_of_steps",
]

CALL = 30_000.0  # work done in the time that a call takes, however small the chain
LOOKING = 600_000.0  # … in which a projected equation is solved
READY = 2e6  # … in which equations are made ready
WALKING = 25.0  # what a step of a random walk costs
ELIMINATING = 35.0  # … and an entry that an elimination keeps

STEP, ALIKE, EACH = 1.2, 0.6, 150.0  # an entry in a step of uniformisation; one of rows that are alike; a step

# On a device, in units of half a nanosecond: its threads meet in 3 µs, 2.5 TB a second go by (docs/gpu/solve.md,
# "Steps"), and 5 GB a second come to the host, which is an assumption.
MEETING, BYTE, BROUGHT = 6_000.0, 8e-4, 0.4
ENTRY_BYTES, STATE_BYTES = 12, 24  # of a step

BELIEVED = 10.0  # times the steps made: steps left that are expected
PROSPECTS = 0.04  # of what these take: what may be spent until equations are likely to succeed …
AGAIN = 1.2  # times what has been spent on that: what there must be to spend before it goes on
SHARE = 0.07  # … then until they get anywhere …
WORTH = 0.5  # … and on a success
SMALL, LITTLE = 2e8, 4e7  # work of steps made until which a question is small, and what may be spent on it until then

WALK = 200_000  # steps of a random walk, at most
FILL = 3  # entries that an elimination keeps for each of the chain, where all goes well …
LOOKS = 30  # … steps of BiCGStab until equations are likely to succeed …
VECTORS, STEPS, DEGREE = 14, 2, 12  # … and what a window takes


class UnsolvedError(NumericError):
    """Equations that are not solved in reasonable time."""


class TooMuchWorkError(UnsolvedError):
    """Equations that may well be solved, but not for what may be spent."""


@dataclass
class Budget:
    """Work on one question, in one try or several.

    Attributes
    ----------
    steps
        Work on the steps that are expected otherwise.
    made
        Work on the steps that have been made.
    spent
        Work on equations.
    trusted
        What had been spent when something spoke for a success; None before.
    progress
        The part of the way that is done.
    before, foreseen
        What had been spent before there was any, and what all of it will take.
    begun
        What had been spent when the last window was begun.
    """

    steps: float = math.inf
    made: float = math.inf
    spent: float = 0.0
    trusted: float | None = None
    progress: float = 0.0
    before: float = 0.0
    foreseen: float = 0.0
    begun: float = math.inf

    @property
    def limit(self) -> float:
        """What may be spent for now."""
        if self.steps == math.inf:
            return math.inf
        if self.progress:
            return self.before + (SHARE + self.progress * (WORTH - SHARE)) * self.steps
        limit = PROSPECTS * self.steps if self.trusted is None else self.trusted + SHARE * self.steps
        return limit if self.made >= SMALL else min(limit, LITTLE)

    def pays(self, least: Least) -> bool:
        """Whether to begin, or to go on with what has been begun."""
        if self.trusted is None:
            enough = max(least.prospects, AGAIN * self.spent)
            return enough <= self.limit and least.beginning + least.window <= SHARE * self.steps
        # A window that was given up takes longer than was thought.
        window = max(least.window, AGAIN * (self.spent - self.begun))
        return self.spent + window <= self.limit and self.foreseen <= WORTH * self.steps

    def spend(self, work: float) -> None:
        """Count work."""
        self.spent += work
        if self.spent > self.limit:
            raise TooMuchWorkError("it takes more work than jumps do")

    def trust(self) -> None:
        """Something speaks for a success."""
        if self.trusted is None:
            self.trusted = self.spent

    def begin_window(self) -> None:
        """Remember what has been spent."""
        self.begun = self.spent

    def come_to(self, progress: float, before: float) -> None:
        """Count progress, when so much had been spent before there was any."""
        self.progress, self.before, self.foreseen = progress, before, before + (self.spent - before) / progress
        if self.foreseen > WORTH * self.steps:
            raise TooMuchWorkError("it would take more work than jumps do")


class Least(NamedTuple):
    """What equations cost where all goes well: until it is known whether they will succeed, until the first window
    begins, and the first window.
    """

    prospects: float
    beginning: float
    window: float

    @classmethod
    def of(cls, entries: int, states: int, beginning: float) -> Least:
        """For a chain of that size."""
        solving = 4 * CALL + 4 * entries + 40 * states  # a step of BiCGStab: two products, two eliminations
        walk = WALKING * min(WALK, 50 * states)
        window = VECTORS * (STEPS * solving + LOOKING / 2 + 20 * states) + 2 * LOOKING + 2 * DEGREE * entries
        return cls(READY + walk + 2 * FILL * ELIMINATING * entries + LOOKS * solving, beginning, window)


def expected_steps(done: float, left: float) -> float:
    """How many steps of uniformisation to expect, when some have been done and so many more are foreseen.

    >>> expected_steps(2_000, 7_000), expected_steps(2_000, 1e9)
    (7000, 20000.0)
    """
    return min(left, BELIEVED * done)


def work_of_steps(steps: float, entries: int, alike: int) -> float:
    """What so many steps of uniformisation cost, on so many entries, some of them in rows that are alike."""
    return steps * (EACH + STEP * (entries - alike) + ALIKE * alike)


def work_of_device_steps(steps: float, entries: int, states: int) -> float:
    """What so many steps take on a device, as if the host were working meanwhile."""
    return steps * (MEETING + BYTE * (ENTRY_BYTES * entries + STATE_BYTES * states))


def work_of_bringing(entries: int, states: int) -> float:
    """What it takes to bring a model from a device to the host."""
    return BROUGHT * (ENTRY_BYTES * entries + STATE_BYTES * states)
