"""BiCGStab (van der Vorst 1992) without a preconditioner; started anew when the recurrence breaks down."""

from __future__ import annotations

import numpy as np

from ...model.values import Floats
from ..equations import Segment
from ..krylov import Operator, dot, norm, restarted
from .base import UNIQUE, Job, Method

__all__ = ["METHOD"]

ITERATIONS = 1000  # before a restart: by then the recurrence has drifted from the true residual
GAIN = 1e-9  # likewise, after so much has been gained


def run(job: Job, segment: Segment) -> None:
    """Iterate until no residual is more than eps."""
    restarted(job, segment, _correct)


def _correct(operator: Operator, x: Floats, r: Floats, attempt: int) -> Floats:
    d, best = np.zeros_like(r), np.zeros_like(r)
    start = least = norm(r)
    # The shadow of the residual may be anything that is not orthogonal to it: another one where the first did not help.
    random = np.random.default_rng(attempt)
    shadow = r.copy() if attempt == 0 else operator.job.xp.asarray(random.standard_normal(len(r)))
    p, v = np.zeros_like(r), np.zeros_like(r)
    rho, alpha, omega = 1.0, 1.0, 1.0
    for _ in range(ITERATIONS):
        rho_before, rho = rho, dot(shadow, r)
        if rho == 0 or omega == 0 or not operator.job.left:
            break
        p = r + rho / rho_before * (alpha / omega) * (p - omega * v)
        v = operator(p)
        along = dot(shadow, v)
        if along == 0:
            break
        alpha = rho / along
        s = r - alpha * v
        t = operator(s)
        square = dot(t, t)
        omega = dot(t, s) / square if square else 0.0
        d = d + alpha * p + omega * s
        r = s - omega * t
        size = norm(r)
        if not np.isfinite(size):
            break
        if size < least:
            least, best = size, d
        if operator.job.is_small(r, x + d):
            return d
        if size <= GAIN * start:
            break
    return best


METHOD = Method(
    "bicgstab",
    run,
    literature="H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992)",
    requires=UNIQUE,
    guarantees="may fail to converge, and says so; a sweep would change nothing by more than eps",
    chains_only=True,
)
