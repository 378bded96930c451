"""The vectors of a window of time: the core against NumPy, and any number of threads against one."""

from __future__ import annotations

import numpy as np
import pytest

from galton import _core


def orthonormal(m: int, n: int) -> np.ndarray:
    return np.ascontiguousarray(np.linalg.qr(np.random.default_rng(m).normal(size=(n, m)))[0].T)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 7), (5, 1024), (8, 5000)])
def test_what_is_left_is_orthogonal_and_the_parts_are_those_taken_out(m: int, n: int) -> None:
    v, x = orthonormal(m, n), np.random.default_rng(0).normal(size=n)
    rest, parts = x.copy(), np.full(m, np.nan)
    length = _core.orthogonalise(v, rest, parts, 1)
    assert np.allclose(parts, v @ x, rtol=0, atol=1e-12)
    assert np.allclose(rest + parts @ v, x, rtol=0, atol=1e-12)
    assert np.abs(v @ rest).max() <= 1e-14 * np.linalg.norm(x)
    assert length == pytest.approx(np.linalg.norm(rest), rel=1e-12)


def test_a_vector_that_is_nearly_in_the_space() -> None:
    """Once is not enough here."""
    v = orthonormal(4, 3000)
    x = np.ones(4) @ v + 1e-10 * np.random.default_rng(1).normal(size=3000)
    length = _core.orthogonalise(v, x, np.empty(4), 1)
    assert 1e-9 < length < 1e-8
    assert np.abs(v @ x).max() <= 1e-12 * length


def test_any_number_of_threads_gives_the_same_bits() -> None:
    m, n = 16, 60_000
    v, x = orthonormal(m, n), np.random.default_rng(0).normal(size=n)
    factors = np.random.default_rng(2).normal(size=(3, m))
    found = []
    for threads in (1, 2, 5):
        rest, parts, sums = x.copy(), np.empty(m), np.zeros((3, n))
        length = _core.orthogonalise(v, rest, parts, threads)
        _core.combine(factors, v, sums, threads)
        found.append((length, rest.tobytes(), parts.tobytes(), sums.tobytes()))
    assert found[0] == found[1] == found[2]


def test_combinations_are_added_to_what_is_there() -> None:
    v, factors = orthonormal(6, 2500), np.arange(12.0).reshape(2, 6)
    sums = np.ones((2, 2500))
    _core.combine(factors, v, sums, 1)
    assert np.allclose(sums, 1 + factors @ v, rtol=0, atol=1e-12)


def test_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="other sizes"):
        _core.orthogonalise(np.eye(3), np.ones(4), np.empty(3), 1)
    with pytest.raises(ValueError, match="other sizes"):
        _core.combine(np.ones((2, 3)), np.ones((2, 5)), np.ones((2, 5)), 1)
