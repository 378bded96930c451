"""Jacobi over-relaxation: ω of the way from the old value to Jacobi's new one (Young 1971).

With ω < 1 it is under-relaxed: slower where Jacobi does well, calmer where its values swing. Without a word it is 0.9,
as in PRISM.
"""

from __future__ import annotations

from ...lang.source import GaltonError
from ..equations import Segment
from ..requirements import Requirement
from ..settings import Settings
from . import jacobi
from .base import Job, Method

__all__ = ["METHOD", "relaxation"]

OMEGA = 0.9


def relaxation(settings: Settings) -> float:
    """The ω of the settings."""
    omega = OMEGA if settings.omega is None else settings.omega
    if not omega > 0:
        raise GaltonError(f"--omega must be more than 0, and this is {omega:g}")
    return omega


def run(job: Job, segment: Segment) -> None:
    """Sweep until no unknown changes by more than eps."""
    jacobi.run(job, segment, relaxation(job.settings))


METHOD = Method(
    "jor",
    run,
    literature="D. M. Young, Iterative Solution of Large Linear Systems (1971)",
    requires=frozenset({Requirement.ONE_SOLUTION, Requirement.CHAIN}),
    guarantees="converges for --omega up to 1 (0.9 if not given), may diverge above; stops as jacobi does",
    balances="from any start",
    in_single=True,
)
