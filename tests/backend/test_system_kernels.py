"""Every primitive of equations in C++ against its few lines of NumPy: all formats, chains and MDPs, ranges, threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from systems import FORMATS, Pair, random_pair

from galton.backend.protocol import Span, Stop

OPTIMA = {"chain": 0, "min": -1, "max": 1}
LARGE = {"size": 28_000, "length": 60}  # enough entries for two threads, about 30 to a row
SLACK = 8 * 2.0**-52


@pytest.fixture(params=[(f, o) for f in FORMATS for o in OPTIMA], ids=lambda p: f"{p[0]} {p[1]}")
def pair(request: pytest.FixtureRequest) -> Pair:
    values, optimum = request.param
    random = np.random.default_rng(list(FORMATS).index(values) * 3 + OPTIMA[optimum] + 1)
    # Wide offsets and scaling take turns with the formats, so that every kernel meets all of them.
    return random_pair(
        random, optimum=OPTIMA[optimum], values=values, wide=optimum != "chain", scaled=values != "1 byte"
    )


@pytest.fixture(scope="module", params=OPTIMA, ids=str)
def large(request: pytest.FixtureRequest) -> Pair:
    optimum = OPTIMA[request.param]
    found = random_pair(np.random.default_rng(7), optimum=optimum, values="1 byte", **LARGE)
    assert len(list(found.reference.parts(Span(0, found.size, 2)))) == 2
    return found


def start(pair: Pair) -> npt.NDArray[np.float64]:
    return np.random.default_rng(1).random(pair.size) + 0.1


Sweep = Callable[..., tuple[int, float]]


def both(pair: Pair, name: str, chosen: npt.NDArray[np.int32] | None, span: Span, stop: Stop, **how: object) -> None:
    """The same sweeps by both; unknowns outside the span keep their values."""
    vectors = []
    results = []
    for system in (pair.core, pair.reference):
        x = start(pair)
        copy = x.copy()
        sweep: Sweep = getattr(system, name)
        results.append(sweep(x, copy, chosen, span, stop, **how))
        vectors.append(x)
    assert results[0][0] == results[1][0]
    assert results[0][1] == pytest.approx(results[1][1], rel=1e-9)
    np.testing.assert_allclose(vectors[0], vectors[1], rtol=1e-11)  # over-relaxation cancels some digits
    outside = np.ones(pair.size, dtype=bool)
    outside[span.part] = False
    assert np.array_equal(vectors[0][outside], start(pair)[outside])


RANGES = [(0, 60), (0, 31), (13, 44), (59, 60)]


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("omega", [1.0, 0.7, 1.2])
@pytest.mark.parametrize("span", RANGES, ids=str)
def test_gauss_seidel(pair: Pair, span: tuple[int, int], omega: float, forward: bool) -> None:
    for chosen in (None, pair.strategy(np.random.default_rng(2))):
        both(pair, "gauss_seidel", chosen, Span(*span, threads=2), Stop(3), forward=forward, omega=omega)


@pytest.mark.parametrize("omega", [1.0, 0.7, 1.2])
@pytest.mark.parametrize("span", RANGES, ids=str)
def test_jacobi(pair: Pair, span: tuple[int, int], omega: float) -> None:
    for chosen in (None, pair.strategy(np.random.default_rng(2))):
        both(pair, "jacobi", chosen, Span(*span, threads=2), Stop(3, relative=False), omega=omega)


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
def test_sweeps_stop_at_the_tolerance(pair: Pair, relative: bool) -> None:
    both(pair, "jacobi", None, Span(0, pair.size), Stop(500, 1e-5, relative))
    both(pair, "gauss_seidel", None, Span(0, pair.size), Stop(500, 1e-5, relative))


@pytest.mark.parametrize("threads", [1, 2], ids=["1 thread", "2 threads"])
def test_sweeps_of_several_threads(large: Pair, threads: int) -> None:
    chosen = large.strategy(np.random.default_rng(2))
    span = Span(0, large.size) if threads == 1 else Span(40, large.size - 10, threads)
    both(large, "jacobi", None, span, Stop(1), omega=0.9)
    both(large, "gauss_seidel", chosen, span, Stop(1))
    both(large, "gauss_seidel", None, span, Stop(2), forward=False, omega=1.1)


def improved(pair: Pair, span: tuple[int, int], threads: int) -> None:
    if pair.groups is None:
        return
    found = []
    for system in (pair.core, pair.reference):
        x, chosen = start(pair), pair.strategy(np.random.default_rng(3))
        assert chosen is not None
        found.append((system.improve(x, x.copy(), chosen, Span(*span, threads)), x, chosen))
    (result, x, chosen), (other_result, other_x, other_chosen) = found
    assert result[0] == other_result[0] > 0
    assert result[1] == pytest.approx(other_result[1], rel=1e-9)
    np.testing.assert_allclose(x, other_x, rtol=1e-13)
    assert np.array_equal(chosen, other_chosen)


@pytest.mark.parametrize("span", RANGES[:3], ids=str)
def test_improve(pair: Pair, span: tuple[int, int]) -> None:
    improved(pair, span, 1)


def test_improve_with_several_threads(large: Pair) -> None:
    improved(large, (0, large.size), 2)


@pytest.mark.parametrize("span", RANGES, ids=str)
def test_defect_and_row_values(pair: Pair, span: tuple[int, int]) -> None:
    x = start(pair)
    assert pair.core.defect(x, Span(*span)) == pytest.approx(pair.reference.defect(x, Span(*span)), rel=1e-12)
    edges = np.arange(pair.size + 1) if pair.groups is None else pair.groups
    values, others = np.empty((2, edges[span[1]] - edges[span[0]]))
    pair.core.row_values(x, values, Span(*span))
    pair.reference.row_values(x, others, Span(*span))
    np.testing.assert_allclose(values, others, rtol=1e-13)


def test_defect_and_row_values_with_several_threads(large: Pair) -> None:
    x, size = start(large), large.size
    assert large.core.defect(x, Span(0, size, 2)) == pytest.approx(
        large.reference.defect(x, Span(0, size, 2)), rel=1e-12
    )
    values, others = np.empty((2, large.rows))
    large.core.row_values(x, values, Span(0, size, 2))
    large.reference.row_values(x, others, Span(0, size, 2))
    np.testing.assert_allclose(values, others, rtol=1e-13)


def test_propagated_bounds(pair: Pair) -> None:
    for span in RANGES:
        bounds = []
        for system in (pair.core, pair.reference):
            lower, upper = start(pair), start(pair) * 1.01
            for _ in range(3):
                system.propagate(lower, upper, Span(*span), SLACK)
            bounds.append((lower, upper))
        (lower, upper), (low, high) = bounds
        np.testing.assert_allclose(lower, low, rtol=1e-13)
        np.testing.assert_allclose(upper, high, rtol=1e-13)
        # The reference is wider: it goes a whole number further each time, the core rounds in the right direction.
        assert (low <= lower).all()
        assert (upper <= high).all()


def solved(pair: Pair, threads: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A little below and above the solution; all rows leave something out, so that both can be proved."""
    x = start(pair)
    pair.core.gauss_seidel(x, x.copy(), None, Span(0, pair.size, threads), Stop(1000))
    return np.maximum(x - 1e-9, 0.0), x + 1e-9


