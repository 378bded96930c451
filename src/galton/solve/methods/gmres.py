"""GMRES (Saad and Schultz 1986), restarted: the correction of least residual among 30 products with the matrix."""

from __future__ import annotations

import numpy as np

from ...device.arrays import on_host
from ...model.values import Floats
from ..equations import Segment
from ..krylov import Operator, norm, restarted
from ..requirements import Requirement
from .base import Job, Method

__all__ = ["METHOD"]

DIMENSION = 30  # of the space between restarts


def run(job: Job, segment: Segment) -> None:
    """Iterate until no residual is more than eps."""
    restarted(job, segment, _correct)


def _correct(operator: Operator, x: Floats, r: Floats, attempt: int) -> Floats:
    """Arnoldi's process, then least squares on the small Hessenberg matrix."""
    length = norm(r)
    dimension = min(DIMENSION, len(r))
    xp = operator.job.xp
    basis = xp.zeros((dimension + 1, len(r)))
    hessenberg = np.zeros((dimension + 1, dimension))
    basis[0] = r / length
    for k in range(dimension):
        w = operator(basis[k])
        for _ in range(2):  # once more takes away what rounding left in
            projections = xp.einsum("ij,j->i", basis[: k + 1], w)
            w -= xp.einsum("i,ij->j", projections, basis[: k + 1])
            hessenberg[: k + 1, k] += on_host(projections)
        hessenberg[k + 1, k] = norm(w)
        if not hessenberg[k + 1, k] > 1e-14 * norm(hessenberg[: k + 1, k]):
            dimension = k + 1  # the space holds the solution
            break
        basis[k + 1] = w / hessenberg[k + 1, k]
    wanted = np.zeros(dimension + 1)
    wanted[0] = length
    weights = np.linalg.lstsq(hessenberg[: dimension + 1, :dimension], wanted, rcond=None)[0]
    found: Floats = xp.einsum("i,ij->j", xp.asarray(weights), basis[:dimension])
    return found


METHOD = Method(
    "gmres",
    run,
    literature="Y. Saad and M. H. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986)",
    requires=frozenset({Requirement.ONE_SOLUTION, Requirement.CHAIN}),
    guarantees="may stagnate, and says so; a sweep would change nothing by more than eps",
    balances="with one state fixed",
)
