"""Random small CTMCs, and what the matrix exponential says of them; somebody who loses patience."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
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


def flow(rates: Floats, keep: Mask, time: float) -> Floats:
    """exp(Q t), states outside ``keep`` being without a way out."""
    q = generator(rates)
    q[~keep] = 0
    return np.asarray(scipy.linalg.expm(q * time))


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
