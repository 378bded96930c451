"""Equations in several parts, as on several devices: every primitive means what it means on one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from systems import FORMATS, random_pair

# The tests of one device, with the fixture below.
from test_cuda_system import (  # noqa: F401
    OPTIMA,
    Case,
    matrix_of,
    start,
    test_bicgstab,
    test_free_rows,
    test_improve,
    test_looks,
    test_proofs,
    test_propagated_bounds_are_bounds,
    test_sweeps_in_place_solve,
    test_weights,
)

from galton.backend.protocol import Span, Stop


@pytest.fixture(
    params=[(n, f, o) for n in (1, 3) for f in FORMATS for o in OPTIMA], ids=lambda p: f"{p[0]} {p[1]} {p[2]}"
)
def case(request: pytest.FixtureRequest, xp: Any) -> Case:
    from galton.backend.cuda.partition import PartitionedSystem

    parts, values, optimum = request.param
    random = np.random.default_rng(list(FORMATS).index(values) * 3 + OPTIMA[optimum] + 1)
    pair = random_pair(
        random, optimum=OPTIMA[optimum], values=values, wide=optimum != "chain", scaled=values != "1 byte"
    )
    reference = pair.reference
    scale = None if reference.scale is None else xp.asarray(reference.scale)
    rest = (scale, xp.asarray(reference.constant), reference.optimum, [0] * parts)
    return Case(pair, PartitionedSystem(matrix_of(pair, xp), *rest, compact=values != "plain"), xp)


@pytest.mark.parametrize("sweeps", [1, 4, 7])
def test_jacobi(case: Case, sweeps: int) -> None:
    """The same numbers as in one part: nobody sees what was not there before the sweep."""
    for chosen in (None, case.pair.strategy(np.random.default_rng(3))):
        x, expected = case.give(start(case)), start(case)
        span, stop = Span(0, case.pair.size), Stop(sweeps)
        found = case.system.jacobi(x, case.xp.empty_like(x), case.give(chosen), span, stop, omega=0.9)
        wanted = case.pair.reference.jacobi(expected, expected.copy(), chosen, span, stop, omega=0.9)
        np.testing.assert_allclose(case.to_host(x), expected, rtol=1e-11)
        assert found == (wanted[0], pytest.approx(wanted[1], rel=1e-8))


def test_constants_that_change(xp: Any) -> None:
    """Parts have copies of constants; those of equations that are not compact may be changed by who made them."""
    from galton.backend.cuda.partition import PartitionedSystem

    pair = random_pair(np.random.default_rng(8), optimum=1)
    reference, size = pair.reference, pair.size
    constant = xp.asarray(reference.constant.copy())
    system = PartitionedSystem(matrix_of(pair, xp), xp.asarray(reference.scale), constant, 1, [0, 0])
    x = xp.asarray(np.ones(size))
    before = system.defect(x, Span(0, size))
    constant *= 3
    assert system.defect(x, Span(0, size)) != before
