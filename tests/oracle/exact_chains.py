"""Exact answers about DTMCs and CTMCs that know no time: until, expected rewards, long-run averages.

Time matters to a CTMC here only through how long it stays in a state, so these are answers of its embedded chain.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction

from exact import Exact, Rewards, Vector, bottom_components, can_reach, reachable, solve


def next_step(chain: Exact, goal: Collection[int]) -> Vector:
    """P [ X goal ]; jumps of a CTMC to the same state count."""
    return [sum((p for t, p in rows[0].items() if t in goal), Fraction(0)) for rows in chain.rows]


def until(chain: Exact, through: Collection[int], goal: Collection[int]) -> Vector:
    """P [ through U goal ]: the only solution that is 0 where the goal is out of reach."""
    known = [Fraction(s in goal) for s in range(len(chain.rows))]
    return solve(chain, can_reach(chain, through, goal) - frozenset(goal), {}, known)


def per_step(chain: Exact, rewards: Rewards) -> list[Fraction]:
    """The mean reward between two jumps: a CTMC stays 1/E on average."""
    earned = [rewards.total(s) for s in range(len(chain.rows))]
    return [r / e for r, e in zip(earned, chain.exit_rates, strict=True)] if chain.exit_rates else earned


def reachability_reward(chain: Exact, rewards: Rewards, goal: Collection[int]) -> Vector:
    """R [ F goal ]: what is earned before the goal; infinite unless the goal is reached with probability 1."""
    sure = {s for s, p in enumerate(until(chain, chain.states, goal)) if p == 1}
    earned = per_step(chain, rewards)
    known = [Fraction(0) if s in sure else math.inf for s in range(len(chain.rows))]
    return solve(chain, sure - set(goal), dict(enumerate(earned)), known)


def total_reward(chain: Exact, rewards: Rewards) -> Vector:
    """R [ C ]: infinite where a bottom component that earns something can be reached."""
    earned = per_step(chain, rewards)
    bottom = bottom_components(chain)
    earning = [component for component in bottom if any(earned[s] for s in component)]
    infinite = can_reach(chain, chain.states, frozenset().union(*earning))
    known = [math.inf if s in infinite else Fraction(0) for s in range(len(chain.rows))]
    return solve(chain, chain.states - infinite - frozenset().union(*bottom), dict(enumerate(earned)), known)


def long_run(chain: Exact, rewards: Rewards) -> Vector:
    """R [ S ], and S with rewards of 0 and 1: the mean of the bottom components, weighted by how likely each is."""
    result: Vector = [Fraction(0)] * len(chain.rows)
    for component in bottom_components(chain):
        gain = _gain(chain, rewards, component)
        for s, p in enumerate(until(chain, chain.states, component)):
            result[s] += p * gain
    return result


def _gain(chain: Exact, rewards: Rewards, component: frozenset[int]) -> Fraction:
    """The mean reward per step, or per unit of time, of a component that is never left.

    By renewal: what is earned, over how long it takes, between two visits to one of its states.
    """
    home = min(component)
    time = [1 / e for e in chain.exit_rates] if chain.exit_rates else [Fraction(1)] * len(chain.rows)

    def over_a_cycle(earned: list[Fraction]) -> Fraction:
        known = [Fraction(0)] * len(chain.rows)
        after = solve(chain, component - {home}, dict(enumerate(earned)), known)
        return earned[home] + sum((p * after[t] for t, p in chain.rows[home][0].items()), Fraction(0))

    assert reachable(chain, [home]) == component
    return over_a_cycle(per_step(chain, rewards)) / over_a_cycle(time)
