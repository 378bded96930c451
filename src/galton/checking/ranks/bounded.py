"""Step and time bounds across ranks: products of the matrix with vectors, by the core's kernels on each rank's rows.

All numbers are non-negative, so that the rounding of each step is relative and adds up (Higham 2002, chapter 3).
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ... import _core
from ...backend.cpu.matrix import matrix_of
from ...backend.petsc.graph import RankGraph
from ...backend.petsc.model import RankModel
from ...backend.protocol import OPTIMA, Span, Stop
from ...backend.steps import exit_rates
from ...lang.source import GaltonError
from ...model.rounding import LEAST, SPACING
from ...model.sparse import Mask, Rewards
from ...model.values import Floats
from ...solve.equations import Optimum
from ...solve.poisson import poisson
from ...solve.power_sums import Weights
from ...solve.settings import Settings
from ...solve.uniformisation import ABOVE
from ..bounded.question import BoundError
from ..quantity import Quantity, Work
from ..unbounded.rewards import rewards_by_row
from .unbounded import until

__all__ = [
    "bounded_until",
    "cumulative_steps",
    "cumulative_time",
    "instantaneous_steps",
    "instantaneous_time",
    "next_step",
    "timed_until",
]

METHOD, IN_TIME = "steps", "uniformisation"
MOST_STEPS = 50_000_000
LOOK = 64  # steps between two looks at whether the rest matters


class TooManyStepsError(GaltonError):
    """More steps than anybody would wait for."""

    kind = "limit"


@dataclass(eq=False)
class _Steps:
    """Steps ``x <- opt A x``, or those of a uniformised CTMC, on all ranks; ``settle`` is done after each."""

    model: RankModel
    optimum: Optimum | None
    settings: Settings
    scale: float = 1.0  # what sums of products are multiplied by

    def __post_init__(self) -> None:
        model = self.model
        self.halo, self.world = model.halo, model.world
        self.span = Span(0, model.n_states, self.settings.n_threads)
        self.room = np.empty(self.halo.size)
        self.longest = int(self.world.greatest(np.diff(model.row_starts).max(initial=1)))
        self.error = (2 * self.longest + 8) * SPACING  # of one step, relative
        self.done = 0

    def system(self, constant: Floats | None = None) -> _core.System:
        """The matrix of the model, and what each choice earns."""
        given = np.zeros(self.model.n_choices) if constant is None else constant
        return _core.System(matrix_of(self.model), None, given, OPTIMA[self.optimum])

    @cached_property
    def plain(self) -> _core.System:
        """Without rewards."""
        return self.system()

    def make(
        self, start: Floats, count: int, settle: Callable[[Floats], None] | None = None, constant: Floats | None = None
    ) -> Floats:
        """``(states,)`` what so many steps make of a vector."""
        _refuse_many(count)
        system = self.plain if constant is None else self.system(constant)
        x, n = self.halo.extended(start), self.halo.n
        for step in range(count):
            system.jacobi(x, self.room, None, self.span, Stop(1, 0.0))
            if settle is not None:
                settle(x[:n])
            self.halo.refresh(x)
            if step % LOOK == 0:
                self.settings.tell(iterations=step, horizon=count)
        self.done += count
        return x[:n]

    def bounds(self, lower: Floats, upper: Floats, steps: int) -> tuple[Floats, Floats]:
        """Bounds with the rounding of so many steps."""
        error = math.expm1(steps * self.error * 1.01)
        lost = (steps + 1) ** 2 * self.room_for_loss
        return np.maximum(lower * (1 - error) - lost, 0.0), np.where(upper > 0, upper * (1 + error) + lost, 0.0) + lost

    @cached_property
    def room_for_loss(self) -> float:
        """What a step may lose of numbers too small for doubles: each product, and what is stored, at most 2^-1022.

        That is before sums are scaled. Later steps do not make it larger. What is summed up of the steps has weights of
        1 at most, so that so many steps lose this for every pair of them.
        """
        return (self.longest + 8) * LEAST * max(1.0, self.scale)


def _refuse_many(steps: int) -> None:
    if steps > MOST_STEPS:
        raise TooManyStepsError(
            f"{steps:,} steps across ranks would take too long; ask on one machine, or for the long run"
        )


def _work(steps: _Steps, detail: str, start: float) -> Work:
    return Work(detail, f"{steps.done:,} steps on {steps.world.size} ranks", steps.done, clock.perf_counter() - start)


def next_step(graph: RankGraph, goal: Mask, optimum: Optimum | None, settings: Settings) -> Quantity:
    """Bound ``P [ X goal ]``."""
    model = graph.model
    begin = clock.perf_counter()
    steps = _Steps(model, optimum, settings)
    if not model.has_rates:
        x = steps.make(goal.astype(np.float64), 1)
        lower, upper = steps.bounds(x, x, 1)
    else:
        rates, lacking = exit_rates(model, settings.n_threads, loops=True)
        x = steps.make(goal.astype(np.float64), 1) / (rates + lacking)
        lower, upper = steps.bounds(x, x, 2)
    never = ~graph.some_choice(~graph.staying(~goal)) if model.has_choices else graph.staying(~goal)
    upper = np.where(never, 0.0, np.minimum(upper, 1.0))
    return Quantity(np.where(never, 0.0, np.minimum(lower, 1.0)), upper, METHOD, (_work(steps, "step", begin),))


def bounded_until(
    graph: RankGraph,
    through: Mask,
    goal: Mask,
    low: int,
    high: int | None,
    optimum: Optimum | None,
    settings: Settings,
) -> Quantity:
    """Bound ``P [ through U[low,high] goal ]``, counted in steps."""
    if low < 0 or (high is not None and high < low):
        raise BoundError(f"no number of steps lies between {low} and {high}")
    begin, steps = clock.perf_counter(), _Steps(graph.model, optimum, settings)
    possible = graph.reach_some(through & ~goal, goal) if not low else graph.reach_some(through, goal)
    work: tuple[Work, ...] = ()

    def absorb(x: Floats) -> None:
        x[~through] = 0.0
        x[goal] = 1.0

    def leave(x: Floats) -> None:
        x[~through] = 0.0

    if high is None:
        later = until(graph, through, goal, optimum, settings)
        lower, upper, work = later.lower, later.upper, later.work
    else:
        lower = upper = steps.make(goal.astype(np.float64), high - low, absorb)
    if low:
        below = steps.make(lower, low, leave)
        upper = below if upper is lower else steps.make(upper, low, leave)
        lower = below
    lower, upper = steps.bounds(lower, upper, steps.done)
    upper = np.where(possible, np.minimum(upper, 1.0), 0.0)
    if not low:
        lower, upper = np.where(goal, 1.0, lower), np.where(goal, 1.0, upper)
    lower = np.minimum(lower, upper)
    return Quantity(lower, upper, METHOD, (*work, _work(steps, "until within steps", begin)))


def cumulative_steps(
    graph: RankGraph, rows: Floats, count: int, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound ``R [ C<=count ]``: what choices earn, over so many steps."""
    begin, steps = clock.perf_counter(), _Steps(graph.model, optimum, settings)
    x = steps.make(np.zeros(graph.model.n_states), count, constant=np.ascontiguousarray(rows, dtype=np.float64))
    lower, upper = steps.bounds(x, x, count + 1)
    return Quantity(lower, upper, METHOD, (_work(steps, "reward over steps", begin),))


