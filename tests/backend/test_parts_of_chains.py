"""A step of a part of a chain, whose rows lead to states of other parts: what ranks do."""

from __future__ import annotations

import numpy as np
import pytest

from galton import _core


def part(random: np.random.Generator, n: int, ghosts: int) -> tuple[_core.Matrix, np.ndarray]:
    """Rows of a part, in the core's form and as a dense matrix."""
    dense = random.random((n, n + ghosts)) * (random.random((n, n + ghosts)) < 0.3)
    dense[0, n + ghosts - 1] = 0.5  # the last ghost is led to
    starts = np.concatenate([[0], np.cumsum((dense > 0).sum(axis=1))]).astype(np.int32)
    columns = np.concatenate([np.flatnonzero(row)[::-1] for row in dense]).astype(np.int32)  # in any order
    values = np.concatenate([row[np.flatnonzero(row)[::-1]] for row in dense])
    return _core.Matrix(None, starts, columns, values, None), dense


@pytest.mark.parametrize("seed", range(5))
def test_step_of_a_part(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, ghosts = int(random.integers(1, 60)), int(random.integers(1, 20))
    matrix, dense = part(random, n, ghosts)
    stay, x, total = random.random(n), random.random(n + ghosts), random.random(n)
    other, before = np.full(n + ghosts, np.nan), total.copy()
    _core.Chain(matrix, 0.25, stay).run_part(0.5, x, other, total, 1)
    np.testing.assert_allclose(other[:n], 0.25 * (dense @ x) + stay * x[:n], rtol=1e-14)
    np.testing.assert_allclose(total, before + 0.5 * x[:n], rtol=1e-15)
    assert np.isnan(other[n:]).all(), "ghosts are for others to bring"


def test_vectors_without_ghosts_are_refused() -> None:
    matrix, _ = part(np.random.default_rng(1), 5, 3)
    chain = _core.Chain(matrix, 1.0, None)
    with pytest.raises(ValueError, match="wrong length"):
        chain.run_part(None, np.zeros(7), np.zeros(7), None, 1)
    with pytest.raises(ValueError, match="needs a weight"):
        chain.run_part(None, np.zeros(8), np.zeros(8), np.zeros(5), 1)
    with pytest.raises(ValueError, match="lead out of the chain"):
        chain.run(1, None, np.zeros(5), np.zeros(5), None, 1)
