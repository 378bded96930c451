"""The default solver on systems made to be hard."""

from fractions import Fraction

import numpy as np
import pytest

from galton import _core
from galton.backend.cpu.matrix import matrix_of
from galton.backend.protocol import Span, Stop
from galton.checking.expected import reachability_reward
from galton.checking.until import until
from galton.model.sparse import Model, Rewards
from galton.solve.settings import Settings

ALL = Settings(threads=1)


def contains(quantity, state: int, value: float | Fraction, eps: float = 1e-6) -> None:
    low, high = quantity.lower[state], quantity.upper[state]
    assert Fraction(low) <= Fraction(value) <= Fraction(high)
    assert high - low <= 2 * eps * high


def reach(chain: Model, goal: int, optimum=None):
    target = np.arange(chain.n_states) == goal
    return until(chain, np.ones(chain.n_states, dtype=bool), target, optimum, ALL)


@pytest.mark.parametrize("n", [5, 20, 100, 300])
def test_the_chain_that_fools_value_iteration(n: int) -> None:
    """Haddad and Monmege 2014: each way out is reached with probability 2^-n per attempt."""
    matrix = np.zeros((2 * n + 1, 2 * n + 1))
    matrix[0, 1] = matrix[0, n + 1] = 0.5
    for k in range(1, n):
        matrix[k, k + 1] = matrix[k, 0] = 0.5
        matrix[n + k, n + k + 1] = matrix[n + k, 0] = 0.5
    matrix[n, n] = matrix[2 * n, 2 * n] = 1
    contains(reach(Model.from_matrix("dtmc", matrix), n), 0, Fraction(1, 2))
    steps = reachability_reward(
        Model.from_matrix("dtmc", matrix),
        Rewards(state=np.ones(2 * n + 1)),
        np.isin(np.arange(2 * n + 1), [n, 2 * n]),
        None,
        ALL,
    )
    contains(steps, 0, 3 * 2 ** (n - 1) - 2)


@pytest.mark.parametrize("leak", [1e-3, 1e-9, 1e-15])
def test_near_one_self_loops(leak: float) -> None:
    matrix = np.array([[1 - leak, leak, 0, 0], [0, 1 - leak, leak / 2, leak / 2], [0, 0, 1, 0], [0, 0, 0, 1]])
    contains(reach(Model.from_matrix("dtmc", matrix), 2), 0, Fraction(1, 2))


def test_a_stiff_chain() -> None:
    """Rates from 1e-9 to 1e9 in one component."""
    rates = np.array([[0, 1e9, 0, 0], [1e9, 0, 1e-9, 0], [0, 1.0, 0, 1e-6], [0, 0, 0, 1.0]])
    chain = Model.from_matrix("ctmc", rates)
    time = reachability_reward(chain, Rewards(state=np.ones(4)), np.arange(4) == 3, None, ALL)
    q = [[Fraction(float(rate)) for rate in row] for row in rates]
    # x2 = (1 + q21 x1)/(q21 + q23), x0 = 1/q01 + x1, x1 = (1 + q10 x0 + q12 x2)/(q10 + q12)
    a, b, c, d, e = q[0][1], q[1][0], q[1][2], q[2][1], q[2][3]
    x1 = (1 + b / a + c / (d + e)) / (c - c * d / (d + e))
    contains(time, 1, x1)


def test_tiny_probabilities_keep_their_digits() -> None:
    n, p = 40, 1e-3
    matrix = np.zeros((n + 2, n + 2))
    for k in range(n):
        matrix[k, k + 1], matrix[k, n + 1] = p, 1 - p
    matrix[n, n] = matrix[n + 1, n + 1] = 1
    contains(reach(Model.from_matrix("dtmc", matrix), n), 0, Fraction(p) ** n, 1e-9)


def test_a_minimum_where_staying_costs() -> None:
    """Every state can wait for ever at a price; a strategy that never ends has no solution to its equations."""
    mdp = Model.from_matrix("mdp", [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0.5, 0.5], [0, 0, 1]], row_groups=[0, 2, 4, 5])
    reward = Rewards(choice=np.array([1.0, 1.0, 1.0, 3.0, 0.0]))
    contains(reachability_reward(mdp, reward, np.arange(3) == 2, "min", ALL), 0, 7)


