"""Policy iteration (Howard 1960): solve for one strategy exactly, take better rows where there are any, and again.

It begins with a strategy that leaves the unknowns for certain, and improves to others that do. A chain has only one.
"""

from __future__ import annotations

import numpy as np

from ..equations import Segment
from .direct import evaluate
from .method import UNIQUE, Job, Method

__all__ = ["METHOD"]

IMPROVEMENT = 1e-12  # relative; a smaller one is rounding, and could make the iteration circle


def run(job: Job, segment: Segment) -> None:
    """Improve until no row is better."""
    equations, part = job.equations, slice(segment.first, segment.last)
    if equations.groups is None:
        evaluate(job, segment, np.arange(segment.first, segment.last, dtype=np.int32))
        return
    if job.chosen is None:
        job.chosen = equations.progress.copy()
    chosen = job.chosen[part]  # a view
    rows = equations.rows_of(segment)
    firsts = equations.groups[part] - rows.start
    owner = np.repeat(np.arange(len(firsts)), np.diff(equations.groups[segment.first : segment.last + 1]))
    values = np.empty(rows.stop - rows.start)
    best_of = np.minimum if equations.optimum == "min" else np.maximum
    strategies = 0
    while job.left:
        evaluate(job, segment, chosen)
        strategies += 1
        job.system.row_values(job.x, values, segment.span(job.threads))
        best = best_of.reduceat(values, firsts)
        better = np.abs(best - values[chosen - rows.start]) > IMPROVEMENT * np.abs(best)
        job.sweeps += 1
        job.settings.tell(method=job.name, strategies=strategies, improvements=int(better.sum()))
        if not better.any():
            return
        attaining = np.flatnonzero((values == best[owner]) & better[owner])[::-1]
        chosen[owner[attaining]] = attaining + rows.start  # of several, the first
    raise job.not_converged("there are still better strategies")


METHOD = Method(
    "policy-iteration",
    run,
    literature="R. A. Howard, Dynamic Programming and Markov Processes (1960)",
    requires=f"{UNIQUE}; memory for the factors of one strategy",
    guarantees="the best strategy, and its value within eps as far as a second solve can tell, else refused",
    on_device=False,
)
