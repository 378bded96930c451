"""Questions about a number of steps, exactly: as many products with the matrix. Numbers grow with each of them."""

from __future__ import annotations

import time
from collections.abc import Callable

from ...backend.failures import LimitError
from ...lang.properties import Optimum
from ...model.sparse import Mask
from .limits import PATIENCE, Watchman
from .model import ExactModel, Gains
from .numbers import INFINITY, Number, Rational, less, rational

__all__ = ["bounded_until", "cumulative", "instantaneous", "next_reward", "next_step"]

_TRIED = 250  # steps; after twice as many it is clear how long the others take

Step = Callable[[int, list[Rational]], Rational]  # the number of a state from those after it


def next_step(model: ExactModel, goal: Mask, optimum: Optimum | None, watchman: Watchman) -> list[Number]:
    """``P [ X goal ]`` in every state; in a CTMC, of the next jump."""
    after = _indicator(goal)
    return [_best(model, state, after, optimum) for state in _states(model, watchman)]


def next_reward(
    model: ExactModel, gains: Gains, goal: Mask, optimum: Optimum | None, watchman: Watchman
) -> list[Number]:
    """The reward of one step; as in PRISM, it is infinite where the step may miss the goal."""
    found: list[Number] = []
    inside = goal.tolist()
    for state in _states(model, watchman):
        best: Number | None = None
        for choice in model.model.choices(state):
            entries = list(model.entries(choice))
            value: Number = INFINITY
            if all(inside[target] for target, _ in entries):
                value = gains.earned(state, choice) / sum(weight for _, weight in entries)
            if best is None or (less(value, best) if optimum == "min" else less(best, value)):
                best = value
        assert best is not None
        found.append(best)
    return found


def bounded_until(
    model: ExactModel,
    through: Mask,
    goal: Mask,
    low: int,
    high: int | None,
    optimum: Optimum | None,
    later: list[Number],
    watchman: Watchman,
) -> list[Number]:
    """``P [ through U[low,high] goal ]``; ``later`` is ``through U goal`` where there is no upper bound."""
    zero, one = rational(0), rational(1)
    values: list[Rational] = _indicator(goal) if high is not None else list(later)  # type: ignore[arg-type]
    reached, passes = goal.tolist(), through.tolist()

    def soon(state: int, after: list[Rational]) -> Rational:
        return one if reached[state] else _best(model, state, after, optimum) if passes[state] else zero

    def not_yet(state: int, after: list[Rational]) -> Rational:
        return _best(model, state, after, optimum) if passes[state] else zero

    if high is not None:
        values = _repeated(model, values, high - low, soon, watchman)
    return list(_repeated(model, values, low, not_yet, watchman))


def cumulative(
    model: ExactModel, gains: Gains, steps: int, optimum: Optimum | None, watchman: Watchman
) -> list[Number]:
    """``R [ C<=steps ]`` in every state."""
    zero = rational(0)

    def step(state: int, after: list[Rational]) -> Rational:
        return _best(model, state, after, optimum, gains)

    return list(_repeated(model, [zero] * model.model.n_states, steps, step, watchman))


def instantaneous(
    model: ExactModel, values: list[Rational], steps: int, optimum: Optimum | None, watchman: Watchman
) -> list[Number]:
    """The mean of some values after so many steps."""

    def step(state: int, after: list[Rational]) -> Rational:
        return _best(model, state, after, optimum)

    return list(_repeated(model, values, steps, step, watchman))


def _repeated(model: ExactModel, values: list[Rational], steps: int, step: Step, watchman: Watchman) -> list[Rational]:
    """A step, so many times. Where nothing changes any more, the others are not needed."""
    start, half = time.monotonic(), 0.0
    for done in range(1, steps + 1):
        after = [step(state, values) for state in _states(model, watchman)]
        if after == values:
            break
        values = after
        if done == _TRIED:
            half = time.monotonic() - start
        if done == 2 * _TRIED and (expected := _expected(half, time.monotonic() - start, steps)) > PATIENCE:
            raise LimitError(
                f"{steps:,} steps in exact numbers would take about {expected:,.0f} s, and {PATIENCE:.0f} s is the "
                "limit: numbers grow with each step; ask for fewer, or without --exact for an answer with bounds"
            )
    return values


def _expected(half: float, both: float, steps: int) -> float:
    """The seconds that all steps take, from those of the first so many and of twice as many.

    Numbers become longer by about the same in each step, and a step takes longer by about the same.
    """
    more = max(both - 2 * half, 0.0) / _TRIED**2  # that a step takes than the one before
    return (half / _TRIED - more * _TRIED / 2) * steps + more * steps**2 / 2


def _states(model: ExactModel, watchman: Watchman) -> range:
    watchman.look()
    return range(model.model.n_states)


def _best(
    model: ExactModel, state: int, after: list[Rational], optimum: Optimum | None, gains: Gains | None = None
) -> Rational:
    best: Rational | None = None
    for choice in model.model.choices(state):
        total = value = rational(0)
        for target, weight in model.entries(choice):
            total += weight
            if after[target]:
                value += weight * after[target]
        if total != 1:  # rates
            value = value / total
        if gains is not None:
            value += gains.earned(state, choice)
        if best is None or (value < best if optimum == "min" else value > best):
            best = value
    assert best is not None
    return best


def _indicator(states: Mask) -> list[Rational]:
    zero, one = rational(0), rational(1)
    return [one if inside else zero for inside in states.tolist()]
