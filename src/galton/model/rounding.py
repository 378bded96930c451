"""What the rounding of doubles may do: the constants that bounds on errors are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["DOUBLE", "FAINT", "FAINTEST", "LEAST", "SINGLE", "SPACING", "UNIT", "Precision"]

UNIT = 2.0**-53  # the relative error of one operation, rounded to nearest
SPACING = 2.0**-52  # how far the double after 1 is from it: the relative error of one operation, rounded either way
LEAST = 2.0**-1022  # the least number with all its digits
FAINTEST = 2.0**-1074  # the least number; what the rounding of a number below LEAST may lose
FAINT = 2.0**-960  # a product with a number below this may be lost, or have lost its digits


class Precision(NamedTuple):
    """What vectors are kept in; sums and products are of doubles either way.

    Attributes
    ----------
    real
        The type of their numbers.
    storing
        The relative error of storing a number, beyond that of the operations before.
    least
        The least number with all its digits.
    places
        After the point, that all numbers up to 1 have room for.
    height
        The exponent that vectors are raised to, so that faint numbers are not lost.
    """

    real: type[np.floating]
    storing: float
    least: float
    places: int
    height: int


DOUBLE = Precision(np.float64, 0.0, LEAST, 52, 1000)
SINGLE = Precision(np.float32, 2.0**-24, 2.0**-126, 23, 100)
