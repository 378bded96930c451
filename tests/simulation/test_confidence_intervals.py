"""Intervals and tests do what their theorems say, seen by exact sums over all outcomes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from galton.simulation.intervals import Sprt, clopper_pearson, paths_for, student


@pytest.mark.parametrize("hits", [0, 1, 17, 49, 50])
@pytest.mark.parametrize("confidence", [0.9, 0.999])
def test_clopper_pearson_is_scipys(hits: int, confidence: float) -> None:
    expected = binomtest(hits, 50).proportion_ci(confidence, method="exact")
    assert clopper_pearson(hits, 50, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("probability", [0.01, 0.1, 0.37, 0.5, 0.93])
def test_clopper_pearson_holds_as_often_as_it_says(probability: float) -> None:
    """Summed over every number of hits, not sampled."""
    paths = 60
    held = 0.0
    for hits in range(paths + 1):
        low, high = clopper_pearson(hits, paths, 0.95)
        held += binom.pmf(hits, paths, probability) * (low <= probability <= high)
    assert held >= 0.95


def test_paths_that_were_cut_count_for_both_ends() -> None:
    low, high = clopper_pearson(30, 100, 0.95, unknown=5)
    assert low == clopper_pearson(30, 100, 0.95)[0]
    assert high == clopper_pearson(35, 100, 0.95)[1]


@pytest.mark.parametrize(("width", "confidence"), [(0.1, 0.95), (0.013, 0.99), (0.5, 0.5), (0.9, 0.999)])
def test_no_interval_is_wider_than_asked_for_and_fewer_paths_would_not_do(width: float, confidence: float) -> None:
    paths = paths_for(width, confidence)
    bounds = [clopper_pearson(hits, paths, confidence) for hits in range(0, paths + 1, max(1, paths // 500))]
    bounds.append(clopper_pearson(paths // 2, paths, confidence))
    assert max(high - low for low, high in bounds) <= width
    few = paths - 2
    low, high = clopper_pearson(few // 2, few, confidence)
    assert high - low > width


@pytest.mark.parametrize(("probability", "expected"), [(0.45, False), (0.55, True)])
def test_the_sequential_test_is_seldom_wrong(probability: float, expected: bool) -> None:
    """At the edge of the indifference, where it is wrong most often: at most one run in ten, of 400."""
    random = np.random.default_rng(7)
    wrong, paths = 0, []
    for _ in range(400):
        test = Sprt(0.5, 0.05, 0.9)
        while test.answer is None:
            test.feed(random.random(64) < probability)
        wrong += test.answer is not expected
        paths.append(test.paths)
    assert wrong <= 55  # 40 at most are expected; 56 and more have a chance of 1 %
    assert 50 < np.mean(paths) < 500


def test_the_sequential_test_does_not_depend_on_how_it_is_fed() -> None:
    hits = np.random.default_rng(3).random(5000) < 0.32
    one, other = Sprt(0.3, 0.01, 0.99), Sprt(0.3, 0.01, 0.99)
    one.feed(hits)
    for part in np.array_split(hits, 97):
        other.feed(part)
    assert (one.answer, one.paths) == (other.answer, other.paths)
    assert one.answer is not None


def test_certain_thresholds_are_settled_by_one_path_that_differs() -> None:
    surely = Sprt(1.0, 0.01, 0.99)
    assert surely.feed(np.array([True] * 20 + [False])) is False
    assert surely.paths == 21
    never = Sprt(0.0, 0.01, 0.99)
    assert never.feed(np.array([False] * 20 + [True])) is True


def test_the_interval_of_a_mean_is_students() -> None:
    from scipy.stats import t

    half = t.ppf(0.975, 399) * 2.0 / 20
    assert student(3.0, 2.0, 400, 0.95) == pytest.approx((3 - half, 3 + half))
    assert student(3.0, 0.0, 400, 0.95) == (3.0, 3.0)
