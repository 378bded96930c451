"""Poisson weights against exact evaluation with many digits, and against SciPy."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
import scipy.stats

from galton.lang import GaltonError
from galton.solve.poisson import Poisson, poisson, poissons

MEANS = [1e-300, 1e-100, 1e-12, 0.3, 1.0, 1.5, 7.0, 25.25, 1000.0, 12345.678]


def exact(mean: float, counts: list[int]) -> dict[int, Decimal]:
    """e^-m m^k / k! with fifty digits."""
    with localcontext() as context:
        context.prec, context.Emin = 50, -(10**9)
        m = Decimal(mean)
        found, term = {}, (-m).exp()
        for k in range(max(counts) + 1):
            if k:
                term = term * m / k
            found[k] = term
        return {k: found[k] for k in counts}


@pytest.mark.parametrize("mean", MEANS)
def test_weights_are_within_their_error_of_the_exact_ones(mean: float) -> None:
    found = poisson(mean)
    last = found.right
    counts = sorted({found.left, (found.left + last) // 2, math.floor(mean), last, *range(found.left, found.left + 5)})
    for k, truth in exact(mean, [k for k in counts if k <= last]).items():
        weight = Decimal(float(found.weights[k - found.left]))
        assert abs(weight - truth) <= Decimal(found.error) * truth


@pytest.mark.parametrize("mean", [0.3, 7.0, 25.25, 1000.0])
def test_tails_are_within_their_error_of_the_exact_ones(mean: float) -> None:
    found = poisson(mean)
    terms = exact(mean, list(range(found.right + 200)))
    for k in range(found.left, found.right, max(1, len(found.weights) // 20)):
        truth = sum(p for j, p in terms.items() if j > k)
        missing = truth - Decimal(float(found.tails[k - found.left]))
        assert -Decimal(found.error) * truth <= missing <= Decimal(found.error) * truth + Decimal(found.above)


@pytest.mark.parametrize("mean", [0.3, 25.25, 1000.0, 5000.0])
def test_what_is_cut_is_less_than_its_bounds(mean: float) -> None:
    found = poisson(mean)
    terms = exact(mean, list(range(found.right + 300)))
    assert sum((p for k, p in terms.items() if k < found.left), Decimal(0)) <= Decimal(found.below)
    assert sum((p for k, p in terms.items() if k > found.right), Decimal(0)) <= Decimal(found.above)
    assert found.below < 1e-290
    assert found.excess < 1e-290


@pytest.mark.parametrize("mean", [0.01, 3.0, 1e3, 1e6, 1e9])
def test_as_scipy_has_it(mean: float) -> None:
    found = poisson(mean)
    near = max(5, int(5 * math.sqrt(mean)))
    counts = np.unique(np.linspace(max(found.left, mean - near), min(found.right, mean + near), 50).astype(int))
    expected = scipy.stats.poisson.pmf(counts, mean)
    # SciPy goes through logarithms of factorials, which costs it digits for large means.
    np.testing.assert_allclose(found.weights[counts - found.left], expected, rtol=max(1e-12, mean * 1e-14))
    if mean <= 1e3:  # its upper tails are a factor off for 1e6, five deviations out
        tails = scipy.stats.poisson.sf(counts, mean)
        np.testing.assert_allclose(found.tails[counts - found.left], tails, rtol=1e-10)


@pytest.mark.parametrize("mean", [0.0, *MEANS, 1e6, 1e9])
def test_they_sum_to_one_and_the_window_holds_the_mode(mean: float) -> None:
    found = poisson(mean)
    assert float(found.weights.sum()) == pytest.approx(1, abs=2 * found.error)
    assert found.left <= math.floor(mean) <= found.right
    assert found.error < 1e-8
    assert found.weights.min() > 0 or mean == 0


def test_without_time_nothing_happens() -> None:
    found = poisson(0.0)
    assert found.weights.tolist() == [1.0, 0.0]
    assert found.tails.tolist() == [0.0, 0.0]
    assert (found.below, found.above, found.excess) == (0, 0, 0)


def test_a_tiny_mean_keeps_the_chance_of_one_event() -> None:
    found: Poisson = poisson(1e-300)
    assert found.tails[0] == pytest.approx(1e-300, rel=1e-14)


@pytest.mark.parametrize("mean", [-1.0, 1e13, math.inf, math.nan])
def test_what_cannot_be_done_is_said(mean: float) -> None:
    with pytest.raises(GaltonError, match="jumps are expected"):
        poisson(mean)


def test_side_by_side_they_are_what_they_are_alone() -> None:
    """Windows and errors are the same; the sums that they are divided by may differ by a few roundings."""
    means = sorted(
        [0.0, 1e-310, 1e-9, 0.3, 0.999, 1.0, 1.5, 2.0, 37.2, 1000.0, 1000.5, 20_000.0, *np.linspace(3, 90, 70)]
    )
    for mean, found in zip(means, poissons(means), strict=True):
        alone = poisson(mean)
        assert (found.left, len(found.weights), found.error) == (alone.left, len(alone.weights), alone.error)
        assert np.allclose(found.weights, alone.weights, rtol=1e-14, atol=0)
        assert np.allclose(found.tails, alone.tails, rtol=1e-14, atol=0)
