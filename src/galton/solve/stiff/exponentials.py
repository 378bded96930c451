"""Exponentials of many small matrices at once: Padé's approximation [13/13] with scaling and squaring (Higham 2005).

SciPy has them one by one, and takes as long to load as a small question to be answered. Guarantees: nothing; who
proposes with them proves afterwards.
"""

from __future__ import annotations

import math

import numpy as np

from ...model.values import Floats

__all__ = ["exponentials"]

DEGREE = 13
LARGEST = 5.371920351148152  # norm up to which the approximation is as good as doubles (Higham 2005, table 2.3)
# (26 - k)! 13! / (26! k! (13 - k)!), times 26!/13!
COEFFICIENTS = [
    float(math.factorial(2 * DEGREE - k) // (math.factorial(k) * math.factorial(DEGREE - k))) for k in range(DEGREE + 1)
]


def exponentials(matrices: Floats) -> Floats:
    """e to the power of each of ``(count, n, n)`` matrices; what is no number stays none.

    >>> exponentials(np.array([[[0.0, 1.0], [-1.0, 0.0]]])).round(4).tolist()
    [[[0.5403, 0.8415], [-0.8415, 0.5403]]]
    """
    with np.errstate(all="ignore"):
        norm = float(np.abs(matrices).sum(axis=1).max(initial=0.0))
        if not math.isfinite(norm):
            return np.full_like(matrices, np.nan)
        squarings = max(0, math.ceil(math.log2(norm / LARGEST))) if norm > 0 else 0
        a = matrices / 2.0**squarings
        square = a @ a
        even = odd = np.zeros_like(a)
        one = np.eye(a.shape[-1])
        for k in range(DEGREE - 1, -1, -2):  # Horner's rule, in the square
            even = even @ square + COEFFICIENTS[k] * one
            odd = odd @ square + COEFFICIENTS[k + 1] * one
        odd = a @ odd
        try:
            found: Floats = np.linalg.solve(even - odd, even + odd).astype(np.float64, copy=False)
        except np.linalg.LinAlgError:
            return np.full_like(matrices, np.nan)
        for _ in range(squarings):
            found = found @ found
        return found
