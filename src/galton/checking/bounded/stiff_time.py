"""CTMCs within a time that has very many jumps: few equations instead of a step for each (:mod:`galton.solve.stiff`).

Uniformisation makes q·t steps for a largest rate q, unless the rest can be enclosed early. So it is given some steps to
do that, and it is foreseen how many are left. Where equations would at best take an eighth of the time of these, they
are tried (:mod:`galton.solve.stiff.effort`). They have a small part of it before a look at the chain says whether they
are likely to succeed, and half of it at most. What has been given up, or was found to be too wide, leaves
uniformisation where it was.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ...backend.limits import available_memory
from ...lang.source import GaltonError
from ...model.errors import NumericError
from ...solve.methods import DEFAULT, RATIONAL
from ...solve.poisson import LARGEST_MEAN, Poisson
from ...solve.power_sums import Otherwise, PowerSum, Settled, Weights
from ...solve.stiff.effort import Budget, TooMuchWorkError, least_work, work_of_steps
from ...solve.stiff.open_chain import OpenChain
from ...solve.stiff.sums import FIRST_JUMPS, StiffSum
from ...solve.uniformisation import Uniformised
from ..quantity import Work
from .question import BoundedQuestion

Floats = npt.NDArray[np.float64]
T = TypeVar("T")

__all__ = ["Stiff"]

STEPS_BEFORE = 2_000  # of uniformisation, before anything else is tried …
STEPS_LEFT = 30_000  # … where so many are left at least …
PAYS = 0.12  # … and equations could do with such a part of the work
WORTH = 0.5  # work on equations, beside what the steps left would take …
DOUBT = 2.0  # … which may be so many times as many as foreseen
FREE = 0.015  # … before it is looked whether it is likely to be in vain
VECTORS = 100  # that have to fit into memory


@dataclass(eq=False)
class Stiff:
    """A question about time that equations may answer, and what was tried in vain.

    Attributes
    ----------
    equation
        Its differential equation; made when it is needed.
    jumps, start, weights
        What uniformisation makes of it.
    exponent
        The power of two that the start was multiplied by; who needs that is not for equations.
    """

    ask: BoundedQuestion
    equation: Callable[[], OpenChain]
    jumps: Uniformised
    start: Floats
    weights: Callable[[Poisson], Weights]
    exponent: int = 0
    work: list[Work] = field(default_factory=list)
    is_hopeless: bool = False

    @property
    def is_chosen(self) -> bool:
        """Whether it was asked for by name."""
        return self.ask.settings.method == RATIONAL

    @property
    def _is_possible(self) -> bool:
        if self.exponent or self.ask.model.on_device or self.ask.settings.method not in (None, DEFAULT):
            return False
        return VECTORS * 8.0 * self.jumps.part.n_states < available_memory() / 2

    def at(self, time: float) -> PowerSum | None:
        """Bounds by equations alone, where uniformisation was not asked for or cannot be done; None for others."""
        if self.is_chosen:
            return self._named(lambda: self._sum(np.inf).at(time))
        if self.jumps.rate * time <= LARGEST_MEAN or not self._is_possible:
            return None
        return self._tried(lambda: self._sum(np.inf).at(time))

    def instead(self, time: float) -> Otherwise[PowerSum] | None:
        """What uniformisation may ask when it has made some steps."""
        return self._instead(time, lambda left: self._sum(left).at(time))

    def _instead(self, time: float, find: Callable[[int], T]) -> Otherwise[T] | None:
        part, jumps = self.jumps.part, self.jumps.rate * time
        least = least_work(part.n_entries, part.n_states, jumps, FIRST_JUMPS)

        def pays(left: float) -> bool:
            return left >= STEPS_LEFT and least <= PAYS * self._work(left) and not self.is_hopeless

        if not self._is_possible or not pays(jumps - STEPS_BEFORE):
            return None
        return Otherwise(
            STEPS_BEFORE, pays, lambda left: self._tried(lambda: find(min(math.ceil(DOUBT * left), int(jumps))), left)
        )

    def _work(self, steps: float) -> float:
        return work_of_steps(steps, self.jumps.part.n_entries)

    def at_all(self, times: Sequence[float]) -> Settled | None:
        """Bounds at many times by equations alone, where they were asked for by name."""
        return self._named(lambda: self._settled(times, np.inf)) if self.is_chosen else None

    def instead_at_all(self, times: Sequence[float]) -> Otherwise[Settled] | None:
        """What uniformisation to many times may ask when it has made some steps."""
        return self._instead(times[-1], lambda left: self._settled(times, left))

    def _sum(self, steps_left: float) -> StiffSum:
        if self.exponent:
            raise NumericError("numbers are too faint")
        ask, steps = self.ask, self._work(steps_left)
        important, settings = ask.important(self.jumps.part), ask.settings
        budget = Budget(WORTH * steps, FREE * steps / DOUBT)
        return StiffSum(
            self.equation(), self.jumps, self.start, self.weights, important, settings, ask.everywhere, budget
        )

    def _settled(self, times: Sequence[float], steps_left: float) -> Settled:
        """The last of the times first; those that are too early for its weight have a last one, too."""
        sums, rate = self._sum(steps_left), self.jumps.rate
        close = np.zeros(len(times), dtype=np.bool_)
        lower = np.zeros((len(times), len(sums.important)))
        upper, how = np.full_like(lower, np.inf), ""
        while not close.all():
            last = int(np.flatnonzero(~close)[-1])
            if close.any() and not self.is_chosen and rate * times[last] < STEPS_LEFT:
                break
            below, above, found = sums.at_all(times[: last + 1])
            how = f"{how}, {found.how}" if how else found.how
            for place in np.flatnonzero(~close[: last + 1]):
                if sums.excess(below[place], above[place]) <= 1:
                    lower[place], upper[place], close[place] = below[place], above[place], True
            if not close[last]:
                raise NumericError("its bounds are too wide")
        return Settled(lower, upper, close, how)

    def _named(self, find: Callable[[], T]) -> T:
        try:
            return find()
        except GaltonError as error:
            raise type(error)(f"{RATIONAL} finds no answer: {error}; without --method others are tried") from error

    def _tried(self, find: Callable[[], T], left: int = 0) -> T | None:
        start = clock.perf_counter()
        try:
            return find()
        except NumericError as error:
            self.is_hopeless = not isinstance(error, TooMuchWorkError)
            why = f"given up with {left:,} jumps left: {error}" if left else f"given up: {error}"
            self.work.append(Work(RATIONAL, why, seconds=clock.perf_counter() - start))
            return None
