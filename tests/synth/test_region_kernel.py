"""The kernel of regions against the NumPy reference."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from random_regions import random_rows

from galton import _core
from galton.backend.reference.regions import region_steps
from galton.backend.regions import GroupedRows

LANES = _core.LANES


def core_rows(rows: GroupedRows) -> _core.ParametricRows:
    return _core.ParametricRows(**{field.name: getattr(rows, field.name) for field in fields(rows)})


@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_same_as_reference(seed: int, threads: int, forward: bool) -> None:
    n_states, n_terms, steps = 20, 4, 7
    rng = np.random.default_rng(100 + seed)
    rows = random_rows(seed, n_states, n_terms, forward=forward)
    least = rng.uniform(0, 0.1, (n_terms, 1, LANES))
    rates = np.concatenate([least, least + rng.uniform(0, 0.1, least.shape)], axis=1)
    weights = rng.uniform(0, 1, (steps, LANES))
    x = np.sort(rng.uniform(0, 1, (n_states, 2, LANES)), axis=1)
    watched = np.array([3, 0, 11], dtype=np.int32)
    expected, total, change = region_steps(rows, rates, weights, x, watched)
    # Arrays need not begin where a vector of the processor may.
    buffers = np.append(0.0, x)[1:], np.append(0.0, x)[1:]
    sums, changes = np.zeros(3 * 2 * LANES), np.empty(2 * LANES)
    kernel = core_rows(rows)
    swapped = kernel.run(
        steps,
        rates=rates.reshape(-1),
        weights=weights.reshape(-1),
        x=buffers[0],
        other=buffers[1],
        watched=watched,
        sum=sums,
        changes=changes,
        threads=threads,
    )
    np.testing.assert_allclose(buffers[swapped].reshape(x.shape), expected, rtol=1e-13)
    np.testing.assert_allclose(sums.reshape(3, 2, LANES), total, rtol=1e-13)
    np.testing.assert_allclose(changes.reshape(2, LANES), change, rtol=1e-10)


def test_wrong_arrays_are_refused() -> None:
    one = np.zeros(1, dtype=np.int32)
    starts = np.array([0, 1], dtype=np.int64)
    rows = GroupedRows(one, starts, one, starts, one, np.ones(1), 2, 1)
    with pytest.raises(ValueError, match="too large"):
        core_rows(replace(rows, columns=one + 5))
    with pytest.raises(ValueError, match="end where they should"):
        core_rows(replace(rows, group_starts=starts + 1))
    short = np.zeros(3)
    with pytest.raises(ValueError, match="wrong length"):
        core_rows(rows).run(
            1, rates=short, weights=None, x=short, other=short, watched=one, sum=short, changes=short, threads=1
        )
