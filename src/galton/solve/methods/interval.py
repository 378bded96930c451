"""Interval iteration: sweeps from below and from above until the two meet (Haddad and Monmege 2014).

From above one begins with 1 for a probability. For a reward, an unknown is visited at most 1/d times on average, where
d is the least probability of never coming back, and the rewards of all visits together are a bound (Baier, Klein,
Leuschner, Parker and Wunderlich 2017). d comes from sweeps that compute the probability to end, from 0: the first value
above 0 that an unknown gets is that of paths on which the unknown itself still counts as 0.

Every sweep is rounded outward, so that bounds they are whenever one stops.
"""

from __future__ import annotations

import numpy as np

from ...backend.protocol import Stop
from ...model.errors import NumericError
from ...model.values import Floats
from ..equations import Segment
from ..requirements import Requirement
from ..support import support
from ..tolerance import Tolerance
from .base import TAKE_DEFAULT, Job, Method

__all__ = ["METHOD"]


def run(job: Job, segment: Segment) -> None:
    """Sweep until the bounds are near enough."""
    span = segment.span(job.threads)
    part = span.part
    job.lower[part] = 0.0
    job.upper[part] = _start(job, segment)
    lower, upper = job.lower[part], job.upper[part]  # views
    batch = 1
    while job.left:
        for _ in range(batch):
            job.equations.prover.propagate(job.lower, job.upper, span, job.equations.slack)
        gap = upper - lower
        allowed = Tolerance(job.allowed, job.settings.relative).width((upper + lower) / 2)
        job.sweeps += batch
        job.tell_bounds()
        if (gap <= allowed).all():
            job.x[part] = (lower + upper) / 2
            return
        batch = min(2 * batch, job.batch(segment), 100)
    raise job.not_converged(f"the bounds are still {float(gap.max()):.2g} apart")


def _start(job: Job, segment: Segment) -> Floats | float:
    """A bound from above to begin with."""
    equations = job.equations
    if equations.origin.reward is None:
        return 1.0
    before = float(job.upper[: segment.first].max()) if segment.first else 0.0
    rewards = _rewards(job, segment)
    paid = rewards > 0
    bound = before
    if paid.any():
        with np.errstate(divide="ignore", over="ignore"):
            earned = float((rewards[paid] / _never_back(job, segment)[paid]).sum())
        bound = before * (1 + 1e-12) + 2 * earned  # more than all rounding in d and in the sum can amount to
    if not np.isfinite(bound):
        raise NumericError(f"{job.name} finds no finite bound to begin with; {TAKE_DEFAULT}")
    # Bounds on what is 0 would approach it for ever, and never meet.
    return np.where(support(job.equations.prover, segment.span(job.threads), job.upper, None), bound, 0.0)


def _rewards(job: Job, segment: Segment) -> Floats:
    """What a visit of an unknown brings at most; for a minimum, by the strategy that makes progress."""
    equations, part, rows = job.equations, slice(segment.first, segment.last), job.equations.rows_of(segment)
    if equations.groups is None:
        return equations.constant[rows]
    if equations.optimum == "min":
        return equations.constant[equations.progress[part]]
    # The values of rows of zeros are their constants, and the best of them what a visit brings.
    nothing = job.xp.zeros(equations.size)
    most: Floats = nothing.copy()
    system = equations.system_with(equations.constant, "max")
    system.jacobi(most, nothing, None, segment.span(job.threads), Stop(1))
    return most[part]


def _never_back(job: Job, segment: Segment) -> Floats:
    """A probability of each unknown, or less, with which it is never met again after a visit."""
    equations, span = job.equations, segment.span(job.threads)
    part = span.part
    chosen = equations.progress if equations.groups is not None and equations.optimum == "min" else None
    ending = equations.system_with(equations.exits, None if equations.groups is None else "min")
    reached = job.xp.ones(equations.size)  # earlier unknowns are as good as the end
    reached[part] = 0.0
    copy = np.empty_like(reached)
    found: Floats = job.xp.zeros(segment.last - segment.first)
    while not found.all():
        ending.gauss_seidel(reached, copy, chosen, span, Stop(1))
        job.sweeps += 1
        fresh = (found == 0) & (reached[part] > 0)
        if not fresh.any():
            break
        found[fresh] = reached[part][fresh]
    return found


METHOD = Method(
    "interval",
    run,
    literature="S. Haddad and B. Monmege (2014); C. Baier et al. (CAV 2017)",
    requires=frozenset({Requirement.ONE_SOLUTION, Requirement.NOT_NEGATIVE}),
    guarantees="proved bounds, rounding included, at most 2·eps apart",
    proves=True,
    in_formats=False,
)
