"""``P [ through U goal ]`` without a bound: graph analysis for 0 and 1, equations for the rest."""

from __future__ import annotations

import time

import numpy as np

from ...device.arrays import how_many
from ...graph import maximal_end_components, zero_and_one
from ...model.sparse import Mask, Model
from ...reduce.unknowns import open_equations
from ...solve import solve
from ...solve.equations import Optimum
from ...solve.settings import Settings
from ..quantity import Quantity, Work
from ..strategies.graph_choices import zero_one_choices

__all__ = ["until"]


def until(
    model: Model, through: Mask, goal: Mask, optimum: Optimum | None, settings: Settings, *, negated: bool = False
) -> Quantity:
    """Bound ``P [ through U goal ]`` in every state; with ``negated``, the probability that this does not happen.

    The negation is not computed as a difference from 1, so that it has all its digits where it is small. The optimum is
    that of the until: strategies that make it most likely make its negation least likely.
    """
    start = time.perf_counter()
    if not model.has_choices:
        optimum = None
    no, yes = zero_and_one(model, through, goal, optimum)
    maybe = ~(no | yes)
    known = (no if negated else yes).astype(np.float64)
    # In an end component of open states a strategy could stay for ever; the maximum leaves it where it is best.
    inner = maximal_end_components(model, maybe) if optimum == "max" and how_many(maybe) else None
    count = int(maybe.sum())
    work = [
        Work(
            "graph analysis",
            f"{int(no.sum()):,} states with probability 0, {int(yes.sum()):,} with 1, {count:,} between",
            seconds=time.perf_counter() - start,
        )
    ]
    choices = zero_one_choices(model, through, goal, no, yes, optimum) if settings.strategy and optimum else None
    if not count:
        return Quantity(known, known, "graph analysis", tuple(work), choices)
    if negated and optimum:
        optimum = "min" if optimum == "max" else "max"
    unknowns = open_equations(model, maybe, known, settings, optimum=optimum, merge=inner)
    solution = solve(unknowns.equations, settings)
    # Without a proof, rounding may lead out of what a probability can be.
    for bound in (solution.lower, solution.upper):
        np.clip(bound, 0.0, 1.0, out=bound)
    lower, upper = (unknowns.lift(bound, known) for bound in (solution.lower, solution.upper))
    if choices is not None and solution.chosen is not None:
        choices = unknowns.lift_choices(solution.chosen, choices)
    work += [*unknowns.work, *solution.work]
    return Quantity(lower, upper, solution.method, tuple(work), choices, proved=solution.proved)
