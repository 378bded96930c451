"""Gauss–Seidel from the last unknown to the first: quick where values come from later unknowns, and slow otherwise."""

from __future__ import annotations

from ..equations import Segment
from ..requirements import Requirement
from .base import Job, Method
from .gauss_seidel import sweep_until

__all__ = ["METHOD"]


def run(job: Job, segment: Segment) -> None:
    """Sweep backward until no unknown changes by more than eps."""
    sweep_until(job, segment, job.settings.eps, forward=False)


METHOD = Method(
    "backward-gauss-seidel",
    run,
    literature="L. Seidel (1874)",
    requires=frozenset({Requirement.ONE_SOLUTION, Requirement.CHAIN}),
    guarantees="converges; stops as jacobi does",
    balances="from any start",
    in_single=True,
)
