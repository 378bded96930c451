"""Steps of parametric chains on a device against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from device import take
from random_regions import random_rows

from galton.backend.reference_regions import region_steps


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
