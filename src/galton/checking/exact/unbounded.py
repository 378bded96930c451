"""Unbounded paths and rewards, exactly: the graph says where values are known, equations give the rest."""

from __future__ import annotations

import numpy as np

from ...backend.rows import every_successor_in, owners
from ...graph import (
    EndComponents,
    bottom_components,
    can_reach,
    maximal_end_components,
    surely_reaches,
    zero_and_one,
)
from ...lang.properties import Optimum
from ...model.sparse import Mask, Model
from ..quantity import Floats
from .limits import Watchman
from .model import ExactModel, Gains
from .numbers import INFINITY, Number, Rational, rational
from .policies import best_values

__all__ = ["mean_of_known", "reachability_reward", "total_reward", "until"]


def until(
    model: ExactModel,
    through: Mask,
    goal: Mask,
    optimum: Optimum | None,
    proposal: Floats | None,
    watchman: Watchman,
) -> list[Number]:
    """``P [ through U goal ]`` in every state. ``proposal`` is about what it is."""
    graph = model.model
    no, yes = zero_and_one(graph, through, goal, optimum)
    maybe = ~(no | yes)
    zero, one = rational(0), rational(1)
    known: list[Number] = [one if sure else zero for sure in yes.tolist()]
    inner = maximal_end_components(graph, maybe) if optimum == "max" and maybe.any() else None
    return best_values(model, maybe, known, optimum, proposal, watchman, merge=inner)


def reachability_reward(
    model: ExactModel, gains: Gains, goal: Mask, optimum: Optimum | None, proposal: Floats | None, watchman: Watchman
) -> list[Number]:
    """``R [ F goal ]`` in every state."""
    graph = model.model
    finite = surely_reaches(graph, _everywhere(graph), goal, some_strategy=optimum == "min")
    return _reward(model, gains, goal, finite, optimum, proposal, watchman)


def total_reward(
    model: ExactModel, gains: Gains, optimum: Optimum | None, proposal: Floats | None, watchman: Watchman
) -> list[Number]:
    """``R [ C ]`` in every state: the reward over a whole run, which may be infinite."""
    graph = model.model
    owner = owners(graph)
    paying = np.array([gains.earned(state, choice) > 0 for choice, state in enumerate(owner.tolist())], dtype=np.bool_)
    everywhere = _everywhere(graph)
    if optimum is None:
        bottom = bottom_components(graph).component >= 0
        finite = ~can_reach(graph, everywhere, bottom & paying)
        return _reward(model, gains, bottom & finite, finite, None, proposal, watchman)
    if optimum == "min":
        free = maximal_end_components(graph, choices=~paying).component >= 0
        finite = surely_reaches(graph, everywhere, free, some_strategy=True)
        return _reward(model, gains, free, finite, optimum, proposal, watchman)
    ends = maximal_end_components(graph)
    pays = _components_with(ends, owner[ends.staying & paying])
    finite = ~can_reach(graph, everywhere, pays)
    left = _components_with(ends, owner[~ends.staying])
    closed = (ends.component >= 0) & ~left  # an end component that cannot be left is the end
    return _reward(model, gains, closed & finite, finite, optimum, proposal, watchman)


def _components_with(ends: EndComponents, states: np.ndarray) -> Mask:
    """The states of end components that have one of some states in them."""
    numbers = ends.component[states]
    found: Mask = np.isin(ends.component, numbers[numbers >= 0]) & (ends.component >= 0)
    return found


def _everywhere(graph: Model) -> Mask:
    return np.ones(graph.n_states, dtype=np.bool_)


def _reward(
    model: ExactModel,
    gains: Gains,
    goal: Mask,
    finite: Mask,
    optimum: Optimum | None,
    proposal: Floats | None,
    watchman: Watchman,
) -> list[Number]:
    """The reward until the goal in the states where it is finite."""
    graph = model.model
    maybe = finite & ~goal
    zero = rational(0)
    known: list[Number] = [zero if ends else INFINITY for ends in finite.tolist()]
    keep, inner = None, None
    if optimum == "min" and maybe.any():
        # Choices that might miss the goal cost infinitely much. Cycles that cost nothing are one unknown each.
        keep = every_successor_in(graph, finite)
        free = keep.copy()
        owner = owners(graph)
        for choice in np.flatnonzero(keep & maybe[owner]).tolist():
            free[choice] = not gains.earned(int(owner[choice]), choice)
        inner = maximal_end_components(graph, maybe, free)
    elif optimum == "max" and maybe.any():
        inner = maximal_end_components(graph, maybe)
    return best_values(model, maybe, known, optimum, proposal, watchman, gains=gains, keep=keep, merge=inner)


def mean_of_known(
    model: ExactModel, known: list[Rational | None], proposal: Floats | None, watchman: Watchman
) -> list[Number]:
    """In a chain, the mean of what is known where runs end, in each state where it is not known."""
    maybe = np.array([value is None for value in known], dtype=np.bool_)
    zero = rational(0)
    filled: list[Number] = [zero if value is None else value for value in known]
    return best_values(model, maybe, filled, None, proposal, watchman)
