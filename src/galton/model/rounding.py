"""What the rounding of doubles may do: the constants that bounds on errors are made of."""

from __future__ import annotations

__all__ = ["FAINT", "FAINTEST", "LEAST", "SPACING", "UNIT"]

UNIT = 2.0**-53  # the relative error of one operation, rounded to nearest
SPACING = 2.0**-52  # how far the double after 1 is from it: the relative error of one operation, rounded either way
LEAST = 2.0**-1022  # the least number with all its digits
FAINTEST = 2.0**-1074  # the least number; what the rounding of a number below LEAST may lose
FAINT = 2.0**-960  # a product with a number below this may be lost, or have lost its digits
