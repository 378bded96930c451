"""DTMCs and MDPs within a number of steps: P [ X a ], P [ a U[k1,k2] b ], R [ C<=k ], R [ I=k ].

The equations are those of Hansson and Jonsson (1994) and Puterman (1994). A chain is a sum of powers of its matrix; an
MDP is value iteration, once per step. As in PRISM, the reward over k steps is that of the first k states and of the k
transitions between and after them.

All return bounds for all states. Those of the initial states are close; with ``everywhere`` so are those of the others,
relative to the largest, which may take much longer. With ``strategy`` true the choices of an MDP come with them, for
each number of steps taken so far; they are kept on the host, wherever the steps are made.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..backend.rows import best_choice, spread
from ..backend.steps import Bellman, Chain, Part, row_products
from ..model.arrays import greatest, namespace, on_host
from ..model.sparse import Int32s, Mask, Model, Rewards
from ..solve.horizon import Horizon, iterate
from ..solve.powers import Weights
from ..solve.settings import Settings
from .bounded import Ask, BoundError, Optimum, filled, known, work_of
from .certain import certain
from .quantity import Quantity

Floats = npt.NDArray[np.float64]

__all__ = ["bounded_until", "cumulative_steps", "instantaneous_steps", "next_step"]

METHOD = "steps"


def next_step(model: Model, goal: Mask, optimum: Optimum, settings: Settings, *, strategy: bool = False) -> Quantity:
    """The probability to be in the goal after one step."""
    ask = Ask(model, settings, optimum, strategy)
    answer = _before(ask, ask.all_states, known(goal.astype(np.float64), METHOD), 1)
    return _sharpened(answer, ask, ask.all_states, goal, 1)


def bounded_until(
    model: Model,
    through: Mask,
    goal: Mask,
    low: int,
    high: int | None,
    optimum: Optimum,
    settings: Settings,
    *,
    strategy: bool = False,
    everywhere: bool = False,
) -> Quantity:
    """The probability to be in the goal after ``low`` to ``high`` steps, and in ``through`` before.

    ``high`` is None for no bound. The choices are then those of the first ``low`` steps and, in the last row, those of
    all further ones.
    """
    _refuse_steps(low)
    if high is not None:
        _refuse_steps(high)
        if low > high:
            raise BoundError(f"no number of steps lies between {low} and {high}")
    ask = Ask(model, settings, optimum, strategy, everywhere)
    if low == 0:
        return ask.accept(_from_now(ask, through, goal, high))
    if ask.needless(through):
        return Quantity(ask.zeros, through.astype(np.float64), METHOD)
    for factor in (4, 1e4):
        later = _from_now(ask.first(factor), through, goal, None if high is None else high - low)
        answer = _sharpened(_before(ask, through, later, low), ask, through, later.lower == 1, low)
        if ask.close(answer):
            break
    return ask.accept(answer)


def cumulative_steps(
    model: Model,
    reward: Rewards,
    steps: int,
    optimum: Optimum,
    settings: Settings,
    *,
    strategy: bool = False,
    everywhere: bool = False,
) -> Quantity:
    """The reward expected over the given number of steps."""
    _refuse_steps(steps)
    ask = Ask(model, settings, optimum, strategy, everywhere)
    state, choice = ask.rewards(reward)
    zeros = ask.zeros
    if model.choice_starts is not None:
        part = ask.part(None)
        constant = spread(model, state) + choice
        horizon = _iterate(ask, part, zeros, constant, steps, stochastic=True)
        return ask.accept(_quantity(ask, part, horizon, zeros, "reward over steps"))
    keep = ask.reaching(state + choice > 0)
    part = ask.part(keep)
    chain = Chain(part, part.of(state + choice).copy(), threads=ask.threads)
    found = ask.sum(chain, Weights.fewer_than(steps), stochastic=bool(keep.all()))
    lower, upper = filled(part, found, zeros)
    return ask.accept(Quantity(lower, upper, METHOD, (work_of("reward over steps", part, found),)))


def instantaneous_steps(
    model: Model,
    reward: Rewards,
    steps: int,
    optimum: Optimum,
    settings: Settings,
    *,
    strategy: bool = False,
    everywhere: bool = False,
) -> Quantity:
    """The state reward expected after the given number of steps."""
    _refuse_steps(steps)
    ask = Ask(model, settings, optimum, strategy, everywhere)
    state, _ = ask.rewards(Rewards(state=reward.state))
    return ask.accept(_before(ask, ask.all_states, known(state, METHOD), steps))


def _refuse_steps(steps: int) -> None:
    if steps < 0:
        raise BoundError(f"a bound of {steps} steps; there are at least 0")


def _from_now(ask: Ask, through: Mask, goal: Mask, steps: int | None) -> Quantity:
    """P [ through U<=steps goal ]."""
    if steps is None:
        from .until import until

        return until(ask.model, through, goal, ask.optimum, ask.settings)
    reached = goal.astype(np.float64)
    matter = ask.reaching(goal, through & ~goal) & ~goal
    part = ask.part(matter)
    enter = row_products(ask.model, reached, ask.threads)
    if ask.model.choice_starts is None:
        chain = Chain(part, part.of(enter).copy(), threads=ask.threads)
        found = ask.sum(chain, Weights.fewer_than(steps))
        lower, upper = filled(part, found, reached, 1.0)
        answer = Quantity(lower, upper, METHOD, (work_of("until within steps", part, found),))
    else:
        constant = enter[spread(ask.model, matter)]
        start = namespace(enter).zeros(part.n_states)
        horizon = _iterate(ask, part, start, constant, steps, stochastic=False)
        answer = _quantity(ask, part, horizon, reached, "until within steps", 1.0)
    return _sharpened(answer, ask, through, goal, steps, until=True)


def _before(ask: Ask, through: Mask, later: Quantity, steps: int) -> Quantity:
    """Make so many steps from states in ``through``, then have the number ``later``."""
    if steps == 0:
        return later
    lower = _steps_to(ask, through, later.lower, steps)
    upper = lower if later.lower is later.upper else _steps_to(ask, through, later.upper, steps)
    work = (*later.work, *lower.work, *(() if upper is lower else upper.work))
    choices = lower.choices
    if choices is not None and later.choices is not None:
        choices = np.concatenate([choices, np.atleast_2d(on_host(later.choices))])
    return Quantity(lower.lower, upper.upper, METHOD, work, choices)


def _steps_to(ask: Ask, through: Mask, target: Floats, steps: int) -> Quantity:
    """The same for exact numbers: the first step back, into any state, and the others, within ``through``."""
    model = ask.model
    products = row_products(model, target, ask.threads)
    best = best_choice(model, products, maximise=ask.optimum == "max")
    first = np.where(through, best, 0.0)
    keep = through & ask.reaching(first > 0, through)
    part = ask.part(keep)
    zeros, most = ask.zeros, greatest(target)
    if model.choice_starts is None:
        chain = Chain(part, part.of(first).copy(), threads=ask.threads)
        found = ask.sum(chain, Weights.exactly(steps - 1), stochastic=bool(keep.all()))
        lower, upper = filled(part, found, zeros, most)
        return Quantity(lower, upper, METHOD, (work_of("steps", part, found),))
    horizon = _iterate(ask, part, part.of(first).copy(), None, steps - 1, stochastic=bool(keep.all()))
    answer = _quantity(ask, part, horizon, zeros, "steps", most)
    if answer.choices is None:
        return answer
    last = on_host(np.where(through, _first_rows(model, products, best), -1).astype(np.int32))
    return replace(answer, choices=np.concatenate([answer.choices, last[None]]))


def _first_rows(model: Model, products: Floats, best: Floats) -> Int32s:
    """The first best row of each state."""
    starts = model.choice_starts
    assert starts is not None
    attains = np.flatnonzero(products == spread(model, best))
    return attains[np.searchsorted(attains, starts[:-1])].astype(np.int32)


def _sharpened(answer: Quantity, ask: Ask, through: Mask, goal: Mask, steps: int, *, until: bool = False) -> Quantity:
    """The same with probabilities that are 1 for sure, where some might be."""
    if not ((answer.upper == 1) & (answer.lower < 1)).any():
        return answer
    sure = certain(ask.model, through, goal, steps, ask.optimum, until=until)
    return replace(answer, lower=np.where(sure, 1.0, answer.lower))


def _iterate(ask: Ask, part: Part, start: Floats, constant: Floats | None, steps: int, *, stochastic: bool) -> Horizon:
    iteration = Bellman(part, start.copy(), constant, ask.optimum == "max", ask.threads)
    return iterate(
        iteration,
        steps,
        ask.important(part),
        ask.settings,
        stochastic=stochastic,
        strategy=ask.strategy,
        everywhere=ask.everywhere,
    )


def _quantity(ask: Ask, part: Part, found: Horizon, outside: Floats, step: str, most: float = np.inf) -> Quantity:
    """A horizon as an answer for all states: choices are rows of the model's matrix."""
    lower, upper = filled(part, found, outside, most)
    choices = found.choices
    if choices is not None and part.states is not None:
        starts, states = on_host(ask.model.choice_starts), on_host(part.states)
        sizes = np.diff(starts)[states]
        shift = starts[states] - (np.cumsum(sizes) - sizes)
        inner, choices = choices, np.full((found.horizon, ask.model.n_states), -1, dtype=np.int32)
        choices[:, states] = inner + shift
    return Quantity(lower, upper, METHOD, (work_of(step, part, found),), choices)
