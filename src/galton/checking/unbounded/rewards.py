"""Expected rewards until a goal is reached, ``R [ F goal ]``, and for ever, ``R [ C ]``.

As in PRISM, the reward until a goal is infinite on paths that never reach it: in a chain where the goal is not reached
with probability 1; for a maximum where some strategy does not reach it so; for a minimum where none does.
"""

from __future__ import annotations

import time

import numpy as np

from ...backend.rows import every_successor_in, owners, spread
from ...device.arrays import how_many, namespace
from ...graph import bottom_components, can_reach, maximal_end_components, surely_reaches
from ...model.sparse import Int32s, Mask, Model, Rewards
from ...model.values import Floats
from ...reduce.unknowns import open_equations
from ...solve import solve
from ...solve.equations import Optimum
from ...solve.settings import Settings
from ..quantity import Quantity, Work
from ..strategies.graph_choices import free_choices, goal_avoiding_choices, paying_choices

__all__ = ["reachability_reward", "reward_until", "rewards_by_row", "total_reward"]


def rewards_by_row(model: Model, reward: Rewards) -> Floats:
    """Return ``(choices,)`` what each choice earns, the reward of its state included."""
    parts = [part for part in (reward.state, reward.choice) if part is not None]
    if reward.state is not None:
        parts[0] = spread(model, reward.state)
    return sum(parts[1:], parts[0]) if parts else namespace(model.columns).zeros(model.n_choices)


def reachability_reward(
    model: Model, reward: Rewards, goal: Mask, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound ``R [ F goal ]`` in every state: the reward expected until the goal, without that of the goal itself."""
    start = time.perf_counter()
    everywhere = namespace(model.columns).ones(model.n_states, dtype=np.bool_)
    finite = surely_reaches(model, everywhere, goal, some_strategy=optimum == "min")
    # Where the least reward is infinite every strategy misses the goal; the greatest is where some does.
    wanted = settings.strategy and optimum == "max" and model.has_choices
    choices = goal_avoiding_choices(model, goal, ~finite) if wanted else None
    seconds = time.perf_counter() - start
    return reward_until(model, rewards_by_row(model, reward), goal, finite, optimum, settings, seconds, choices)


def total_reward(model: Model, reward: Rewards, optimum: Optimum | None, settings: Settings) -> Quantity:
    """Bound ``R [ C ]`` in every state: the reward expected over a whole run, which may be infinite."""
    start = time.perf_counter()
    rows = rewards_by_row(model, reward)
    xp = namespace(model.columns)
    everywhere = xp.ones(model.n_states, dtype=np.bool_)
    if not model.has_choices:
        bottom = bottom_components(model).component >= 0
        paying = bottom & (rows > 0)
        # A bottom component with any reward pays for ever; the others are the end of all rewards.
        finite = ~can_reach(model, everywhere, paying)
        return reward_until(model, rows, bottom & finite, finite, None, settings, time.perf_counter() - start)
    if optimum == "min":
        # Nothing more is paid once an end component without rewards is reached, and nothing else ends paying.
        ends = maximal_end_components(model, choices=rows == 0)
        free = ends.component >= 0
        finite = surely_reaches(model, everywhere, free, some_strategy=True)
        choices = free_choices(model, ends) if settings.strategy else None
        return reward_until(model, rows, free, finite, optimum, settings, time.perf_counter() - start, choices)
    ends = maximal_end_components(model)
    assert model.choice_starts is not None
    owner = owners(model)
    paying = xp.zeros(model.n_states, dtype=np.bool_)
    paying[owner[ends.staying & (rows > 0)]] = True
    paying = np.isin(ends.component, ends.component[paying]) & (ends.component >= 0)
    finite = ~can_reach(model, everywhere, paying)
    # An end component that cannot be left is the end.
    leaves = xp.zeros(model.n_states, dtype=np.bool_)
    leaves[owner[~ends.staying]] = True
    closed = np.isin(ends.component, ends.component[leaves & (ends.component >= 0)], invert=True) & (
        ends.component >= 0
    )
    choices = paying_choices(model, ends, rows, paying, ~finite) if settings.strategy else None
    return reward_until(model, rows, closed & finite, finite, optimum, settings, time.perf_counter() - start, choices)


def reward_until(
    model: Model,
    rows: Floats,
    goal: Mask,
    finite: Mask,
    optimum: Optimum | None,
    settings: Settings,
    seconds: float,
    choices: Int32s | None = None,
) -> Quantity:
    """The reward until the goal in the states where it is finite; ``choices`` are those of the other states."""
    start = time.perf_counter()
    if not model.has_choices:
        optimum = None
    maybe = finite & ~goal
    known = np.where(finite, 0.0, np.inf)
    keep, inner = None, None
    if optimum == "min":
        # Choices that might miss the goal cost infinitely much. Cycles that cost nothing are one state each.
        keep = every_successor_in(model, finite)
        inner = maximal_end_components(model, maybe, keep & (rows == 0))
    elif optimum == "max":
        inner = maximal_end_components(model, maybe)
    work = [
        Work(
            "graph analysis",
            f"{int((~finite).sum()):,} states with an infinite reward, {int(maybe.sum()):,} to be solved",
            seconds=seconds + time.perf_counter() - start,
        )
    ]
    if choices is None and settings.strategy and optimum:
        choices = namespace(model.columns).full(model.n_states, -1, dtype=np.int32)
    if not how_many(maybe):
        return Quantity(known, known, "graph analysis", tuple(work), choices, infinite=~finite)
    finite_known = np.where(finite, known, 0.0)
    unknowns = open_equations(
        model, maybe, finite_known, settings, optimum=optimum, reward=rows, keep=keep, merge=inner
    )
    solution = solve(unknowns.equations, settings)
    if choices is not None and solution.chosen is not None:
        choices = unknowns.lift_choices(solution.chosen, choices)
    work += [*unknowns.work, *solution.work]
    lower, upper = unknowns.lift(solution.lower, known), unknowns.lift(solution.upper, known)
    return Quantity(lower, upper, solution.method, tuple(work), choices, proved=solution.proved, infinite=~finite)
