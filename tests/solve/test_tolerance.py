"""When bounds are close enough."""

from __future__ import annotations

import numpy as np

from galton.solve.settings import Settings
from galton.solve.tolerance import TINY, Tolerance


def test_relative_to_the_larger_bound() -> None:
    tolerance = Tolerance(1e-3, relative=True)
    assert tolerance.accepts(0.998, 1.0)
    assert not tolerance.accepts(0.997, 1.0)
    assert tolerance.excess(0.98, 1.0) > 9


def test_absolute() -> None:
    assert Tolerance(1e-3, relative=False).accepts(1e-9, 0.002)
    assert not Tolerance(1e-3, relative=True).accepts(1e-9, 0.002)


def test_bounds_at_the_end_of_the_doubles_are_close_enough() -> None:
    assert Tolerance(1e-6, relative=True).accepts(0.0, TINY)
    assert Tolerance(1e-6, relative=True).accepts(-TINY, TINY)
    assert not Tolerance(1e-6, relative=True).accepts(0.0, 2 * TINY)


def test_arrays_and_numbers_agree() -> None:
    tolerance = Settings(eps=1e-4).tolerance
    lower, upper = np.array([0.0, 1.0, 5.0]), np.array([0.0, 1.1, 5.0001])
    assert tolerance.excesses(lower, upper).tolist() == [
        tolerance.excess(*pair) for pair in zip(lower, upper, strict=True)
    ]
