"""Equations in several parts, as on several devices: every primitive means what it means on one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from played import played_device
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
    test_proofs,
    test_propagated_bounds_are_bounds,
    test_sweeps_in_place_solve,
    test_sweeps_in_single_precision,
    test_weights,
)

from galton.backend.protocol import Span, Stop

# How many parts of 60 unknowns, and where whole vectors and the rows are. Most of 70 parts would be empty.
SPLITS = [(3, "device"), (3, "host"), (70, "host")]


@pytest.fixture(scope="module", params=["played", pytest.param("cuda", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """CuPy, with as many devices as there are, or who plays it, with three."""
    if request.param == "cuda":
        import cupy

        yield cupy
        return
    with played_device(count=3) as played:
        yield played


def some_devices(xp: ModuleType, parts: int) -> tuple[int, ...]:
    """Devices for so many parts; one may have several."""
    return tuple(number % xp.cuda.runtime.getDeviceCount() for number in range(parts))


@dataclass(frozen=True)
class SplitCase(Case):
    """Equations for the reference and for parts; vectors are given where the module ``whole`` has them."""

    whole: Any

    def give(self, array: Any) -> Any:
        return None if array is None else self.whole.array(array)


@pytest.fixture(
    params=[(*split, f, o) for split in SPLITS for f in FORMATS for o in OPTIMA],
    ids=lambda given: " ".join(map(str, given)),
)
def case(request: pytest.FixtureRequest, xp: Any) -> Case:
    from galton.backend.cuda.split.equations import Matrix

    parts, where, values, optimum = request.param
    random = np.random.default_rng(list(FORMATS).index(values) * 3 + OPTIMA[optimum] + 1)
    pair = random_pair(
        random, optimum=OPTIMA[optimum], values=values, wide=optimum != "chain", scaled=values != "1 byte"
    )
    whole, reference = {"host": np, "device": xp}[where], pair.reference
    scale = None if reference.scale is None else whole.array(reference.scale)
    constant = whole.array(reference.constant)
    matrix = Matrix(matrix_of(pair, whole), scale, constant, None, some_devices(xp, parts))
    kind = None if optimum == "chain" else optimum
    # For some, equations as proofs take them.
    system = matrix.prover(constant, kind) if values == "2 bytes" else matrix.system(constant, kind, compact=True)
    if values == "plain":
        system = matrix.system(constant, kind, compact=False)
    return SplitCase(pair, system, whole, whole)


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


def test_looks(case: Case) -> None:
    """What only looks: the defect, and the values of rows."""
    x, size, reference = start(case), case.pair.size, case.pair.reference
    span = Span(0, size)
    assert case.system.defect(case.give(x), span) == pytest.approx(reference.defect(x, span), rel=1e-12)
    values, expected = case.xp.empty(case.pair.rows), np.empty(case.pair.rows)
    case.system.row_values(case.give(x), values, span)
    reference.row_values(x, expected, span)
    np.testing.assert_allclose(case.to_host(values), expected, rtol=1e-12)
    for with_constant, from_x in ((True, False), (False, False), (False, True)) if case.pair.groups is None else ():
        y = case.xp.empty(size)
        case.system.multiply(case.give(x), y, None, with_constant=with_constant, from_x=from_x)
        product = expected if with_constant else expected - reference.constant
        np.testing.assert_allclose(case.to_host(y), x - product if from_x else product, rtol=1e-11, atol=1e-15)


def test_constants_that_change(xp: Any) -> None:
    """Parts have copies of constants; those of equations that are not compact may be changed by who made them."""
    from galton.backend.cuda.split.equations import Matrix

    pair = random_pair(np.random.default_rng(8), optimum=1)
    constant, size = pair.reference.constant.copy(), pair.size
    matrix = Matrix(matrix_of(pair, np), pair.reference.scale, constant, None, some_devices(xp, 2))
    system = matrix.system(constant, "max", compact=False)
    x = np.ones(size)
    before = system.defect(x, Span(0, size))
    constant *= 3
    assert system.defect(x, Span(0, size)) != before
