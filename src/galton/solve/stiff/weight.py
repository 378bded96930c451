"""A weight for errors: a positive vector w that the chain does not make much larger, Qw <= ωw.

Then no error d with |d| <= w grows beyond exp(ωs) w in time s, because exp(Qs) is positive (:mod:`.pieces`). And w
should be about as large as the numbers asked for, so that errors are small beside these. w = (I - tQ)⁻¹ (u₀ + t r) is:
it is the mean of u at a random time, exponentially distributed with mean t. There tQw = w - (u₀ + t r) <= w, so that ω
is 1/t, and errors grow at most e-fold until t. What is computed is not quite that w; its ω is found by one product that
rounds upwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...model.sparse import Int32s
from ...model.values import Floats
from ..settings import Settings
from .effort import Budget, UnsolvedError
from .open_chain import OpenChain
from .resolvent import Resolvent, Resolvents

__all__ = ["Weighing", "Weight"]

PRECISE = 0.1  # residuals, beside w: what ω may be above 1/t, times t
FASTEST = 4.0  # growth of errors until t, as a power of e, that is put up with
FORGOTTEN = 1e-6  # beside the largest number, a first guess at what is not known
LEAST = 1e-200  # numbers beside the largest that are not too small


class Weight(NamedTuple):
    """w, the growth ω that it is proved to have, and how states were eliminated to find it."""

    w: Floats
    growth: float
    order: Int32s | None


class Weighing:
    """The search for a weight for numbers asked for at a time; goes on where it was given up for too much work."""

    def __init__(self, chain: OpenChain, time: float, settings: Settings, budget: Budget) -> None:
        self._chain, self._time = chain, time
        self._b = chain.start / time + np.maximum(chain.drift(np.zeros(chain.n))[1], 0.0)
        self._resolvents = Resolvents(chain, np.ones(chain.n), settings, budget)
        self._resolvent: Resolvent | None = None
        self._found: tuple[Floats, Floats] | None = None  # a guess, and what has been made of it

    def run(self) -> Weight:
        """The weight, with one elimination after the other, until one finds it."""
        while self._resolvent is not None or self._resolvents.next_level():
            if self._resolvent is None:
                self._resolvent = self._resolvents.at(1 / self._time)
            with np.errstate(all="ignore"):  # what is no number is noticed by its growth
                w = self._solution(self._resolvent)
                self._resolvent = self._found = None
                if w is None or not w.max() > 0:
                    continue
                w = np.maximum(w, w.max() * LEAST)
                growth = proved_growth(self._chain, w)
            if growth * self._time <= FASTEST:
                return Weight(w, growth, self._resolvents.order)
        raise UnsolvedError("there is no weight for errors")

    def _solution(self, resolvent: Resolvent) -> Floats | None:
        if self._found is None:
            guess = _guess(resolvent.precondition(self._b))
            self._found = guess, guess.copy()
        near, x = self._found
        return resolvent.improve(self._b, PRECISE / self._time, x, near)


def _guess(w: Floats) -> Floats:
    """A positive vector. What an elimination has forgotten may be all that leads to something."""
    w = np.where((w > 0) & (w < np.inf), w, 0.0)
    return np.where(w > 0, w, w.max() * FORGOTTEN)


def proved_growth(chain: OpenChain, w: Floats) -> float:
    """An ω >= 0 with Qw <= ωw."""
    upper = chain.drift(w, constant=False)[1]
    return max(0.0, float((upper / w).max())) * (1 + 2.0**-50)
