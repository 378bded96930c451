"""Exact answers about MDPs: over all strategies where they are few, by policy iteration where they are many.

Policy iteration needs a start from which it cannot go wrong; each function says which, and why its end is the answer.
A choice is only changed for one that is strictly better. The tests compare both ways on random models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction

import exact_chains as chains
from exact import (
    ENUMERATED,
    Exact,
    Number,
    Rewards,
    Row,
    States,
    Vector,
    count_strategies,
    followed,
    induced,
    over_strategies,
)

Policy = Sequence[int]
Evaluation = Callable[[Policy], Vector]


def until(model: Exact, through: Collection[int], goal: Collection[int], optimum: str) -> Vector:
    """Pmin and Pmax [ through U goal ]."""
    if count_strategies(model) <= ENUMERATED:
        return over_strategies(model, lambda chain, _: chains.until(chain, through, goal), optimum)
    return until_by_policies(model, through, goal, optimum)


def reachability_reward(model: Exact, rewards: Rewards, goal: Collection[int], optimum: str) -> Vector:
    """Rmin and Rmax [ F goal ]: a strategy that may miss the goal earns an infinite amount."""
    if count_strategies(model) <= ENUMERATED:
        return over_strategies(
            model, lambda c, way: chains.reachability_reward(c, followed(rewards, way), goal), optimum
        )
    return reachability_reward_by_policies(model, rewards, goal, optimum)


def total_reward(model: Exact, rewards: Rewards, optimum: str) -> Vector:
    """Rmin and Rmax [ C ]."""
    if count_strategies(model) <= ENUMERATED:
        return over_strategies(model, lambda c, way: chains.total_reward(c, followed(rewards, way)), optimum)
    return total_reward_by_policies(model, rewards, optimum)


def long_run(model: Exact, rewards: Rewards, optimum: str) -> Vector:
    """Rmin and Rmax [ S ], and S with rewards of 0 and 1."""
    if count_strategies(model) <= ENUMERATED:
        return over_strategies(model, lambda c, way: chains.long_run(c, followed(rewards, way)), optimum)
    return long_run_by_policies(model, rewards, optimum)


# Policy iteration


def improve(
    model: Exact, policy: list[int], evaluate: Evaluation, earned: Rewards, free: States, optimum: str
) -> Vector:
    """Improve a policy in the ``free`` states until no choice is strictly better."""
    while True:
        values = evaluate(policy)
        changed = False
        for s in free:
            worth = [_expected(row, earned.total(s, c), values) for c, row in enumerate(model.rows[s])]
            best = min(worth) if optimum == "min" else max(worth)
            if best < worth[policy[s]] if optimum == "min" else best > worth[policy[s]]:
                policy[s] = worth.index(best)
                changed = True
        if not changed:
            return list(values)


def _expected(row: Row, earned: Fraction, values: Sequence[Number]) -> Number:
    return sum((p * values[t] for t, p in row.items()), earned)


def until_by_policies(model: Exact, through: Collection[int], goal: Collection[int], optimum: str) -> Vector:
    """The values at the end are a fixed point of the optimality equations, and those of a policy.

    For max any fixed point is above the answer and any policy below it. For min the states that can avoid the goal
    are given a way to do so that is kept; without them there is no end component left, and one fixed point only.
    """
    if optimum == "max":
        policy, free = [0] * len(model.rows), model.states
    else:
        policy, avoiding = avoid(model, through, goal)
        free = model.states - avoiding
    nothing = model.constant_rewards(Fraction(0))

    def evaluate(policy: Policy) -> Vector:
        return chains.until(induced(model, policy), through, goal)

    inner = free & frozenset(through) - frozenset(goal)
    return improve(model, policy, evaluate, nothing, inner, optimum)


def reachability_reward_by_policies(model: Exact, rewards: Rewards, goal: Collection[int], optimum: str) -> Vector:
    """Min starts from a policy that reaches the goal for sure; strictly better choices never close a cycle.

    (A cycle of choices that are not worse earns nothing, so none of them is strictly better.) For max all policies
    reach the goal in the states that are left, and there is one fixed point only.
    """
    if optimum == "max":
        sure = {s for s, p in enumerate(until_by_policies(model, model.states, goal, "min")) if p == 1}
        policy = [0] * len(model.rows)
    else:
        policy, sure = reach_surely(model, goal)

    def evaluate(policy: Policy) -> Vector:
        return chains.reachability_reward(induced(model, policy), followed(rewards, policy), goal)

    values = improve(model, policy, evaluate, rewards, frozenset(sure) - frozenset(goal), optimum)
    return [value if s in sure else math.inf for s, value in enumerate(values)]


def total_reward_by_policies(model: Exact, rewards: Rewards, optimum: str) -> Vector:
    """Min: reach, for the least reward, a place where one can stay for nothing.

    Max: infinite where an end component that earns something can be reached; without those, any fixed point is above
    the answer and any policy below it.
    """
    if optimum == "min":
        return reachability_reward_by_policies(model, rewards, free_for_ever(model, rewards), "min")
    earning = {s for s in model.states if _earns_for_ever(model, rewards, s)}
    infinite = {s for s, p in enumerate(until_by_policies(model, model.states, earning, "max")) if p > 0}
    policy = [0] * len(model.rows)

    def evaluate(policy: Policy) -> Vector:
        return chains.total_reward(induced(model, policy), followed(rewards, policy))

    values = improve(model, policy, evaluate, rewards, model.states - frozenset(infinite), "max")
    return [math.inf if s in infinite else value for s, value in enumerate(values)]


# Qualitative starts, each a fixed point over sets of states


def avoid(model: Exact, through: Collection[int], goal: Collection[int]) -> tuple[list[int], States]:
    """A policy that never satisfies ``through U goal`` where that is possible, and those states."""
    safe = set(model.states) - set(goal)
    while True:
        bad = {s for s in safe if s in through and not any(row.keys() <= safe for row in model.rows[s])}
        if not bad:
            break
        safe -= bad
    policy = [next((c for c, row in enumerate(rows) if row.keys() <= safe), 0) for rows in model.rows]
    return policy, frozenset(safe)


def reach_surely(model: Exact, goal: Collection[int]) -> tuple[list[int], States]:
    """A policy that reaches the goal with probability 1 where that is possible, and those states."""
    sure = set(model.states)
    while True:
        policy = [0] * len(model.rows)
        found = set(goal) & sure
        while True:  # backwards from the goal, by choices that stay within `sure`
            new = {
                s: c
                for s in sure - found
                for c, row in enumerate(model.rows[s])
                if row.keys() <= sure and row.keys() & found
            }
            if not new:
                break
            found |= new.keys()
            for s, c in new.items():
                policy[s] = c
        if found == sure:
            return policy, frozenset(sure)
        sure = found


def free_for_ever(model: Exact, rewards: Rewards) -> States:
    """The states where some policy never earns anything."""
    free = set(model.states)
    while True:
        bad = {
            s
            for s in free
            if not any(rewards.total(s, c) == 0 and row.keys() <= free for c, row in enumerate(model.rows[s]))
        }
        if not bad:
            return frozenset(free)
        free -= bad


def _earns_for_ever(model: Exact, rewards: Rewards, state: int) -> bool:
    """Is there a choice here that earns something and from which one can come back for sure, again and again?"""
    back = until_by_policies(model, model.states, {state}, "max")
    choices = enumerate(model.rows[state])
    return any(rewards.total(state, c) > 0 and all(back[t] == 1 for t in row) for c, row in choices)


def long_run_by_policies(model: Exact, rewards: Rewards, optimum: str) -> Vector:
    """Howard's algorithm for several recurrent classes: first the gain is improved, then what ties leave by the bias.

    In the end both optimality equations hold, and the gain is the answer (Puterman 1994, theorem 9.2.6).
    """
    sign = -1 if optimum == "min" else 1
    policy = [0] * len(model.rows)
    while True:
        chain, earned = induced(model, policy), followed(rewards, policy)
        gain = [Fraction(g) for g in chains.long_run(chain, earned)]
        homes = {min(component) for component in chains.bottom_components(chain)}
        rest = {s: r - gain[s] for s, r in enumerate(chains.per_step(chain, earned))}
        nothing = [Fraction(0)] * len(policy)
        bias = [Fraction(h) for h in chains.solve(chain, chain.states - homes, rest, nothing)]
        before = list(policy)
        for s, rows in enumerate(model.rows):
            ends = [sign * _expected(row, Fraction(0), gain) for row in rows]
            if max(ends) > ends[policy[s]]:
                policy[s] = ends.index(max(ends))
        if policy == before:
            for s, rows in enumerate(model.rows):
                worth = [sign * _expected(row, rewards.total(s, c), bias) for c, row in enumerate(rows)]
                alike = [c for c, row in enumerate(rows) if _expected(row, Fraction(0), gain) == gain[s]]
                best = max(alike, key=worth.__getitem__)
                if worth[best] > worth[policy[s]]:
                    policy[s] = best
        if policy == before:
            return list(gain)
