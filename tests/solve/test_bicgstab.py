"""BiCGStab is written three times, once in Python and twice in the core: they make the same steps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from irreducible import from_arrays

from galton import _core
from galton.backend.bicgstab import HostUpdates, Iteration

Floats = npt.NDArray[np.float64]


def test_solves_a_random_system() -> None:
    random = np.random.default_rng(3)
    matrix = np.eye(50) - random.dirichlet(np.ones(50), 50) * 0.95
    wanted = random.uniform(0, 1, 50)
    x = np.zeros(50)
    iteration = Iteration(x, matrix @ wanted, lambda v, y: np.matmul(matrix, v, out=y))
    iteration.run(25)
    assert np.allclose(x, wanted, rtol=1e-10)


def test_a_broken_recurrence_goes_on_with_the_residual() -> None:
    # The shadow is orthogonal to the first residual: nothing but the step along the residual is left.
    matrix = np.diag([1.0, 2.0])
    x, r = np.zeros(2), np.array([1.0, 0.0])
    Iteration(x, r, lambda v, y: np.matmul(matrix, v, out=y), shadow=np.array([0.0, 1.0])).run(1)
    assert x.tolist() == [1.0, 0.0]
    assert not r.any()


def test_weights_weigh_inner_products() -> None:
    random = np.random.default_rng(4)
    matrix = np.eye(20) - random.dirichlet(np.ones(20), 20) * 0.9
    weight, right = random.uniform(0.5, 2, 20), random.uniform(0, 1, 20)
    found = np.zeros(20)
    Iteration(found, right.copy(), lambda v, y: np.matmul(matrix, v, out=y), updates=HostUpdates(weight)).run(3)
    # Inner products weighted by w are those of a system whose rows and unknowns are scaled by the root of w.
    root = np.sqrt(weight)
    scaled = matrix * root[:, None] / root[None]
    other = np.zeros(20)
    Iteration(other, right * root, lambda v, y: np.matmul(scaled, v, out=y)).run(3)
    assert np.allclose(found, other / root, rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_bias_in_the_core_makes_the_same_steps(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, z = 60, 7
    rows = np.repeat(np.arange(n), 3)
    columns = np.stack([(np.arange(n) + 1) % n, *random.integers(0, n, (2, n))], axis=1).ravel()
    asked = from_arrays(rows, columns, random.uniform(0.1, 1, 3 * n), n, random.uniform(0, 1, n))
    sweep = _core.SymmetricSweep(asked.matrix, _core.leaving_rates(asked.matrix), 1)
    q = np.zeros((n, n))
    np.add.at(q, (np.repeat(np.arange(n), np.diff(asked.row_starts)), asked.columns), asked.values.array())
    q -= np.diag(q.sum(axis=1))

    def product(h: Floats, found: Floats) -> None:
        found[:] = (q @ h)[z] - q @ h

    def precondition(b: Floats) -> Floats:
        found = np.empty(n)
        sweep.solve(b, found)
        return found

    solver = _core.Bias(asked.matrix, z, 1)
    in_core, here = np.zeros(n), np.zeros(n)
    solver.begin(asked.reward, in_core)
    iteration = Iteration(here, asked.reward - asked.reward[z], product, precondition)
    for _ in range(4):
        solver.advance(sweep, 0.0, 0.0, 1)
        iteration.run(1)
        assert np.allclose(here, in_core, rtol=1e-7, atol=1e-9)
