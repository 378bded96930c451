"""The power method: step by step of the chain itself, loops included; for a CTMC, of its uniformised chain.

The equations have their loops divided out. A step of the chain leaves a state with probability d and otherwise changes
nothing, so it goes d of the way to where Jacobi's sweep would go: the same method where there are no loops, and a
slower one that may stop far too early where loops are likely.
"""

from __future__ import annotations

import numpy as np

from ...backend.protocol import Span, Stop
from ..equations import Segment
from ..requirements import Requirement
from . import jacobi
from .base import Job, Method

__all__ = ["METHOD"]

SHORTER = 0.99  # than the fastest state stays, as in PRISM: it may stay for a step, so that there is no period


def run(job: Job, segment: Segment) -> None:
    """Step until no unknown changes by more than eps."""
    part = slice(segment.first, segment.last)
    scale = job.equations.scale
    leaving = job.xp.ones(segment.last - segment.first) if scale is None else 1 / scale[part]
    if job.equations.origin.model.has_rates:
        leaving *= SHORTER / leaving.max()
    if (leaving == 1).all():
        jacobi.run(job, segment)
        return
    x = job.x[part]  # a view

    def step(span: Span, stop: Stop) -> tuple[int, float]:
        change = np.inf
        for done in range(1, stop.sweeps + 1):
            moved = leaving * job.residual(segment)
            x[:] += moved
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                change = float(abs(np.where(moved == 0, 0.0, moved / x) if stop.relative else moved).max())
            if change <= stop.tolerance:
                return done, change
        return stop.sweeps, change

    job.repeat(segment, step, job.settings.eps)


METHOD = Method(
    "power",
    run,
    literature="W. J. Stewart, Introduction to the Numerical Solution of Markov Chains (1994)",
    requires=frozenset({Requirement.ONE_SOLUTION, Requirement.CHAIN}),
    guarantees="converges; stops when steps change little, which is early where loops are likely",
    balances="from any start",
)
