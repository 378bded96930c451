"""Steps on a device against their few lines of NumPy: all formats, chains and MDPs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from played import played_device
from scipy.sparse import csr_array, diags_array
from systems import to_host
from test_cuda_restrict import moved
from test_steps_kernels import chain_model, mdp_model, queue, random_matrix

from galton.backend import CUDA, steps
from galton.backend.reference import steps as reference
from galton.backend.steps import Bellman, Chain, Part
from galton.model.sparse import Model
from galton.solve.poisson import poisson
from galton.solve.power_sums import Weights, power_sum
from galton.solve.settings import Settings

DISTINCT = {"bytes": 4, "shorts": 1000, "plain": None}


def device_part(model: Model, keep: Any | None, xp: Any, *, loops: bool = True) -> Part:
    """As :func:`galton.backend.steps.part_of` makes it, for arrays that are maybe only played by NumPy's."""
    keep = np.ones(model.n_states, dtype=bool) if keep is None else keep
    states, position, matrix, starts, entries = CUDA.steps.part_of(moved(model, xp), xp.asarray(keep), loops, 1)
    longest, least = int(np.diff(to_host(starts)).max(initial=0)), float(model.values.distinct.min())
    return Part(states, position, CUDA, matrix, len(states), len(starts) - 1, entries, longest, least)


