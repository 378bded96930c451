"""Successive over-relaxation: ω of the way from the old value to Gauss–Seidel's new one (Young 1954, Frankel 1950)."""

from __future__ import annotations

from ..equations import Segment
from ..requirements import Requirement
from .base import Job, Method
from .gauss_seidel import sweep_until
from .jor import relaxation

__all__ = ["METHOD"]


def run(job: Job, segment: Segment) -> None:
    """Sweep forward until no unknown changes by more than eps."""
    sweep_until(job, segment, job.settings.eps, omega=relaxation(job.settings))


METHOD = Method(
    "sor",
    run,
    literature="D. M. Young (1954); W. Kahan (1958) for ω >= 2",
    requires=frozenset({Requirement.ONE_SOLUTION, Requirement.CHAIN}),
    guarantees="converges for --omega up to 1 (0.9 if not given), may diverge above, will from 2 on; stops as jacobi",
    balances="from any start",
    in_single=True,
)
