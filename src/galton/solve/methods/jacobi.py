"""Jacobi's method (1845): every unknown from the values before the sweep."""

from __future__ import annotations

from ...backend.protocol import Span, Stop
from ..equations import Segment
from .method import UNIQUE, Job, Method

__all__ = ["METHOD"]


def run(job: Job, segment: Segment, omega: float = 1.0) -> None:
    """Sweep until no unknown changes by more than eps."""

    def sweep(span: Span, stop: Stop) -> tuple[int, float]:
        return job.system.jacobi(job.x, job.copy, None, span, stop, omega=omega)

    job.repeat(segment, sweep, job.settings.eps)


METHOD = Method(
    "jacobi",
    run,
    literature="C. G. J. Jacobi (1845)",
    requires=UNIQUE,
    guarantees="converges; stops when sweeps change little, which may be far from the solution",
    chains_only=True,
)