def instantaneous_steps(
    graph: RankGraph, reward: Rewards, count: int, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound ``R [ I=count ]``: the reward of the state after so many steps."""
    begin, steps = clock.perf_counter(), _Steps(graph.model, optimum, settings)
    state = np.zeros(graph.model.n_states) if reward.state is None else reward.state
    x = steps.make(state, count)
    lower, upper = steps.bounds(x, x, count)
    return Quantity(lower, upper, METHOD, (_work(steps, "reward after steps", begin),))


# CTMCs.


@dataclass(eq=False)
class _Jumps:
    """A CTMC that makes a step with every event of a Poisson process; see :mod:`galton.solve.uniformisation`.

    States that are ``frozen`` stay as they are for ever.
    """

    graph: RankGraph
    frozen: Mask
    settings: Settings

    def __post_init__(self) -> None:
        model = self.graph.model
        self.model, self.world = model, model.world
        self.high, self.low = exit_rates(model, self.settings.n_threads, loops=True)
        self.rate = ABOVE * self.world.greatest(self.high[~self.frozen].max(initial=0.0))
        self.steps = _Steps(model, None, self.settings, 1 / self.rate if self.rate else 1.0)
        self.begin = clock.perf_counter()

    def sum(self, start: Floats, weights: Weights) -> tuple[Floats, Floats]:
        """Bounds on Σ w(k) Aᵏ start, but for what the weights lack."""
        _refuse_many(weights.end)
        steps, halo, n = self.steps, self.model.halo, self.model.n_states
        stay = np.where(self.frozen, 1.0, ((self.rate - self.high) - self.low) / self.rate)
        chain = _core.Chain(matrix_of(self.model), steps.scale, stay)
        fixed = np.flatnonzero(self.frozen)
        x, other, total = halo.extended(start), np.empty(halo.size), np.zeros(n)
        done, end, rest_low, rest_high = 0, weights.end, 0.0, 0.0
        while done < end:
            share = min(LOOK, end - done)
            part = weights.part(done, share)
            for k in range(share):
                weight = 0.0 if part is None else float(part[k])
                chain.run_part(weight, x, other, total if weight else None, steps.span.threads)
                x, other = other, x
                x[fixed] = start[fixed]
                halo.refresh(x)
            done += share
            self.settings.tell(iterations=done, horizon=end)
            if end - done > LOOK:
                least, most = self.world.least(x[:n].min(initial=np.inf)), self.world.greatest(x[:n].max(initial=0.0))
                left = self._left(weights, done)
                # Aᵏ x stays between the least and the greatest number of x.
                if left * (most - least) <= 0.02 * self.settings.eps * self._wanted(total, left * least):
                    rest_low, rest_high = left * (1 - 4e-12) * least, left * most
                    break
        steps.done += done
        error = weights.error + (end + len(weights.values) + 8) * SPACING
        lower, upper = steps.bounds(total + rest_low, total + rest_high, end)
        most = self.world.greatest(np.max(start, initial=0.0))
        return lower * (1 - error) * (1 - weights.lacking), upper * (1 + error) + weights.missing * most

    def _left(self, weights: Weights, done: int) -> float:
        """The sum of the weights from a step on, rounded up."""
        ahead = max(weights.left - done, 0) * weights.before
        return (ahead + float(weights.values[max(done - weights.left, 0) :].sum())) * (1 + 1e-12)

    def _wanted(self, total: Floats, more: float) -> float:
        """What bounds have to be close to: the least of the initial states' numbers."""
        if not self.settings.relative:
            return 1.0
        initial = self.model.initial
        return self.world.least((total[initial] + more).min(initial=np.inf))


def _time_work(jumps: _Jumps, detail: str) -> Work:
    return _work(jumps.steps, detail, jumps.begin)


def timed_until(graph: RankGraph, through: Mask, goal: Mask, low: float, high: float, settings: Settings) -> Quantity:
    """Bound ``P [ through U[low,high] goal ]`` of a CTMC."""
    if low > high:
        raise BoundError(f"no time lies between {low:g} and {high:g}")
    possible = graph.reach_some(through & ~goal, goal) if low == 0 else graph.reach_some(through, goal)
    work: tuple[Work, ...] = ()
    if high == math.inf:
        later = until(graph, through, goal, None, settings)
        lower, upper, work = later.lower, later.upper, later.work
    else:
        reached = goal.astype(np.float64)
        jumps = _Jumps(graph, goal | ~through, settings)
        if high == low or not jumps.rate:
            lower = upper = reached
        else:
            lower, upper = jumps.sum(reached, Weights.at_time(poisson(jumps.rate * (high - low))))
            lower, upper = np.where(goal, 1.0, lower), np.where(goal, 1.0, np.minimum(upper, 1.0))
            work = (_time_work(jumps, "until within a time"),)
    if low > 0:
        jumps = _Jumps(graph, ~through, settings)
        lower, upper = np.where(through, lower, 0.0), np.where(through, upper, 0.0)
        if jumps.rate:
            weights = Weights.at_time(poisson(jumps.rate * low))
            same = lower is upper
            below, above = jumps.sum(lower, weights)
            lower, upper = below, above if same else jumps.sum(upper, weights)[1]
            work = (*work, _time_work(jumps, "stay for a time"))
    upper = np.where(possible, np.minimum(upper, 1.0), 0.0)
    return Quantity(np.minimum(lower, upper), upper, IN_TIME, work)


def instantaneous_time(graph: RankGraph, reward: Rewards, moment: float, settings: Settings) -> Quantity:
    """Bound ``R [ I=moment ]`` of a CTMC."""
    n = graph.model.n_states
    state = np.zeros(n) if reward.state is None else reward.state
    jumps = _Jumps(graph, np.zeros(n, dtype=bool), settings)
    if not moment or not jumps.rate:
        return Quantity(state, state, IN_TIME)
    lower, upper = jumps.sum(state, Weights.at_time(poisson(jumps.rate * moment)))
    return Quantity(lower, upper, IN_TIME, (_time_work(jumps, "reward at a time"),))


def cumulative_time(graph: RankGraph, reward: Rewards, limit: float, settings: Settings) -> Quantity:
    """Bound ``R [ C<=limit ]`` of a CTMC."""
    n = graph.model.n_states
    rates = rewards_by_row(graph.model, reward)
    jumps = _Jumps(graph, np.zeros(n, dtype=bool), settings)
    if not limit or not jumps.rate:
        found = rates * limit
        lower, upper = jumps.steps.bounds(found, found, 1)
        return Quantity(lower, upper, IN_TIME)
    lower, upper = jumps.sum(rates / jumps.rate, Weights.over_time(poisson(jumps.rate * limit)))
    return Quantity(lower, upper, IN_TIME, (_time_work(jumps, "reward over time"),))
