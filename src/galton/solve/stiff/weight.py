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
from .resolvent import Resolvents

__all__ = ["Weight", "weigh"]

PRECISE = 0.1  # residuals, beside w: what ω may be above 1/t, times t
FASTEST = 4.0  # growth of errors until t, as a power of e, that is put up with
FORGOTTEN = 1e-6  # beside the largest number, a first guess at what is not known
LEAST = 1e-200  # numbers beside the largest that are not too small


class Weight(NamedTuple):
    """w, the growth ω that it is proved to have, and how states were eliminated to find it."""

    w: Floats
    growth: float
    order: Int32s | None


def weigh(chain: OpenChain, time: float, settings: Settings, budget: Budget) -> Weight:
    """The weight for numbers asked for at a time; with one elimination after the other, until one finds it."""
    earned = np.maximum(chain.drift(np.zeros(chain.n))[1], 0.0)
    b = chain.start / time + earned
    resolvents = Resolvents(chain, np.ones(chain.n), settings, budget)
    while resolvents.next_level():
        resolvent = resolvents.at(1 / time)
        with np.errstate(all="ignore"):  # what is no number is noticed by its growth
            found = resolvent.improve(b, PRECISE / time, _guess(resolvent.precondition(b)))
            if found is None or not found.max() > 0:
                continue
            w = np.maximum(found, found.max() * LEAST)
            growth = proved_growth(chain, w)
        if growth * time <= FASTEST:
            return Weight(w, growth, resolvents.order)
    raise UnsolvedError("there is no weight for errors")


def _guess(w: Floats) -> Floats:
    """A positive vector. What an elimination has forgotten may be all that leads to something."""
    w = np.where((w > 0) & (w < np.inf), w, 0.0)
    return np.where(w > 0, w, w.max() * FORGOTTEN)


def proved_growth(chain: OpenChain, w: Floats) -> float:
    """An ω >= 0 with Qw <= ωw."""
    upper = chain.drift(w, constant=False)[1]
    return max(0.0, float((upper / w).max())) * (1 + 2.0**-50)
