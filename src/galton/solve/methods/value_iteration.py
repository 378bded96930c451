"""Value iteration (Bellman 1957): the best of every unknown's rows, from the values before the sweep."""

from __future__ import annotations

from ..requirements import Requirement
from . import jacobi
from .base import Method

__all__ = ["METHOD"]

METHOD = Method(
    "value-iteration",
    jacobi.run,
    literature="R. Bellman, A Markovian Decision Process (1957)",
    requires=frozenset({Requirement.ONE_SOLUTION}),
    guarantees="converges from below; stops when sweeps change little, which may be far from the solution",
)