def test_a_cycle_that_costs_nothing_does_not_count_as_arriving() -> None:
    mdp = Model.from_matrix("mdp", [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]], row_groups=[0, 1, 3, 4])
    reward = Rewards(choice=np.array([0.0, 0.0, 5.0, 0.0]))
    contains(reachability_reward(mdp, reward, np.arange(3) == 2, "min", ALL), 0, 5)


def test_the_maximum_leaves_an_end_component() -> None:
    """From above, the equations of an end component are satisfied by anything: 1 must not be the answer."""
    mdp = Model.from_matrix(
        "mdp", [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0.3, 0.7], [0, 0, 1, 0], [0, 0, 0, 1]], row_groups=[0, 1, 3, 4, 5]
    )
    contains(reach(mdp, 2, "max"), 0, Fraction(0.3))
    assert reach(mdp, 2, "min").upper[0] == 0


def test_bounds_round_outwards() -> None:
    """One row whose exact sum is no double: the bounds must be apart, and hold the exact sum between them."""
    values = [0.1, 0.2, 0.7]
    chain = Model.from_matrix("dtmc", [[0, *values], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    known = np.array([0, 0.1, 0.3, 0.9])
    from galton.solve.equations import restrict

    equations = restrict(chain, np.array([0], dtype=np.int32), known)
    lower, upper = np.zeros(1), np.zeros(1)
    equations.system.propagate(lower, upper, Span(0, 1), equations.slack)
    exact = sum(Fraction(v) * Fraction(k) for v, k in zip(values, known[1:].tolist(), strict=True))
    assert Fraction(lower[0]) < exact < Fraction(upper[0])
    assert upper[0] - lower[0] < 1e-14


def test_threads_agree() -> None:
    """A component large enough to be shared."""
    n = 400_000
    starts = np.arange(0, 3 * n + 1, 3, dtype=np.int32)
    columns = np.stack(
        [np.maximum(np.arange(n) - 1, 0), (np.arange(n) * 7 + 3) % n, np.minimum(np.arange(n) + 1, n - 1)], axis=1
    ).astype(np.int32)
    values = np.tile([0.4, 0.1, 0.45], n)
    constant = np.full(n, 0.05)
    matrix = _core.Matrix(None, starts, columns.ravel(), values, None)
    system = _core.System(matrix, None, constant, 0)
    found = []
    for threads in (1, 2):
        x = np.zeros(n)
        system.gauss_seidel(x, np.zeros(n), None, Span(0, n, threads), Stop(500, 1e-14))
        y = np.full(n, 0.5)
        _, residual = system.bicgstab(y, None, Span(0, n, threads), 500, 1e-13)
        assert residual <= 1e-13
        assert np.allclose(x, 1.0, rtol=1e-11)
        assert np.allclose(y, 1.0, rtol=1e-11)
        found.append(x)
    again = np.zeros(n)
    system.gauss_seidel(again, np.zeros(n), None, Span(0, n, 2), Stop(500, 1e-14))
    assert (again == found[1]).all()


def test_elimination_knows_that_rewards_were_rounded() -> None:
    """A state that earns 0.1 for itself and 0.2 for its choice, once: the sum of the doubles is not a double."""
    model = Model.from_matrix("dtmc", [[0.0, 1.0], [0.0, 1.0]])
    number, known = np.array([0, -1], dtype=np.int32), np.zeros(2)
    reward = np.array([0.1 + 0.2, 0.0])
    lower, upper = np.zeros(1), np.zeros(1)
    rows = np.array([0], dtype=np.int32)
    elimination = _core.Elimination.of_rows(
        matrix_of(model),
        rates=False,
        number=number,
        known=known,
        reward=reward,
        rows=rows,
        first=0,
        lower=lower,
        upper=upper,
    )
    assert elimination.advance(1000)
    elimination.solve(lower, upper)
    assert Fraction(lower[0]) <= Fraction(0.1) + Fraction(0.2) <= Fraction(upper[0])
