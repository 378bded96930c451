"""The states that a process is likely to visit, and a proof of how unlikely the others are.

Models of faults and repairs have most of their states where many things have failed at once, which hardly ever happens;
and these states often have the largest rates, so that they also make the steps of uniformisation short. A chain that
ends when it leaves a window of likely states is smaller and slower. What it says differs from the truth by at most the
probability to leave the window in time, times the most that a path can be worth (finite state projection: Munsky and
Khammash 2006; sliding windows: Henzinger, Mateescu and Wolf 2009).

The window is found by plain arithmetic: from the initial state mass is moved forward at a few points of the parameters,
and states join when enough of it arrives. Whether that was a good guess is then proved, for all points of the space at
once, by the same bounds over boxes that everything else rests on.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product

import numpy as np

from .. import _core
from ..model.sparse import Mask
from .parametric_ctmc import ParametricModel
from .polynomials import Floats
from .transient import PhaseRows, transient
from .transitions import Multiples

ENOUGH = 1e-10  # mass that makes a state one of the window
MOST_CORNERS = 8  # points at which mass is moved, beside the middle
WORTH_IT = 0.7  # of the work may be left
MOST_STATES = 0.85  # of the states may be in the window
SETTLED = 1e-3  # mass that may still move within the window when the rest of the time is not looked at
MOST_WORK = 2e9  # entries of matrices to be gone over for a point before giving up: a second or two …
SHARE_OF_WORK = 0.25  # … and the part of what a box takes

__all__ = ["likely_states", "probability_to_leave", "truncated"]


def likely_states(model: ParametricModel, time: float) -> Mask | None:
    """The states visited up to a time at the middle of the space and at its corners; None where they are many.

    They are few enough where the steps to be made, times the entries to go over in each, are.
    """
    low, high = model.space
    _, upper = model.terms.bounds(high[None], high[None])
    entries = np.diff(model.row_starts)
    exits = _exits(model, upper)
    work = float(exits.max(initial=0.0)) * float(entries.sum())
    corners = (np.array(corner) for corner in product(*zip(low, high, strict=True)))
    likely = np.zeros(model.n_states, dtype=bool)
    for point in (low + (high - low) / 2, *islice(corners, MOST_CORNERS)):
        if not _visit(model, point, time, likely, work * time):
            return None
    left = float(exits[likely].max(initial=0.0)) * float(entries[likely].sum())
    return likely if left <= WORTH_IT * work else None


def probability_to_leave(model: ParametricModel, window: Mask, time: float, threads: int) -> float:
    """A bound on the probability to leave the window up to a time, for all parameters of the space."""
    low, high = model.space
    lower, upper = model.terms.bounds(low[None], high[None])
    outside = (~window).astype(np.float64)[:, None]
    bounds = np.maximum(lower, 0.0), np.maximum(upper, 0.0)
    found = transient(
        PhaseRows(model, window), bounds, (outside, outside), time, watched=model.initial, threads=threads
    )
    return float(found.upper[0, 0])


def truncated(model: ParametricModel, window: Mask) -> ParametricModel:
    """The chain that stays in the window, and ends in one more state when it leaves."""
    inside = np.flatnonzero(window)
    place = np.full(model.n_states, len(inside), dtype=np.int64)
    place[inside] = np.arange(len(inside))
    entries, lengths = model.entries_of(inside)
    starts = np.concatenate([[0], np.cumsum(lengths), [lengths.sum()]])

    def kept(rewards: Multiples) -> Multiples:
        terms = np.append(rewards.terms[inside], np.int32(0))
        return Multiples(terms, np.append(rewards.coefficients[inside], 0.0))

    originals = inside if model.representatives is None else model.representatives[inside]
    return replace(
        model,
        row_starts=starts.astype(np.int64),
        columns=place[model.columns[entries]].astype(np.int32),
        rates=Multiples(model.rates.terms[entries], model.rates.coefficients[entries]),
        state_rewards={name: kept(of) for name, of in model.state_rewards.items()},
        total_rewards={name: kept(of) for name, of in model.total_rewards.items()},
        initial=place[model.initial].astype(np.int32),
        representatives=np.append(originals, -1),
    )


def _rates(model: ParametricModel, upper: Floats) -> Floats:
    """The rate of each transition, given the terms at one point."""
    found: Floats = model.rates.coefficients * np.maximum(upper[model.rates.terms, 0], 0.0)
    return found


def _exits(model: ParametricModel, upper: Floats) -> Floats:
    """The rate at which each state is left there."""
    rows = np.repeat(np.arange(model.n_states), np.diff(model.row_starts))
    found: Floats = np.bincount(rows, weights=_rates(model, upper), minlength=model.n_states).astype(np.float64)
    return found


def _visit(model: ParametricModel, point: Floats, time: float, likely: Mask, work: float) -> bool:
    """Add the states that are visited at a point; whether they are few, beside the work that a box takes."""
    _, upper = model.terms.bounds(point[None], point[None])
    return _core.visit(
        model.row_starts,
        model.columns,
        _rates(model, upper),
        model.initial,
        likely.view(np.uint8),
        time=time,
        enough=ENOUGH,
        settled=SETTLED,
        most_states=int(MOST_STATES * model.n_states),
        most_work=min(MOST_WORK, SHARE_OF_WORK * work),
    )
