"""DTMCs and MDPs after many numbers of steps, all in one pass: P [ a U<=k b ], P [ G<=k a ], R [ C<=k ], R [ I=k ].

What is asked is that of :mod:`.within_steps`, of the initial states only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...backend.rows import spread
from ...backend.steps import Bellman, Chain, Part, least_positive, row_products
from ...device.arrays import greatest, namespace
from ...model.sparse import Mask, Rewards
from ...solve.finite_horizon import Horizon, exact_among, iterate_to_all
from ...solve.power_sums import PowerSum, Weights, power_sums
from ...solve.scaling import faintest_raised, raised, raising
from ..qualitative.surely_within import surely_after
from .question import BoundedQuestion, Curve, work_of

Floats = npt.NDArray[np.float64]

__all__ = ["StepCurve", "reach", "reward_at", "reward_over", "stay"]

METHOD = "steps"


@dataclass(frozen=True, eq=False)
class StepCurve:
    """A number that depends on how many steps are made.

    Attributes
    ----------
    part, start
        The states whose number is not known at once, and what they have before the first step.
    constant
        What each row of an MDP has besides, in every step.
    weights
        How much each step of a chain counts, given how many there are.
    at_zero
        The number of every state before the first step; outside of the part it stays that.
    certain
        The states to be in and those to go through, where the number is a probability, and whether getting there sooner
        will do.
    """

    step: str
    part: Part
    start: Floats
    at_zero: Floats
    weights: Callable[[int], Weights]
    constant: Floats | None = None
    terms: tuple[Floats, ...] = ()
    stochastic: bool = False
    certain: tuple[Mask, Mask, bool] | None = None

    def curve(self, ask: BoundedQuestion, points: Sequence[float]) -> Curve:
        """Bound it in the initial states after so many steps, whole numbers that ascend."""
        steps, states = [int(count) for count in points], ask.important(self.part)
        found: Horizon | PowerSum
        if ask.model.has_choices:
            exact = exact_among(self.part, steps, self.start, self.constant, *self.terms)
            start, constant, exponent, whole = self._raised(steps[-1])
            found = iterate_to_all(
                Bellman(self.part, start, constant, ask.optimum == "max", ask.threads),
                steps,
                states,
                ask.settings,
                stochastic=self.stochastic,
                exact_horizons=exact,
                exponent=exponent,
                whole=whole,
            )
        else:
            found = power_sums(
                Chain(self.part, self.start.copy(), threads=ask.threads),
                [self.weights(count) for count in steps],
                states,
                ask.settings,
                stochastic=self.stochastic,
                terms=self.terms,
            )
        most = np.inf if self.certain is None else 1.0
        work = (work_of(self.step, self.part, found),)
        return self._sharpened(ask, steps, Curve.of(ask, self.part, found, self.at_zero, most, METHOD, work))

    def _raised(self, steps: int) -> tuple[Floats, Floats | None, int, bool]:
        """The vectors of an MDP times a power of two, that power, and whether no number was lost."""
        start, constant, precision = self.start, self.constant, self.part.matrix.precision
        largest = max(greatest(start), 0.0 if constant is None else greatest(constant))
        exponent = raising(largest, steps + 1, precision)
        least = least_positive(start if constant is None else constant)
        whole = faintest_raised(least, exponent, precision) > 0
        return raised(start, exponent), None if constant is None else raised(constant, exponent), exponent, whole

    def _sharpened(self, ask: BoundedQuestion, steps: Sequence[int], curve: Curve) -> Curve:
        """Raise lower bounds to 1 where the graph tells that the probability is 1."""
        if self.certain is None or not ((curve.upper == 1) & (curve.lower < 1)).any():
            return curve
        goal, through, sooner = self.certain
        sure = surely_after(ask.model, through, goal, steps, ask.model.initial, ask.optimum, until=sooner)
        return replace(curve, lower=np.where(sure & (curve.upper == 1), 1.0, curve.lower))


def reach(ask: BoundedQuestion, through: Mask, goal: Mask) -> StepCurve:
    """P [ through U<=k goal ]."""
    reached = goal.astype(np.float64)
    part = ask.part(ask.reaching(goal, through & ~goal) & ~goal)
    enter = row_products(ask.model, reached, ask.threads)
    certain, step = (goal, through, True), "until within steps"
    if not ask.model.has_choices:
        return StepCurve(step, part, part.of(enter).copy(), reached, Weights.fewer_than, certain=certain)
    start, constant = namespace(enter).zeros(part.n_states), ask.of_rows(part, enter)
    return StepCurve(step, part, start, reached, Weights.fewer_than, constant, certain=certain)


def stay(ask: BoundedQuestion, inside: Mask) -> StepCurve:
    """P [ G<=k inside ]."""
    staying, part = inside.astype(np.float64), ask.part(inside)
    certain, all_stay = (inside, inside, False), bool(inside.all())
    return StepCurve(
        "steps", part, part.of(staying).copy(), staying, Weights.exactly, stochastic=all_stay, certain=certain
    )


def reward_over(ask: BoundedQuestion, reward: Rewards) -> StepCurve:
    """R [ C<=k ]."""
    state, choice = ask.rewards(reward)
    step, terms = "reward over steps", (state, choice)
    if ask.model.has_choices:
        part = ask.part(None)
        constant = ask.of_rows(part, spread(ask.model, state) + choice)
        start = namespace(state).zeros(part.n_states)
        return StepCurve(step, part, start, ask.zeros, Weights.fewer_than, constant, terms, stochastic=True)
    keep = ask.reaching(state + choice > 0)
    part = ask.part(keep)
    start = part.of(state + choice).copy()
    return StepCurve(step, part, start, ask.zeros, Weights.fewer_than, terms=terms, stochastic=bool(keep.all()))


def reward_at(ask: BoundedQuestion, reward: Rewards) -> StepCurve:
    """R [ I=k ]."""
    state, _ = ask.rewards(Rewards(state=reward.state))
    keep = ask.reaching(state > 0)
    part = ask.part(keep)
    return StepCurve("steps", part, part.of(state).copy(), state, Weights.exactly, stochastic=bool(keep.all()))
