"""Directions among sums, probabilities and long-run averages together.

Whatever a strategy does, a run ends in an end component. So where a run may stop in the arena, it is paid for the
paths that it satisfies there and for the best weighted average of the end component in which it stays: the quotient of
the end components, as for a single average. That is what no strategy passes. The strategy that is found plays on as the
best average asks for; what it comes to is looked at in its chain. Paths must not ask for visits inside an end component
that its best average may do without: finite memory only approaches that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...automata.acceptance import holds
from ...backend.components import EndComponents
from ...graph import bottom_components
from ...model.errors import NumericError
from ...model.sparse import Mask, Model, Rewards
from ...model.values import Floats
from ..best_long_run import Gains
from ..gate import admit
from ..long_run import long_run
from ..quantity import Quantity
from ..unbounded.rewards import total_reward
from ..unbounded.until import until
from .directions import Plan, Point, SumDirections, Weights
from .mixtures import MemoryStrategy, in_product

__all__ = ["MixedDirections"]


@dataclass(eq=False, kw_only=True)
class MixedDirections(SumDirections):
    """The directions of an arena some of whose objectives are averages.

    ``averages`` are ``(choices of the model,)`` what is averaged, for each of these.
    """

    averages: dict[int, Floats]

    def _optimum(self, weights: Weights) -> tuple[Fraction, Plan]:
        arena = self.arena
        rows, to_lose = self._weighed(weights)
        earned = np.zeros(arena.product.model.n_choices)
        taken, largest = Fraction(0), Fraction(0)
        for i, averaged in self._averaged.items():
            weight, most = weights[i], self._most[i]
            largest += weight * Fraction(most)
            if arena.objectives[i].maximise:
                earned += float(weight) * averaged
            else:
                earned += float(weight) * (most - averaged)
                taken += weight * Fraction(most)
        # Each reward is weighed, taken off and added with one rounding each, of what is at most the largest sum.
        rounding = largest * Fraction(2 * len(weights) + 8, 2**52)
        worth, staying = self._worth(earned)
        stops = arena.endings >= 0
        if arena.has_costs:
            top = float(largest + rounding)
            rows[stops] += np.maximum(top - worth[stops], 0.0) * (1 - 2.0**-50)
            to_lose += Fraction(top)
        else:
            rows += worth
        most_of_all, plan = self._solved(weights, rows, to_lose)
        return most_of_all + rounding - taken, replace(plan, staying=staying)

    @cached_property
    def _averaged(self) -> dict[int, Floats]:
        """``(choices of the product,)`` what is averaged."""
        return {i: rows[self.arena.product.rows] for i, rows in self.averages.items()}

    @cached_property
    def _most(self) -> dict[int, float]:
        return {i: float(rows.max(initial=0.0)) for i, rows in self.averages.items()}

    def _worth(self, earned: Floats) -> tuple[Floats, tuple[Mask, ...]]:
        """``(choices,)`` the greatest average that a run may have which stops, and how it goes on to have it."""
        arena = self.arena
        model = arena.product.model
        worth, staying = np.zeros(arena.model.n_choices), []
        stops = np.flatnonzero(arena.endings >= 0)
        state = np.searchsorted(arena.model.row_groups, stops, side="right") - 1
        for number, kind in enumerate(arena.kinds):
            inside = kind.component >= 0
            _, renumbered = np.unique(kind.component[inside], return_inverse=True)
            component = np.full(model.n_states, -1, dtype=np.int32)
            component[inside] = renumbered
            ends = EndComponents(component, kind.staying, int(renumbered.max()) + 1)
            gains = Gains(model, Rewards(choice=earned), "max", ends)
            gains.solve(replace(self.settings, strategy=True))
            mine = arena.endings[stops] == number
            worth[stops[mine]] = gains.upper[component[state[mine]]]
            taken = np.zeros(model.n_choices, dtype=np.bool_)
            taken[gains.choices[inside]] = True
            staying.append(taken)
        return worth, tuple(staying)

    def _point(self, plan: Plan) -> Point | None:
        """What a strategy comes to, in its chain."""
        arena, product = self.arena, self.arena.product
        assert plan.staying is not None
        followed: MemoryStrategy = in_product(arena, plan.choices, plan.staying)
        chain: Model = followed.induced()
        rows, initial = followed.rows, followed.initial
        settings = replace(self.settings, strategy=False)
        everywhere = np.ones(chain.n_states, dtype=np.bool_)
        gains = np.zeros(product.model.n_choices)
        old = arena.rows >= 0
        least, most = [], []
        for i, objective in enumerate(arena.objectives):
            if i in self._averaged:
                found = long_run(chain, Rewards(state=self._averaged[i][rows]), settings)
            elif objective.is_probability:
                found = until(chain, everywhere, self._accepted(chain, followed, i), None, settings)
            else:
                gains[arena.rows[old]] = arena.gains[i][old]
                found = total_reward(chain, Rewards(state=gains[rows]), None, settings)
            self._note(found)
            low, high = float(found.lower[initial]), float(found.upper[initial])
            if not np.isfinite(high):
                return None
            signed = objective.maximise or objective.is_probability
            least.append(Fraction(low) if signed else -Fraction(high))
            most.append(Fraction(high) if signed else -Fraction(low))
        return Point(tuple(least), tuple(most))

    def _accepted(self, chain: Model, followed: MemoryStrategy, objective: int) -> Mask:
        """The bottom components in which runs satisfy a path."""
        component = bottom_components(chain).component
        inside = component >= 0
        met = np.zeros(int(component.max(initial=-1)) + 1, dtype=np.int64)
        np.bitwise_or.at(met, component[inside], self.arena.product.marks[followed.states][inside])
        good = [holds(self.arena.conditions[objective], int(marks)) for marks in met]
        return np.array([*good, False], dtype=np.bool_)[component]

    def _note(self, found: Quantity) -> None:
        if not found.proved:
            raise NumericError(f"{found.method} proves no bounds, and several objectives need them")
        admit(found, "multi(…)", np.inf)
        self.iterations += found.iterations
