"""Every primitive of equations on a device against its few lines of NumPy: all layouts and values, chains and MDPs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from systems import FORMATS, Pair, random_pair, to_host

from galton.backend.formats import FORMATS as LAYOUTS
from galton.backend.protocol import Span, Stop

OPTIMA = {"chain": 0, "min": -1, "max": 1}
SLACK = 8 * 2.0**-52


@dataclass(frozen=True)
class Case:
    """Equations for the reference and for the device ``xp``."""

    pair: Pair
    system: Any
    xp: Any

    def give(self, array: Any) -> Any:
        return None if array is None else self.xp.asarray(array)

    def to_host(self, array: Any) -> Any:
        return to_host(array)


def matrix_of(pair: Pair, xp: Any) -> Any:
    from galton.backend.cuda.layout import csr

    matrix = pair.reference.matrix
    parts = (matrix.groups, matrix.starts, matrix.columns, matrix.values, matrix.dictionary)
    return csr(*(None if part is None else xp.asarray(part) for part in parts))


# Every kind of value for CSR; then every layout, with two kinds each that differ in the width of offsets and codes.
PARAMETERS = [
    (layout, values, optimum)
    for layout in LAYOUTS
    for values in FORMATS
    for optimum in OPTIMA
    if layout == "csr" or (values == "2 bytes") == (optimum == "max")
]


@pytest.fixture(params=PARAMETERS, ids=" ".join)
def case(request: pytest.FixtureRequest, xp: Any) -> Case:
    from galton.backend.cuda.layout import lay_out
    from galton.backend.cuda.system import System

    layout, values, optimum = request.param
    random = np.random.default_rng(list(FORMATS).index(values) * 3 + OPTIMA[optimum] + 1)
    pair = random_pair(
        random, optimum=OPTIMA[optimum], values=values, wide=optimum != "chain", scaled=values != "1 byte"
    )
    reference = pair.reference
    scale = None if reference.scale is None else xp.asarray(reference.scale)
    # But for one format, rows have their numbers as codes.
    parts = (scale, xp.asarray(reference.constant), reference.optimum)
    matrix = lay_out(matrix_of(pair, xp), layout, scale=scale, constant=parts[1])
    # Slices are for constants that do not change.
    return Case(pair, System(matrix, *parts, compact=values != "plain" or matrix.source is not None), xp)


def start(case: Case) -> Any:
    return np.random.default_rng(1).random(case.pair.size) + 0.1


@pytest.mark.parametrize("span", [(0, 60), (13, 44)], ids=str)
@pytest.mark.parametrize("omega", [1.0, 0.7])
def test_jacobi(case: Case, span: tuple[int, int], omega: float) -> None:
    random = np.random.default_rng(3)
    for chosen in (None, case.pair.strategy(random)):
        for sweeps in (1, 4):
            x, expected = case.give(start(case)), start(case)
            found = case.system.jacobi(
                x, case.xp.empty_like(x), case.give(chosen), Span(*span), Stop(sweeps), omega=omega
            )
            wanted = case.pair.reference.jacobi(
                expected, expected.copy(), chosen, Span(*span), Stop(sweeps), omega=omega
            )
            np.testing.assert_allclose(case.to_host(x), expected, rtol=1e-11)
            assert found == (wanted[0], pytest.approx(wanted[1], rel=1e-8))


def test_sweeps_in_single_precision(case: Case) -> None:
    """Vectors of floats; sums are made with doubles and rounded once."""
    for chosen in (None, case.pair.strategy(np.random.default_rng(3))):
        before = start(case).astype(np.float32).astype(np.float64)
        expected, x = before.copy(), case.give(before.astype(np.float32))
        span = (0, case.pair.size)
        found = case.system.jacobi(x, case.xp.empty_like(x), case.give(chosen), Span(*span), Stop(1))
        case.pair.reference.jacobi(expected, expected.copy(), chosen, Span(*span), Stop(1))
        kept = expected.astype(np.float32)
        assert x.dtype == np.float32
        np.testing.assert_array_equal(case.to_host(x), kept)
        # Changes are those of floats, relative to no less than the smallest that has all its digits.
        change = (np.abs(kept - before) / np.maximum(np.abs(kept), 2.0**-126)).max()
        assert found == (1, pytest.approx(change, rel=1e-8))


def test_sweeps_in_place_solve(case: Case) -> None:
    """Whatever the order of threads, they come to the solution."""
    x = case.give(start(case))
    done, residual = case.system.gauss_seidel(x, None, None, Span(0, case.pair.size), Stop(4000, 1e-14))
    assert residual <= 1e-14
    assert done < 4000
    assert case.pair.reference.defect(case.to_host(x), Span(0, case.pair.size)) <= 1e-12


def test_improve(case: Case) -> None:
    """The strategy that is kept is a best one."""
    if case.pair.groups is None:
        return
    x, chosen = case.give(start(case)), case.give(case.pair.groups[:-1].copy())
    for _ in range(2000):
        changed, residual = case.system.improve(x, None, chosen, Span(0, case.pair.size))
        if not changed and residual <= 1e-14:
            break
    assert not changed
    values, rows = case.to_host(x), case.to_host(chosen)
    for unknown in range(case.pair.size):
        best, _ = case.pair.reference.optimum_of(unknown, values)
        assert case.pair.reference.row(int(rows[unknown]), values) == pytest.approx(best, rel=1e-12)


def test_looks(case: Case) -> None:
    """What only looks: the defect, the values of rows, products."""
    x, size, reference = start(case), case.pair.size, case.pair.reference
    assert case.system.defect(case.give(x), Span(0, size)) == pytest.approx(
        reference.defect(x, Span(0, size)), rel=1e-12
    )
    values, expected = case.xp.empty(case.pair.rows), np.empty(case.pair.rows)
    case.system.row_values(case.give(x), values, Span(0, size))
    reference.row_values(x, expected, Span(0, size))
    np.testing.assert_allclose(case.to_host(values), expected, rtol=1e-12)
    if case.pair.groups is None:
        for with_constant in (True, False):
            y = case.xp.empty(size)
            case.system.multiply(case.give(x), y, None, with_constant=with_constant)
            product = expected if with_constant else expected - reference.constant
            np.testing.assert_allclose(case.to_host(y), product, rtol=1e-11, atol=1e-15)


def test_proofs(case: Case) -> None:
    """Bounds around the solution are proved; bounds on the wrong side, by one bit, are not."""
    size, reference = case.pair.size, case.pair.reference
    x = start(case)
    reference.gauss_seidel(x, x.copy(), None, Span(0, size), Stop(3000))
    upper, lower = x * (1 + 1e-9) + 1e-12, np.maximum(x * (1 - 1e-9) - 1e-12, 0)
    assert case.system.is_above(case.give(upper), Span(0, size), SLACK)
    assert case.system.is_below(case.give(lower), Span(0, size), SLACK)
    assert not case.system.is_above(case.give(lower * (1 - 1e-9)), Span(0, size), SLACK)
    assert not case.system.is_below(case.give(upper * (1 + 1e-9)), Span(0, size), SLACK)
    assert not case.system.is_below(case.give(np.full(size, np.inf)), Span(0, size), SLACK)
    assert not case.system.is_below(case.give(np.full(size, -1.0)), Span(0, size), SLACK)
    assert not case.system.is_above(case.give(np.full(size, np.nan)), Span(0, size), SLACK)
    for vector in (x, np.nextafter(x, 2), np.nextafter(x, 0), upper, lower):
        # Fused products round once where the reference rounds twice: what it proves, they prove.
        if reference.is_above(vector, Span(0, size), SLACK):
            assert case.system.is_above(case.give(vector), Span(0, size), SLACK)
        if reference.is_below(vector, Span(0, size), SLACK):
            assert case.system.is_below(case.give(vector), Span(0, size), SLACK)


def test_propagated_bounds_are_bounds(case: Case) -> None:
    size, reference = case.pair.size, case.pair.reference
    x = start(case)
    reference.gauss_seidel(x, x.copy(), None, Span(0, size), Stop(3000))
    lower, upper = case.give(np.zeros(size)), case.give(x * 3 + 1)
    for _ in range(500):
        case.system.propagate(lower, upper, Span(0, size), SLACK)
    low, high = case.to_host(lower), case.to_host(upper)
    assert (low <= x * (1 + 1e-15)).all()
    assert (x * (1 - 1e-15) <= high).all()
    assert (high - low <= 1e-9 * high + 1e-300).all()


def test_weights(case: Case) -> None:
    chosen = None if case.pair.groups is None else case.pair.groups[:-1].astype(np.int32)
    x, w, size = start(case), 3 * start(case)[::-1].copy(), case.pair.size
    constants, expected = case.xp.zeros(case.pair.rows), np.zeros(case.pair.rows)
    device = (case.give(x), case.give(w))
    case.system.weigh_rows(device[0], case.give(chosen), constants, Span(0, size), near=0.5, share=0.2)
    case.pair.reference.weigh_rows(x, chosen, expected, Span(0, size), near=0.5, share=0.2)
    np.testing.assert_array_equal(case.to_host(constants), expected)
    found = case.system.left_to_delta(device[0], device[1], constants, Span(0, size), share=0.2)
    assert found == pytest.approx(case.pair.reference.left_to_delta(x, w, expected, Span(0, size), share=0.2), rel=1e-9)
    found = case.system.growth(device[1], device[0], Span(0, size))
    assert found == pytest.approx(case.pair.reference.growth(w, x, Span(0, size)), rel=1e-9)


def test_free_rows(case: Case) -> None:
    if case.pair.groups is None:
        return
    x = start(case)
    x[::2] = 0.0
    chosen, expected = (np.full(case.pair.size, -1, dtype=np.int32) for _ in range(2))
    given = case.give(chosen)
    case.system.take_free_rows(case.give(x), given, Span(0, case.pair.size))
    case.pair.reference.take_free_rows(x, expected, Span(0, case.pair.size))
    np.testing.assert_array_equal(case.to_host(given), expected)


def test_bicgstab(case: Case) -> None:
    chosen = case.pair.strategy(np.random.default_rng(2))
    begin = np.zeros(case.pair.size)  # what is 0 must be so from the beginning: residuals are relative
    case.pair.reference.jacobi(begin, begin.copy(), chosen, Span(0, case.pair.size), Stop(70))
    x = case.give(np.where(begin > 0, start(case), 0.0))
    done, residual = case.system.bicgstab(x, case.give(chosen), Span(0, case.pair.size), 1000, 1e-11)
    assert residual <= 1e-11
    assert done < 200
    values = case.to_host(x)
    for unknown in range(case.pair.size):
        row = unknown if chosen is None else int(chosen[unknown])
        assert case.pair.reference.row(row, values) == pytest.approx(values[unknown], rel=1e-9)


@pytest.mark.parametrize("distinct", [1, 2, 256, 257, 5000])
def test_numbers_as_codes(xp: Any, distinct: int) -> None:
    from galton.backend.cuda.numbers import compact

    random = np.random.default_rng(distinct)
    values = np.concatenate([[0.0, np.inf, -np.inf], random.standard_normal(5000)])[:distinct]
    numbers = np.concatenate([values, random.choice(values, 20_000)])
    found, codes = compact(xp.asarray(numbers))
    if distinct > 256:
        assert codes is None
        return
    assert len(found) == distinct
    np.testing.assert_array_equal(to_host(found)[to_host(codes)], numbers)
