"""Jacobi's method (1845): every unknown from the values before the sweep."""

from __future__ import annotations

import numpy as np

from ...backend.protocol import Span, Stop
from ..equations import Segment
from ..requirements import Requirement
from .base import Job, Method

__all__ = ["METHOD"]


BATCH = 64  # sweeps between two copies of x


def run(job: Job, segment: Segment, omega: float = 1.0) -> None:
    """Sweep until no unknown changes by more than eps."""

    def sweep(span: Span, stop: Stop) -> tuple[int, float]:
        return job.system.jacobi(job.x, job.copy, None, span, stop, omega=omega)

    def counted(span: Span, stop: Stop) -> tuple[int, float]:
        """A device looks only now and then how far it is; the last sweeps are made again, one by one."""
        before = job.x.copy()
        done, change = sweep(span, stop._replace(sweeps=min(stop.sweeps, BATCH)))
        if change > stop.tolerance:
            return done, change
        job.x[:] = before
        for made in range(1, done + 1):
            _, change = sweep(span, stop._replace(sweeps=1))
            if change <= stop.tolerance:
                return made, change
        return done, change

    job.repeat(segment, sweep if job.xp is np else counted, job.settings.eps)


METHOD = Method(
    "jacobi",
    run,
    literature="C. G. J. Jacobi (1845)",
    requires=frozenset({Requirement.ONE_SOLUTION, Requirement.CHAIN}),
    guarantees="converges; stops when sweeps change little, which may be far from the solution",
    balances="from any start",
    in_single=True,
)
