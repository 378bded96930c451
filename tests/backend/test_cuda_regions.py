"""Steps of parametric chains on a device against the NumPy reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from device import WHERE

from galton.backend.reference_regions import region_steps


@pytest.fixture(scope="module", params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> Iterator[Any]:
    with WHERE[request.param]() as found:
        yield found


def take(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else array.get()


def random_rows(seed: int, n_states: int, n_terms: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    states = np.sort(rng.choice(n_states, rng.integers(1, n_states + 1), replace=False)).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 4, len(states)))]).astype(np.int64)
    terms = rng.integers(0, n_terms, starts[-1]).astype(np.int32)
    group_starts = np.concatenate([[0], np.cumsum(rng.integers(1, 4, len(terms)))]).astype(np.int64)
    columns = rng.integers(0, n_states, group_starts[-1]).astype(np.int32)
    return states, starts, terms, group_starts, columns, rng.uniform(0.1, 1.0, group_starts[-1])


@pytest.mark.parametrize("blocks", [True, False])  # without a device never in blocks
@pytest.mark.parametrize("steps", [1, 8])
@pytest.mark.parametrize(("n_states", "boxes"), [(5, 3), (40, 12), (40, 33), (1500, 70)])
def test_same_as_reference(xp: Any, n_states: int, boxes: int, steps: int, blocks: bool) -> None:
    from galton.backend.cuda.regions import RegionRows

    n_terms, rng = 4, np.random.default_rng(n_states)
    rows = random_rows(n_states, n_states, n_terms)
    kernel = RegionRows(*rows, n_states=n_states, n_terms=n_terms)
    if not blocks:
        kernel._shared = 1 << 30
    width = kernel.width(boxes)
    assert width >= boxes
    least = rng.uniform(0, 0.02, (n_terms, 1, width))
    rates = np.concatenate([least, least + rng.uniform(0, 0.02, least.shape)], axis=1)
    weights = rng.uniform(0, 1, (steps, width))
    x = np.sort(rng.uniform(0, 1, (n_states, 2, width)), axis=1)
    watched = np.array([3, 0, n_states - 1], dtype=np.int32)
    expected, total, change = region_steps(*rows, rates, weights, x, watched)
    buffers = kernel.array(x), kernel.array(x)
    sums, changes = xp.zeros(3 * 2 * width), np.empty(2 * width)
    given = kernel.array(rates), weights.reshape(-1), *buffers, watched, sums, changes
    swapped = kernel.run(steps, *given, 1)
    np.testing.assert_allclose(take(buffers[swapped]).reshape(x.shape), expected, rtol=1e-12)
    np.testing.assert_allclose(take(sums).reshape(3, 2, width), total, rtol=1e-12)
    np.testing.assert_allclose(changes.reshape(2, width), change, rtol=1e-9)
