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

from ...backend.rows import best_choice, spread
from ...backend.steps import Bellman, Chain, Part, least_positive, row_products
from ...device.arrays import greatest, namespace, on_host
from ...model.rounding import FAINT
from ...model.sparse import Mask, Model, Rewards
from ...solve.finite_horizon import Horizon, iterate
from ...solve.power_sums import Weights
from ...solve.scaling import faintest_raised, lowered, raised, raising
from ...solve.settings import Settings
from ...solve.step_limits import TooManyStepsError
from ..qualitative.surely_within import surely_within
from ..quantity import Quantity, Work
from ..strategies.graph_choices import first_rows, surely_within_choices
from .question import BoundedQuestion, BoundError, Optimum, filled, known, work_of
from .recurring_values import recurring_bounds

Floats = npt.NDArray[np.float64]

__all__ = ["bounded_until", "cumulative_steps", "instantaneous_steps", "next_step"]

METHOD = "steps"


def next_step(model: Model, goal: Mask, optimum: Optimum, settings: Settings, *, strategy: bool = False) -> Quantity:
    """Bound ``P [ X goal ]`` in every state: the probability to be in the goal after one step."""
    ask = BoundedQuestion(model, settings, optimum, strategy)
    answer = _before(ask, ask.all_states, known(goal.astype(np.float64), METHOD), 1)
    return _surely(_sharpened(answer, ask, ask.all_states, goal, 1), ask, ask.all_states, goal, 1, 1)


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
    """Bound ``P [ through U[low,high] goal ]`` in every state, counted in steps.

    That is the probability to be in the goal after ``low`` to ``high`` steps, and in ``through`` before.

    ``high`` is None for no bound. The choices are then those of the first ``low`` steps and, in the last row, those of
    all further ones.
    """
    _refuse_steps(low)
    if high is not None:
        _refuse_steps(high)
        if low > high:
            raise BoundError(f"no number of steps lies between {low} and {high}")
    ask = BoundedQuestion(model, settings, optimum, strategy, everywhere)
    if low == 0:
        return _surely(ask.accept(_until_now(ask, through, goal, high)), ask, through, goal, low, high)
    if ask.needless(through):
        return Quantity(ask.zeros, through.astype(np.float64), METHOD)
    for factor in (4, 1e4):
        later = _until_now(ask.first(factor), through, goal, None if high is None else high - low)
        answer = _sharpened(_before(ask, through, later, low), ask, through, later.lower == 1, low)
        if ask.close(answer):
            break
    return _surely(ask.accept(answer), ask, through, goal, low, high)


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
    """Bound ``R [ C<=steps ]`` in every state: the reward expected over so many steps."""
    _refuse_steps(steps)
    ask = BoundedQuestion(model, settings, optimum, strategy, everywhere)
    try:
        return ask.accept(_cumulative(ask, reward, steps))
    except TooManyStepsError as error:
        from ..unbounded.rewards import total_reward

        some = _cumulative(ask, reward, ask.patience)
        return _between(ask, some, total_reward(model, reward, optimum, settings), error)


def _cumulative(ask: BoundedQuestion, reward: Rewards, steps: int) -> Quantity:
    """R [ C<=steps ]."""
    model = ask.model
    state, choice = ask.rewards(reward)
    zeros = ask.zeros
    if model.has_choices:
        part = ask.part(None)
        constant = ask.of_rows(part, spread(model, state) + choice)
        exactly = part.is_exact(steps, state, choice)
        horizon = _iterate(ask, part, zeros, constant, steps, stochastic=True, exactly=exactly)
        return _quantity(ask, part, horizon, zeros, "reward over steps")
    keep = ask.reaching(state + choice > 0)
    part = ask.part(keep)
    chain = Chain(part, part.of(state + choice).copy(), threads=ask.threads)
    exactly = part.is_exact(steps, state, choice)
    found = ask.sum(chain, Weights.fewer_than(steps), stochastic=bool(keep.all()), exactly=exactly)
    lower, upper = filled(part, found, zeros)
    return Quantity(lower, upper, METHOD, (work_of("reward over steps", part, found),))


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
    """Bound ``R [ I=steps ]`` in every state: the state reward expected after so many steps."""
    _refuse_steps(steps)
    ask = BoundedQuestion(model, settings, optimum, strategy, everywhere)
    state, _ = ask.rewards(Rewards(state=reward.state))
    return ask.accept(_before(ask, ask.all_states, known(state, METHOD), steps))


