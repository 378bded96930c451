"""Random small CTMCs, and what the matrix exponential says of them; somebody who loses patience."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@st.composite
def rate_matrices(draw: st.DrawFn) -> Floats:
    """Rates of very different sizes; rows may be empty, and have loops."""
    states = draw(st.integers(1, 5))
    rates = st.sampled_from([0.0, 0.0, 0.0, 0.01, 0.5, 1.0, 3.0, 20.0])
    rows = st.lists(st.lists(rates, min_size=states, max_size=states), min_size=states, max_size=states)
    return np.array(draw(rows))


def generator(rates: Floats) -> Floats:
    return rates - np.diag(rates.sum(axis=1))


def exponential(q: Floats) -> Floats:
    """exp(q) of a matrix that is negative on its diagonal at most.

    Nothing is subtracted, so nothing is lost. SciPy 1.17 has 0.26856 where 0.4 exp(-0.4) = 0.26813 is right, for a
    chain with rates of 20 and of 0.01, twice.
    """
    shift = np.longdouble(max(-q.diagonal().min(initial=0.0), 0.0))
    doublings = max(0, int(np.ceil(np.log2(float(shift) + 1e-300)))) + 1
    part = (q.astype(np.longdouble) + shift * np.eye(len(q), dtype=np.longdouble)) / np.longdouble(2) ** doublings
    term = total = np.eye(len(q), dtype=np.longdouble)
    for k in range(1, 60):
        term = term @ part / k
        total = total + term
    total = total * np.exp(-shift / np.longdouble(2) ** doublings)
    for _ in range(doublings):
        total = total @ total
    return total.astype(np.float64)


def flow(rates: Floats, keep: Mask, time: float) -> Floats:
    """exp(Q t), states outside ``keep`` being without a way out."""
    q = generator(rates)
    q[~keep] = 0
    return exponential(q * time)


def exact_until(rates: Floats, through: Mask, goal: Mask, low: float, high: float) -> Floats:
    within = flow(rates, through & ~goal, high - low) @ goal.astype(float)
    if low == 0:
        return within
    # Stay in `through` until low, then be somewhere in it.
    return np.where(through, flow(rates, through, low) @ np.where(through, within, 0.0), 0.0)


masks = st.lists(st.booleans(), min_size=5, max_size=5)
times = st.sampled_from([0.0, 0.001, 0.3, 1.0, 7.5, 40.0])


class Impatient:
    """Watches three times, and then interrupts."""

    def __init__(self) -> None:
        self.news: list[dict[str, Any]] = []

    def __call__(self, what: dict[str, Any]) -> None:
        self.news.append(what)
        if len(self.news) == 3:
            raise KeyboardInterrupt
