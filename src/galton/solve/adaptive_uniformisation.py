"""Distributions of a CTMC, moved forward in time over the states that hold mass: adaptive uniformisation.

From one initial state, most states of a large chain are out of reach within a given time, or as good as. So only states
that some mass has come to are followed, and the rate of uniformisation is that of the fastest among them (van Moorsel
and Sanders 1994, Munsky and Khammash 2006, Didier et al. 2009). It is chosen anew for each interval of time; where a
faster state has to be followed, the interval is begun again.

Requires: a CTMC and one distribution. Guarantees: bounds on the probabilities at the end and on what was earned until
then, rounding included.

Why the bounds hold. Mass of up to ``keep`` that comes, in one step, to a state that is not followed is given up and
counted as lost, unless the state is never left; so is what states have that are dropped between two intervals, what the
Poisson distribution has outside the numbers of steps that are looked at, and what is flushed to zero. What is left is
less than the truth in each state, and by no more than what is lost in all of them together. Nothing is subtracted, so
that errors of rounding are relative. Where one step moves mass c, no later step moves more; the rest of the time, t at
rate q, changes at most q t c and is not looked at where that is little. What is earned lacks, at most, what is lost
times the most that a path can earn, and the end of the Poisson distribution's tails, a part of the whole time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..backend.cpu.matrix import matrix_of
from ..lang.source import GaltonError
from ..model.rounding import UNIT
from ..model.sparse import Int32s, Mask, Model
from .methods import FORWARD
from .poisson import LARGEST_MEAN, HorizonError, poisson
from .settings import Settings

Floats = npt.NDArray[np.float64]

__all__ = ["Distribution", "Effort", "MovingChain", "Watch", "moderate"]

SMALL, LARGE = 1e-100, 1e100  # rates, times and rewards beyond these are left to others …
FLUSHED = 1e-200  # … so that this is more than what an operation loses by flushing to zero, beside any of them
ABOVE = 1.1  # the rate of uniformisation, beside that of the fastest state; forward.cpp asks for 1.02 at least
COARSEST = 1e-3  # of all mass may be lost at most
FIRST_MEAN = 64.0  # steps of the first interval; each is twice as long as the one before
BATCH = 1e9  # entries to go over in an interval: a second or less
HOPELESS = 8.0  # times more to go than may be, if things went on as they do: mass may still come to rest
STATES_AROUND = 1e3  # that lose mass in each step: a guess, from which follows how little each may lose


class TooMuchError(GaltonError):
    """More states or steps than were worth trying."""

    kind = "limit"


class ExtremeError(GaltonError):
    """Numbers that are too small or too large."""

    kind = "numeric"


@dataclass(eq=False)
class Effort:
    """How much may be done, and how much has been: states to meet in an interval, and entries to go over in all."""

    most_states: float = math.inf
    most_entries: float = math.inf
    entries: int = 0
    steps: int = 0
    met: int = 0  # the most in one interval

    @property
    def entries_left(self) -> float:
        """What may still be gone over."""
        return self.most_entries - self.entries


@dataclass(frozen=True, eq=False)
class Distribution:
    """Probabilities of states, and what is known of the difference from the true ones.

    Attributes
    ----------
    states, mass
        In ascending order; others have no mass. Each number may be off by a factor of 1 ± ``error``.
    earned
        Up to now, by that factor.
    lost
        Mass that may be missing. Times the most that a path can be worth, it bounds what is missing of a value.
    unsettled
        Mass that may be elsewhere: the same, in both directions.
    late
        Time that was not looked at, as a part of all of it: what might have been earned then is missing.
    """

    states: Int32s
    mass: Floats
    earned: float = 0.0
    error: float = 0.0
    lost: float = 0.0
    unsettled: float = 0.0
    late: float = 0.0

    @classmethod
    def at(cls, state: int) -> Distribution:
        """All mass in one state."""
        return cls(np.array([state], dtype=np.int32), np.ones(1))

    def within(self, states: Mask) -> Distribution:
        """What is in some states; the rest is worth nothing from now on."""
        kept = states[self.states]
        return replace(self, states=self.states[kept], mass=self.mass[kept])

    def expected(self, numbers: Floats) -> float:
        """The sum of the numbers of states, weighted by their probabilities."""
        return float(np.sum(self.mass * numbers[self.states]))

    def bounds(self, value: float, worth: float) -> tuple[float, float]:
        """Of an expected number, or of what was earned, where no path is worth more than that."""
        if not (self.error or self.lost or self.unsettled or self.late):
            return value, value  # nothing has moved: one state has all mass
        error = (self.error + (len(self.mass) + 8) * UNIT) * 1.01
        either_way = self.unsettled * worth * (1 + 1e-12)
        missing = (self.lost + self.late) * (1 + 1e-15)
        lower = value * (1 - error) - either_way
        upper = value * (1 + error) + missing * (1 + 2 * error) * worth * (1 + 1e-12) + either_way
        return max(lower * (1 - 2 * UNIT), 0.0), upper * (1 + 2 * UNIT)


Valued = tuple[float, Distribution]


class _Moved(NamedTuple):
    """What ``_core.Forward.advance`` returns; ``src/core/steps/forward.hpp`` says what it means."""

    states: Int32s
    mass: Floats
    lost: float
    earned: float
    change: float
    too_fast: float
    too_much: bool
    steps: int
    entries: int
    met: int
    widest: int
    worths: Floats


@dataclass(eq=False)
class Watch:
    """What a distribution is worth at many times on its way, or what was earned until then.

    Within an interval of time, it is a sum over its steps like what comes at the end, with the weights of that moment:
    the same vectors, so that no step is made again. All that is lost until the end of the interval counts as lost.

    Attributes
    ----------
    times
        In ascending order.
    worth
        What each state is worth then or, with ``earned``, what it earns per unit of time.
    found
        For each time met so far the value, and the distribution that says how far off it may be.
    """

    times: Sequence[float]
    worth: Floats
    earned: bool = False
    found: list[Valued] = field(default_factory=list)

    def until(self, last: float, value: Callable[[float], Valued]) -> None:
        """Note the values of all times up to the last that has been gone to."""
        for time in self.times[len(self.found) :]:
            if time > last:
                break
            self.found.append(value(time))

    def between(self, now: Distribution, begun: float, moved: _Moved, rate: float, cut: float, time: float) -> Valued:
        """The value at a time within an interval that began with a distribution, which has moved on since."""
        jumps = _Jumps.within(rate, time - begun, cut).up_to(len(moved.worths))
        met = moved.worths[jumps.left : jumps.left + len(jumps.weights)]
        late = jumps.late * ((time - begun) / time) if self.earned else 0.0
        if self.earned:
            total = float(moved.worths[: jumps.left].sum()) + float(jumps.tails @ met)
            value = now.earned + total / rate
        else:
            value = float(jumps.weights @ met)
        before = replace(now, late=now.late * (self.times[-1] / time))
        then = _joined(before, moved, jumps, late)
        # Sums over steps and states, and a mean that has one rounding more than that of a whole interval.
        error = then.error + (len(moved.worths) + moved.met + 2 * len(jumps.weights) + 24) * UNIT
        return value, replace(then, error=error)

    def resting(self, now: Distribution, begun: float, time: float) -> Valued:
        """The value at a time after which nothing, or little, moves."""
        if not self.earned:
            return now.expected(self.worth), now
        error = now.error + (len(now.mass) + 4) * UNIT
        value = now.earned + (time - begun) * now.expected(self.worth)
        return value, replace(now, error=error, late=now.late * (self.times[-1] / time))


class MovingChain:
    """A CTMC with the states that are left; the others keep what comes to them."""

    def __init__(self, model: Model, moving: Mask, rates: tuple[Floats, Floats], settings: Settings) -> None:
        """``rates`` are those at which states are left without loops, as doubles and what these lack."""
        self._exits, _ = rates
        self._moving = np.ascontiguousarray(moving)
        self._forward = _core.Forward(matrix_of(model), self._moving.view(np.uint8), *rates)
        self._settings = settings

    def fastest(self, states: Int32s | slice = slice(None)) -> float:
        """The rate at which any of these states is left, at most."""
        return float(self._exits[states][self._moving[states]].max(initial=0.0))

    def after(
        self,
        time: float,
        start: Distribution,
        fineness: float,
        effort: Effort,
        earning: Floats | None = None,
        watch: Watch | None = None,
    ) -> Distribution:
        """The distribution after some time.

        Parameters
        ----------
        fineness
            About how much may be lost.
        effort
            Limits, and what has been done.
        earning
            What each state earns per unit of time; the greatest of them times the whole time is what a path is worth.
        watch
            What to find out on the way.
        """
        now, left, mean, rate = start, moderate("a time", time), FIRST_MEAN, 0.0
        fineness = min(fineness, COARSEST)
        grain = math.ulp(time)  # times are multiples of this, so that they are subtracted exactly
        while left > 0:
            rate = max(rate, ABOVE * self.fastest(now.states))
            if rate == 0:
                break
            if moderate("a rate", rate) * left > LARGEST_MEAN:
                raise HorizonError(f"{rate * left:.3g} steps are too many to follow")
            length = max(round(min(mean / rate, left) / grain), 1) * grain
            keep = fineness / (STATES_AROUND * (1 + rate * time))
            jumps, standstill = _Jumps.within(rate, length, keep), fineness / (rate * left)
            late = jumps.late * (length / time) if earning is not None else 0.0
            moved = self._advance(now, jumps, keep, standstill, effort, earning, None if watch is None else watch.worth)
            if moved.too_fast:
                rate, mean = ABOVE * moved.too_fast, max(mean / 2, FIRST_MEAN)
                continue
            if moved.change <= standstill:
                now = replace(now, unsettled=now.unsettled + rate * left * moved.change * 1.01)
                break
            if moved.entries * (left / length - 1) > HOPELESS * effort.entries_left:
                raise TooMuchError("too many steps")
            if watch is not None:
                begun, step = time - left, (now, time - left, moved, rate, keep)
                watch.until(begun + length, partial(watch.between, *step))
            now = self._without_faint(_joined(now, moved, jumps, late), keep)
            left, rate = left - length, 0.0
            mean = min(2 * mean, max(BATCH * moved.steps / max(moved.entries, 1), FIRST_MEAN))
            self._settings.tell(time=time - left, of=time, states=moved.met, lost=now.lost)
        if watch is not None:
            watch.until(time, partial(watch.resting, now, time - left))
        if earning is not None and left > 0:
            error = now.error + (len(now.mass) + 4) * UNIT
            now = replace(now, earned=now.earned + left * now.expected(earning), error=error)
        return now

    def _advance(
        self,
        now: Distribution,
        jumps: _Jumps,
        keep: float,
        standstill: float,
        effort: Effort,
        earning: Floats | None,
        worth: Floats | None,
    ) -> _Moved:
        found = self._forward.advance(
            now.states,
            now.mass,
            jumps.rate,
            jumps.left,
            jumps.weights,
            jumps.tails,
            keep=keep,
            standstill=standstill,
            earning=earning,
            worth=worth,
            most_states=effort.most_states,
            most_entries=effort.entries_left,
        )
        moved = _Moved(*found)
        effort.entries += moved.entries
        effort.steps += moved.steps
        effort.met = max(effort.met, moved.met)
        if moved.too_much:
            raise TooMuchError("too many states hold mass" if effort.entries_left > 0 else "too many steps")
        return moved

    def _without_faint(self, now: Distribution, keep: float) -> Distribution:
        """Without states that have nearly nothing and would only lose it."""
        faint = (now.mass < keep) & self._moving[now.states]
        lost = now.lost + float(now.mass[faint].sum()) * (1 + 1e-6)
        return replace(now, states=now.states[~faint], mass=now.mass[~faint], lost=lost)


@dataclass(frozen=True, eq=False)
class _Jumps:
    """The number of events of a Poisson process: ``left`` and those after it have these weights.

    ``outside`` bounds what all others have, and ``late`` the time after the last event that is looked at, as a part of
    all the time.
    """

    rate: float
    mean: float
    left: int
    weights: Floats
    tails: Floats
    error: float
    outside: float
    late: float

    def up_to(self, count: int) -> _Jumps:
        """Only the numbers below some count, which all but a rounding error of the others is below."""
        kept = max(count - self.left, 0)
        if kept >= len(self.weights):
            return self
        cut = float(self.weights[kept:].sum()) * (1 + self.error) * 1.01
        late = (float(self.tails[kept:].sum()) + max(self.left - count, 0)) / self.mean * (1 + self.error) * 1.01
        return replace(
            self,
            left=min(self.left, count),
            weights=self.weights[:kept],
            tails=self.tails[:kept],
            outside=self.outside + cut,
            late=self.late + late,
        )

    @classmethod
    def within(cls, rate: float, time: float, cut: float) -> _Jumps:
        """Those within a time, with up to ``cut`` left out at both ends."""
        found = poisson(rate * time)
        below = np.cumsum(found.weights)
        first = int(np.searchsorted(below, cut))
        last = max(int(np.searchsorted(-found.tails, -cut)), first)
        before = (float(below[first - 1]) if first else 0.0) * (1 + found.error) + found.below
        after = float(found.tails[last]) * (1 + found.error) + found.above
        late = (float(found.tails[last + 1 :].sum()) * (1 + found.error) + found.excess) / (rate * time)
        chosen = slice(first, last + 1)
        weights, tails = found.weights[chosen], found.tails[chosen]
        # A tail that is taken for 1 is less than that by what is before it.
        error = found.error + before * 1.01 + UNIT
        return cls(rate, rate * time, found.left + first, weights, tails, error, (before + after) * 1.01, late * 1.01)


def moderate(what: str, number: float) -> float:
    """A number that products of a few such numbers neither flush to zero nor take beyond all doubles."""
    if not SMALL <= number <= LARGE:
        raise ExtremeError(f"{what} of {number:.3g} is beyond what {FORWARD} can do")
    return number


def _joined(now: Distribution, moved: _Moved, jumps: _Jumps, late: float) -> Distribution:
    """A distribution that has moved on from another."""
    sums = moved.met + moved.steps + 8
    error = moved.steps * (moved.widest + 5) * UNIT * 1.01 + jumps.error + sums * UNIT
    flushed = (moved.entries + (moved.steps + len(jumps.weights)) * moved.met) * FLUSHED
    lost = moved.lost * (1 + 1e-6) + flushed + jumps.outside
    return replace(
        now,
        states=moved.states,
        mass=moved.mass,
        earned=now.earned + moved.earned / jumps.rate,
        error=now.error + error,
        lost=now.lost + lost,
        late=now.late + late,
    )