def _refuse_steps(steps: int) -> None:
    if steps < 0:
        raise BoundError(f"a bound of {steps} steps; there are at least 0")


def _until_now(ask: BoundedQuestion, through: Mask, goal: Mask, steps: int | None) -> Quantity:
    """Bound P [ through U<=steps goal ].

    Where there are too many steps to make, the bounds are those of fewer steps below and of no bound above.
    """
    try:
        return _from_now(ask, through, goal, steps)
    except TooManyStepsError as error:
        some = _from_now(ask, through, goal, ask.patience)
        return _between(ask, some, _from_now(ask, through, goal, None), error)


def _between(ask: BoundedQuestion, some: Quantity, most: Quantity, error: TooManyStepsError) -> Quantity:
    """Return bounds from below ``some`` to above ``most`` if these are close; raise the error if not."""
    found = replace(some, upper=most.upper, work=some.work + most.work)
    if not ask.close(found):
        raise error
    return found


def _from_now(ask: BoundedQuestion, through: Mask, goal: Mask, steps: int | None) -> Quantity:
    """P [ through U<=steps goal ]."""
    if steps is None and ask.settings.fair and ask.optimum == "min":
        from ..fairness import fair_until

        return fair_until(ask.model, through, goal, ask.proving)
    if steps is None:
        from ..unbounded.until import until

        return until(ask.model, through, goal, ask.optimum, ask.proving)
    reached = goal.astype(np.float64)
    matter = ask.reaching(goal, through & ~goal) & ~goal
    part = ask.part(matter)
    enter = row_products(ask.model, reached, ask.threads)
    if not ask.model.has_choices:
        chain = Chain(part, part.of(enter).copy(), threads=ask.threads)
        found = ask.sum(chain, Weights.fewer_than(steps))
        lower, upper = filled(part, found, reached, 1.0)
        answer = Quantity(lower, upper, METHOD, (work_of("until within steps", part, found),))
    else:
        constant = ask.of_rows(part, enter)
        start = namespace(enter).zeros(part.n_states)
        horizon = _iterate(ask, part, start, constant, steps, stochastic=False)
        answer = _quantity(ask, part, horizon, reached, "until within steps", 1.0)
    return _sharpened(answer, ask, through, goal, steps, until=True)


def _before(ask: BoundedQuestion, through: Mask, later: Quantity, steps: int) -> Quantity:
    """Bound the mean of ``later`` after so many steps within ``through``, given bounds on ``later``."""
    if steps == 0:
        return later
    lower = _steps_to(ask, through, later.lower, steps)
    upper = lower if later.lower is later.upper else _steps_to(ask, through, later.upper, steps)
    work = (*later.work, *lower.work, *(() if upper is lower else upper.work))
    choices = lower.choices
    if choices is not None and later.choices is not None:
        choices = np.concatenate([choices, np.atleast_2d(on_host(later.choices))])
    return Quantity(lower.lower, upper.upper, METHOD, work, choices)


