"""Irreducible chains whose long-run averages are known exactly, or are found in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from galton.backend.chain import Chain
from galton.model.sparse import Model

Floats = npt.NDArray[np.float64]
Rates = dict[tuple[int, int], float]


def chain(n: int, rates: Rates, reward: npt.ArrayLike, choice: npt.ArrayLike | None = None) -> Chain:
    """From rates by pair of states."""
    rows, columns = np.array(list(rates)).T
    return from_arrays(rows, columns, np.array(list(rates.values())), n, reward, choice)


def from_arrays(
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    rates: Floats,
    n: int,
    reward: npt.ArrayLike,
    choice: npt.ArrayLike | None = None,
) -> Chain:
    """From rates as a list."""
    model = Model.from_matrix("ctmc", (rates, (rows, columns)))
    assert model.n_states == n
    parts = [None if part is None else np.array(part, dtype=np.float64) for part in (reward, choice)]
    return Chain(model.row_starts, model.columns, model.values, *parts)


@st.composite
def chains(draw: st.DrawFn, most: int = 8) -> Chain:
    """A ring with shortcuts, rates of all sizes."""
    n = draw(st.integers(2, most))
    rate = st.sampled_from([1.0, 0.1, 3.7, 1e-6, 1e6, 1e-3])
    rates = {(s, (s + 1) % n): draw(rate) for s in range(n)}
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))  # loops too
    for pair in draw(st.lists(pairs, max_size=2 * n)):
        rates[pair] = draw(rate)
    earned = st.lists(st.sampled_from([0.0, 1.0, 0.3, 1e-9, 1e6, 7.0]), min_size=n, max_size=n)
    return chain(n, rates, draw(earned), draw(earned) if draw(st.booleans()) else None)


def rates_of(chain: Chain) -> list[dict[int, Fraction]]:
    """The rates out of each state, loops left out."""
    values = chain.values.array()
    return [
        {
            int(chain.columns[e]): Fraction(float(values[e]))
            for e in range(chain.row_starts[s], chain.row_starts[s + 1])
            if chain.columns[e] != s
        }
        for s in range(chain.n_states)
    ]


def reward_of(chain: Chain) -> list[Fraction]:
    """What each state earns."""
    parts = [part for part in (chain.state, chain.choice) if part is not None]
    return [sum((Fraction(float(part[s])) for part in parts), Fraction(0)) for s in range(chain.n_states)]


def exact_gain(chain: Chain) -> Fraction:
    """By elimination in fractions."""
    rates, reward, time = rates_of(chain), reward_of(chain), [Fraction(1)] * chain.n_states
    for last in range(chain.n_states - 1, 0, -1):
        total = sum(rates[last].values())
        for s in range(last):
            visits = rates[s].pop(last, Fraction(0)) / total
            reward[s] += visits * reward[last]
            time[s] += visits * time[last]
            for t, rate in rates[last].items():
                if t != s:
                    rates[s][t] = rates[s].get(t, Fraction(0)) + visits * rate
        for s in range(last):
            rates[s].pop(s, None)
    return reward[0] / time[0]


def birth_death(up: Floats, down: Floats, reward: npt.ArrayLike) -> Chain:
    """Up from state i at rate up[i], down from i + 1 at rate down[i]."""
    lower = np.arange(len(up))
    rows, columns = np.concatenate([lower, lower + 1]), np.concatenate([lower + 1, lower])
    return from_arrays(rows, columns, np.concatenate([up, down]), len(up) + 1, reward)


def grid(width: int, rates: tuple[Floats, Floats, Floats, Floats], reward: Floats) -> Chain:
    """A square; rates up, down, right and left of each cell."""
    cell = np.arange(width * width).reshape(width, width)
    sides = (cell[:-1], cell[1:]), (cell[1:], cell[:-1]), (cell[:, :-1], cell[:, 1:]), (cell[:, 1:], cell[:, :-1])
    rows, columns = (np.concatenate([side[i].ravel() for side in sides]) for i in (0, 1))
    values = np.concatenate([rate.ravel()[side[0].ravel()] for rate, side in zip(rates, sides, strict=True)])
    return from_arrays(rows, columns, values, width * width, reward.ravel())


def machines(fail: list[float], repair: list[float], down: int) -> tuple[Chain, Fraction]:
    """Machines that fail and are repaired independently; how long the first few are all down, and exactly so."""
    state = np.arange(1 << len(fail))
    rows, columns, rates = [], [], []
    for i, (broken, mended) in enumerate(zip(fail, repair, strict=True)):
        works = state >> i & 1 == 0
        rows += [state[works], state[~works]]
        columns += [state[works] | 1 << i, state[~works] & ~(1 << i)]
        rates += [np.full(works.sum(), broken), np.full((~works).sum(), mended)]
    reward = state % (1 << down) == (1 << down) - 1
    exact = Fraction(1)
    for broken, mended in list(zip(fail, repair, strict=True))[:down]:
        exact *= Fraction(broken) / (Fraction(broken) + Fraction(mended))
    return from_arrays(*map(np.concatenate, (rows, columns, rates)), len(state), reward), exact
