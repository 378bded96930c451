"""Levels of chains on a device against NumPy, and what sweeps from level to level solve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from systems import to_host


def random_chain(n: int, entries: int, seed: int) -> Any:
    """Dense, neighbours only, so that there are many levels, and rather downwards; the first rows are below 1."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((n, n))
    for row in range(n):
        columns = np.clip(row + np.append(rng.integers(-4, 4, entries - 1), -1), 0, n - 1)
        dense[row, columns] = rng.random(entries)
    dense /= dense.sum(axis=1, keepdims=True)
    dense[: n // 10] *= 0.5
    return dense


def rows_of(dense: Any, xp: Any) -> Any:
    from galton.backend.cuda.chain import ChainRows

    starts = np.concatenate([[0], np.cumsum((dense > 0).sum(axis=1))]).astype(np.int32)
    columns = np.nonzero(dense)[1].astype(np.int32)
    return ChainRows(xp.asarray(starts), xp.asarray(columns), xp.asarray(dense[dense > 0]), None)


def dense_of(rows: Any) -> Any:
    starts, columns, values = (to_host(part) for part in (rows.row_starts, rows.columns, rows.codes))
    dense = np.zeros((len(starts) - 1, len(starts) - 1))
    dense[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), columns] = values
    return dense


def hops(dense: Any, near: Any) -> Any:
    """How many jumps it takes to come near, -1 where there is no way."""
    found = np.where(near, 0, -1)
    for k in range(1, len(dense)):
        found[(found < 0) & ((dense > 0) @ (found == k - 1) > 0)] = k
    return found


@pytest.mark.parametrize("entries", [3, 20])  # the latter by several threads a row
@pytest.mark.parametrize("n", [1, 7, 300])
def test_levels(xp: Any, n: int, entries: int) -> None:
    from galton.backend.cuda.levels import levels_of

    dense = random_chain(n, entries, n)
    if n > 100:
        dense[200:, :200] = 0  # no way to the first states from the last
    near = np.arange(n) < max(n // 10, 1)
    levels = levels_of(rows_of(dense, xp), xp.asarray(near))
    assert levels is not None
    distance = hops(dense, near)
    order = to_host(levels.order)
    far_first = np.where(distance < 0, n, distance)
    np.testing.assert_array_equal(order, np.lexsort((np.arange(n), -far_first)))
    np.testing.assert_array_equal(dense_of(levels.rows), dense[np.ix_(order, order)])
    changes = np.flatnonzero(np.diff(far_first[order])) + 1
    np.testing.assert_array_equal(to_host(levels.bounds), [0, *changes, n])


@pytest.mark.parametrize("entries", [3, 20])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_sweep_solves_level_after_level(xp: Any, entries: int, scaled: bool) -> None:
    from galton.backend.cuda.levels import levels_of

    n = 200
    dense = random_chain(n, entries, 5)
    levels = levels_of(rows_of(dense, xp), xp.asarray(np.arange(n) < 10))
    assert levels is not None
    bounds = to_host(levels.bounds)
    level = np.repeat(np.arange(levels.count), np.diff(bounds))
    rng = np.random.default_rng(1)
    a, k, time, y = rng.random(n), rng.random(n) if scaled else np.ones(n), rng.random(n), rng.random(n)
    matrix = k[:, None] * dense_of(levels.rows)
    before, behind = (np.where(keep, matrix, 0) for keep in (level < level[:, None], level > level[:, None]))
    x, given = xp.empty(n), xp.asarray(k) if scaled else None
    levels.onwards(xp.asarray(y), x, xp.asarray(a), given)
    first = np.linalg.solve(np.eye(n) - before, a * y)
    np.testing.assert_allclose(to_host(x), first, rtol=1e-12)
    levels.back(x, given, xp.asarray(np.array([2.0])), xp.asarray(time))
    np.testing.assert_allclose(to_host(x), np.linalg.solve(np.eye(n) - behind, first - 2 * time), rtol=1e-11)


@pytest.mark.parametrize("entries", [3, 20])
def test_weights_keep_the_flow_onward_where_it_is_most(xp: Any, entries: int) -> None:
    from galton.backend.cuda.levels import levels_of

    n = 150
    levels = levels_of(rows_of(random_chain(n, entries, 3), xp), xp.asarray(np.arange(n) < 1))
    assert levels is not None
    dense, bounds = dense_of(levels.rows), to_host(levels.bounds)
    level = np.repeat(np.arange(levels.count), np.diff(bounds))
    np.fill_diagonal(dense, 0)
    total, onward = dense.sum(axis=1), np.where(level > level[:, None], dense, 0).sum(axis=1)
    found = 1 / to_host(levels.weights())
    np.testing.assert_allclose(found, np.where(2 * onward >= total, onward, total), rtol=1e-12)
    assert (found == onward).any()
    assert (found > onward).any()


@pytest.mark.parametrize("mdp", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_chain_of_a_strategy_is_solved(xp: Any, mdp: bool, scaled: bool) -> None:
    from galton.backend.cuda import induced
    from galton.backend.cuda.layout import csr

    n, rng = 300, np.random.default_rng(4)
    dense = random_chain(n, 3, 6)
    rows = np.repeat(np.arange(n), 2) if mdp else np.arange(n)
    groups = xp.asarray(2 * np.arange(n + 1, dtype=np.int32)) if mdp else None
    taken = 2 * np.arange(n) + rng.integers(0, 2, n) if mdp else np.arange(n)
    stored = rows_of(dense[rows], xp)
    layout = csr(groups, stored.row_starts, stored.columns, stored.codes, None)
    scale, constant = rng.random(len(rows)) if scaled else np.ones(len(rows)), rng.random(len(rows))
    x = xp.asarray(rng.random(n))
    chosen = xp.asarray(taken.astype(np.int32)) if mdp else None
    given = xp.asarray(scale) if scaled else None
    found = induced.solve(layout, given, xp.asarray(constant), x, chosen, 5000, 1e-9)
    assert found is not None
    assert found[1] <= 1e-9
    expected = np.linalg.solve(np.eye(n) - scale[taken, None] * dense, constant[taken])
    np.testing.assert_allclose(to_host(x), expected, rtol=1e-6)


def test_a_chain_that_is_never_left_has_no_levels(xp: Any) -> None:
    from galton.backend.cuda import induced
    from galton.backend.cuda.layout import csr

    rows = rows_of(np.array([[0.5, 0.5], [0.25, 0.75]]), xp)
    layout = csr(None, rows.row_starts, rows.columns, rows.codes, None)
    assert induced.solve(layout, None, xp.ones(2), xp.zeros(2), None, 100, 1e-9) is None
