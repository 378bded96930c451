"""Quotients that give the dividend back when they are multiplied.

Formats that keep the rates of a CTMC as exit rates and probabilities lose a last digit here and there. Of the doubles
next to a quotient there is often one whose product with the divisor is rounded to the dividend; that one is taken.
"""

from __future__ import annotations

import numpy as np

from ..model.values import Floats

__all__ = ["quotients"]


def quotients(dividends: Floats, divisors: Floats) -> Floats:
    """``dividends / divisors``, to the double nearby that gives the dividend back, where there is one.

    >>> pairs = np.array([1.1, 0.3]), np.array([4.9, 4.9])
    >>> (quotients(*pairs) * pairs[1]).tolist()
    [1.1, 0.3]
    """
    found = dividends / divisors
    for direction in (np.inf, -np.inf):
        off = np.flatnonzero(found * divisors != dividends)
        if not len(off):
            break
        near = np.nextafter(found[off], direction)
        right = near * divisors[off] == dividends[off]
        found[off[right]] = near[right]
    return found
