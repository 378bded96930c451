"""Optimistic value iteration (Hartmanns and Kaminski 2020): iterate, guess bounds around the result, prove the guess.

A guess u with F(u) <= u is above the solution, l with l <= F(l) below. To be proved with rounding a guess needs room in
every unknown, which (1 + ε)x has only next to where the unknowns are left. The mean of u, F(u), …, F^(k-1)(u) has more:
for a chain it is above its own image by (u - F^k(u)) / k. So guesses are swept over for a while, and the mean is tried;
where that does not help, the values were not good enough yet.
"""

from __future__ import annotations

import numpy as np

from ...backend.protocol import Span, Stop
from ...model.values import Floats
from ..equations import Segment
from ..requirements import Requirement
from .base import Job, Method
from .gauss_seidel import sweep_until

__all__ = ["METHOD"]

FINER = 8.0  # by how much smaller changes must be before the next guess


def run(job: Job, segment: Segment) -> None:
    """Iterate from below and guess, more and more precisely."""
    part = slice(segment.first, segment.last)
    tolerance, iterated = job.allowed, 0
    while True:
        before = job.sweeps
        sweep_until(job, segment, tolerance)
        iterated += job.sweeps - before
        if _prove(job, segment, patience=max(iterated // 16, 64)):
            job.tell_bounds()
            job.x[part] = (job.lower[part] + job.upper[part]) / 2
            return
        if tolerance == 0 or not job.left:
            raise job.not_converged("no bounds could be proved")
        tolerance = tolerance / FINER if tolerance > 1e-16 else 0.0


def _prove(job: Job, segment: Segment, patience: int) -> bool:
    """Guess, and try to prove; ``patience`` limits the sweeps."""
    span = segment.span(job.threads)
    part = span.part
    x, allowed = job.x[part], job.allowed * (1 - 1e-6)
    margin = allowed * (x if job.settings.relative else x > 0)
    job.lower[part], job.upper[part] = job.xp.maximum(x - margin, 0.0), x + margin
    low, high = _Mean(job, span, job.lower), _Mean(job, span, job.upper)
    while low.count < patience and job.left:
        for mean in (low, high):
            mean.extend(max(mean.count, 1))
        prover, slack = job.equations.prover, job.equations.slack
        job.spend(2, job.allowed)
        if prover.is_above(job.upper, span, slack) and prover.is_below(job.lower, span, slack):
            return True
    return False


class _Mean:
    """A bound that is replaced by the mean of what sweeps make of it."""

    def __init__(self, job: Job, span: Span, bound: Floats) -> None:
        self._job, self._span, self._bound = job, span, bound
        self._swept, self._copy = bound.copy(), np.empty_like(bound)
        self._sum = job.xp.zeros(span.last - span.first)
        self.count = 0

    def extend(self, sweeps: int) -> None:
        """Sweep on, and write the mean."""
        part = self._span.part
        for _ in range(sweeps):
            self._sum += self._swept[part]
            self._job.system.jacobi(self._swept, self._copy, None, self._span, Stop(1))
        self.count += sweeps
        self._job.sweeps += sweeps
        self._bound[part] = self._sum / self.count


METHOD = Method(
    "optimistic",
    run,
    literature="A. Hartmanns and B. L. Kaminski, Optimistic Value Iteration (CAV 2020)",
    requires=frozenset({Requirement.ONE_SOLUTION, Requirement.NOT_NEGATIVE}),
    guarantees="proved bounds, rounding included, at most 2·eps apart",
    proves=True,
)
