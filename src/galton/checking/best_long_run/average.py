"""The best long-run average in every state of an MDP: gains of end components, then where to stay."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from ...backend.rows import owners, spread
from ...device.arrays import extremes, how_many, namespace, nudged
from ...graph import EndComponents, attractor, can_reach, maximal_end_components, surely_reaches
from ...model.sparse import Int32s, Mask, Model, Rewards
from ...model.values import Floats
from ...reduce.end_components import ways_inside
from ...solve.equations import Optimum
from ...solve.settings import Settings
from ..fairness import bottom_ends
from ..quantity import Quantity, Work
from ..strategies.graph_choices import first_rows
from ..unbounded.rewards import rewards_by_row
from .components import inside_of
from .gains import prove_gains
from .quotient import mean_gains

__all__ = ["Gains", "best_long_run"]


def best_long_run(model: Model, reward: Rewards, optimum: Optimum, settings: Settings) -> Quantity:
    """Bound the least or greatest long-run average of a reward per step, in every state of an MDP."""
    settings = replace(settings, method=None)  # a method chosen by hand is for other questions of the property
    start = perf_counter()
    ends = bottom_ends(model) if settings.fair else maximal_end_components(model)
    gains = Gains(model, reward, optimum, ends)
    xp = namespace(model.columns)
    inside = ends.component >= 0
    detail = f"{ends.count:,} maximal, {how_many(inside):,} of {model.n_states:,} states in them"
    work = [Work("end components", detail, 0, perf_counter() - start)]
    alike = how_many(inside) == model.n_states and ends.count == 1
    gains.solve(settings if alike else settings.tighter(2))
    work += gains.work
    lower, upper = gains.lower, gains.upper
    choices = gains.choices if settings.strategy else None
    if bool((lower == lower[0]).all()) and bool((upper == upper[0]).all()):
        low, high = (xp.full(model.n_states, float(bound[0])) for bound in (lower, upper))
        return Quantity(low, high, gains.method, tuple(work), choices)
    known, ways = _known(model, ends, lower, upper, optimum)
    low, high = known
    if choices is not None:
        choices = xp.where(ways >= 0, ways, choices).astype(np.int32)
    if xp.isnan(low).any():
        low, high, leaving, done = mean_gains(model, ends, (lower, upper), known, optimum, settings.tighter(2))
        work += done
        if choices is not None and leaving is not None:
            choices = xp.where(leaving >= 0, leaving, choices).astype(np.int32)
    return Quantity(low, high, gains.method, tuple(work), choices)


def _known(
    model: Model, ends: EndComponents, lower: Floats, upper: Floats, optimum: Optimum
) -> tuple[tuple[Floats, Floats], Int32s]:
    """Bounds where they are known without equations, NaN elsewhere; and rows that lead to where nothing is earned.

    Known is what an end component that cannot be left earns, and where the average is zero.
    """
    xp, n = namespace(model.columns), model.n_states
    inside = ends.component >= 0
    everywhere = xp.ones(n, dtype=np.bool_)
    zero = inside & (upper == 0)[ends.component]
    ways = xp.full(n, -1, dtype=np.int32)
    if optimum == "max":
        nothing = ~can_reach(model, everywhere, inside & ~zero)
    else:
        nothing = surely_reaches(model, everywhere, zero, some_strategy=True)
        led = nothing & ~zero
        if how_many(led):
            ways = xp.where(led, attractor(model, led, zero, staying=nothing), -1).astype(np.int32)
    left = xp.zeros(ends.count, dtype=np.bool_)
    leaving = ends.component[owners(model)[xp.flatnonzero(~ends.staying)]]
    left[leaving[leaving >= 0]] = True
    closed = inside & ~left[ends.component]
    low, high = (xp.where(nothing, 0.0, xp.where(closed, bound[ends.component], np.nan)) for bound in (lower, upper))
    return (low, high), ways


class Gains:
    """Bounds on the gain of each end component, and choices that attain them.

    Attributes
    ----------
    choices
        ``(states,)`` a row for each state of an end component, -1 elsewhere.
    """

    def __init__(self, model: Model, reward: Rewards, optimum: Optimum, ends: EndComponents) -> None:
        self.model, self.reward, self.optimum, self.ends = model, reward, optimum, ends
        xp = namespace(model.columns)
        self.lower, self.upper = xp.empty(ends.count), xp.empty(ends.count)
        self.choices: Int32s = xp.full(model.n_states, -1, dtype=np.int32)
        self.work: list[Work] = []

    @property
    def method(self) -> str:
        """The step that took longest."""
        return max(self.work, key=lambda step: step.seconds).step if self.work else "rewards"

    def solve(self, settings: Settings) -> None:
        """Find them all."""
        hard = self._easy(settings)
        if not how_many(hard):
            return
        inside = inside_of(self.model, self.reward, self.ends, hard)
        proof, work = prove_gains(inside, self.optimum, settings)
        self.work += work
        self.lower[hard], self.upper[hard] = proof.bounds()
        if settings.strategy:
            self.choices[inside.states] = inside.rows[proof.policy()]

    def _easy(self, settings: Settings) -> Mask:
        """Find the gains that need no numbers: where the best reward of all can be had for ever. Return the others."""
        model, ends, xp = self.model, self.ends, namespace(self.model.columns)
        earned = rewards_by_row(model, self.reward)
        rows = xp.flatnonzero(ends.staying)
        component = ends.component[owners(model)]
        least, most = extremes(earned[rows], component[rows], ends.count)
        best = most if self.optimum == "max" else least
        rounded = _is_rounded(model, self.reward, earned)
        self.lower, self.upper = nudged(best, -np.inf, rounded & (best > 0)), nudged(best, np.inf, rounded & (best > 0))
        chosen = ends.staying & (earned == best[component])
        free = maximal_end_components(model, choices=chosen)
        found = xp.zeros(ends.count, dtype=np.bool_)
        there = free.component >= 0
        found[ends.component[there]] = True
        if settings.strategy:
            held = first_rows(model, free.staying)
            inside = (ends.component >= 0) & found[ends.component]
            ways = ways_inside(model, inside & ~there, there, ends.staying)
            self.choices = xp.where(there, held, xp.where(inside, ways, -1)).astype(np.int32)
        return ~found  # type: ignore[no-any-return]


def _is_rounded(model: Model, reward: Rewards, earned: Floats) -> bool:
    """Whether some sum of the rewards of a state and a choice is no double."""
    if reward.state is None or reward.choice is None:
        return False
    state = spread(model, reward.state)
    return bool((earned - state != reward.choice).any()) or bool((earned - reward.choice != state).any())
