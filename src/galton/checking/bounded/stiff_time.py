"""CTMCs within a time that has very many jumps: few equations instead of a step for each (:mod:`galton.solve.stiff`).

Uniformisation makes q·t steps for a largest rate q, unless the rest can be enclosed early. So it is given some steps to
do that. After these, and after twice as many each time, it is estimated how many are left, and what equations would
take until they get anywhere (:mod:`galton.solve.stiff.effort`). Where that is a small share, they are tried. What has
been given up, or was found to be too wide, leaves uniformisation where it was.

Steps on a device are quicker, and equations are solved on the host all the same. The model is brought there where that,
too, is a small share of what steps on the device are estimated to take.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ...backend.limits import available_memory
from ...device.arrays import namespace
from ...lang.source import GaltonError
from ...model.errors import NumericError
from ...solve.methods import DEFAULT, RATIONAL
from ...solve.poisson import LARGEST_MEAN, Poisson, poisson
from ...solve.power_sums import Otherwise, PowerSum, Settled, Weights
from ...solve.stiff.effort import (
    Budget,
    Least,
    TooMuchWorkError,
    expected_steps,
    work_of_bringing,
    work_of_device_steps,
    work_of_steps,
)
from ...solve.stiff.open_chain import OpenChain
from ...solve.stiff.sums import FIRST_JUMPS, StiffSum
from ...solve.uniformisation import Uniformised
from ..quantity import Work
from .question import BoundedQuestion

Floats = npt.NDArray[np.float64]
T = TypeVar("T")

__all__ = ["Stiff"]

STEPS_BEFORE = 2_000  # of uniformisation, before anything else is tried
FEW_JUMPS = 30_000  # to a time that is left to uniformisation, when later ones of a curve are not
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
    home
        The same on the host; asked for where the model is on a device.
    """

    ask: BoundedQuestion
    equation: Callable[[], OpenChain]
    jumps: Uniformised
    start: Floats
    weights: Callable[[Poisson], Weights]
    exponent: int = 0
    home: Callable[[], Stiff] | None = None
    work: list[Work] = field(default_factory=list)
    is_hopeless: bool = False
    sums: StiffSum | None = None
    _at_home: Stiff | None = None

    @property
    def is_chosen(self) -> bool:
        """Whether it was asked for by name."""
        return self.ask.settings.method == RATIONAL

    @property
    def on_device(self) -> bool:
        """Whether steps are made on a device."""
        return self.ask.model.on_device

    @property
    def _is_possible(self) -> bool:
        settings = self.ask.settings
        if self.exponent or settings.method not in (None, DEFAULT):
            return False
        # Who asks for a layout or for floats asks for steps on a device; several devices are for large models.
        several = bool(self.ask.model.placement.devices)
        if self.on_device and (settings.format or settings.order or settings.single or several or self.home is None):
            return False
        return VECTORS * 8.0 * self.jumps.part.n_states < available_memory() / 2

    def at(self, time: float) -> PowerSum | None:
        """Bounds by equations alone, where uniformisation was not asked for or cannot be done; None for others."""
        if self.is_chosen:
            return self._named(lambda: self._sum(Budget()).at(time))
        if self.jumps.rate * time <= LARGEST_MEAN or not self._is_possible:
            return None
        return self._tried(lambda: self._brought_back(self._there(Budget()).at(time)))

    def instead(self, time: float) -> Otherwise[PowerSum] | None:
        """What uniformisation may ask when it has made some steps."""
        return self._instead(time, lambda budget: self._brought_back(self._there(budget).at(time)))

    def _there(self, budget: Budget) -> StiffSum:
        """The sum on the host."""
        if not self.on_device or self.home is None:
            return self._sum(budget)
        if self._at_home is None:
            self._at_home = self.home()
        return self._at_home._sum(budget)

    def _brought_back(self, found: PowerSum) -> PowerSum:
        """Bounds where the model is, which say why they were found elsewhere."""
        if not self.on_device:
            return found
        xp, why = namespace(self.start), "on the CPU, because steps on the device are estimated to take longer"
        return replace(found, lower=xp.asarray(found.lower), upper=xp.asarray(found.upper), how=f"{found.how}; {why}")

    def _instead(self, time: float, find: Callable[[Budget], T]) -> Otherwise[T] | None:
        part = self.jumps.part
        if not self._is_possible or self.jumps.rate * time <= STEPS_BEFORE:
            return None
        sizes = part.n_entries, part.n_states
        brought, alike = 0.0, 0 if self.on_device else part.n_entries * self.jumps.alike // max(part.n_rows, 1)
        step = work_of_steps(1, part.n_entries, alike)
        least = Least.of(*sizes, step * _first_steps())
        if self.on_device:
            step, brought = work_of_device_steps(1, *sizes), work_of_bringing(*sizes)
            least = least._replace(prospects=least.prospects + brought)
        if not Budget(step * self.jumps.rate * time).pays(least):
            return None  # however many steps are left
        budget = Budget(0.0, 0.0, spent=brought)

        def ask(done: int, left: int) -> T | None:
            budget.steps, budget.made = step * expected_steps(done, left), step * done
            return self._tried(lambda: find(budget), left) if not self.is_hopeless and budget.pays(least) else None

        return Otherwise(STEPS_BEFORE, ask)

    def at_all(self, times: Sequence[float]) -> Settled | None:
        """Bounds at many times by equations alone, where they were asked for by name."""
        return self._named(lambda: self._settled(times, Budget())) if self.is_chosen else None

    def instead_at_all(self, times: Sequence[float]) -> Otherwise[Settled] | None:
        """What uniformisation to many times may ask when it has made some steps."""
        if self.on_device:
            return None  # a step of a thousand points costs as much as that of one
        return self._instead(times[-1], lambda budget: self._settled(times, budget))

    def _sum(self, budget: Budget) -> StiffSum:
        if self.exponent:
            raise NumericError("numbers are too faint")
        if self.sums is None:
            ask = self.ask
            important, settings = ask.important(self.jumps.part), ask.settings
            self.sums = StiffSum(
                self.equation(), self.jumps, self.start, self.weights, important, settings, ask.everywhere
            )
        self.sums.budget = budget
        return self.sums

    def _settled(self, times: Sequence[float], budget: Budget) -> Settled:
        """The last of the times first; those that are too early for its weight have a last one, too."""
        sums, rate = self._sum(budget), self.jumps.rate
        close = np.zeros(len(times), dtype=np.bool_)
        lower = np.zeros((len(times), len(sums.important)))
        upper, how = np.full_like(lower, np.inf), ""
        while not close.all():
            last = int(np.flatnonzero(~close)[-1])
            if close.any() and not self.is_chosen and rate * times[last] < FEW_JUMPS:
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


@cache
def _first_steps() -> int:
    """Steps of uniformisation before the first window."""
    return poisson(FIRST_JUMPS).right + 1
