"""Sparse LU factors (SuperLU: Li and Demmel 1999), with iterative refinement; refused where digits cannot be trusted.

With |F(x) - x| <= ρx, the error is at most ρw where w = x + Aw, which the factors give too: w/x is the number of steps
that remain. It is no proof, since w is rounded like x, but a system too badly conditioned for doubles shows by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...model.errors import NumericError
from ...model.values import Floats
from ..equations import Int32s, Mask, Segment
from ..requirements import Requirement
from ..support import support
from .base import TAKE_DEFAULT, Job, Method

if TYPE_CHECKING:
    from scipy.sparse.linalg import SuperLU

__all__ = ["METHOD", "evaluate"]


def run(job: Job, segment: Segment) -> None:
    """Factor and solve."""
    evaluate(job, segment, np.arange(segment.first, segment.last, dtype=np.int32))


def evaluate(job: Job, segment: Segment, rows: Int32s) -> None:
    """Solve for a range of unknowns of which each takes the given row."""
    part = slice(segment.first, segment.last)
    x = job.x[part]  # a view
    x[:] = 0.0
    try:
        factors = _factors(job, segment, rows)
    except (RuntimeError, MemoryError) as error:  # singular to working precision, or too much fill-in
        raise NumericError(f"{job.name} failed, {str(error) or 'for want of memory'}; {TAKE_DEFAULT}") from error
    residual = _residual(job, segment, rows)  # the right-hand side, as x is 0
    zero = ~_support(job, segment, rows)
    for _ in range(3):
        x += factors.solve(residual)
        x[zero] = 0.0  # and not some rounding
        residual = _residual(job, segment, rows)
    _refuse_if_doubtful(job, residual, x, factors.solve(x.copy()))


def _factors(job: Job, segment: Segment, rows: Int32s) -> SuperLU:
    """Those of I - A."""
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.linalg import splu

    equations, first, size = job.equations, segment.first, segment.last - segment.first
    lengths = equations.starts[rows + 1] - equations.starts[rows]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.arange(starts[-1]) + np.repeat(equations.starts[rows] - starts[:-1], lengths)
    values = equations.values[entries]
    if equations.scale is not None:
        values = values * np.repeat(equations.scale[rows], lengths)
    columns = equations.columns[entries] - first
    inside = columns >= 0  # earlier unknowns are known
    owner = np.repeat(np.arange(size), lengths)
    matrix = csr_array((values[inside], (owner[inside], columns[inside])), shape=(size, size))
    job.sweeps += 1
    return splu((eye_array(size) - matrix).tocsc())


def _residual(job: Job, segment: Segment, rows: Int32s) -> Floats:
    """F(x) - x for the given rows."""
    mine = job.equations.rows_of(segment)
    values = np.empty(mine.stop - mine.start)
    job.system.row_values(job.x, values, segment.span(job.threads))
    return np.asarray(values[rows - mine.start] - job.x[segment.first : segment.last])


def _support(job: Job, segment: Segment, rows: Int32s) -> Mask:
    """The unknowns that are not 0."""
    chosen = job.equations.progress.copy()
    chosen[segment.first : segment.last] = rows
    job.sweeps += 1
    return support(job.system, segment.span(job.threads), job.x, chosen)


def _refuse_if_doubtful(job: Job, residual: Floats, x: Floats, w: Floats) -> None:
    sought = x != 0
    with np.errstate(all="ignore"):
        steps = float(np.max(np.abs(w[sought] / x[sought]), initial=1.0))
        rounding = job.equations.slack + float(np.max(np.abs(residual[sought] / x[sought]), initial=0.0))
    allowed = job.settings.eps / (1.0 if job.settings.relative else max(float(np.abs(x).max(initial=0.0)), 1.0))
    fine = np.isfinite(x).all() and (x >= 0).all() and (w >= x * (1 - 1e-6))[sought].all()
    if not fine or not steps * rounding <= allowed:
        raise NumericError(
            f"{job.name} cannot be trusted here: about {steps:.1g} steps remain until this is decided, more than "
            f"doubles have digits for; {TAKE_DEFAULT}"
        )


METHOD = Method(
    "direct",
    run,
    literature="X. S. Li and J. W. Demmel, SuperLU (1999); SciPy's splu",
    requires=frozenset({Requirement.ONE_SOLUTION, Requirement.CHAIN, Requirement.ON_HOST}),
    guarantees="within eps as far as a second solve can tell, else refused",
    balances="with one state fixed",
)