@pytest.mark.parametrize("entries", [20, 50, 200])
def test_long_rows(xp: Any, entries: int) -> None:
    """Several threads go over a row."""
    rng = np.random.default_rng(entries)
    dense = np.where(rng.random((250, 250)) < entries / 250, rng.random((250, 250)), 0.0)
    np.fill_diagonal(dense, 1.0)
    model, start = chain_model(dense / dense.sum(axis=1, keepdims=True)), rng.random(250)
    chain = Chain(device_part(model, None, xp), xp.array(start))
    extremes = chain.advance(5, np.ones(5))
    x, total, expected = reference.chain_steps(model.to_scipy(), 1.0, None, np.ones(5), start)
    np.testing.assert_allclose(to_host(chain.x), x, rtol=1e-13)
    np.testing.assert_allclose(to_host(chain.sum), total, rtol=1e-13)
    np.testing.assert_allclose(extremes, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", ["csr", "csr-vector", "ell", "sliced", "half-sliced", None])
def test_every_format(xp: Any, name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains and MDPs; without a name, the faster of CSR and what suits the rows."""
    monkeypatch.setattr("galton.backend.cuda.steps.TOGETHER", 0)
    rng = np.random.default_rng(3)
    model = chain_model(random_matrix(rng, 300, 300, 4))
    start, weights = rng.random(300), rng.random(7)
    chain = Chain(device_part(model, None, xp).in_format(name), xp.array(start))
    extremes = chain.advance(7, weights)
    x, total, expected = reference.chain_steps(model.to_scipy(), 1.0, None, weights, start)
    np.testing.assert_allclose(to_host(chain.x), x, rtol=1e-14)
    np.testing.assert_allclose(to_host(chain.sum), total, rtol=1e-14)
    np.testing.assert_allclose(extremes, expected, rtol=1e-12, atol=1e-14)
    model = mdp_model(rng, 200, DISTINCT["shorts"])
    found, chosen = {}, {}
    for form in ("csr", name):
        bellman = Bellman(device_part(model, None, xp).in_format(form), xp.array(start[:200]), None, True)
        bellman.advance(5)
        found[form], chosen[form] = to_host(bellman.x), np.empty(200, dtype=np.int32)
        bellman.advance(1, chosen[form])
    np.testing.assert_allclose(found[name], found["csr"], rtol=1e-14)
    np.testing.assert_array_equal(chosen[name], chosen["csr"])


def test_calls_follow_each_other(xp: Any) -> None:
    """Odd and even numbers of steps, with a sum and without."""
    rng = np.random.default_rng(2)
    model = chain_model(random_matrix(rng, 90, 90, 4))
    start, weights = rng.random(90), rng.random(12)
    chain = Chain(device_part(model, None, xp), xp.array(start), 0.3)
    done = 0
    for count in (3, 1, 4, 2, 2):
        chain.advance(count, weights[done : done + count] if done != 4 else None)
        done += count
    weights[4:8] = 0
    x, total, _ = reference.chain_steps(model.to_scipy(), 1.0, None, weights, start)
    np.testing.assert_allclose(to_host(chain.x), x, rtol=1e-13)
    np.testing.assert_allclose(to_host(chain.sum), total, rtol=1e-13)


def test_zeros_and_faint_numbers(xp: Any) -> None:
    """What has few digits left has no quotient, what is zero takes no part, and the faintest number is told."""
    dense = np.diag([0.5, 0.25, 1.0, 1.0])
    model = Model.from_matrix("dtmc", dense + np.diag(1 - dense.diagonal()[:3], 1))
    part = device_part(model, None, xp)
    for start in ([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0**-1000, 1.0], [0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0]):
        chain = Chain(part, xp.array(start))
        for count in (1, 3):
            x = to_host(chain.x).copy()
            extremes = chain.advance(count, None)
            expected = reference.chain_steps(model.to_scipy(), 1.0, None, np.zeros(count), x)[2]
            np.testing.assert_array_equal(extremes, expected)


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("size", [50, 5000, 300_000])
def test_many_steps_of_queues(xp: Any, size: int, together: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One block, several that meet, and a launch a step."""
    if not together:
        monkeypatch.setattr("galton.backend.cuda.steps.TOGETHER", 0)
    if xp.cuda.Device().compute_capability == "played" and size > 5000:
        pytest.skip("too large for one thread after the other")
    model, rate = queue(size) if size <= 5000 else long_queue(size), 5.5
    stay = 1 - model.exit_rates / rate
    start, weights = np.random.default_rng(6).random(size), np.random.default_rng(7).random(61)
    chain = Chain(device_part(model, None, xp), xp.array(start), 1 / rate, xp.asarray(stay))
    extremes = chain.advance(61, weights)
    x, total, expected = reference.chain_steps(model.to_scipy(), 1 / rate, stay, weights, start)
    np.testing.assert_allclose(to_host(chain.x), x, rtol=1e-12)
    np.testing.assert_allclose(to_host(chain.sum), total, rtol=1e-12)
    np.testing.assert_allclose(extremes, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("together", [True, False])
def test_many_steps_of_a_large_mdp(xp: Any, together: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks, or a launch a step, with a choice of three rows in every state."""
    if not together:
        monkeypatch.setattr("galton.backend.cuda.steps.TOGETHER", 0)
    rng, size = np.random.default_rng(8), 20_000
    rows = np.repeat(np.arange(3 * size), 3)
    columns = rng.integers(0, size, 9 * size)
    matrix = csr_array((np.full(9 * size, 1 / 3), (rows, columns)), shape=(3 * size, size))
    model = Model.from_matrix("mdp", matrix, row_groups=np.arange(0, 3 * size + 1, 3))
    start = rng.random(size)
    step = Bellman(device_part(model, None, xp), xp.array(start), None, True)
    extremes = step.advance(10)
    assert model.choice_starts is not None
    nothing = np.zeros(3 * size)
    x, _, expected = reference.bellman_steps(model.to_scipy(), model.choice_starts, nothing, True, 10, start)
    np.testing.assert_allclose(to_host(step.x), x, rtol=1e-13)
    np.testing.assert_allclose(extremes, expected, rtol=1e-10, atol=1e-12)


def long_queue(size: int) -> Model:
    """The same model as ``queue``, from a sparse matrix."""
    return Model.from_matrix("ctmc", diags_array([2.0, 3.0], offsets=[1, -1], shape=(size, size)).tocsr())


def test_a_sum_of_powers(xp: Any) -> None:
    """The bounds of a transient probability, beside those of the CPU."""
    model, rate = queue(400), 5.5
    stay, start = 1 - model.exit_rates / rate, np.zeros(400)
    start[390:] = 1.0
    important = np.array([350], dtype=np.int32)
    weights = Weights.at_time(poisson(rate * 40))
    chains = [
        Chain(device_part(model, None, xp), xp.array(start), 1 / rate, xp.asarray(stay)),
        Chain(steps.part_of(model, None, 1), start.copy(), 1 / rate, stay),
    ]
    places = (xp.asarray(important), important)
    mine, theirs = (power_sum(c, weights, p, Settings()) for c, p in zip(chains, places, strict=True))
    assert mine.steps == theirs.steps
    np.testing.assert_allclose(to_host(mine.lower), theirs.lower, rtol=1e-9, atol=1e-280)
    np.testing.assert_allclose(to_host(mine.upper), theirs.upper, rtol=1e-9, atol=1e-280)


def test_a_format_that_gives_other_numbers_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from galton.backend.cuda import layout as layouts
    from galton.backend.cuda import steps as device

    def wrong(matrix: layouts.Layout, name: str, reason: str = "") -> layouts.Layout:
        made = layouts.lay_out(matrix, name, reason)
        assert made.dictionary is not None
        return replace(made, dictionary=made.dictionary * 1.001)

    rows = np.zeros((64, 64))
    rows[:, :4] = [0.925, 0.025, 0.025, 0.025]
    model = Model.from_matrix("dtmc", rows)
    monkeypatch.setattr(device, "TOGETHER", 0)
    with played_device() as played:
        there = moved(model, played)
        assert "µs a step" in device.matrix_of(there).layout.reason
        monkeypatch.setattr(device, "lay_out", wrong)
        found = device.matrix_of(there).layout
    assert found.name.startswith("csr")
    assert "gave other numbers" in found.reason
