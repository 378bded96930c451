"""Exact answers about numbers of steps in DTMCs and MDPs: one backward recursion per operator."""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction

import exact_chains as chains
import exact_policies as policies
from exact import Exact, Number, Rewards, Vector

Earned = Callable[[int, int], Fraction]  # of state and choice


def best_step(model: Exact, earned: Earned, after: Vector, optimum: str | None) -> Vector:
    """The best that one step can give: its reward, and the mean of what comes after."""
    best = min if optimum == "min" else max

    def worth(s: int, c: int) -> Number:
        return sum((p * after[t] for t, p in model.rows[s][c].items()), earned(s, c))

    return [best(worth(s, c) for c in range(len(rows))) for s, rows in enumerate(model.rows)]


def nothing(state: int, choice: int) -> Fraction:
    """No reward."""
    return Fraction(0)


def next_step(model: Exact, goal: Collection[int], optimum: str | None) -> Vector:
    """P [ X goal ]."""
    return best_step(model, nothing, [Fraction(s in goal) for s in range(len(model.rows))], optimum)


def bounded_until(
    model: Exact, through: Collection[int], goal: Collection[int], low: int, high: int | None, optimum: str | None
) -> Vector:
    """P [ through U[low,high] goal ]: at a step from low to high the goal, at all steps before ``through``.

    ``values[s]`` is the chance that this happens, given that the path is in s at step ``step`` and has not failed.
    """
    if high is None and optimum is None:
        values = chains.until(model, through, goal)
    elif high is None:
        values = policies.until(model, through, goal, str(optimum))
    else:
        values = [Fraction(s in goal and low <= high) for s in range(len(model.rows))]
    for step in reversed(range(low if high is None else high)):
        after = best_step(model, nothing, values, optimum)
        for s in model.states:
            reached = s in goal and step >= low
            values[s] = Fraction(1) if reached else after[s] if s in through else Fraction(0)
    return values


def cumulative(model: Exact, rewards: Rewards, steps: int, optimum: str | None) -> Vector:
    """R [ C<=steps ]: the rewards of so many steps."""
    values: Vector = [Fraction(0)] * len(model.rows)
    for _ in range(steps):
        values = best_step(model, rewards.total, values, optimum)
    return values


def instantaneous(model: Exact, rewards: Rewards, steps: int, optimum: str | None) -> Vector:
    """R [ I=steps ]: the reward of the state then; what choices earn is not asked."""
    values: Vector = list(rewards.state)
    for _ in range(steps):
        values = best_step(model, nothing, values, optimum)
    return values