def _steps_to(ask: BoundedQuestion, through: Mask, target: Floats, steps: int) -> Quantity:
    """Bound the mean of ``target`` after so many steps from states in ``through``.

    The last step may lead into any state; all steps before it stay within ``through``.
    """
    model = ask.model
    # Numbers so faint that a step might lose them are raised.
    faint = least_positive(target) * float(on_host(model.values.distinct).min(initial=1.0)) < FAINT
    exponent = raising(greatest(target)) if faint else 0
    if exponent:
        answer = _steps_to(ask, through, raised(target, exponent), steps)
        lower, upper = lowered(answer.lower, answer.upper, exponent)
        return replace(answer, lower=lower, upper=upper)
    products = row_products(model, target, ask.threads)
    best = best_choice(model, products, maximise=ask.optimum == "max")
    first = np.where(through, best, 0.0)
    keep = through & ask.reaching(first > 0, through)
    part = ask.part(keep)
    zeros, most, exactly = ask.zeros, greatest(target), part.is_exact(steps, target)
    stochastic = bool(keep.all())
    try:
        if not model.has_choices:
            chain = Chain(part, part.of(first).copy(), threads=ask.threads)
            found = ask.sum(chain, Weights.exactly(steps - 1), stochastic=stochastic, exactly=exactly)
            lower, upper = filled(part, found, zeros, most)
            return Quantity(lower, upper, METHOD, (work_of("steps", part, found),))
        start = part.of(first).copy()
        horizon = _iterate(ask, part, start, None, steps - 1, stochastic=stochastic, exactly=exactly)
    except TooManyStepsError:
        bounds = None if ask.strategy else recurring_bounds(ask, keep, first, steps - 1)
        if bounds is None:
            raise
        xp = namespace(first)
        return Quantity(xp.asarray(bounds[0]), xp.asarray(bounds[1]), METHOD, (Work("steps", "numbers that recur"),))
    answer = _quantity(ask, part, horizon, zeros, "steps", most)
    if answer.choices is None:
        return answer
    last = first_rows(model, products == spread(model, best))
    # Where the number is 0 whatever is done now, something may have to be done later: any choice, but not none.
    choices = np.concatenate([answer.choices, on_host(last)[None]])
    anyway = np.where(choices < 0, on_host(model.choice_starts)[:-1], choices)
    return replace(answer, choices=np.where(on_host(through), anyway, -1).astype(np.int32))


def _sharpened(
    answer: Quantity, ask: BoundedQuestion, through: Mask, goal: Mask, steps: int, *, until: bool = False
) -> Quantity:
    """Raise lower bounds to 1 in states where the graph tells that the probability is 1."""
    if not ((answer.upper == 1) & (answer.lower < 1)).any():
        return answer
    sure = surely_within(ask.model, through, goal, steps, ask.optimum, until=until)
    return replace(answer, lower=np.where(sure, 1.0, answer.lower))


def _surely(answer: Quantity, ask: BoundedQuestion, through: Mask, goal: Mask, low: int, high: int | None) -> Quantity:
    """Put in choices that make the until certain, in the states where some choice does."""
    choices = answer.choices
    if choices is None or ask.optimum != "max" or choices.ndim == 1:
        return answer
    if high is not None:
        return replace(answer, choices=surely_within_choices(ask.model, through, goal, goal, low, choices))
    from ...graph import zero_and_one

    later = zero_and_one(ask.model, through, goal, "max")[1]
    first = surely_within_choices(ask.model, through, goal, later, low, choices[:low])
    return replace(answer, choices=np.concatenate([first, choices[low:]]))


def _iterate(
    ask: BoundedQuestion,
    part: Part,
    start: Floats,
    constant: Floats | None,
    steps: int,
    *,
    stochastic: bool,
    exactly: bool = True,
) -> Horizon:
    exponent, whole = 0, True
    if not (exactly and part.is_exact(steps, start, constant)):  # where nothing is rounded nothing is lost
        largest = max(greatest(start), 0.0 if constant is None else greatest(constant))
        precision = part.matrix.precision
        exponent = raising(largest, steps + 1, precision)
        whole = faintest_raised(least_positive(start if constant is None else constant), exponent, precision) > 0
        start, constant = raised(start, exponent), None if constant is None else raised(constant, exponent)
    iteration = Bellman(part, start.copy(), constant, ask.optimum == "max", ask.threads)
    return iterate(
        iteration,
        steps,
        ask.important(part),
        ask.settings,
        stochastic=stochastic,
        strategy=ask.strategy,
        everywhere=ask.everywhere,
        exactly=exactly,
        exponent=exponent,
        whole=whole,
    )


def _quantity(
    ask: BoundedQuestion, part: Part, found: Horizon, outside: Floats, step: str, most: float = np.inf
) -> Quantity:
    """Spread what was found for a part of the states over all of them; choices become rows of the whole matrix."""
    lower, upper = filled(part, found, outside, most)
    choices = found.choices
    if choices is not None and part.states is not None:
        starts, states = on_host(ask.model.choice_starts), on_host(part.states)
        sizes = np.diff(starts)[states]
        shift = starts[states] - (np.cumsum(sizes) - sizes)
        inner, choices = choices, np.full((found.horizon, ask.model.n_states), -1, dtype=np.int32)
        choices[:, states] = inner + shift
    return Quantity(lower, upper, METHOD, (work_of(step, part, found),), choices)
