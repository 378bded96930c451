"""Topological solving (Dai, Mausam, Weld and Goldsmith 2011): component by component, successors first.

Each is swept as often as it needs and no more, and what has no cycle once. Any other method does the work inside:
``topological:gauss-seidel``; value iteration if none is named.
"""

from __future__ import annotations

from ...backend.protocol import Stop
from ..equations import Equations, Segment
from ..settings import Settings
from ..solution import Solution
from .method import Job, Method

__all__ = ["solve"]

LITERATURE = "P. Dai, Mausam, D. S. Weld and J. Goldsmith, Topological Value Iteration (2011)"


def solve(equations: Equations, settings: Settings, inner: Method) -> Solution:
    """Solve segment by segment with another method."""
    job = Job(equations, settings, inner, f"topological:{inner.name}")
    cyclic = max(sum(not segment.acyclic for segment in equations.segments), 1)
    solved = 0
    for segment in equations.segments:
        if segment.acyclic:
            _once(job, segment)
            continue
        solved += 1
        # The width of bounds is handed on, so each component gets a share of what is allowed in the end.
        job.allowed = settings.eps * solved / cyclic
        job.run(segment)
    acyclic = sum(segment.acyclic for segment in equations.segments)
    job.detail = f"{len(equations.segments):,} segments, {acyclic:,} of them without a cycle"
    return job.solution()


def _once(job: Job, segment: Segment) -> None:
    span = segment.span(threads=1)
    part = span.part
    if job.method.proves:
        job.system.propagate(job.lower, job.upper, span, job.equations.slack)
        job.x[part] = (job.lower[part] + job.upper[part]) / 2
    else:
        job.system.gauss_seidel(job.x, job.copy, None, span, Stop(1))
    job.spend(1, 0.0)
