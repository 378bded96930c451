"""A small space of vectors that grows: Arnoldi's method with a matrix that is shifted and inverted.

v₁ has length 1, x_j solves (σ - Q) x_j = v_j, and v_(j+1) is what is left of x_j when its parts along v₁ … v_j are
taken away, of length 1. So x_j = Σ h_ij v_i.
"""

from __future__ import annotations

import math

import numpy as np

from ... import _core
from ...backend.bicgstab import dot
from ...model.values import Floats
from .resolvent import Resolvent, Resolvents

__all__ = ["Space"]

NOTHING = 1e-14  # of a vector: what is left of one that adds nothing


class Space:
    """Vectors from a first one on; what was given up for too much work goes on with those that are there.

    Attributes
    ----------
    v, x, h
        As above; of ``v`` and ``x`` only the first ones are there.
    size
        How many: so many x, and one v more, unless they are all.
    """

    def __init__(self, resolvents: Resolvents, resolvent: Resolvent, first: Floats, most: int) -> None:
        n = len(first)
        self._resolvents, self._resolvent = resolvents, resolvent
        self.v, self.x = np.empty((most + 1, n)), np.empty((most, n), dtype=resolvents.real)
        self.h = np.zeros((most + 1, most))
        self.v[0] = first / math.sqrt(dot(first, first))
        self.size = 0

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing to add."""
        return self.size > 0 and not self.h[self.size, self.size - 1]

    @property
    def largest(self) -> float:
        """The largest number in the last v."""
        return float(np.abs(self.v[self.size]).max())

    def add(self, allowed: float) -> None:
        """Solve the next equation, with residuals of at most so much."""
        m = self.size + 1
        self.x[m - 1] = self._resolvent.solution(self.v[m - 1], allowed)
        rest, parts = self.x[m - 1].astype(np.float64), np.empty(m)
        self._resolvents.spend(5 * m * len(rest))
        left = _core.orthogonalise(self.v[:m], rest, parts, self._resolvents.chain.threads)
        self.h[:m, m - 1] = parts
        if left > NOTHING * np.linalg.norm(parts):
            self.h[m, m - 1], self.v[m] = left, rest / left
        self.size = m
