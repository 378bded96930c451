"""The kernels of steps of the core: rows that are alike, tiles, threads against one, and what is refused."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from galton.backend.reference import steps as reference
from galton.backend.steps import Bellman, Chain, part_of
from galton.model.sparse import Model
from galton.model.values import Values

Rng = np.random.Generator


def random_matrix(rng: Rng, rows: int, columns: int, distinct: int | None) -> npt.NDArray[np.float64]:
    """Non-negative, a few entries a row, none empty; of few distinct values or of all different ones."""
    dense = np.where(rng.random((rows, columns)) < 3 / columns, rng.random((rows, columns)), 0.0)
    dense[np.arange(rows), rng.integers(0, columns, rows)] = rng.random(rows)
    if distinct:
        dense = np.where(dense > 0, (np.floor(dense * distinct) + 1) / distinct, 0.0)
    return dense


def chain_model(dense: npt.NDArray[np.float64]) -> Model:
    return Model.from_matrix("ctmc", dense)


def mdp_model(rng: Rng, states: int, distinct: int | None) -> Model:
    groups = np.concatenate([[0], np.cumsum(rng.integers(1, 4, states))])
    dense = random_matrix(rng, int(groups[-1]), states, distinct)
    return Model.from_matrix("mdp", dense / dense.sum(axis=1, keepdims=True), row_groups=groups)


def test_the_part_of_all_states_is_the_model_itself() -> None:
    model = chain_model(random_matrix(np.random.default_rng(4), 20, 20, 4))
    part = part_of(model, np.ones(20, dtype=bool), 1)
    assert part.states is None
    assert part.n_entries == model.n_transitions


def test_the_part_of_no_state_is_empty() -> None:
    model = chain_model(random_matrix(np.random.default_rng(4), 20, 20, 4))
    part = part_of(model, np.zeros(20, dtype=bool), 1)
    assert (part.n_states, part.n_rows, part.n_entries) == (0, 0, 0)


def queue(length: int) -> Model:
    """A queue, whose states but the ends are alike."""
    step = np.arange(length)
    dense = np.zeros((length, length))
    dense[step[:-1], step[1:]] = 2.0
    dense[step[1:], step[:-1]] = 3.0
    return Model.from_matrix("ctmc", dense)


@pytest.mark.parametrize("length", [2, 17, 40, 3000])
def test_rows_that_are_alike(length: int) -> None:
    rng = np.random.default_rng(6)
    model = queue(length)
    rate = 5.5
    stay = 1 - model.exit_rates / rate
    start, weights = rng.random(length), rng.random(9)
    chain = Chain(part_of(model, None, 1), start.copy(), 1 / rate, stay)
    chain.advance(9, weights)
    x, total, _ = reference.chain_steps(model.to_scipy(), 1 / rate, stay, weights, start)
    np.testing.assert_allclose(chain.x, x, rtol=1e-14)
    np.testing.assert_allclose(chain.sum, total, rtol=1e-14)
    assert chain._kernel.segments <= 3


@pytest.mark.parametrize("entries", range(1, 12))
def test_runs_with_any_number_of_entries(entries: int) -> None:
    rng = np.random.default_rng(entries)
    n = 200
    distances = rng.choice(np.arange(-15, 16), entries, replace=False)
    values = rng.random(entries)
    dense = np.zeros((n, n))
    for s in range(n):
        dense[s, (s + distances) % n] = values
    model = Model.from_matrix("ctmc", dense)
    start, weights = rng.random(n), np.ones(3)
    chain = Chain(part_of(model, None, 1), start.copy())
    chain.advance(3, weights)
    x, _, _ = reference.chain_steps(model.to_scipy(), 1.0, None, weights, start)
    np.testing.assert_allclose(chain.x, x, rtol=1e-13)


def large_chain(states: int) -> Model:
    """More than enough entries for threads."""
    rng = np.random.default_rng(7)
    columns = np.sort((np.arange(states)[:, None] + rng.integers(0, 500, (states, 1)) + [0, 1000, 3000]) % states)
    return Model(
        type="dtmc",
        row_starts=np.arange(0, 3 * states + 1, 3, dtype=np.int32),
        columns=columns.reshape(-1).astype(np.int32),
        values=Values.compress(np.tile([0.25, 0.25, 0.5], states)),
        initial=np.zeros(1, dtype=np.int32),
    )


def test_threads_make_no_difference() -> None:
    model = large_chain(30_000)
    start = np.random.default_rng(8).random(30_000)
    results = []
    for threads in (1, 2, 3):
        chain = Chain(part_of(model, None, threads), start.copy(), threads=threads)
        extremes = chain.advance(4, np.ones(4))
        results.append((chain.x, chain.sum, np.array(extremes)))
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_arrays_of_the_wrong_length_are_refused() -> None:
    model = queue(5)
    chain = Chain(part_of(model, None, 1), np.ones(4))
    with pytest.raises(ValueError, match="wrong length"):
        chain.advance(1, None)


def banded(states: int, reach: int, *, alike: bool) -> Model:
    """A chain whose successors are close by number; its rows all alike, but at the ends, or all different."""
    rng = np.random.default_rng(9)
    shifts = np.array([-reach, -1, 0, 2, reach])
    columns = np.arange(states)[:, None] + shifts
    columns = np.where(columns < 0, np.arange(5), np.where(columns >= states, states - 5 + np.arange(5), columns))
    values = np.tile(rng.random(5), (states, 1)) if alike else rng.random((states, 5))
    return Model(
        type="dtmc",
        row_starts=np.arange(0, 5 * states + 1, 5, dtype=np.int32),
        columns=np.sort(columns).reshape(-1).astype(np.int32),
        values=Values(plain=(values / values.sum(axis=1, keepdims=True)).reshape(-1)),
        initial=np.zeros(1, dtype=np.int32),
    )


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize(("states", "reach"), [(40_000, 30), (40_000, 700), (12_000, 5000), (11_000, 3)])
def test_steps_in_tiles(states: int, reach: int, alike: bool, threads: int) -> None:
    """Tiles go ahead of their neighbours, threads of each other, and it does not show."""
    model = banded(states, reach, alike=alike)
    start, weights = np.random.default_rng(10).random(states), np.arange(1.0, 72.0)
    chain = Chain(part_of(model, None, 1), start.copy(), threads=threads)
    extremes = chain.advance(71, weights)
    x, total, expected = reference.chain_steps(model.to_scipy(), 1.0, None, weights, start)
    np.testing.assert_allclose(chain.x, x, rtol=1e-12)
    np.testing.assert_allclose(chain.sum, total, rtol=1e-12)
    np.testing.assert_allclose(extremes, expected, rtol=1e-10, atol=1e-12)
    step = Bellman(part_of(model, None, 1), start.copy(), None, maximise=True, threads=threads)
    step.advance(71)
    np.testing.assert_allclose(step.x, x, rtol=1e-12)


def test_tiles_in_a_vector_larger_than_the_cache() -> None:
    model = banded(700_000, 40, alike=True)
    start = np.random.default_rng(11).random(700_000)
    chain = Chain(part_of(model, None, 1), start.copy(), threads=2)
    chain.advance(9, np.ones(9))
    x, total, _ = reference.chain_steps(model.to_scipy(), 1.0, None, np.ones(9), start)
    np.testing.assert_allclose(chain.x, x, rtol=1e-12)
    np.testing.assert_allclose(chain.sum, total, rtol=1e-12)
