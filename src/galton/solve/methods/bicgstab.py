"""BiCGStab (van der Vorst 1992) without a preconditioner; started anew when the recurrence breaks down."""

from __future__ import annotations

import numpy as np

from ...backend.bicgstab import Iteration
from ...model.values import Floats
from ..equations import Segment
from ..krylov import Operator, norm, restarted
from ..requirements import Requirement
from .base import Job, Method

__all__ = ["METHOD"]

ITERATIONS = 1000  # before a restart: by then the recurrence has drifted from the true residual
GAIN = 1e-9  # likewise, after so much has been gained
ON_DEVICE = 8  # iterations between two looks: scalars stay there meanwhile, and nobody waits for them


def run(job: Job, segment: Segment) -> None:
    """Iterate until no residual is more than eps."""
    restarted(job, segment, _correct)


def _correct(operator: Operator, x: Floats, r: Floats, attempt: int) -> Floats:
    # The shadow of the residual may be anything that is not orthogonal to it: another one where the first did not help.
    random = np.random.default_rng(attempt)
    shadow = None if attempt == 0 else operator.job.xp.asarray(random.standard_normal(len(r)))
    iteration = Iteration(np.zeros_like(r), r.copy(), operator.write, shadow=shadow)
    best = np.zeros_like(r)
    start = least = size = norm(r)
    together = 1 if operator.job.xp is np else ON_DEVICE
    for _ in range(ITERATIONS // together):
        if not operator.job.left:
            break
        before = size
        iteration.run(together)
        size = norm(iteration.r)
        if not np.isfinite(size) or size == before:  # stuck
            break
        if size < least:
            least, best[:] = size, iteration.x
        if operator.job.is_small(iteration.r, x + iteration.x):
            return iteration.x
        if size <= GAIN * start:
            break
    return best


METHOD = Method(
    "bicgstab",
    run,
    literature="H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992)",
    requires=frozenset({Requirement.ONE_SOLUTION, Requirement.CHAIN}),
    guarantees="may fail to converge, and says so; a sweep would change nothing by more than eps",
    balances="with one state fixed",
)
