"""Steps of parametric chains on a device against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_regions import random_rows
from systems import to_host

from galton.backend.reference.regions import region_steps
from galton.device.errors import DeviceError

FIRST = 5  # the number of the first step


class Weights:
    """Those of each box: the same for all steps up to ``left``, then one after the other, none from its end on."""

    def __init__(self, steps: int, boxes: int) -> None:
        rng = np.random.default_rng(boxes)
        self.before = rng.uniform(0, 1, boxes)
        self.left = FIRST + rng.integers(0, 3, boxes)
        self.ends = np.full(boxes, FIRST + steps)
        self.offsets = np.arange(boxes) * (steps + 1)
        self.values = rng.uniform(0, 1, boxes * (steps + 1))

    def at(self, step: int) -> np.ndarray:
        inside = self.values[np.maximum(self.offsets + step - self.left, 0)]
        return np.where(step >= self.ends, 0.0, np.where(step < self.left, self.before, inside))


def problem(n_states: int, width: int) -> tuple[Any, Any, Any, Any]:
    rng, n_terms = np.random.default_rng(n_states), 4
    least = rng.uniform(0, 0.02, (n_terms, 1, width))
    rates = np.concatenate([least, least + rng.uniform(0, 0.02, least.shape)], axis=1)
    x = np.sort(rng.uniform(0, 1, (n_states, 2, width)), axis=1)
    return random_rows(n_states, n_states, n_terms), rates, x, np.array([3, 0, n_states - 1], dtype=np.int32)


def made(xp: Any, kernel: Any, steps: int, rates: Any, weights: Weights, x: Any, watched: Any) -> tuple[Any, Any, Any]:
    """The vectors after some steps, the sums and the changes, on the host."""
    width = x.shape[2]
    buffers = kernel.array(x), kernel.array(x)
    sums, changes = xp.zeros(len(watched) * 2 * width), np.empty(2 * width)
    swapped = kernel.steps(kernel.array(rates), weights).run(FIRST, steps, *buffers, watched, sums, changes, 1)
    after, added = (to_host(kernel.view(array, width)) for array in (buffers[swapped], sums))
    return after, added, changes.reshape(2, width)


@pytest.mark.parametrize("format", ["csr", "ell"])
@pytest.mark.parametrize("blocks", [True, False])  # without a device never in blocks
@pytest.mark.parametrize("steps", [1, 8])
@pytest.mark.parametrize(("n_states", "boxes"), [(5, 3), (40, 12), (40, 33), (1500, 70)])
def test_same_as_reference(xp: Any, n_states: int, boxes: int, steps: int, blocks: bool, format: str) -> None:
    from galton.backend.cuda.regions import RegionRows

    rows, *_ = problem(n_states, 1)
    kernel = RegionRows(rows, format)
    if not blocks:
        kernel._shared = 1 << 30
    width = kernel.width(boxes)
    assert width >= boxes
    _, rates, x, watched = problem(n_states, width)
    weights = Weights(steps, width)
    table = np.stack([weights.at(FIRST + k) for k in range(steps)])
    expected, total, change = region_steps(rows, rates, table, x, watched)
    after, sums, changes = made(xp, kernel, steps, rates, weights, x, watched)
    np.testing.assert_allclose(after, expected, rtol=1e-12)
    np.testing.assert_allclose(sums, total, rtol=1e-12)
    np.testing.assert_allclose(changes, change, rtol=1e-9)


@pytest.mark.parametrize("blocks", [True, False])
def test_boxes_that_end_earlier(xp: Any, blocks: bool) -> None:
    """They get no more weight; where boxes have a block each, they make no more steps either."""
    from galton.backend.cuda.regions import RegionRows

    n_states, boxes, steps = 40, 8, 6
    rows, rates, x, watched = problem(n_states, boxes)
    kernel = RegionRows(rows)
    if not blocks:
        kernel._shared = 1 << 30
    weights = Weights(steps, boxes)
    weights.ends[:3] = FIRST + np.arange(3)
    table = np.stack([weights.at(FIRST + k) for k in range(steps)])
    _, total, _ = region_steps(rows, rates, table, x, watched)
    after, sums, _ = made(xp, kernel, steps, rates, weights, x, watched)
    np.testing.assert_allclose(sums, total, rtol=1e-12)
    for box, own in enumerate(weights.ends - FIRST):
        count = own if kernel.one_each else steps
        expected = region_steps(rows, rates, table[:count], x, watched)[0]
        np.testing.assert_allclose(after[:, :, box], expected[:, :, box], rtol=1e-12)


def test_forward_rows_are_refused_where_they_were_taken_for_backward_ones(xp: Any) -> None:
    from galton.backend.cuda.regions import rows

    with pytest.raises(DeviceError, match="forward"):
        rows(random_rows(1, 20, 4, forward=True))
