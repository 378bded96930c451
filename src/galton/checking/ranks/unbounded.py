"""``P [ a U b ]``, ``R [ F a ]`` and ``R [ C ]`` across ranks: graph analysis, then equations."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ...backend.petsc.graph import Parts, RankGraph
from ...backend.petsc.model import RankModel
from ...model.errors import NumericError
from ...model.rounding import FAINT
from ...model.sparse import Mask
from ...model.values import Floats
from ...solve.equations import Optimum
from ...solve.ranks.equations import rank_equations
from ...solve.ranks.sound import solve
from ...solve.settings import Settings
from ..quantity import Quantity, Work

__all__ = ["reward_until", "solved", "surely", "total_reward", "until"]


def until(
    graph: RankGraph, through: Mask, goal: Mask, optimum: Optimum | None, settings: Settings, *, negated: bool = False
) -> Quantity:
    """Bound ``P [ through U goal ]``, or with ``negated`` that it does not happen (:mod:`..unbounded.until`)."""
    start, world = time.perf_counter(), graph.world
    no, yes = graph.zero_and_one(through, goal, optimum)
    maybe = ~(no | yes)
    known = (no if negated else yes).astype(np.float64)
    open_states = world.total(int(maybe.sum()))
    inner = graph.end_components(maybe) if optimum == "max" and open_states else None
    zero, one = world.total(int(no.sum())), world.total(int(yes.sum()))
    detail = f"{zero:,} states with probability 0, {one:,} with 1, {open_states:,} between"
    work = (Work("graph analysis", detail, seconds=time.perf_counter() - start),)
    if not open_states:
        return Quantity(known, known, "graph analysis", work)
    if negated and optimum:
        optimum = "min" if optimum == "max" else "max"
    found = solved(graph.model, maybe, known, settings, optimum=optimum, merge=inner, most=1.0)
    lower, upper = np.clip(found.lower, 0.0, 1.0), np.clip(found.upper, 0.0, 1.0)
    return replace(found, lower=lower, upper=upper, work=work + found.work)


def solved(
    model: RankModel,
    maybe: Mask,
    known: Floats,
    settings: Settings,
    *,
    optimum: Optimum | None = None,
    reward: Floats | None = None,
    keep: Mask | None = None,
    merge: Parts | None = None,
    most: float | None = None,
) -> Quantity:
    """Bounds on the values of some states, given those of the others."""
    _refuse_faint(model, known, reward)
    equations = rank_equations(
        model, maybe, known, optimum=optimum, reward=reward, keep=keep, merge=merge, threads=settings.n_threads
    )
    lower, upper, method, work = solve(equations, settings, most)
    return Quantity(equations.lift(lower), equations.lift(upper), method, work)


def _refuse_faint(model: RankModel, known: Floats, reward: Floats | None) -> None:
    """Numbers whose products doubles cannot hold are not proved here: slack is relative, and knows nothing of that."""
    world = model.world
    least = world.least(model.values.distinct.min(initial=1.0))
    for numbers in (known, reward):
        if numbers is not None:
            least = min(least, least * world.least(numbers[numbers > 0].min(initial=1.0)))
    if least < FAINT or world.greatest(model.values.distinct.max(initial=1.0)) > 1 / FAINT:
        raise NumericError("the model has numbers that are too small to be proved across ranks; ask on one machine")


def surely(graph: RankGraph, goal: Mask, *, some_strategy: bool) -> Mask:
    """The states from which the goal is reached with probability 1, whatever is done or if the right thing is."""
    everywhere = np.ones(graph.model.n_states, dtype=bool)
    optimum = None if not graph.model.has_choices else "max" if some_strategy else "min"
    return graph.zero_and_one(everywhere, goal, optimum)[1]


def reward_until(
    graph: RankGraph, rows: Floats, goal: Mask, finite: Mask, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """The reward until the goal in the states where it is finite, infinity elsewhere."""
    start, world, model = time.perf_counter(), graph.world, graph.model
    maybe = finite & ~goal
    known = np.where(finite, 0.0, np.inf)
    open_states = world.total(int(maybe.sum()))
    keep, inner = None, None
    if optimum == "min" and open_states:
        # Choices that might miss the goal cost infinitely much. Cycles that cost nothing are one state each.
        keep = graph.staying(finite)
        inner = graph.end_components(maybe, keep & (rows == 0))
    elif optimum == "max" and open_states:
        inner = graph.end_components(maybe)
    infinite = world.total(int((~finite).sum()))
    detail = f"{infinite:,} states with an infinite reward, {open_states:,} to be solved"
    work = (Work("graph analysis", detail, seconds=time.perf_counter() - start),)
    if not open_states:
        return Quantity(known, known, "graph analysis", work, infinite=~finite)
    found = solved(
        model,
        maybe,
        np.where(finite, known, 0.0),
        settings,
        optimum=optimum,
        reward=rows,
        keep=keep,
        merge=inner,
    )
    lower, upper = (np.where(finite, bound, np.inf) for bound in (found.lower, found.upper))
    return replace(found, lower=lower, upper=upper, work=work + found.work, infinite=~finite)


def total_reward(graph: RankGraph, rows: Floats, optimum: Optimum | None, settings: Settings) -> Quantity:
    """Bound ``R [ C ]``; see :func:`..unbounded.rewards.total_reward`."""
    model, n = graph.model, graph.model.n_states
    everywhere = np.ones(n, dtype=bool)
    if not model.has_choices:
        bottom = graph.bottom()[:n] >= 0
        finite = ~graph.reach_some(everywhere, bottom & (rows > 0))
        return reward_until(graph, rows, bottom & finite, finite, None, settings)
    if optimum == "min":
        free = graph.end_components(everywhere, rows == 0).root[:n] >= 0
        return reward_until(graph, rows, free, surely(graph, free, some_strategy=True), optimum, settings)
    ends = graph.end_components(everywhere)
    inside = ends.root[:n] >= 0
    paying = inside & graph.some_choice(ends.staying & (rows > 0))
    paying = graph.reach_some(inside, paying, ends.staying)  # all of their components
    finite = ~graph.reach_some(everywhere, paying)
    leaving = graph.reach_some(inside, inside & graph.some_choice(~ends.staying), ends.staying)
    return reward_until(graph, rows, inside & ~leaving & finite, finite, optimum, settings)
