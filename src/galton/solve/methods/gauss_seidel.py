"""Gauss–Seidel (Seidel 1874): every unknown from the newest values there are. With choices, value iteration in place.

Unknowns are numbered successors first, so that a sweep forward hands values on as far as cycles allow. With several
threads each sweeps through a part of its own and sees the other parts as they were before the sweep.
"""

from __future__ import annotations

from ...backend.protocol import Span, Stop
from ..equations import Segment
from ..requirements import Requirement
from .base import Job, Method

__all__ = ["METHOD", "sweep_until"]


def sweep_until(job: Job, segment: Segment, tolerance: float, *, forward: bool = True, omega: float = 1.0) -> None:
    """Sweep until no unknown changes by more than the tolerance."""

    def sweep(span: Span, stop: Stop) -> tuple[int, float]:
        return job.system.gauss_seidel(job.x, job.copy, None, span, stop, forward=forward, omega=omega)

    job.repeat(segment, sweep, tolerance)


def run(job: Job, segment: Segment) -> None:
    """Sweep forward until no unknown changes by more than eps."""
    sweep_until(job, segment, job.settings.eps)


METHOD = Method(
    "gauss-seidel",
    run,
    literature="L. Seidel (1874)",
    requires=frozenset({Requirement.ONE_SOLUTION}),
    guarantees="converges, in the long run no slower than jacobi; stops as jacobi does",
    balances="from any start",
    in_single=True,
)
