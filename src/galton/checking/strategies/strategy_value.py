"""What a strategy is worth: the chain that it leaves, asked the same question.

A strategy is put together from what graph analysis, equations and steps found, each for its own states. Before anybody
gets it, the bounds of its chain have to meet those of the answer, in all states. Formulas inside the question are about
the MDP, as they are for the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...backend.steps import row_products
from ...device.arrays import on_host
from ...lang.properties import BinaryPath, Cumulative, ExpectedTime, Probability, Reward, SteadyState, UnaryPath
from ...lang.source import GaltonError
from ...model.rounding import FAINTEST, UNIT
from ...model.sparse import Mask, Rewards
from ...reduce.submodels import Rows, with_rows
from ...solve.settings import Settings
from ...solve.tolerance import Tolerance
from .. import operators, paths
from ..evaluation import Evaluation
from ..intervals import Numbers
from ..quantity import Floats, Quantity
from ..unbounded.rewards import rewards_by_row
from .strategy import Strategy

__all__ = ["StrategyMistakeError", "require_attained"]

Operator = Probability | Reward | ExpectedTime | SteadyState
ROUGH = 1e-3  # how far off an answer without bounds may be, relatively


class StrategyMistakeError(GaltonError):
    """A strategy that is not worth what it was found for."""

    kind = "numeric"


@dataclass(eq=False)
class _Following(Evaluation):
    """Formulas over the chain of a strategy; those inside an operator mean what they mean in the MDP."""

    mdp: Evaluation | None = None

    def mask(self, expression: object) -> Mask:
        assert self.mdp is not None
        found: Mask = on_host(self.mdp.mask(expression))  # type: ignore[arg-type]
        return found


def require_attained(strategy: Strategy, formula: Operator, evaluation: Evaluation, answer: Quantity) -> None:
    """Raise :class:`StrategyMistakeError` unless a strategy attains the answer to an operator, in every state.

    The bounds may miss each other by as much as bounds may be apart, and by more where the answer has none.
    """
    asked = evaluation.settings
    settings = Settings(eps=min(asked.eps, 1e-6), relative=asked.relative, threads=asked.threads, watch=asked.watch)
    question = replace(formula, optimum=None, comparison=None)
    try:
        worth = _worth(strategy, question, evaluation, settings)
    except GaltonError as error:
        if error.kind not in ("numeric", "limit"):
            raise
        message = f"the answer stands, but its strategy could not be checked ({error}); ask for the answer alone"
        raise StrategyMistakeError(message) from error
    lower, upper = on_host(answer.lower), on_host(answer.upper)
    with np.errstate(invalid="ignore"):  # infinities meet each other
        apart = np.nan_to_num(np.maximum(worth.lower - upper, lower - worth.upper), nan=0.0, posinf=np.inf)
        tolerance = asked.tolerance if answer.proved else Tolerance(max(asked.eps, ROUGH / 2), asked.relative)
        allowed = tolerance.width(np.minimum(upper, worth.upper))
    wrong = (apart > 0) & (~(apart <= allowed) | np.isinf(lower) | np.isinf(worth.lower))
    if not wrong.any():
        return
    initial = evaluation.model.initial
    bad = on_host(initial)[wrong[on_host(initial)]]
    state = int(bad[0] if len(bad) else np.flatnonzero(wrong)[0])
    reason = "this is a mistake of Galton" if answer.proved else f"{answer.method} has no bounds; leave --method away"
    raise StrategyMistakeError(
        f"the strategy that was found is not worth the answer: in {evaluation.state_name(state)} it is worth "
        f"[{worth.lower[state]:.9g}, {worth.upper[state]:.9g}], and the answer is "
        f"[{lower[state]:.9g}, {upper[state]:.9g}]; {reason}, and the answer stands without the strategy: ask for it "
        "alone"
    )


def _worth(strategy: Strategy, formula: Operator, evaluation: Evaluation, settings: Settings) -> Numbers:
    steps = strategy.steps
    if steps is None:
        return _of_chain(strategy, strategy.rows(), formula, evaluation, settings)
    match formula:
        case Probability():
            return _probability(strategy, formula, evaluation, settings)
        case Reward(objective=objective):
            reward = operators.structure_of(evaluation, formula)
            state = np.zeros(strategy.model.n_states) if reward.state is None else on_host(reward.state)
            if isinstance(objective, Cumulative):
                parts = (None if part is None else on_host(part) for part in (reward.state, reward.choice))
                earned = rewards_by_row(strategy.model, Rewards(*parts))
                return _back(strategy, steps, 0 * state, lambda _, after, rows: earned[rows] + after, settings)
            return _back(strategy, steps, state, lambda _, after, rows: after, settings)
    raise TypeError(f"nothing in {formula!r} counts steps")


def _of_chain(strategy: Strategy, rows: Rows, formula: Operator, evaluation: Evaluation, settings: Settings) -> Numbers:
    """Bound the value of a strategy without memory, in the chain that it leaves of all states of the MDP."""
    chain = replace(with_rows(strategy.model, rows, None), type="dtmc")
    reading = evaluation.reading
    following = _Following(chain, evaluation.program, evaluation.source, settings, reading=reading, mdp=evaluation)
    found = following.numbers(formula)
    every = np.ones(chain.n_states)
    return Numbers(found.lower * every, found.upper * every)


def _probability(strategy: Strategy, formula: Probability, evaluation: Evaluation, settings: Settings) -> Numbers:
    """Bound the probability of a path under a strategy that counts steps, by one pass back over them."""
    assert strategy.steps is not None
    path = paths.normalise(formula.path, evaluation.source)
    if isinstance(path, paths.Next):
        goal = on_host(evaluation.mask(path.states)).astype(np.float64)
        return _back(strategy, strategy.steps, goal, lambda _, after, rows: after, settings)
    assert isinstance(path, paths.Until)
    low, high = paths.steps(path.bound, evaluation.program.constants, evaluation.source)
    through, goal = on_host(evaluation.mask(path.through)), on_host(evaluation.mask(path.goal))

    def before(step: int, after: Floats, rows: Rows) -> Floats:
        after = np.where(through, after, 0.0)
        return np.where(goal, 1.0, after) if step >= low else after

    if high is not None:
        found = _back(strategy, high, goal.astype(np.float64), before, settings)
    else:
        assert isinstance(formula.path, (UnaryPath, BinaryPath))
        unbounded = replace(formula, path=replace(formula.path, bound=None))
        later = _of_chain(strategy, strategy.rows(low), unbounded, evaluation, settings)
        if path.negated:  # both are about the until
            later = Numbers.exactly(1.0) - later
        ends = [_back(strategy, low, end, before, settings) for end in (later.lower, later.upper)]
        found = Numbers(ends[0].lower, ends[1].upper)
    return Numbers.exactly(1.0) - found if path.negated else found


def _back(
    strategy: Strategy,
    steps: int,
    values: Floats,
    before: Callable[[int, Floats, Rows], Floats],
    settings: Settings,
) -> Numbers:
    """Bounds on what comes of numbers after so many steps: ``before`` says what a step makes of those after it."""
    model = strategy.model
    for step in reversed(range(steps)):
        rows = strategy.rows(step)
        values = before(step, row_products(model, values, settings.n_threads)[rows], rows)
        settings.tell(step="checking the strategy", iterations=steps - step)
    # All numbers are non-negative: each step has its own relative rounding, and may lose what no double can hold.
    longest = int(np.diff(model.row_starts).max(initial=0)) + 5
    error, lost = 1.01 * UNIT * longest * (steps + 1), FAINTEST * longest * (steps + 1)
    return Numbers(np.maximum(values * (1 - error) - lost, 0.0), values * (1 + error) + lost)