def test_proofs_agree(pair: Pair) -> None:
    lower, upper = solved(pair, 1)
    for system in (pair.core, pair.reference):
        assert system.is_above(upper, Span(0, pair.size), SLACK)
        assert system.is_below(lower, Span(0, pair.size), SLACK)
        assert not system.is_above(lower, Span(0, pair.size), SLACK)
        assert not system.is_below(upper, Span(0, pair.size), SLACK)
        assert system.is_above(upper, Span(5, 50), SLACK)
        assert system.is_below(lower, Span(5, 50), SLACK)


def test_proofs_with_several_threads(large: Pair) -> None:
    lower, upper = solved(large, 2)
    assert large.core.is_above(upper, Span(0, large.size, 2), SLACK)
    assert large.core.is_below(lower, Span(0, large.size, 2), SLACK)
    for place in (10, large.size // 3, large.size - 10):  # one wrong number in either half
        wrong = upper.copy()
        wrong[place] = lower[place] / 2 - 1e-9
        assert not large.core.is_above(wrong, Span(0, large.size, 2), SLACK)
        wrong = lower.copy()
        wrong[place] = upper[place] * 2
        assert not large.core.is_below(wrong, Span(0, large.size, 2), SLACK)


@pytest.mark.parametrize("span", [(0, 60), (13, 44)], ids=str)
@pytest.mark.parametrize("values", FORMATS)
@pytest.mark.parametrize("optimum", OPTIMA)
def test_bicgstab(optimum: str, values: str, span: tuple[int, int]) -> None:
    # Residuals are relative, and those of a solution that is 0 somewhere never get small.
    pair = random_pair(np.random.default_rng(6), optimum=OPTIMA[optimum], values=values, zeros=0.0)
    chosen = pair.strategy(np.random.default_rng(5))
    for sweeps in (1, 3, 7):  # the recurrences agree while rounding has no time to drive them apart
        found = []
        for system in (pair.core, pair.reference):
            x = start(pair)
            found.append((system.bicgstab(x, chosen, Span(*span), sweeps, 1e-12), x))
        (result, x), (other_result, other_x) = found
        assert result[0] == other_result[0]
        assert result[1] == pytest.approx(other_result[1], rel=1e-6)
        np.testing.assert_allclose(x, other_x, rtol=1e-9)


@pytest.mark.parametrize("threads", [1, 2], ids=["1 thread", "2 threads"])
def test_bicgstab_solves(threads: int) -> None:
    pair = random_pair(np.random.default_rng(6), values="1 byte", zeros=0.0, **LARGE)
    x, y = start(pair), start(pair)
    assert pair.core.bicgstab(x, None, Span(0, pair.size, threads), 500, 1e-12)[1] <= 1e-12
    pair.core.jacobi(y, y.copy(), None, Span(0, pair.size, threads), Stop(1000, 1e-14))
    np.testing.assert_allclose(x, y, rtol=1e-11)


@pytest.mark.parametrize("span", RANGES, ids=str)
def test_weights(pair: Pair, span: tuple[int, int]) -> None:
    """Constants for w, what is left to δ, and how well w does."""
    found = []
    chosen = None if pair.reference.matrix.groups is None else pair.reference.matrix.groups[:-1].astype(np.int32)
    x, w = start(pair), 3 * start(pair)[::-1].copy()
    for system in (pair.core, pair.reference):
        constants = np.zeros(len(pair.reference.constant))
        system.weigh_rows(x, chosen, constants, Span(*span), near=0.5, share=0.2)
        left = system.left_to_delta(x, w, constants, Span(*span), share=0.2)
        found.append((constants, left, system.growth(w, x, Span(*span))))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1:] == pytest.approx(found[1][1:], rel=1e-9)
    if chosen is not None and span == (0, 60):
        assert np.isinf(found[0][0]).any()
        assert found[0][1] > 0


def test_free_rows(pair: Pair) -> None:
    """Where nothing has to be paid, the first row on which nothing is."""
    if pair.reference.matrix.groups is None:
        return
    found = []
    x = start(pair)
    x[::2] = 0.0
    for system in (pair.core, pair.reference):
        chosen = np.full(pair.size, -1, dtype=np.int32)
        system.take_free_rows(x, chosen, Span(0, pair.size))
        found.append(chosen)
    np.testing.assert_array_equal(*found)
